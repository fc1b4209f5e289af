"""Reference solver in plain Python with exact fractions, for tiny boards and formations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

from py2048.core.board import Board, Cell
from py2048.core.direction import Direction
from py2048.core.game.turn import Outcome, Spawn, Turn, outcome_of, possible_cells, score_after
from py2048.core.rules import BoardSum, Rules, Weights, get_rules
from py2048.players.solving.formations import Formation, get_formation
from py2048.players.solving.goal import Goal
from py2048.players.solving.positions import Positions

Value = Callable[[Board], Fraction]


def _mean(
    cells: Sequence[Cell], weights: Weights, value: Callable[[Cell, int], Fraction]
) -> Fraction:
    """Return the expected value over all spawns on these cells."""
    spawns = product(cells, weights.pairs)
    terms = (share / len(cells) * value(cell, tile) for cell, (tile, share) in spawns)
    return sum(terms, Fraction(0))


def exact_values(rules: Rules | str, goal: Goal | str = "score") -> Value:
    """Return a function that computes the exact value of any board under the rules."""
    chosen, tile = get_rules(rules), Goal.parse(goal).tile

    def turn_value(board: Board, direction: Direction, spawn: Spawn) -> Fraction:
        turn = Turn(direction, board.slide(direction, chosen.merging), spawn)
        if tile is not None:
            return value(turn.board)
        return score_after(chosen, board.sum, turn, turn.board) - board.sum + value(turn.board)

    def move_value(board: Board, direction: Direction) -> Fraction:
        cells = possible_cells(chosen, board.slide(direction, chosen.merging).board, direction)

        def spawned(cell: Cell, tile: int) -> Fraction:
            return turn_value(board, direction, Spawn(tile, cell))

        return _mean(cells, chosen.spawn_weights, spawned)

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
    """Return the expected value over all starting boards."""
    chosen = get_rules(rules)
    value, start, tile = exact_values(chosen, goal), chosen.start, Goal.parse(goal).tile
    counts = range(start.low, start.high + 1)

    @cache
    def mean(board: Board, missing: int) -> Fraction:
        if not missing:
            is_owed = tile is None and isinstance(chosen.scoring, BoardSum)
            is_playing = outcome_of(chosen, board) is Outcome.PLAYING
            return value(board) + (board.sum if is_owed and is_playing else 0)

        def started(cell: Cell, tile: int) -> Fraction:
            return mean(board.with_tile(cell, tile), missing - 1)

        return _mean(board.empty_cells(), chosen.start_weights, started)

    return sum((mean(Board.empty(*chosen.shape), n) for n in counts), Fraction(0)) / len(counts)


def exact_chances(formation: Formation | str, target: int, rules: Rules | str = "classic") -> Value:
    """Return a function that computes the chance to make a tile within a formation.

    Tiles above the target are the large tiles; they must be distinct.
    """
    chosen, rules = get_formation(formation), get_rules(rules)
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

        def spawned(cell: Cell, tile: int) -> Fraction:
            return value(after.with_tile(cell, tile))

        return _mean(after.empty_cells(), rules.spawn_weights, spawned)

    @cache
    def value(board: Board) -> Fraction:
        if is_made(board):
            return Fraction(1)
        slides = [board.slide(direction, rules.merging) for direction in Direction]
        afters = [slide.board for slide in slides if slide.changed and is_held(slide.board)]
        return max((after_value(after) for after in afters), default=Fraction(0))

    return value
