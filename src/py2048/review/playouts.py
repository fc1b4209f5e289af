"""Playouts: simulated continuations of a game after a move, and the statistics they yield.

The simulated player evaluates every legal move. The value of a move is its points plus the
estimated value of the afterstate. Afterstates are estimated by py2048's small network or, for rules
without a network, by the heuristic. The player multiplies each value by ``1 + slip * x``, with a
uniformly random ``x`` from -1 to 1, and makes the move with the highest product. Ties are resolved
in the order up, down, left, right. Heuristic values differ less from move to move than network
values, so the slip is divided by 20 for the heuristic. A playout ends when the second goal is
reached, when the rules end the game, or when no move is legal.

The random numbers are 32-bit words of the sfc32 generator [1], which is easy to reproduce in
JavaScript. The generator starts with ``a = seed, b = ply, c = game, counter = 1``, and discards the
first 12 words. Playouts with the same number `game` use the same random words for every first move.
All sums are modulo 2**32::

    word = a + b + counter
    a, b, c = b ^ b >>> 9, c + (c << 3), (c << 21 | c >>> 11) + word
    counter = counter + 1

After a move that does not end the game, one word determines the cell of the spawn, and the next
word determines the spawned tile. Under rules with a fixed spawn, the generator still produces both
words, but they are not used. To choose the next move, one word is drawn for each legal direction,
in the order up, down, left, right.

To choose one of ``n`` items, a word is converted to the index ``word * n >> 32``. The empty cells
are listed in row-major order. The tiles are listed in ascending order, and a tile with the integer
weight ``w`` is listed ``w`` times. The player's error for a move is ``x = word / 2**31 - 1``.

All values are float64. The value of a board is the sum of its integer network weights, multiplied
by `Network.step`.

`play_on` is the reference implementation of `py2048.review.simulation.Playouts`.

[1] C. Doty-Humphrey, PractRand, pracrand.sourceforge.net: "sfc32".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

from py2048.core.board import Board, Slide
from py2048.core.direction import Direction
from py2048.core.game import Spawn, Turn
from py2048.core.game.turn import possible_cells
from py2048.core.rules import Rules
from py2048.players.ntuple.heuristic import board_value
from py2048.players.ntuple.network import Network
from py2048.players.search.expectimax import Expectimax, heuristic_win_value
from py2048.review import _playout_kernels as kernels
from py2048.review.levels import Goals, Level, goal_of
from py2048.review.reasons import Watch, is_out, is_trapped, sum_above
from py2048.review.simulation import SEED, evaluation_of, misjudgement

MASK = 0xFFFFFFFF


class GameCounts(NamedTuple):
    """The statistics of a single playout.

    Attributes:
        moves: Number of moves after the judged move.
        made: Whether the first goal, `Goals.tile`, was reached.
        next_made: Whether the second goal, `Goals.next_tile`, was reached.
        survived: Whether the playout lasted at least 20 moves or ended by reaching a goal.
        out: Whether the tile `Watch.corner` is in no corner after ten more moves, or at the end of
            a shorter game.
        trapped: Number of moves, at most 20, during which `Watch.small` is trapped.
        meeting: Number of moves, at most 20, until the two tiles of `Watch.pair` merge. The judged
            move is included.
        room: Number of empty cells after five more moves, or at the end of a shorter game.
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
    """Yield the random words of a playout."""
    a, b, c, counter = seed & MASK, ply & MASK, game & MASK, 1
    for number in range(1 << 62):
        word = (a + b + counter) & MASK
        turned = (c << 21 | c >> 11) & MASK
        a, b, c = b ^ b >> 9, (c + (c << 3)) & MASK, (turned + word) & MASK
        counter = (counter + 1) & MASK
        if number >= kernels.WARM_UP_WORDS:
            yield word


def turns(
    rules: Rules, board: Board, first: Direction, goal: Goals, slip: float, draws: Iterator[int]
) -> Iterator[Turn]:
    """Yield the turns of a playout, starting with the judged move.

    The last turn has no spawn if it reaches the second goal or ends the game.
    """
    search, share, direction = _search_of(rules), misjudgement(rules, slip), first
    while True:
        slide = board.slide(direction, rules.merging)
        if _is_stopped(rules, slide, goal):
            yield Turn(direction, slide, None)
            return
        cells = possible_cells(rules, slide.board, direction)
        cell, tile = _pick(next(draws), len(cells)), _tile(rules, next(draws))
        turn = Turn(direction, slide, Spawn(tile, cells[cell]))
        yield turn
        board = turn.board
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
    """Run a playout from a move, and return its statistics.

    Args:
        rules: Rules of the game.
        board: Board before the judged move.
        direction: The judged move.
        goal: The tiles to reach.
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
    """Return whether a slide creates this tile or a larger one."""
    return slide.points >= tile and slide.board.max_tile >= tile


def _pick(word: int, choices: int) -> int:
    return word * choices >> 32


def _tile(rules: Rules, word: int) -> int:
    """Return the tile that a random word selects."""
    weights = rules.spawn_weights
    choice = _pick(word, sum(weights.integers))
    for tile, weight in zip(weights.tiles, weights.integers, strict=True):
        if choice < weight:
            return tile
        choice -= weight
    raise AssertionError("a choice is less than the sum of the weights")


def _search_of(rules: Rules) -> Expectimax:
    evaluation = evaluation_of(rules)
    if isinstance(evaluation, Network):
        return Expectimax(rules, evaluation.value, 1)
    value = partial(board_value, heuristic=evaluation)
    return Expectimax(rules, value, 1, heuristic_win_value(rules))


# --- typical lines -------------------------------------------------------------------------------

LINE_MOVES = 4
LINE_GAMES = 16
"""Moves in a typical continuation, and number of playouts from which it is chosen."""


def typical_line(rules: Rules, board: Board, direction: Direction, level: Level) -> list[Turn]:
    """Return a typical continuation: the median playout by length, then by empty cells at the end.

    Args:
        rules: Rules of the game.
        board: Board before the move.
        direction: A legal direction.
        level: Level of the player.
    """
    lines, goal = [], goal_of(rules, level, board)
    for game in range(LINE_GAMES):
        played = turns(rules, board, direction, goal, level.slip, words(SEED, 1, game))
        lines.append([*islice(played, LINE_MOVES)])
    lines.sort(key=lambda line: (len(line), len(line[-1].board.empty_cells())))
    return lines[LINE_GAMES // 2]
