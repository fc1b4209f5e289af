"""A pseudo-language that replaces English letters in every translatable text.

Any word in English letters on a screen is therefore missing from the catalogues.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo

from py2048.core import language

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import messages

CODE = "pt"
_ENGLISH = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OTHER = str.maketrans(_ENGLISH, "áḃćďéḟǵḣíĵḱĺḿńóṕɋŕśťúṽẃẍýźÁḂĆĎÉḞǴḢÍĴḰĹḾŃÓṔꝖŔŚŤÚṼẂẌÝŹ")
_CODE = re.compile(r"(\{\w+\}|%\(\w+\)s|<[^>]*>|&\w+;)")

NAMES = frozenset(
    re.findall(
        r"[a-z]+",
        """
        py classic own api utc sha openapi gif png python inter english portugu
        ctrl space enter esc home end pgup pgdn del tab command wasd hjkl shift tab space esc
        left right up down undo redo board score hint auto coach review new resume save help quit
        rules expectimax depth size greedy perfect corner random min guest
        json comp cmput cits ist qsan qarut
        """,
    )
)
"""Words that screens may show in English letters: names, keys and user input."""


def other(text: str) -> str:
    """Replace the letters of a text, except in placeholders and tags."""
    parts = _CODE.split(text)
    return "".join(part if i % 2 else part.translate(_OTHER) for i, part in enumerate(parts))


@cache
def texts() -> messages.Catalog:
    """Return all texts of the sources in the pseudo-language."""
    catalogue = messages.read(CODE)
    catalogue.update(messages.extracted(), no_fuzzy_matching=True)
    for message in catalogue:
        if message.id:
            several = isinstance(message.id, tuple)
            message.string = tuple(map(other, message.id)) if several else other(message.id)
    return catalogue


@contextmanager
def spoken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use the pseudo-language instead of Portuguese."""
    path = folder / "locale" / CODE / "LC_MESSAGES" / "py2048.mo"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_mo(file, texts())
    monkeypatch.setattr(language, "CATALOGUES", folder / "locale")
    language.catalogue.cache_clear()
    language.set_language(CODE)
    try:
        yield
    finally:
        language.catalogue.cache_clear()


def left_out(text: str, *names: str) -> set[str]:
    """Return the English words in a text, except names."""
    # Addresses, files and numbered guests are names.
    text = re.sub(r"\S*/\w\S*|\S*\.json|guest \w+", "", text)
    words = set(re.findall(r"[A-Za-z]{2,}", text))
    return {word for word in words if word.lower() not in NAMES.union(names)}
