"""`check_store`: conformance check for implementations of `Store`."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from py2048.app.storage import GameChange, SavedGame
from py2048.core.errors import StaleGameError

if TYPE_CHECKING:
    from py2048.app.storage import Store

_RULES = "classic"
_TEXT = "ünïcode ✓ 'quotes' \"double\" %s :name \\ \n\t {json}"


def check_store(factory: Callable[[], Store]) -> None:
    """Check that a store conforms to the contract of `py2048.app.storage.Store`.

    The check leaves records and best scores of a temporary owner in the store, so use a test
    database.

    Args:
        factory: Opens the store. The check opens two stores, which must share the same data.

    Raises:
        AssertionError: If the store violates a rule; the message names the rule.
    """
    with factory() as one, factory() as other:
        for law in (
            _new_games_read_back,
            _turns_keep_their_order,
            _undone_turns_stay_until_another_is_played,
            _stale_writers_change_nothing,
            _the_last_changed_game_is_current,
            _discarded_games_are_gone,
            _finished_games_become_records_once,
            _best_scores_are_those_of_the_records,
            _settings_hold_json,
        ):
            law(_Bench(one, other, f"check-{secrets.token_hex(4)}"))


@dataclass(frozen=True)
class _Bench:
    """Two connections to the same store, which must see each other's changes."""

    one: Store
    other: Store
    owner: str

    def new_game(self, **facts: Any) -> SavedGame:
        usual = {"rules": _RULES, "seed": 7, "start": "....\n", "player": "me"}
        game = SavedGame(owner=self.owner, **{**usual, **facts})
        self.one.games.add(game)
        return game

    def write(
        self, game: SavedGame, *codes: str, position: int | None = None, is_over: bool = False
    ) -> bool:
        """Append turns after the first `position` turns; return whether the store accepted them."""
        first = game.position if position is None else position
        length = first + len(codes) if codes else len(game.turns)
        at = length if codes else first
        change = GameChange(
            game.id, game.revision, game.revision + 1, length, at, 4 * at, is_over, game.undos,
            game.hints, game.extra, tuple((first + ply, code, 5) for ply, code in enumerate(codes)),
        )  # fmt: skip
        return not self.other.changes.write([change])

    def read(self, game: SavedGame) -> SavedGame:
        found = self.one.games.find(game.id)
        assert found is not None, "a game that was saved is found"
        return found

    def with_turns(self, *codes: str) -> SavedGame:
        game = self.new_game()
        assert self.write(game, *codes), "a writer with the newest revision is not refused"
        return self.read(game)

    def finish(self, game: SavedGame, *, score: int = 100, category: str = "plain") -> None:
        self.one.records.finish(
            game.id, game.revision, _TEXT,
            score=score, max_tile=64, plies=len(game.turns), outcome="lost", category=category,
        )  # fmt: skip


def _new_games_read_back(bench: _Bench) -> None:
    extra = {"list": [1, None, 2.5, True], "text": _TEXT}
    for seed in (None, 0, 2**64 - 1, -(2**70)):
        made = bench.new_game(seed=seed, start=_TEXT, player=_TEXT, extra=extra)
        assert bench.other.games.find(made.id) == made, "a new game reads back as it was made"
        assert (made.seed, made.start, made.extra) == (seed, _TEXT, extra), "facts are kept"
        assert (made.turns, made.position, made.revision) == ((), 0, 0), "it has no turns"


def _turns_keep_their_order(bench: _Bench) -> None:
    game = bench.with_turns("t0", "t1")
    for ply in range(2, 12):
        bench.write(game, f"t{ply}")
        game = bench.read(game)
    assert game.turns == tuple(f"t{ply}" for ply in range(12)), "turns keep their order"
    assert (game.position, game.revision, game.score) == (12, 11, 48), "each change counts"


def _undone_turns_stay_until_another_is_played(bench: _Bench) -> None:
    game = bench.with_turns("a", "b", "c")
    bench.write(replace(game, undos=2, hints=1), position=1)
    undone = bench.read(game)
    assert undone.turns == ("a", "b", "c"), "undone turns are kept for redo"
    assert (undone.position, undone.undos, undone.hints) == (1, 2, 1), "undo moves the position"
    bench.write(undone, "x")
    assert bench.read(game).turns == ("a", "x"), "a new turn cuts the undone ones"


def _stale_writers_change_nothing(bench: _Bench) -> None:
    game, old = bench.with_turns("a", "b"), "a writer with an old revision is refused"
    assert not bench.write(replace(game, revision=0), "x"), old
    assert not bench.write(replace(game, revision=0), position=0), old
    _check_refused(old, lambda: bench.other.games.discard(game.id, 0))
    _check_refused(old, lambda: bench.finish(replace(game, revision=0)))
    assert bench.read(game) == game, "a refused write changes nothing"


def _check_refused(law: str, action: Callable[[], None]) -> None:
    try:
        action()
    except StaleGameError:
        return
    raise AssertionError(law)


def _the_last_changed_game_is_current(bench: _Bench) -> None:
    first, second = bench.with_turns("a"), bench.with_turns("b")
    assert bench.other.games.current(bench.owner) == second, "the last changed game is current"
    bench.write(first, "c")
    current = bench.other.games.current(bench.owner, _RULES)
    assert current == bench.read(first), "a move makes a game current"
    bench.write(bench.read(first), "d", is_over=True)
    assert bench.other.games.current(bench.owner) == second, "a game that is over is not current"
    assert bench.other.games.current(bench.owner, "ist") is None, "rules tell games apart"
    ids = [game.id for game in bench.other.games.select(bench.owner)]
    assert ids == [first.id, second.id], "games are listed, the last changed first"


def _discarded_games_are_gone(bench: _Bench) -> None:
    game = bench.with_turns("a")
    bench.one.games.discard(game.id, game.revision)
    bench.other.games.discard(game.id, game.revision)
    assert bench.other.games.find(game.id) is None, "a discarded game is gone"
    assert not bench.write(game, "b"), "a discarded game takes no turns"


def _finished_games_become_records_once(bench: _Bench) -> None:
    game = bench.with_turns("a", "b")
    bench.finish(game)
    bench.finish(game)
    assert bench.other.games.select(bench.owner) == [], "a finished game is not in progress"
    found = bench.other.records.select(owner=bench.owner)
    assert [summary.id for summary in found] == [game.id], "finishing twice makes one record"
    assert bench.other.records.load(game.id) == _TEXT, "a record reads back as it was given"
    assert found[0].started == game.started, "a record knows when its game began"


def _best_scores_are_those_of_the_records(bench: _Bench) -> None:
    def bests(rules: str = _RULES) -> dict[str, int]:
        return bench.other.scores.bests(rules, bench.owner)

    assert bests() == {}, "without a record there is no best score"
    for score in (20, 10):
        bench.finish(bench.with_turns("a"), score=score)
    assert bests() == {"plain": 20}, "a lower score leaves the best"
    bench.finish(bench.with_turns("a"), score=30, category="assisted")
    assert bests() == {"plain": 20, "assisted": 30}, "categories stand apart"
    assert bests("ist") == {}, "rules stand apart"


def _settings_hold_json(bench: _Bench) -> None:
    assert bench.one.settings.get("key", 5, owner=bench.owner) == 5, "unset means the default"
    for value in (None, False, 2.5, _TEXT, [1, {"a": []}]):
        bench.one.settings.set("key", value, owner=bench.owner)
        found = bench.other.settings.get("key", "default", owner=bench.owner)
        assert (found, type(found)) == (value, type(value)), f"{value!r} reads back"
