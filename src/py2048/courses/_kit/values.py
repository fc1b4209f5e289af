"""Values as the grader sees them: read from a submission's process, compared, shown.

The other process sends JSON with tags (see ``agent/wire.py``). Comparing is strict about
types, because the documents are: a list is no tuple, a bool is no number.
"""

from __future__ import annotations

import pprint
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

LONGEST = 600


class Matcher(Protocol):
    """Something to expect other than a plain value."""

    def matches(self, actual: Any) -> bool:
        """Whether `actual` is what was asked."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Opaque:
    """A value of a submission that is no plain data: its type's name and a text about it."""

    type: str
    text: str

    def __repr__(self) -> str:
        return self.text or f"<{self.type}>"


@dataclass(frozen=True)
class Array:
    """A NumPy array, as nested lists."""

    rows: Any

    def __repr__(self) -> str:
        return f"array({self.rows!r})"


@dataclass(frozen=True)
class Raised:
    """An exception of a submission: its type, that type's bases, its message and its place."""

    type: str
    bases: tuple[str, ...] = ()
    message: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f" ({self.file}, line {self.line})" if self.line else ""
        if self.type == "OutOfTime":
            return f"still running when the time was over{place}: an endless loop?"
        return f"{self.type}: {self.message}{place}" if self.message else f"{self.type}{place}"


@dataclass(frozen=True)
class Raises:
    """Expect an exception of a type (or of a type derived from it), with an exact message."""

    type: str
    message: str | None = None

    def matches(self, actual: Any) -> bool:
        """Whether `actual` is such an exception."""
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

    def matches(self, actual: Any) -> bool:
        """Whether `actual` is as asked; a value of an unsuited kind is not."""
        try:
            return not isinstance(actual, Raised) and bool(self.holds(actual))
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
            return False

    def __str__(self) -> str:
        return self.words


class OneOf:
    """Expect one of several values."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def matches(self, actual: Any) -> bool:
        """Whether `actual` is one of them."""
        return any(same(value, actual) for value in self.values)

    def __str__(self) -> str:
        return " or ".join(map(show, self.values))


@dataclass(frozen=True)
class Loosely:
    """Expect a value by ``==``, so that 4.0 passes for 4 and 1 for True."""

    value: Any

    def matches(self, actual: Any) -> bool:
        """Whether `actual` equals the value."""
        return bool(self.value == actual)

    def __str__(self) -> str:
        return show(self.value)


@dataclass(frozen=True)
class Words:
    """Expect a text, up to the amount of white space."""

    text: str

    def matches(self, actual: Any) -> bool:
        """Whether `actual` has the same words in the same order."""
        return isinstance(actual, str) and actual.split() == self.text.split()

    def __str__(self) -> str:
        return show(self.text)


@dataclass(frozen=True)
class Lines:
    """Expect lines of text, up to blanks at their ends."""

    text: str

    def matches(self, actual: Any) -> bool:
        """Whether `actual` has the same lines."""
        return isinstance(actual, str) and _lines(actual) == _lines(self.text)

    def __str__(self) -> str:
        return f"\n{self.text}"


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


class Contains:
    """Expect a text that contains each of `parts`, in any order."""

    def __init__(self, *parts: str) -> None:
        self.parts = parts

    def matches(self, actual: Any) -> bool:
        """Whether all parts occur in `actual`."""
        return isinstance(actual, str) and all(part in actual for part in self.parts)

    def __str__(self) -> str:
        return "a text with " + " and ".join(map(show, self.parts))


MATCHERS = (Raises, Satisfies, OneOf, Loosely, Words, Lines, Contains)


def decode(data: Any) -> Any:
    """The value that a process sent, from parsed JSON."""
    if isinstance(data, list):
        return [decode(member) for member in data]
    if not isinstance(data, dict):
        return data
    ((tag, members),) = data.items()
    return DECODERS[tag](members)


def _table(members: list[list[Any]]) -> dict[Any, Any]:
    pairs = [(decode(key), decode(value)) for key, value in members]
    return {key if _hashable(key) else show(key): value for key, value in pairs}


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _members(members: list[Any]) -> list[Any]:
    found = [decode(member) for member in members]
    return [value if _hashable(value) else show(value) for value in found]


DECODERS: dict[str, Callable[[Any], Any]] = {
    "tuple": lambda members: tuple(map(decode, members)),
    "set": lambda members: set(_members(members)),
    "frozenset": lambda members: frozenset(_members(members)),
    "dict": _table,
    "int": lambda members: int(members[0], 16),
    "float": lambda members: float(members[0]),
    "bytes": lambda members: bytes.fromhex(members[0]),
    "array": lambda members: Array(decode(members[0])),
    "object": lambda members: Opaque(str(members[0]), str(members[1])),
}


def same(expected: Any, actual: Any) -> bool:
    """Whether `actual` is `expected`: same types all the way down, same values."""
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


def show(value: Any) -> str:
    """A value as Python code, cut when it is long."""
    if isinstance(value, (*MATCHERS, Raised)):
        return str(value)
    text = repr(value)
    if len(text) > 76:
        text = pprint.pformat(value, width=76, compact=True, sort_dicts=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"
