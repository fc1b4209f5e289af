"""The one door for games from outside: our records, and the replays of other programs.

- py2048: records (`record`);
- 2048verse: replay texts, old and new (`import_2048verse`);
- 2048EndgameTablebase: ``.rpl`` and ``.vrs`` (`import_endgame_tablebase`);
- twothousand-forty-eight: texts with every board, or with a seed (`import_hallabois`);
- 2048-Framework: episodes (`import_2048_framework`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from py2048.errors import RecordError, os_errors_as
from py2048.game.foreign_text import Reading, TextError, readings
from py2048.game.import_2048_framework import framework_records
from py2048.game.import_2048verse import verse_records
from py2048.game.import_endgame_tablebase import is_tablebase, tablebase_record
from py2048.game.import_hallabois import hallabois_records
from py2048.game.record import FORMAT, LARGEST, Record, check_ordinary

STDIN = Path("-")
"""Stands for what is typed or piped in."""

_READERS: tuple[Callable[[str], list[Record]], ...] = (
    framework_records,
    hallabois_records,
    verse_records,
)
_KNOWN = "a record of py2048, or a replay of 2048verse or of another program that py2048 knows"


class NoGameError(RecordError):
    """Nothing in a text looks like a game."""


def load_record(path: Path) -> Record:
    """Return the one game in a file (``-`` for standard input): a record, or a foreign replay.

    Raises:
        RecordError: if the file holds none or several, or a turn breaks the rules; the message
            names the file and the place.
    """
    records = load_records(path)
    if len(records) > 1:
        raise RecordError(
            f"{path} holds {len(records)} games: py2048 import {path} FOLDER writes each by itself"
        )
    return records[0]


def load_record_file(path: Path) -> Record:
    """Return the one game in an ordinary file, for a screen, which cannot wait for a pipe's end.

    Raises:
        RecordError: as `load_record`, and where there is a pipe, a device or a folder.
    """
    path = path.absolute()  # so that ``-`` is a file of this name
    with os_errors_as(RecordError, f"cannot read {path}"):
        check_ordinary(path)
    return load_record(path)


def load_records(path: Path) -> list[Record]:
    """Return all games in a file (``-`` for standard input), one at least.

    Raises:
        RecordError: if the file holds none, or one is damaged; the message names the place.
    """
    data = read_bytes(path)
    try:
        return parse_records(data)
    except RecordError as error:
        raise RecordError(f"{'standard input' if path == STDIN else path}: {error}") from None


def parse_records(data: bytes | str) -> list[Record]:
    """Return all games in the bytes of a file or in a pasted text, one at least.

    Raises:
        RecordError: if it holds none, or one is damaged; the message names the place.
    """
    if isinstance(data, bytes) and is_tablebase(data):
        return [tablebase_record(data)]
    worst: tuple[int, str] | None = None
    for reading in readings(data):
        if f'"{FORMAT}"' in reading.text[:200]:
            return [Record.from_json(_exactly(data, reading))]
        for read in _READERS:
            try:
                if records := read(reading.text):
                    return records
            except TextError as fault:
                if worst is None or fault.ply > worst[0]:
                    worst = fault.ply, fault.shown_in(reading)
    if worst is None:
        raise NoGameError(f"no game is found: it is not {_KNOWN}")
    raise RecordError(worst[1])


def _exactly(data: bytes | str, reading: Reading) -> str:
    """Return the text of one of our records as it stands: its reader is strict."""
    if isinstance(data, str):
        return data
    try:
        return data.decode()
    except UnicodeDecodeError:
        return reading.text


def read_bytes(path: Path) -> bytes:
    """Return what a file, which another program may still write, or standard input holds.

    Raises:
        RecordError: if it cannot be read, or has no end in sight.
    """
    with os_errors_as(RecordError, f"cannot read {path}"):
        if path == STDIN:
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with path.open("rb") as file:
                data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise RecordError(f"{path} is no record: it has more than {LARGEST:,} bytes")
    return data
