"""Finished records, their order and their summaries."""

from __future__ import annotations

import secrets

import pytest
from store_games import add_record, append_turn, new_game

from py2048.app.storage import GameChange, StorageError, Store, data_folder, load_store, open_store


def _add(store: Store, score: int, day: int, **facts: object) -> str:
    ended = f"2048-01-{day:02}T12:00:00.000000Z"
    return add_record(
        store, secrets.token_hex(8), score=score, plies=score, finished=ended, **facts
    )


def test_records_come_best_first_and_the_earlier_of_equals_first(store):
    """With equal scores, the earlier game comes first."""
    late, early, best = _add(store, 10, 3), _add(store, 10, 2), _add(store, 20, 4)
    assert [record.id for record in store.records.select()] == [best, early, late]
    assert [record.id for record in store.records.select(order="finished")] == [best, late, early]
    assert [record.id for record in store.records.select(limit=1)] == [best]


def test_records_can_be_asked_for_by_rules_and_owner(store):
    """The filters for rules and owner work alone and combined."""
    mine = _add(store, 1, 1, owner="ada")
    _add(store, 2, 1, owner="ada", rules="ist")
    _add(store, 3, 1, owner="alan")
    found = store.records.select(rules="classic", owner="ada")
    assert [record.id for record in found] == [mine]
    assert len(store.records.select(rules="classic")) == 2


def test_an_unknown_record_is_refused_by_name(store):
    """The error for an unknown record names it and the store."""
    with pytest.raises(StorageError, match="'nope'") as caught:
        store.records.load("nope")
    assert store.name in str(caught.value)


def test_changes_since_a_revision_are_told(store):
    """They have the turns that are new and still count, and the game as it stands."""
    game = new_game(store)
    for seen, (position, code) in enumerate([(0, "a"), (1, "b"), (2, "c"), (2, "d"), (1, "e")]):
        assert append_turn(store, game.id, seen, position, code, score=seen, millis=seen)
        if seen == 3:
            found = store.games.change_since(game.id, 1, 1)
            turns = (1, "b", 1), (2, "d", 3)
            assert found == GameChange(game.id, 1, 4, 3, 3, 3, False, 0, 0, {}, turns)
    found = store.games.change_since(game.id, 4, 2)
    assert found == GameChange(game.id, 4, 5, 2, 2, 4, False, 0, 0, {}, ())
    assert store.games.change_since("gone", 0, 0) is None
    assert store.games.revisions([game.id, "gone"]) == {game.id: 5}


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, b"bytes"])
def test_settings_that_are_not_json_are_refused(store, value):
    """A setting that is not JSON raises an error and changes nothing."""
    store.settings.set("theme", "dark")
    with pytest.raises(StorageError, match="cannot store this value"):
        store.settings.set("theme", value)
    assert (store.settings.get("theme"), store.settings.get("none", 5)) == ("dark", 5)


def test_a_store_in_memory_is_gone_when_it_is_closed():
    """`sqlite://` opens a store without a file."""
    with open_store("sqlite://") as store:
        store.settings.set("theme", "dark")
        assert store.settings.get("theme") == "dark"
    with open_store("sqlite://") as store:
        assert store.settings.get("theme") is None
    shared = map(load_store, (None, "sqlite://", "postgresql://host/name"))
    assert (*shared, data_folder().exists()) == (False, False, True, False)
