"""The program's functions, one by one and in whole games, without a window."""

from __future__ import annotations

import random
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from comp1127_stand_ins import NotedBoard, NotedFrame, Rows, fresh, lay
from hypothesis import given
from hypothesis import strategies as st

from py2048.board import Board
from py2048.courses.comp1127 import gui
from py2048.courses.comp1127.main import DOWN, LEFT, RIGHT, UP
from py2048.direction import Direction
from py2048.rules import Merging

KEYS = {"Up": UP, "Down": DOWN, "Right": RIGHT, "Left": LEFT}
AHEAD = {UP: (-1, 0), DOWN: (1, 0), RIGHT: (0, 1), LEFT: (0, -1)}
FULL = [[2, 4, 8, 16], [4, 8, 16, 32], [8, 16, 32, 64], [16, 32, 64, 128]]

# Small numbers, so that many are equal, and never two 2048s: the game has ended before that.
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
    """Return the grid and the points that the shared engine gives for the course's rules."""
    result = Board.from_rows(rows).slide(Direction.parse(key.lower()), Merging.CASCADE)
    return [list(row) for row in result.board.rows], result.points


def test_the_names_that_the_document_gives(main: ModuleType) -> None:
    """The constants at the head of Shanice's file."""
    assert (main.UP, main.DOWN, main.RIGHT, main.LEFT) == (1, 2, 3, 4)
    assert main.helper == {"count": 0, "Right": 3, "Up": 1, "Left": 4, "Down": 2}
    assert main.controls == ["<Right>", "<Left>", "<Up>", "<Down>"]
    assert main.transition_value == 20


@given(grids, st.integers(0, 3), st.integers(0, 3), st.sampled_from([UP, DOWN, RIGHT, LEFT]))
def test_update_grid_moves_one_value_one_step(
    grid: Rows, row: int, column: int, direction: int
) -> None:
    """Into an empty cell it moves, into an equal number it adds, else nothing changes."""
    program = fresh("main")
    program.grid = [list(line) for line in grid]
    new_row, new_column = row + AHEAD[direction][0], column + AHEAD[direction][1]
    inside = new_row in range(4) and new_column in range(4)
    value, ahead = grid[row][column], grid[new_row % 4][new_column % 4]
    expected = [list(line) for line in grid]
    if inside and ahead in (0, value):
        expected[new_row][new_column] = value + ahead
        expected[row][column] = 0
        place = (new_row, new_column)
    else:
        place = (row, column)
    assert program.update_grid(row, column, direction) == place
    assert program.grid == expected


def test_update_grid_stays_for_a_direction_that_does_not_exist(main: ModuleType) -> None:
    """Only 1 to 4 are directions."""
    main.grid = [list(row) for row in FULL]
    assert main.update_grid(1, 1, 7) == (1, 1)
    assert main.grid == FULL


@given(grids, keys)
def test_a_whole_move_is_the_engine_s_cascading_slide(grid: Rows, key: str) -> None:
    """Grid, score, keys and pictures all follow the algorithm that the document dictates."""
    program, board = fresh("main"), NotedBoard()
    lay(program, board, grid)
    program.move_all(board, SimpleNamespace(keysym=key))
    after, points = slide(grid, key)
    assert program.grid == after
    assert board.score == board.score_shown == points
    assert board.seen() == after
    assert sorted(board.numbers.values()) == sorted(
        (row, column) for row in range(4) for column in range(4) if after[row][column]
    )


@pytest.mark.parametrize(
    ("line", "after", "points"),
    [
        ([2, 2, 4, 8], [16, 0, 0, 0], 4 + 8 + 16),
        ([4, 2, 2, 0], [4, 4, 0, 0], 4),
        ([2, 2, 2, 2], [4, 4, 0, 0], 8),
        ([2, 2, 4, 0], [8, 0, 0, 0], 12),
        ([0, 2, 0, 2], [4, 0, 0, 0], 4),
        ([2, 0, 2, 4], [8, 0, 0, 0], 12),
        ([2, 4, 2, 4], [2, 4, 2, 4], 0),
        ([1024, 1024, 0, 0], [2048, 0, 0, 0], 2048),
    ],
)
def test_a_tile_that_merged_may_merge_again(
    main: ModuleType, board: NotedBoard, line: list[int], after: list[int], points: int
) -> None:
    """The document's order of tiles gives chain merges, but only from the tile behind."""
    lay(main, board, [line, [0] * 4, [0] * 4, [0] * 4])
    main.move_all_left(board)
    assert main.grid[0] == after
    assert board.score == points


@pytest.mark.parametrize(
    ("key", "order"),
    [
        ("Down", [(row, column) for column in range(4) for row in (3, 2, 1, 0)]),
        ("Up", [(row, column) for column in range(4) for row in (0, 1, 2, 3)]),
        ("Right", [(row, column) for row in range(4) for column in (3, 2, 1, 0)]),
        ("Left", [(row, column) for row in range(4) for column in (0, 1, 2, 3)]),
    ],
)
def test_tiles_are_moved_line_by_line_from_the_wall(
    main: ModuleType, board: NotedBoard, key: str, order: list[tuple[int, int]]
) -> None:
    """Problems 9 to 12 fix the order in which the tiles are moved."""
    lay(main, board, FULL)
    moved: list[tuple[str, int]] = []
    main.move = lambda _board, tile, direction: moved.append((tile, direction))
    main.move_all(board, SimpleNamespace(keysym=key))
    assert moved == [(str(place), KEYS[key]) for place in order]


def test_other_keys_move_nothing(main: ModuleType, board: NotedBoard, frame: NotedFrame) -> None:
    """A key that is no arrow, bound by the player, plays no turn."""
    lay(main, board, FULL)
    main.keyboard_callback(SimpleNamespace(keysym="a"), frame, board)
    assert main.grid == FULL
    assert len(board.numbers) == 16


@pytest.mark.parametrize(
    ("distance", "step", "lengths"),
    [(140, 20, [20] * 7 + [0]), (45, 20, [20, 20, 5]), (140, 50, [50, 50, 40]), (7, 20, [7])],
)
@pytest.mark.parametrize("direction", [UP, DOWN, RIGHT, LEFT])
def test_a_tile_moves_in_small_steps_and_then_the_rest(
    main: ModuleType,
    board: NotedBoard,
    direction: int,
    distance: int,
    step: int,
    lengths: list[int],
) -> None:
    """Distances come without a sign; the direction gives it; a further tile may follow."""
    main.transition_value = step
    gui.put(board, "a", gui.find_number(2), 1, 1)
    down, right = AHEAD[direction]
    answer = main.animate_movement(
        board, "a", distance * abs(right), distance * abs(down), direction
    )
    assert answer is True
    assert board.shifts == [(right * length, down * length) for length in lengths]


def test_an_animation_that_ends_in_a_merge_says_so(main: ModuleType, board: NotedBoard) -> None:
    """False tells the game to stop moving the tile; the merge comes after the last step."""
    main.grid[0][0] = 4
    gui.put(board, "still", gui.find_number(2), 0, 0)
    gui.put(board, "moved", gui.find_number(2), 0, 1)
    board.numbers["moved"] = (0, 0)
    assert main.animate_movement(board, "moved", 140, 0, LEFT) is False
    assert board.numbers == {"moved": (0, 0)}
    assert sum(horizontal for horizontal, _ in board.shifts) == -140
    assert board.notes[-1] == ("show", "moved", 4, 0, 0)


def test_what_cannot_be_moved_is_not_animated(main: ModuleType, board: NotedBoard) -> None:
    """An unknown key or direction: False, and nothing happens."""
    assert main.animate_movement(board, "nobody", 140, 0, LEFT) is False
    gui.put(board, "a", gui.find_number(2), 0, 1)
    assert main.animate_movement(board, "a", 140, 0, 9) is False
    assert board.shifts == []


def test_a_tile_alone_does_not_merge(main: ModuleType, board: NotedBoard) -> None:
    """No other tile on the cell, or no such tile: False, and no points (problem 18)."""
    lay(main, board, FULL)
    assert main.merge(board, "(0, 0)") is False
    assert main.merge(board, "nobody") is False
    assert board.score == 0
    assert len(board.numbers) == 16


def test_two_tiles_on_one_cell_become_one(main: ModuleType, board: NotedBoard) -> None:
    """Both go, the sum of the grid comes, and the score grows by it (problem 18)."""
    lay(main, board, [[0] * 4, [0] * 4, [0, 16, 0, 0], [0, 0, 0, 2]])
    board.score = 100
    gui.put(board, "a", gui.find_number(8), 2, 1)
    assert main.merge(board, "a") is True
    assert board.score == board.score_shown == 116
    assert board.numbers == {"a": (2, 1), "(3, 3)": (3, 3)}
    assert board.shown["a"] == [16, 140, 280]
    assert set(board.shown) == set(board.numbers)


def test_a_sum_beyond_2048_counts_although_no_tile_shows_it(
    main: ModuleType, board: NotedBoard
) -> None:
    """The game ends at 2048; a grid laid by hand may go beyond without an error."""
    lay(main, board, [[2048, 2048, 0, 0], [0] * 4, [0] * 4, [0] * 4])
    main.move_all_left(board)
    assert main.grid[0] == [4096, 0, 0, 0]
    assert board.score == 4096
    assert list(board.numbers.values()) == [(0, 0)]


def notes_of_a_turn(main: ModuleType, board: NotedBoard, frame: NotedFrame, key: str) -> list[str]:
    """Play one turn and return the order in which the program's functions were called."""
    notes: list[str] = []

    def noted(name: str) -> None:
        function = getattr(main, name)

        def call(*arguments: Any) -> Any:
            notes.append(name)
            return function(*arguments)

        setattr(main, name, call)

    for name in ("unbind", "move_all", "add_random_number", "is_game_over", "bind"):
        noted(name)
    main.keyboard_callback(SimpleNamespace(keysym=key), frame, board)
    return notes


def test_a_turn_unbinds_moves_spawns_asks_and_binds(
    main: ModuleType, board: NotedBoard, frame: NotedFrame
) -> None:
    """The end is asked for after the new number has come (problems 14 and 21)."""
    lay(main, board, [[2, 0, 0, 0], *[[0] * 4] * 3])
    order = ["unbind", "move_all", "add_random_number", "is_game_over", "bind"]
    assert notes_of_a_turn(main, board, frame, "Right") == order


def test_a_turn_that_moves_nothing_brings_no_number(
    main: ModuleType, board: NotedBoard, frame: NotedFrame
) -> None:
    """The keys come back all the same."""
    lay(main, board, [[2, 0, 0, 0], *[[0] * 4] * 3])
    assert notes_of_a_turn(main, board, frame, "Left") == [
        "unbind",
        "move_all",
        "is_game_over",
        "bind",
    ]
    assert len(board.numbers) == 1


def test_the_number_that_fills_the_last_cell_may_end_the_game(
    main: ModuleType, board: NotedBoard, frame: NotedFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the move a cell is empty; only the spawn makes the board stuck."""
    rows = [[0, 8, 2, 4], *FULL[1:]]
    lay(main, board, rows)
    monkeypatch.setattr(gui, "random_number", lambda: gui.find_number(2))
    main.bind(frame, board)
    assert frame.press("Left")
    assert main.grid[0] == [8, 2, 4, 2]
    assert board.messages == [gui.LOST]
    assert frame.bound == {}


def test_keys_are_dead_while_tiles_move(
    main: ModuleType, board: NotedBoard, frame: NotedFrame
) -> None:
    """A key pressed during the animation finds nothing bound."""
    lay(main, board, [[2, 0, 0, 0], *[[0] * 4] * 3])
    main.bind(frame, board)
    during: list[bool] = []
    step = board.shift_tile

    def pressed(*arguments: Any) -> None:
        step(*arguments)
        during.append(frame.press("Down"))

    board.shift_tile = pressed  # type: ignore[method-assign]
    assert frame.press("Right")
    assert during
    assert not any(during)
    assert set(frame.bound) == set(main.controls)


def test_bind_and_unbind_go_over_the_controls(
    main: ModuleType, board: NotedBoard, frame: NotedFrame
) -> None:
    """Python 3's map does nothing by itself; ours has really run (problems 15 and 16)."""
    main.bind(frame, board)
    assert sorted(frame.bound) == sorted(main.controls)
    pressed: list[str] = []
    main.keyboard_callback = lambda event, *_: pressed.append(event.keysym)
    for key in KEYS:
        frame.press(key)
    assert pressed == list(KEYS)
    main.unbind(frame)
    assert frame.bound == {}


@given(grids | full_grids)
def test_the_game_is_over_when_it_is_won_or_stuck(grid: Rows) -> None:
    """The engine decides whether a direction is legal; the message fits the end (problem 20)."""
    program, board = fresh("main"), NotedBoard()
    program.grid = grid
    stuck = not Board.from_rows(grid).legal_directions() and any(map(any, grid))
    assert program.is_game_over(board) is stuck
    assert board.messages == [gui.LOST] * stuck


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ([[0] * 4] * 4, None),
        (FULL, gui.LOST),
        ([[2, 4, 8, 16], [4, 8, 16, 32], [8, 16, 32, 64], [16, 32, 64, 64]], None),
        ([[2, 4, 8, 16], [4, 8, 16, 32], [8, 16, 32, 64], [16, 32, 64, 0]], None),
        ([[0, 0, 0, 0], [0, 2048, 0, 0], [0] * 4, [0] * 4], gui.WON),
        ([[2, 4, 8, 16], [4, 8, 16, 32], [8, 16, 32, 64], [16, 32, 64, 2048]], gui.WON),
        ([[2, 4, 2, 4], [2, 8, 16, 8], [4, 2, 4, 2], [8, 4, 8, 4]], None),
        ([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]], gui.LOST),
    ],
)
def test_ends_and_what_is_shown(
    main: ModuleType, board: NotedBoard, grid: Rows, message: str | None
) -> None:
    """A full board with a merge left goes on; a full board with 2048 is won."""
    main.grid = grid
    assert main.is_game_over(board) is (message is not None)
    assert board.messages == ([message] if message else [])


def play_out(main: ModuleType, board: NotedBoard, frame: NotedFrame, seed: int) -> int:
    """Press arrows at random until the keys are dead; return the number of turns."""
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
def test_whole_games_end_with_a_message(
    main: ModuleType, board: NotedBoard, frame: NotedFrame, seed: int
) -> None:
    """Every turn of a game is the engine's slide and at most one new number."""
    random.seed(seed)
    assert play_out(main, board, frame, seed) > 20
    assert board.messages == [gui.LOST]
    assert not Board.from_rows(main.grid).legal_directions()


def test_a_game_can_be_won(main: ModuleType, board: NotedBoard, frame: NotedFrame) -> None:
    """The merge that makes 2048 ends the game at once, with empty cells left."""
    lay(main, board, [[1024, 1024, 0, 0], *[[0] * 4] * 3])
    main.bind(frame, board)
    assert frame.press("Right")
    assert main.grid[0][3] == 2048
    assert board.messages == [gui.WON]
    assert frame.bound == {}
