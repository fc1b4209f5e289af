"""The log of a contest: one JSON line for each finished game, so that nothing is lost.

The first line says which contest it is. A run that was cut short goes on with the games that the
log lacks; the line that was being written then is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TextIO

from py2048.arena.contest import Contest
from py2048.arena.jobs import Played
from py2048.errors import ContestError

FORMAT = "py2048 arena log"
VERSION = 1

_KINDS = {"player": str, "seconds": float}  # everything else is a whole number
_FIELDS = [field.name for field in fields(Played) if field.name != "record"]


class Log:
    """The file to which the games of a contest are added as they end.

    Args:
        path: the file; it may exist if it belongs to a contest with the same rules and seed.
        contest: the contest; its players and the number of games may be others than before.

    Raises:
        ContestError: if the file belongs to another contest, is damaged, or cannot be written.
    """

    def __init__(self, path: Path, contest: Contest) -> None:
        self._path = path
        self.head = {"format": FORMAT, "version": VERSION, **_heading(contest)}
        self.played = self._read()
        self._file = self._open()

    def add(self, played: Played) -> None:
        """Write a game down, at once."""
        self._write({name: getattr(played, name) for name in _FIELDS})

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read(self) -> list[Played]:
        try:
            data = self._path.read_bytes() if self._path.exists() else b""
        except OSError as error:
            raise ContestError(f"cannot read {self._path}: {error.strerror or error}") from None
        whole = data[: data.rfind(b"\n") + 1]
        self._size = len(whole)
        lines = whole.decode("utf-8", "replace").splitlines()
        if not lines:
            return []
        self._check_head(_json_of(lines[0]))
        return [self._played(number, line) for number, line in enumerate(lines[1:], 2)]

    def _check_head(self, head: Mapping[str, Any]) -> None:
        if head.get("format") != FORMAT:
            raise ContestError(f"{self._path} is no log of a contest: choose another file")
        for name, value in self.head.items():
            if head.get(name) != value:
                raise ContestError(
                    f"{self._path} belongs to a contest with {name} {head.get(name)!r}, "
                    f"not {value!r}: choose another file"
                )

    def _played(self, number: int, line: str) -> Played:
        data = _json_of(line)
        kinds = {name: _KINDS.get(name, int) for name in _FIELDS}
        if {name: type(value) for name, value in data.items()} != kinds:
            raise ContestError(f"{self._path}: line {number} is no game: {line[:60]!r}")
        return Played(**data)

    def _open(self) -> TextIO:
        try:
            if self._path.exists():
                with self._path.open("r+b") as file:
                    file.truncate(self._size)
            self._file = self._path.open("a", encoding="utf-8")
        except OSError as error:
            raise ContestError(f"cannot write {self._path}: {error.strerror or error}") from None
        if not self._size:
            self._write(self.head)
        return self._file

    def _write(self, data: Mapping[str, Any]) -> None:
        try:
            self._file.write(json.dumps(data) + "\n")
            self._file.flush()
        except OSError as error:
            raise ContestError(f"cannot write {self._path}: {error.strerror or error}") from None


def _heading(contest: Contest) -> dict[str, Any]:
    return {"rules": str(contest.rules), "seed": contest.seed}


def _json_of(line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}
