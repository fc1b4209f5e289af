"""Settings of a term in ``course.toml``: dates, lateness, attempts, and hidden results."""

from __future__ import annotations

import os
import re
import secrets
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import ceil
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta, Struct

from py2048.core.data import convert, read_toml
from py2048.core.errors import CourseError, did_you_mean, os_errors_as, unknown
from py2048.courses import course_names, get_course, write_new
from py2048.courses.term.tables import replace_file

DAY = timedelta(days=1)
Amount = Annotated[float, Meta(ge=0)]


class Late(Struct, frozen=True, forbid_unknown_fields=True):
    """Late policy: each started day costs a percentage of the earned marks."""

    percent_a_day: Annotated[float, Meta(ge=0, le=100)] = 10
    grace_minutes: Amount = 15
    cut_off_days: Amount = 7


class Assignment(Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of an assignment. ``tasks`` may select some of the course's tasks.

    By default, ``course`` is the term's course.
    """

    title: str
    due: datetime
    course: str = ""
    tasks: tuple[str, ...] = ()
    late: Late = Late()
    attempts: Literal["best", "last"] = "last"
    groups: bool = False
    rubric: dict[str, Amount] = {}
    hidden_tasks: tuple[str, ...] = ()
    hidden_until: datetime | None = None
    at: datetime | None = None
    canvas: str = ""

    def days_late(self, handed_in: datetime) -> int:
        """Return the number of days after the due date, rounded up, or 0 in the grace period."""
        over = handed_in.astimezone(UTC) - self.due.astimezone(UTC)
        return ceil(over / DAY) if over > timedelta(minutes=self.late.grace_minutes) else 0

    def kept_share(self, days_late: float) -> Fraction:
        """Return the fraction of the marks kept after `days_late` days: 0 after the cut-off."""
        if days_late > self.late.cut_off_days:
            return Fraction(0)
        lost = Fraction(str(self.late.percent_a_day)) * Fraction(str(days_late)) / 100
        return max(Fraction(0), 1 - lost)

    def hides(self, task: str, now: datetime) -> bool:
        """Return whether the result of a task is still hidden from students."""
        listed = task in self.hidden_tasks or "all" in self.hidden_tasks
        return listed and (self.hidden_until is None or now < self.hidden_until)


class TermSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of a term."""

    course: str
    title: str
    timezone: str
    secret: Annotated[str, Meta(min_length=16)]
    assignments: dict[str, Assignment]
    language: Literal["", "en", "pt"] = ""

    @property
    def zone(self) -> ZoneInfo:
        """Time zone of all dates."""
        return ZoneInfo(self.timezone)

    def assignment(self, name: str) -> Assignment:
        """Return an assignment by name. Errors suggest the closest match."""
        if name not in self.assignments:
            near = did_you_mean(name, self.assignments)
            raise CourseError(f"there is no assignment {name!r} in course.toml{near}")
        return self.assignments[name]


def read_settings(folder: Path) -> TermSettings:
    """Read and validate ``course.toml``.

    Raises:
        CourseError: If a setting is invalid. The error message says where the setting is and how to
            correct it.
    """
    path = folder / "course.toml"
    if not path.is_file():
        raise CourseError(f"{str(path)!r} is missing: create a term with py2048 course new-term")
    data = read_toml(path, CourseError)
    assignments = data.get("assignments")
    if isinstance(assignments, dict):
        for name, value in assignments.items():
            convert(value, Assignment, CourseError, path, f"assignments.{name}")
    settings = _resolved(convert(data, TermSettings, CourseError, path), path)
    _check(settings, path)
    return settings


def _check(settings: TermSettings, path: Path) -> None:
    """Check names, and references between settings. Type conversion does not check these."""
    if not settings.assignments:
        raise CourseError(f"{path} has no assignment: add one, such as [assignments.project]")
    for name, assignment in settings.assignments.items():
        if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise CourseError(f"{path}: assignments.{name}: use letters, digits, - and _ only")
        ids = {task.id for task in get_course(assignment.course).grading().tasks}
        for key, known in (("tasks", ids), ("hidden_tasks", ids | {"all"})):
            for id_ in getattr(assignment, key):
                if id_ not in known:
                    what = f"there is no task {unknown(id_, known)}"
                    raise CourseError(f"{path}: assignments.{name}.{key}: {what}")
        if taken := (ids | {"total", "late", "attempt"}) & assignment.rubric.keys():
            word = min(taken)
            raise CourseError(f"{path}: assignments.{name}.rubric.{word}: this name is reserved")


def _resolved(settings: TermSettings, path: Path) -> TermSettings:
    """Apply the time zone to dates, and resolve the paths of courses relative to the folder."""
    try:
        zone = settings.zone
    except (KeyError, ValueError, OSError):
        raise CourseError(
            f"{path}: timezone = {settings.timezone!r} is unknown: use a name such as "
            "Europe/Lisbon (if no name is known, pip install tzdata)"
        ) from None

    def localized(date: datetime | None) -> Any:
        return date.replace(tzinfo=zone) if date and date.tzinfo is None else date

    def resolved(course: str) -> str:
        folder = path.parent / course
        is_path = course and course not in course_names() and folder.is_dir()
        return str(folder) if is_path else course

    return msgspec.structs.replace(
        settings,
        course=resolved(settings.course),
        assignments={
            name: msgspec.structs.replace(
                each,
                course=resolved(each.course or settings.course),
                due=localized(each.due),
                hidden_until=localized(each.hidden_until),
                at=localized(each.at),
            )
            for name, each in settings.assignments.items()
        },
    )


def set_at(folder: Path, name: str, at: datetime) -> None:
    """In ``course.toml``, set the date after which an assignment's commits do not count."""
    path = folder / "course.toml"
    head, found, rest = path.read_text("utf-8").partition(f"[assignments.{name}]\n")
    if not found:
        raise CourseError(
            f"{path} has no line [assignments.{name}]: set at = {at.isoformat()} there"
        )
    section, bracket, others = rest.partition("\n[")
    section = re.sub(r"^at = .*\n", "", section, flags=re.MULTILINE)
    text = f"{head}{found}at = {at.isoformat()}\n{section}{bracket}{others}"
    replace_file(path, text.encode())


# --- a new term ---

MANUAL_COLUMNS = ("assignment", "id", "item", "marks", "comment")


def local_zone() -> str:
    """Return the name of the machine's time zone, or UTC if it is unknown."""
    _, found, name = str(Path("/etc/localtime").resolve()).partition("zoneinfo/")
    return name if found else "UTC"


def new_term(folder: Path, course: str, now: datetime) -> list[Path]:
    """Create a term's folder, and return the files that the teacher should fill in.

    Raises:
        CourseError: If the course is unknown, or any of the files already exists.
    """
    found = get_course(course)
    if course not in course_names():
        course = Path(os.path.relpath(found.folder, folder.resolve())).as_posix()
    words = {
        "course": course,
        "title": found.title,
        "zone": local_zone(),
        "secret": secrets.token_urlsafe(24),
        "due": (now + 28 * DAY).strftime("%Y-%m-%dT23:59:00"),
        "until": (now + 42 * DAY).strftime("%Y-%m-%dT12:00:00"),
        "rubric": "{ readability = 5, style = 1 }" if course == "ist" else "{}",
        "courses": ", ".join([*course_names(), "or a path from here"]),
    }
    toml = Template(Path(__file__).with_name("course.toml").read_text("utf-8"))
    texts = {
        "course.toml": toml.substitute(words),
        "roster.csv": "id,name,email,section\n",
        "manual.csv": ",".join(MANUAL_COLUMNS) + "\n",
    }
    files = {name: text.encode() for name, text in texts.items()}
    written = write_new(folder, files, "the term")
    with os_errors_as(CourseError, f"{str(folder)!r} cannot be written"):
        (folder / "submissions" / "project").mkdir(parents=True, exist_ok=True)
        (folder / "results").mkdir(exist_ok=True)
    return written
