"""The readings of a text whose encoding is unknown or whose characters were escaped on the way.

A replay is checked turn by turn, so a wrong reading gives itself away within a few characters:
each reading is tried in turn, the likeliest first, and the first that holds a whole game is right.
"""

from __future__ import annotations

import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

from py2048.errors import RecordError

MOST_REPAIRED = 1 << 22
"""Characters; a longer text is read as it stands, without undoing escapes."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
WINDOWS = "windows-1252"
_LEGACY = (WINDOWS, "cp850", "gb18030", "mac_roman")
_MISREAD = (WINDOWS, "cp850", "cp437", "mac_roman")

# As browsers have it: the bytes that Windows leaves out are control characters.
_FROM_WINDOWS = {byte: bytes([byte]).decode("cp1252", "ignore") or byte for byte in range(128, 160)}
_TO_WINDOWS = {ord(text): byte for byte, text in _FROM_WINDOWS.items() if isinstance(text, str)}
_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\u00ad\u200e\u200f"))
_PLAIN = str.maketrans("\u00a0\u2018\u2019\u201c\u201d\u201e", ' \'\'"""')
_TAG = re.compile(r"</?(?:br|wbr|p|div|span|pre|code|td|b|i)\b[^<>]*>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)\w*[ \t]*$", re.MULTILINE)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\"'\\/]))")


class Reading(NamedTuple):
    """A way to read a text.

    Attributes:
        how: what was undone, as a message says it; empty for the text as it stands.
        text: the text.
    """

    how: str
    text: str


class TextError(RecordError):
    """A place in a text where something else is expected.

    Attributes:
        place: the index of the character.
        ply: how far the game was read before.
    """

    def __init__(self, place: int, ply: int, reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.ply = ply

    def shown_in(self, reading: Reading) -> str:
        """Return the message with its line and character."""
        before = reading.text[: self.place]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        how = f" ({reading.how})" if reading.how else ""
        return f"line {line}, character {column}{how}: {self}"


def readings(data: bytes | str) -> Iterator[Reading]:
    """Yield the ways to read `data`, the likeliest first, each text once."""
    seen: set[str] = set()
    for how, text in _read(data):
        tidy = unicodedata.normalize("NFC", text.translate(_INVISIBLE))
        tidy = tidy.replace("\r\n", "\n").replace("\r", "\n")
        if tidy not in seen:
            seen.add(tidy)
            yield Reading(how, tidy)


def _read(data: bytes | str) -> Iterator[Reading]:
    texts = [Reading("", data)] if isinstance(data, str) else [*_decoded(data)]
    for how, text in texts:
        unfenced, fences = _FENCE.subn("", text)
        if fences > 1:  # they could be digits too, but are not
            yield Reading(how, unfenced)
        if _TAG.match(text.lstrip()):  # the same is true of the tag at the end
            yield Reading(how, _without_tags(text))
        yield Reading(how, text)
    for how, text in texts:
        if len(text) <= MOST_REPAIRED:
            for undone, repaired in _repaired(text):
                yield Reading(", ".join(filter(None, (how, undone))), repaired)


def _decoded(data: bytes) -> Iterator[Reading]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            yield Reading("", data.decode(encoding, errors="replace"))
            return
    if b"\0" in data[:200]:
        wide = {data[2:4]: "utf-32-le", data[:2]: "utf-32-be"}.get(b"\0\0")
        encoding = wide or ("utf-16-le" if b"\0" in data[1:200:2] else "utf-16-be")
        yield Reading("", data.decode(encoding, errors="replace"))
        return
    try:
        yield Reading("", data.decode())
    except UnicodeDecodeError:
        for encoding in _LEGACY:
            yield Reading(f"read as {encoding}", _decode(data, encoding))


def _repaired(text: str) -> Iterator[Reading]:
    """Yield `text` with what a web page, an address, a program or a mail did to it undone."""
    undone: list[Reading] = []
    for name, undo in _UNDO.items():
        if (plain := undo(text)) != text:
            undone.append(Reading(name, plain))
    yield from undone
    for how, plain in undone:
        for name, undo in _UNDO.items():
            if (plainer := undo(plain)) != plain:
                yield Reading(f"{how}, {name}", plainer)
    if not text.isascii():
        yield from _reencoded(text)


def _reencoded(text: str) -> Iterator[Reading]:
    """Yield what `text` was before a program read it in a wrong encoding."""
    for wrong in _MISREAD:
        if (data := _encode(text, wrong)) is None:
            continue
        for right in ("utf-8", "cp850", WINDOWS):
            if right != wrong:
                how = f"read as {right}, not {wrong}"
                yield Reading(how, _decode(data, right))


def _decode(data: bytes, encoding: str) -> str:
    if encoding == WINDOWS:
        return data.decode("latin-1").translate(_FROM_WINDOWS)
    return data.decode(encoding, errors="replace")


def _encode(text: str, encoding: str) -> bytes | None:
    try:
        if encoding == WINDOWS:
            return text.translate(_TO_WINDOWS).encode("latin-1")
        return text.encode(encoding)
    except UnicodeEncodeError:
        return None


def _without_tags(text: str) -> str:
    """Undo the tags and character references of HTML."""
    return html.unescape(_TAG.sub("\n", text))


def _without_quoting(text: str) -> str:
    """Take away the ``>`` with which mail quotes every line."""
    lines = text.splitlines()
    if all(line.lstrip().startswith(">") for line in lines if line.strip()):
        return "\n".join(re.sub(r"^\s*(?:> ?)+", "", line) for line in lines)
    return text


def _without_escapes(text: str) -> str:
    """Undo the escapes of JSON and of programs."""

    def plain(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return chr(int(code, 16)) if code else match[3]

    return _ESCAPE.sub(plain, text)


_UNDO: dict[str, Callable[[str], str]] = {
    "HTML undone": _without_tags,
    "percent signs undone": unquote,
    "percent signs undone as Latin-1": lambda text: unquote(text, encoding="latin-1"),
    "escapes undone": _without_escapes,
    "quoting undone": _without_quoting,
    "typography undone": lambda text: text.translate(_PLAIN).replace("…", "..."),
}
