"""The laws that every store keeps, to be checked on any database."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from py2048.errors import StaleGameError, StorageError

if TYPE_CHECKING:
    from py2048.storage import SavedGame, Store

_RULES = "classic"
_TEXT = "ünïcode ✓ 'quotes' \"double\" %s :name \\ \n\t {json}"


def check_store(factory: Callable[[], Store]) -> None:
    """Check a store against the laws of `py2048.storage.Store`.

    The check plays under an owner of its own, whose records and best scores it leaves behind,
    so give it a store to try things on.

    Args:
        factory: Opens the store. It is called twice, and both must see the same data.

    Raises:
        AssertionError: A law is broken; the message says which.
    """
    with factory() as one, factory() as other:
        for law in _LAWS:
            law(_Bench(one, other, f"check-{secrets.token_hex(4)}"))


@dataclass(frozen=True)
class _Bench:
    """Two handles of one store: what one writes, the other must read."""

    one: Store
    other: Store
    owner: str

    def new_game(self, **facts: Any) -> SavedGame:
        usual = {"rules": _RULES, "seed": 7, "start": "....\n", "player": "me"}
        return self.one.games.create(owner=self.owner, **{**usual, **facts})

    def with_turns(self, *codes: str) -> SavedGame:
        game = self.new_game()
        for ply, code in enumerate(codes):
            self.one.games.append_turn(game.id, ply, ply, code, score=4 * (ply + 1))
        return self.other.games.load(game.id)

    def finish(self, game: SavedGame, *, score: int = 100, category: str = "plain") -> None:
        self.one.records.finish(
            game.id, game.revision, _TEXT,
            score=score, max_tile=64, plies=len(game.turns), outcome="lost", category=category,
        )  # fmt: skip


def _require(condition: bool, law: str) -> None:
    if not condition:
        raise AssertionError(law)


def _require_error(kind: type[StorageError], law: str, action: Callable[[], object]) -> None:
    try:
        action()
    except kind as error:
        _require("\n" not in str(error), f"an error is one line, not {str(error)!r}")
        return
    raise AssertionError(law)


def _new_games_read_back(bench: _Bench) -> None:
    extra = {"list": [1, None, 2.5, True], "text": _TEXT}
    for seed in (None, 0, 2**64 - 1, -(2**70)):
        made = bench.new_game(seed=seed, start=_TEXT, player=_TEXT, extra=extra)
        _require(bench.other.games.load(made.id) == made, "a new game reads back as it was made")
        _require((made.seed, made.start, made.extra) == (seed, _TEXT, extra), "facts are kept")
        _require((made.turns, made.position, made.revision) == ((), 0, 0), "it has no turns")


def _turns_keep_their_order(bench: _Bench) -> None:
    game = bench.with_turns(*(f"t{ply}" for ply in range(12)))
    _require(game.turns == tuple(f"t{ply}" for ply in range(12)), "turns keep their order")
    _require((game.position, game.revision, game.score) == (12, 12, 48), "each turn counts")


def _undone_turns_stay_until_another_is_played(bench: _Bench) -> None:
    game = bench.with_turns("a", "b", "c")
    bench.other.games.set_position(game.id, 3, 1, score=4, undos=2, hints=1)
    undone = bench.one.games.load(game.id)
    _require(undone.turns == ("a", "b", "c"), "undone turns are kept for redo")
    _require((undone.position, undone.undos, undone.hints) == (1, 2, 1), "undo moves the position")
    bench.one.games.append_turn(game.id, 4, 1, "x", score=8)
    _require(bench.other.games.load(game.id).turns == ("a", "x"), "a new turn cuts the undone ones")


def _stale_writers_change_nothing(bench: _Bench) -> None:
    game = bench.with_turns("a", "b")
    writes: tuple[Callable[[], object], ...] = (
        lambda: bench.other.games.append_turn(game.id, 1, 1, "x", score=9),
        lambda: bench.other.games.set_position(game.id, 1, 0, score=9, undos=1, hints=0),
        lambda: bench.other.games.discard(game.id, 1),
        lambda: bench.other.records.finish(
            game.id, 1, "{}", score=9, max_tile=4, plies=1, outcome="lost", category="plain"
        ),
    )
    for write in writes:
        _require_error(StaleGameError, "a writer with an old revision is refused", write)
    _require(bench.one.games.load(game.id) == game, "a refused write changes nothing")


def _positions_stay_within_the_game(bench: _Bench) -> None:
    game = bench.with_turns("a")
    for position in (-1, 2):
        _require_error(
            StorageError,
            f"no turn can follow position {position} of 1",
            lambda at=position: bench.one.games.append_turn(game.id, 1, at, "x", score=0),  # type: ignore[misc]
        )
    _require(bench.other.games.load(game.id) == game, "a refused turn changes nothing")


def _the_last_changed_game_goes_on(bench: _Bench) -> None:
    first, second = bench.with_turns("a"), bench.with_turns("b")
    _require(bench.other.games.current(bench.owner) == second, "the last changed game is current")
    bench.one.games.append_turn(first.id, 1, 1, "c", score=8)
    current = bench.other.games.current(bench.owner, _RULES)
    _require(current is not None and current.id == first.id, "a move makes a game current")
    bench.one.games.append_turn(first.id, 2, 2, "d", score=8, is_over=True)
    _require(bench.other.games.current(bench.owner) == second, "a game that is over is not current")
    _require(bench.other.games.current(bench.owner, "ist") is None, "rules tell games apart")
    ids = [game.id for game in bench.other.games.select(bench.owner)]
    _require(ids == [first.id, second.id], "games are listed, the last changed first")


def _discarded_games_are_gone(bench: _Bench) -> None:
    game = bench.with_turns("a")
    bench.one.games.discard(game.id, 1)
    bench.other.games.discard(game.id, 1)
    _require_error(
        StorageError, "a discarded game is gone", lambda: bench.other.games.load(game.id)
    )
    _require_error(
        StaleGameError,
        "a discarded game takes no turns",
        lambda: bench.other.games.append_turn(game.id, 1, 1, "b", score=0),
    )


def _finished_games_become_records_once(bench: _Bench) -> None:
    game = bench.with_turns("a", "b")
    bench.finish(game)
    bench.finish(game)
    _require(bench.other.games.select(bench.owner) == [], "a finished game is not in progress")
    found = bench.other.records.select(owner=bench.owner)
    _require([summary.id for summary in found] == [game.id], "finishing twice makes one record")
    _require(bench.other.records.load(game.id) == _TEXT, "a record reads back as it was given")
    _require(found[0].started == game.started, "a record knows when its game began")


def _best_scores_only_grow(bench: _Bench) -> None:
    def best(category: str | None = None) -> int:
        return bench.other.scores.best(_RULES, bench.owner, category)

    _require(best() == 0, "the best score begins at 0")
    for score in (20, 10):
        bench.one.scores.note(_RULES, bench.owner, "plain", score)
    _require(best() == best("plain") == 20, "a lower score leaves the best")
    bench.finish(bench.with_turns("a"), score=30, category="assisted")
    _require((best("plain"), best("assisted"), best()) == (20, 30, 30), "categories stand apart")
    _require(bench.other.scores.best("ist", bench.owner) == 0, "rules stand apart")


def _settings_hold_json(bench: _Bench) -> None:
    _require(bench.one.settings.get("key", 5, owner=bench.owner) == 5, "unset means the default")
    for value in (None, False, 2.5, _TEXT, [1, {"a": []}]):
        bench.one.settings.set("key", value, owner=bench.owner)
        found = bench.other.settings.get("key", "default", owner=bench.owner)
        _require(found == value and type(found) is type(value), f"{value!r} reads back")


_LAWS = (
    _new_games_read_back,
    _turns_keep_their_order,
    _undone_turns_stay_until_another_is_played,
    _stale_writers_change_nothing,
    _positions_stay_within_the_game,
    _the_last_changed_game_goes_on,
    _discarded_games_are_gone,
    _finished_games_become_records_once,
    _best_scores_only_grow,
    _settings_hold_json,
)
