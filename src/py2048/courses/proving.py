"""Test the grading of a course with programs whose marks are known.

The starter must run but earn no marks. The solutions in ``right`` must earn full marks.
``mutants.toml`` defines incorrect variants of the solutions in ``right``. The table
``[solution.name]`` lists the text replacements (``changes``) that turn a solution into a mutant.
Each search text must occur once in the solution, unless ``everywhere`` is set. The mutant must lose
marks in all tasks listed in ``loses`` (task ids or ``all``) and in no other. The optional ``costs``
are the marks that the mutant must lose in each task listed in ``loses``.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import msgspec

from py2048.core.data import convert, read_toml
from py2048.core.errors import CourseError, shown, unknown
from py2048.courses import COURSES, Course, write_new
from py2048.courses.grading.grader import grade
from py2048.courses.grading.mutants import solutions_in
from py2048.courses.grading.ownership import copy_solution, files_of_solution
from py2048.courses.grading.report import GradeReport
from py2048.courses.grading.sandbox import SandboxConfig
from py2048.courses.grading.submissions import collect
from py2048.courses.grading.tasks import Grading, place_in, read_sheet, validate

TEMPLATE = Path(__file__).with_name("template")
SEEDS = ("", *map(str, range(9)))


class MutantSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of ``mutants.toml``."""

    flaw: str
    loses: tuple[str, ...]
    changes: tuple[tuple[str, str], ...]
    costs: tuple[str, ...] = ()
    everywhere: bool = False


@dataclass(frozen=True)
class Trial:
    """A program to grade, and the marks it is expected to lose.

    Attributes:
        loses: Ids of the tasks in which the program must lose marks.
        costs: Number of marks that the program must lose in each task of `loses`. Empty if any loss
            is accepted.
        mutant: The replacements that turn `source` into a mutant, if any.
    """

    name: str
    source: Path
    loses: tuple[str, ...]
    costs: tuple[Fraction, ...] = ()
    mutant: MutantSpec | None = None

    @property
    def changed_files(self) -> dict[str, str]:
        """The changed source files by name. Empty if there is no mutant.

        Raises:
            CourseError: If a search text is missing or ambiguous.
        """
        if self.mutant is None:
            return {}
        files = files_of_solution(self.source)
        texts = [file.read_text("utf-8") for file in files]
        for search, _ in self.mutant.changes:
            found = "\0".join(texts).count(search)
            if found != 1 and not (found and self.mutant.everywhere):
                fix = "copy a text from it that occurs once"
                raise CourseError(f"{shown(search)} occurs {found} times in {self.source}: {fix}")
        replacements = dict(self.mutant.changes)
        find = re.compile("|".join(map(re.escape, replacements)))
        changed = (find.sub(lambda match: replacements[match[0]], text) for text in texts)
        return dict(zip((file.name for file in files), changed, strict=True))

    def write(self, folder: Path) -> Path:
        """Write the program to a folder, and return the program's path."""
        path = folder / (self.name + self.source.suffix)
        copy_solution(self.source, path, self.changed_files)
        return path

    def finding(self, report: GradeReport) -> str:
        """Describe how a report differs from the expected marks, or return an empty string."""
        if report.failure or (report.problem and not self.mutant):
            return report.reason
        failed = [check for task in report.tasks for check in task.checks if not check.passed]
        if report.lost != self.loses:
            lost, due = (", ".join(ids) or "no task" for ids in (report.lost, self.loses))
            words = "".join(f"; {c.title}: {c.example} is {c.actual}" for c in failed[:1])
            return " ".join(f"loses marks in {lost}, but should in {due}{words}".split())
        costs = [task.marks - task.earned for task in report.tasks if task.id in self.loses]
        found, due = (", ".join(map(str, marks)) for marks in (costs, self.costs))
        if self.costs and found != due:
            return f"loses {found} marks, not {due}"
        if silent := [c.title for c in failed if not (c.example and c.expected and c.actual)]:
            return f"the report does not explain what went wrong in {silent[0]!r}"
        return ""


def check_tasks(course: Course) -> None:
    """Check a course's examples with several seeds, and its marks against the task sheet.

    Raises:
        CourseError: If a mistake is found. The message describes the first mistake.
    """
    grading = course.grading()
    sheet = next(path for path in course.handout_files if path.name == "TASKS.md")
    asked = {task.id: task.marks for task in read_sheet(sheet).values()}
    for one in (grading, *grading.variants):
        validate(one, SEEDS)
        marks = {task.id: task.marks for task in one.tasks}
        for id_ in sorted(asked.keys() | marks.keys()):
            on_sheet, in_code = asked.get(id_, "no"), marks.get(id_, "none")
            if on_sheet != in_code:
                raise CourseError(
                    f"{place_in(sheet, f'## Task {id_}:')}: task {id_} has {on_sheet} marks, but "
                    f"{in_code} in tasks.py: make them equal"
                )


def trials(course: Course) -> list[Trial]:
    """Return the programs for testing whether a course is graded correctly.

    Raises:
        CourseError: If ``mutants.toml`` or a solution has a mistake.
    """
    tasks, folder = course.grading().tasks, course.proof
    ids = tuple(task.id for task in tasks)
    right = solutions_in(folder / "right")
    mutants = list(_mutants(folder / "mutants.toml", right, ids))
    missing = set(ids).difference(*(trial.loses for trial in mutants if trial.loses != ids))
    if missing:
        raise CourseError(
            f"{folder / 'mutants.toml'}: add a mutant that loses marks in task {min(missing)}"
        )
    return [
        Trial("starter", course.starter, ids, tuple(Fraction(task.marks) for task in tasks)),
        *(Trial(path.stem, path, ()) for path in right),
        *mutants,
    ]


def _mutants(path: Path, right: Sequence[Path], ids: tuple[str, ...]) -> Iterator[Trial]:
    """Yield the trials of a ``mutants.toml``."""
    sources = {source.stem: source for source in right}
    for solution, mutants in read_toml(path, CourseError).items():
        if solution not in sources:
            what = f"there is no right solution {unknown(solution, sources)}"
            raise CourseError(f"{path}: {what}")
        for name, entry in mutants.items():
            place = f"{place_in(path, f'[{solution}.{name}]')}: {solution}.{name}"
            mutant = convert(entry, MutantSpec, CourseError, place)
            for id_ in set(mutant.loses).difference(ids, ["all"]):
                raise CourseError(f"{place}: there is no task {unknown(id_, ids)}")
            loses = tuple(id_ for id_ in ids if {id_, "all"} & {*mutant.loses})
            try:
                costs = tuple(map(Fraction, mutant.costs))
                trial = Trial(name, sources[solution], loses, costs, mutant)
                assert trial.changed_files  # Raises an error if a search text is missing.
            except ValueError as error:  # CourseError is a subclass of ValueError.
                raise CourseError(f"{place}: {error}") from None
            yield trial


def grade_trials(
    trials: Sequence[Trial], grading: Grading, sandbox: SandboxConfig
) -> Iterator[tuple[Trial, GradeReport]]:
    """Grade programs in parallel. Yield the programs in order with their reports."""

    def report_on(trial: Trial) -> GradeReport:
        with tempfile.TemporaryDirectory(prefix="py2048-prove-") as scratch:
            path = trial.write(Path(scratch))
            found = collect([path], grading, Path(scratch, "unpacked"))
            if len(found) != 1:
                raise CourseError(f"{trial.source}: expected one submission, found {len(found)}")
            return grade(found[0], grading, sandbox)

    with sandbox.pool() as pool:
        yield from zip(trials, pool.map(report_on, trials), strict=True)


def new_course(folder: Path) -> list[Path]:
    """Create a small working course in a new folder, and return its files.

    Raises:
        CourseError: If a file already exists, or the folder's name is not a valid course name.
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
