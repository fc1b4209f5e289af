"""Find an assignment's hand-ins, with their owners, times and attempt numbers.

An assignment's folder may contain, for each student, a folder, ZIP or file named by id, email or
login, or a folder of numbered attempts. Downloads from Moodle, Canvas and Gradescope also work,
unpacked or not, together with the platform's own table of students and submission times. Students
can put any name or date into their files, so only metadata written by the platform is trusted.
"""

from __future__ import annotations

import json
import math
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from py2048.core.errors import CourseError
from py2048.courses.grading.grader import digest_of
from py2048.courses.grading.submissions import (
    CANVAS,
    MOODLE,
    BadArchive,
    Collector,
    Submission,
    files_of,
    is_ignored,
    unpack,
)
from py2048.courses.grading.tasks import Grading, printable
from py2048.courses.term.roster import Roster, Student, name_key
from py2048.courses.term.settings import Assignment
from py2048.courses.term.tables import CsvTable, read_table

ATTEMPT = re.compile(
    r"(?i)(?:attempt|submission|try|version|v)?[ _-]*\d[\d :T_.-]*(?:\.zip|\.py)?$"
)
METADATA = "submission_metadata.yml"
AUTOGRADER = "submission_metadata.json"  # next to the folder "submission"
TIME_COLUMNS = ("last modified (submission)", "datetime", "submitted", "submitted at", "time")
DAY = r"(?P<day>\d{1,2})[./]?\s*(?:de )?(?P<month>\d{1,2}|[^\W\d]+)[./]?\s*(?:de )?(?P<year>\d{4})"
DATE = re.compile(
    rf"{DAY}\D+(?P<hour>\d{{1,2}})[:h](?P<minute>\d\d)\s*(?:(?P<half>[AaPp])\.?[Mm])?"
)
MONTHS = (
    ("jan", "jän", "ene"), ("feb", "fev", "fév"), ("mar", "mär"), ("apr", "abr", "avr"),
    ("may", "mai"), ("jun", "juin"), ("jul", "juil"), ("aug", "ago", "aoû"),
    ("sep", "set"), ("oct", "okt", "out"), ("nov",), ("dec", "dez", "dic", "déc"),
)  # fmt: skip
"""Month name prefixes in English, German, Portuguese, Spanish and French."""


@dataclass(frozen=True)
class HandIn:
    """A hand-in of one student or group.

    Attributes:
        entry: Name of the file or folder.
        owners: Students whose work it is; empty if no student was recognised.
        when: Submission time.
        time_source: Description of where the time comes from.
        submission: The files to grade.
        attempt: Number of the attempt, counted from 1 by time.
        digest: Digest of the contents, used to drop duplicates.
    """

    entry: str
    owners: tuple[Student, ...]
    when: datetime
    time_source: str
    submission: Submission
    attempt: int = 1
    digest: str = ""

    @property
    def name(self) -> str:
        """Name in reports."""
        who = "+".join(student.id for student in self.owners) or self.entry
        return f"{who} attempt {self.attempt}"


@dataclass
class _Entry:
    """Files of a hand-in that have been found but not read yet."""

    name: str
    keys: list[str]
    paths: list[Path] = field(default_factory=list)
    owners: set[Student] = field(default_factory=set)
    when: datetime | None = None
    time_source: str = ""
    platform: bool = False


class Finder:
    """Finds the hand-ins of an assignment; archives are unpacked into `scratch`."""

    def __init__(
        self,
        name: str,
        assignment: Assignment,
        roster: Roster,
        grading: Grading,
        zone: ZoneInfo,
        scratch: Path,
    ) -> None:
        self.assignment = assignment
        self.prefix = f"{name.lower()}-"
        self.roster = roster
        self.collector = Collector(grading, scratch / "read")
        self.zone = zone
        self.scratch = scratch
        self.unpacked = 0

    def find(self, folder: Path) -> list[HandIn]:
        """Return all hand-ins in a folder, with attempts numbered by time."""
        if not folder.is_dir():
            raise CourseError(f"{str(folder)!r} is missing: put the hand-ins there")
        found: dict[tuple[Student, ...], list[HandIn]] = defaultdict(list)
        for entry in self._entries(folder, 0, {}):
            for hand_in in self._read(entry):
                key = hand_in.owners
                same = [other for other in found[key] if key and other.digest == hand_in.digest]
                found[key] += [] if same else [hand_in]
        counted = []
        names: dict[str, int] = defaultdict(int)
        for owners, hand_ins in found.items():
            hand_ins.sort(key=lambda one: one.when)
            for number, one in enumerate(hand_ins, 1):
                hand_in = replace(one, attempt=number if owners else 1)
                names[hand_in.name] += 1
                again = f" ({names[hand_in.name]})" if names[hand_in.name] > 1 else ""
                submission = replace(one.submission, name=hand_in.name + again)
                counted.append(replace(hand_in, submission=submission))
        return counted

    def _entries(self, folder: Path, depth: int, times: dict[str, datetime]) -> Iterator[_Entry]:
        """Yield a folder's entries, one per student; descend into folders and ZIPs of a class."""
        paths = [path for path in sorted(folder.iterdir()) if not is_ignored(path)]
        tables = [read_table(path) for path in paths if path.suffix.lower() == ".csv"]
        times = times | self._learn(tables)
        gradescope = _read_metadata(folder / METADATA)
        if autograder := read_autograder(folder / AUTOGRADER):
            gradescope["submission"] = autograder.emails, autograder.created.isoformat()
        entries: dict[str, _Entry] = {}
        for path in paths:
            if path.suffix.lower() in {".csv", ".yml"} or path.name == AUTOGRADER:
                continue
            entry = self._entry(path, gradescope)
            if not (entry.owners or entry.platform) and depth < 3 and self._is_class(path):
                yield from self._entries(self._folder(path), depth + 1, times)
                continue
            if known := [times[one.id] for one in entry.owners if one.id in times]:
                entry.when = entry.when or max(known)
                entry.time_source = entry.time_source or "the table next to the hand-ins"
            first = entries.setdefault(entry.name, entry)
            first.paths.append(path)
        yield from entries.values()

    def _folder(self, path: Path) -> Path:
        """Return the folder itself, or a ZIP unpacked into a new folder."""
        if path.is_dir():
            return path
        self.unpacked += 1
        folder = self.scratch / f"class-{self.unpacked}"
        try:
            unpack(path, folder)
        except BadArchive as error:
            raise CourseError(str(error)) from None
        return folder

    def _is_class(self, path: Path) -> bool:
        """Return whether a folder or ZIP matches no student but contains students' hand-ins."""
        inside = _names_in(path)
        marked = any(MOODLE.match(name) or CANVAS.match(name) for name in inside)
        marked = marked or METADATA in inside or {AUTOGRADER, "submission"} <= inside
        return marked or any(self._of_name(n).owners for n in inside)

    def _learn(self, tables: Sequence[CsvTable]) -> dict[str, datetime]:
        """Learn student numbers from tables; return each student's last submission time."""
        times: dict[str, datetime] = {}
        for table in tables:
            self.roster.learn(table)
            for row in table.rows:
                student = self.roster.of_row(table, row)
                when = _date(table.cell(row, *TIME_COLUMNS), self.zone)
                if student and when:
                    times[student.id] = max(when, times.get(student.id, when))
        return times

    def _entry(self, path: Path, gradescope: dict[str, tuple[list[str], str]]) -> _Entry:
        """Identify the owners of a file or folder by its name."""
        name = path.name
        if found := MOODLE.match(name):
            keys = [f"moodle:{found['id']}", f"name:{name_key(found['name'])}"]
            ends = [found["name"][dash.end() :] for dash in re.finditer("-", found["name"])]
            keys += [f"name:{name_key(end)}" for end in ends]  # Moodle puts group names first
            return self._platform_entry(_Entry(found["who"], keys))
        if found := CANVAS.match(name):
            keys = [f"canvas:{found['id']}", f"name:{name_key(found['name'])}"]
            return self._platform_entry(_Entry(found["who"], keys))
        if name in gradescope:
            keys, text = gradescope[name]
            when = _date(text, self.zone)
            entry = _Entry(name, keys, when=when, time_source="Gradescope", platform=True)
            entry.owners = {s for key in keys if (s := self.roster.find(key))}
            return self._with_group(entry)
        return self._of_name(name if path.is_dir() else re.sub(r"(\.py\.txt|\.\w+)$", "", name))

    def _of_name(self, stem: str) -> _Entry:
        """Identify the owners of a file or folder that a person named."""
        plain = stem.lower().removeprefix(self.prefix)
        ends = [stem[found.end() :] for found in re.finditer("-", stem)]
        whole = [stem, plain, f"name:{name_key(stem)}", *ends]
        if student := self.roster.find(*whole):
            return self._with_group(_Entry(student.id, whole, owners={student}))
        entry = _Entry(stem, whole, owners=set(self.roster.group(stem)))
        if not entry.owners:
            words = re.split(r"[\s,;+&()\[\]]+|_(?=\d)|(?<=\d)_", stem)
            entry.owners = {s for word in words if (s := self.roster.find(word))}
        if not self.assignment.groups and len(entry.owners) > 1:
            entry.owners = set()  # the teacher has to decide
        return self._with_group(entry)

    def _platform_entry(self, entry: _Entry) -> _Entry:
        student = self.roster.find(*entry.keys)
        entry.platform = True
        entry.owners = {student} if student else set()
        return self._with_group(entry)

    def _with_group(self, entry: _Entry) -> _Entry:
        """Add the other members of the owners' groups, if the assignment is for groups."""
        if self.assignment.groups:
            for student in list(entry.owners):
                entry.owners |= self.roster.group(student.group)
        return entry

    def _read(self, entry: _Entry) -> Iterator[HandIn]:
        """Yield the attempts in an entry."""
        attempts = [entry.paths]
        if not entry.platform and len(entry.paths) == 1 and entry.paths[0].is_dir():
            inside = [path for path in sorted(entry.paths[0].iterdir()) if not is_ignored(path)]
            if len(inside) > 1 and all(ATTEMPT.match(path.name) for path in inside):
                attempts = [[path] for path in inside]
        for number, paths in enumerate(attempts, 1):
            name = printable(entry.name) + (f" ({number})" if len(attempts) > 1 else "")
            submission = self.collector.merge(name, paths)
            when, time_source = self._when(entry, paths)
            if entry.when and len(attempts) == 1:
                when, time_source = entry.when.astimezone(self.zone), entry.time_source
            owners = tuple(sorted(entry.owners))
            digest = (submission.files and digest_of(submission).hex()) or entry.name
            yield HandIn(name, owners, when, time_source, submission, digest=digest)

    def _when(self, entry: _Entry, paths: Sequence[Path]) -> tuple[datetime, str]:
        """Return a hand-in's submission time and a description of its source."""
        files = [f for path in paths for f in (files_of(path) if path.is_dir() else [path])]
        stamps = [path.stat().st_mtime for path in files or paths]
        when = datetime.fromtimestamp(max(stamps), self.zone)
        if CANVAS.match(paths[0].name) and "_LATE_" not in entry.name:
            return min(when, self.assignment.due), "Canvas, which does not mark it as late"
        return when, "the date of its files"


def _names_in(path: Path) -> set[str]:
    """Return a folder's or ZIP's top-level names, below a single wrapping folder."""
    try:
        if path.is_dir():
            parts = [p.relative_to(path).parts for p in path.rglob("*") if not is_ignored(p)]
        elif path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as opened:
                names = [name.replace("\\", "/").strip("/") for name in opened.namelist()]
            parts = [tuple(name.split("/")) for name in names if "__MACOSX" not in name]
        else:
            return set()
    except (OSError, ValueError, zipfile.BadZipFile):
        return set()
    if len({part[0] for part in parts}) == 1:
        parts = [part[1:] for part in parts if part[1:]]
    return {part[0] for part in parts}


def _date(text: str, zone: ZoneInfo) -> datetime | None:
    """Parse a date in any platform's format; return None if that fails."""
    text = " ".join(text.split()).replace(" UTC", "Z").replace(" Z", "Z")
    text = re.sub(r"(\.\d{6})\d+", r"\1", text)
    found = None
    with suppress(ValueError):
        found = datetime.fromisoformat(text)
    if found is None and (match := DATE.search(text)):
        with suppress(ValueError):
            found = _matched_date(match)
    if found is None:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)


def _matched_date(date: re.Match[str]) -> datetime:
    """Convert a matched date (day first or with a month name); raise `ValueError` if invalid."""
    month, hour = date["month"].lower(), int(date["hour"])
    named = [number for number, begins in enumerate(MONTHS, 1) if month.startswith(begins)]
    if date["half"]:
        hour = hour % 12 + 12 * (date["half"] in "Pp")
    year, day, minute = map(int, (date["year"], date["day"], date["minute"]))
    return datetime(year, named[0] if named else int(month), day, hour, minute)


@dataclass(frozen=True)
class Autograder:
    """Metadata that Gradescope passes to an autograder."""

    emails: list[str]
    created: datetime
    due: datetime

    @property
    def days_late(self) -> int:
        """Days after the due date, rounded up; no grace period applies."""
        return max(0, math.ceil((self.created - self.due) / timedelta(days=1)))


def read_autograder(path: Path) -> Autograder | None:
    """Read Gradescope's ``submission_metadata.json``; return None if missing or invalid.

    The due date is the student's own, which includes any extension.
    """
    try:
        data = json.loads(path.read_bytes())
        users = data["users"]
        dues = [(user.get("assignment") or data["assignment"])["due_date"] for user in users]
        due = max(map(datetime.fromisoformat, dues or [data["assignment"]["due_date"]]))
        emails = [user["email"] for user in users]
        return Autograder(emails, datetime.fromisoformat(data["created_at"]), due)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _read_metadata(path: Path) -> dict[str, tuple[list[str], str]]:
    """Return the submitters and submission time of each folder in a Gradescope export.

    Only lines with Gradescope's own indentation are read, because text written by students is
    indented further.
    """
    if not path.is_file():
        return {}
    text = path.read_text("utf-8", errors="replace")
    found = {}
    for part in re.split(r"^(?=\S+:\s*$)", text, flags=re.MULTILINE):
        name = part.partition(":")[0].strip()
        people = re.search(r"^  :submitters:\n((?:  (?:- |  ).*\n?)*)", part, re.MULTILINE)
        when = re.search(r"^  :created_at: (.+)$", part, re.MULTILINE)
        if people:
            listed = re.findall(r"^  (?:- |  ):(?:sid|email): (.+)$", people[1], re.MULTILINE)
            keys = [key.strip().strip("'\"") for key in listed]
            found[name] = (keys, when[1].strip().strip("'\"") if when else "")
    return found
