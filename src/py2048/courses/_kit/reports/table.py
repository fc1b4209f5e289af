"""Reports on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from py2048.courses._kit.reports.words import check_line, failure_lines, harmless, summary
from py2048.courses._kit.results import CheckResult, Report, TaskResult, number


def marks(earned: object, possible: object, *, full: bool) -> Text:
    """Earned of possible, green when they are the same."""
    return Text(f"{earned} / {possible}", style="green" if full else "red")


def details(report: Report) -> RenderableType:
    """One submission with every task."""
    table = Table(title=f"[bold]{_plain(report.name)}", title_justify="left", show_lines=True)
    table.add_column("Task", no_wrap=True)
    table.add_column("What was asked, and how it went", ratio=1)
    table.add_column("Marks", justify="right", no_wrap=True)
    for task in report.tasks:
        full = task.status == "passed"
        shown = marks(number(task.earned), number(task.marks), full=full)
        table.add_row(task.id, _task(task), shown)
    full = report.earned == report.marks
    table.add_row("", Text("All tasks", style="bold"), _total(report, full=full))
    return Group(*(Text(harmless(line), style="yellow") for line in summary(report)), table)


def _plain(text: str) -> str:
    """Text in which neither rich nor the terminal sees anything to obey."""
    return harmless(text).replace("[", "\\[")


def _total(report: Report, *, full: bool) -> Text:
    return marks(number(report.earned), number(report.marks), full=full)


def _task(task: TaskResult) -> RenderableType:
    parts: list[RenderableType] = [Text(task.title, style="bold"), Text(task.asked)]
    for check in task.checks:
        parts.append(Text(harmless(check_line(check)), style="green" if check.passed else "red"))
        if not check.passed:
            parts.append(Padding(_failure(check), (0, 0, 0, 4)))
    return Group(*parts)


def _failure(check: CheckResult) -> Text:
    return Text(harmless("\n".join(failure_lines(check))))


def line(report: Report) -> Text:
    """One submission on one line, for when results come in."""
    text = Text.assemble((harmless(report.name), "bold"), "  ")
    full = report.earned == report.marks
    text.append_text(_total(report, full=full))
    if report.problem:
        text.append(f"  not graded: {harmless(report.problem)}", style="yellow")
    elif report.lost:
        text.append(f"  marks lost in {', '.join(report.lost)}")
    return text


def gradebook(reports: Sequence[Report], width: int) -> Table:
    """The class: a row for each submission, and a column for each task where all of them fit."""
    every_task = _gradebook(reports, [task.id for task in reports[0].tasks], _marks_of_tasks)
    measured = Measurement.get(Console(width=10_000), Console(width=10_000).options, every_task)
    if measured.maximum <= width:
        return every_task
    return _gradebook(reports, ["Lost in"], lambda report: [Text(", ".join(report.lost))])


def _gradebook(
    reports: Sequence[Report], heads: Sequence[str], cells: Callable[[Report], list[Text]]
) -> Table:
    table = Table(title="Gradebook", title_justify="left")
    table.add_column("Submission", overflow="fold")
    table.add_column("Marks", justify="right", style="bold", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right" if len(heads) > 1 else "left")
    for report in reports:
        total = str(number(report.earned))
        table.add_row(Text(harmless(report.name)), total, *cells(report))
    return table


def _marks_of_tasks(report: Report) -> list[Text]:
    return [
        Text(str(number(task.earned)), style="" if task.status == "passed" else "red")
        for task in report.tasks
    ]


def print_reports(console: Console, reports: Sequence[Report], *, detailed: bool) -> None:
    """The submissions in full, and the gradebook if there are several."""
    if detailed:
        for report in reports:
            console.print(details(report))
    if len(reports) > 1:
        console.print(gradebook(reports, console.width))
