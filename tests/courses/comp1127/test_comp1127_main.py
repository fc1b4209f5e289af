"""The reference program's functions and whole games, without a window."""

from __future__ import annotations

import random
from types import ModuleType, SimpleNamespace

import pytest
from comp1127_recorders import RecordingBoard, RecordingFrame, Rows, new_copy, set_rows
from hypothesis import given
from hypothesis import strategies as st

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.rules import Merging
from py2048.courses.comp1127 import gui
from py2048.courses.comp1127.main import DOWN, LEFT, RIGHT, UP

KEYS = {"Up": UP, "Down": DOWN, "Right": RIGHT, "Left": LEFT}

# Small numbers, so that many are equal; no 2048s, which would end the game.
grids = st.lists(
    st.lists(st.sampled_from([0, 0, 2, 2, 4, 4, 8, 16, 1024]), min_size=4, max_size=4),
    min_size=4,
    max_size=4,
)
full_grids = st.lists(
    st.lists(st.sampled_from([2**rank for rank in range(1, 11)]), min_size=4, max_size=4),
    min_size=4,
    max_size=4,
)
keys = st.sampled_from(sorted(KEYS))


def slide(rows: Rows, key: str) -> tuple[Rows, int]:
    """Return the grid and the points of the shared engine with the course's rules."""
    result = Board.from_rows(rows).slide(Direction.parse(key.lower()), Merging.CASCADE)
    return [list(row) for row in result.board.rows], result.points


def test_the_constants_match_the_document(main):
    """The program defines the document's constants."""
    assert (main.UP, main.DOWN, main.RIGHT, main.LEFT) == (1, 2, 3, 4)
    assert main.helper == {"count": 0, "Right": 3, "Up": 1, "Left": 4, "Down": 2}
    assert main.controls == ["<Right>", "<Left>", "<Up>", "<Down>"]
    assert main.transition_value == 20


@given(grids, keys)
def test_a_whole_move_is_a_cascading_slide(grid, key):
    """A whole move gives the engine's grid and score, and the tiles on the board agree."""
    program, board = new_copy("main"), RecordingBoard()
    set_rows(program, board, grid)
    program.move_all(board, SimpleNamespace(keysym=key))
    after, points = slide(grid, key)
    assert program.grid == after
    assert board.score == board.score_shown == points
    assert board.seen() == after
    assert sorted(board.numbers.values()) == sorted(
        (row, column) for row in range(4) for column in range(4) if after[row][column]
    )


def test_a_sum_above_2048_counts_without_a_tile(main, board):
    """A sum above 2048 counts, although there is no tile for it."""
    set_rows(main, board, [[2048, 2048, 0, 0], [0] * 4, [0] * 4, [0] * 4])
    main.move_all_left(board)
    assert main.grid[0] == [4096, 0, 0, 0]
    assert board.score == 4096
    assert list(board.numbers.values()) == [(0, 0)]


@given(grids | full_grids)
def test_the_game_is_over_when_it_is_won_or_stuck(grid):
    """`is_game_over` is true if no direction is legal, and shows the right message."""
    program, board = new_copy("main"), RecordingBoard()
    program.grid = grid
    stuck = not Board.from_rows(grid).legal_directions() and any(map(any, grid))
    assert program.is_game_over(board) is stuck
    assert board.messages == [gui.LOST] * stuck


def play_out(main: ModuleType, board: RecordingBoard, frame: RecordingFrame, seed: int) -> int:
    """Press random arrow keys until they are unbound; return the number of turns."""
    generator = random.Random(seed)
    turns = 0
    main.add_random_number(board)
    main.add_random_number(board)
    main.bind(frame, board)
    while frame.bound:
        key = generator.choice(sorted(KEYS))
        before, score = [list(row) for row in main.grid], board.score
        after, points = slide(before, key)
        assert frame.press(key)
        new = [
            (row, column)
            for row in range(4)
            for column in range(4)
            if main.grid[row][column] != after[row][column]
        ]
        assert len(new) == (after != before)
        assert all(
            after[row][column] == 0 and main.grid[row][column] in (2, 4) for row, column in new
        )
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
