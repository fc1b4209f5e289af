"""Results of grading, and the formats in which they can be written.

A `GradeReport` is plain data that can be stored and loaded. A report can be shown in the terminal,
or written as a CSV gradebook, JSON or web pages.
"""

from __future__ import annotations

import functools
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from csv import writer as csv_writer
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import jinja2
import msgspec
from markupsafe import Markup
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from py2048 import __version__
from py2048.core.errors import CourseError, os_errors_as
from py2048.core.language import ENGLISH, _, language, ngettext, use_language
from py2048.courses.grading.sandbox import LIMITS_IN_WORDS, Protection
from py2048.courses.grading.tasks import Grading, printable
from py2048.courses.grading.traps import Boards, boards_of, draw_boards, with_titles


@dataclass(frozen=True)
class CheckResult:
    """The result of a check and, if it failed, the smallest failing example.

    Attributes:
        weight: Relative weight among the task's checks, or 0 if the check costs no marks.
        carried: Whether the check passes only with correct versions of other tasks' functions.
        cause: Likely cause of the failure, if it is known.
    """

    title: str
    weight: int
    passed: bool
    carried: bool = False
    example: str = ""
    expected: str = ""
    actual: str = ""
    cause: str = ""

    @property
    def boards(self) -> Boards | None:
        """Boards in the failing example (see `boards_of`), or None."""
        return None if self.passed else boards_of(self.example, self.expected, self.actual)

    @property
    def head(self) -> list[str]:
        """The check's title line and, if the check failed, the lines of the failing example."""
        if self.carried:
            counted = _("(passed with correct versions of the other tasks' functions)")
            return [f"✓ {self.title} {counted}"]
        if self.passed:
            return [f"✓ {self.title}"]
        free = "" if self.weight else " " + _("(costs no marks)")
        example = [line for line in self.example.split("\n") if line]
        return [f"✗ {self.title}{free}", *example]

    @property
    def foot(self) -> list[str]:
        """Expected value, actual value and likely cause. Empty if the check passed."""
        if self.passed:
            return []
        rows = {_("expected:"): self.expected, _("actual:"): self.actual, _("likely:"): self.cause}
        width = max(map(len, rows))
        return [*(f"{head:{width}} {text}" for head, text in rows.items() if text), ""]


@dataclass(frozen=True)
class TaskResult:
    """The result of a task: its text, its marks and the results of its checks.

    Attributes:
        undecided: Whether the grader ran out of time before it graded the task.
    """

    id: str
    title: str
    asked: str
    marks: Fraction
    earned: Fraction
    checks: tuple[CheckResult, ...] = ()
    undecided: bool = False

    @property
    def status(self) -> str:
        """``undecided``, ``passed`` with full marks, otherwise ``failed``."""
        if self.undecided:
            return "undecided"
        return "passed" if self.earned == self.marks else "failed"

    @property
    def score(self) -> float | int | None:
        """Marks earned as a number; None if undecided."""
        return None if self.undecided else number(self.earned)

    @property
    def text(self) -> str:
        """The text of the task, and the results of all its checks."""
        lines = []
        for text, boards in self.parts:
            lines += [text, *(draw_boards(boards) if boards else ())]
        return "\n".join(lines)

    @property
    def parts(self) -> Iterator[tuple[str, Boards | None]]:
        """The report in parts: a text, and the boards to draw below it (or None)."""
        lines = [self.asked, ""]
        for check in self.checks:
            lines += check.head
            if check.boards:
                yield "\n".join(lines).strip(), check.boards
                lines = []
            lines += check.foot
        yield "\n".join(lines).strip(), None


@dataclass(frozen=True)
class GradeReport:
    """Report on one submission.

    Attributes:
        notes: Remarks on how the submission was read.
        problem: Why the submission could not be graded. Empty if it was graded.
        opening: Line to type before each example.
        failure: Why the grader failed. Empty if it did not fail. A failed submission has no mark.
        key: Cache key of the result, or "" if the result must not be reused.
        seed: Seed of the examples, or "" if all submissions get the same examples.
    """

    name: str
    course: str
    tasks: tuple[TaskResult, ...]
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""
    seconds: float = 0.0
    opening: str = ""
    failure: str = ""
    key: str = field(default="", compare=False)
    seed: str = ""
    language: str = ENGLISH

    @property
    def earned(self) -> Fraction:
        """Total marks earned."""
        return sum((task.earned for task in self.tasks), Fraction(0))

    @property
    def score(self) -> float | int | None:
        """Total marks earned, or None if the grader failed or ran out of time."""
        return None if self.failure or self.undecided else number(self.earned)

    @property
    def undecided(self) -> tuple[str, ...]:
        """Ids of the undecided tasks."""
        return tuple(task.id for task in self.tasks if task.undecided)

    @property
    def reason(self) -> str:
        """Why grading failed or is incomplete. Empty if all tasks were graded."""
        words = _("the machine was too slow, so these tasks are undecided: {tasks}")
        undecided = words.format(tasks=", ".join(self.undecided)) if self.undecided else ""
        return self.problem or self.failure or undecided

    @property
    def marks(self) -> Fraction:
        """Maximum marks."""
        return sum((task.marks for task in self.tasks), Fraction(0))

    @property
    def lost(self) -> tuple[str, ...]:
        """Ids of the tasks that did not earn full marks."""
        return tuple(task.id for task in self.tasks if task.status == "failed")

    @property
    def summary(self) -> list[str]:
        """Remarks on the whole submission, such as the reason why it was not graded."""
        lines = [_("Not graded: {reason}").format(reason=self.reason)] if self.reason else []
        lines += [_("Note: {note}").format(note=note) for note in self.notes]
        if self.opening and any(not check.passed for task in self.tasks for check in task.checks):
            words = _("To try an example in Python, first type: {code}")
            lines.append(words.format(code=self.opening))
        return lines

    def to_json(self) -> bytes:
        """Return the report as one line of JSON. Marks become strings such as ``8/3``."""
        return msgspec.json.encode(self, enc_hook=str)

    @classmethod
    def from_json(cls, line: bytes) -> GradeReport:
        """Parse a line written by `to_json`. Raise `ValueError` if the line is invalid."""
        return msgspec.json.decode(line, type=cls, dec_hook=_from_text)

    def printable(self) -> GradeReport:
        """Return a copy with control characters escaped."""
        plain = _printable(msgspec.to_builtins(self, enc_hook=str))
        return msgspec.convert(plain, GradeReport, dec_hook=_from_text)


def _from_text(kind: type, text: str) -> Any:
    """Convert a string to a type that JSON lacks, for example a fraction."""
    return kind(text)


def _printable(data: Any) -> Any:
    """Escape control characters in all strings of a nested value."""
    match data:
        case str():
            return printable(data)
        case dict():
            return {key: _printable(value) for key, value in data.items()}
        case list() | tuple():
            return [_printable(value) for value in data]
    return data


@dataclass(frozen=True)
class RunInfo:
    """Metadata that all reports of a grading run share.

    Attributes:
        grader: Version of the grader.
        not_graded: Description of the marks that cannot be graded automatically.
        stopped: Message about a run that was stopped, with the number of graded submissions.
    """

    course: str
    title: str
    grader: str
    protection: Protection
    not_graded: str = ""
    stopped: str = ""

    @property
    def missing(self) -> list[str]:
        """Lines about marks that are not graded automatically; empty if there are none."""
        text = _("Not graded here: {what}").format(what=_(self.not_graded))
        return [text] if self.not_graded else []

    @property
    def protected(self) -> str:
        """Sandbox and limits on one line."""
        begin = "WEAK PROTECTION" if self.protection.lacks else "Protection"
        return f"{begin}: {self.protection}; limits: {LIMITS_IN_WORDS}"


@functools.cache
def grader_version(grading: Grading) -> str:
    """Return py2048's version, with a digest of the source code of the grader and the course."""
    folder = Path(__file__).resolve().parent
    hasher = hashlib.sha256()
    sources = {*folder.rglob("*.py"), *folder.rglob("*.tcl"), *grading.given_files}
    if grading.folder:
        sources.update(path for path in grading.folder.rglob("*") if path.suffix in {".py", ".md"})
    for path in sorted(sources):
        hasher.update(path.read_bytes())
    return f"{__version__}+{hasher.hexdigest()[:12]}"


def number(marks: Fraction) -> float | int:
    """Convert marks to an integer if they are whole, otherwise to a float with two decimals."""
    return int(marks) if marks.denominator == 1 else round(float(marks), 2)


def marks_of(result: GradeReport | TaskResult) -> str:
    """Format earned and maximum marks, or "no mark" if there is none."""
    if result.score is None:
        return _("no mark")
    return f"{number(result.earned)} / {number(result.marks)}"


# --- CSV and JSON ---


def gradebook(grading: Grading, reports: Sequence[GradeReport]) -> bytes:
    """Return a CSV table with the name, score, marks per task and problems of each submission."""
    heads = [f"task {task.id} ({number(Fraction(task.marks))})" for task in grading.tasks]
    rows: list[list[object]] = [["submission", "score", "possible", "percent", *heads, "problem"]]
    for report in reports:
        percent = round(float(100 * report.earned / report.marks), 1) if report.marks else 0
        marks = [number(task.earned) for task in report.tasks]
        row: list[object] = [report.score, number(report.marks), percent, *marks]
        if report.failure:
            row = ["", number(report.marks), "", *([""] * len(marks))]
        rows.append([report.name, *row, report.reason])
    return csv_text(rows)


def csv_text(rows: Iterable[Sequence[object]]) -> bytes:
    """Return the contents of a CSV file, with cells escaped so that they are not formulas."""
    file = io.StringIO(newline="")
    safe = ([no_formula(c) if isinstance(c, str) else c for c in row] for row in rows)
    csv_writer(file).writerows(safe)
    return file.getvalue().encode()


def no_formula(text: str) -> str:
    """Escape a string that a spreadsheet would evaluate as a formula."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text


REPORT_FIELDS = ("name", "score", "problem", "failure", "notes", "files", "seconds")


def _task_data(task: TaskResult) -> dict[str, Any]:
    facts = {name: getattr(task, name) for name in ("id", "title", "asked", "status")}
    marks = {"score": task.score, "max_score": number(task.marks)}
    return {**facts, **marks, "checks": [vars(check) for check in task.checks]}


def to_json(run: RunInfo, reports: Sequence[GradeReport]) -> dict[str, Any]:
    """Return the results of a whole run as JSON-compatible data."""
    return {
        "course": run.course,
        "title": run.title,
        "grader": run.grader,
        "complete": not run.stopped,
        "not_graded": run.not_graded,
        "protection": {
            "name": run.protection.name,
            "holds": list(run.protection.holds),
            "lacks": list(run.protection.lacks),
            "limits": LIMITS_IN_WORDS,
        },
        "submissions": [
            {
                **{name: getattr(report, name) for name in REPORT_FIELDS},
                "max_score": number(report.marks),
                "tasks": [_task_data(task) for task in report.tasks],
            }
            for report in reports
        ],
    }


# --- the terminal ---


def print_reports(
    run: RunInfo, reports: Sequence[GradeReport], *, detailed: bool, console: Console | None = None
) -> None:
    """Print a table of the class. With `detailed`, also print each report in full."""
    console = console or Console(highlight=False)
    for report in reports if detailed else ():
        with use_language(report.language):
            console.print(_details(report))
    if len(reports) > 1:
        console.print(_class_table(reports))
    with use_language(language_of(reports)):
        for line in run.missing:
            console.print(line, markup=False)


def language_of(reports: Sequence[GradeReport]) -> str:
    """Return the common language of the reports, or English if they have none."""
    languages = {report.language for report in reports}
    return languages.pop() if len(languages) == 1 else ENGLISH


def one_line(report: GradeReport) -> Text:
    """Summarise a report on one line, to show the progress."""
    text = Text.assemble((printable(report.name), "bold"), "  ", _marks(report))
    if report.reason:
        text.append(f"  not graded: {printable(report.reason)}", style="yellow")
    elif report.lost:
        text.append(f"  marks lost in {', '.join(report.lost)}")
    return text


def _marks(result: GradeReport | TaskResult) -> Text:
    """Format marks, green if full."""
    text = marks_of(result)
    full = result.earned == result.marks
    style = "yellow" if result.score is None else "green" if full else "red"
    return Text(text, style=style)


def _details(report: GradeReport) -> RenderableType:
    """Return a table of a submission's tasks."""
    title = printable(report.name).replace("[", "\\[")  # no rich markup
    table = Table(title=f"[bold]{title}", title_justify="left", show_lines=True)
    table.add_column(_("Task"), no_wrap=True)
    table.add_column(_("Question and results"), ratio=1)
    table.add_column(_("Marks"), justify="right", no_wrap=True)
    for task in report.tasks:
        cell = Group(Text(task.title, style="bold"), Text(printable(task.text)))
        table.add_row(task.id, cell, _marks(task))
    table.add_row("", Text(_("All tasks"), style="bold"), _marks(report))
    return Group(*(Text(printable(line), style="yellow") for line in report.summary), table)


def _class_table(reports: Sequence[GradeReport]) -> Table:
    """Return a table of all submissions, with the tasks in which each submission lost marks."""
    table = Table(title="Gradebook", title_justify="left")
    table.add_column("Submission", overflow="fold")
    table.add_column("Marks", justify="right", style="bold", no_wrap=True)
    table.add_column("Lost in")
    for report in reports:
        total = "no mark" if report.score is None else str(report.score)
        lost = "" if report.failure else ", ".join(report.lost)
        table.add_row(Text(printable(report.name)), total, lost)
    return table


# --- web pages ---


def environment(folder: Path) -> jinja2.Environment:
    """Return the Jinja environment for a folder's templates. Control characters are escaped."""
    pages = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        extensions=["jinja2.ext.i18n"],
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    pages.install_gettext_callables(_, ngettext)  # type: ignore[attr-defined]
    pages.globals |= {"language": language, "marks_of": marks_of, "with_titles": with_titles}
    pages.filters["number"] = number
    return pages


def _visible(value: object) -> object:
    return value if isinstance(value, Markup) or not isinstance(value, str) else printable(value)


_PAGES = environment(Path(__file__).parents[1] / "templates")


def render(template: str, title: str, run: RunInfo, **values: object) -> str:
    """Render a page of a run."""
    return _PAGES.get_template(template).render(title=title, run=run, **values)


def write_pages(folder: Path, run: RunInfo, reports: Sequence[GradeReport]) -> Path:
    """Write an index and one page per submission to `folder`; return the index's path."""
    with os_errors_as(CourseError, f"pages cannot be written to {str(folder)!r}"):
        folder.mkdir(parents=True, exist_ok=True)
        names = file_names(report.name for report in reports)
        for report, name in zip(reports, names, strict=True):
            (folder / name).write_text(student_page(run, report), encoding="utf-8")
        index = folder / "index.html"
        with use_language(language_of(reports)):
            index.write_text(index_page(run, reports, names), encoding="utf-8")
    return index


def file_names(whose: Iterable[str]) -> list[str]:
    """Return a unique HTML file name for each submission."""
    names: list[str] = []
    for who in whose:
        plain = re.sub(r"[^\w.@+-]+", "-", who).strip("-.")[:80] or "submission"
        name, count = f"{plain}.html", 1
        while name.lower() in {"index.html", *(taken.lower() for taken in names)}:
            count += 1
            name = f"{plain}-{count}.html"
        names.append(name)
    return names


def index_page(run: RunInfo, reports: Sequence[GradeReport], names: Sequence[str]) -> str:
    """Return the index page, with a table row for each submission."""
    return render("index.html", run.title, run, reports=reports, names=names)


def student_page(run: RunInfo, report: GradeReport) -> str:
    """Return a submission's page."""
    with use_language(report.language):
        return render("submission.html", report.name, run, report=report)
