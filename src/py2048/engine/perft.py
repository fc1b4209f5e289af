"""Perft: counting the boards that play can reach, a check of the whole engine.

The counts are those of the Markov decision process of 2048: all boards reachable from the
start positions of two tiles, each 2 or 4, by any moves and spawns of 2 or 4, where boards that
are images of each other under the board's symmetries are one, and boards that hold the target
or have no move are left out. Golden counts: J. D. L. Miller, "The Mathematics of 2048:
Counting States by Exhaustive Enumeration", 2017 (``jdlm.info``).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator

from py2048.engine import reference
from py2048.engine.reference import Rows
from py2048.rules import is_tile

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


def main(arguments: list[str] | None = None) -> int:
    """Count on the compiled engine and compare with the golden count; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m py2048.engine.perft",
        description="Count the boards that play can reach, one for each symmetry class.",
        epilog="Without arguments, every published count is reproduced.",
    )
    parser.add_argument("side", nargs="?", type=int, choices=(2, 3, 4), help="side of the board")
    parser.add_argument("target", nargs="?", type=int, help="the tile that ends a game")
    chosen = parser.parse_args(arguments)
    if chosen.side is not None and chosen.target is None:
        parser.error("give a target too, such as 3 1024")
    if chosen.target is not None and not is_tile(chosen.target):
        parser.error(f"{chosen.target} is not a tile: give a power of two, such as 1024")
    tasks = [(chosen.side, chosen.target)] if chosen.side else list(GOLDEN)
    return 0 if min(_report(*task) for task in tasks) else 1


def _report(side: int, target: int) -> bool:
    """Count, print a line, and return whether the count is the golden one or none is known."""
    from py2048.engine.compiled_perft import compiled_perft

    began = time.perf_counter()
    count, golden = compiled_perft(side, side, target), GOLDEN.get((side, target))
    seconds = time.perf_counter() - began
    verdict = "no published count" if golden is None else "as published"
    if golden not in (None, count):
        verdict = f"WRONG: published is {golden:,}"
    print(
        f"{side}x{side} up to {target}: {count:,} boards ({verdict}), {seconds:.1f} s", flush=True
    )
    return golden in (None, count)


if __name__ == "__main__":
    raise SystemExit(main())
