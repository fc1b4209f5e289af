"""Find the hand-ins of an assignment, with their owners, times and attempt numbers.

An assignment's folder contains one entry per student: a file, a ZIP, a folder, or a folder of
numbered attempts, named by the student's id, email or login. Downloads from Moodle, Canvas and
Gradescope also work, packed or unpacked. The platform's table of students and submission times can
be placed next to them.

Students can put any name or date into their files, so only metadata written by the platform and the
commit dates of cloned repositories are trusted. An untrusted date never makes a hand-in late.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from py2048.core.errors import CourseError, os_errors_as
from py2048.courses.grading.grader import digest_of
from py2048.courses.grading.submissions import (
    CANVAS,
    MOODLE,
    Collector,
    Submission,
    files_of,
    is_ignored,
    with_unique_names,
)
from py2048.courses.grading.tasks import printable
from py2048.courses.term.manual import Term
from py2048.courses.term.roster import Student, name_key
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
"""First letters of month names in English, German, Portuguese, Spanish and French."""


@dataclass(frozen=True)
class HandIn:
    """The work that a student or group handed in.

    Attributes:
        entry: Name of the file or folder.
        owners: The students who handed in the work. Empty if no student was recognised.
        when: Submission time.
        time_source: Description of where the time comes from.
        is_vouched: Whether the submission time is trusted. An untrusted time costs no marks.
        submission: The files to grade.
        digest: Digest of the contents, which identifies duplicates.
    """

    entry: str
    owners: tuple[Student, ...]
    when: datetime
    time_source: str
    submission: Submission
    digest: str
    is_vouched: bool

    def days_late(self, assignment: Assignment) -> int:
        """Return the number of days late, or 0 if the submission time is not trusted."""
        return assignment.days_late(self.when) if self.is_vouched else 0

    def is_undated(self, assignment: Assignment) -> bool:
        """Return whether the hand-in has a late submission time that is not trusted."""
        return not self.is_vouched and assignment.days_late(self.when) > 0


@dataclass
class _Entry:
    """A hand-in whose files have been located but not read yet."""

    name: str
    paths: list[Path] = field(default_factory=list)
    owners: set[Student] = field(default_factory=set)
    when: datetime | None = None
    time_source: str = ""
    platform: bool = False


class Finder:
    """Finds the submissions for the assignment `name`, and unpacks archives into `scratch`."""

    def __init__(self, term: Term, name: str, scratch: Path) -> None:
        self.term = term
        self.name = name
        self.scratch = scratch
        self.roster, self.zone = term.roster, term.settings.zone
        self.assignment = term.settings.assignment(name)
        self.collector = Collector(term.grading(self.assignment), scratch)
        self.assigned = term.assigned(name)

    def find(self) -> list[HandIn]:
        """Return all hand-ins, with each student's attempts numbered chronologically."""
        folder = self.term.hand_ins(self.name)
        if not folder.is_dir():
            raise CourseError(f"{str(folder)!r} is missing: put the hand-ins there")
        found: dict[tuple[Student, ...], list[HandIn]] = defaultdict(list)
        for entry in self._entries(folder, 0, {}):
            for hand_in in self._read(entry):
                key = hand_in.owners
                same = [other for other in found[key] if key and other.digest == hand_in.digest]
                found[key] += [] if same else [hand_in]
        named = []
        for owners, hand_ins in found.items():
            hand_ins.sort(key=lambda one: one.when)
            for number, one in enumerate(hand_ins, 1):
                who = "+".join(student.id for student in owners) or one.entry
                named.append((f"{who} attempt {number if owners else 1}", one))
        submissions = with_unique_names((name, one.submission) for name, one in named)
        return [replace(h, submission=s) for (_, h), s in zip(named, submissions, strict=True)]

    def _entries(self, folder: Path, depth: int, times: dict[str, datetime]) -> Iterator[_Entry]:
        """Yield the entries of a folder, one per student.

        The search descends into folders that contain a whole class.
        """
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
                below = path if path.is_dir() else self.collector.unpack(path)
                yield from self._entries(below, depth + 1, times)
                continue
            if student := self.assigned.get(printable(entry.name)):
                entry.owners = {student}
            if self.assignment.groups:
                groups = [self.roster.group(student.group) for student in entry.owners]
                entry.owners = entry.owners.union(*groups)
            if known := [times[one.id] for one in entry.owners if one.id in times]:
                entry.when = entry.when or max(known)
                entry.time_source = entry.time_source or "the table next to the hand-ins"
            first = entries.setdefault(entry.name, entry)
            first.paths.append(path)
        yield from entries.values()

    def _is_unpacked(self, path: Path) -> bool:
        return path.is_relative_to(self.scratch)

    def _is_class(self, path: Path) -> bool:
        """Return whether the names in a folder or ZIP show that it contains students' hand-ins."""
        inside = _names_in(path)
        marked = any(MOODLE.match(name) or CANVAS.match(name) for name in inside)
        marked = marked or METADATA in inside or {AUTOGRADER, "submission"} <= inside
        return marked or any(self._of_name(n).owners for n in inside)

    def _learn(self, tables: Sequence[CsvTable]) -> dict[str, datetime]:
        """Learn student numbers from tables. Return the time of each student's last submission."""
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
        for platform, pattern in (("moodle", MOODLE), ("canvas", CANVAS)):
            if found := pattern.match(name):
                ends = [found["name"][dash.end() :] for dash in re.finditer("-", found["name"])]
                names = [found["name"], *ends]  # Moodle puts group names first
                keys = [f"{platform}:{found['id']}", *(f"name:{name_key(n)}" for n in names)]
                student = self.roster.find(*keys)
                return _Entry(found["who"], owners={student} if student else set(), platform=True)
        if name in gradescope:
            keys, text = gradescope[name]
            when = _date(text, self.zone)
            owners = {s for key in keys if (s := self.roster.find(key))}
            return _Entry(name, [], owners, when, "Gradescope", platform=True)
        return self._of_name(name if path.is_dir() else re.sub(r"(\.py\.txt|\.\w+)$", "", name))

    def _of_name(self, stem: str) -> _Entry:
        """Find the owners of a file or folder whose name was chosen by a person."""
        plain = stem.lower().removeprefix(f"{self.name.lower()}-")
        ends = [stem[found.end() :] for found in re.finditer("-", stem)]
        whole = [stem, plain, f"name:{name_key(stem)}", *ends]
        if student := self.roster.find(*whole):
            return _Entry(student.id, owners={student})
        entry = _Entry(stem, owners=set(self.roster.group(stem)))
        if not entry.owners:
            words = re.split(r"[\s,;+&()\[\]]+|_(?=\d)|(?<=\d)_", stem)
            entry.owners = {s for word in words if (s := self.roster.find(word))}
        if not self.assignment.groups and len(entry.owners) > 1:
            entry.owners = set()  # the teacher has to decide
        return entry

    def _read(self, entry: _Entry) -> Iterator[HandIn]:
        """Yield the attempts in an entry."""
        attempts = [entry.paths]
        if not entry.platform and len(entry.paths) == 1 and entry.paths[0].is_dir():
            inside = [path for path in sorted(entry.paths[0].iterdir()) if not is_ignored(path)]
            if len(inside) > 1 and all(ATTEMPT.match(path.name) for path in inside):
                attempts = [[path] for path in inside]
        name = printable(entry.name)
        for paths in attempts:
            when, time_source, is_vouched = self._when(entry, paths)
            read = paths
            if not self._is_unpacked(paths[0]) and (paths[0] / ".git").exists():
                if (commit := self._commit(paths[0])) is None:
                    continue
                archive, when, time_source = commit
                read, is_vouched = [archive], True
            if entry.when and len(attempts) == 1:
                when, time_source = entry.when.astimezone(self.zone), entry.time_source
                is_vouched = True
            submission = self.collector.merge(name, read)
            owners = tuple(sorted(entry.owners))
            digest = (submission.files and digest_of(submission).hex()) or entry.name
            yield HandIn(name, owners, when, time_source, submission, digest, is_vouched)

    def _when(self, entry: _Entry, paths: Sequence[Path]) -> tuple[datetime, str, bool]:
        """Return a hand-in's submission time, its source, and whether this source is trusted."""
        files = [f for path in paths for f in (files_of(path) if path.is_dir() else [path])]
        stamps = [path.stat().st_mtime for path in files or paths]
        when = datetime.fromtimestamp(max(stamps), self.zone)
        if CANVAS.match(paths[0].name) and "_LATE_" not in entry.name:
            return min(when, self.assignment.due), "Canvas, which does not mark it as late", True
        if self._is_unpacked(paths[0]):
            return when, "the archive's entry", True
        return when, "the date of its files", False

    def _commit(self, clone: Path) -> tuple[Path, datetime, str] | None:
        """Return a repository's last commit as (ZIP, date, name), or None.

        The files are read from a fresh clone, because the settings of a student's repository can
        name programs for Git to run.
        """
        bare = self.collector.new_folder()
        _git("clone", "--quiet", "--bare", "--no-local", clone.resolve(), bare)
        at = self.assignment.at
        until = [f"--before={at.isoformat()}"] if at else []
        found: list[str] = []
        with suppress(CourseError):  # there is no commit at all
            found = _git("-C", bare, "rev-list", "-1", "--format=%H %cI", *until, "HEAD").split()
        if not found:
            return None
        commit, date = found[-2:]
        archive = bare.with_suffix(".zip")
        _git("-C", bare, "archive", "--format=zip", f"--output={archive.resolve()}", commit)
        return archive, datetime.fromisoformat(date).astimezone(self.zone), f"commit {commit[:7]}"


def _git(*words: object) -> str:
    """Run Git and return its output; raise `CourseError` if it fails."""
    command = ["git", *map(str, words)]
    with os_errors_as(CourseError, "repositories need Git, which cannot be run"):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = done.stderr.strip().rpartition("\n")[2]
        raise CourseError(f"a repository cannot be read: {reason}")
    return done.stdout


def _names_in(path: Path) -> set[str]:
    """Return the top-level names in a folder or ZIP. A single enclosing folder is ignored."""
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
    """Parse a date in the format of any platform, and return None if that fails."""
    text = " ".join(text.split()).replace(" UTC", "Z").replace(" Z", "Z")
    text = re.sub(r"(\.\d{6})\d+", r"\1", text)
    for read in (datetime.fromisoformat, _worded_date):
        with suppress(ValueError):
            found = read(text)
            return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)
    return None


def _worded_date(text: str) -> datetime:
    """Parse a date that contains a month's name, or begins with the day.

    Raises `ValueError` if there is no such date in the text.
    """
    date = DATE.search(text)
    if date is None:
        raise ValueError("no date")
    month, hour = date["month"].lower(), int(date["hour"])
    named = [number for number, begins in enumerate(MONTHS, 1) if month.startswith(begins)]
    if date["half"]:
        hour = hour % 12 + 12 * (date["half"] in "Pp")
    year, day, minute = map(int, (date["year"], date["day"], date["minute"]))
    return datetime(year, named[0] if named else int(month), day, hour, minute)


@dataclass(frozen=True)
class Autograder:
    """The metadata that Gradescope passes to an autograder.

    `days_late` is the number of days after the due date, rounded up, without a grace period.
    """

    emails: list[str]
    created: datetime
    days_late: int


def read_autograder(path: Path) -> Autograder | None:
    """Read Gradescope's ``submission_metadata.json``, or return None if missing or invalid.

    The due date is the student's own date, including any extension.
    """
    try:
        data = json.loads(path.read_bytes())
        users = data["users"]
        dues = [(user.get("assignment") or data["assignment"])["due_date"] for user in users]
        due = max(map(datetime.fromisoformat, dues or [data["assignment"]["due_date"]]))
        created = datetime.fromisoformat(data["created_at"])
        days_late = max(0, math.ceil((created - due) / timedelta(days=1)))
        return Autograder([user["email"] for user in users], created, days_late)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _read_metadata(path: Path) -> dict[str, tuple[list[str], str]]:
    """Return the submitters and the submission time for each folder of a Gradescope export.

    Text written by students is indented more than Gradescope's own fields, so it is ignored.
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
