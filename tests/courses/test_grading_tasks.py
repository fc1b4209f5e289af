"""The tasks of every course are complete, and their starters fit them and earn nothing."""

from __future__ import annotations

import re

import pytest
from toys import grade_path

from py2048.courses import COURSES

GRADED = [name for name, course in COURSES.items() if (course.starter.parent / "tasks.py").exists()]
MARKS = {"comp1127": 106, "cmput175": 60, "ist": 14}


@pytest.mark.parametrize("course", GRADED)
def test_tasks_have_ids_titles_words_and_marks(course):
    """Ids differ, every task says what is asked and is checked, the weights are positive."""
    grading = COURSES[course].grading()
    ids = [task.id for task in grading.tasks]
    assert len(set(ids)) == len(ids) > 0
    for task in grading.tasks:
        assert task.title
        assert len(task.asked) > 20
        assert task.marks > 0
        assert task.checks
        assert all(check.weight >= 0 and check.title for check in task.checks)
        assert all(check.run is not None or list(check.listed()) for check in task.checks)


@pytest.mark.parametrize("course", sorted(MARKS))
def test_the_marks_are_the_documents(course):
    """The marks add up to what the document gives."""
    assert COURSES[course].grading().marks == MARKS[course]


@pytest.mark.parametrize("course", GRADED)
def test_the_starter_names_every_task_with_its_marks(course):
    """TASKS.md and the grader agree on ids and marks."""
    text = (COURSES[course].starter / "TASKS.md").read_text(encoding="utf-8")
    head = r"^#+ Task ([\w.-]+): (.+) \((\d+(?:\.\d+)?) marks?\)$"
    heads = re.findall(head, text, re.MULTILINE)
    tasks = COURSES[course].grading().tasks
    assert [(name, float(marks)) for name, _, marks in heads] == [
        (task.id, float(task.marks)) for task in tasks
    ]
    if course != "comp1127":  # whose sheet shows signatures
        assert [title for _, title, _ in heads] == [task.title for task in tasks]


@pytest.mark.parametrize("course", GRADED)
def test_the_starter_earns_nothing(course):
    """Whoever hands in the skeleton as it was given has no marks."""
    report = grade_path(COURSES[course].starter, COURSES[course].grading())
    assert not report.problem
    assert report.earned == 0


@pytest.mark.parametrize("course", GRADED)
def test_the_starter_says_how_to_check(course):
    """README.md names the command that grades, and what it needs on each system."""
    readme = (COURSES[course].starter / "README.md").read_text(encoding="utf-8")
    assert f"py2048 course check {course}" in readme
    assert all(word in readme for word in ("macOS", "--unprotected", "WSL"))
    assert ("Xvfb" in readme) is COURSES[course].grading().gui
