"""The values of `py2048.solving.solve` in plain Python and whole fractions, for tiny boards."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product

from py2048.board import Board
from py2048.direction import Direction
from py2048.game.turn import Outcome, Spawn, Turn, outcome_of, possible_cells, score_after
from py2048.rules import BoardSum, Rules, get_rules
from py2048.solving.goal import Goal

Value = Callable[[Board], Fraction]


def exact_values(rules: Rules | str, goal: Goal | str = "score") -> Value:
    """Return a function that gives the value of any board of the rules."""
    chosen, tile = get_rules(rules), Goal.parse(goal).tile

    def turn_value(board: Board, direction: Direction, spawn: Spawn) -> Fraction:
        turn = Turn(direction, board.slide(direction, chosen.merging), spawn)
        if tile is not None:
            return value(turn.board)
        return score_after(chosen, board.sum, turn, turn.board) - board.sum + value(turn.board)

    def move_value(board: Board, direction: Direction) -> Fraction:
        after = board.slide(direction, chosen.merging).board
        cells, pairs = possible_cells(chosen, after, direction), chosen.spawn_weights.pairs
        return sum(
            (
                share / len(cells) * turn_value(board, direction, Spawn(number, cell))
                for cell, (number, share) in product(cells, pairs)
            ),
            Fraction(0),
        )

    @cache
    def value(board: Board) -> Fraction:
        if tile is not None and board.max_tile >= tile:
            return Fraction(1)
        if outcome_of(chosen, board) is not Outcome.PLAYING:
            return Fraction(0)
        legal = [d for d in Direction if board.slide(d, chosen.merging).changed]
        return max(move_value(board, direction) for direction in legal)

    return value


def value_of_game(rules: Rules | str, goal: Goal | str = "score") -> Fraction:
    """Return the expectation of the value over the starts."""
    chosen = get_rules(rules)
    value, start, tile = exact_values(chosen, goal), chosen.start, Goal.parse(goal).tile
    counts = range(start.low, start.high + 1)

    @cache
    def mean(board: Board, missing: int) -> Fraction:
        if not missing:
            is_owed = tile is None and isinstance(chosen.scoring, BoardSum)
            is_playing = outcome_of(chosen, board) is Outcome.PLAYING
            return value(board) + (board.sum if is_owed and is_playing else 0)
        cells = board.empty_cells()
        return sum(
            (
                share / len(cells) * mean(board.with_tile(cell, number), missing - 1)
                for cell, (number, share) in product(cells, chosen.start_weights.pairs)
            ),
            Fraction(0),
        )

    return sum((mean(Board.empty(*chosen.shape), n) for n in counts), Fraction(0)) / len(counts)
