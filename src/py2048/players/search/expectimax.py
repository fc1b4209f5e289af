"""Expectimax in plain Python: exact chance nodes, any rules, any evaluation.

This is the readable reference of the compiled search, `py2048.players.search.searcher`.

The value of a board is that of its best move; the value of a move is its points plus the mean
over all spawns, weighted with their exact probabilities, of the boards they lead to. At the
last ply the evaluation of the afterstate stands in for the rest of the game. A stuck board is
worth nothing: no points are to come.

With a limit of cost, unlikely and bad paths end sooner;
`py2048.players.search._expectimax_kernels` has their costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from math import inf, log2

from py2048.core.board import Board, Slide
from py2048.core.direction import Direction
from py2048.core.game.turn import Spawn, Turn, possible_cells, score_after
from py2048.core.rules import Rules
from py2048.players.ntuple.heuristic import DEFAULT
from py2048.players.search.context import COSTS_PER_BIT, LOSS_COST, MOVE_COST, WON

Evaluation = Callable[[Board], float]
"""The value of an afterstate, in points."""

SpawnOutcome = tuple[float, Board]
"""A probability and the board it leads to."""


def outcomes(rules: Rules, afterstate: Board, direction: Direction) -> Iterator[SpawnOutcome]:
    """Yield each board that the spawn can make of an afterstate, with its probability."""
    cells = possible_cells(rules, afterstate, direction)
    for tile, probability in rules.spawn_weights.pairs:
        share = float(probability) / max(len(cells), 1)
        for cell in cells:
            yield share, afterstate.with_tile(cell, tile)


def rate_within(
    seconds: float, rules: Rules, evaluation: Evaluation, deepest: int, won: float, board: Board
) -> dict[Direction, float]:
    """Return the value of each legal move of the deepest search that a time allows.

    Args:
        seconds: the time; a search one move ahead is made in any case.
        rules: the rules of the game.
        evaluation: the value of an afterstate.
        deepest: the greatest depth.
        won: the value of a board that ends the game by its target.
        board: the board.
    """
    end, values = time.perf_counter() + seconds, dict[Direction, float]()
    for depth in range(1, deepest + 1):
        start = time.perf_counter()
        values = Expectimax(rules, evaluation, depth, won).rate(board)
        now = time.perf_counter()
        if now + (now - start) * len(Direction) * most_spawns(rules, board) > end:
            break
    return values


def value_of_win(rules: Rules) -> float:
    """Return what the heuristic gives a board that ends the game by its target."""
    return DEFAULT.base * sum(rules.shape) + WON


def most_spawns(rules: Rules, board: Board) -> int:
    """Return how many boards the spawn after a move can lead to, at most."""
    slides = [board.slide(direction, rules.merging) for direction in board.legal_directions()]
    cells = [len(possible_cells(rules, slide.board, slide.direction)) for slide in slides]
    return len(rules.spawn_weights.pairs) * max(cells, default=0)


class Expectimax:
    """A search to a fixed depth, and for paths of a limited cost.

    Args:
        rules: the rules of the game.
        evaluation: the value of an afterstate.
        depth: how many moves to look ahead, 1 or more.
        won: the value of a board that ends the game by its target.
        max_cost: the greatest cost of a path; by default all paths are followed, and cost nothing.
    """

    def __init__(
        self,
        rules: Rules,
        evaluation: Evaluation,
        depth: int,
        won: float = 0.0,
        max_cost: int | None = None,
    ) -> None:
        self._rules = rules
        self._evaluation = evaluation
        self._depth = depth
        self._won = won
        self._max_cost = max_cost
        self._values: dict[tuple[Board, int, float], float] = {}

    def rate(self, board: Board) -> dict[Direction, float]:
        """Return the value of each legal move, in points."""
        self._values.clear()
        rest = inf if self._max_cost is None else self._max_cost
        return {
            slide.direction: self._move_value(slide, self._depth, rest)
            for slide in self._slides(board)
        }

    def _slides(self, board: Board) -> list[Slide]:
        slides = [board.slide(direction, self._rules.merging) for direction in Direction]
        return [slide for slide in slides if slide.changed]

    def _move_value(self, slide: Slide, depth: int, rest: float) -> float:
        if self._is_won(slide.board):
            return self._gain(slide) + self._won
        if depth == 1:
            return self._gain(slide) + self._evaluation(slide.board)
        spawned = outcomes(self._rules, slide.board, slide.direction)
        values = (
            share * self._board_value(board, depth - 1, rest - self._spawn_cost(share))
            for share, board in spawned
        )
        return self._gain(slide) + sum(values)

    def _board_value(self, board: Board, depth: int, rest: float) -> float:
        key = board, depth, rest
        if key not in self._values:
            slides = self._slides(board)
            if depth > 1 and rest >= 0:
                kept = [(slide, rest - cost) for slide, cost in self._loss_costs(slides)]
                moves = [self._move_value(slide, depth, left) for slide, left in kept if left >= 0]
            else:
                moves = [self._move_value(slide, 1, rest) for slide in slides]
            self._values[key] = max(moves, default=0.0)
        return self._values[key]

    def _spawn_cost(self, share: float) -> int:
        """Return the cost of a spawn of this probability, and of the move before it."""
        return 0 if self._max_cost is None else round(COSTS_PER_BIT * -log2(share)) + MOVE_COST

    def _loss_costs(self, slides: list[Slide]) -> Iterator[tuple[Slide, int]]:
        """Yield each move with the cost of what it loses against the best, one move ahead."""
        values = [self._move_value(slide, 1, 0) for slide in slides]
        best = max(values, default=0.0)
        scale = 0.0 if self._max_cost is None else LOSS_COST / max(abs(best), 1.0)
        for slide, value in zip(slides, values, strict=True):
            yield slide, int(scale * (best - value))

    def _is_won(self, board: Board) -> bool:
        target = self._rules.target
        return self._rules.ends_at_target and target is not None and board.max_tile >= target

    def _gain(self, slide: Slide) -> float:
        # From any score on: that of a turn is the difference. No cell brings more than another.
        cell, before = slide.board.empty_cells()[0], slide.before.sum
        gains = [
            (probability, Turn(slide.direction, slide, Spawn(tile, cell)))
            for tile, probability in self._rules.spawn_weights.pairs
        ]
        scores = [p * score_after(self._rules, before, turn, turn.board) for p, turn in gains]
        return float(sum(scores) - before)
