"""``py2048 course``: play courses, hand out starters, grade submissions and manage terms."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from py2048.core.errors import CourseError, extra_for
from py2048.core.language import LANGUAGES
from py2048.courses import SUBMISSION_S, course_names, get_course
from py2048.presentation import options, streams

if TYPE_CHECKING:
    from py2048.courses.grading.report import GradeReport, RunInfo
    from py2048.courses.grading.sandbox import SandboxConfig
    from py2048.courses.grading.submissions import Submission
    from py2048.courses.grading.tasks import Grading
    from py2048.courses.term.handins import HandIn
    from py2048.courses.term.manual import Term
    from py2048.courses.term.marks import Mark

app = typer.Typer(
    cls=options.Subcommands,
    help="Course systems: play them, hand out starters, grade submissions.",
    pretty_exceptions_enable=False,
)


def names_and_folders(incomplete: str) -> list[str]:
    """Return shell completions for the name of a course."""
    return [*course_names(), *options.files_that_end()(incomplete)]


NameArgument = Annotated[str, options.word("COURSE", "Its name, or its folder.", names_and_folders)]
FolderArgument = Annotated[Path, options.word("FOLDER", "A term's folder.")]


def assignments(ctx: typer.Context) -> list[str]:
    """Complete assignment names in the shell, for the term named on the command line."""
    from py2048.courses.term.settings import read_settings

    with suppress(CourseError):
        return list(read_settings(Path(ctx.params["folder"])).assignments)
    return []


AssignmentArgument = Annotated[str, options.word("ASSIGNMENT", "Name in course.toml.", assignments)]


_UNPROTECTED = "Grade even if submissions could read py2048's solutions."


@dataclass(frozen=True)
class Machine:
    """Settings for running submissions on this machine."""

    jobs: options.JobsOption = None
    unprotected: Annotated[bool, typer.Option("--unprotected", help=_UNPROTECTED)] = False

    def sandbox(self, seconds: float = SUBMISSION_S, *, trusted: bool = False) -> SandboxConfig:
        """Return a sandbox configuration that limits each submission to `seconds`."""
        from py2048.courses.grading.sandbox import SandboxConfig, choose_protection

        protection = choose_protection(unprotected=self.unprotected)
        return SandboxConfig(protection, trusted, seconds, self.jobs or os.cpu_count() or 1)


@dataclass(frozen=True)
class Outputs:
    """Output formats of the reports, and the files to write."""

    json: options.JsonOption = False
    csv: Annotated[Path | None, options.taking("FILE", "Write a gradebook.")] = None
    pages: Annotated[
        Path | None, options.taking("DIR", "Write one HTML page per student and an index.")
    ] = None
    detailed: Annotated[
        bool, typer.Option("--details", "-d", help="Show every task of every submission.")
    ] = False
    force: options.ForceOption = False

    def write(self, grading: Grading, run: RunInfo, reports: list[GradeReport]) -> None:
        """Write the requested output files, and print the reports."""
        from py2048.courses.grading import report

        if self.csv:
            self.csv.write_bytes(report.gradebook(grading, reports))
        if self.pages:
            report.write_pages(self.pages, run, reports)
        if self.json:
            options.print_json(report.to_json(run, reports))
        else:
            report.print_reports(run, reports, detailed=self.detailed or len(reports) == 1)


TimeoutOption = Annotated[
    float,
    typer.Option(metavar="S", min=1, max=86_400, help="Time limit per submission in seconds."),
]
_LANGUAGE = "Report language, en or pt; default: the program's."
LanguageOption = Annotated[str, options.taking("CODE", _LANGUAGE, words=lambda: list(LANGUAGES))]


@app.command("list", cls=options.Command)
def list_() -> None:
    """List the courses."""
    names = course_names()
    for name in names:
        try:
            course = get_course(name)
            about = f"{course.title}: {course.asks} ({course.screen})"
        except CourseError as error:  # an installed course may be invalid
            about = str(error)
        print(f"{name:{max(map(len, names))}}  {about}")


@app.command(cls=options.Command, context_settings={"ignore_unknown_options": True})
def play(
    name: NameArgument,
    arguments: Annotated[
        list[str] | None, options.word("ARGUMENT", "Arguments of the course's program.")
    ] = None,
) -> int:
    """Play a course's reference solution, for example cmput175 5 5 for a larger grid."""
    return get_course(name).play(arguments or ())


@app.command(cls=options.Command)
def start(
    name: NameArgument, folder: Annotated[Path, options.word("DIR", "Where to put the files.")]
) -> None:
    """Copy the files that students start from. Existing files are never overwritten."""
    written = get_course(name).hand_out(folder)
    for path in written:
        print(path)
    if first := next((path for path in written if path.suffix == ".md"), None):
        print(f"\nNext, read {first}")


@app.command(cls=options.Command)
def new(folder: Annotated[Path, options.word("FOLDER", "The folder of the new course.")]) -> None:
    """Create a small working course that you can adapt."""
    from py2048.courses.proving import new_course

    for path in new_course(folder):
        print(path)
    print(f"\nNext, test it: py2048 course prove {folder}")


@app.command(cls=options.Command)
@options.grouped
def prove(name: NameArgument, machine: Machine) -> None:
    """Test a course before you grade students: its starter, correct solutions and mutants."""
    from py2048.courses import proving
    from py2048.courses.grading.report import marks_of

    course = get_course(name)
    proving.check_tasks(course)
    grading, trials = course.grading(), proving.trials(course)
    sandbox, _ = _prepare_run(course.title, grading, machine)
    wrong = 0
    for trial, report in proving.grade_trials(trials, grading, sandbox):
        finding = trial.finding(report)
        wrong += bool(finding)
        lost = f", marks lost in {', '.join(report.lost)}" if trial.mutant else ""
        print(f"{trial.name}: {finding or marks_of(report) + lost}")
    if wrong:
        raise CourseError(f"{wrong} of {len(trials)} programs do not get the expected marks")
    print(f"{course.name}: all {len(trials)} programs get the expected marks")


@app.command(cls=options.Command)
@options.grouped
def check(
    name: NameArgument,
    paths: Annotated[
        list[Path],
        options.word("PATH", "Python files, submission folders, or folders or ZIPs of them."),
    ],
    outputs: Outputs,
    machine: Machine,
    tasks: Annotated[
        list[str] | None,
        options.taking("ID", "Grade only this task. Repeat it for several tasks.", "--task"),
    ] = None,
    log: options.LogOption = None,
    from_python2: Annotated[
        bool, typer.Option("--from-python2", help="Convert programs written for Python 2 first.")
    ] = False,
    language: LanguageOption = "",
    timeout: TimeoutOption = SUBMISSION_S,
) -> int:
    """Grade submissions of a course. Each runs in a sandboxed process.

    By default, as many submissions run in parallel as there are processors. With --jobs 1, they run
    one after another. Ctrl-C stops the run and reports the submissions graded so far.
    """
    from py2048.courses.grading.submissions import collect

    course = get_course(name)
    grading = course.grading().only(tasks or ()).in_language(language)
    sandbox, run = _prepare_run(course.title, grading, machine, timeout)
    with tempfile.TemporaryDirectory(prefix="py2048-check-") as scratch:
        submissions = collect(paths, grading, Path(scratch), from_python2=from_python2)
        reports = _run_grader(submissions, grading, run, sandbox, log, quiet=outputs.json)
    if len(reports) < len(submissions):
        stopped = f"stopped after {len(reports)} of {len(submissions)} submissions"
        streams.complain(stopped)
        run = replace(run, stopped=stopped)
    if reports:
        outputs.write(grading, run, reports)
    if failed := sum(bool(one.failure) for one in reports):
        raise CourseError(
            f"the grader failed on {failed} of {len(reports)} submissions, which got no marks"
        )
    return streams.INTERRUPTED if run.stopped else 0


@app.command(cls=options.Command)
@options.grouped
def mutants(
    name: NameArgument,
    machine: Machine,
    solution: Annotated[
        Path | None,
        options.word("[SOLUTION]", "A correct solution, file or folder; by default the course's."),
    ] = None,
    match: Annotated[
        str, options.taking("TEXT", "Use only mutants whose report line contains this text.")
    ] = "",
    count: options.CountOption = 160,
) -> int:
    """Insert faults into a correct solution, and count the faults that the checks detect.

    The exit status is 1 if fewer than 99 % of the faults are detected, or if a fault costs marks in
    an unrelated task.
    """
    from py2048.courses.grading import mutants as planted

    course = get_course(name)
    solution = solution or planted.solution_in(course.proof / "right")
    chosen = planted.choose(solution, match, count)
    sandbox = machine.sandbox(trusted=True)
    found: Counter[str] = Counter()
    detected: Counter[str] = Counter()
    unrelated = 0
    results = planted.check_mutants(chosen, solution, course.grading(), sandbox)
    for mutant, is_detected, lost in results:
        found[mutant.operator] += 1
        detected[mutant.operator] += is_detected
        unrelated += bool(lost)
        if not is_detected:
            print(f"not detected: {mutant}", flush=True)
        if lost:
            print(f"marks lost in unrelated tasks {', '.join(lost)}: {mutant}", flush=True)
    for operator, count in sorted(found.items()):
        print(f"{operator:16} {detected[operator]:4} of {count}")
    share = 100 * detected.total() / found.total()
    total = f"{detected.total()} of {found.total()} mutants"
    print(f"detected: {total} of {solution.name}, {share:.1f} %")
    print(f"marks lost in unrelated tasks: {unrelated} mutants")
    return int(share < planted.MIN_DETECTED_PERCENT or unrelated > 0)


def _prepare_run(
    title: str, grading: Grading, machine: Machine, seconds: float = SUBMISSION_S
) -> tuple[SandboxConfig, RunInfo]:
    """Check that submissions can run on this machine. Return the sandbox and the run's metadata."""
    from py2048.courses.grading.report import RunInfo, grader_version
    from py2048.courses.grading.session import check_start

    sandbox = machine.sandbox(seconds)
    check_start(grading, sandbox)
    facts = grading.course, title, grader_version(grading), sandbox.protection
    return sandbox, RunInfo(*facts, not_graded=grading.not_graded)


def _run_grader(
    submissions: list[Submission],
    grading: Grading,
    run: RunInfo,
    sandbox: SandboxConfig,
    log: Path | None,
    *,
    secret: str = "",
    quiet: bool = False,
) -> list[GradeReport]:
    """Grade submissions until all are graded or Ctrl-C is pressed, and print the progress.

    The reports are in the same order as the submissions.
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
    found: dict[str, GradeReport] = {}
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

        def show_progress() -> None:
            now = printable(", ".join(running))
            progress.update(bar, completed=len(found), description=now)

        def on_start(submission: Submission) -> None:
            running.append(submission.name)
            show_progress()
            if not progress.tasks[0].started:  # exclude earlier results from the time estimate
                progress.reset(bar, completed=len(found))

        results = ResultsFile(log)
        reports = grade_all(
            submissions, grading, sandbox, results=results, on_start=on_start, secret=secret,
        )  # fmt: skip
        with suppress(KeyboardInterrupt), closing(reports):
            for report in reports:
                found[report.name] = report
                running[:] = [name for name in running if name != report.name]
                show_progress()
                if len(submissions) > 1:
                    console.print(one_line(report))
    return [found[submission.name] for submission in submissions if submission.name in found]


@app.command("new-term", cls=options.Command)
def new_term(
    folder: FolderArgument,
    course: Annotated[
        str, options.taking("COURSE", "Its name, or its folder.", words=names_and_folders)
    ],
) -> None:
    """Create a term's folder with settings, a roster, and folders for hand-ins and results."""
    from py2048.courses.term import settings

    for path in settings.new_term(folder, course, datetime.now().astimezone()):
        print(path)
    print(f"\nNext, fill them in, and put hand-ins into {folder / 'submissions' / 'project'}")


@contextmanager
def _hand_ins(folder: Path, name: str) -> Iterator[tuple[Term, list[HandIn], Path]]:
    """Read a term and an assignment's hand-ins; the folder of unpacked files is deleted later."""
    from py2048.courses.term.handins import Finder
    from py2048.courses.term.manual import Term

    term = Term.read(folder)
    with tempfile.TemporaryDirectory(prefix="py2048-term-") as scratch:
        yield term, Finder(term, name, Path(scratch)).find(), Path(scratch)


@contextmanager
def _graded_assignment(
    folder: Path, name: str, machine: Machine, seconds: float = SUBMISSION_S
) -> Iterator[tuple[Term, RunInfo, list[Mark]]]:
    """Grade an assignment's new submissions. Unpacked files are deleted when the block ends."""
    from py2048.courses.term.marks import class_marks, to_grade

    with _hand_ins(folder, name) as (term, hand_ins, _):
        grading = term.grading(term.settings.assignment(name))
        sandbox, run = _prepare_run(term.settings.title, grading, machine, seconds)
        log, secret = term.results(name), term.settings.secret
        wanted = to_grade(term, name, hand_ins)
        reports = _run_grader(wanted, grading, run, sandbox, log, secret=secret)
        if len(reports) < len(wanted):
            done = f"{len(reports)} of {len(wanted)} submissions"
            streams.complain(f"stopped after {done}; their results are kept")
            raise typer.Exit(streams.INTERRUPTED)
        yield term, run, class_marks(term, name, hand_ins, {one.name: one for one in reports})


@app.command(cls=options.Command)
@options.grouped
def grade(
    folder: FolderArgument,
    machine: Machine,
    assignment: Annotated[
        str | None,
        options.word(
            "[ASSIGNMENT]", "Name in course.toml; by default all with hand-ins.", assignments
        ),
    ] = None,
    timeout: TimeoutOption = SUBMISSION_S,
    at: Annotated[
        datetime | None,
        typer.Option(
            metavar="DATE",
            formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d"],
            help="Grade each repository's last commit up to this date; saved in course.toml.",
        ),
    ] = None,
    force: options.ForceOption = False,
) -> None:
    """Grade a term's new submissions, then write mark tables and student pages."""
    from py2048.courses.term import exports, settings, tables
    from py2048.courses.term.marks import marks_table

    if at:
        if not assignment:
            raise CourseError("--at applies to one assignment: name it")
        settings.set_at(folder, assignment, at)
    read = settings.read_settings(folder)
    results = tables.WrittenFiles(folder / "results", force=force)
    given = [name for name in read.assignments if (folder / "submissions" / name).is_dir()]
    names = [assignment] if assignment else given
    for name in names:
        read.assignment(name)
        results.refuse_changed(f"{name}.csv")
    failed = 0
    for name in names:
        with _graded_assignment(folder, name, machine, timeout) as (term, run, marks):
            table = results.write(f"{name}.csv", marks_table(term, name, marks))
            exports.write_pages(term, name, marks, run, datetime.now(read.zone))
        failed += _print_summary(name, marks)
        print(f"{table}\n{folder / 'results' / name}")
    if failed:
        raise CourseError(f"the grader failed on {failed} submissions, which got no marks")


def _print_summary(name: str, marks: list[Mark]) -> int:
    """Print problems that need the teacher's attention; return the number of grader failures."""
    from py2048.courses.grading.tasks import printable

    students = [mark for mark in marks if mark.student]
    handed_in = sum(bool(mark.hand_in) for mark in students)
    print(f"{name}: {handed_in} of {len(students)} students have handed in")
    for mark in marks:
        if mark.student is None:
            print(f"{name}: {printable(mark.name)!r} matches no student in roster.csv")
        elif mark.report and mark.report.undecided:
            print(f"{name}: {printable(mark.name)} has no total: {mark.problem}")
    return sum(bool(mark.report and mark.report.failure) for mark in marks)


@app.command(cls=options.Command)
@options.grouped
def export(
    folder: FolderArgument,
    assignment: AssignmentArgument,
    platform: Annotated[
        Literal["moodle", "canvas", "classroom50"],
        options.taking("PLATFORM", "moodle, canvas or classroom50."),
    ],
    template: Annotated[
        Path | None,
        options.taking("FILE", "The table downloaded from Moodle or Canvas, to fill in."),
    ] = None,
    force: options.ForceOption = False,
) -> None:
    """Write an assignment's marks in the format of a learning platform. Nothing is graded."""
    from py2048.courses.term import exports, marks, tables

    with _hand_ins(folder, assignment) as (term, hand_ins, _):
        kept = marks.kept_reports(term, assignment, hand_ins)
        found = marks.class_marks(term, assignment, hand_ins, kept)
        files, missing = exports.export(term, assignment, found, platform, template)
        written = tables.WrittenFiles(folder / "results", force=force)
        for name, data in files.items():
            print(written.write(name, data))
    if not files:
        print(f"{assignment}: no student has marks yet")
    for mark in found:
        if mark.student and mark.hand_in and mark.problem:
            what = "no total is exported" if mark.total is None else "exported with a problem"
            print(f"{mark.name}: {what}: {mark.problem}")
    for student in missing:
        print(f"{student} has marks but is not in the platform's table")


@app.command(cls=options.Command)
def autograder(
    folder: FolderArgument,
    assignment: AssignmentArgument,
    platform: Annotated[
        Literal["gradescope", "classroom50"],
        options.taking("PLATFORM", "gradescope or classroom50."),
    ],
    wheel: Annotated[
        Path | None, options.taking("FILE", "py2048's wheel to install; by default from PyPI.")
    ] = None,
    force: options.ForceOption = False,
) -> None:
    """Write an autograder with a term's settings, for a platform to run.

    For Gradescope, this is a ZIP to upload; for Classroom 50, a workflow for your own repository.
    """
    from py2048.courses.term import exports, tables

    name, data = exports.autograder(folder, assignment, platform, wheel)
    print(tables.WrittenFiles(folder / "results", force=force).write(name, data))


@app.command(hidden=True)
@options.grouped
def autograde(
    folder: FolderArgument,
    assignment: AssignmentArgument,
    place: Annotated[Path, options.word("PLACE", "Gradescope's folder /autograder.")],
    machine: Machine,
) -> None:
    """Grade a submission on Gradescope, and write only results/results.json."""
    from py2048.courses.term import exports, tables

    with tempfile.TemporaryDirectory(prefix="py2048-autograde-") as scratch:
        term_folder = Path(scratch)
        exports.gradescope_term(folder, assignment, place, term_folder)
        with _graded_assignment(term_folder, assignment, machine) as (_, run, marks):
            data = exports.gradescope_results(marks[0], run)
    tables.replace_file(place / "results" / "results.json", data)


@app.command(cls=options.Command)
def desk(
    folder: FolderArgument,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; by default a free one.")] = 0,
) -> None:
    """View results in the browser and enter marks by hand. Ctrl-C ends the server.

    The desk has a secret address, which is printed, and can be opened only on this machine. It
    needs the extra "web".
    """
    with extra_for("the desk", "web"):
        from py2048.courses.term import desk as served
        from py2048.server.run import listen
        from py2048.server.site.pages import assets

    served.serve(folder, listen("127.0.0.1", port), assets().content)


@app.command(cls=options.Command)
def alike(
    folder: FolderArgument,
    assignment: AssignmentArgument,
    threshold: Annotated[
        float, typer.Option(metavar="P", min=1, max=100, help="Minimum similarity in percent.")
    ] = 70.0,
) -> None:
    """List groups of similar programs in an assignment. The desk shows them side by side.

    Programs in the term's folder "archive" and the course's solutions are compared, too. Code in
    the folder "examples" is ignored.
    """
    from py2048.courses.term import alike as likeness

    with _hand_ins(folder, assignment) as (term, hand_ins, scratch):
        compared = likeness.compared(term, assignment, hand_ins, scratch)
        clusters = likeness.clusters_of(likeness.pairs_of(*compared, threshold))
    for number, pairs in enumerate(clusters, 1):
        print(f"group {number}: {likeness.described(pairs)}")
        for pair in pairs:
            rare = f"{pair.rare_share:3.0f} % without code that many share"
            print(f"  {pair.share:3.0f} %  {rare}  {pair.one.name}, {pair.other.name}")
    print(f"{len(clusters)} group{'' if len(clusters) == 1 else 's'} of similar programs")
