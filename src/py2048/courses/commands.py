"""``py2048 course``: course systems, ours and others', their starters, their grading, and terms."""

from __future__ import annotations

import json as json_text
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.core.errors import CourseError, extra_for
from py2048.core.language import LANGUAGES
from py2048.courses import SUBMISSION_S, course_names, get_course
from py2048.presentation import options, streams

if TYPE_CHECKING:
    from py2048.courses.grading.report import Report, RunInfo
    from py2048.courses.grading.sandbox import SandboxConfig
    from py2048.courses.grading.submissions import Submission
    from py2048.courses.grading.tasks import Grading
    from py2048.courses.term.marks import Course, Mark

app = typer.Typer(
    cls=options.Subcommands,
    help="Course systems: play them, hand out starters, grade submissions.",
    pretty_exceptions_enable=False,
)


def names_and_folders(incomplete: str) -> list[str]:
    """Return what a shell may complete a course to."""
    return [*course_names(), *options.files_that_end()(incomplete)]


NameArgument = Annotated[str, options.word("COURSE", "Its name, or its folder.", names_and_folders)]
FolderArgument = Annotated[Path, options.word("FOLDER", "A term's folder.")]


def assignments(ctx: typer.Context) -> list[str]:
    """Return the assignments of the term in the folder that was given, for shells to complete."""
    from py2048.courses.term.settings import read_settings

    with suppress(CourseError):
        return list(read_settings(Path(ctx.params["folder"])).assignments)
    return []


AssignmentArgument = Annotated[str, options.word("ASSIGNMENT", "One of course.toml.", assignments)]


@dataclass(frozen=True)
class Machine:
    """How submissions are run here: `jobs` at a time, in the protection that there is."""

    jobs: options.JobsOption = None
    unprotected: Annotated[
        bool,
        typer.Option(
            "--unprotected", help="Grade even where submissions could read our own solutions."
        ),
    ] = False

    @property
    def width(self) -> int:
        """How many run at a time."""
        return self.jobs or os.cpu_count() or 1

    def sandbox(self, seconds: float = SUBMISSION_S, *, trusted: bool = False) -> SandboxConfig:
        """Return how a submission is run, which may take some `seconds` in all."""
        from py2048.courses.grading.sandbox import SandboxConfig, choose_protection

        protection = choose_protection(unprotected=self.unprotected)
        return SandboxConfig(protection, seconds=seconds, trusted=trusted)


@dataclass(frozen=True)
class Outputs:
    """What is made of the reports on submissions."""

    json: options.JsonOption = False
    csv: Annotated[Path | None, options.taking("FILE", "Write a gradebook.")] = None
    pages: Annotated[
        Path | None, options.taking("DIR", "Write a page per student, and an index.")
    ] = None
    gradescope: Annotated[
        Path | None, options.taking("FILE", "Write results.json for Gradescope.")
    ] = None
    detailed: Annotated[
        bool, typer.Option("--details", "-d", help="Show every task of every submission.")
    ] = False
    force: options.ForceOption = False

    def refuse_changed(self) -> None:
        """Refuse to replace a gradebook that was changed by hand."""
        from py2048.courses.term.tables import Written

        if self.csv:
            Written(self.csv.parent).refuse_changed(self.csv, force=self.force)

    def refuse_several(self, count: int) -> None:
        """Refuse more submissions than there is room for."""
        if self.gradescope and count > 1:
            raise CourseError(
                f"--gradescope writes the results of one submission, and here are {count}: name one"
            )

    def write(
        self, grading: Grading, run: RunInfo, reports: list[Report], submission: Path
    ) -> None:
        """Write what is asked for, and print the rest."""
        from py2048.courses.grading import report
        from py2048.courses.term.tables import Written

        if self.csv:
            table = report.gradebook(grading, reports)
            Written(self.csv.parent).write(self.csv, table, force=self.force)
        if self.pages:
            report.write_pages(self.pages, run, reports)
        if self.gradescope and not reports[0].failure:  # of which Gradescope tells the instructors
            _write_gradescope(self.gradescope, run, reports[0], submission)
        if self.json:
            options.print_json(report.to_json(run, reports))
        else:
            report.print_reports(run, reports, detailed=self.detailed or len(reports) == 1)


TimeoutOption = Annotated[
    float,
    typer.Option(metavar="S", min=1, max=86_400, help="The seconds for one submission in all."),
]
LanguageOption = Annotated[
    str,
    options.taking(
        "CODE", "Of reports: en or pt; else that of the names.", words=lambda: list(LANGUAGES)
    ),
]
PLATFORMS = ("moodle", "canvas", "gradescope", "classroom50")


@app.command("list")
def list_() -> None:
    """List the courses."""
    names = course_names()
    for name in names:
        try:
            course = get_course(name)
            about = f"{course.title}: {course.asks} ({course.screen})"
        except CourseError as error:  # of a course from elsewhere
            about = str(error)
        print(f"{name:{max(map(len, names))}}  {about}")


@app.command(context_settings={"ignore_unknown_options": True})
def play(
    name: NameArgument,
    arguments: Annotated[
        list[str] | None, options.word("[ARGUMENT]...", "What the course takes.")
    ] = None,
) -> int:
    """Play a course's own solution, such as cmput175 5 5 for a larger grid."""
    return get_course(name).play(arguments or ())


@app.command()
def start(
    name: NameArgument,
    folder: Annotated[Path, options.word("DIR", "Where to put the files.")],
) -> None:
    """Write the files that a student begins with; nothing is ever overwritten."""
    written = get_course(name).hand_out(folder)
    for path in written:
        print(path)
    if first := next((path for path in written if path.suffix == ".md"), None):
        print(f"\nNow read {first}")


@app.command()
def new(folder: Annotated[Path, options.word("FOLDER", "The folder of the new course.")]) -> None:
    """Make a small course that works as it is, for you to fill with your own."""
    from py2048.courses.proving import new_course

    for path in new_course(folder):
        print(path)
    print(f"\nNow try it: py2048 course prove {folder}")


@app.command()
@options.grouped
def prove(name: NameArgument, machine: Machine) -> None:
    """Try a course before students are graded: on its starter, right solutions and mutants."""
    from py2048.courses import proving
    from py2048.courses.grading.report import marks_of

    course = get_course(name)
    proving.check_tasks(course)
    grading, trials = course.grading(), proving.trials(course)
    sandbox, _ = _begun(course.title, grading, machine)
    wrong = 0
    for trial, report in proving.tried(trials, grading, sandbox.protection, machine.width):
        finding = trial.finding(report)
        wrong += bool(finding)
        lost = f", marks lost in {', '.join(report.lost)}" if trial.mutant else ""
        print(f"{trial.name}: {finding or marks_of(report) + lost}")
    if wrong:
        raise CourseError(f"{wrong} of {len(trials)} programs have other marks than they should")
    print(f"{course.name}: all {len(trials)} programs have the marks that they should")


@app.command(cls=options.Command)
@options.grouped
def check(
    name: NameArgument,
    paths: Annotated[
        list[Path],
        options.word("PATH...", "A Python file, a submission's folder, a folder or ZIP of them."),
    ],
    outputs: Outputs,
    machine: Machine,
    log: options.LogOption = None,
    from_python2: Annotated[
        bool, typer.Option("--from-python2", help="Convert programs written for Python 2 first.")
    ] = False,
    language: LanguageOption = "",
    timeout: TimeoutOption = SUBMISSION_S,
) -> int:
    """Grade submissions of a course, each in a limited process of its own.

    As many run at a time as there are processors; --jobs 1 keeps their order. Ctrl-C stops and
    reports the submissions that are graded.
    """
    from py2048.courses.grading.submissions import collect

    outputs.refuse_changed()
    course = get_course(name)
    grading = course.grading().told_in(language)
    sandbox, run = _begun(course.title, grading, machine, timeout)
    with tempfile.TemporaryDirectory(prefix="py2048-check-") as scratch:
        submissions = collect(paths, grading, Path(scratch), from_python2=from_python2)
        outputs.refuse_several(len(submissions))
        quiet, width = outputs.json, machine.width
        reports = _graded(submissions, grading, run, sandbox, width, log, quiet=quiet)
    if len(reports) < len(submissions):
        stopped = f"stopped after {len(reports)} of {len(submissions)} submissions"
        streams.complain(stopped)
        run = replace(run, stopped=stopped)
    if reports:
        outputs.write(grading, run, reports, paths[0])
    if failed := sum(bool(one.failure) for one in reports):
        raise CourseError(
            f"the grader failed on {failed} of {len(reports)} submissions, which have no mark"
        )
    return streams.INTERRUPTED if run.stopped else 0


@app.command(cls=options.Command)
@options.grouped
def mutants(
    name: NameArgument,
    machine: Machine,
    solution: Annotated[
        Path | None,
        options.word("[SOLUTION]", "A right solution, a file or folder; by default the course's."),
    ] = None,
    match: Annotated[
        str, options.taking("TEXT", "Only mutants whose line in the report has it.")
    ] = "",
    count: options.CountOption = 160,
) -> int:
    """Plant faults in a right solution by rules, and count those that the checks find.

    Ends with status 1 below 99 %, or if a fault costs marks in a task that it has nothing to do
    with.
    """
    from py2048.courses.grading import mutants as planted
    from py2048.courses.proving import SECONDS

    course = get_course(name)
    solution = solution or planted.solution_in(course.proof / "right")
    chosen = planted.choose(solution, match, count)
    sandbox = machine.sandbox(SECONDS, trusted=True)
    found: Counter[str] = Counter()
    told: Counter[str] = Counter()
    foreign = 0
    for mutant, apart, lost in planted.check_mutants(
        chosen, solution, course.grading(), sandbox, machine.width
    ):
        found[mutant.operator] += 1
        told[mutant.operator] += apart
        foreign += bool(lost)
        if not apart:
            print(f"not told apart: {mutant}", flush=True)
        if lost:
            print(f"marks lost in foreign tasks {', '.join(lost)}: {mutant}", flush=True)
    for operator, count in sorted(found.items()):
        print(f"{operator:16} {told[operator]:4} of {count}")
    share = 100 * told.total() / found.total()
    print(
        f"told apart: {told.total()} of {found.total()} mutants of {solution.name}, {share:.1f} %"
    )
    print(f"marks lost in foreign tasks: {foreign} mutants")
    return int(share < planted.ENOUGH or foreign > 0)


def _begun(
    title: str, grading: Grading, machine: Machine, seconds: float = SUBMISSION_S
) -> tuple[SandboxConfig, RunInfo]:
    """Make sure that submissions can be run here; return how, and what reports say of it."""
    from py2048.courses.grading.report import RunInfo
    from py2048.courses.grading.session import check_start

    sandbox = machine.sandbox(seconds)
    check_start(grading, sandbox)
    return sandbox, RunInfo.of(title, grading, sandbox)


def _write_gradescope(path: Path, run: RunInfo, graded: Report, submission: Path) -> None:
    """Write ``results.json``, with the days late by what Gradescope says beside the submission."""
    from py2048.courses.grading.report import to_gradescope
    from py2048.courses.term.handins import AUTOGRADER, read_autograder

    data = to_gradescope(run, graded)
    if told := read_autograder(submission.absolute().parent / AUTOGRADER):
        data["extra_data"]["days_late"] = told.days_late
        data["output"] += f"\nDays late: {told.days_late}." * bool(told.days_late)
    path.write_text(json_text.dumps(data, indent=2), "utf-8")


def _graded(
    submissions: list[Submission],
    grading: Grading,
    run: RunInfo,
    sandbox: SandboxConfig,
    jobs: int,
    log: Path | None,
    *,
    secret: str = "",
    quiet: bool = False,
) -> list[Report]:
    """Grade, showing progress and results as they come, to the end or until Ctrl-C.

    The reports are in the order of the submissions.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    from py2048.courses.grading.grader import ResultsFile, grade_all
    from py2048.courses.grading.report import one_line
    from py2048.courses.grading.tasks import printable

    console = Console(stderr=quiet, highlight=False)
    look = "bold red" if run.protection.lacks else "dim"
    console.print(run.protected, markup=False, soft_wrap=True, style=look)
    found: dict[str, Report] = {}
    running: list[str] = []
    rest = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    progress = Progress(
        BarColumn(20), TextColumn("{task.completed} of {task.total} graded,"),
        TimeRemainingColumn(), TextColumn("left; now {task.description}", "", markup=False,
        table_column=rest), console=console, transient=True, expand=True,
        speed_estimate_period=600,
    )  # fmt: skip
    with progress:
        bar = progress.add_task("", total=len(submissions), start=False)

        def tell() -> None:
            now = printable(", ".join(running))
            progress.update(bar, completed=len(found), description=now)

        def on_start(submission: Submission) -> None:
            running.append(submission.name)
            tell()
            if not progress.tasks[0].started:  # what was graded before tells nothing of the time
                progress.reset(bar, completed=len(found))

        results = ResultsFile(log)
        reports = grade_all(
            submissions, grading, sandbox,
            jobs=jobs, results=results, on_start=on_start, secret=secret,
        )  # fmt: skip
        with suppress(KeyboardInterrupt), closing(reports):
            for report in reports:
                found[report.name] = report
                running[:] = [name for name in running if name != report.name]
                tell()
                if len(submissions) > 1:
                    console.print(one_line(report))
    return [found[submission.name] for submission in submissions if submission.name in found]


@app.command("new-term")
def new_term(
    folder: FolderArgument,
    course: Annotated[
        str, options.taking("COURSE", "Its name, or its folder.", words=names_and_folders)
    ],
) -> None:
    """Make a term's folder: settings, roster, hand-ins, marks by hand and results."""
    from py2048.courses.term import settings

    for path in settings.new_term(folder, course, datetime.now().astimezone()):
        print(path)
    print(f"\nNow fill them, and put hand-ins into {folder / 'submissions' / 'project'}")


@contextmanager
def _marked(
    folder: Path, name: str, machine: Machine, seconds: float = SUBMISSION_S
) -> Iterator[tuple[Course, RunInfo, list[Mark]]]:
    """Grade what is new of an assignment; the programs can be read meanwhile."""
    from py2048.courses.term import marks

    term = marks.Course.read(folder)
    grading = term.grading(term.settings.assignment(name))
    sandbox, run = _begun(term.settings.title, grading, machine, seconds)

    def grade_all(submissions: list[Submission], grading: Grading, log: Path) -> list[Report]:
        secret = term.settings.secret
        return _graded(submissions, grading, run, sandbox, machine.width, log, secret=secret)

    with tempfile.TemporaryDirectory(prefix="py2048-term-") as scratch:
        try:
            yield term, run, marks.grade_assignment(term, name, Path(scratch), grade_all)
        except marks.Stopped as stopped:
            streams.complain(str(stopped))
            raise typer.Exit(streams.INTERRUPTED) from None


@app.command()
@options.grouped
def grade(
    folder: FolderArgument,
    machine: Machine,
    assignment: Annotated[
        str | None,
        options.word(
            "[ASSIGNMENT]", "One of course.toml; by default all with hand-ins.", assignments
        ),
    ] = None,
    timeout: TimeoutOption = SUBMISSION_S,
    force: options.ForceOption = False,
) -> None:
    """Grade what is new of a term, and write its tables of marks and pages for students."""
    from py2048.courses.term import pages
    from py2048.courses.term.marks import marks_table
    from py2048.courses.term.settings import read_settings
    from py2048.courses.term.tables import Written

    settings, results = read_settings(folder), Written(folder / "results")
    given = [name for name in settings.assignments if (folder / "submissions" / name).is_dir()]
    names = [assignment] if assignment else given
    for name in names:
        settings.assignment(name)
        results.refuse_changed(folder / "results" / f"{name}.csv", force=force)
    failed = 0
    for name in names:
        with _marked(folder, name, machine, timeout) as (term, run, marks):
            table = folder / "results" / f"{name}.csv"
            results.write(table, marks_table(term, name, marks), force=force)
            pages.write_pages(term, name, marks, run, datetime.now(settings.zone))
        failed += _say_marks(name, marks)
        print(f"{table}\n{folder / 'results' / name}")
    if failed:
        raise CourseError(f"the grader failed on {failed} submissions, which have no mark")


def _say_marks(name: str, marks: list[Mark]) -> int:
    """Say what a teacher must see to; return how often the grader has failed."""
    from py2048.courses.grading.tasks import printable

    students = [mark for mark in marks if mark.student]
    handed_in = sum(bool(mark.hand_in) for mark in students)
    print(f"{name}: {handed_in} of {len(students)} students have handed in")
    for mark in marks:
        if mark.student is None:
            print(f"{name}: {printable(mark.name)!r} fits no student of roster.csv")
    return sum(bool(mark.report and mark.report.failure) for mark in marks)


@app.command()
@options.grouped
def export(
    folder: FolderArgument,
    assignment: AssignmentArgument,
    platform: Annotated[
        str,
        options.taking(
            "PLATFORM", "moodle, canvas, gradescope or classroom50.", words=lambda: PLATFORMS
        ),
    ],
    machine: Machine,
    template: Annotated[
        Path | None,
        options.taking("FILE", "The table that Moodle or Canvas gives, to be filled in."),
    ] = None,
    force: options.ForceOption = False,
) -> None:
    """Write an assignment's marks in the form of a learning platform."""
    from py2048.courses.term import exports
    from py2048.courses.term.tables import Written

    if platform not in PLATFORMS:
        raise CourseError(f"--platform {platform!r}: it is one of {', '.join(PLATFORMS)}")
    with _marked(folder, assignment, machine) as (term, run, marks):
        made = exports.export(term, assignment, marks, platform, template, run)
        written = Written(folder / "results")
        for name, data in made.files.items():
            written.write(folder / "results" / name, data, force=force)
            print(folder / "results" / name)
    if not made.files:
        print(f"{assignment}: no student has marks yet")
    for who in made.left:
        print(f"{who} has marks and is not in the platform's table")


@app.command()
def desk(
    folder: FolderArgument,
    port: Annotated[int, typer.Option(min=0, max=65535, help="By default a free one.")] = 0,
) -> None:
    """Show what is graded in the browser, and write marks by hand, until Ctrl-C.

    It is open on this machine alone, to the printed address. Needs the extra web.
    """
    with extra_for("the desk", "web"):
        from py2048.courses.term import desk as served
        from py2048.server.run import listen
        from py2048.server.site.pages import assets

    served.serve(folder, listen("127.0.0.1", port), assets().content)


@app.command()
def alike(
    folder: FolderArgument,
    assignment: AssignmentArgument,
    threshold: Annotated[
        float, typer.Option(metavar="P", min=1, max=100, help="The least share in percent.")
    ] = 50.0,
) -> None:
    """Show which programs of an assignment have much in common; course desk shows them."""
    from py2048.courses.term import alike as likeness
    from py2048.courses.term.marks import Course

    term = Course.read(folder)
    with tempfile.TemporaryDirectory(prefix="py2048-term-") as scratch:
        hand_ins = term.finder(assignment, Path(scratch)).find(folder / "submissions" / assignment)
        pairs = likeness.pairs_of(likeness.compared(term, assignment, hand_ins), threshold)
    for pair in pairs:
        print(f"{pair.share:3.0f} %  {pair.one.name}, {pair.other.name}")
    print(f"{len(pairs)} pair{'' if len(pairs) == 1 else 's'}")
