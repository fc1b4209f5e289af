"""Read and write the CSV tables of teachers and learning platforms.

Files are replaced atomically. A file that was edited by hand after py2048 wrote it is replaced only
with ``--force``.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from py2048.core.errors import CourseError, os_errors_as
from py2048.core.game.record import replacing

MOODLE_PARTICIPANT = re.compile(r"([^\W\d]{5}\D*)\d+")
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")


@dataclass
class CsvTable:
    """A CSV table that can be written back in its original format.

    Attributes:
        head: Column names.
        rows: Cells by row. Each row has as many cells as `head`.
        delimiter: Column separator.
        bom: Whether the file begins with a byte order mark.
        path: The file that the table was read from.
        identified: Index of each column recognised by its contents, keyed by its English name.
        digest: SHA-256 of the file.
    """

    head: list[str]
    rows: list[list[str]] = field(default_factory=list)
    delimiter: str = ","
    bom: bool = False
    path: Path = Path()
    identified: dict[str, int] = field(default_factory=dict)
    digest: str = ""

    def column(self, *names: str) -> int | None:
        """Return the index of the first column with one of these names, ignoring case."""
        plain = [" ".join(head.lower().replace("_", " ").split()) for head in self.head]
        places = self.identified | {name: plain.index(name) for name in plain}
        return next((places[name] for name in names if name in places), None)

    def required(self, *names: str) -> int:
        """Like `column`, but raises `CourseError` if there is no such column."""
        found = self.column(*names)
        if found is None:
            heads = ", ".join(self.head)
            raise CourseError(f"{self.path} has no column {names[0]!r}, only {heads}")
        return found

    def cell(self, row: Sequence[str], *names: str) -> str:
        """Return the cell of a row in the first column with one of these names, or ""."""
        place = self.column(*names)
        return "" if place is None else row[place].strip()

    def to_bytes(self) -> bytes:
        """Return the table as a CSV file, with the original delimiter and byte order mark."""
        out = io.StringIO()
        writer = csv.writer(out, delimiter=self.delimiter)
        writer.writerows([self.head, *self.rows])
        return out.getvalue().encode("utf-8-sig" if self.bom else "utf-8")


def read_table(path: Path) -> CsvTable:
    """Read a UTF-8 table whose delimiter is a comma, semicolon or tab.

    Raises:
        CourseError: If the file cannot be read, or is not a valid CSV table.
    """
    with os_errors_as(CourseError, f"{str(path)!r} cannot be read"):
        data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CourseError(
            f"{path}, line {line} is not UTF-8: save the file as 'CSV UTF-8' in the spreadsheet"
        ) from None
    first = text.lstrip().partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise CourseError(f"{path} is not a valid CSV file: {error}") from None
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if not rows:
        raise CourseError(f"{path} is empty: write the column names into its first line")
    head = [cell.strip() for cell in rows[0]]
    width = len(head)
    for number, row in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in row[width:]):
            raise CourseError(
                f"{path}, row {number} has {len(row)} cells, but only {width} have names"
            )
    padded = [(row + [""] * width)[:width] for row in rows[1:]]
    bom, identified = data.startswith(b"\xef\xbb\xbf"), worksheet_columns(head, padded)
    return CsvTable(head, padded, delimiter, bom, path, identified, _digest(data))


def worksheet_columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, int]:
    """Identify the columns of Moodle's grading worksheet, in any language.

    Returns {} for other tables. The columns are recognised by these properties:

    - The first cell of each row is a word and a number, such as ``Participant 17``.
    - The maximum grade is the same in all rows. The column before it contains the grade.
    - Titles of date columns end with parentheses.
    - The last column contains comments.
    """
    columns = [{row[number] for row in rows} for number in range(len(head))]
    words = {found and found[1] for found in map(MOODLE_PARTICIPANT.fullmatch, columns[0])}
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
    """Replace a decimal comma with a point."""
    return re.sub(r"^(-?\d+),(\d+)$", r"\1.\2", text.strip())


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file atomically. Symbolic links are followed."""
    with os_errors_as(CourseError, f"{str(path)!r} cannot be written"):
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, path.stat().st_mode if path.exists() else 0o644) as file:
            file.write(data)


class WrittenFiles:
    """Files written to a folder, with digests to detect manual edits.

    With `force`, edited files are replaced.
    """

    def __init__(self, folder: Path, *, force: bool) -> None:
        self.folder = folder
        self.force = force
        self.path = folder / ".written.json"
        try:
            self.digests = dict(json.loads(self.path.read_bytes())) if self.path.exists() else {}
        except ValueError:
            raise CourseError(
                f"{str(self.path)!r} is damaged: delete it, then use --force once"
            ) from None

    def refuse_changed(self, name: str) -> None:
        """Raise `CourseError` if a file was edited after it was written."""
        path = self.folder / name
        if self.force or not path.exists():
            return
        if self.digests.get(name) != _digest(path.read_bytes()):
            raise CourseError(
                f"{str(path)!r} was edited by hand and is not overwritten: move it away, or "
                "replace it with --force"
            )

    def write(self, name: str, data: bytes) -> Path:
        """Write a file, record its digest and return its path."""
        self.refuse_changed(name)
        replace_file(self.folder / name, data)
        self.digests[name] = _digest(data)
        replace_file(self.path, json.dumps(self.digests, indent=1).encode())
        return self.folder / name


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
