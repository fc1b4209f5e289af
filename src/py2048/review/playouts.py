"""Playouts: games played on from a move by a player of a level, and what is counted in them.

*The player* judges the legal moves of each board anew. A move is worth its points plus the value of
the afterstate by py2048's own small network, or by the heuristic under rules without a network. The
player multiplies this value by ``1 + slip * x``, with a uniformly random ``x`` from -1 to 1, and
makes the first move with the highest product, in the order up, down, left, right. (With the
heuristic, whose values differ less, the slip is divided by 20.) A game ends when the goal after the
goal is made, when the rules end it, or when no move is legal.

*Random numbers* are 32-bit words of sfc32 [1], so that the page draws the same ones in JavaScript.
The generator starts as ``a = seed, b = ply, c = game, counter = 1``, and its first 12 words are
discarded. The direction is not part of the seed: games of the same number get the same words after
every direction. All sums are modulo 2**32::

    word = a + b + counter
    a, b, c = b ^ b >>> 9, c + (c << 3), (c << 21 | c >>> 11) + word
    counter = counter + 1

The order of the words is:

1. After a move that does not stop the game, a word for the spawn's cell, then one for its tile. A
   word selects one of `n` choices as ``word * n >> 32``: the cell among the empty ones in
   row-major order, the tile by its integer weight among the running sums of the weights in
   ascending order of tiles. Under rules with a fixed spawn both words are drawn and ignored.
2. A word for each legal move, in the order up, down, left, right, with ``x = word / 2**31 - 1``.

All values are float64; a network's value is the sum of its integer weights times its step.

`play_on` is the plain reference of the compiled `_playout_kernels`.

[1] C. Doty-Humphrey, PractRand, pracrand.sourceforge.net: "sfc32".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice, product
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.core.board import Board, Slide
from py2048.core.direction import Direction
from py2048.core.game.turn import possible_cells
from py2048.core.rules import Rules
from py2048.engine.boards import ranks_of
from py2048.engine.jit import available_threads, together
from py2048.players.ntuple.heuristic import Heuristic, board_value
from py2048.players.ntuple.layout import PACKED_RANKS, Code, NetworkLayout, Tuple, board_kind
from py2048.players.ntuple.network import MAX_RANK, Network
from py2048.players.search.context import new_context
from py2048.players.search.expectimax import Expectimax, heuristic_win_value
from py2048.review import _playout_kernels as kernels
from py2048.review.levels import Goals, Level, goal_of
from py2048.review.reasons import Line, Reason, Watch, is_out, is_trapped, sum_above
from py2048.review.simulation import evaluation_of, misjudgement

SEED = 0
"""Seed of the games that judge moves."""

MERGED_CELLS, MAX_WEIGHT = 6, np.iinfo(np.int16).max
"""Maximum number of cells of merged tuples, and their largest weight."""

MASK = 0xFFFFFFFF

Sums = NDArray[np.int64]


class GameCounts(NamedTuple):
    """What is counted in a game played on from a move.

    Attributes:
        moves: Moves after the judged one.
        made: Whether the goal was made.
        next_made: Whether the goal after it was made.
        survived: Whether 20 moves could be played, or the game ended with a goal before.
        out: Whether the watched tile is in no corner ten moves later, or at the end if it comes
            first.
        trapped: Number of boards from the first on with the watched trap; at most 20.
        meeting: Number of moves until the watched pair met, with the judged move; at most 20, which
            also stands for later and never.
        room: Number of empty cells five moves later, or at the end if it comes first.
    """

    moves: int
    made: bool
    next_made: bool
    survived: bool
    out: bool
    trapped: int
    meeting: int
    room: int


def words(seed: int, ply: int, game: int) -> Iterator[int]:
    """Yield the random words of a game."""
    a, b, c, counter = seed & MASK, ply & MASK, game & MASK, 1
    for number in range(1 << 62):
        word = (a + b + counter) & MASK
        turned = (c << 21 | c >> 11) & MASK
        a, b, c = b ^ b >> 9, (c + (c << 3)) & MASK, (turned + word) & MASK
        counter = (counter + 1) & MASK
        if number >= kernels.WARM_UP_WORDS:
            yield word


class Turn(NamedTuple):
    """A turn of a game played on.

    Attributes:
        slide: The move.
        board: Board after the spawn, or the afterstate if the move stopped the game.
    """

    slide: Slide
    board: Board


def turns(
    rules: Rules, board: Board, first: Direction, goal: Goals, slip: float, draws: Iterator[int]
) -> Iterator[Turn]:
    """Yield the turns of a game played on, the judged move first."""
    search, share, direction = _search_of(rules), misjudgement(rules, slip), first
    while True:
        slide = board.slide(direction, rules.merging)
        if _is_stopped(rules, slide, goal):
            yield Turn(slide, slide.board)
            return
        cells = possible_cells(rules, slide.board, direction)
        cell, tile = _pick(next(draws), len(cells)), _tile(rules, next(draws))
        board = slide.board.with_tile(cells[cell], tile)
        yield Turn(slide, board)
        judged = {
            each: value * (1 + share * (next(draws) / kernels.HALF_RANGE - 1))
            for each, value in search.rate(board).items()
        }
        if not judged:
            return
        direction = max(judged, key=judged.__getitem__)


def play_on(
    rules: Rules,
    board: Board,
    direction: Direction,
    goal: Goals,
    watch: Watch,
    slip: float,
    draws: Iterator[int],
) -> GameCounts:
    """Play a game on from a move and count.

    Args:
        rules: Rules of the game.
        board: Board before the judged move.
        direction: The judged move.
        goal: The tiles to make.
        watch: The tiles to watch.
        slip: Slip of the level.
        draws: The game's random words.
    """
    played = [*turns(rules, board, direction, goal, slip, draws)]
    slides, moves = [turn.slide for turn in played], len(played) - 1
    first = [turn.board for turn in played[: kernels.WATCHED_BOARDS]]
    holds = [is_trapped(each, watch.small, watch.large) for each in first]
    met = [sum_above(each, watch.pair) > sum_above(board, watch.pair) for each in first]
    return GameCounts(
        moves,
        any(_makes(slide, goal.tile) for slide in slides),
        any(_makes(slide, goal.next_tile) for slide in slides),
        _is_stopped(rules, slides[-1], goal) or moves >= kernels.SURVIVAL_MOVES,
        is_out(first[: kernels.CORNER_MOVES + 1][-1], watch.corner),
        (*holds, False).index(False),
        met.index(True) + 1 if any(met) else kernels.WATCHED_BOARDS,
        len(first[: kernels.ROOM_MOVES + 1][-1].empty_cells()),
    )


def _is_stopped(rules: Rules, slide: Slide, goal: Goals) -> bool:
    ends = rules.target is not None and rules.ends_at_target and _makes(slide, rules.target)
    return ends or _makes(slide, goal.next_tile)


def _makes(slide: Slide, tile: int) -> bool:
    """Return whether a slide makes this tile or a larger one."""
    return slide.points >= tile and slide.board.max_tile >= tile


def _pick(word: int, choices: int) -> int:
    return word * choices >> 32


def _tile(rules: Rules, word: int) -> int:
    """Return the tile that a word selects."""
    weights = rules.spawn_weights
    choice = _pick(word, sum(weights.integers))
    for tile, weight in zip(weights.tiles, weights.integers, strict=True):
        if choice < weight:
            return tile
        choice -= weight
    raise AssertionError("a choice is less than the sum of the weights")


# --- the player's network ------------------------------------------------------------------------


def merged(network: Network) -> Network:
    """Return a network with the same values and fewer tuples, which is faster to evaluate.

    Tuples are added up in tables of larger ones that contain them. This takes more memory, about
    100 MB for classic.
    """
    layout, groups, rest = network.layout, list[Tuple](), [*network.layout.tuples]
    parts = np.split(network.table, layout.offsets[1:-1])
    if layout.kind != "4x4" or layout.stages or sum(map(_largest_weight, parts)) > MAX_WEIGHT:
        return network
    unions = {tuple(sorted({*one, *other})) for one, other in product(rest, rest)}
    while rest:
        group = max(
            sorted(each for each in unions if len(each) <= MERGED_CELLS),
            key=lambda union: sum(set(each) <= set(union) for each in rest),
        )
        groups.append(group)
        rest = [each for each in rest if not set(each) <= set(group)]
    larger = NetworkLayout(layout.rows, layout.columns, tuple(groups), ranks=layout.ranks)
    table = np.zeros(larger.weights, np.int16)
    for cells, part in zip(layout.tuples, parts, strict=True):
        place = next(place for place, group in enumerate(groups) if set(cells) <= set(group))
        whole = table[larger.offsets[place] : larger.offsets[place + 1]]
        # The rank of the first cell varies fastest, so the last axis is the first cell.
        shape = [PACKED_RANKS if cell in cells else 1 for cell in reversed(groups[place])]
        sums = whole.reshape([PACKED_RANKS] * len(shape))
        np.add(sums, part.reshape(shape), out=sums, casting="unsafe")
    return Network(larger, network.rules, table, step=network.step)


def _largest_weight(part: NDArray[Any]) -> float:
    return max(-float(part.min()), float(part.max()))


@cache
def _fast_evaluation_of(rules: Rules) -> Network | Heuristic:
    evaluation = evaluation_of(rules)
    return merged(evaluation) if isinstance(evaluation, Network) else evaluation


def _search_of(rules: Rules) -> Expectimax:
    evaluation = evaluation_of(rules)
    if isinstance(evaluation, Network):
        return Expectimax(rules, evaluation.value, 1)
    value = partial(board_value, heuristic=evaluation)
    return Expectimax(rules, value, 1, heuristic_win_value(rules))


# --- compiled ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Batch:
    """Games to play on from a position.

    Attributes:
        board: Board before the moves.
        ply: Number of the move, which seeds the games.
        goal: The tiles to make.
        watch: The tiles to watch.
        directions: The legal moves to try.
        first: Number of the first game.
        games: Number of games after each move.
    """

    board: Board
    ply: int
    goal: Goals
    watch: Watch
    directions: Sequence[Direction]
    first: int
    games: int

    @property
    def job(self) -> list[int]:
        """The batch as numbers, see `_playout_kernels`."""
        bits = sum(1 << direction.value for direction in self.directions)
        ranks = [tile.bit_length() - 1 if tile else 0 for tile in self.watch]
        return [self.ply, self.first, self.games, bits, *self.goal, *ranks]


class Playouts:
    """Plays games on from moves with compiled kernels, on several threads. Thread-safe.

    Equal batches give equal sums on any number of threads.

    Args:
        rules: Rules of the games.
        slip: Slip of the level.
        seed: Seed of the games.
        threads: Number of threads; one for each CPU by default.

    Raises:
        RulesError: The compiled search does not support the rules.
    """

    def __init__(
        self, rules: Rules, slip: float, *, seed: int = SEED, threads: int | None = None
    ) -> None:
        self.rules = rules
        self._player = np.uint64(seed), misjudgement(rules, slip)
        evaluation, kind = _fast_evaluation_of(rules), board_kind(*rules.shape)
        self._weights: Any = np.zeros(1, np.float32)
        name, code, has_stages = "heuristic", Code(), False
        if isinstance(evaluation, Network):
            name, code, self._weights = "network", evaluation.layout.code, evaluation.table
            has_stages = bool(evaluation.layout.stages)
        self._kernel = kernels.playout_kernel(kind, name, code, has_stages=has_stages)
        self._contexts = [
            new_context(rules, evaluation, depth=1, is_exhaustive=True)
            for _ in range(threads or available_threads())
        ]
        self._lock = Lock()

    def play(self, batches: Sequence[Batch]) -> Sums:
        """Play batches; return their sums.

        Returns:
            int64 `[batches, 4, 2, columns]`, by direction, parity of the game's number, and column
            of `_playout_kernels`.
        """
        sums = np.zeros((len(batches), 4, 2, kernels.SUMS), np.int64)
        rest = iter(zip(batches, sums, strict=True))  # each thread takes the next batch

        def work(context: Any) -> None:
            game = np.zeros(kernels.SUMS, np.int64)
            for batch, row in rest:
                cells, job = ranks_of(batch.board, MAX_RANK), np.array(batch.job, np.int64)
                self._kernel(cells, job, *self._player, context, self._weights, game, row)

        with self._lock:
            together(work, [(context,) for context in self._contexts])
        return sums


# --- typical lines -------------------------------------------------------------------------------

LINE_MOVES = 4
LINE_GAMES = 16
"""Length of a typical line, and number of games among which it is the median."""


def typical_line(
    rules: Rules, board: Board, direction: Direction, level: Level, reason: Reason | None = None
) -> Line:
    """Return a typical continuation after a move: the median of a few games by their empty cells.

    Args:
        rules: Rules of the game.
        board: Board before the move.
        direction: A legal direction.
        level: Level of the player.
        reason: Reason whose tile is the one to fear.
    """
    lines, goal = [], goal_of(rules, level, board)
    for game in range(LINE_GAMES):
        played = turns(rules, board, direction, goal, level.slip, words(SEED, 1, game))
        lines.append([*islice(played, LINE_MOVES)])
    lines.sort(key=lambda line: (len(line), len(line[-1].board.empty_cells())))
    line = lines[LINE_GAMES // 2]
    directions = tuple(turn.slide.direction for turn in line)
    fear = reason.numbers.get("tile") if reason else None
    return Line(directions, (board, *(turn.board for turn in line)), int(fear) if fear else None)
