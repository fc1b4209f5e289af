"""Run ``py2048`` in the test's process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from py2048.cli import main


class CommandLine:
    """Runs commands and returns what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str, status: int = 0) -> str:
        """Run a command that exits with `status`; return its standard output."""
        return self._run(words, status)[0]

    def error(self, *words: str, status: int = 2) -> str:
        """Run a command that prints a single line to standard error; return it."""
        error = self._run(words, status)[1]
        assert error.count("\n") == 1
        return error

    def json(self, *words: str, status: int = 0) -> Any:
        """Run a command that prints JSON; return the parsed value."""
        return json.loads(self(*words, status=status))

    def _run(self, words: tuple[str, ...], status: int) -> tuple[str, str]:
        self._capsys.readouterr()  # what was printed before
        assert main([*words]) == status
        return self._capsys.readouterr()
