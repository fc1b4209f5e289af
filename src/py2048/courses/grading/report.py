"""Results of grading and their output formats.

A `GradeReport` is plain data that can be stored and loaded. It can be shown in the terminal or
written as a CSV gradebook, JSON, Gradescope's ``results.json`` or web pages.
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
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import msgspec
from rich.console import Console, Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from py2048 import __version__
from py2048.core.errors import CourseError
from py2048.core.language import ENGLISH, _, language, ngettext, use_language
from py2048.courses.grading.sandbox import LIMITS_IN_WORDS, Protection, SandboxConfig
from py2048.courses.grading.tasks import Grading, printable
from py2048.courses.grading.traps import Boards, boards_of, draw_boards, with_titles


@dataclass(frozen=True)
class CheckResult:
    """Result of a check, with the smallest failing example.

    Attributes:
        weight: Share of the task's marks; 0 if the check costs no marks.
        carried: Whether it passed only with correct versions of other tasks' functions.
        cause: Likely cause of the failure, if known.
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
        """Boards of the example, if it has any (see `boards_of`)."""
        return None if self.passed else boards_of(self.example, self.expected, self.actual)

    @property
    def lines(self) -> list[str]:
        """The check on one line, followed by the failing example, if any, ready to paste."""
        return [*self.head, *(draw_boards(self.boards) if self.boards else ()), *self.foot]

    @property
    def head(self) -> list[str]:
        """The check on one line, followed by the failing example, if any."""
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
        """Expected and actual value and the likely cause; empty if the check passed."""
        if self.passed:
            return []
        rows = {_("expected:"): self.expected, _("actual:"): self.actual, _("likely:"): self.cause}
        width = max(map(len, rows))
        return [*(f"{head:{width}} {text}" for head, text in rows.items() if text), ""]


@dataclass(frozen=True)
class TaskResult:
    """Result of a task: its text, the marks and the checks."""

    id: str
    title: str
    asked: str
    marks: Fraction
    earned: Fraction
    checks: tuple[CheckResult, ...] = ()

    @property
    def status(self) -> str:
        """``passed`` with full marks, otherwise ``failed``."""
        return "passed" if self.earned == self.marks else "failed"

    @property
    def text(self) -> str:
        """What was asked, and the results of all checks."""
        lines = [line for check in self.checks for line in check.lines]
        return "\n".join([self.asked, "", *lines]).rstrip()


@dataclass(frozen=True)
class GradeReport:
    """Report on one submission.

    Attributes:
        notes: Remarks on how the submission was read.
        problem: Why the submission could not be graded; empty if it could.
        opening: Line to type before an example.
        failure: Why the grader failed; empty if it did not. There is no mark then.
        key: Cache key of the result, or "" if it must not be reused.
        seed: Seed of the examples, or "" if they are the same for everyone.
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
        """Total marks earned as a number; None if the grader failed."""
        return None if self.failure else number(self.earned)

    @property
    def reason(self) -> str:
        """Why nothing was graded; empty if the submission was graded."""
        return self.problem or self.failure

    @property
    def marks(self) -> Fraction:
        """Maximum marks."""
        return sum((task.marks for task in self.tasks), Fraction(0))

    @property
    def lost(self) -> tuple[str, ...]:
        """Ids of the tasks without full marks."""
        return tuple(task.id for task in self.tasks if task.status == "failed")

    @property
    def summary(self) -> list[str]:
        """Remarks on the whole submission: why it was not graded, or how it was read."""
        lines = [_("Not graded: {reason}").format(reason=self.reason)] if self.reason else []
        lines += [_("Note: {note}").format(note=note) for note in self.notes]
        if self.opening and any(not check.passed for task in self.tasks for check in task.checks):
            lines.append(
                _("To try an example in Python, first type: {code}").format(code=self.opening)
            )
        return lines

    def to_json(self) -> bytes:
        """Return the report as one line of JSON; marks are strings such as ``8/3``."""
        return msgspec.json.encode(self, enc_hook=str)

    @classmethod
    def from_json(cls, line: bytes) -> GradeReport:
        """Parse a line written by `to_json`; raise `ValueError` if it is invalid."""
        return msgspec.json.decode(line, type=cls, dec_hook=_from_text)

    def printable(self) -> GradeReport:
        """Return a copy with control characters escaped."""
        plain = _printable(msgspec.to_builtins(self, enc_hook=str))
        return msgspec.convert(plain, GradeReport, dec_hook=_from_text)


def _from_text(kind: type, text: str) -> Any:
    """Convert a string to a type that JSON lacks, such as a fraction."""
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
    """Metadata of a grading run, shared by all its reports.

    Attributes:
        grader: Version of the grader.
        not_graded: Description of the marks that cannot be graded automatically.
        stopped: How far the run got, if it was stopped.
    """

    course: str
    title: str
    grader: str
    protection: Protection
    not_graded: str = ""
    stopped: str = ""

    @classmethod
    def of(cls, title: str, grading: Grading, sandbox: SandboxConfig) -> RunInfo:
        """Describe a run of `grading` for a course with this title."""
        version = grader_version(grading)
        return cls(grading.course, title, version, sandbox.protection, grading.not_graded)

    @property
    def protected(self) -> str:
        """Sandbox and limits on one line."""
        begin = "WEAK PROTECTION" if self.protection.lacks else "Protection"
        return f"{begin}: {self.protection}; limits: {LIMITS_IN_WORDS}"


@functools.cache
def grader_version(grading: Grading) -> str:
    """Return py2048's version and a digest of the grader's and the course's source code."""
    folder = Path(__file__).resolve().parent
    hasher = hashlib.sha256()
    sources = {*folder.rglob("*.py"), *folder.rglob("*.tcl"), *grading.given_files}
    if grading.folder:
        sources.update(path for path in grading.folder.rglob("*") if path.suffix in {".py", ".md"})
    for path in sorted(sources):
        hasher.update(path.read_bytes())
    return f"{__version__}+{hasher.hexdigest()[:12]}"


def number(marks: Fraction) -> float | int:
    """Convert marks to a number: an integer if whole, otherwise rounded to two decimals."""
    return int(marks) if marks.denominator == 1 else round(float(marks), 2)


def marks_of(result: GradeReport | TaskResult) -> str:
    """Format earned and maximum marks, or "no mark" if the grader failed."""
    if isinstance(result, GradeReport) and result.failure:
        return _("no mark")
    return f"{number(result.earned)} / {number(result.marks)}"


# --- CSV, JSON, Gradescope ---


def gradebook(grading: Grading, reports: Sequence[GradeReport]) -> bytes:
    """Return a CSV table of names, scores, marks per task and problems."""
    heads = [f"task {task.id} ({number(Fraction(task.marks))})" for task in grading.tasks]
    file = io.StringIO(newline="")
    writer = csv_writer(file)
    writer.writerow(["submission", "score", "possible", "percent", *heads, "problem"])
    for report in reports:
        percent = round(float(100 * report.earned / report.marks), 1) if report.marks else 0
        marks = [number(task.earned) for task in report.tasks]
        row: list[object] = [report.score, number(report.marks), percent, *marks]
        if report.failure:
            row = ["", number(report.marks), "", *([""] * len(marks))]
        writer.writerow([no_formula(report.name), *row, no_formula(report.reason)])
    return file.getvalue().encode()


def no_formula(text: str) -> str:
    """Escape a string that spreadsheets would run as a formula."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text


REPORT_FIELDS = ("name", "score", "problem", "failure", "notes", "files", "seconds")


def _task_data(task: TaskResult) -> dict[str, Any]:
    facts = {name: getattr(task, name) for name in ("id", "title", "asked", "status")}
    marks = {"score": number(task.earned), "max_score": number(task.marks)}
    return {**facts, **marks, "checks": [vars(check) for check in task.checks]}


def to_json(run: RunInfo, reports: Sequence[GradeReport]) -> dict[str, Any]:
    """Return the whole run as JSON-compatible data."""
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


def to_gradescope(run: RunInfo, report: GradeReport) -> dict[str, Any]:
    """Return a report in the format of Gradescope's ``results.json``.

    The fields follow Gradescope's published specification ("Autograder Specifications", output
    format): a score, and a list of tests with score, max_score, status and output.
    """
    with use_language(report.language):
        lines = [*(report.summary or [_("Graded.")]), *_not_graded(run)]
        return {
            "score": number(report.earned),
            "execution_time": round(report.seconds),
            "output": "\n".join(lines),
            "output_format": "text",
            "test_output_format": "text",
            "test_name_format": "text",
            "visibility": "visible",
            "stdout_visibility": "hidden",
            "tests": [
                {
                    "score": number(task.earned),
                    "max_score": number(task.marks),
                    "status": task.status,
                    "name": task.title,
                    "number": task.id,
                    "output": f"{task.asked}\n\n{lines[0]}" if report.problem else task.text,
                    "visibility": "visible",
                }
                for task in report.tasks
            ],
            "extra_data": {
                "course": run.course,
                "grader": run.grader,
                "protection": run.protection.name,
                "submission": report.name,
            },
        }


# --- the terminal ---


def print_reports(
    run: RunInfo, reports: Sequence[GradeReport], *, detailed: bool, console: Console | None = None
) -> None:
    """Print a table of the class; with `detailed`, print each report in full as well."""
    console = console or Console(highlight=False)
    for report in reports if detailed else ():
        with use_language(report.language):
            console.print(_details(report))
    if len(reports) > 1:
        console.print(_class_table(reports))
    with use_language(language_of(reports)):
        console.print(*_not_graded(run), markup=False, sep="", end="")


def _not_graded(run: RunInfo) -> list[str]:
    text = _("Not graded here: {what}").format(what=_(run.not_graded))
    return [text] if run.not_graded else []


def language_of(reports: Sequence[GradeReport]) -> str:
    """Return the language the reports share, or English."""
    languages = {report.language for report in reports}
    return languages.pop() if len(languages) == 1 else ENGLISH


def one_line(report: GradeReport) -> Text:
    """Summarise a report on one line, for progress output."""
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
    failed = isinstance(result, GradeReport) and result.failure
    return Text(text, style="yellow" if failed else "green" if full else "red")


def _details(report: GradeReport) -> RenderableType:
    """Return a table of a submission's tasks."""
    title = printable(report.name).replace("[", "\\[")  # no rich markup
    columns = (
        Column(_("Task"), no_wrap=True),
        Column(_("Question and results"), ratio=1),
        Column(_("Marks"), justify="right", no_wrap=True),
    )
    table = Table(*columns, title=f"[bold]{title}", title_justify="left", show_lines=True)
    for task in report.tasks:
        cell = Group(Text(task.title, style="bold"), Text(printable(task.text)))
        table.add_row(task.id, cell, _marks(task))
    table.add_row("", Text(_("All tasks"), style="bold"), _marks(report))
    return Group(*(Text(printable(line), style="yellow") for line in report.summary), table)


def _class_table(reports: Sequence[GradeReport]) -> Table:
    """Return a table of all submissions, listing the tasks in which each lost marks."""
    table = Table(title="Gradebook", title_justify="left")
    table.add_column("Submission", overflow="fold")
    table.add_column("Marks", justify="right", style="bold", no_wrap=True)
    table.add_column("Lost in")
    for report in reports:
        total = "no mark" if report.failure else str(report.score)
        lost = "" if report.failure else ", ".join(report.lost)
        table.add_row(Text(printable(report.name)), total, lost)
    return table


# --- web pages ---

PAGE = Template(Path(__file__).with_suffix(".html").read_text("utf-8"))


def write_pages(folder: Path, run: RunInfo, reports: Sequence[GradeReport]) -> Path:
    """Write a page per submission and an index into `folder`; return the index's path."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = file_names(report.name for report in reports)
        for report, name in zip(reports, names, strict=True):
            (folder / name).write_text(student_page(run, report), encoding="utf-8")
        index = folder / "index.html"
        with use_language(language_of(reports)):
            index.write_text(index_page(run, reports, names), encoding="utf-8")
    except OSError as error:
        raise CourseError(
            f"{str(folder)!r}: cannot write pages: {error.strerror or error}"
        ) from None
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


def render_page(title: str, body: str, run: RunInfo) -> str:
    """Render a report page."""
    graded = _("Graded by py2048 {grader}.").format(grader=run.grader)
    words = {"title": title, "graded": graded, "protected": run.protected, "language": language()}
    return PAGE.substitute({name: escape(text) for name, text in words.items()}, body=body)


def index_page(run: RunInfo, reports: Sequence[GradeReport], names: Sequence[str]) -> str:
    """Return the index: a row for each submission."""
    rows = "\n".join(
        f'<tr><td><a href="{escape(name)}">{escape(report.name)}</a></td>'
        f'<td class="number">{marks_of(report)}</td><td>{_lost_html(report)}</td></tr>'
        for report, name in zip(reports, names, strict=True)
    )
    names = _("Submission"), _("Marks"), _("Lost in")
    head = "<tr><th>{}</th><th class=number>{}</th><th>{}</th></tr>".format(*map(escape, names))
    table = f"<table>\n<thead>{head}</thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    warnings = [run.protected if run.protection.lacks else "", run.stopped]
    bad = "".join(f'<p class="bad">{escape(words)}</p>\n' for words in warnings if words)
    return render_page(run.title, f"{bad}<p>{_averages(reports)}</p>\n{table}", run)


def _averages(reports: Sequence[GradeReport]) -> str:
    """Summarise the class in one sentence."""
    reports = [report for report in reports if not report.failure]
    count = ngettext("{n} submission", "{n} submissions", len(reports)).format(n=len(reports))
    if not reports:
        return count
    full = sum(not report.lost for report in reports)
    mean = sum(float(report.earned) for report in reports) / len(reports)
    marks = number(max(report.marks for report in reports))
    words = _("{count}: {mean} of {marks} marks on average, {full} with full marks")
    return words.format(count=count, mean=f"{mean:.3g}", marks=marks, full=full)


def _lost_html(report: GradeReport) -> str:
    if report.reason:
        reason = _("Not graded: {reason}").format(reason=report.reason)
        return f'<span class="bad">{escape(reason)}</span>'
    lost = ", ".join(_("task {id}").format(id=id) for id in report.lost)
    none = _("none")
    return escape(lost) or f'<span class="good">{none}</span>'


def student_page(run: RunInfo, report: GradeReport) -> str:
    """Return a submission's page."""
    with use_language(report.language):
        marks = _("{marks} marks").format(marks=marks_of(report))
        total = f"<p><strong>{marks}</strong></p>\n"
        notes = "".join(f"<p>{escape(line)}</p>\n" for line in report.summary)
        missing = "".join(f'<p class="muted">{escape(line)}</p>\n' for line in _not_graded(run))
        tasks = "\n".join(task_section(task, marks_of(task)) for task in report.tasks)
        index = _("All submissions")
        back = f'<p><a href="index.html">{index}</a> · {escape(run.title)}</p>\n'
        return render_page(report.name, total + notes + missing + tasks + back, run)


def task_section(task: TaskResult, marks: str, body: str = "") -> str:
    """Render a task's section of a page: its marks, then `body` or the full results."""
    look = "good" if task.status == "passed" else "bad"
    title = _("Task {id}: {title}").format(id=task.id, title=task.title)
    return (
        f"<section>\n<h2><span>{escape(title)}</span> "
        f'<span class="marks {look}">{marks}</span></h2>\n'
        f"{body or _results_html(task)}\n</section>"
    )


def _results_html(task: TaskResult) -> str:
    """Render a task's text and the results of the checks, with boards as tables."""
    parts, lines = [], [task.asked, ""]
    for check in task.checks:
        lines += check.head
        if boards := check.boards:
            parts += [_pre(lines), f'<div class="boards">{"".join(_tables(boards))}</div>']
            lines = []
        lines += check.foot
    return "".join([*parts, _pre(lines)])


def _pre(lines: Sequence[str]) -> str:
    return f"<pre>{escape(chr(10).join(lines).strip())}</pre>"


def _tables(boards: Boards) -> Iterator[str]:
    """Yield a table for each board, with wrong cells highlighted."""
    for title, rows in with_titles(boards):
        wanted = boards[1] if rows is boards[2] else rows
        body = "".join(
            f"<tr>{''.join(map(_cell, row, right))}</tr>"
            for row, right in zip(rows, wanted, strict=True)
        )
        yield f"<table><caption>{escape(title)}</caption>{body}</table>"


def _cell(tile: int, right: int) -> str:
    return f"<td{'' if tile == right else ' class=bad'}>{tile or ''}</td>"
