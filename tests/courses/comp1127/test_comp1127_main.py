"""Whole games of the reference program, without a window.

`test_comp1127_grading.py` runs the examples of each problem on its functions.
"""

from __future__ import annotations

import random
from itertools import chain
from types import ModuleType

import pytest
from comp1127_recorders import RecordingBoard, RecordingFrame, Rows, set_rows

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.rules import Merging
from py2048.courses.comp1127 import gui


def slide(rows: Rows, key: str) -> tuple[Rows, int]:
    """Return the grid and the points of the shared engine with the course's rules."""
    result = Board.from_rows(rows).slide(Direction.parse(key.lower()), Merging.CASCADE)
    return [list(row) for row in result.board.rows], result.points


def test_a_sum_above_2048_counts_without_a_tile(main, board):
    """A sum above 2048 counts, although there is no tile for it."""
    set_rows(main, board, [[2048, 2048, 0, 0], [0] * 4, [0] * 4, [0] * 4])
    main.move_all_left(board)
    assert main.grid[0] == [4096, 0, 0, 0]
    assert board.score == 4096
    assert list(board.numbers.values()) == [(0, 0)]


def play_out(main: ModuleType, board: RecordingBoard, frame: RecordingFrame, seed: int) -> int:
    """Press random arrow keys until they are unbound; return the number of turns."""
    generator = random.Random(seed)
    turns = 0
    main.add_random_number(board)
    main.add_random_number(board)
    main.bind(frame, board)
    while frame.bound:
        key = generator.choice(["Down", "Left", "Right", "Up"])
        before, score = [list(row) for row in main.grid], board.score
        after, points = slide(before, key)
        assert frame.press(key)
        cells = zip(chain(*after), chain(*main.grid), strict=True)
        new = [(was, now) for was, now in cells if was != now]
        assert new in ([(0, 2)], [(0, 4)]) if after != before else new == []
        assert board.score == score + points
        assert board.seen() == main.grid
        turns += 1
    return turns


@pytest.mark.parametrize("seed", range(3))
def test_whole_games_end_with_a_message(main, board, frame, seed):
    """Every turn is the engine's slide plus at most one new number, until the game is lost."""
    random.seed(seed)
    assert play_out(main, board, frame, seed) > 20
    assert board.messages == [gui.LOST]
    assert not Board.from_rows(main.grid).legal_directions()
