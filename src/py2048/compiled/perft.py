"""Perft: counting the boards that play can reach, a check of the whole engine.

The counts are those of the Markov decision process of 2048: all boards reachable from the
start positions of two tiles, each 2 or 4, by any moves and spawns of 2 or 4, where boards that
are images of each other under the board's symmetries are one, and boards that hold the target
or have no move are left out. Golden counts: J. D. L. Miller, "The Mathematics of 2048:
Counting States by Exhaustive Enumeration", 2017 (``jdlm.info``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from py2048 import reference
from py2048.reference import Rows

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
    return max(map(max, board)) < target and bool(reference.legal_directions(board))


def _starts(rows: int, columns: int) -> Iterator[Rows]:
    empty = tuple((0,) * columns for _ in range(rows))
    for _, one in _spawns(empty):
        for _, two in _spawns(one):
            yield reference.canonical(two)


def _successors(boards: Iterable[Rows]) -> Iterator[tuple[int, Rows]]:
    for board in boards:
        for direction in reference.legal_directions(board):
            after, _ = reference.slide(board, direction)
            for tile, spawned in _spawns(after):
                yield tile, reference.canonical(spawned)


def _spawns(board: Rows) -> Iterator[tuple[int, Rows]]:
    for r, row in enumerate(board):
        for c, tile in enumerate(row):
            if not tile:
                for new in (2, 4):
                    line = (*row[:c], new, *row[c + 1 :])
                    yield new, (*board[:r], line, *board[r + 1 :])
