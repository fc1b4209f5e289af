"""Expectimax in plain Python, for any rules and any evaluation.

This module is the reference for the compiled search in `py2048.players.search.searcher`.

The value of a board is the value of its best move. The value of a move is its points plus the mean
value of the boards after the spawn, weighted by the exact spawn probabilities. At the last ply, an
evaluation function estimates the future points of the afterstate. A stuck board has the value 0,
because no more points can be gained.

With a cost limit, unlikely and bad paths are pruned early. The module docstring of
`py2048.players.search._expectimax_kernels` defines path costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf, log2

from py2048.core.board import Board, Slide
from py2048.core.direction import Direction
from py2048.core.game.turn import Spawn, Turn, possible_cells, score_after
from py2048.core.rules import Rules
from py2048.players.ntuple.heuristic import DEFAULT
from py2048.players.search.context import COSTS_PER_BIT, LOSS_COST, MOVE_COST, WIN_BONUS

Evaluation = Callable[[Board], float]
"""A function that estimates the future points of an afterstate."""

SpawnOutcome = tuple[float, Board]
"""A probability and the resulting board."""


def outcomes(rules: Rules, afterstate: Board, direction: Direction) -> Iterator[SpawnOutcome]:
    """Yield every board that a spawn on an afterstate can produce, with its probability."""
    cells = possible_cells(rules, afterstate, direction)
    for tile, probability in rules.spawn_weights.pairs:
        share = float(probability) / max(len(cells), 1)
        for cell in cells:
            yield share, afterstate.with_tile(cell, tile)


def rate_for(
    seconds: float,
    rules: Rules,
    evaluation: Evaluation,
    max_depth: int,
    win_value: float,
    board: Board,
) -> dict[Direction, float]:
    """Rate the legal moves with the deepest search that fits into a time limit.

    Args:
        seconds: Time limit in seconds. At least one ply is always searched.
        rules: Rules of the game.
        evaluation: Leaf evaluation.
        max_depth: Maximum depth in plies.
        win_value: Value of a board that ends the game by reaching the target.
        board: Board to search.
    """
    end, values = time.perf_counter() + seconds, dict[Direction, float]()
    for depth in range(1, max_depth + 1):
        start = time.perf_counter()
        values = Expectimax(rules, evaluation, depth, win_value).rate(board)
        now = time.perf_counter()
        if now + (now - start) * len(Direction) * max_spawns(rules, board) > end:
            break
    return values


def heuristic_win_value(rules: Rules) -> float:
    """Return the heuristic value of a board that reaches the target."""
    return DEFAULT.base * sum(rules.shape) + WIN_BONUS


def max_spawns(rules: Rules, board: Board) -> int:
    """Return the largest number of boards that can follow any move on `board`."""
    slides = [board.slide(direction, rules.merging) for direction in board.legal_directions()]
    cells = [len(possible_cells(rules, slide.board, slide.direction)) for slide in slides]
    return len(rules.spawn_weights.pairs) * max(cells, default=0)


@dataclass
class Expectimax:
    """A search to a fixed depth, optionally with a path cost limit.

    Attributes:
        rules: Rules of the game.
        evaluation: Leaf evaluation.
        depth: Plies to search, at least 1.
        win_value: Value of a board that ends the game by reaching the target.
        max_cost: Maximum path cost. By default, paths have no cost, so all paths are searched.
    """

    rules: Rules
    evaluation: Evaluation
    depth: int
    win_value: float = 0.0
    max_cost: int | None = None
    _values: dict[tuple[Board, int, float], float] = field(default_factory=dict, init=False)

    def rate(self, board: Board) -> dict[Direction, float]:
        """Return the value of each legal move, in points."""
        self._values.clear()
        rest = inf if self.max_cost is None else self.max_cost
        return {
            slide.direction: self._move_value(slide, self.depth, rest)
            for slide in self._slides(board)
        }

    def _slides(self, board: Board) -> list[Slide]:
        slides = [board.slide(direction, self.rules.merging) for direction in Direction]
        return [slide for slide in slides if slide.changed]

    def _move_value(self, slide: Slide, depth: int, rest: float) -> float:
        if self._is_won(slide.board):
            return self._gain(slide) + self.win_value
        if depth == 1:
            return self._gain(slide) + self.evaluation(slide.board)
        spawned = outcomes(self.rules, slide.board, slide.direction)
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
        """Return the path cost of a spawn, including the fixed cost of the next move."""
        return 0 if self.max_cost is None else round(COSTS_PER_BIT * -log2(share)) + MOVE_COST

    def _loss_costs(self, slides: list[Slide]) -> Iterator[tuple[Slide, int]]:
        """Yield each slide with a cost proportional to its loss against the best slide."""
        values = [self._move_value(slide, 1, 0) for slide in slides]
        best = max(values, default=0.0)
        scale = 0.0 if self.max_cost is None else LOSS_COST / max(abs(best), 1.0)
        for slide, value in zip(slides, values, strict=True):
            yield slide, int(scale * (best - value))

    def _is_won(self, board: Board) -> bool:
        target = self.rules.target
        return self.rules.ends_at_target and target is not None and board.max_tile >= target

    def _gain(self, slide: Slide) -> float:
        # A turn's points do not depend on the cell of the spawn, so any empty cell will do.
        cell, before = slide.board.empty_cells()[0], slide.before.sum
        gains = [
            (probability, Turn(slide.direction, slide, Spawn(tile, cell)))
            for tile, probability in self.rules.spawn_weights.pairs
        ]
        scores = [p * score_after(self.rules, before, turn, turn.board) for p, turn in gains]
        return float(sum(scores) - before)
