"""Hints and reviews in the background, without blocking the screen.

A worker thread evaluates a `PositionSnapshot`. The resulting `Hint` carries the session's version,
so answers to outdated positions can be dropped.
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
    from py2048.review.levels import Level

PROGRESS_PERIOD_S = 0.5
"""Recommended polling interval for the compiler's progress, in seconds."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A player's choice and its evaluation of the legal moves.

    Attributes:
        direction: The chosen direction.
        values: Value of each legal direction, corrected by the player's measured overestimate
            (`Meaning.excess`). If the player only knows which direction is best, the others are
            missing.
        player: Spec of the player that answered.
        version: Session version of the position.
        meaning: What the values mean.
        instead_of: Spec of the requested player while it is still being compiled; otherwise empty.
        position: The position, if known.
        judged: The judgement for a level, if there is one. `values` are then the chances of making
            its goal.
    """

    direction: Direction
    values: Mapping[Direction, float]
    player: str
    version: int
    meaning: Meaning = field(default_factory=Meaning)
    instead_of: str = ""
    position: PositionSnapshot | None = field(default=None, compare=False, repr=False)
    judged: MoveReview | None = field(default=None, compare=False, repr=False)

    @property
    def ranked(self) -> list[tuple[Direction, float]]:
        """Legal directions and their values, best first."""
        return sorted(self.values.items(), key=lambda item: -item[1])

    @property
    def points(self) -> float | None:
        """Expected further points when the policy in `meaning` plays on, if values are points."""
        if self.meaning.unit is not Unit.POINTS or not self.values:
            return None
        return max(self.values.values())

    @property
    def losses(self) -> list[tuple[Direction, float]]:
        """Legal directions and their losses relative to the best one, best first."""
        most = max(self.values.values(), default=0.0)
        return [(direction, most - value) for direction, value in self.ranked]


@dataclass(frozen=True, slots=True)
class PositionSnapshot:
    """A position to evaluate, independent of its session.

    Attributes:
        rules: Rules of the game.
        board: A board with at least one legal move.
        version: Session version of the position.
        ply: Number of the next move.
        score: Score so far.
    """

    rules: Rules
    board: Board
    version: int
    ply: int = 1
    score: int = 0

    def judge(self, level: Level) -> Hint:
        """Return the best move for players of a level, and the chance of the goal after each move.

        Raises:
            PlayerError: Moves cannot be judged for a level under these rules.
        """
        from py2048.review.coaching import judge_position

        move = judge_position(self.rules, self.board, level, ply=self.ply, score=self.score)
        return Hint(
            *(move.best, move.values, move.source, self.version, Meaning(Unit.CHANCE)),
            position=self,
            judged=move,
        )

    def ask(self, player: Player, *, only_move: bool = False) -> Hint:
        """Return the player's move and its evaluation of each direction.

        This may be slow and is safe in a separate thread. The player does not see the game's seed,
        so it cannot predict spawns.

        Args:
            player: The player.
            only_move: Skip the values; autoplay needs only the move.

        Raises:
            PlayerError: The player chose an illegal direction.
        """
        game = Game(self.rules, seed=0, board=self.board)
        meaning = Meaning() if only_move else meaning_of(player, game)
        rated = {} if only_move else player.rate(game)
        highest, excess = max(rated.values(), default=0.0), meaning.excess
        if meaning.unit is Unit.POINTS and not meaning.is_exact:  # keep the estimate positive
            excess = min(excess, highest / 2 if highest > 2 else highest - 1)
        values = {direction: value - excess for direction, value in rated.items()}
        direction = player.choose(game)
        if meaning.is_exact and meaning.unit is Unit.RATING:
            values = {direction: values[direction]}
        if direction not in game.legal_directions():
            raise PlayerError(f"player {player.name!r} chose {direction}, which is illegal")
        return Hint(direction, values, player.name, self.version, meaning, position=self)


def advise(
    snapshot: PositionSnapshot,
    player: Player,
    level: Level | None = None,
    *,
    only_move: bool = False,
    apart: bool = True,
) -> Iterator[Hint | Compiling]:
    """Yield a player's hint, and a quicker one first if the player must be compiled.

    If the player is ready, only its hint is yielded. Otherwise the first item is a hint by the
    player `quick`, with `instead_of` set. The next items report the compiler's progress, and the
    last one is the requested hint. Callers should wait `PROGRESS_PERIOD_S` between items. If a
    caller stops early, compilation continues in the background.

    Args:
        snapshot: The position.
        player: The requested player.
        level: If given, the last hint is judged for this level, where that is possible.
        only_move: As for `PositionSnapshot.ask`; no quicker hint is given.
        apart: Compile in another process, which does not block the screen.

    Raises:
        PlayerError: The player chose an illegal direction.
    """
    # NumPy and the players import too slowly for a screen's first frame.
    from py2048.engine.jit.progress import NotReadyError, ready_only
    from py2048.players.simple import QuickPlayer

    hint, judges = None, False
    if level and not only_move:
        from py2048.players.searching import SearchPlayer
        from py2048.review.coaching import why_not

        judges = not why_not(snapshot.rules)
    # A search is not asked in addition, because its network may be large.
    if not level or not judges or not isinstance(player, SearchPlayer):
        try:
            with ready_only():
                hint = snapshot.ask(player, only_move=only_move)
        except NotReadyError:
            if not only_move:
                yield replace(snapshot.ask(QuickPlayer()), instead_of=player.name)
            yield from _prepared(player, snapshot.rules, apart=apart)
            hint = snapshot.ask(player, only_move=only_move)
        if not level or not judges or hint.meaning.is_exact:
            yield hint
            return
    try:
        with ready_only():
            judged = snapshot.judge(level)
    except NotReadyError:
        yield replace(hint or snapshot.ask(QuickPlayer()), instead_of=str(level))
        yield from _prepared(LevelPlayer(level), snapshot.rules, apart=False)
        judged = snapshot.judge(level)
    yield judged


@dataclass(frozen=True, slots=True)
class LevelPlayer:
    """Plays the best moves for players of a level, as a `Player`."""

    level: Level

    @property
    def name(self) -> str:
        """Name of the judge."""
        return f"playouts at level {self.level}"

    def choose(self, game: Game) -> Direction:
        """Return the move with the highest chance."""
        return PositionSnapshot(game.rules, game.board, 0).judge(self.level).direction

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the chance of the goal after each move."""
        return dict(PositionSnapshot(game.rules, game.board, 0).judge(self.level).values)


def _prepared(player: Player, rules: Rules, *, apart: bool = True) -> Iterator[Compiling]:
    """Yield the compiler's progress until the player is ready."""
    from py2048.players.preparing import prepare

    preparation = prepare(player, rules, in_subprocess=apart)
    while not preparation.is_over:
        yield preparation.progress


# Judges

BATCH_S = 0.1
"""Interval at which reviewed moves are passed on, so that screens do not update for each move."""

ReviewUpdate = Judge | Review | tuple[MoveReview, ...]
"""An intermediate or final result of `review_game`."""


def ready_judge(rules: Rules, start: Board | None = None) -> Generator[Compiling, None, Judge]:
    """Yield the compiler's progress, then return the best judge, compiled.

    Args:
        rules: Rules of the game.
        start: Starting position, as for `py2048.review.judge_for`.

    Raises:
        PlayerError: No judge supports the rules.
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


def review_game(record: Record, level: Level | None = None) -> Iterator[ReviewUpdate | Compiling]:
    """Yield the compiler's progress, the judge, batches of reviewed moves, and finally the review.

    For a level, a later review of a move replaces the earlier one. Boards with an exact solution
    and rules under which a level cannot play are reviewed for perfect play.

    Args:
        record: The game.
        level: Level of the player; None for perfect play.

    Raises:
        PlayerError: No judge supports the game.
        RecordError: The record breaks its rules.
    """
    if level is not None:
        from py2048.review.coaching import why_not

        if not why_not(record.rules):
            yield from _review_at(record, level)
            return
    judge = yield from ready_judge(record.rules, record.start)
    yield judge
    moves, sent, due = list[MoveReview](), 0, monotonic() + BATCH_S
    for move in reviewing(record, judge):
        moves.append(move)
        if monotonic() >= due:
            yield tuple(moves[sent:])
            sent, due = len(moves), monotonic() + BATCH_S
    yield tuple(moves[sent:])
    yield Review.of(record, judge, moves)


def _review_at(record: Record, level: Level) -> Iterator[ReviewUpdate | Compiling]:
    from py2048.engine.jit.progress import NotReadyError, ready_only
    from py2048.review.coaching import level_judge, reviewing_at

    judge, player = level_judge(record.rules, level), LevelPlayer(level)
    try:
        with ready_only():
            judge.prepare()
    except NotReadyError:
        yield from _prepared(player, record.rules, apart=False)
    yield judge
    yield from reviewing_at(record, judge)
