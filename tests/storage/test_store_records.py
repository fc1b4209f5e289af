"""Finished records, their order, their summaries, and where times come from."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from py2048.storage import StorageError, Store, data_folder, open_store
from py2048.storage.values import utc_time


def _add(store: Store, score: int, day: int, **facts: str) -> str:
    return store.records.add(
        f'{{"score": {score}}}', rules=facts.pop("rules", "classic"), score=score, max_tile=64,
        plies=score, outcome="lost", finished=f"2048-01-{day:02}T12:00:00Z", **facts,
    )  # fmt: skip


def test_records_come_best_first_and_the_earlier_of_equals_first(store: Store) -> None:
    """Who reached a score first stands above who equalled it."""
    late, early, best = _add(store, 10, 3), _add(store, 10, 2), _add(store, 20, 4)
    assert [record.id for record in store.records.select()] == [best, early, late]
    assert [record.id for record in store.records.select(order="finished")] == [best, late, early]
    assert [record.id for record in store.records.select(limit=1, offset=1)] == [early]


def test_records_can_be_asked_for_by_rules_owner_and_category(store: Store) -> None:
    """Each filter leaves out what it does not name, and filters combine."""
    mine = _add(store, 1, 1, owner="ada", category="assisted")
    _add(store, 2, 1, owner="ada", rules="ist")
    _add(store, 3, 1, owner="alan", category="assisted")
    found = store.records.select(rules="classic", owner="ada", category="assisted")
    assert [record.id for record in found] == [mine]
    assert len(store.records.select(category="assisted")) == 2


def test_an_unknown_order_is_refused_with_the_known_ones(store: Store) -> None:
    """A misspelt order names the nearest one."""
    with pytest.raises(StorageError, match=r"'scores'.*'score'"):
        store.records.select(order="scores")  # type: ignore[arg-type]


def test_an_unknown_record_is_refused_by_name(store: Store) -> None:
    """Asking for a record that is not there names it and the store."""
    with pytest.raises(StorageError, match="'nope'") as caught:
        store.records.load("nope")
    assert store.name in str(caught.value)


def test_summaries_count_finished_games_and_keep_the_best_of_all(store: Store) -> None:
    """Counts and means are of finished games; the best is of games in progress too."""
    _add(store, 10, 1, owner="ada")
    _add(store, 20, 2, owner="ada")
    _add(store, 99, 3, owner="alan")
    store.scores.note("classic", "ada", "plain", 50)
    store.scores.note("ist", "ada", "computer", 7)
    classic, ist = store.scores.summaries("ada")
    assert (classic.rules, classic.best, classic.games, classic.plies) == ("classic", 50, 2, 30)
    assert classic.mean_score == pytest.approx(15.0)
    assert classic.last_finished == "2048-01-02T12:00:00.000000Z"
    assert (ist.category, ist.best, ist.games, ist.mean_score) == ("computer", 7, 0, 0.0)
    assert ist.last_finished is None
    assert store.scores.summaries("ada", rules="ist") == [ist]


def test_an_added_record_without_a_start_began_when_it_ended(store: Store) -> None:
    """A record need not know when it began."""
    _add(store, 1, 5)
    (record,) = store.records.select()
    assert record.started == record.finished == "2048-01-05T12:00:00.000000Z"


@given(st.lists(st.datetimes(timezones=st.timezones() | st.none()), min_size=2, max_size=5))
def test_times_become_utc_texts_that_sort_as_times(times: list[object]) -> None:
    """Times of any zone become texts of one width whose order is the order of the moments."""
    texts = []
    for time in times:
        try:
            texts.append(utc_time(time.isoformat()))  # type: ignore[attr-defined]
        except OverflowError:  # a zone moves the first or last day out of the calendar
            reject()
    assert {len(text) for text in texts} == {27}
    from datetime import datetime

    moments = [datetime.fromisoformat(text) for text in texts]
    assert all((a < b) == (s < t) for (a, s), (b, t) in pairwise(zip(moments, texts, strict=True)))


def test_a_text_that_is_no_time_is_refused() -> None:
    """The message names the text."""
    with pytest.raises(StorageError, match="'yesterday'"):
        utc_time("yesterday")


def test_scores_beyond_64_bits_are_refused_and_nothing_is_lost(store: Store) -> None:
    """A number that the database cannot hold is an error, never another number."""
    game = store.games.create(rules="classic", seed=1, start="", player="me")
    with pytest.raises(StorageError, match="cannot keep this value"):
        store.games.append_turn(game.id, 0, 0, "x", score=2**63)
    assert store.games.load(game.id) == game


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, b"bytes"])
def test_settings_that_are_not_json_are_refused(store: Store, value: object) -> None:
    """A value that JSON cannot hold changes nothing, on either database."""
    store.settings.set("theme", "dark")
    with pytest.raises(StorageError, match="cannot keep this value"):
        store.settings.set("theme", value)
    assert store.settings.get("theme") == "dark"


def test_a_store_in_memory_is_gone_when_it_is_closed() -> None:
    """`sqlite://` is a store without a file, for playing where nothing may be written."""
    with open_store("sqlite://") as store:
        store.settings.set("theme", "dark")
        assert store.settings.get("theme") == "dark"
    with open_store("sqlite://") as store:
        assert store.settings.get("theme") is None
    assert not data_folder().exists()
