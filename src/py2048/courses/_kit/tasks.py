"""What a course asks, as data: tasks, their marks, their checks, the examples of a check.

A course author writes these values in ``courses/<name>/tasks.py``; see
``docs/how-to/write-a-graded-task.md``. Everything here lives in the grader's own process.
The process that runs a submission gets the code of an example and never what is expected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py2048.courses._kit.session import Session

Examples = Sequence["Example"] | Callable[[], Iterable["Example"]]


class Mismatch(Exception):  # noqa: N818 - a finding about a submission, not a fault of the grader
    """A submission did not do what was asked.

    `example` is the code that shows it, as a student would type it; `expected` and `actual`
    are texts, ready to print.
    """

    def __init__(self, example: str, expected: str, actual: str) -> None:
        super().__init__(f"{example}: expected {expected}, got {actual}")
        self.example = example
        self.expected = expected
        self.actual = actual


class Trouble(Mismatch):
    """The process of the submission ended or was stopped: a crash, a limit, an exit."""


class PatchFailed(Mismatch):
    """A reference patch does not work in this submission; nothing is said about the check."""


@dataclass(frozen=True)
class Example:
    """A few lines of Python to type into a submission, and what has to come of it.

    `given` prepares (statements), `code` is what is asked: the value of its last line, if that
    is an expression, is compared with `expected`. `prints` is the exact text that `code` has to
    print (``None``: not looked at). `then` maps expressions, evaluated afterwards, to their
    values. `typed` are the lines that `input()` reads. `draws` are the numbers in [0, 1) that
    the random module uses before it goes on from `seed`. Examples of lower `rank` are tried first.
    """

    code: str
    expected: Any = ...  # ... : any value, as long as nothing is raised
    given: str = ""
    prints: Any = None
    then: Mapping[str, Any] = field(default_factory=dict)
    typed: Sequence[str] = ()
    draws: Sequence[float] = ()
    seed: int = 0
    rank: int = 0

    @property
    def size(self) -> tuple[int, int, int]:
        """How big the example is: what a student reads first should be telling and short."""
        text = self.given + self.code + "".join(self.typed)
        return self.rank, text.count("\n"), len(text)


@dataclass(frozen=True)
class Check:
    """One thing that a task asks for: examples, or a function that talks to the submission.

    All examples have to hold. They are tried by rank and from the smallest up, so the one
    reported is the smallest that fails. `seconds` limits each call. `reference_patches` stand in
    for those of its task. A check of `weight` 0 costs no marks: it is a remark for the student.
    """

    title: str
    examples: Examples = ()
    run: Callable[[Session], None] | None = None
    weight: int = 1
    seconds: float | None = None
    reference_patches: tuple[str, ...] | None = None

    def listed(self) -> list[Example]:
        """The examples, smallest first."""
        found = self.examples() if callable(self.examples) else self.examples
        return sorted(found, key=lambda example: example.size)


@dataclass(frozen=True)
class Task:
    """A task of a course's document with its marks.

    Each check earns its share of the marks by weight; with `all_or_nothing` only all of them
    together earn any. Each of the `reference_patches` is code that puts right versions of what
    *other* tasks ask into the submission. A check that fails is tried again after each of them
    until it holds, so that an error loses marks once and not in every task that builds on it.
    """

    id: str
    title: str
    asked: str
    marks: Fraction | int
    checks: tuple[Check, ...]
    reference_patches: tuple[str, ...] = ()
    all_or_nothing: bool = False

    def patches_of(self, check: Check) -> tuple[str, ...]:
        """The reference patches after which `check` is tried again."""
        own = check.reference_patches
        return self.reference_patches if own is None else own

    def earned(self, passed: Sequence[bool]) -> Fraction:
        """Marks for the checks that `passed`, in the order of `checks`."""
        total = sum(check.weight for check in self.checks)
        share = sum(check.weight for check, good in zip(self.checks, passed, strict=True) if good)
        if self.all_or_nothing and share < total:
            return Fraction(0)
        return Fraction(self.marks) * share / total


@dataclass(frozen=True, eq=False)
class Grading:
    """How the submissions of one course are graded.

    `module` is the name under which the student's file is imported; `files` are the file names
    it may have (the first is the document's). `expects` are names that it defines: the file
    among several that defines most of them is taken. `more_modules` are further files of a
    submission. `given_files` are handed out and are put in place of the submission's own.
    `gui` brings in a virtual display and the person before it; `libraries` are importable packages
    beside the standard library. `prelude` runs before every example; `opening` is what a student
    types before an example, with ``{module}`` for the student's file. `variants` are gradings of
    the same tasks in another language: the one whose `expects` a program defines most of is taken.
    `remarks` finds what else the document says about a program's text. `not_graded` says what of
    the document's marks a program cannot judge.
    """

    course: str
    module: str
    tasks: tuple[Task, ...]
    files: tuple[str, ...]
    expects: tuple[str, ...] = ()
    more_modules: tuple[str, ...] = ()
    given_files: tuple[Path, ...] = ()
    gui: bool = False
    libraries: tuple[str, ...] = ()
    prelude: str = ""
    opening: str = "from {module} import *"
    variants: tuple[Grading, ...] = ()
    remarks: Callable[[str], Iterable[str]] = lambda text: ()
    seconds: float = 2.0
    memory_mib: int = 512
    not_graded: str = ""

    @property
    def marks(self) -> Fraction:
        """All marks together."""
        return sum((Fraction(task.marks) for task in self.tasks), Fraction(0))
