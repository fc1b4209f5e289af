"""The program and its source file."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from py2048.courses import get_course
from py2048.courses.ist import __main__ as program
from py2048.courses.ist import adt


def test_source_file():
    """The source is an ASCII file that begins with a comment and describes the representation."""
    source = Path(adt.__file__).read_bytes()
    assert source.isascii()
    assert source.startswith(b"# ")
    docstring = ast.get_docstring(ast.parse(source)) or ""
    assert "Internal representation" in docstring
    assert "coordinate:" in docstring
    assert "board:" in docstring


@pytest.mark.parametrize(("error", "status"), [(EOFError, 0), (KeyboardInterrupt, 130)])
def test_input_ends(error, status, monkeypatch, capsys):
    """End of input and Ctrl-C end the program with their exit statuses."""

    def stop(prompt: str) -> str:
        raise error

    monkeypatch.setattr("builtins.input", stop)
    assert program.main([]) == status
    assert capsys.readouterr().out.endswith("\n")


def test_arguments_are_refused(capsys):
    """Arguments are refused with one line on standard error and status 2."""
    with pytest.raises(SystemExit) as caught:
        program.main(["5"])
    assert caught.value.code == 2
    assert capsys.readouterr().err == "python -m py2048.courses.ist: unrecognized arguments: 5\n"


def test_skeleton_is_ascii_and_lacks_nothing():
    """The starter is ASCII and defines every public function of the reference."""
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
