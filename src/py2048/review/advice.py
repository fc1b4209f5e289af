"""Asking a player about a position, or a judge about a game, without blocking the screen.

A `PositionSnapshot` is for a worker thread to think about; the `Hint` that it gives carries the
session's version, so that an answer to an outdated position is dropped.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import PlayerError
from py2048.core.game import Game, Record
from py2048.core.rules import Rules
from py2048.players import Meaning, Player, Unit, meaning_of
from py2048.review import Judge, MoveReview, Review, judge_for, judging_player, reviewing

if TYPE_CHECKING:
    from py2048.engine.jit.progress import Compiling

PROGRESS_PERIOD_S = 0.5
"""Seconds to wait between two looks at the compiler's progress."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What a player would do.

    Attributes:
        direction: the direction it would choose.
        values: the worth of each legal direction, less the excess of the meaning; of the chosen
            one alone where no more is known than that it is best.
        player: the spec of the player that answered.
        version: the version of the session's position that it was asked about.
        meaning: what the values mean.
        instead_of: the spec of the player that was asked, if it is still being compiled.
        position: what it was asked about, if that is told.
    """

    direction: Direction
    values: Mapping[Direction, float]
    player: str
    version: int
    meaning: Meaning = field(default_factory=Meaning)
    instead_of: str = ""
    position: PositionSnapshot | None = field(default=None, compare=False, repr=False)

    @property
    def ranked(self) -> list[tuple[Direction, float]]:
        """The legal directions with their values, the best first."""
        return sorted(self.values.items(), key=lambda item: -item[1])

    @property
    def points(self) -> float | None:
        """The points to come if the policy of the meaning plays on, if the values are points."""
        if self.meaning.unit is not Unit.POINTS or not self.values:
            return None
        return max(self.values.values())

    @property
    def losses(self) -> list[tuple[Direction, float]]:
        """The legal directions with what each loses against the best, the best first."""
        most = max(self.values.values(), default=0.0)
        return [(direction, most - value) for direction, value in self.ranked]


@dataclass(frozen=True, slots=True)
class PositionSnapshot:
    """A position to think about, independent of the session it comes from.

    Attributes:
        rules: the rules of the game.
        board: the board to move on; the game is not over.
        version: the version of the session's position.
    """

    rules: Rules
    board: Board
    version: int

    def ask(self, player: Player, *, only_move: bool = False) -> Hint:
        """Return what `player` would do, and what it thinks of each direction.

        May be slow; safe in a thread of its own. The player sees the position but not the
        game's seed, so it cannot know what will spawn.

        Args:
            player: who is asked.
            only_move: leave the values out, for autoplay, where only the move matters.

        Raises:
            PlayerError: if the player answers with an illegal direction.
        """
        game = Game(self.rules, seed=0, board=self.board)
        meaning = Meaning() if only_move else meaning_of(player, game)
        rated = {} if only_move else player.rate(game)
        highest, excess = max(rated.values(), default=0.0), meaning.excess
        if meaning.unit is Unit.POINTS and not meaning.is_exact:  # at least a point is to come
            excess = min(excess, highest / 2 if highest > 2 else highest - 1)
        values = {direction: value - excess for direction, value in rated.items()}
        direction = player.choose(game)
        if meaning.is_exact and meaning.unit is Unit.RATING:
            values = {direction: values[direction]}
        if direction not in game.legal_directions():
            raise PlayerError(f"player {player.name!r} chose {direction}, which is illegal")
        return Hint(direction, values, player.name, self.version, meaning, position=self)


def advise(
    snapshot: PositionSnapshot, player: Player, *, only_move: bool = False, apart: bool = True
) -> Iterator[Hint | Compiling]:
    """Yield what `player` would do; while it is being compiled, something quicker meanwhile.

    A player that is ready gives its hint at once. Otherwise the first answer is a hint of the
    player `quick`, which names the other in `instead_of`; then comes the compiler's progress, as
    often as the caller asks (`PROGRESS_PERIOD_S` is often enough); last comes the hint asked for.
    Compiling continues in the background if the caller does not wait for its end.

    Args:
        snapshot: the position.
        player: who is asked.
        only_move: as `PositionSnapshot.ask`: no other player moves instead.
        apart: compile in another process, which holds up no screen.

    Raises:
        PlayerError: if the player answers with an illegal direction.
    """
    # With NumPy, these take as long to import as a screen may take to open.
    from py2048.engine.jit.progress import NotReadyError, ready_only
    from py2048.players.simple import QuickPlayer

    try:
        with ready_only():
            hint = snapshot.ask(player, only_move=only_move)
    except NotReadyError:
        if not only_move:
            yield replace(snapshot.ask(QuickPlayer()), instead_of=player.name)
        yield from _prepared(player, snapshot.rules, apart=apart)
        hint = snapshot.ask(player, only_move=only_move)
    yield hint


def _prepared(player: Player, rules: Rules, *, apart: bool = True) -> Iterator[Compiling]:
    """Yield the compiler's progress until the player is ready."""
    from py2048.players.preparing import prepare

    preparation = prepare(player, rules, in_subprocess=apart)
    while not preparation.is_over:
        yield preparation.progress


# Judges

BATCH_S = 0.1
"""Seconds of judging after which moves are handed on, so that a screen is not told of each."""

Finding = Judge | Review | tuple[MoveReview, ...]
"""What comes of judging, besides the compiler's progress."""


def ready_judge(rules: Rules, start: Board | None = None) -> Generator[Compiling, None, Judge]:
    """Return the best judge, once it needs no compiler; yield the compiler's progress until then.

    Args:
        rules: the rules.
        start: a board from which games begin, as for `py2048.review.judge_for`.

    Raises:
        PlayerError: if there is no such judge for the rules.
    """
    from py2048.engine.jit.progress import NotReadyError, ready_only

    try:
        with ready_only():
            judge = judge_for(rules, "", start)
            judge.rate(Game(rules, seed=0).board)
    except NotReadyError:
        yield from _prepared(judging_player(rules), rules)
        judge = judge_for(rules, "", start)
    return judge


def review_game(record: Record) -> Iterator[Finding | Compiling]:
    """Yield the judge, then the moves of a game as they are judged, and last the whole review.

    Args:
        record: the game.

    Raises:
        PlayerError: if there is no such judge, or it cannot value the game.
        RecordError: if the record breaks its rules.
    """
    judge = yield from ready_judge(record.rules, record.start)
    yield judge
    moves, told, due = list[MoveReview](), 0, monotonic() + BATCH_S
    for move in reviewing(record, judge):
        moves.append(move)
        if monotonic() >= due:
            yield tuple(moves[told:])
            told, due = len(moves), monotonic() + BATCH_S
    yield tuple(moves[told:])
    yield Review.of(record, judge, moves)
