"""Translation of user-visible text from English to other languages, with gettext catalogues.

Text is marked where it is written, and translated where it is displayed:

>>> _("Undo")
'Undo'
>>> _("Move {ply} of {count}").format(ply=3, count=9)  # whole sentences, never fragments
'Move 3 of 9'
>>> ngettext("{n} move", "{n} moves", 1200).format(n=number(1200))  # singular or plural
'1,200 moves'
>>> LABEL = N_("Undo")  # only marked; `_(LABEL)` translates it

Never call `_` at import time. On a server, each request or WebSocket has its own language
(`use_language`). In a window or terminal, the whole process uses one language (`set_language`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gettext import GNUTranslations

ENGLISH: Final = "en"
# Native names of the supported languages, by gettext code.
LANGUAGES: Final = {ENGLISH: "English", "pt": "Português"}
# Folder of the catalogues, `<code>/LC_MESSAGES/py2048.mo`. English needs no catalogue.
CATALOGUES: Final = Path(__file__).parents[1] / "locale"

_process_language = ENGLISH
_context_language: ContextVar[str | None] = ContextVar("language", default=None)


def language() -> str:
    """Return the code of the current language."""
    return _context_language.get() or _process_language


def set_language(code: str) -> None:
    """Set the process-wide language; `use_language` overrides this setting."""
    global _process_language  # noqa: PLW0603 (a window or terminal has a single user)
    _process_language = code


class use_language:  # noqa: N801 - used like a function, and faster than `contextmanager`
    """Use a language inside the ``with`` block, for a single request or WebSocket message."""

    def __init__(self, code: str) -> None:
        self._code = code

    def __enter__(self) -> None:
        self._token = _context_language.set(self._code)

    def __exit__(self, *_: object) -> None:
        _context_language.reset(self._token)


def _(text: str) -> str:
    """Translate `text` to the current language."""
    code = _context_language.get() or _process_language  # inlines `language()` for speed
    return catalogue(code).gettext(text) if text and code != ENGLISH else text


def ngettext(one: str, many: str, count: int) -> str:
    """Translate a message that depends on a count, using the plural rules of the language."""
    code = language()
    if code == ENGLISH:
        return one if count == 1 else many
    return catalogue(code).ngettext(one, many, count)


def N_(text: str) -> str:  # noqa: N802 (gettext's name)
    """Mark `text` for translation, and return it untranslated."""
    return text


@cache
def catalogue(code: str) -> GNUTranslations:
    """Return the gettext catalogue of a language (cached)."""
    from gettext import GNUTranslations

    with (CATALOGUES / code / "LC_MESSAGES" / "py2048.mo").open("rb") as file:
        return GNUTranslations(file)


def number(value: float, digits: int = 0, *, signed: bool = False) -> str:
    """Format a number in the current language: 7,412.5 in English, 7.412,5 in Portuguese."""
    written = f"{value:{'+' if signed else ''},.{digits}f}"
    code = _context_language.get() or _process_language
    return written if code == ENGLISH else written.translate(_COMMA_FOR_POINT)


_COMMA_FOR_POINT: Final = str.maketrans(",.", ".,")


def first_supported(wanted: Iterable[str]) -> str:
    """Return the first supported language among tags such as "pt-BR", or English."""
    codes = (tag.strip()[:2].lower() for tag in wanted)
    return next((code for code in codes if code in LANGUAGES), ENGLISH)


def language_of_environment() -> str:
    """Return the language set by gettext's environment variables."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if wanted := os.environ.get(name):
            return first_supported(wanted.split(":"))
    return ENGLISH


def language_of_header(accept_language: str) -> str:
    """Return the supported language that an `Accept-Language` header prefers."""
    weighted = []
    for tag in accept_language.split(","):
        name, _semicolon, weight = tag.partition(";q=")
        try:
            weighted.append((-float(weight or 1), name))
        except ValueError:  # malformed weights sort last
            weighted.append((0.0, name))
    return first_supported(name for _weight, name in sorted(weighted, key=lambda one: one[0]))
