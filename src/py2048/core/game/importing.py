"""The one door for games from outside: our records, and the replays of other programs."""

from __future__ import annotations

import sys
from pathlib import Path

from py2048.core.errors import RecordError, os_errors_as
from py2048.core.game.foreign import TextError, is_tablebase, tablebase_record, verse_records
from py2048.core.game.record import FORMAT, MAX_BYTES, Record, check_replaceable

STDIN = Path("-")
"""Stands for what is typed or piped in."""


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
        check_replaceable(path)
    return load_record(path)


def load_records(path: Path) -> list[Record]:
    """Return all games in a file (``-`` for standard input), at least one.

    Raises:
        RecordError: if the file holds none, or one is damaged; the message names the place.
    """
    with os_errors_as(RecordError, f"cannot read {path}"):
        if path == STDIN:
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    try:
        return parse_records(data)
    except RecordError as error:
        raise RecordError(f"{'standard input' if path == STDIN else path}: {error}") from None


def parse_records(data: bytes | str) -> list[Record]:
    """Return all games in the bytes of a file or in a pasted text, at least one.

    A text is UTF-8.

    Raises:
        NoGameError: if there is none.
        RecordError: if one is damaged; the message names the place.
    """
    if len(data) > MAX_BYTES:
        raise RecordError(f"it has more than {MAX_BYTES:,} bytes")
    if isinstance(data, bytes):
        if is_tablebase(data):
            return [tablebase_record(data)]
        try:
            data = data.decode()
        except UnicodeDecodeError as error:
            raise NoGameError(f"it is not UTF-8 text: see byte {error.start + 1}") from None
    if f'"{FORMAT}"' in data[:200]:
        return [Record.from_json(data)]
    text = data.removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        records = verse_records(text)
    except TextError as fault:
        before = text[: fault.place]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise RecordError(f"line {line}, character {column}: {fault}") from None
    if not records:
        raise NoGameError(
            "no game is found: it is not a record of py2048, nor a replay of 2048verse or of "
            "2048EndgameTablebase"
        )
    return records
