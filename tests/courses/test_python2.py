"""Python 2 programs are recognised, and converted on request."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from toys import RIGHT, run_course, toy_course

from py2048 import courses
from py2048.core.errors import MissingExtraError
from py2048.courses.grading.submissions import changed_lines, convert, mixes_tabs, python2_lines

OLD = Path(__file__).with_name("python2.py.txt").read_text()


@pytest.mark.parametrize(
    "line",
    [
        "print 'no'", "if x: print x", "print >>file, x", "x = raw_input()", "if a <> b: pass",
        "for i in xrange(3): pass", "for k, v in d.iteritems(): pass", "import Tkinter as tk",
        "except ValueError, error:", "raise ValueError, 'no'",
    ],
)  # fmt: skip
def test_lines_for_python_2_are_found(line):
    """The numbers of lines that only Python 2 accepts are returned."""
    assert python2_lines(f"x = 1\n{line}\n") == [2]


@pytest.mark.parametrize(
    "text",
    [
        "print('a')\nprint ('a', 'b')\nprint(1).x\nprint = 3\nx = print if y else z\n",
        "'''\nprint 'in a text'\n'''\n# print 'in a remark'\nx = 'raw_input('\n",
        "import tkinter\nraise ValueError('a, b')\nexcept (A, B) as error:\n",
    ],
)
def test_programs_for_python_3_have_no_such_lines(text):
    """Strings and comments do not count."""
    assert python2_lines(text) == []


def test_mixed_tabs_are_detected():
    """In Python 2 eight blanks and a tab are the same indentation; in Python 3 they are not."""
    assert mixes_tabs("if x:\n        a()\n\tb()\n")
    assert not mixes_tabs("if x:\n\ta()\n\tif y:\n\t\tb()\n")


def test_a_converted_program_does_the_same():
    """Statements, names, division and tabs are converted, and line numbers stay."""
    found: dict[str, object] = {}
    after = convert(OLD)
    exec(after, found)
    numbers = [1, 2]
    found["grow"](numbers)  # type: ignore[operator]
    assert repr(numbers) == "[1, 2, 3]"
    assert after.count("\n") == OLD.count("\n")
    assert list(changed_lines(OLD, after)) == [3, 4, 8, 9, 13, 15]


def test_invalid_programs_cannot_be_converted():
    """The error gives the reason."""
    with pytest.raises(ValueError, match="not valid Python 2 either"):
        convert("def add(")


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(courses.COURSES, "toy", toy_course())


def _check(capsys, *words: object) -> tuple[int, str]:
    status, *shown = run_course(capsys, "check", "toy", *words)
    return status, " ".join("".join(shown).split())


def test_the_report_recognises_python_2(capsys, toy, tmp_path):
    """It lists the lines and the option, even if the program loads."""
    path = tmp_path / "ann.py"
    path.write_text(OLD)
    status, out = _check(capsys, path)
    assert status == 0
    assert "Not graded: ann.py, line 4: SyntaxError: invalid syntax" in out
    assert "is written for Python 2 (lines 4, 8, 9, 13); --from-python2 converts it" in out
    path.write_text(RIGHT.replace("input(", "raw_input("))
    assert "for Python 2 (line 8); --from-python2 converts it" in _check(capsys, path)[1]


def test_a_converted_program_is_graded(capsys, toy, tmp_path):
    """The report lists the converted lines, and both results are stored separately."""
    path = tmp_path / "ann.py"
    path.write_text(OLD)
    _check(capsys, path, "--log", tmp_path / "results")
    status, out = _check(capsys, path, "--from-python2", "--log", tmp_path / "results")
    assert status == 0
    assert "ann.py was converted from Python 2: lines 3, 4, 8, 9 and more" in out
    assert "9 / 9" in out
    path.write_text(RIGHT)
    assert "converted" not in _check(capsys, path, "--from-python2")[1]


def test_a_missing_fissix_is_one_line(capsys, toy, tmp_path, monkeypatch):
    """The error includes the command that installs it."""
    monkeypatch.setitem(sys.modules, "fissix.refactor", None)
    with pytest.raises(MissingExtraError, match="\\[python2\\]'"):
        convert(OLD)
    (tmp_path / "ann.py").write_text(OLD)
    status, out = _check(capsys, tmp_path / "ann.py", "--from-python2")
    assert status == 2
    assert "--from-python2 needs fissix" in out
