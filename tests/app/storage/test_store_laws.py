"""Laws of the store on both databases, checked by the public check and against a model."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from statistics import fmean
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from store_games import append_turn, new_game

from py2048.app.storage import GameChange, StaleGameError, Store, open_store, schema
from py2048.app.storage.changes import Changes
from py2048.app.storage.records import Records
from py2048.app.storage.summaries import COUNTED, recount
from py2048.testing import check_store

_owners = itertools.count()
_scores = st.integers(-(2**40), 2**40)
_categories = st.sampled_from(["plain", "assisted", "computer"])


def test_store_keeps_the_public_laws(url):
    """Both databases pass the check that users can run themselves."""
    check_store(lambda: open_store(url))


def _last_writer_wins(store: Store) -> None:
    def write(changes: Sequence[GameChange]) -> set[str]:
        """Write regardless of the revision."""
        now = [(change, store.games.find(change.id)) for change in changes]
        newest = [replace(change, seen=game.revision) for change, game in now if game is not None]
        return Changes.write(store.changes, newest)

    store.changes.write = write  # type: ignore[assignment]


def _renaming(store: Store) -> None:
    def load(record_id: str) -> str:
        """Return the record in different words."""
        return Records.load(store.records, record_id).replace("\n", " ")

    store.records.load = load  # type: ignore[method-assign]


@pytest.mark.parametrize("break_", [_last_writer_wins, _renaming])
def test_check_store_finds_broken_stores(sqlite_url, break_):
    """A store that breaks a law fails the check."""

    def broken() -> Store:
        store = open_store(sqlite_url)
        break_(store)
        return store

    with pytest.raises(AssertionError, match=r"refused|reads back"):
        check_store(broken)


@dataclass
class _Model:
    """The expected state of a game in progress."""

    turns: list[str] = field(default_factory=list)
    millis: list[int | None] = field(default_factory=list)
    position: int = 0
    score: int = 0
    is_over: bool = False
    undos: int = 0
    hints: int = 0
    revision: int = 0


class _StoreMachine(RuleBasedStateMachine):
    """Two windows play the same games in any order, compared with a plain model."""

    def __init__(self, one: Store, other: Store) -> None:
        super().__init__()
        self.windows = (one, other)
        self.owner = f"owner {next(_owners)}"
        self.games: dict[str, _Model] = {}
        self.finished: dict[str, dict[str, Any]] = {}
        self.texts: dict[str, str] = {}

    def window(self, side: bool) -> Store:
        return self.windows[side]

    def pick(self, data: st.DataObject, *ended: str) -> tuple[str, _Model]:
        # Ordered by creation, because ids differ between runs of an example.
        games = [each for each in self.games if each not in ended]
        game_id = data.draw(st.sampled_from(games), label="game")
        return game_id, self.games[game_id]

    @rule(side=st.booleans())
    def create(self, side: bool) -> None:
        game = new_game(self.window(side), owner=self.owner, seed=None)
        self.games[game.id] = _Model()

    @precondition(lambda self: self.games.keys() - self.finished)
    @rule(side=st.booleans(), data=st.data(), score=_scores, code=st.text("abc", max_size=3),
          is_over=st.booleans(), millis=st.integers(0, 2**40))  # fmt: skip
    def append(
        self, side: bool, data: st.DataObject, score: int, code: str, is_over: bool, millis: int
    ) -> None:
        game_id, game = self.pick(data, *self.finished)
        position = data.draw(st.integers(0, len(game.turns)), label="position")
        assert append_turn(
            self.window(side), game_id, game.revision, position, code,
            score=score, is_over=is_over, millis=millis,
        )  # fmt: skip
        game.turns[position:], game.millis[position:] = [code], [millis]
        game.position, game.score, game.is_over = position + 1, score, is_over
        game.undos, game.hints, game.revision = 0, 0, game.revision + 1

    @precondition(lambda self: self.games)
    @rule(side=st.booleans(), data=st.data(), score=_scores, undos=st.integers(0, 9))
    def set_position(self, side: bool, data: st.DataObject, score: int, undos: int) -> None:
        game_id, game = self.pick(data)
        game.position = data.draw(st.integers(0, len(game.turns)), label="position")
        game.score, game.is_over, game.undos, game.hints = score, False, undos, undos + 1
        change = GameChange(
            game_id, game.revision, game.revision + 1, len(game.turns), game.position, score,
            False, undos, undos + 1, {}, (),
        )  # fmt: skip
        assert self.window(side).changes.write([change]) == set()
        game.revision += 1
        self.finished.pop(game_id, None)

    @precondition(lambda self: self.games)
    @rule(side=st.booleans(), data=st.data(), behind=st.integers(-3, 3).filter(bool))
    def write_with_another_revision(self, side: bool, data: st.DataObject, behind: int) -> None:
        game_id, game = self.pick(data)
        seen = game.revision + behind
        assert not append_turn(self.window(side), game_id, seen, game.position, "x")
        with pytest.raises(StaleGameError):
            self.window(side).games.discard(game_id, seen)

    @precondition(lambda self: self.games)
    @rule(side=st.booleans(), data=st.data())
    def discard(self, side: bool, data: st.DataObject) -> None:
        game_id, game = self.pick(data)
        self.window(side).games.discard(game_id, game.revision)
        del self.games[game_id]

    @precondition(lambda self: self.games.keys() - self.finished)
    @rule(side=st.booleans(), data=st.data(), category=_categories, counts=st.booleans(),
          can_undo=st.booleans(), max_tile=st.sampled_from([8, 16]))  # fmt: skip
    def finish(self, side: bool, data: st.DataObject, can_undo: bool, **facts: Any) -> None:
        game_id, game = self.pick(data, *self.finished)
        self.texts[game_id] = "|".join(game.turns)
        facts |= {"score": game.score, "plies": len(game.turns)}
        self.window(side).records.finish(
            game_id, game.revision, self.texts[game_id], outcome="lost", can_undo=can_undo, **facts
        )
        self.finished[game_id] = facts
        if not can_undo:
            del self.games[game_id]

    @rule(side=st.booleans())
    def leave(self, side: bool) -> None:
        """Delete everything the owner has."""
        self.window(side).accounts.delete(self.owner)
        self.games.clear()
        self.finished.clear()

    @invariant()
    def both_windows_see_the_games(self) -> None:
        for window in self.windows:
            found = window.games.select(self.owner)
            bare = window.games.select(self.owner, with_turns=False)
            assert bare == [replace(game, turns=(), millis=()) for game in found]
            assert {
                game.id: _Model(
                    list(game.turns), list(game.millis), game.position, game.score, game.is_over,
                    game.undos, game.hints, game.revision,
                )
                for game in found
            } == self.games  # fmt: skip
            going_on = [game for game in found if not game.is_over]
            assert window.games.current(self.owner) == (going_on[0] if going_on else None)

    @invariant()
    def records_and_bests_agree(self) -> None:
        for window in self.windows:
            found = window.records.select(owner=self.owner, limit=1000)
            assert [record.score for record in found] == sorted(
                (facts["score"] for facts in self.finished.values()), reverse=True
            )
            for left in ("", *self.finished)[:2]:
                others = [facts for game, facts in self.finished.items() if game != left]
                counting = sorted(
                    (each for each in others if each["counts"]), key=itemgetter("score")
                )
                bests = {facts["category"]: facts["score"] for facts in counting}
                assert window.scores.bests("classic", self.owner, without=left) == bests
                human = [facts for facts in others if facts["category"] != "computer"]
                career = window.records.career(self.owner, "classic", without=left)
                assert career.scores == Counter(facts["score"] for facts in human)
                assert career.tiles == Counter(facts["max_tile"] for facts in human)

    @invariant()
    def summaries_are_those_of_the_records(self) -> None:
        """The running summaries equal a recount of all records."""
        store = self.windows[0]
        own = (table.c.owner == self.owner for table in (schema.summaries, schema.records))
        rows = store.rows(sa.select(schema.summaries).where(next(own)))
        counted = sa.select(*(schema.records.c[name] for name in COUNTED)).where(next(own))
        assert sorted(map(tuple, rows)) == [
            tuple(row.values()) for row in recount(store.rows(counted))
        ]
        for each in store.scores.summaries(self.owner):
            played = [
                facts for facts in self.finished.values() if facts["category"] == each.category
            ]
            assert each.games == len(played)
            scores = [facts["score"] for facts in played if facts["counts"]]
            assert each.best == max(scores, default=0)
            assert each.plies == sum(facts["plies"] for facts in played)
            assert each.max_tile == max(facts["max_tile"] for facts in played)
            assert each.mean_score == pytest.approx(fmean(facts["score"] for facts in played))

    def teardown(self) -> None:
        for record_id in self.finished:
            assert self.windows[0].records.load(record_id) == self.texts[record_id]
        for record_id in self.finished.keys() - self.games:
            assert self.windows[1].games.find(record_id) is None


def test_store_behaves_as_its_model(url):
    """Whatever two windows do, in any order, the store agrees with the model."""
    with open_store(url) as one, open_store(url) as other:
        run_state_machine_as_test(
            lambda: _StoreMachine(one, other),
            settings=settings(max_examples=8, stateful_step_count=25, deadline=None),
        )
