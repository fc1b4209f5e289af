"""Tables in CSV as teachers and learning platforms write them, and files that are written.

A file is written beside its place and then takes it, so that none is ever half there. One that was
changed by hand since is not replaced unless that is asked for.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from py2048.courses.grading.report import no_formula
from py2048.errors import CourseError, os_errors_as


@dataclass
class Table:
    """A table with its head, and how it was written; rows have as many cells as the head."""

    head: list[str]
    rows: list[list[str]] = field(default_factory=list)
    delimiter: str = ","
    bom: bool = False
    path: Path = Path()

    def column(self, *names: str) -> int | None:
        """The first column with one of these names, whatever their case."""
        plain = [" ".join(head.lower().replace("_", " ").split()) for head in self.head]
        return next((plain.index(name) for name in names if name in plain), None)

    def needed(self, *names: str) -> int:
        """The same; raise `CourseError` where there is none."""
        found = self.column(*names)
        if found is None:
            heads = ", ".join(self.head)
            raise CourseError(f"{self.path}: there is no column {names[0]!r}; it has {heads}")
        return found

    def cell(self, row: Sequence[str], *names: str) -> str:
        """What a row has in the first column with one of these names; nothing without one."""
        place = self.column(*names)
        return "" if place is None else row[place].strip()

    def text(self) -> bytes:
        """The table as it was written, with what was filled in."""
        out = io.StringIO()
        writer = csv.writer(out, delimiter=self.delimiter)
        writer.writerows([self.head, *self.rows])
        return out.getvalue().encode("utf-8-sig" if self.bom else "utf-8")


def read_table(path: Path) -> Table:
    """Read a table with commas, semicolons or tabs, in UTF-8 with or without a mark.

    Raises:
        CourseError: if it cannot be read.
    """
    with os_errors_as(CourseError, f"{str(path)!r} cannot be read"):
        data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CourseError(
            f"{path}, line {line}: this is not UTF-8: save it as 'CSV UTF-8' in the spreadsheet"
        ) from None
    first = text.lstrip().partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise CourseError(f"{path}: this is not a CSV file: {error}") from None
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if not rows:
        raise CourseError(f"{path}: it is empty: its first line names the columns")
    head = [cell.strip() for cell in rows[0]]
    width = len(head)
    for number, row in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in row[width:]):
            raise CourseError(f"{path}, row {number}: {len(row)} cells under {width} columns")
    padded = [(row + [""] * width)[:width] for row in rows[1:]]
    return Table(head, padded, delimiter, data.startswith(b"\xef\xbb\xbf"), path)


def number_of(text: str) -> str:
    """A number as Python reads it, be it written with a comma."""
    return re.sub(r"^(-?\d+),(\d+)$", r"\1.\2", text.strip())


def table_text(head: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """A new table that no spreadsheet takes for formulas."""
    cells = [[no_formula(c) if isinstance(c, str) else str(c) for c in row] for row in rows]
    return Table(list(head), cells).text()


def replace_file(path: Path, data: bytes) -> None:
    """Write a file beside its place, then put it there; a link stays a link."""
    with os_errors_as(CourseError, f"{str(path)!r} cannot be written"):
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(beside).chmod(path.stat().st_mode if path.exists() else 0o644)
            Path(beside).replace(path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise


class Written:
    """What was written into a folder of results: a file that differs was changed by hand."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / ".written.json"
        self.known: dict[str, str] = {}
        if self.path.exists():
            try:
                self.known = dict(json.loads(self.path.read_text("utf-8")))
            except ValueError:
                raise CourseError(
                    f"{str(self.path)!r} is damaged: remove it, then use --force once"
                ) from None

    def refuse_changed(self, path: Path, *, force: bool) -> None:
        """Raise `CourseError` for a file that was changed since, unless it may be replaced."""
        if not force and path.exists():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            if self.known.get(str(path.relative_to(self.folder))) != digest:
                raise CourseError(
                    f"{str(path)!r} was changed since py2048 wrote it, and is kept: move it away, "
                    "or replace it with --force"
                )

    def write(self, path: Path, data: bytes, *, force: bool = False) -> None:
        """Write a file and remember it."""
        self.refuse_changed(path, force=force)
        replace_file(path, data)
        self.known[str(path.relative_to(self.folder))] = hashlib.sha256(data).hexdigest()
        replace_file(self.path, json.dumps(self.known, indent=1).encode())
