"""Compute hints and reviews in the background, without blocking the screen.

A worker thread evaluates a `PositionSnapshot`. The resulting `Hint` contains the version of the
session, so that hints for older positions can be discarded.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, cast

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import PlayerError
from py2048.core.game import Game, Record
from py2048.core.rules import Rules
from py2048.players import Meaning, Player, Unit, meaning_of
from py2048.review import Judge, MoveReview, Review, judge_for, judging_player
from py2048.review.moves import Position

if TYPE_CHECKING:
    from py2048.engine.jit.progress import Compiling
    from py2048.review.levels import Level

PROGRESS_PERIOD_S = 0.5
"""Recommended polling interval for the compiler's progress, in seconds."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A player's choice of move, with the values of all legal moves.

    Attributes:
        direction: The chosen direction.
        values: Value of each legal direction, minus the player's measured overestimate
            (`Meaning.excess`). If the player knows only the best direction, the other directions
            are missing.
        player: Spec of the player that gave the hint.
        version: Session version of the position.
        meaning: The meaning of the values.
        instead_of: Spec of the requested player if it is not ready yet. The hint then comes from
            the player ``quick``. Otherwise empty.
        position: The position, if known.
        judged: The review of the best move, if the hint is for a level. The `values` are then the
            chances of reaching the level's goal.
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
        """The legal directions with their values, best direction first."""
        return sorted(self.values.items(), key=lambda item: -item[1])

    @property
    def points(self) -> float | None:
        """Expected points from the rest of the game, or None if the values are not points."""
        if self.meaning.unit is not Unit.POINTS or not self.values:
            return None
        return max(self.values.values())

    @property
    def losses(self) -> list[tuple[Direction, float]]:
        """The legal directions with their loss relative to the best direction, best first."""
        most = max(self.values.values(), default=0.0)
        return [(direction, most - value) for direction, value in self.ranked]


@dataclass(frozen=True, slots=True)
class PositionSnapshot:
    """An immutable copy of a session's position, for evaluation in another thread.

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
        """Return a hint for a level: the best move, and each move's chance of reaching the goal.

        Raises:
            PlayerError: If moves cannot be judged for a level under these rules.
        """
        from py2048.review.coaching import level_judge

        at = Position(self.ply, self.board, self.score)
        move = level_judge(self.rules, level).review_move(at)
        return Hint(
            *(move.best, move.values, move.source, self.version, Meaning(Unit.CHANCE)),
            position=self,
            judged=move,
        )

    def ask(self, player: Player, *, only_move: bool = False) -> Hint:
        """Return a hint with the player's move and its evaluation of each direction.

        The evaluation can be slow, so run it in a separate thread. The player does not see the
        game's seed, so it cannot predict spawns.

        Args:
            player: The player.
            only_move: Whether to omit the values, which autoplay does not need.

        Raises:
            PlayerError: If the player chose an illegal direction.
        """
        game = Game(self.rules, seed=0, board=self.board)
        meaning = Meaning() if only_move else meaning_of(player, game)
        rated = {} if only_move else player.rate(game)
        highest, excess = max(rated.values(), default=0.0), meaning.excess
        if meaning.unit is Unit.POINTS and not meaning.is_exact:  # keeps the estimate positive
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
    """Yield a player's hint. While the player's kernels are compiled, yield a quick hint first.

    If the player's kernels are already compiled, this function only yields the requested hint.
    Otherwise, it first yields a hint from the player ``quick`` with `Hint.instead_of` set, then the
    compiler's progress, and finally the requested hint. Callers should wait `PROGRESS_PERIOD_S`
    between items. If the caller stops early, the compilation continues in the background.

    Args:
        snapshot: The position.
        player: The requested player.
        level: Level for which the requested hint is judged. Ignored if the rules do not support
            levels.
        only_move: Whether to omit the values (see `PositionSnapshot.ask`) and the quick hint.
        apart: Whether to compile in a separate process, which keeps the screen responsive.

    Raises:
        PlayerError: If the player chose an illegal direction.
    """
    # Importing NumPy and the players at module level would delay the first frame of a screen.
    from py2048.engine.jit.progress import NotReadyError, ready_only
    from py2048.players.simple import QuickPlayer

    hint, judges = None, False
    if level and not only_move:
        from py2048.players.searching import SearchPlayer
        from py2048.review.coaching import why_not

        judges = not why_not(snapshot.rules)
    # Playouts judge hints for a level, so avoid loading the player's network, which can be large.
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
        yield from _prepared(LevelPlayer(level), snapshot.rules, apart=apart)
        judged = snapshot.judge(level)
    yield judged


@dataclass(frozen=True, slots=True)
class LevelPlayer:
    """A `Player` that plays the best moves for a level."""

    level: Level

    @property
    def name(self) -> str:
        """Name of the level."""
        return str(self.level)

    def choose(self, game: Game) -> Direction:
        """Return the move with the highest chance of reaching the goal."""
        return PositionSnapshot(game.rules, game.board, 0).judge(self.level).direction

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the chance of reaching the goal after each move."""
        return dict(PositionSnapshot(game.rules, game.board, 0).judge(self.level).values)


def _prepared(player: Player, rules: Rules, *, apart: bool = True) -> Iterator[Compiling]:
    """Yield the compiler's progress until the player's kernels are compiled."""
    from py2048.players import preparing

    module = __name__ if isinstance(player, LevelPlayer) else preparing.__name__
    preparation = preparing.prepare(player, rules, module if apart else None)
    while not preparation.is_over:
        yield preparation.progress


# Judges

BATCH_S = 0.1
"""Seconds between batches of reviewed moves, so that screens do not update for each move."""

ReviewUpdate = Judge | Review | tuple[MoveReview, ...]
"""An intermediate result or the final result of `review_game`."""


def ready_judge(
    rules: Rules, start: Board | None = None, level: Level | None = None
) -> Generator[Compiling, None, Judge]:
    """Create the best judge for the rules, yielding progress while its kernels compile.

    Args:
        rules: Rules of the game.
        start: Starting position, as for `py2048.review.judge_for`.
        level: Level of the player, or None for perfect play. If the rules do not support levels,
            the judge assumes perfect play.

    Raises:
        PlayerError: If no judge supports the rules.
    """
    from py2048.engine.jit.progress import NotReadyError, ready_only

    make: Callable[[], Judge] = partial(judge_for, rules, "", start)
    make_player: Callable[[], Player] = partial(judging_player, rules)
    if level is not None:
        from py2048.review.coaching import level_judge, why_not

        if not why_not(rules):
            make, make_player = partial(level_judge, rules, level), partial(LevelPlayer, level)
    try:
        with ready_only():
            judge = make()
            judge.prepare()
    except NotReadyError:
        yield from _prepared(make_player(), rules)
        judge = make()
    return judge


def review_game(record: Record, level: Level | None = None) -> Iterator[ReviewUpdate | Compiling]:
    """Review a game, yielding intermediate results.

    Yields the compiler's progress, the judge, batches of reviewed moves, and finally the complete
    review. In reviews for a level, a move can be reviewed several times with increasing precision,
    and its last review counts. Games on boards that can be solved exactly, or under rules that
    levels do not support, are reviewed against perfect play.

    Args:
        record: The game.
        level: Level of the player, or None for perfect play.

    Raises:
        PlayerError: If no judge supports the game.
        RecordError: If a turn in the record breaks the rules.
    """
    judge = yield from ready_judge(record.rules, record.start, level)
    yield judge
    moves, sent, due = list[MoveReview](), 0, monotonic() + BATCH_S
    for move in judge.reviews(record):
        moves.append(move)
        if monotonic() >= due:
            yield tuple(moves[sent:])
            sent, due = len(moves), monotonic() + BATCH_S
    yield tuple(moves[sent:])
    yield Review.of(record, judge, moves)


if __name__ == "__main__":
    from py2048.players.preparing import compile_in_child
    from py2048.review.levels import parse_level

    compile_in_child(lambda name: LevelPlayer(cast("Level", parse_level(name))))
