"""The parts of ist's grading: the right types that stand in, and what the student receives."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048.courses import get_course
from py2048.courses.ist import adt
from py2048.courses.ist.tasks import (
    BOARD,
    COORDINATE,
    OTHER_COORDINATE,
)

TILES = st.sampled_from([0, 0, 2, 2, 4, 8])
ROWS = st.tuples(*[st.tuples(*[TILES] * 4)] * 4)


def module_of(*codes: str) -> Any:
    """Run the codes beside an empty submission and return its module."""
    module = ModuleType("project")
    for code in codes:
        exec(code, {"project": module})
    return module


MODULES = [module_of(COORDINATE, BOARD), module_of(OTHER_COORDINATE, BOARD)]


def board_of(module: Any, rows: Any, score: int = 0) -> Any:
    board = module.create_board(0)
    for r, row in enumerate(rows, 1):
        for c, value in enumerate(row, 1):
            board = module.board_fill_position(board, module.create_coordinate(r, c), value)
    return module.board_update_score(board, score)


def picture(module: Any, board: Any) -> tuple[Any, ...]:
    """Everything that can be seen of a board."""
    cells = [module.create_coordinate(r, c) for r in range(1, 5) for c in range(1, 5)]
    empty = [
        (module.coordinate_row(c), module.coordinate_col(c))
        for c in module.board_empty_positions(board)
    ]
    values = [module.board_position(board, c) for c in cells]
    return values, module.board_score(board), empty, module.board_finished(board)


@pytest.mark.parametrize("module", MODULES)
@given(ROWS, st.sampled_from("NSWE"))
def test_stand_ins_do_what_the_reference_does(module: Any, rows: Any, d: str) -> None:
    """The types that stand in for a submission's own agree with the reference."""
    board, reference = board_of(module, rows, 4), board_of(adt, rows, 4)
    assert picture(module, board) == picture(adt, reference)
    assert module.board_reduce(board, d) is board
    assert picture(module, board) == picture(adt, adt.board_reduce(reference, d))
    copy = module.copy_board(board)
    assert module.boards_equal(copy, board)
    assert not module.boards_equal(module.board_update_score(copy, 4), board)


def test_examples_of_the_starter(tmp_path: Path) -> None:
    """With the reference in place of the skeleton, the starter's examples all come out."""
    starter = get_course("ist").starter
    for name in ("tests.py", "examples.txt"):
        shutil.copy(starter / name, tmp_path)
    shutil.copy(str(adt.__file__), tmp_path / "project.py")
    done = subprocess.run(
        [sys.executable, "tests.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "27 of 27 examples came out as expected.\n"


def test_skeleton_is_ascii_and_lacks_nothing() -> None:
    """The skeleton defines every function of the reference that the document names."""
    source = (get_course("ist").starter / "project.py").read_bytes()
    assert source.isascii()
    skeleton: dict[str, Any] = {}
    exec(source, skeleton)
    named = [
        name
        for name, value in vars(adt).items()
        if callable(value) and getattr(value, "__module__", "") == adt.__name__
    ]
    assert {name for name in named if not name.startswith("_")} <= set(skeleton)
