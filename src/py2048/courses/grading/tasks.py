"""Tasks of a course as data: marks, checks, examples and expected values.

Course authors create these values in ``courses/<name>/tasks.py``; see
``docs/how-to/write-a-graded-task.md``. They stay in the grader's own process. A submission's
process receives the code of an example, but never the expected result.

Comparison is strict about types, as the course documents are: a list is not equal to a tuple, nor a
bool to a number.
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
"""Maximum length of a value in a report, in characters."""

Examples = Sequence["Example"] | Callable[[str], Iterable["Example"]]
"""Examples, or a function that draws them from a seed."""


class CheckFailed(Exception):  # noqa: N818 - a finding about a submission, not a fault of the grader
    """A submission does not do what is asked.

    Args:
        example: Code that shows the failure, as a student would type it.
        expected: Expected result, as text.
        actual: Actual result, as text.
        fact: Summary of the actual result, a phrase from a fixed set (see `fact_of`).
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
    """The submission's process crashed, exited or exceeded a limit.

    Attributes:
        exit_code: Exit code if the process ended by itself; negative for a signal.
    """

    exit_code: int | None = None


class PatchFailed(CheckFailed):
    """A reference patch does not work in this submission, so the check remains undecided."""


@dataclass(frozen=True)
class Example:
    """Lines of Python to run in a submission, and the required result.

    Attributes:
        code: Python statements. If the last line is an expression, its value is compared with
            `expected`.
        expected: Required value or a matcher. By default, any value is accepted as long as nothing
            is raised.
        given: Statements run before `code`.
        prints: Exact text that `code` must print; None for any.
        then: Expressions evaluated afterwards, and their required values.
        typed: Lines read by `input()`.
        seed: Seed of the random module.
        rank: Examples of lower rank run first.
    """

    code: str
    expected: object = ...
    given: str = ""
    prints: object = None
    then: Mapping[str, object] = field(default_factory=dict)
    typed: Sequence[str] = ()
    seed: int = 0
    rank: int = 0

    @property
    def size(self) -> tuple[int, int, int]:
        """Sort key; short examples run first, because students see the first one that fails."""
        text = self.given + self.code + "".join(self.typed)
        return self.rank, text.count("\n"), len(text)


@dataclass(frozen=True)
class Check:
    """One requirement of a task, as examples or as a function that drives the submission.

    All examples must pass. Examples run by rank, then shortest first, so that reports show the
    shortest failing example.

    Attributes:
        title: Description for reports.
        examples: The examples, or a function that draws them from a seed.
        run: Called with the `SubmissionSession`; raises `CheckFailed`.
        weight: Share of the task's marks; with 0 the check is only a remark.
        seconds: CPU time limit per call.
        reference_patches: Replaces the task's own reference patches.
    """

    title: str
    examples: Examples = ()
    run: Callable[[Any], None] | None = None  # SubmissionSession cannot be imported here
    weight: int = 1
    seconds: float | None = None
    reference_patches: tuple[str, ...] | None = None

    def listed(self, seed: str = "") -> list[Example]:
        """Return the examples, shortest first; some may be drawn from the `seed`."""
        found = self.examples(seed) if callable(self.examples) else self.examples
        return sorted(found, key=lambda example: example.size)


@dataclass(frozen=True)
class Task:
    """A task from a course's document.

    Attributes:
        id: Identifier, such as ``1`` or ``2a``.
        title: Title for reports.
        asked: What students are asked to do.
        marks: Maximum marks, divided among the checks by weight.
        checks: The checks.
        reference_patches: Each one installs correct versions of *other* tasks' functions. A failed
            check is repeated with each patch until it passes, so that a mistake costs marks only
            once and not in every task that depends on it.
    """

    id: str
    title: str
    asked: str
    marks: Fraction | int
    checks: tuple[Check, ...]
    reference_patches: tuple[str, ...] = ()

    def patches_of(self, check: Check) -> tuple[str, ...]:
        """Return the reference patches with which `check` is repeated."""
        own = check.reference_patches
        return self.reference_patches if own is None else own

    def earned(self, passed: Sequence[bool]) -> Fraction:
        """Return the marks for the checks that `passed`, in the order of `checks`."""
        total = sum(check.weight for check in self.checks)
        share = sum(check.weight for check, good in zip(self.checks, passed, strict=True) if good)
        return Fraction(self.marks) * share / total


_SHEET_TASK = re.compile(r"^## Task (\S+): (.+) \((\S+) marks?\)\n\n((?:.+\n)+)", re.MULTILINE)


def read_sheet(path: Path) -> dict[str, Task]:
    """Read the tasks of a course's task sheet, by id; add checks with `dataclasses.replace`.

    A task begins with a heading such as ``## Task 4: collapseRow (10 marks)``. The paragraph below
    it becomes `asked`.
    """
    return {
        id: Task(id, title, " ".join(asked.split()), Fraction(marks), ())
        for id, title, marks, asked in _SHEET_TASK.findall(path.read_text(encoding="utf-8"))
    }


@dataclass(frozen=True, eq=False)
class Grading:
    """How the submissions of a course are graded.

    Attributes:
        course: The course's name.
        module: Name under which the student's file is imported.
        tasks: The tasks.
        files: Accepted file names, starting with the one in the document.
        expects: Names the program must define. Among several files, the one that defines the most
            of these names is graded.
        given_files: Files handed out, which replace the submission's copies.
        gui: Whether to provide a virtual display and its user, `screen`.
        libraries: Importable packages in addition to the standard library.
        prelude: Code run before every example.
        opening: What a student types instead of the prelude; ``{module}`` stands for the student's
            file. Empty if examples are not Python.
        variants: Gradings of the same tasks in other languages. A program is graded by the variant
            with the most `expects` names that it defines.
        remarks: Function that returns further remarks on a program's text.
        seconds: Default CPU time limit per call.
        not_graded: Description of the document's marks that cannot be graded automatically.
        folder: The course's folder, set when the course is loaded.
        language: Language of reports.
        words: Function that translates the course's own names.
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

    def in_language(self, language: str) -> Grading:
        """Return a copy whose reports are in this language; "" keeps the current ones."""
        if language not in {"", *LANGUAGES}:
            raise CourseError(
                f"--language {language!r} is unknown: use one of {', '.join(LANGUAGES)}"
            )
        variants = tuple(one.in_language(language) for one in self.variants)
        return replace(self, language=language or self.language, variants=variants)

    def translated(self, text: str) -> str:
        """Translate a string of the course into the current language."""
        return self.words(_(text)) if text else ""

    @property
    def marks(self) -> Fraction:
        """Maximum marks of all tasks."""
        return sum((Fraction(task.marks) for task in self.tasks), Fraction(0))


def validate(grading: Grading, seeds: Iterable[str] = ("",)) -> None:
    """Check a course definition for mistakes that would cost students marks.

    Detects values of the wrong type (such as a string instead of a list of strings), code with
    syntax errors, and missing files. Random examples are drawn with each of the `seeds`.

    Raises:
        CourseError: If there is a mistake; the message gives the place and value of the first one.
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
            raise CourseError(f"{where}: two tasks have the id {task.id!r}")
        for check in task.checks:
            _validate_check(check, f"{place}, check {check.title!r}", seeds)
        if task.marks <= 0 or not any(check.weight for check in task.checks):
            raise CourseError(f"{place} needs marks and a check with a weight above 0")


def _validate_check(check: Check, here: str, seeds: Iterable[str]) -> None:
    _check_types(check, here)
    try:
        examples = [example for seed in seeds for example in check.listed(seed)]
    except Exception as error:
        raise CourseError(f"{here}: examples: {type(error).__name__}: {error}") from error
    if check.weight < 0 or (not examples and check.run is None):
        raise CourseError(f"{here} needs examples or run, and a weight of at least 0")
    for example in examples:
        _check_types(example, f"{here}: {example.code!r}")
        _check_python(example.given, f"{here}: given {example.given!r}")
        _check_python(example.code, f"{here}: code {example.code!r}")
        for expression in example.then:
            _check_python(expression, f"{here}: then {expression!r}", "eval")


_types_of: Any = functools.cache(get_type_hints)


def _check_types(part: Any, here: str) -> None:
    """Raise if a value does not match its field's annotation."""
    for name, kind in _types_of(type(part)).items():
        value = getattr(part, name)
        if not _is_a(value, kind):
            words = re.sub(r"\w+\.(?=\w)", "", kind.__name__ if type(kind) is type else str(kind))
            raise CourseError(f"{here}: {name} must be {words}, not {shown(value)}")


def _is_a(value: Any, kind: Any) -> bool:
    """Return whether a value matches an annotation used in this module."""
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
        raise CourseError(f"{where} is not valid Python: {fault}")


@functools.cache
def _syntax_error(code: str, mode: str) -> str:
    try:
        ast.parse(code, mode=mode)
    except SyntaxError as error:
        return error.msg
    return ""


# --- values and matchers ---


@dataclass(frozen=True)
class Opaque:
    """Any value that is not plain data, reduced to its type's name and a display string."""

    type: str
    text: str

    def __repr__(self) -> str:
        return self.text or f"<{self.type}>"


@dataclass(frozen=True)
class Array:
    """A NumPy array, converted to nested lists."""

    rows: object

    def __repr__(self) -> str:
        return f"array({self.rows!r})"


def decode(data: Any) -> Any:  # noqa: C901 - a case for each kind of value
    """Decode a value from parsed JSON (see `encode` in ``agent/host.py``)."""
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
    raise ValueError(f"unknown tag {tag!r}")


def _hashable(data: Any) -> Any:
    """Decode a dictionary key or set member; unhashable values become strings."""
    value = decode(data)
    try:
        hash(value)
    except TypeError:
        return show(value)
    return value


@dataclass(frozen=True)
class Raised:
    """An exception raised by a submission: its type, base classes, message and location."""

    type: str
    bases: tuple[str, ...] = ()
    message: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        words = _(" ({file}, line {line})").format(file=self.file, line=self.line)
        place = words if self.line else ""
        if self.type == "OutOfTime":
            words = _("still running at the time limit{place}: an endless loop?")
            return words.format(place=place)
        return f"{self.type}: {self.message}{place}" if self.message else f"{self.type}{place}"


@dataclass(frozen=True)
class Raises:
    """Matcher: an exception of this type or a subclass, with this exact message if given."""

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
    """Matcher: a value for which `holds` returns true; `words` describes it to students."""

    words: str
    holds: Callable[[Any], bool]

    def matches(self, actual: object) -> bool:
        """Return whether `holds` accepts the value; values of the wrong type do not match."""
        try:
            return not isinstance(actual, Raised) and bool(self.holds(actual))
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
            return False

    def __str__(self) -> str:
        return self.words


class OneOf:
    """Matcher: one of several values."""

    def __init__(self, *values: object) -> None:
        self.values = values

    def matches(self, actual: object) -> bool:
        """Return whether `actual` is one of the values."""
        return any(same(value, actual) for value in self.values)

    def __str__(self) -> str:
        return " or ".join(map(show, self.values))


@dataclass(frozen=True)
class Loosely:
    """Matcher: a value compared with ``==``, so that 4.0 is accepted for 4, and 1 for True."""

    value: object

    def matches(self, actual: object) -> bool:
        """Return whether `actual` equals the value."""
        return bool(self.value == actual)

    def __str__(self) -> str:
        return show(self.value)


@dataclass(frozen=True)
class TextLines:
    """Matcher: lines of text, ignoring trailing blanks."""

    text: str

    def matches(self, actual: object) -> bool:
        """Return whether `actual` has the same lines."""
        return isinstance(actual, str) and _stripped(actual) == _stripped(self.text)

    def __str__(self) -> str:
        return f"\n{self.text}"


def _stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def fact_of(actual: object) -> str:
    """Describe a value or exception with a phrase from a fixed set.

    Submissions therefore cannot smuggle text into reports.
    """
    if isinstance(actual, Raised):
        if actual.type == "OutOfTime":
            return _("still running at the time limit")
        kind = getattr(builtins, actual.type, None)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            return actual.type
        return _("an exception defined by the program")
    if actual is None or isinstance(actual, bool):
        return str(actual)
    kind = "object" if isinstance(actual, Opaque) else type(actual).__name__
    return _("another {kind}").format(kind=kind)


# Reports show a matcher's text as the expected value.
MATCHERS = (Raises, Satisfies, OneOf, Loosely, TextLines)


def same(expected: Any, actual: Any) -> bool:
    """Return whether `actual` equals `expected`, with the same types at every level."""
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


_INVISIBLE = (
    *({*range(32)} - {ord("\n"), ord("\t")}),
    *(*range(0x7F, 0xA0), 0xAD, 0x61C, 0x200B, *range(0x200E, 0x2010), *range(0x2028, 0x202F)),
    *(*range(0x2060, 0x2070), 0xFEFF),
)
ESCAPES = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _INVISIBLE}
"""Escapes for control characters, invisible characters and characters that reorder text."""


def printable(text: str) -> str:
    """Escape everything that cannot be printed safely, including lone surrogates."""
    return text.encode(errors="backslashreplace").decode().translate(ESCAPES)


def show(value: object) -> str:
    """Format a value as Python code, truncated to `MAX_SHOWN`."""
    if isinstance(value, (*MATCHERS, Raised)):
        return str(value)
    text = repr(value)
    if 76 < len(text) <= 4 * MAX_SHOWN:  # longer values are truncated, and slow to format
        text = pprint.pformat(value, width=76, compact=True, sort_dicts=False)
    cut = _("{text}… ({count} characters)").format(text=text[:MAX_SHOWN], count=len(text))
    return text if len(text) <= MAX_SHOWN else cut
