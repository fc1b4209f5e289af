"""Who follows whom, and what those have played."""

from __future__ import annotations

import pytest
from store_games import add_record, append_turn, new_online_game

from py2048.storage import AccountError, Store


@pytest.fixture
def players(store: Store) -> list[str]:
    names = ["ada", "bob", "cyd"]
    for name in names:
        store.accounts.claim_name(name, name.capitalize(), "hash")
    return names


def test_following(store: Store, players: list[str]) -> None:
    """Twice is once; each list is its owner's, and has an end."""
    store.follows.add("ada", "cyd", most=2)
    store.follows.add("ada", "cyd", most=2)
    store.follows.add("ada", "bob", most=2)
    with pytest.raises(AccountError, match="2 players"):
        store.follows.add("ada", "dan", most=2)
    assert store.follows.of("ada") == {"bob": "Bob", "cyd": "Cyd"}
    assert list(store.follows.of("ada")) == ["bob", "cyd"]
    assert store.follows.of("bob") == {}
    assert [store.follows.count(each) for each in players] == [0, 1, 1]
    store.follows.remove("ada", "cyd")
    assert store.follows.of("ada") == {"bob": "Bob"}


def test_an_account_that_is_gone_follows_nobody_and_is_not_followed(
    store: Store, players: list[str]
) -> None:
    """Deleting it removes both sides; the export names the followed and tells no ids."""
    store.follows.add("ada", "bob", most=9)
    store.follows.add("bob", "ada", most=9)
    exported = store.accounts.export("ada")["follows"]
    assert [set(row) for row in exported] == [{"name", "since"}]
    assert exported[0]["name"] == "Bob"
    store.accounts.delete("ada")
    assert store.follows.of("bob") == {}
    assert store.follows.count("bob") == 0


def test_the_latest_games_of_some(store: Store, players: list[str]) -> None:
    """A few of each, the latest first; and what they play now, but for daily games."""
    for number in range(4):
        for owner in players:
            add_record(store, f"{owner}{number}", owner=owner, finished=f"2026-01-0{number + 1}")
    found = store.records.latest(["ada", "cyd"], each=2)
    assert [row.id for row in found] == ["ada3", "cyd3", "ada2", "cyd2"]
    assert found[0].player == "Ada"
    assert len(store.records.latest(players, limit=5)) == 5
    assert store.records.latest([]) == []
    for owner, day in (("ada", None), ("ada", "2026-01-01"), ("bob", None)):
        game = new_online_game(store, owner=owner, day=day, mode="daily" if day else "ranked")
        assert append_turn(store, game.id, 0, 0, "a")
    assert [game.owner for game in store.online.live_of(["ada", "cyd"], "")] == ["ada"]
    assert store.online.live_of(["ada"], "9999") == []
