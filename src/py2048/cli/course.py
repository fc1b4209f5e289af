"""``py2048 course``: the five course systems, their starters and their grading."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.cli import streams
from py2048.cli.options import MAX_WORKERS, Subcommands, between, check_folder, check_outputs
from py2048.courses import COURSES, Course, get_course
from py2048.errors import CourseError

if TYPE_CHECKING:
    from py2048.courses.grading.report import Report, RunInfo
    from py2048.courses.grading.sandbox import Protection, SandboxConfig
    from py2048.courses.grading.submissions import Submission
    from py2048.courses.grading.tasks import Grading

LONGEST = 86_400
"""Seconds that a submission may be given at most: a day."""

app = typer.Typer(
    cls=Subcommands,
    help="The five course systems: play them, hand out starters, grade submissions.",
    pretty_exceptions_enable=False,
)


NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="A course.", autocompletion=lambda: list(COURSES))
]


@app.command("list")
def list_() -> None:
    """List the courses."""
    width = max(map(len, COURSES))
    for course in COURSES.values():
        print(f"{course.name:{width}}  {course.title}: {course.asks} ({course.screen})")


@app.command(context_settings={"ignore_unknown_options": True})
def play(
    name: NameArgument,
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGUMENT]...", help="What the course takes.")
    ] = None,
) -> None:
    """Play a course's own solution, such as cmput175 5 5 for a larger grid."""
    raise typer.Exit(get_course(name).play(arguments or ()))


@app.command()
def start(
    name: NameArgument,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to put the files.")],
) -> None:
    """Write the files that a student begins with; nothing is ever overwritten."""
    written = get_course(name).hand_out(folder)
    for path in written:
        print(path)
    print(f"\nNow read {folder / 'README.md'}")


@app.command()
def check(
    name: NameArgument,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="A Python file, a submission's folder, a folder or ZIP of them."
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write a gradebook.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="DIR", help="Write a page per student, and an index."),
    ] = None,
    gradescope: Annotated[
        Path | None,
        typer.Option("--gradescope", metavar="FILE", help="Write results.json for Gradescope."),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            callback=between(1, MAX_WORKERS),
            help="Grade N at a time, by default one for each processor; 1 keeps their order.",
            show_default=False,
        ),
    ] = os.cpu_count() or 1,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            metavar="FILE",
            help="Keep results in FILE; an interrupted run continues from there.",
        ),
    ] = None,
    detailed: Annotated[
        bool, typer.Option("--details", "-d", help="Show every task of every submission.")
    ] = False,
    real_window: Annotated[
        bool,
        typer.Option("--real-window", hidden=True, help="Nothing: windows are always real."),
    ] = False,
    from_python2: Annotated[
        bool,
        typer.Option("--from-python2", help="Convert programs written for Python 2 first."),
    ] = False,
    protection: Annotated[
        str | None,
        typer.Option(
            "--protection",
            metavar="KIND",
            help="bubblewrap, unshare, landlock or 'limits only'; by default the strongest "
            "that works.",
        ),
    ] = None,
    unprotected: Annotated[
        bool,
        typer.Option(
            "--unprotected",
            help="Grade even where submissions could read py2048's own solutions, as on macOS.",
        ),
    ] = False,
    seconds: Annotated[
        float,
        typer.Option("--seconds", metavar="S", help="The time for one submission in all."),
    ] = 60.0,
) -> None:
    """Grade submissions of a course, each in a limited process of its own.

    Ctrl-C stops and reports the submissions that are graded.
    """
    course = get_course(name)
    del real_window  # of older versions
    if not 1 <= seconds <= LONGEST:
        raise CourseError(f"--seconds is {seconds:g}: give 1 to {LONGEST}")
    from py2048.courses.grading import python2
    from py2048.courses.grading.sandbox import choose_protection
    from py2048.courses.grading.submissions import collect

    found = choose_protection(protection, unprotected=unprotected)
    grading, run, sandbox = _prepared(course, found, seconds)
    if from_python2:
        python2.check_installed()
    check_outputs({"--csv": csv, "--gradescope": gradescope, "--resume": resume}, *paths)
    if html:
        check_folder("--html", html, csv, gradescope, resume)
    with tempfile.TemporaryDirectory(prefix="py2048-check-") as scratch:
        submissions = [
            replace(submission, from_python2=from_python2)
            for submission in collect(paths, grading, Path(scratch))
        ]
        if gradescope and len(submissions) > 1:
            raise CourseError(
                f"--gradescope writes the results of one submission, and here are "
                f"{len(submissions)}: name one"
            )
        reports = _graded(submissions, grading, run, sandbox, jobs, resume, quiet=as_json)
    if len(reports) < len(submissions):
        stopped = f"stopped after {len(reports)} of {len(submissions)} submissions"
        streams.complain(stopped)
        run = replace(run, stopped=stopped)
    if not reports:
        raise typer.Exit(streams.INTERRUPTED)
    _write(run, grading, reports, csv, html, gradescope)
    _show(run, reports, as_json=as_json, detailed=detailed or len(reports) == 1)
    if run.stopped:
        raise typer.Exit(streams.INTERRUPTED)
    failed = sum(bool(report.failure) for report in reports)
    if failed:
        raise CourseError(
            f"the grader failed on {failed} of {len(reports)} submissions, which have no mark"
        )


def _prepared(
    course: Course, protection: Protection, seconds: float
) -> tuple[Grading, RunInfo, SandboxConfig]:
    """The tasks, what the reports say about the run, and how processes are started."""
    from py2048.courses.grading.grader import grader_version
    from py2048.courses.grading.process import check_start
    from py2048.courses.grading.report import RunInfo
    from py2048.courses.grading.sandbox import ResourceLimits, SandboxConfig

    grading = course.grading()
    version, limits = grader_version(grading), ResourceLimits(memory_mib=grading.memory_mib)
    run = RunInfo(course.name, course.title, version, protection, limits, grading.not_graded)
    sandbox = SandboxConfig(protection, seconds=seconds)
    check_start(grading, sandbox)
    return grading, run, sandbox


def _graded(
    submissions: list[Submission],
    grading: Grading,
    run: RunInfo,
    sandbox: SandboxConfig,
    jobs: int,
    resume: Path | None,
    *,
    quiet: bool,
) -> list[Report]:
    """Grade, showing progress and results as they come, to the end or until Ctrl-C.

    The reports are in the order of the submissions.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from py2048.courses.grading.grader import ResultsFile, grade_all
    from py2048.courses.grading.report import one_line

    console = Console(stderr=quiet, highlight=False)
    console.print(
        run.protected, markup=False, soft_wrap=True, style="bold red" if run.weak else "dim"
    )
    now = TextColumn("{task.fields[now]}", markup=False)
    columns = (TextColumn("Grading"), BarColumn(), MofNCompleteColumn(), now)
    found: dict[str, Report] = {}
    running: list[str] = []
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("grading", total=len(submissions), now="")

        def on_start(submission: Submission) -> None:
            running.append(submission.name)
            progress.update(bar, now=", ".join(running))

        results = ResultsFile(resume)
        reports = grade_all(
            submissions, grading, sandbox, jobs=jobs, results=results, on_start=on_start
        )
        with suppress(KeyboardInterrupt), closing(reports):
            for report in reports:
                found[report.name] = report
                running[:] = [name for name in running if name != report.name]
                progress.update(bar, advance=1, now=", ".join(running))
                if len(submissions) > 1:
                    progress.console.print(one_line(report))
    return [found[submission.name] for submission in submissions if submission.name in found]


def _write(
    run: RunInfo,
    grading: Grading,
    reports: list[Report],
    csv: Path | None,
    html: Path | None,
    gradescope: Path | None,
) -> None:
    """Write the chosen files."""
    from py2048.courses.grading.report import to_gradescope, write_gradebook, write_pages

    if csv:
        write_gradebook(csv, grading, reports)
    if html:
        write_pages(html, run, reports)
    if gradescope and not reports[0].failure:
        gradescope.write_text(json.dumps(to_gradescope(run, reports[0]), indent=2), "utf-8")


def _show(run: RunInfo, reports: list[Report], *, as_json: bool, detailed: bool) -> None:
    """Print the reports."""
    from rich.console import Console

    from py2048.courses.grading.report import print_reports, to_json

    if as_json:
        print(json.dumps(to_json(run, reports), indent=2))
        return
    console = Console(highlight=False)
    print_reports(console, reports, detailed=detailed)
    if run.not_graded:
        console.print(f"Not graded here: {run.not_graded}", markup=False)
