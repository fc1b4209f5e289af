"""`start` hands out every file of a starter or, if one is in the way, none."""

from __future__ import annotations

import pytest

from py2048.courses import COURSES, copy_starter, starter_files
from py2048.errors import CourseError

STARTED = [name for name, course in COURSES.items() if course.starter.is_dir()]


@pytest.mark.parametrize("course", STARTED)
def test_a_starter_is_written_as_it_is(course, tmp_path):
    """Same names, same bytes, in a folder that is made if needed."""
    source = COURSES[course].starter
    written = COURSES[course].hand_out(tmp_path / "new" / "folder")
    assert [path.name for path in written] == [path.name for path in starter_files(source)]
    for path in starter_files(source):
        copy = tmp_path / "new" / "folder" / path.name
        assert copy.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("course", STARTED)
def test_a_starter_has_tasks_and_a_readme(course):
    """A student finds what to do and how to run it."""
    names = {path.name for path in starter_files(COURSES[course].starter)}
    assert {"README.md", "TASKS.md"} < names
    assert any(name.endswith(".py") for name in names)


def _source(tmp_path):
    source = tmp_path / "source"
    for name in ("a.py", "z.md", "__pycache__/a.pyc"):
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return source


def test_tools_leftovers_are_not_handed_out(tmp_path):
    """Only what was written for students."""
    assert [path.name for path in starter_files(_source(tmp_path))] == ["a.py", "z.md"]


@pytest.mark.parametrize("name", ["a.py", "z.md"])
def test_one_file_in_the_way_stops_all(name, tmp_path):
    """The file is named and untouched, and nothing else is written."""
    target = tmp_path / "target"
    (target / name).parent.mkdir(parents=True)
    (target / name).write_text("mine")
    with pytest.raises(CourseError, match=f"{name}' is there already and is not overwritten"):
        copy_starter(_source(tmp_path), target)
    assert [path for path in target.rglob("*") if path.is_file()] == [target / name]
    assert (target / name).read_text() == "mine"


def test_a_file_for_a_folder_is_refused(tmp_path):
    """The starter needs a folder to go to."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CourseError, match="is a file: name a folder"):
        copy_starter(_source(tmp_path), tmp_path / "file")
