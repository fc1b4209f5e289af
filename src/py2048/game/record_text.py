"""The text of a record's file: one canonical layout, read strictly, written atomically.

``docs/reference/record-format.md`` describes every field.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from py2048.errors import RecordError, shown

FORMAT = "py2048 record"
VERSION = 1
LARGEST = 1 << 26
"""More bytes than any record has: a million turns take five or six million."""


def dump(values: Mapping[str, Any]) -> str:
    """Return the canonical text of a record with these plain field values."""
    head = {"format": FORMAT, "version": VERSION}
    data = head | {name: values[name] for name in _CHECKS}
    return _lines(data | {"checksum": _checksum(data)})


def parse(text: str) -> dict[str, Any]:
    """Return the plain field values that `text` holds, each of the right type.

    Raises:
        RecordError: if it is no record, from a newer version, damaged, or has wrong fields.
    """
    data = _parse_json(text)
    claimed = data.pop("checksum", None)
    if claimed != _checksum(data):
        raise RecordError("the record was changed after it was written: its checksum is wrong")
    values = {key: data[key] for key in data.keys() - {"format", "version"}}
    check(values)
    return values


def check(values: Mapping[str, Any]) -> None:
    """Check that these are the plain field values of a record, each of the right type.

    Raises:
        RecordError: naming the first field that is not.
    """
    unknown = values.keys() - _CHECKS.keys()
    missing = _CHECKS.keys() - values.keys()
    if unknown or missing:
        what, names = ("unknown", unknown) if unknown else ("missing", missing)
        raise RecordError(f"{what} fields: {', '.join(sorted(names))}")
    for name, (is_right, meaning) in _CHECKS.items():
        if not is_right(values[name]):
            raise RecordError(f"{name} is {shown(values[name])}, but must be {meaning}")


def path_of(path: str | Path) -> Path:
    """Return `path` as one.

    Raises:
        RecordError: if it is none.
    """
    try:
        return Path(path)
    except TypeError:
        raise RecordError(f"{shown(path)} names no file") from None


def read(path: str | Path) -> str:
    """Return the text of a file, which may be one that another program still writes.

    Raises:
        RecordError: if it cannot be read, is no text, or has no end in sight.
    """
    try:
        with path_of(path).open("rb") as file:
            data = file.read(LARGEST + 1)
        text = data.decode("utf-8")
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise RecordError(f"{path} is no record: it is not text") from None
    if len(data) > LARGEST:
        raise RecordError(f"{path} is no record: it has more than {LARGEST:,} bytes")
    return text


def check_replaceable(path: Path) -> None:
    """Check that a new file may take the place of `path`: of a file or of nothing.

    Raises:
        OSError: if a device, a pipe or a folder is there, which would be lost.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "it is there and no ordinary file", str(path))


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the file at `path` by one with `data`, or leave it as it was and raise OSError."""
    check_replaceable(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _lines(data: dict[str, Any]) -> str:
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in data.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _checksum(data: dict[str, Any]) -> str:
    return "sha256:" + hashlib.sha256(_lines(data).encode()).hexdigest()


def _parse_json(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"this is no record: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RecordError(f'this is no record: "format" must be "{FORMAT}"')
    version = data.get("version")
    if type(version) is not int or version < 1:
        raise RecordError(f"version {version!r} is no version of the record format")
    if version > VERSION:
        raise RecordError(
            f"the record has version {version}, this py2048 reads up to {VERSION}: update py2048"
        )
    return data


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_counts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_count, value))


_TEXT = (lambda value: isinstance(value, str), "a text")
_COUNT = (_is_count, "a whole number from 0")
_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "rules": _TEXT,
    "player": _TEXT,
    "started": _TEXT,
    "finished": _TEXT,
    "seed": (lambda value: value is None or (_is_count(value) and value < 2**64), "a seed or null"),
    "start": (
        lambda value: isinstance(value, list) and all(map(_is_counts, value)),
        "rows of whole numbers",
    ),
    "turns": _TEXT,
    "score": (lambda value: type(value) is int, "a whole number"),
    "undos": _COUNT,
    "hints": _COUNT,
    "times": (_is_counts, "a list of milliseconds"),
}
