"""A course is tried before a student is graded: on programs whose marks its author knows.

The starter runs and earns nothing. The solutions in ``right`` lose nothing. ``mutants.toml`` makes
wrong ones of them: ``[solution.name]`` is the solution with each search text of ``changes``
replaced, and it loses marks of the tasks in ``loses`` (task ids, or ``all``): as many as ``costs``
says, if it does. A search text stands in the solution once, or is replaced ``everywhere``. One that
hangs may have fewer ``seconds`` for each call than a student's.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import msgspec

from py2048.core.errors import CourseError, did_you_mean, shown
from py2048.courses import COURSES, SUBMISSION_S, Course, read_toml, write_new
from py2048.courses.grading.grader import grade
from py2048.courses.grading.mutants import solutions_in
from py2048.courses.grading.report import Report
from py2048.courses.grading.sandbox import Protection, SandboxConfig
from py2048.courses.grading.submissions import collect
from py2048.courses.grading.tasks import Grading, read_sheet, validate

TEMPLATE = Path(__file__).with_name("template")
SEEDS = ("", *map(str, range(9)))
SECONDS = 10 * SUBMISSION_S  # on a busy machine: all but mutants that hang come to their end


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A right solution made wrong by replacing search texts."""

    flaw: str
    loses: tuple[str, ...]
    changes: tuple[tuple[str, str], ...]
    costs: tuple[str, ...] = ()
    everywhere: bool = False
    seconds: float | None = None


@dataclass(frozen=True)
class Trial:
    """A program, and the tasks whose marks it loses: as many as `costs` says, if it does."""

    name: str
    source: Path
    loses: tuple[str, ...]
    costs: tuple[Fraction, ...] = ()
    mutant: Mutant | None = None

    @property
    def texts(self) -> dict[str, str]:
        """What its files are to be, by name; of those that are not the source's.

        Raises:
            CourseError: for a search text that is not there, or more than once.
        """
        if self.mutant is None:
            return {}
        files = sorted(self.source.glob("*.py")) if self.source.is_dir() else [self.source]
        texts = [file.read_text("utf-8") for file in files]
        for search, _ in self.mutant.changes:
            found = "\0".join(texts).count(search)
            if found != 1 and not (found and self.mutant.everywhere):
                where = f"stands {found} times in {self.source}, not once"
                raise CourseError(f"the mutant {self.name}: {shown(search)} {where}")
        replacements = dict(self.mutant.changes)
        find = re.compile("|".join(map(re.escape, replacements)))
        changed = (find.sub(lambda match: replacements[match[0]], text) for text in texts)
        return dict(zip((file.name for file in files), changed, strict=True))

    def write(self, folder: Path) -> Path:
        """Write the program into a folder; return its path."""
        path = folder / (self.name + self.source.suffix)
        (shutil.copytree if self.source.is_dir() else shutil.copy)(self.source, path)
        for name, text in self.texts.items():
            (path / name if path.is_dir() else path).write_text(text, "utf-8")
        return path

    def finding(self, report: Report) -> str:
        """Return what is wrong with the report on the program; nothing if all is right."""
        if report.failure or (report.problem and not self.mutant):
            return report.reason
        failed = [check for task in report.tasks for check in task.checks if not check.passed]
        if report.lost != self.loses:
            lost, due = (", ".join(ids) or "no task" for ids in (report.lost, self.loses))
            words = "".join(f"; {c.title}: {c.example} is {c.actual}" for c in failed[:1])
            return " ".join(f"loses marks in {lost}, and should in {due}{words}".split())
        costs = [task.marks - task.earned for task in report.tasks if task.id in self.loses]
        if self.costs and costs != [*self.costs]:
            return (
                f"loses {', '.join(map(str, costs))} marks, not {', '.join(map(str, self.costs))}"
            )
        if silent := [c.title for c in failed if not (c.example and c.expected and c.actual)]:
            return f"is not told what went wrong in {silent[0]!r}"
        return ""


def check_tasks(course: Course) -> None:
    """Look for slips in a course's tasks: examples from several seeds, the sheet that students get.

    Raises:
        CourseError: for the first one.
    """
    grading = course.grading()
    sheet = next(path for path in course.handed_out if path.name == "TASKS.md")
    asked = {task.id: task.marks for task in read_sheet(sheet).values()}
    for one in (grading, *grading.variants):
        validate(one, SEEDS)
        marks = {task.id: task.marks for task in one.tasks}
        for id_ in sorted(asked.keys() | marks.keys()):
            here, there = asked.get(id_, "no"), marks.get(id_, "none")
            if here != there:
                raise CourseError(f"{sheet}: task {id_} has {here} marks, and {there} in tasks.py")


def trials(course: Course) -> list[Trial]:
    """Return the programs to try a course on.

    Raises:
        CourseError: for the first slip of their author.
    """
    tasks, folder = course.grading().tasks, course.proof
    ids = tuple(task.id for task in tasks)
    right = solutions_in(folder / "right")
    mutants = list(_mutants(folder / "mutants.toml", right, ids))
    missing = set(ids).difference(*(trial.loses for trial in mutants if trial.loses != ids))
    if missing:
        raise CourseError(f"{folder / 'mutants.toml'}: no mutant loses marks in {min(missing)}")
    return [
        Trial("starter", course.starter, ids, tuple(Fraction(task.marks) for task in tasks)),
        *(Trial(path.stem, path, ()) for path in right),
        *mutants,
    ]


def _mutants(path: Path, right: Sequence[Path], ids: tuple[str, ...]) -> Iterator[Trial]:
    """Yield the mutants of a file."""
    sources = {source.stem: source for source in right}
    for solution, mutants in read_toml(path).items():
        if solution not in sources:
            near = did_you_mean(solution, sources)
            raise CourseError(f"{path}: no right solution is called {solution!r}{near}")
        for name, entry in mutants.items():
            try:
                mutant = msgspec.convert(entry, Mutant)
                costs = tuple(map(Fraction, mutant.costs))
            except (msgspec.ValidationError, ValueError) as error:
                raise CourseError(f"{path}: {solution}.{name}: {error}") from None
            for id_ in set(mutant.loses).difference(ids, ["all"]):
                near = did_you_mean(id_, ids)
                raise CourseError(f"{path}: {solution}.{name}: no task {id_!r}{near}")
            loses = tuple(id_ for id_ in ids if {id_, "all"} & {*mutant.loses})
            trial = Trial(name, sources[solution], loses, costs, mutant)
            assert trial.texts  # every search text is found
            yield trial


def tried(
    trials: Sequence[Trial], grading: Grading, protection: Protection, jobs: int = 1
) -> Iterator[tuple[Trial, Report]]:
    """Grade programs, `jobs` at a time; yield them with their reports, in their order."""
    sandbox = SandboxConfig(protection, seconds=SECONDS)

    def report_on(trial: Trial) -> Report:
        with tempfile.TemporaryDirectory(prefix="py2048-prove-") as scratch:
            path = trial.write(Path(scratch))
            found = collect([path], grading, Path(scratch, "unpacked"))
            if len(found) != 1:
                raise CourseError(f"{trial.source}: these are {len(found)} submissions, not one")
            seconds = (trial.mutant and trial.mutant.seconds) or grading.seconds
            return grade(found[0], replace(grading, seconds=seconds), sandbox)

    pool = ThreadPoolExecutor(jobs)
    try:
        yield from zip(trials, pool.map(report_on, trials), strict=True)
    finally:
        sandbox.abort()
        pool.shutdown(cancel_futures=True)


def new_course(folder: Path) -> list[Path]:
    """Make the folder of a course that works as it is, to be filled; return its files.

    Raises:
        CourseError: where a file is there already, or the folder's name does not suit.
    """
    name = folder.resolve().name
    if name in COURSES or not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise CourseError(f"{name!r} cannot be a course's name: use letters, digits, - and _")
    files = {
        str(path.relative_to(TEMPLATE)): path.read_bytes().replace(b"$name", name.encode())
        for path in sorted(TEMPLATE.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    return write_new(folder, files, "the course")
