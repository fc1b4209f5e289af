"""`start` writes every file of a starter, or none if one already exists."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.processes import python

from py2048.core.errors import CourseError
from py2048.courses import COURSES, get_course
from py2048.courses.ist import adt

HERE = Path(__file__).parent


@pytest.mark.parametrize("course", COURSES)
def test_a_starter_is_written_as_it_is(course, tmp_path):
    """Names and bytes are unchanged, and the folder is created if needed."""
    files = COURSES[course].handout_files
    written = COURSES[course].hand_out(tmp_path / "new" / "folder")
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in files]
    names = {path.name for path in written}
    assert {"README.md", "TASKS.md"} < names
    assert names & {"examples.txt", "tests.py"}
    assert all(path.suffix in {".md", ".py", ".txt"} for path in written)


@pytest.mark.parametrize("name", ["TASKS.md", "examples.txt"])
def test_an_existing_file_prevents_all(name, tmp_path):
    """The error names the file, which stays as it is, and nothing is written."""
    (tmp_path / name).write_text("mine")
    with pytest.raises(CourseError, match=f"{name}' already exists: choose another folder"):
        get_course("ist").hand_out(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_a_file_for_a_folder_is_refused(tmp_path):
    """The starter needs a folder."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CourseError, match="is a file: choose a folder"):
        get_course("ist").hand_out(tmp_path / "file")


MOVES = """
from py2048 import Board, Direction
def slide_line(line):
    return move([line], 'left')[0]
def move(board, direction):
    slide = Board.from_rows(board).slide(Direction.parse(direction))
    return [list(row) for row in slide.board.rows]
"""
SOLUTIONS = {
    "cits1401": {"app.py": MOVES},
    "comp1127": {"main.py": (HERE / "comp1127/right/rows_and_columns.py").read_text()},
    "ist": {"project.py": Path(adt.__file__).read_text()},
    "qsan_qarut": {"model.py": (HERE / "qsan_qarut/right/turned_boards/model.py").read_text()},
}


@pytest.mark.parametrize("course", SOLUTIONS)
def test_examples_pass_with_a_solution_but_not_with_the_starter(course, tmp_path):
    """The README's command prints nothing once the examples pass."""
    readme = (get_course(course).starter / "README.md").read_text()
    (command,) = (line for line in readme.splitlines() if line.startswith("python -m doctest"))
    get_course(course).hand_out(tmp_path)
    for solved in (False, True):
        if solved:
            for name, source in SOLUTIONS[course].items():
                (tmp_path / name).write_text(source)
            shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        done = python(*command.split()[1:], cwd=tmp_path)
        assert (done.returncode == 0, not done.stdout) == (solved, solved), done.stdout


PASTED = Path(__file__).with_name("pasted.py.txt").read_text()


@pytest.mark.gui
@pytest.mark.usefixtures("display")
def test_reported_examples_run_with_the_students_own_files(tmp_path):
    """Each check's shortest example can be pasted after the opening, without py2048."""
    get_course("comp1127").hand_out(tmp_path)
    (tmp_path / "main.py").write_text(SOLUTIONS["comp1127"]["main.py"])
    grading = get_course("comp1127").grading()
    opening = grading.opening.format(module="main")
    shown = [check.listed()[0] for task in grading.tasks for check in task.checks if check.examples]
    pasted = [[opening, each.given, each.code, *each.then] for each in shown]
    done = python("-c", PASTED, cwd=tmp_path, stdin=json.dumps(pasted))
    assert done.stdout == "ran", done.stderr
    assert len(pasted) > 40
