"""The language a person reads: English in the source, the others in `locale`, found by gettext.

A text is marked where it is written and translated where it is shown::

    _("Undo")                                                  # here and now
    _("Move {ply} of {count}").format(ply=3, count=9)          # whole sentences, never glued pieces
    ngettext("{n} move", "{n} moves", n).format(n=number(n))   # one or many
    LABEL = N_("Undo")                                         # marked only; shown by _(LABEL)

Never call `_` while a module is imported: the language is that of the request or the socket on a
server (`use_language`), and of the process in window and terminal (`set_language`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gettext import GNUTranslations

ENGLISH: Final = "en"
#: Every language there is, by the code that pages and catalogues have, in its own words.
LANGUAGES: Final = {ENGLISH: "English", "pt": "Português"}
#: Where translations are: `locale/<code>/LC_MESSAGES/py2048.mo`; English needs none.
CATALOGUES: Final = Path(__file__).parents[1] / "locale"

_of_process = ENGLISH
_of_context: ContextVar[str | None] = ContextVar("language", default=None)


def language() -> str:
    """Return the code of the language that texts are in here and now."""
    return _of_context.get() or _of_process


def set_language(code: str) -> None:
    """Have the whole process read this language: all threads, except where another is in use."""
    global _of_process  # noqa: PLW0603 (one person sits before a window or a terminal)
    _of_process = code


@contextmanager
def use_language(code: str) -> Iterator[None]:
    """Use a language within this context: a request, or what is said to one socket."""
    token = _of_context.set(code)
    try:
        yield
    finally:
        _of_context.reset(token)


def _(text: str) -> str:
    """Return a text in the language of here and now."""
    code = language()
    return text if code == ENGLISH else catalogue(code).gettext(text)


def ngettext(one: str, many: str, count: int) -> str:
    """Return the text for `count` things, by the rule of the language."""
    code = language()
    if code == ENGLISH:
        return one if count == 1 else many
    return catalogue(code).ngettext(one, many, count)


def N_(text: str) -> str:  # noqa: N802 (gettext's own name for it)
    """Mark a text of a table, to be translated where it is shown."""
    return text


@cache
def catalogue(code: str) -> GNUTranslations:
    """Return a language's texts, read once, when the first is asked for."""
    from gettext import GNUTranslations

    with (CATALOGUES / code / "LC_MESSAGES" / "py2048.mo").open("rb") as file:
        return GNUTranslations(file)


def number(value: float, digits: int = 0, *, signed: bool = False) -> str:
    """Write a number as the language does: 7,412.5 in English, 7.412,5 in Portuguese."""
    written = f"{value:{'+' if signed else ''},.{digits}f}"
    return written if language() == ENGLISH else written.translate(_COMMA_FOR_POINT)


_COMMA_FOR_POINT: Final = str.maketrans(",.", ".,")


def first_known(wanted: Iterable[str]) -> str:
    """Return the first of ours among those wanted ("pt-BR", "pt_PT.UTF-8"), or English."""
    codes = (tag.strip()[:2].lower() for tag in wanted)
    return next((code for code in codes if code in LANGUAGES), ENGLISH)


def language_of_environment() -> str:
    """Return the language of the environment, by the variables that gettext reads."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if wanted := os.environ.get(name):
            return first_known(wanted.split(":"))
    return ENGLISH


def language_of_header(accept_language: str) -> str:
    """Return the language that a browser's `Accept-Language` asks for: its favourite of ours."""
    weighed = []
    for tag in accept_language.split(","):
        name, _semicolon, weight = tag.partition(";q=")
        try:
            weighed.append((-float(weight or 1), name))
        except ValueError:  # not a number: the browser's fault, and its last wish
            weighed.append((0.0, name))
    return first_known(name for _weight, name in sorted(weighed, key=lambda one: one[0]))
