"""The tasks of a course as data: marks, checks, examples and expected values.

Course authors create these values in ``courses/<name>/tasks.py``, as
``docs/how-to/write-a-graded-task.md`` explains. Submissions run in other processes, which receive
the code of an example but never its expected result.

Comparison is strict about types, as the assignments are: a list is not equal to a tuple, and a bool
is not equal to a number.
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

# Errors that a check's code raises if a value has the wrong type.
WRONG_TYPE_ERRORS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)

Examples = Sequence["Example"] | Callable[[str], Iterable["Example"]]
"""Examples, or a function that generates examples from a seed."""


class CheckFailed(Exception):  # noqa: N818 - a finding about a submission, not a fault of the grader
    """Raised if a submission does not satisfy a requirement.

    Args:
        example: Code that shows the failure, in the form that a student would type.
        expected: Expected result, as text.
        actual: Actual result, as text.
        fact: Phrase from `fact_of` that summarises the actual result.
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
    """Raised if the process of a submission has crashed, has exited or exceeds a limit.

    Attributes:
        exit_code: Exit code, negative for a signal, if the process ended by itself.
    """

    exit_code: int | None = None


class PatchFailed(CheckFailed):
    """Raised if a reference patch does not work in a submission. The check is then undecided."""


@dataclass(frozen=True)
class Example:
    """Lines of Python to run in a submission, with the required result.

    Attributes:
        code: Python statements. If the last line is an expression, its value is compared with
            `expected`.
        expected: Required value or a matcher. By default, any value is accepted, but `code` must
            not raise an exception.
        given: Statements run before `code`.
        prints: Exact text that `code` must print, or None to accept any text.
        then: Expressions to evaluate afterwards, with their required values.
        typed: Lines read by `input()`.
        seed: Seed of the random module.
        rank: Examples with a lower rank run first.
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
        """Sort key. Short examples run first, because students see the first example that fails."""
        text = self.given + self.code + "".join(self.typed)
        return self.rank, text.count("\n"), len(text)


@dataclass(frozen=True)
class Check:
    """A requirement of a task, given by examples or by a function that runs code in the submission.

    All examples must pass. Examples run in order of rank and then of length, so that reports show
    the shortest failing example.

    Attributes:
        title: Description for reports.
        examples: The examples, or a function that generates them from a seed.
        run: Function that receives the `SubmissionSession` and raises `CheckFailed`.
        weight: Relative weight among the task's checks, or 0 if the check costs no marks.
        seconds: CPU time limit per call.
        reference_patches: Patches to use instead of the task's own reference patches.
    """

    title: str
    examples: Examples = ()
    run: Callable[[Any], None] | None = None  # SubmissionSession cannot be imported here
    weight: int = 1
    seconds: float | None = None
    reference_patches: tuple[str, ...] | None = None

    def listed(self, seed: str = "") -> list[Example]:
        """Return the examples, shortest first. `seed` determines the random examples."""
        found = self.examples(seed) if callable(self.examples) else self.examples
        return sorted(found, key=lambda example: example.size)


@dataclass(frozen=True)
class Task:
    """A task from a course's document.

    Attributes:
        id: Identifier, such as ``1`` or ``2a``.
        title: Title for reports.
        asked: Description of the task for students.
        marks: Maximum marks. Each check gets a share of the marks in proportion to its weight.
        checks: The checks.
        reference_patches: Code that installs correct versions of *other* tasks' functions. A failed
            check is repeated with each patch until it passes. A mistake thus costs marks in one
            task, but not in the tasks that depend on it.
    """

    id: str
    title: str
    asked: str
    marks: Fraction | int
    checks: tuple[Check, ...]
    reference_patches: tuple[str, ...] = ()

    def patches_of(self, check: Check) -> tuple[str, ...]:
        """Return the reference patches to apply when a failed `check` is repeated."""
        own = check.reference_patches
        return self.reference_patches if own is None else own

    def earned(self, passed: Sequence[bool]) -> Fraction:
        """Return the marks earned. `passed` contains one flag per check."""
        total = sum(check.weight for check in self.checks)
        share = sum(check.weight for check, good in zip(self.checks, passed, strict=True) if good)
        return Fraction(self.marks) * share / total


_TASK_HEADING = re.compile(r"#+\s*task\b", re.IGNORECASE)
_TASK = re.compile(r"## Task (\S+): (.+) \((\d+(?:[./]\d+)?) marks?\)")


class Sheet(dict[str, Task]):
    """The tasks of a course's task sheet, by id."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def __missing__(self, id: str) -> Task:
        wanted = f"the heading '## Task {id}: TITLE (N marks)'"
        known = ", ".join(self) or "none"
        raise CourseError(f"{self.path}: {wanted} is missing: add it, or use a task from: {known}")

    def task(self, id: str, *checks: Check, patches: tuple[str, ...] = ()) -> Task:
        """Return the task `id` with the given checks and reference patches."""
        return replace(self[id], checks=checks, reference_patches=patches)


def read_sheet(path: Path) -> Sheet:
    """Read the tasks of a course's task sheet. To add checks, call `Sheet.task`.

    A task begins with a heading such as ``## Task 4: collapseRow (10 marks)``. The paragraph after
    the heading is stored as `asked`.

    Raises:
        CourseError: If a heading is malformed. The error message quotes the heading and explains
            how to correct it.
    """
    found = Sheet(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if not _TASK_HEADING.match(line):
            continue
        place, match = f"{path}, line {number}: {line!r}", _TASK.fullmatch(line.rstrip())
        if match is None:
            raise CourseError(f"{place}: write the heading as '## Task 1: TITLE (4 marks)'")
        id, title, marks = match.groups()
        blank, *text = [*lines[number:], "", ""]
        asked = text[: text.index("")]
        if blank or not asked or asked[0].startswith("#"):
            raise CourseError(f"{place}: add an empty line below it, and then the task's text")
        if id in found:
            raise CourseError(f"{place}: there is another task {id}: give it another id")
        found[id] = Task(id, title, " ".join(" ".join(asked).split()), Fraction(marks), ())
    return found


def place_in(path: Path, start: str) -> str:
    """Return a file's path, with the number of the first line that begins with `start`."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [number for number, line in enumerate(lines, 1) if line.startswith(start)]
    return f"{path}, line {found[0]}" if found else str(path)


@dataclass(frozen=True, eq=False)
class Grading:
    """How the submissions of a course are graded.

    Attributes:
        course: The course's name.
        module: Module name under which the student's file is imported.
        tasks: The tasks.
        files: Accepted file names, beginning with the name in the assignment.
        expects: Names that the program must define. Among several files, the one that defines the
            most of these names is graded.
        given_files: Files handed out to students. A submission's copies of them are ignored.
        gui: Whether to provide a virtual display and a simulated user, `screen`.
        libraries: Packages that programs may import in addition to the standard library.
        prelude: Code run before every example.
        opening: Line that a student types instead of the prelude, with ``{module}`` for the
            student's file. Empty if examples are not Python.
        variants: Versions of this grading for programs in other languages. The grader chooses the
            language in which a program defines most of the expected names.
        remarks: Function that returns additional remarks for the student on a program's text.
        seconds: Default limit of the CPU time for each call.
        not_graded: Description of the assignment's marks that are not graded automatically.
        folder: Folder of the course, set when the course is loaded.
        language: Language of reports.
        words: Function that translates the course's names and strings in code, texts and examples.
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
    words: Callable[[Any], Any] = lambda part: part

    def in_language(self, language: str) -> Grading:
        """Return a copy that reports in `language`; an empty string changes nothing."""
        if language not in {"", *LANGUAGES}:
            raise CourseError(
                f"--language {language!r} is unknown: use one of {', '.join(LANGUAGES)}"
            )
        variants = tuple(one.in_language(language) for one in self.variants)
        return replace(self, language=language or self.language, variants=variants)

    def only(self, ids: Sequence[str]) -> Grading:
        """Return a copy with the tasks in `ids`, or with all tasks if `ids` is empty."""
        known = [task.id for task in self.tasks]
        for id_ in ids:
            if id_ not in known:
                raise CourseError(f"--task {id_!r} is unknown: use one of {', '.join(known)}")
        tasks = tuple(task for task in self.tasks if not ids or task.id in ids)
        return replace(self, tasks=tasks, variants=tuple(one.only(ids) for one in self.variants))

    def translated(self, text: str) -> str:
        """Translate a string from the course definition into the language of the reports."""
        return str(self.words(_(text))) if text else ""

    @property
    def marks(self) -> Fraction:
        """Maximum marks of all tasks."""
        return sum((Fraction(task.marks) for task in self.tasks), Fraction(0))


def validate(grading: Grading, seeds: Iterable[str] = ("",)) -> None:
    """Check a course definition for mistakes that would cost students marks.

    Detects values of the wrong type (such as a string instead of a list of strings), code with
    syntax errors, and missing files. Random examples are generated once for each seed in `seeds`.

    Raises:
        CourseError: If a mistake is found. The error message contains the location and the value of
            the first mistake.
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
        drawn = [(check.listed(seed), check.listed(seed)) for seed in seeds]
    except Exception as error:
        raise CourseError(f"{here}: examples: {type(error).__name__}: {error}") from error
    examples = [example for first, _ in drawn for example in first]
    if any(list(map(_text_of, first)) != list(map(_text_of, again)) for first, again in drawn):
        fix = "draw all of them with random.Random(seed)"
        raise CourseError(f"{here}: examples: two draws with the same seed differ: {fix}")
    if check.weight < 0 or (not examples and check.run is None):
        raise CourseError(f"{here} needs examples or run, and a weight of at least 0")
    for example in examples:
        _check_types(example, f"{here}: {example.code!r}")
        _check_python(example.given, f"{here}: given {example.given!r}")
        _check_python(example.code, f"{here}: code {example.code!r}")
        for expression in example.then:
            _check_python(expression, f"{here}: then {expression!r}", "eval")


def _text_of(example: Example) -> tuple[object, ...]:
    """Return an example's contents as a tuple, for comparisons."""
    return example.given, example.code, *example.then, *example.typed, example.seed


_types_of: Any = functools.cache(get_type_hints)


def _check_types(part: Any, here: str) -> None:
    """Raise an error if a value does not match the annotation of its field."""
    for name, kind in _types_of(type(part)).items():
        value = getattr(part, name)
        if not _is_a(value, kind):
            words = re.sub(r"\w+\.(?=\w)", "", kind.__name__ if type(kind) is type else str(kind))
            raise CourseError(f"{here}: {name} must be {words}, not {shown(value)}")


def _is_a(value: Any, kind: Any) -> bool:
    """Return whether a value matches one of the annotations used in this module."""
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
    """Stands in for a value that is not plain data, with its type name and a display string."""

    type: str
    text: str

    def __repr__(self) -> str:
        return self.text or f"<{self.type}>"


@dataclass(frozen=True)
class Array:
    """A NumPy array that was converted to nested lists."""

    rows: object

    def __repr__(self) -> str:
        return f"array({self.rows!r})"


def decode(data: Any) -> Any:  # noqa: C901 - a case for each kind of value
    """Decode a value from parsed JSON, as encoded by ``agent/host.py``."""
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
    """Decode a dictionary key or a set member. Values that cannot be hashed become strings."""
    value = decode(data)
    try:
        hash(value)
    except TypeError:
        return show(value)
    return value


@dataclass(frozen=True)
class Raised:
    """An exception that a submission raised: its type, base classes, message and location.

    Attributes:
        function: Name and location of a function that did not return, or an empty string.
    """

    type: str
    bases: tuple[str, ...] = ()
    message: str = ""
    file: str = ""
    line: int = 0
    function: str = ""

    @property
    def overran(self) -> bool:
        """Whether a call did not end."""
        return "OutOfTime" in self.bases

    def __str__(self) -> str:
        if self.type == "NotTried":
            words = _("not called again, because an earlier call did not end: {function}")
            return words.format(function=self.function)
        words = _(" ({file}, line {line})").format(file=self.file, line=self.line)
        place = words if self.line else ""
        if self.overran:
            return _("does not end{place}: an infinite loop?").format(place=place)
        return f"{self.type}: {self.message}{place}" if self.message else f"{self.type}{place}"


@dataclass(frozen=True)
class Raises:
    """Matches exceptions of a type or a subclass. A given message must match exactly."""

    type: str
    message: str | None = None

    def matches(self, actual: object) -> bool:
        """Return whether `actual` is a matching exception."""
        return (
            isinstance(actual, Raised)
            and self.type in {actual.type, *actual.bases}
            and self.message in {None, actual.message}
        )

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type


@dataclass(frozen=True)
class Satisfies:
    """Matches values that `holds` accepts. `words` describes these values to students."""

    words: str
    holds: Callable[[Any], bool]

    def matches(self, actual: object) -> bool:
        """Return whether `holds` accepts the value. Values of the wrong type do not match."""
        try:
            return not isinstance(actual, Raised) and bool(self.holds(actual))
        except WRONG_TYPE_ERRORS:
            return False

    def __str__(self) -> str:
        return self.words


class OneOf(Satisfies):
    """Matcher: one of several values."""

    def __init__(self, *values: object) -> None:
        words = " or ".join(map(show, values))
        super().__init__(words, lambda actual: any(same(value, actual) for value in values))


class Loosely(Satisfies):
    """Matches values that are equal by ``==``, so 4.0 is accepted for 4, and 1 for True."""

    def __init__(self, value: object) -> None:
        super().__init__(show(value), lambda actual: bool(value == actual))


@dataclass(frozen=True)
class TextLines:
    """Matches lines of text, ignoring trailing blanks."""

    text: str

    def matches(self, actual: object) -> bool:
        """Return whether `actual` has the same lines of text."""
        return isinstance(actual, str) and _stripped(actual) == _stripped(self.text)

    def __str__(self) -> str:
        return f"\n{self.text}"


def _stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def fact_of(actual: object) -> str:
    """Describe a value or an exception with a phrase from a fixed set.

    This way, submissions cannot write text of their own into reports.
    """
    if isinstance(actual, Raised):
        if actual.overran:
            return _("does not end")
        kind = getattr(builtins, actual.type, None)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            return actual.type
        return _("an exception defined by the program")
    if actual is None or isinstance(actual, bool):
        return str(actual)
    kind = "object" if isinstance(actual, Opaque) else type(actual).__name__
    return _("another {kind}").format(kind=kind)


# In reports, the text of a matcher is shown as the expected value.
MATCHERS = (Raises, Satisfies, TextLines)


def same(expected: Any, actual: Any) -> bool:
    """Return whether `actual` equals `expected` and has the same types at every level."""
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
"""Escape sequences for control characters, invisible characters and characters that reorder text.
"""


def printable(text: str) -> str:
    """Escape all characters that cannot be printed safely, including lone surrogates."""
    return text.encode(errors="backslashreplace").decode().translate(ESCAPES)


def show(value: object) -> str:
    """Format a value as Python code. The text is truncated to `MAX_SHOWN` characters."""
    if isinstance(value, (*MATCHERS, Raised)):
        return str(value)
    text = repr(value)
    if 76 < len(text) <= 4 * MAX_SHOWN:  # Longer values would be slow to format.
        text = pprint.pformat(value, width=76, compact=True, sort_dicts=False)
    cut = _("{text}… ({count} characters)").format(text=text[:MAX_SHOWN], count=len(text))
    return text if len(text) <= MAX_SHOWN else cut
