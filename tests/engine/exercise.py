"""Run all kernels of the engine and print the results.

The tests run it compiled, as plain Python and with bounds checks, and compare the output.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from boards import pack

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.rules import Rules, get_rules
from py2048.engine import _board_kernels as kernels
from py2048.engine.batch import BatchGames, rollouts
from py2048.engine.jit import IS_PLAIN
from py2048.engine.rules import CompiledRules
from py2048.players.solving import Formation, build_table, solve

BOARDS = [
    Board([[2, 2, 4, 8], [0, 2, 0, 2], [2**15, 2**15, 2, 0], [4, 4, 4, 4]]),
    Board([[2, 0, 2, 2**16], [0, 4, 2, 2**16], [2, 4, 2, 4], [8, 8, 16, 16]]),
]


def packed_results() -> list[object]:
    results: list[tuple[Any, ...]] = []
    shape, images = (np.uint64(4), np.uint64(4)), np.zeros(8, np.uint64)
    for name, board in product(("classic", "comp1127"), BOARDS):
        given, (low, high) = CompiledRules.of(get_rules(name)), pack(board)
        count = kernels.symmetries(low, *shape, images)
        results.append((kernels.canonical(low, *shape), *images[:count]))
        slides = kernels.slides_4x4(low, high, given.cascade, given.across)
        for direction, after in enumerate(slides):
            tables = given.across, given.down
            results.append(kernels.slide_packed(low, high, direction, 4, 4, given.cascade, *tables))
            spawn = given.mask, np.uint64(7 << 60 | 12345), given.spawn.ranks
            results.append(kernels.spawn_packed(*after[:2], *spawn, given.spawn.cumulative))
    return [tuple(map(int, result)) for result in results]


def long_lines() -> list[object]:
    words = pack(Board([[2, 2, 0, 4, 4, 8, 0, 2], [0, 0, 2, 0, 2, 0, 4, 4]]))
    slides = (kernels.slide_lines(*words, direction, 2, 8, False) for direction in range(4))
    return [tuple(map(int, slide)) for slide in slides]


def cells_results() -> list[object]:
    results: list[object] = []
    for direction in Direction:
        for cascade in (False, True):
            cells = np.array([1, 1, 2, 3, 0, 1, 1, 0, 5, 5, 16, 16, 0, 0, 1], np.uint8)
            points = kernels.slide_cells(cells, direction.value, 3, 5, cascade)
            results += [int(points), cells.tolist()]
    return results


OTHERS = ("comp1127:target=16", "cits1401:size=3x3,start=1..9x2:1", "2x4:spawn=2:5+4:3+8:1")


SOLVED = [("classic:size=2x2", "tile=16"), ("comp1127:size=1x5,target=8", "score")]


def batch_results(texts: tuple[str, ...], steps: int) -> list[object]:
    results: list[object] = []
    for text in texts:
        for reset in ("same_step", "next_step", "disabled"):
            batch = BatchGames(Rules.parse(text), 3, seed=5, threads=1, reset=reset)
            for step in range(steps):
                batch.step([step % 4, step // 2 % 4, 3])
                batch.play_random()
            results += [batch.observe().tolist(), batch.scores.tolist(), batch.plies.tolist()]
            results += [batch.legal_mask.tolist(), batch.dones.tolist()]
    return results


def rollout_results() -> list[object]:
    board = np.array([[1, 0], [2, 1]])
    small = [Rules.parse(f"{name}:size=2x2") for name in ("classic", "comp1127")]
    full = [[[1, 2, 3, 4], [5, 6, 7, 8], [1, 2, 3, 4], [5, 6, 7, 7]]]
    played = [rollouts(rules, [board, board], 20, seed=2) for rules in small]
    played.append(rollouts(get_rules("classic"), full, 3, seed=1))
    return [(result.scores.tolist(), result.plies.tolist()) for result in played]


def solver_results() -> list[object]:
    solved = [solve(text, goal) for text, goal in SOLVED]
    return [(each.value, each.layers) for each in solved]


def table_results() -> list[object]:
    """Return the bytes of an endgame table and the probabilities of some moves."""
    formation = Formation("moving", (0b0111_1111_1111_0000,), 0b1001, 12, 8)
    larges = [32, 64, 128, 256], [512, 1024, 2048, 4096], [8192, 16384, 32768, 0]
    board = Board([[2, 0, 65536, 4], *larges])
    with tempfile.TemporaryDirectory() as folder:
        table = build_table(formation, 16, Path(folder) / "table", threads=1)
        chances = table.chance_of(board), table.move_chances(board)
        return [table.path.read_bytes().hex(), *chances]


def main() -> None:
    """Print the results."""
    if "--plain" in sys.argv:
        assert IS_PLAIN
    with np.errstate(over="ignore"):
        print(packed_results(), long_lines(), cells_results(), sep="\n")
        print(batch_results(("classic", "qsan_qarut", *OTHERS), 4), rollout_results(), sep="\n")
        print(solver_results(), table_results(), sep="\n")


if __name__ == "__main__":
    main()
