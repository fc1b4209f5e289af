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

from py2048.core.errors import CourseError, os_errors_as
from py2048.courses.grading.report import no_formula

PARTICIPANT = re.compile(r"([^\W\d]{5}\D*)\d+")
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")


@dataclass
class Table:
    """A table with its head, and how it was written; rows have as many cells as the head.

    `digest` is that of the file that it was read from.
    """

    head: list[str]
    rows: list[list[str]] = field(default_factory=list)
    delimiter: str = ","
    bom: bool = False
    path: Path = Path()
    known: dict[str, int] = field(default_factory=dict)
    digest: str = ""

    def column(self, *names: str) -> int | None:
        """Return the first column with one of these names, in any case; see also `known`."""
        plain = [" ".join(head.lower().replace("_", " ").split()) for head in self.head]
        places = self.known | {name: plain.index(name) for name in plain}
        return next((places[name] for name in names if name in places), None)

    def needed(self, *names: str) -> int:
        """Return the same; raise `CourseError` where there is none."""
        found = self.column(*names)
        if found is None:
            heads = ", ".join(self.head)
            raise CourseError(f"{self.path}: there is no column {names[0]!r}; it has {heads}")
        return found

    def cell(self, row: Sequence[str], *names: str) -> str:
        """Return a row's text in the first column with one of these names; nothing without one."""
        place = self.column(*names)
        return "" if place is None else row[place].strip()

    def text(self) -> bytes:
        """Return the table as it was written, with what was filled in."""
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
    bom, digest = data.startswith(b"\xef\xbb\xbf"), hashlib.sha256(data).hexdigest()
    return Table(head, padded, delimiter, bom, path, worksheet_columns(head, padded), digest)


def worksheet_columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return where Moodle's grading worksheet has what, in any language; nothing for other tables.

    Its rows begin with ``Participant 17``. What a grade can be at most is one number in all rows,
    after the grade. The heads of dates end with what changed, in parentheses; comments are last.
    """
    columns = [{row[number] for row in rows} for number in range(len(head))]
    words = {found and found[1] for found in map(PARTICIPANT.fullmatch, columns[0])}
    grades = [all(not cell or NUMBER.fullmatch(cell) for cell in cells) for cells in columns]
    most = [n for n, cells in enumerate(columns) if len(cells) == 1 and all(cells) and n > 2]
    most = [n for n in most if grades[n] and grades[n - 1]]
    if len(words) != 1 or None in words or not most:
        return {}
    found = {"identifier": 0, "full name": 1, "grade": most[0] - 1, "maximum grade": most[0]}
    mails = [n for n, cells in enumerate(columns) if any("@" in cell for cell in cells)]
    dates = [n for n, title in enumerate(head) if title.endswith(")") and n > most[0]]
    found |= {"email address": mails[0]} if mails else {}
    found |= {"last modified (submission)": dates[0]} if dates else {}
    return found | ({} if head[-1].endswith(")") else {"feedback comments": len(head) - 1})


def number_of(text: str) -> str:
    """Return a number as Python reads it, be it written with a comma."""
    return re.sub(r"^(-?\d+),(\d+)$", r"\1.\2", text.strip())


def table_text(head: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """Return a new table that no spreadsheet takes for formulas."""
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


def _is_stream(path: Path) -> bool:
    """Return whether a path is a stream that is open already, such as ``/dev/stdout``."""
    return Path("/dev") in path.parents


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
        if not force and path.exists() and not _is_stream(path):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            if self.known.get(str(path.relative_to(self.folder))) != digest:
                raise CourseError(
                    f"{str(path)!r} is not as py2048 wrote it, and is kept: move it away, "
                    "or replace it with --force"
                )

    def write(self, path: Path, data: bytes, *, force: bool = False) -> None:
        """Write a file and remember it."""
        self.refuse_changed(path, force=force)
        if _is_stream(path):
            path.write_bytes(data)
            return
        replace_file(path, data)
        self.known[str(path.relative_to(self.folder))] = hashlib.sha256(data).hexdigest()
        replace_file(self.path, json.dumps(self.known, indent=1).encode())
