"""Exact values and chances in plain Python and whole fractions, for tiny boards and formations."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product

from py2048.board import Board
from py2048.direction import Direction
from py2048.game.turn import Outcome, Spawn, Turn, outcome_of, possible_cells, score_after
from py2048.rules import BoardSum, Rules, get_rules
from py2048.solving.formations import Formation, get_formation
from py2048.solving.goal import Goal
from py2048.solving.positions import Positions

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


def exact_chances(formation: Formation | str, target: int, rules: Rules | str = "classic") -> Value:
    """Return a function that gives the chance to make a tile from a board of a formation.

    Tiles above the target are the large ones; they must differ.
    """
    chosen, rules = get_formation(formation), get_rules(rules)
    merging, pairs = rules.merging, rules.spawn_weights.pairs
    limit = Positions(chosen, target, rules).limit

    def numbered(board: Board) -> list[tuple[int, int]]:
        return list(enumerate(tile for row in board.rows for tile in row))

    def is_held(board: Board) -> bool:
        larges = sum(1 << cell for cell, tile in numbered(board) if tile > target)
        return any(larges & lock == lock for lock in chosen.locks)

    def is_made(board: Board) -> bool:
        return any(tile == target and chosen.goal >> cell & 1 for cell, tile in numbered(board))

    def after_value(after: Board) -> Fraction:
        if is_made(after):
            return Fraction(1)
        if sum(tile for _, tile in numbered(after) if tile <= target) > limit:
            return Fraction(0)
        cells = after.empty_cells()
        return sum(
            (
                share / len(cells) * value(after.with_tile(cell, tile))
                for cell, (tile, share) in product(cells, pairs)
            ),
            Fraction(0),
        )

    @cache
    def value(board: Board) -> Fraction:
        if is_made(board):
            return Fraction(1)
        slides = [board.slide(direction, merging) for direction in Direction]
        afters = [slide.board for slide in slides if slide.changed and is_held(slide.board)]
        return max((after_value(after) for after in afters), default=Fraction(0))

    return value
