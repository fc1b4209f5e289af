"""Load games from files: py2048 records, and replays from other programs."""

from __future__ import annotations

import sys
from pathlib import Path

from py2048.core.errors import RecordError, os_errors_as
from py2048.core.game.foreign import TextError, is_tablebase, tablebase_record, verse_records
from py2048.core.game.record import FORMAT, MAX_BYTES, Record, check_replaceable

STDIN = Path("-")
"""Path that stands for standard input."""


class NoGameError(RecordError):
    """Raised if the input is not a game in any known format."""


def load_record(path: Path) -> Record:
    """Return the only game in a file (``-`` for standard input).

    Raises:
        RecordError: If the file contains no game or several, or a turn breaks the rules; the
            message names the file and the position.
    """
    records = load_records(path)
    if len(records) > 1:
        raise RecordError(
            f"{path} has {len(records)} games: py2048 import {path} FOLDER writes a file for each"
        )
    return records[0]


def load_record_file(path: Path) -> Record:
    """Return the only game in a regular file; unlike `load_record`, reject pipes and devices.

    Raises:
        RecordError: If the file does not contain exactly one valid game, or the path is a pipe, a
            device or a folder.
    """
    path = path.absolute()  # makes ``-`` an ordinary file name
    with os_errors_as(RecordError, f"cannot read {path}"):
        check_replaceable(path)
    return load_record(path)


def load_records(path: Path) -> list[Record]:
    """Return all games in a file (``-`` for standard input).

    Raises:
        RecordError: If the file contains no game, or a game is damaged; the message names the
            position of the damage.
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
    """Return all games in a file's content or in pasted text. Text files must be UTF-8.

    Raises:
        NoGameError: If there is no game.
        RecordError: If a game is damaged; the message names the position of the damage.
    """
    if len(data) > MAX_BYTES:
        raise RecordError(f"the input has more than {MAX_BYTES:,} bytes")
    if isinstance(data, bytes):
        if is_tablebase(data):
            return [tablebase_record(data)]
        try:
            data = data.decode()
        except UnicodeDecodeError as error:
            raise NoGameError(f"the input is not UTF-8 text: see byte {error.start + 1}") from None
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
            "no game found: this is neither a py2048 record nor a replay of 2048verse or "
            "2048EndgameTablebase"
        )
    return records
