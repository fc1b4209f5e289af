"""Export marks to students' pages and to learning platforms.

A platform gets marks in its own format and with its student ids. Pages are self-contained HTML.
`autograder` builds the files that run py2048 on a platform.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from py2048 import __version__
from py2048.core.errors import CourseError, os_errors_as
from py2048.core.language import ENGLISH, _, use_language
from py2048.courses import course_names
from py2048.courses.grading.report import RunInfo, csv_text, file_names, no_formula, number, render
from py2048.courses.term.handins import AUTOGRADER, read_autograder
from py2048.courses.term.manual import Term
from py2048.courses.term.marks import Mark
from py2048.courses.term.roster import Roster
from py2048.courses.term.settings import MANUAL_COLUMNS
from py2048.courses.term.tables import CsvTable, number_of, read_table, replace_file

Export = tuple[dict[str, bytes], tuple[str, ...]]
"""The exported files by name, and a list of the students missing from the platform's table."""


def feedback(mark: Mark) -> str:
    """Summarise a mark as text: comments, problems, marks lost in each task, and lateness."""
    failed = [task for task in mark.tasks if task.status == "failed"]
    lost = ", ".join(f"task {t.id}: {number(t.earned)} / {number(t.marks)}" for t in failed)
    late = f"{number(mark.days_late)} days late" if mark.days_late else ""
    reason = mark.report.reason if mark.report else ""
    lines = [f"{line}: {text}" for line, text in mark.manual.lines.items()]
    return no_formula(". ".join(filter(None, [*mark.manual.comments, *lines, reason, lost, late])))


def scaled(mark: Mark, most: str) -> str:
    """Scale total marks to the platform's maximum `most`, written with its decimal separator."""
    total = mark.total if mark.total is not None else Fraction(0)
    try:
        whole = Fraction(number_of(most))
    except (ValueError, ZeroDivisionError):
        whole = mark.possible
    value = total * whole / mark.possible if mark.possible else total
    text = f"{float(value):.2f}".rstrip("0").rstrip(".")
    return text.replace(".", ",") if "," in most else text


def _matched(
    table: CsvTable, roster: Roster, marks: Sequence[Mark]
) -> tuple[list[tuple[list[str], Mark]], tuple[str, ...]]:
    """Match marks to table rows; return the pairs, and the students without a row."""
    left = {m.student.id: m for m in marks if m.student and m.total is not None}
    rows = [(row, roster.of_row(table, row)) for row in table.rows]
    found = [(row, left.pop(student.id)) for row, student in rows if student and student.id in left]
    return found, tuple(mark.name for mark in left.values())


def to_moodle(term: Term, name: str, marks: Sequence[Mark], template: Path | None) -> Export:
    """Copy the marks and comments into Moodle's grading worksheet."""
    if template is None:
        found = sorted(term.hand_ins(name).glob("*.csv"))
        sheets = [path for path in found if read_table(path).column("identifier") is not None]
        if not sheets:
            raise CourseError(
                "Moodle's grading worksheet is missing: download it from Moodle, and pass it with "
                "--template FILE"
            )
        template = sheets[0]
    table = read_table(template)
    table.required("identifier")
    grade, words = table.required("grade"), table.column("feedback comments")
    term.roster.learn(table)

    matched, missing = _matched(table, term.roster, marks)
    for row, mark in matched:
        row[grade] = scaled(mark, table.cell(row, "maximum grade"))
        if words is not None:
            row[words] = feedback(mark)
    return {f"{name}-moodle.csv": table.to_bytes()}, missing


def to_canvas(term: Term, name: str, marks: Sequence[Mark], template: Path | None) -> Export:
    """Copy the marks into Canvas's gradebook. Drop the columns of other assignments."""
    names = ["Student", "LastName", "FirstName"]  # Canvas writes one column or two
    heads = [*names, "ID", "SIS User ID", "SIS Login ID", "Section"]
    title = term.settings.assignments[name].canvas or term.settings.assignments[name].title
    if template is None:
        raise CourseError("Canvas's gradebook is missing: export it and pass it as --template FILE")
    table = read_table(template)
    place = _canvas_column(table, title, name)
    possible = next((row[place] for row in table.rows if "Points Possible" in row[0]), "")

    matched, missing = _matched(table, term.roster, marks)
    for row, mark in matched:
        row[place] = scaled(mark, possible)
    kept = [number for number, head in enumerate(table.head) if head in heads]
    kept.append(place)
    table.head = [table.head[number] for number in kept]
    table.rows = [[row[number] for number in kept] for row in table.rows]
    return {f"{name}-canvas.csv": table.to_bytes()}, missing


def _canvas_column(table: CsvTable, title: str, name: str) -> int:
    """Return the index of an assignment's column. Canvas may append an id to the column's title."""
    plain = [re.sub(r"\s*\(\d+\)$", "", head).strip().lower() for head in table.head]
    for wanted in (title.lower(), re.sub(r"\s*\(\d+\)$", "", title).lower(), name.lower()):
        places = [number for number, head in enumerate(plain) if head == wanted]
        exact = [number for number in places if table.head[number].lower() == title.lower()]
        if len(exact or places) == 1:
            return (exact or places)[0]
    listed = ", ".join(head for head in table.head if re.search(r"\(\d+\)$", head)) or "none"
    raise CourseError(
        f"{table.path} has no column {title!r}, or several: set assignments.{name}.canvas in "
        f"course.toml to one of {listed}"
    )


def gradescope_results(mark: Mark, run: RunInfo) -> bytes:
    """Return Gradescope's ``results.json`` for a mark, with lateness and hidden results.

    The fields follow the output format in Gradescope's "Autograder Specifications".

    Raises:
        CourseError: If there is no mark.
    """
    report, now = mark.report, datetime.now(UTC)
    if report is None or mark.total is None:
        raise CourseError(f"there are no marks: {mark.problem}")  # Gradescope reports the failure
    hidden = {task.id for task in mark.tasks if mark.assignment.hides(task.id, now)}
    with use_language(report.language):
        lines = [*(report.summary or [_("Graded.")]), *run.missing, feedback(mark)]
    tests = [
        {
            "score": number(task.earned),
            "max_score": number(task.marks),
            "status": task.status,
            "name": task.title,
            "number": task.id,
            "output": f"{task.asked}\n\n{lines[0]}" if report.problem else task.text,
            "visibility": "after_published" if task.id in hidden else "visible",
        }
        for task in mark.tasks
    ]
    data = {
        "score": number(mark.total),
        "execution_time": round(report.seconds),
        "output": "\n".join(lines),
        **dict.fromkeys(("output_format", "test_output_format", "test_name_format"), "text"),
        "visibility": "after_published" if hidden else "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {
            "course": run.course,
            "grader": run.grader,
            "protection": run.protection.name,
            "submission": report.name,
            "days_late": number(mark.days_late),
        },
    }
    return _json(data)


def to_classroom50(term: Term, name: str, marks: Sequence[Mark]) -> Export:
    """Return a ``result.json`` per student for Classroom 50.

    Classroom 50 accepts only whole marks, so fractional marks are exported in hundredths. Hidden
    tasks are left out.
    """
    now = datetime.now(UTC)
    files = {}
    for mark in marks:
        if mark.student and mark.hand_in and mark.report and mark.total is not None:
            tasks = [task for task in mark.tasks if not mark.assignment.hides(task.id, now)]
            rows = [(f"{t.id}: {t.title}", t.earned * mark.kept_share, t.marks) for t in tasks]
            for item, most in mark.assignment.rubric.items():
                given = mark.manual.items.get(item, Fraction(0)) * mark.kept_share
                rows.append((item, given, Fraction(str(most))))
            if "total" in mark.manual.items and len(tasks) == len(mark.tasks):
                rows = [("marked by hand", mark.total, max(mark.total, mark.possible))]
            whole = all(value.denominator == 1 for _, *values in rows for value in values)
            tests = [
                {
                    "test-name": title,
                    "passed": earned == most,
                    "score": round(earned * (1 if whole else 100)),
                    "max-score": round(most * (1 if whole else 100)),
                }
                for title, earned, most in rows
            ]
            owner = mark.student.login or mark.student.id
            place = re.sub(r"[^\w.@+-]+", "-", owner).strip(".") or "-"
            when = mark.hand_in.when.astimezone(UTC)
            tag = f"submit/manual-{when:%Y-%m-%dT%H-%M-%SZ}"
            data = {
                "schema": "classroom50/result/v1",
                "classroom": term.settings.course,
                "assignment": name,
                "assignment_type": "group" if mark.assignment.groups else "individual",
                "owner": owner,
                **dict.fromkeys(("submission", "commit", "release", "review"), tag),
                "datetime": f"{when:%Y-%m-%dT%H:%M:%SZ}",
                "score": sum(int(str(test["score"])) for test in tests),
                "max-score": sum(int(str(test["max-score"])) for test in tests),
                "tests": tests,
            }
            files[f"{name}-classroom50/{place}/result.json"] = _json(data)
    return files, ()


def _json(data: Any) -> bytes:
    return json.dumps(data, indent=2, ensure_ascii=False).encode(errors="replace")


def export(
    term: Term, name: str, marks: Sequence[Mark], platform: str, template: Path | None
) -> Export:
    """Return the files that export an assignment's marks to a platform."""
    if platform == "classroom50":
        if template:
            raise CourseError("--template works only with moodle and canvas")
        return to_classroom50(term, name, marks)
    return (to_moodle if platform == "moodle" else to_canvas)(term, name, marks, template)


def write_pages(term: Term, name: str, marks: Sequence[Mark], run: RunInfo, now: datetime) -> None:
    """Write a page for each student of an assignment, with the results visible at `now`."""
    names = [mark.student.id if mark.student else f"unknown-{mark.name}" for mark in marks]
    for mark, file in zip(marks, file_names(map(str.lower, names)), strict=True):
        if mark.report is not None or mark.manual.items or mark.manual.comments:
            hidden = {task.id for task in mark.tasks if mark.assignment.hides(task.id, now)}
            title = f"{mark.name}: {mark.assignment.title}"
            with use_language(mark.report.language if mark.report else ENGLISH):
                page = render("mark.html", title, run, mark=mark, hidden=hidden)
            replace_file(term.folder / "results" / name / file, page.encode())


# --- autograders ---


def autograder(folder: Path, name: str, platform: str, wheel: Path | None) -> tuple[str, bytes]:
    """Return the name and content of an autograder: Gradescope's ZIP or Classroom 50's workflow.

    Raises:
        CourseError: If the course is given as a folder instead of being installed.
    """
    assignment = Term.read(folder).settings.assignment(name)
    if assignment.course not in course_names():
        raise CourseError(
            f"{assignment.course!r} is not installed: an autograder needs an installed course"
        )
    package = f"./{wheel.name}" if wheel else f"py2048=={__version__}"

    def script(file: str) -> bytes:
        text = Path(__file__).with_name(file).read_text("utf-8")
        return text.replace("@ASSIGNMENT@", name).replace("@PACKAGE@", package).encode()

    if platform == "classroom50":
        return f"py2048-{name}.yaml", script("classroom50.yaml")
    files = {"setup.sh": script("setup.sh"), "run_autograder": script("gradescope.sh")}
    files["term/course.toml"] = (folder / "course.toml").read_bytes()
    if wheel:
        with os_errors_as(CourseError, f"{str(wheel)!r} cannot be read"):
            files[wheel.name] = wheel.read_bytes()
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for file, content in files.items():
            member = zipfile.ZipInfo(file)
            member.external_attr = 0o755 << 16
            archive.writestr(member, content)
    return f"{name}-gradescope.zip", data.getvalue()


def gradescope_term(folder: Path, name: str, autograder: Path, target: Path) -> None:
    """Create a term in `target` with the single submission from an autograder's folder.

    Settings are copied from `folder`. The number of days late comes from Gradescope.

    Raises:
        CourseError: If Gradescope's metadata is missing or invalid.
    """
    metadata = read_autograder(autograder / AUTOGRADER)
    if metadata is None:
        raise CourseError(f"{str(autograder / AUTOGRADER)!r} is missing or invalid")
    hand_in = target / "submissions" / name / "gradescope"
    shutil.copytree(autograder / "submission", hand_in / "submission", symlinks=True)
    shutil.copy(autograder / AUTOGRADER, hand_in)
    shutil.copy(folder / "course.toml", target)
    emails, days = metadata.emails, str(metadata.days_late)
    late = [[name, email, "late", days, ""] for email in emails]
    (target / "roster.csv").write_bytes(csv_text([["id", "email"], *([e, e] for e in emails)]))
    (target / "manual.csv").write_bytes(csv_text([MANUAL_COLUMNS, *late]))
