"""Names: when two are the same, and when people take one for the other.

Two names look alike if their skeletons are equal (Unicode Technical Standard #39, *Unicode
Security Mechanisms*, section 4): each letter is replaced by the one that it is taken for.
"""

from __future__ import annotations

import functools
import unicodedata
from pathlib import Path

_TABLE = Path(__file__).with_name("confusables.txt")
INVISIBLE = "\u115f\u1160\u3164\uffa0"
"""Letters that nobody sees."""
_MORE = {"\u043a": "k", "\u03ba": "k", "\u03b7": "n", "\u03c9": "w", "\u03c7": "x", "\u0437": "3"}
"""Small Cyrillic and Greek letters that Unicode's table tells apart, and hurried readers do not."""


def name_key(name: str) -> str:
    """Return what two spellings of one name have in common: case, width and spaces aside."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def looks_of(name: str) -> str:
    """Return what names have in common that people take for each other, as *Al* and *A1*."""
    return name_key(skeleton(unicodedata.normalize("NFKC", name)))


def skeleton(text: str) -> str:
    """Return the skeleton of a text, as UTS #39 defines it."""
    replaced = unicodedata.normalize("NFD", text).translate(_prototypes())
    return unicodedata.normalize("NFD", replaced)


@functools.cache
def _prototypes() -> dict[int, str]:
    """Return, for each letter that is taken for another, what it is taken for."""
    table = dict.fromkeys(map(ord, INVISIBLE), "")
    for line in _TABLE.read_text(encoding="ascii").splitlines():
        if not line.startswith("#"):
            prototype, _, letters = line.partition("<")
            seen = "".join(chr(int(code, 16)) for code in prototype.split())
            table.update((int(code, 16), seen) for code in letters.split())
    return table | {ord(letter): seen for letter, seen in _MORE.items()}
