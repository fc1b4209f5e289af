"""Perft: counting the boards that play can reach, a check of the whole engine.

The counts are those of the Markov decision process of 2048: all boards reachable from the
start positions of two tiles, each 2 or 4, by any moves and spawns of 2 or 4, where boards that
are images of each other under the board's symmetries are one, and boards that hold the target
or have no move are left out. Golden counts: J. D. L. Miller, "The Mathematics of 2048:
Counting States by Exhaustive Enumeration", 2017 (``jdlm.info``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from py2048 import board as oracle
from py2048.board import Rows
from py2048.compiled._bits_kernels import ONE, mix64
from py2048.compiled._board_kernels import (
    TWO,
    ZERO,
    Int,
    Longs,
    Words,
    canonical,
    empty_cells,
    legal_mask,
    max_rank,
    slide_small,
)
from py2048.compiled.jit import kernel
from py2048.compiled.rules import CompiledRules
from py2048.rules import get_rules

GOLDEN = {
    (2, 8): 15,
    (2, 16): 35,
    (2, 32): 57,
    (2, 64): 74,
    (3, 8): 1_186,
    (3, 16): 16_834,
    (3, 32): 124_372,
    (3, 64): 594_046,
    (3, 128): 2_064_918,
    (3, 256): 5_643_584,
    (3, 512): 12_789_511,
    (3, 1024): 25_179_012,
    (4, 16): 23_482_821,
}
"""Published counts by ``(side, target)``."""


def perft(rows: int, columns: int, target: int) -> int:
    """Return the number of reachable boards, in plain Python.

    A slide conserves the sum of the board and a spawn adds 2 or 4, so boards are met in layers of
    equal sum and only three layers are held at a time.

    Args:
        rows: rows of the board.
        columns: columns of the board.
        target: the tile that ends a game.
    """
    layers: dict[int, set[Rows]] = {}
    for board in _starts(rows, columns):
        layers.setdefault(sum(map(sum, board)), set()).add(board)
    total = 0
    while layers:
        boards = layers.pop(least := min(layers))
        playable = [board for board in boards if _is_playable(board, target)]
        total += len(playable)
        for tile, board in _successors(playable):
            layers.setdefault(least + tile, set()).add(board)
    return total


def _is_playable(board: Rows, target: int) -> bool:
    return max(map(max, board)) < target and bool(oracle.legal_directions(board))


def _starts(rows: int, columns: int) -> Iterator[Rows]:
    empty = tuple((0,) * columns for _ in range(rows))
    for _, one in _spawns(empty):
        for _, two in _spawns(one):
            yield oracle.canonical(two)


def _successors(boards: Iterable[Rows]) -> Iterator[tuple[int, Rows]]:
    for board in boards:
        for direction in oracle.legal_directions(board):
            after, _ = oracle.slide(board, direction)
            for tile, spawned in _spawns(after):
                yield tile, oracle.canonical(spawned)


def _spawns(board: Rows) -> Iterator[tuple[int, Rows]]:
    for r, row in enumerate(board):
        for c, tile in enumerate(row):
            if not tile:
                for new in (2, 4):
                    line = (*row[:c], new, *row[c + 1 :])
                    yield new, (*board[:r], line, *board[r + 1 :])


# --- compiled, thousands of times faster ----------------------------------------------------------


def compiled_perft(rows: int, columns: int, target: int) -> int:
    """Return the number of reachable boards, one for each symmetry class, as `perft` counts them.

    Args:
        rows: rows of the board, at most 4.
        columns: columns of the board, at most 4.
        target: the tile that ends a game, at most 65536.
    """
    spec = _spec_of(rows, columns, target)
    layers = _packed_starts(spec)
    total = 0
    while layers:
        boards, _ = layers.pop(least := min(layers))
        following = [layers.pop(least + tile, _empty_layer()) for tile in (2, 4)]
        counts = np.array([0, *(count for _, count in following)], np.int64)
        grown = [table for table, _ in following]
        place = 0
        while place < len(boards):
            place = int(expand(boards, place, spec, grown[0], grown[1], counts))
            grown = [_with_room(t, int(n)) for t, n in zip(grown, counts[1:], strict=True)]
        total += int(counts[0])
        for tile, table, count in zip((2, 4), grown, counts[1:], strict=True):
            if count:
                layers[least + tile] = table, int(count)
    return total


def _empty_layer() -> tuple[Words, int]:
    return np.zeros(1 << 10, np.uint64), 0


def _with_room(table: Words, count: int) -> Words:
    """Return the table, or one four times as large with the same boards if it is half full."""
    if 2 * count <= len(table):
        return table
    larger = np.zeros(4 * len(table), np.uint64)
    insert_all(larger, table)
    return larger


def _packed_starts(spec: PerftSpec) -> dict[int, tuple[Words, int]]:
    """Return the boards with two tiles, each 2 or 4, by their sum."""
    cells = range(int(spec.rows * spec.columns))
    layers: dict[int, tuple[Words, int]] = {}
    for first in cells:
        for second in cells:
            for one, two in ((1, 1), (1, 2), (2, 1), (2, 2)):
                if first == second or max(one, two) >= spec.target:
                    continue
                board = np.uint64(one << 4 * first | two << 4 * second)
                table, count = layers.get((1 << one) + (1 << two), _empty_layer())
                new = insert(table, np.uint64(canonical(board, spec.rows, spec.columns)))
                layers[(1 << one) + (1 << two)] = table, count + new
    return layers


# --- hash tables of packed boards -----------------------------------------------------------------
#
# A table is uint64 `[2**k]` with open addressing; 0, the empty board, marks a free place.


class PerftSpec(NamedTuple):
    """The rules of a count."""

    rows: np.uint64
    columns: np.uint64
    target: np.uint64
    """The rank that ends a game."""
    cells: np.uint64
    """The mask of all cells."""
    left: np.uint64
    """The mask of the cells with a right neighbour."""
    upper: np.uint64
    """The mask of the cells with one below."""
    across: Words
    """The line table of a row."""
    down: Words
    """The line table of a column."""


def _spec_of(rows: int, columns: int, target: int) -> PerftSpec:
    rules = CompiledRules.of(get_rules("classic", rows=rows, columns=columns))
    numbers = np.uint64(rows), np.uint64(columns), np.uint64(target.bit_length() - 1)
    masks = rules.mask, rules.left_mask, rules.upper_mask
    return PerftSpec(*numbers, *masks, rules.across, rules.down)


@kernel("(uint64[::1], uint64)")
def insert(table: Words, board: np.uint64) -> bool:
    """Put a board into a table that is not full; return whether it is new."""
    mask = np.uint64(len(table) - 1)
    place = mix64(board) & mask
    while table[place] != ZERO:
        if table[place] == board:
            return False
        place = (place + ONE) & mask
    table[place] = board
    return True


@kernel("(uint64[::1], uint64[::1])")
def insert_all(table: Words, boards: Words) -> Int:
    """Put the boards other than 0 into a table; return how many are new."""
    count = 0
    for board in boards:
        if board != ZERO:
            count += insert(table, board)
    return count


def expand_arguments() -> tuple[object, ...]:
    """Return arguments of `expand`, to compile it for."""
    boards = np.zeros(1, np.uint64)
    return boards, 0, _spec_of(2, 2, 2), boards, boards, boards.view(np.int64)


@kernel(example=expand_arguments)
def expand(
    boards: Words, first: Int, spec: PerftSpec, after2: Words, after4: Words, counts: Longs
) -> Int:
    """Put the successors of a layer's playable boards into the tables of the layers they are in.

    Args:
        boards: the layer; 0 is no board.
        first: where to begin.
        spec: the rules.
        after2: the table of the boards reached by a 2.
        after4: the table of the boards reached by a 4.
        counts: the number of playable boards, and of the boards in each table: int64 `[3]`.

    Returns:
        Where to go on when a table has to grow first, or the length of `boards`.
    """
    rows, columns, cells, target = spec.rows, spec.columns, spec.cells, spec.target
    room2, room4 = len(after2) // 2, len(after4) // 2
    for index in range(first, len(boards)):
        board = boards[index]
        if board == ZERO:
            continue
        if counts[1] > room2 or counts[2] > room4:
            return index
        legal = legal_mask(board, cells, columns, spec.left, spec.upper)
        if legal == ZERO:
            continue
        counts[0] += 1
        for direction in range(4):
            if not legal >> np.uint64(direction) & ONE:
                continue
            after, _ = slide_small(board, direction, rows, columns, spec.across, spec.down)
            if max_rank(after) >= target:
                continue
            free = empty_cells(after, cells)
            while free != ZERO:
                one = free & (ZERO - free)
                free ^= one
                counts[1] += insert(after2, canonical(after | one, rows, columns))
                if target > TWO:
                    two = after | one + one
                    counts[2] += insert(after4, canonical(two, rows, columns))
    return len(boards)
