"""What a course asks, as data: tasks, their marks, their checks, the examples of a check.

A course author writes these values in ``courses/<name>/tasks.py``; see
``docs/how-to/write-a-graded-task.md``. Everything here stays in the grader's own process: a
submission's process gets the code of an example and never what is expected.

Comparing is strict about types, because the documents are: a list is not a tuple, a bool is
not a number.
"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import functools
import pprint
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from py2048.core.errors import CourseError, shown
from py2048.core.language import ENGLISH, LANGUAGES, _
from py2048.courses import CALL_S

MAX_SHOWN = 600
"""Characters of a value that are shown."""

Examples = Sequence["Example"] | Callable[[str], Iterable["Example"]]
"""Examples, or a function that draws them from a seed: other ones for other seeds."""


class CheckFailed(Exception):  # noqa: N818 - a finding about a submission, not a fault of the grader
    """A submission does not do what is asked.

    `example` is the code that shows it, as a student would type it; `expected` and `actual` are
    texts, ready to print. `fact` says of `actual` only what no submission can choose freely (see
    `fact_of`).
    """

    def __init__(
        self, example: str, expected: str, actual: str, fact: str = "something else"
    ) -> None:
        super().__init__(f"{example}: expected {expected}, got {actual}")
        self.example = example
        self.expected = expected
        self.actual = actual
        self.fact = fact


class SubmissionCrash(CheckFailed):
    """The process of the submission ended or was stopped: a crash, a limit, an exit.

    `exit_code` is that of a process which has ended itself, negative for a signal.
    """

    exit_code: int | None = None


class PatchFailed(CheckFailed):
    """A reference patch does not work in this submission; nothing is said about the check."""


@dataclass(frozen=True)
class Example:
    """A few lines of Python to type into a submission, and the result they must have.

    `given` prepares (statements). The value of the last line of `code`, if that is an expression,
    is compared with `expected`. `prints` is the exact text that `code` must print (``None``: any).
    `then` maps expressions, evaluated afterwards, to their values. `typed` are the lines that
    `input()` reads. `seed` starts the random module. Examples of lower `rank` are tried first.
    """

    code: str
    expected: object = ...  # ... : any value, as long as nothing is raised
    given: str = ""
    prints: object = None
    then: Mapping[str, object] = field(default_factory=dict)
    typed: Sequence[str] = ()
    seed: int = 0
    rank: int = 0

    @property
    def size(self) -> tuple[int, int, int]:
        """How big the example is: the first one that a student reads should be short."""
        text = self.given + self.code + "".join(self.typed)
        return self.rank, text.count("\n"), len(text)


@dataclass(frozen=True)
class Check:
    """One thing that a task asks for: examples, or a function that drives the submission.

    All examples must hold. They are tried by rank, then smallest first, so the one reported is the
    smallest that fails. `seconds` limits each call. `reference_patches` replace those of its task.
    A check of `weight` 0 costs no marks: it is a remark for the student.
    """

    title: str
    examples: Examples = ()
    run: Callable[[Any], None] | None = None  # takes a `SubmissionSession`, which stands above
    weight: int = 1
    seconds: float | None = None
    reference_patches: tuple[str, ...] | None = None

    def listed(self, seed: str = "") -> list[Example]:
        """Return the examples, smallest first; some may be drawn from the `seed`."""
        found = self.examples(seed) if callable(self.examples) else self.examples
        return sorted(found, key=lambda example: example.size)


@dataclass(frozen=True)
class Task:
    """A task of a course's document with its marks.

    Each check earns its share of the marks by weight. Each of the `reference_patches` is code that
    puts right versions of what *other* tasks ask for into the submission. A check that fails is
    tried again after each of them until it holds, so that an error loses marks once and not in
    every task that builds on it.
    """

    id: str
    title: str
    asked: str
    marks: Fraction | int
    checks: tuple[Check, ...]
    reference_patches: tuple[str, ...] = ()

    def patches_of(self, check: Check) -> tuple[str, ...]:
        """Return the reference patches after which `check` is tried again."""
        own = check.reference_patches
        return self.reference_patches if own is None else own

    def earned(self, passed: Sequence[bool]) -> Fraction:
        """Return marks for the checks that `passed`, in the order of `checks`."""
        total = sum(check.weight for check in self.checks)
        share = sum(check.weight for check, good in zip(self.checks, passed, strict=True) if good)
        return Fraction(self.marks) * share / total


_SHEET_TASK = re.compile(r"^## Task (\S+): (.+) \((\S+) marks?\)\n\n((?:.+\n)+)", re.MULTILINE)


def read_sheet(path: Path) -> dict[str, Task]:
    """Read the tasks of a course's sheet, by id; `dataclasses.replace` adds their checks.

    A task begins with a heading such as ``## Task 4: collapseRow (10 marks)``. The paragraph
    below it is what a report quotes as `asked`.
    """
    return {
        id: Task(id, title, " ".join(asked.split()), Fraction(marks), ())
        for id, title, marks, asked in _SHEET_TASK.findall(path.read_text(encoding="utf-8"))
    }


@dataclass(frozen=True, eq=False)
class Grading:
    """How the submissions of one course are graded.

    `module` is the name under which the student's file is imported; `files` are the file names
    it may have (the first is the document's). `expects` are names that it defines: the file
    among several that defines most of them is taken. `given_files` are handed out and replace the
    submission's own copies. `gui` adds a virtual display and its user `screen`; `libraries` are
    importable packages beside the standard library. `prelude` runs before every example; `opening`
    is what a student types instead, with ``{module}`` for the student's file, empty where examples
    are not Python. `variants` are
    gradings of the same tasks in another language: the one whose `expects` a program defines most
    of is taken. `remarks` finds what else the document says about a program's text. `not_graded`
    says which of the document's marks a program cannot judge. `folder` is the course's, and is
    set when that is loaded. Reports are in the `language`, and `words` are the course's own for it.
    """

    course: str
    module: str
    tasks: tuple[Task, ...]
    files: tuple[str, ...]
    expects: tuple[str, ...] = ()
    given_files: tuple[Path, ...] = ()
    gui: bool = False
    libraries: tuple[str, ...] = ()
    prelude: str = ""
    opening: str = "from {module} import *"
    variants: tuple[Grading, ...] = ()
    remarks: Callable[[str], Iterable[str]] = lambda text: ()
    seconds: float = CALL_S
    not_graded: str = ""
    folder: Path | None = None
    language: str = ENGLISH
    words: Callable[[str], str] = str

    def told_in(self, language: str) -> Grading:
        """Return the grading with all reports in one language; as it is where none is named."""
        if language not in {"", *LANGUAGES}:
            raise CourseError(f"--language {language!r}: it is one of {', '.join(LANGUAGES)}")
        variants = tuple(one.told_in(language) for one in self.variants)
        return replace(self, language=language or self.language, variants=variants)

    def told(self, text: str) -> str:
        """Return a text of the course, in the language of here and now."""
        return self.words(_(text)) if text else ""

    @property
    def marks(self) -> Fraction:
        """All marks together."""
        return sum((Fraction(task.marks) for task in self.tasks), Fraction(0))


def validate(grading: Grading, seeds: Iterable[str] = ("",)) -> None:
    """Look for mistakes of a course's author, so that none of them costs a mark.

    Values of the wrong type would fail in every submission, as would lines that are not Python; and
    a text where several are expected would be read letter by letter. Examples that are drawn are
    drawn from each of the `seeds`.

    Raises:
        CourseError: with the place and the value of the first mistake.
    """
    where = f"the course {grading.course}"
    _check_types(grading, where)
    for path in grading.given_files:
        if not path.is_file():
            raise CourseError(f"{where}: given_files: {str(path)!r} is missing")
    _check_python(grading.prelude, f"{where}: prelude")
    ids = [task.id for task in grading.tasks]
    for task in grading.tasks:
        place = f"{where}, task {task.id}"
        _check_types(task, place)
        if ids.count(task.id) > 1:
            raise CourseError(f"{where}: two tasks are called {task.id!r}")
        for check in task.checks:
            _validate_check(check, f"{place}, check {check.title!r}", seeds)
        if task.marks <= 0 or not any(check.weight for check in task.checks):
            raise CourseError(f"{place} has no check that costs marks")


def _validate_check(check: Check, here: str, seeds: Iterable[str]) -> None:
    _check_types(check, here)
    try:
        examples = [example for seed in seeds for example in check.listed(seed)]
    except Exception as error:
        raise CourseError(f"{here}: examples: {type(error).__name__}: {error}") from error
    if check.weight < 0 or (not examples and check.run is None):
        raise CourseError(f"{here} has neither examples nor run, or a negative weight")
    for example in examples:
        _check_types(example, f"{here}: {example.code!r}")
        _check_python(example.given, f"{here}: given {example.given!r}")
        _check_python(example.code, f"{here}: code {example.code!r}")
        for expression in example.then:
            _check_python(expression, f"{here}: then {expression!r}", "eval")


_types_of: Any = functools.cache(get_type_hints)


def _check_types(part: Any, here: str) -> None:
    """Refuse a value that is not of its field's type."""
    for name, kind in _types_of(type(part)).items():
        value = getattr(part, name)
        if not _is_a(value, kind):
            words = re.sub(r"\w+\.(?=\w)", "", kind.__name__ if type(kind) is type else str(kind))
            raise CourseError(f"{here}: {name} is to be {words}, not {shown(value)}")


def _is_a(value: Any, kind: Any) -> bool:
    """Return whether a value is of a type as the fields of this module are annotated."""
    kinds = get_args(kind)
    match get_origin(kind):
        case types.UnionType | typing.Union:
            return any(_is_a(value, each) for each in kinds)
        case collections.abc.Callable:
            return callable(value)
        case origin if origin:
            fits = isinstance(value, origin) and not isinstance(value, str)
            return fits and all(_is_a(each, kinds[0]) for each in value)
    if kind in {int, float} and isinstance(value, bool):
        return False
    return isinstance(value, (int, float) if kind is float else kind)


def _check_python(code: str, where: str, mode: str = "exec") -> None:
    if fault := _syntax_error(code, mode):
        raise CourseError(f"{where} is not Python: {fault}")


@functools.cache
def _syntax_error(code: str, mode: str) -> str:
    try:
        ast.parse(code, mode=mode)
    except SyntaxError as error:
        return error.msg
    return ""


# --- values of a submission, and what can be expected of them ---


@dataclass(frozen=True)
class Opaque:
    """A value of a submission that is not plain data: its type's name and a text about it."""

    type: str
    text: str

    def __repr__(self) -> str:
        return self.text or f"<{self.type}>"


@dataclass(frozen=True)
class Array:
    """A NumPy array, as nested lists."""

    rows: object

    def __repr__(self) -> str:
        return f"array({self.rows!r})"


def decode(data: Any) -> Any:  # noqa: C901 - a case for each kind of value
    """Return the value that a process sent, from parsed JSON (`encode` of ``agent/host.py``)."""
    if isinstance(data, list):
        return [decode(member) for member in data]
    if not isinstance(data, dict):
        return data
    ((tag, members),) = data.items()
    if tag == "dict":
        return {_hashable(key): decode(member) for key, member in members}
    if tag == "tuple":
        return tuple(map(decode, members))
    if tag in {"set", "frozenset"}:
        return (set if tag == "set" else frozenset)(map(_hashable, members))
    match tag, members:
        case "int", [digits]:
            return int(digits, 16)
        case "float", [name]:
            return float(name)
        case "bytes", [digits]:
            return bytes.fromhex(digits)
        case "array", [rows]:
            return Array(decode(rows))
        case "object", [str(kind), str(text)]:
            return Opaque(kind, text)
    raise ValueError(f"no value is marked {tag!r}")


def _hashable(data: Any) -> Any:
    """Return a value that can be a key or a member of a set: what cannot be becomes a text."""
    value = decode(data)
    try:
        hash(value)
    except TypeError:
        return show(value)
    return value


@dataclass(frozen=True)
class Raised:
    """An exception of a submission: its type, that type's bases, its message and its place."""

    type: str
    bases: tuple[str, ...] = ()
    message: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        words = _(" ({file}, line {line})").format(file=self.file, line=self.line)
        place = words if self.line else ""
        if self.type == "OutOfTime":
            words = _("still running when the time was over{place}: an endless loop?")
            return words.format(place=place)
        return f"{self.type}: {self.message}{place}" if self.message else f"{self.type}{place}"


@dataclass(frozen=True)
class Raises:
    """Expect an exception of a type (or of a type derived from it), with an exact message."""

    type: str
    message: str | None = None

    def matches(self, actual: object) -> bool:
        """Return whether `actual` is such an exception."""
        return (
            isinstance(actual, Raised)
            and self.type in {actual.type, *actual.bases}
            and self.message in {None, actual.message}
        )

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type


@dataclass(frozen=True)
class Satisfies:
    """Expect a value for which `holds` is true; `words` says to a student what is asked."""

    words: str
    holds: Callable[[Any], bool]

    def matches(self, actual: object) -> bool:
        """Return whether `actual` is as asked; a value of an unsuited kind is not."""
        try:
            return not isinstance(actual, Raised) and bool(self.holds(actual))
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
            return False

    def __str__(self) -> str:
        return self.words


class OneOf:
    """Expect one of several values."""

    def __init__(self, *values: object) -> None:
        self.values = values

    def matches(self, actual: object) -> bool:
        """Return whether `actual` is one of them."""
        return any(same(value, actual) for value in self.values)

    def __str__(self) -> str:
        return " or ".join(map(show, self.values))


@dataclass(frozen=True)
class Loosely:
    """Expect a value by ``==``, so that 4.0 passes for 4 and 1 for True."""

    value: object

    def matches(self, actual: object) -> bool:
        """Return whether `actual` equals the value."""
        return bool(self.value == actual)

    def __str__(self) -> str:
        return show(self.value)


@dataclass(frozen=True)
class Lines:
    """Expect lines of text, up to blanks at their ends."""

    text: str

    def matches(self, actual: object) -> bool:
        """Return whether `actual` has the same lines."""
        return isinstance(actual, str) and _stripped(actual) == _stripped(self.text)

    def __str__(self) -> str:
        return f"\n{self.text}"


def _stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def fact_of(actual: object) -> str:
    """Return what is known of a value or exception, out of a fixed set of facts.

    None of them is of a student's making.
    """
    if isinstance(actual, Raised):
        if actual.type == "OutOfTime":
            return _("still running when the time was over")
        kind = getattr(builtins, actual.type, None)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            return actual.type
        return _("an exception of the program's own")
    if actual is None or isinstance(actual, bool):
        return str(actual)
    kind = "object" if isinstance(actual, Opaque) else type(actual).__name__
    return _("another {kind}").format(kind=kind)


# What can be expected other than a plain value; the text of one is shown to the student.
MATCHERS = (Raises, Satisfies, OneOf, Loosely, Lines)


def same(expected: Any, actual: Any) -> bool:
    """Return whether `actual` is `expected`: same types all the way down, same values."""
    if isinstance(expected, MATCHERS):
        return expected.matches(actual)
    if type(expected) is not type(actual):
        return False
    if isinstance(expected, list | tuple):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    if isinstance(expected, dict):
        return expected.keys() == actual.keys() and all(
            same(value, actual[key]) for key, value in expected.items()
        )
    return bool(expected == actual)


_UNSEEN = (
    *({*range(32)} - {ord("\n"), ord("\t")}),
    *(*range(0x7F, 0xA0), 0xAD, 0x61C, 0x200B, *range(0x200E, 0x2010), *range(0x2028, 0x202F)),
    *(*range(0x2060, 0x2070), 0xFEFF),
)
UNSEEN = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _UNSEEN}
"""How to show what is not seen, turns a line around, or would be obeyed by a terminal."""


def printable(text: str) -> str:
    """Return a text to write and read anywhere: what is not seen is shown by its number.

    Such are the bytes of a file's name in an older encoding, and half of a character.
    """
    return text.encode(errors="backslashreplace").decode().translate(UNSEEN)


def show(value: object) -> str:
    """Show a value as Python code, cut when it is long."""
    if isinstance(value, (*MATCHERS, Raised)):
        return str(value)
    text = repr(value)
    if 76 < len(text) <= 4 * MAX_SHOWN:  # what is longer is cut, and long to lay out
        text = pprint.pformat(value, width=76, compact=True, sort_dicts=False)
    cut = _("{text}… ({count} characters)").format(text=text[:MAX_SHOWN], count=len(text))
    return text if len(text) <= MAX_SHOWN else cut
