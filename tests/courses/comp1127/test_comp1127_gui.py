"""Shanice's eleven functions, tested without a window."""

from __future__ import annotations

import inspect
import random
import re
from collections import Counter
from types import SimpleNamespace

from comp1127_recorders import RecordingBoard
from hypothesis import given
from hypothesis import strategies as st
from tests.processes import python

from py2048.courses import get_course
from py2048.courses.comp1127 import gui


def test_the_module_exports_the_functions_of_the_table():
    """The module exports the eleven functions of the task sheet's table with its parameters."""
    sheet = (get_course("comp1127").starter / "TASKS.md").read_text()
    calls = re.findall(r"^\| `(\w+\(.*?\))` \|", sheet, re.MULTILINE)
    given = {
        name: ", ".join(inspect.signature(getattr(gui, name)).parameters) for name in gui.__all__
    }
    assert sorted(calls) == sorted(f"{name}({parameters})" for name, parameters in given.items())
    assert len(calls) == 11


def test_numbers_have_a_value_and_an_image():
    """Each power of two up to 2048 has one tile object; other values have none."""
    for rank in range(1, 12):
        number = gui.find_number(2**rank)
        assert number is gui.find_number(2**rank)
        assert number.value == 2**rank
        assert number.image.size == (126, 126)
    assert [gui.find_number(value) for value in (0, 1, 3, 4096, "4", [])] == [None] * 6


def test_random_numbers_are_2_and_4_in_the_ratio_96_to_5():
    """Random numbers are 2 and 4 in the ratio 96 to 5."""
    random.seed(1127)
    # 500 fours are expected; 109 is five standard deviations.
    counts = Counter(gui.random_number().value for _ in range(10_100))
    assert set(counts) == {2, 4}
    assert abs(counts[4] - 500) < 109


def test_put_stores_the_given_key(board):
    """A tile is stored, found and erased under the key passed to `put`."""
    assert gui.put(board, "1", gui.find_number(4), 0, 2) is True
    assert board.numbers == {"1": (0, 2)}
    assert gui.find_position(board, "1") == (0, 2)
    assert board.shown == {"1": [4, 280, 0]}
    gui.remove_number(board, "1")
    assert board.shown == {}
    assert board.numbers == {"1": (0, 2)}  # problem 18 asks the student to forget it


def test_unknown_keys_and_cells_are_ignored(board):
    """Cells outside the board, unknown keys and numbers above 2048 are ignored."""
    for row, column in ((-1, 0), (4, 0), (0, -1), (0, 4)):
        assert gui.put(board, "1", gui.find_number(4), row, column) is False
    assert gui.put(board, "1", gui.find_number(4096), 0, 0) is False
    assert board.numbers == board.shown == {}
    assert gui.find_position(board, "id1") is None
    assert gui.move_number(board, "id1", 1, lambda *_: (0, 0), lambda *_: True) is False
    gui.remove_number(board, "id1")
    assert board.shown == {}


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.booleans())
def test_move_number_passes_unsigned_distances(row, column, new_row, new_column, answer):
    """`move_number` moves to update_grid's cell and returns the animation's result."""
    board = RecordingBoard()
    gui.put(board, "a", gui.find_number(2), row, column)
    asked: list[tuple[int, ...]] = []
    animated: list[tuple[object, ...]] = []

    def update_grid(*arguments: int) -> tuple[int, int]:
        asked.append(arguments)
        return new_row, new_column

    def animate(*arguments: object) -> bool:
        animated.append(arguments)
        assert board.numbers["a"] == (new_row, new_column)
        return answer

    moved = gui.move_number(board, "a", 3, update_grid, animate)
    assert asked == [(row, column, 3)]
    if (row, column) == (new_row, new_column):
        assert moved is False
        assert animated == []
    else:
        distances = abs(new_column - column) * 140, abs(new_row - row) * 140
        assert moved is answer
        assert animated == [(board, "a", *distances, 3)]


def test_a_board_needs_no_window(main, frame):
    """A game can be played on any object with `numbers` and `score`."""
    bare = SimpleNamespace(numbers={}, score=0)
    main.grid[0][:2] = [2, 2]
    gui.put(bare, "a", gui.find_number(2), 0, 0)
    gui.put(bare, "b", gui.find_number(2), 0, 1)
    main.keyboard_callback(SimpleNamespace(keysym="Left"), frame, bare)
    assert main.grid[0][0] == bare.score == 4
    assert len(bare.numbers) == 2
    assert bare.numbers["b"] == (0, 0)


def test_only_the_window_needs_tkinter():
    """Without tkinter, only `setup` fails, and it says what to install."""
    code = (
        "import sys; sys.modules['tkinter'] = None\n"
        "from py2048.courses.comp1127 import gui, main\n"
        "print(gui.find_number(8).value, main.empty_slots()[5])\n"
        "try: gui.setup()\n"
        "except ImportError as error: print(error)"
    )
    found, refused = python("-c", code, check=True).stdout.splitlines()
    assert found == "8 (1, 1)"
    assert "sudo apt install python3-tk" in refused
