"""Programs for Python 2: how they are recognized, and how they become programs for Python 3.

Recognizing needs nothing but the text. Converting needs fissix, the maintained copy of lib2to3,
which Python 3.13 no longer has; it parses the program and never runs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from py2048.errors import CourseError

MAX_CHARACTERS = 200_000  # characters of a program that is looked at
MAX_LINES_NAMED = 4

_STRINGS = re.compile(
    r"'''(?:\\.|[^\\])*?'''"
    r'|"""(?:\\.|[^\\])*?"""'
    r"|'(?:\\.|[^'\\\n])*'"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|#[^\n]*",
    re.DOTALL,
)
_OLD = re.compile(
    r"^(?:.*:)?[ \t]*print\b(?:[ \t]+(?![ \t=(.,)\]]|(?:if|in|is)\b)|>>)"
    r"|\b(?:raw_input|xrange)[ \t]*\("
    r"|\.(?:iter(?:items|keys|values)|has_key)[ \t]*\("
    r"|\bexcept[ \t]+[\w.]+[ \t]*,[ \t]*\w+[ \t]*:"
    r"|\braise[ \t]+[\w.]+[ \t]*,"
    r"|^[ \t]*exec[ \t]+[^ \t=(.]"
    r"|<>"
    r"|^[ \t]*(?:import|from)[ \t]+"
    r"(?:Tkinter|tkMessageBox|tkSimpleDialog|tkFont|Queue|ConfigParser|StringIO|urllib2)\b",
    re.MULTILINE,
)


def old_lines(text: str) -> list[int]:
    """The numbers of the lines that only Python 2 understands."""
    if len(text) > MAX_CHARACTERS:
        return []
    code = _STRINGS.sub(_blank, text)
    return [code.count("\n", 0, found.end()) + 1 for found in _OLD.finditer(code)]


def mixes_tabs(text: str) -> bool:
    """Whether lines are indented with tabs and blanks in a way that Python 3 refuses."""
    indents = [re.match(r"[ \t]*", line)[0] for line in text.split("\n") if line.strip()]  # type: ignore[index]
    return any(not a.startswith(b) and not b.startswith(a) for a, b in pairwise(indents))


def _blank(match: re.Match[str]) -> str:
    """A text or a remark without its contents, as many lines long."""
    return '""' + "\n" * match[0].count("\n") if match[0][0] != "#" else ""


def places(lines: list[int]) -> str:
    """Some line numbers in words, the first few of them."""
    lines = sorted(set(lines))
    named = ", ".join(map(str, lines[:MAX_LINES_NAMED]))
    more = " and more" if len(lines) > MAX_LINES_NAMED else ""
    return f"line{'s' if len(lines) > 1 else ''} {named}{more}"


def convert(text: str) -> str:
    """The same program for Python 3, line by line the same as far as can be.

    Tabs count eight blanks, and ``/`` divides whole numbers as it did in Python 2, unless the
    program has numbers with a point.

    Raises:
        ValueError: if it is not a program of Python 2 either.
        CourseError: where fissix is not installed.
    """
    check_installed()
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"it is too long to be converted: {len(text)} characters")
    text = "\n".join(map(_without_tabs, text.split("\n"))).rstrip() + "\n"
    error: Exception = ValueError("nothing to convert")
    for options in ({}, {"print_function": True}):
        try:
            return _converted(text, options)
        except Exception as failure:  # noqa: BLE001 - the parser fails in many ways on odd texts
            error = failure
    raise ValueError(f"it cannot be read as Python 2 either: {error}") from None


def _without_tabs(line: str) -> str:
    """A line whose indentation is blanks only."""
    code = line.lstrip(" \t\f")
    return line[: len(line) - len(code)].expandtabs(8) + code


def check_installed() -> None:
    """Raise `CourseError` where fissix is missing."""
    try:
        import fissix.refactor  # noqa: F401 - only whether it is there
    except ImportError:
        raise CourseError(
            "--from-python2 needs fissix: install it with pip install 'py2048[python2]'"
        ) from None


def _converted(text: str, options: dict[str, bool]) -> str:
    from fissix.pgen2 import token
    from fissix.refactor import RefactoringTool, get_fixers_from_package

    tool = RefactoringTool(get_fixers_from_package("fissix.fixes"), options)
    tree: Any = tool.refactor_string(text, "the program")
    leaves = list(tree.leaves())
    if not any(leaf.type == token.NUMBER and "." in leaf.value for leaf in leaves):
        for leaf in leaves:
            if leaf.type in (token.SLASH, token.SLASHEQUAL):
                leaf.value = leaf.value.replace("/", "//")
    return str(tree)


def changed_lines(before: str, after: str) -> Iterator[int]:
    """The numbers of the lines of `before` that are different in `after`."""
    import difflib

    old = list(map(_without_tabs, before.split("\n")))
    matcher = difflib.SequenceMatcher(None, old, after.split("\n"), autojunk=False)
    for kind, start, end, _, _ in matcher.get_opcodes():
        if kind != "equal":
            yield from range(start + 1, end + 1)
