"""Reading the replay texts of 2048verse, in both of its public forms.

Each form writes the two start tiles first, as if they were turns whose direction means nothing.

Older form, ``replay`` with an optional ``:`` or ``_`` and size, then one character a turn. The
character's place in the alphabet has seven bits: two for the direction (up, right, down, left),
one for the tile (2 or 4), two for the column and two for the row.

Newer form, ``4x4-…_`` (rows x columns; what stands before the ``_`` is free), then three digits
of base 128 a turn, 21 bits from the low end: two for the direction (up, down, left, right), two
for the tile, three for the column, three for the row, and eleven for the thinking time.

Replays are found in the text around them. One ends at a blank line, at the quotation mark that
belongs to the one before it, or where the next one begins; its lines may be wrapped.

Source: the site's own converter, github.com/2048Verse/2048-replay-utils.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from typing import NamedTuple

from py2048.board import Cell
from py2048.direction import Direction
from py2048.errors import RecordError
from py2048.game.foreign import ForeignTurn, IllegalTurnError, classic_rules, record_of, start_board
from py2048.game.foreign_text import TextError
from py2048.game.record import Record
from py2048.game.turn import Spawn

PLAYER = "2048verse"

_HEAD = re.compile(
    r"(?<![0-9A-Za-z])"
    r"(?:replay(?:(?P<mark>[:_])(?:(?P<old>\d{1,9}x\d{1,9}))?)?"
    r"|(?P<new>\d{1,9}x\d{1,9})-[^_\n]{0,80}_)"
)
_SURE = 8
"""Legal turns that no text makes by chance."""
_SIZES = ("4x4", "3x4", "3x3", "2x4", "5x5", "4x3", "4x2")
"""The boards that a replay without a head may have been played on, the likeliest first."""

# The printable characters of ASCII, then those of code page 850 from its 128th place.
_OLD = bytes([*range(32, 127), *range(128, 161)]).decode("cp850")
_NEW = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    + "".join(map(chr, range(192, 256)))
    + "¤¾"
)
_OLD_DIRECTIONS = (Direction.UP, Direction.RIGHT, Direction.DOWN, Direction.LEFT)
_NEW_DIRECTIONS = tuple(Direction)

# The time is `multiplier` steps of a resolution above the reach of the finer ones.
_STEPS = (1, 3, 12, 48, 192, 768, 3072, 12288)
_REACH = (255, 1021, 4084, 16336, 65344, 265966, 1050094, 4186606)
_PAGE_CLOSED = 7, 255

_BLANK = re.compile(r"\n[ \t]*\n")
_NEXT_HEADS = 50
"""How many heads further on are looked at for the end of a replay."""

_CLOSING = dict(zip("\"'`<\u201c\u201e\u2018\u00ab", "\"'`>\u201d\u201c\u2019\u00bb", strict=True))
_UNESCAPED = {
    closing: re.compile(rf"(?<!\\)(?:\\\\)*{re.escape(closing)}") for closing in _CLOSING.values()
}
_BEFORE = " \t-*0123456789.()" + "".join(_CLOSING) + ">"
"""What may stand before a replay at the beginning of its line."""
_AFTER = ".,;:!?)]}*" + "".join(_CLOSING.values())
"""What may stand right after a replay of the newer form, two signs at most."""
_LONGEST_LABEL = 12
_LONGEST_WORD = 24
"""Characters; a run of more is no word of the text around a replay."""


class _Form(NamedTuple):
    """One of the two forms."""

    name: str
    alphabet: str
    digits: dict[str, int]
    width: int
    gaps: str


def _digits_of(alphabet: str) -> dict[str, int]:
    return {character: value for value, character in enumerate(alphabet)}


_OLDER = _Form("older", "ASCII from the space to ~ and Ç to á", _digits_of(_OLD), 1, "\n")
_NEWER = _Form("newer", "0-9 a-z A-Z À-ÿ ¤ ¾", _digits_of(_NEW), 3, " \t\n")


class _Found(NamedTuple):
    """What may be a replay: its form, its board, and where its digits begin and end in the text."""

    form: _Form
    size: str
    start: int
    end: int

    def places(self, text: str) -> range | list[int]:
        """Return the places of the digits, those where a line wraps left out."""
        gaps = self.form.gaps
        if not any(gap in text[self.start : self.end] for gap in gaps):
            return range(self.start, self.end)
        return [place for place in range(self.start, self.end) if text[place] not in gaps]


def verse_records(text: str) -> list[Record]:
    """Return the records of the replays in `text`, verified; none if it holds none.

    Raises:
        TextError: if one is damaged.
    """
    heads = list(_HEAD.finditer(text))
    if not heads:
        return _without_head(text)
    blanks = [*(match.start() for match in _BLANK.finditer(text)), len(text)]
    records: list[Record] = []
    faults: list[TextError] = []
    words: list[TextError] = []
    end = 0
    for index, head in enumerate(heads):
        later = heads[index + 1 : index + _NEXT_HEADS]
        if head.start() < end or _is_label(text, head, later):
            continue
        stop = _stop(text, head, later, blanks[bisect.bisect_left(blanks, head.end())])
        try:
            record, end = _first_legal(text, _candidates(text, head, stop))
        except TextError as fault:
            (faults if _is_replay(text, head, fault) else words).append(fault)
        else:
            records.append(record)
    if faults or not records:
        raise max(faults or words, key=lambda fault: fault.ply)
    return records


def _is_replay(text: str, head: re.Match[str], fault: TextError) -> bool:
    """Return whether a text that is no sound replay is a damaged one, and not words about one."""
    if head["new"]:
        return bool(re.match(r"\S{6}", text[head.end() : head.end() + 6]))
    return fault.ply > 1 or bool(head["old"])


def _without_head(text: str) -> list[Record]:
    """Return the record of a text that is nothing but the digits of a replay."""
    first = len(text) - len(text.lstrip("\n"))
    last = len(text.rstrip("\n"))
    found = [_found(form, size, text, first, last) for form in (_NEWER, _OLDER) for size in _SIZES]
    try:
        record, _ = _first_legal(text, iter(found))
    except TextError as fault:
        if fault.ply > _SURE:
            raise
        return []
    return [record] if record.plies >= _SURE else []


def _first_legal(text: str, candidates: Iterator[_Found]) -> tuple[Record, int]:
    """Return the record of the first candidate that is one, and where it ends."""
    worst: TextError | None = None
    barred: dict[tuple[str, str, int], int] = {}  # how far no game comes, by where it starts
    for found in candidates:
        kind = found.form.name, found.size, found.start
        if found.end > barred.get(kind, found.end):
            continue
        try:
            return _record(text, found), found.end
        except TextError as fault:
            barred[kind] = fault.place
            if worst is None or fault.ply > worst.ply:
                worst = fault
    assert worst is not None  # there is always a candidate
    raise worst


# Where a replay ends


def _is_label(text: str, head: re.Match[str], later: list[re.Match[str]]) -> bool:
    """Return whether a head only announces the next one, as in ``"replay": "4x4-…_…"``."""
    gap = text[head.end() : later[0].start()] if later else "\n"
    return len(gap) <= _LONGEST_LABEL and "\n" not in gap


def _stop(text: str, head: re.Match[str], later: list[re.Match[str]], paragraph: int) -> int:
    """Return where the text after `head` can belong to its replay no more.

    Letters on the same line that look like the next head may be digits of the older form.
    """
    for other in later:
        line = text.rfind("\n", head.end(), other.start()) + 1
        if head["new"] or (line and not text[line : other.start()].strip(_BEFORE)):
            return min(paragraph, line or other.start())
    return paragraph


def _candidates(text: str, head: re.Match[str], stop: int) -> Iterator[_Found]:
    """Yield what may be the replay after `head`, the longest first."""
    start, size = head.end(), head["new"] or head["old"] or "4x4"
    form = _NEWER if head["new"] else _OLDER
    for end in _ends(form, text, head.start(), start, stop):
        yield _found(form, size, text, start, end)
        if head["mark"] and not head["old"]:  # the sign after the word may be the first tile
            yield _found(form, size, text, start - 1, end)


def _ends(form: _Form, text: str, opening: int, start: int, stop: int) -> Iterator[int]:
    """Yield where the digits from `start` may end: at a closing quotation mark, or before prose."""
    closing = _CLOSING.get(text[opening - 1 : opening], "")
    if closing:
        quotes = [match.end() - 1 for match in _UNESCAPED[closing].finditer(text, start, stop)]
        yield from (quotes[:1] if form is _NEWER else reversed(quotes[-20:]))
        if quotes:
            return
    yield stop
    pieces = re.compile(r"\S+" if form is _NEWER else r"[^\n]+")
    found = list(pieces.finditer(text, start, stop))
    words = 0
    for index in range(len(found) - 1, 0, -1):
        piece = found[index][0]
        if not _are_words(form, piece):
            return
        words += len(piece.split())
        if words > 1:
            yield found[index - 1].end()


def _are_words(form: _Form, text: str) -> bool:
    """Return whether a piece of a paragraph may be words about a replay, and no part of it."""
    if any(len(word) > _LONGEST_WORD for word in text.split()):
        return False
    return form is _NEWER or bool(re.fullmatch(r"[\w\s.,;:!?'\"()-]+", text))


def _found(form: _Form, size: str, text: str, start: int, end: int) -> _Found:
    """Return what may be a replay from `start` to `end`, without what follows its last digit."""
    end = _trimmed(text, start, end, form.gaps)
    if form is _NEWER:
        end = _trimmed(text, max(start, end - 2), end, _AFTER)
    return _Found(form, size, start, _trimmed(text, start, end, form.gaps))


def _trimmed(text: str, start: int, end: int, signs: str) -> int:
    """Return where the text from `start` to `end` ends without such signs at its end."""
    while end > start and text[end - 1] in signs:
        end -= 1
    return end


# What the digits mean


def _record(text: str, found: _Found) -> Record:
    try:
        rules = classic_rules(_size(found.size))
    except RecordError as error:
        raise TextError(found.start, 0, str(error)) from None
    places = found.places(text)
    turns = _turns(text, found.form, places)
    try:
        written = [next(turns, None), next(turns, None)]
        spawns = [turn.spawn for turn in written if turn]
        if len(spawns) < 2:
            raise IllegalTurnError(0, "the replay ends before its two start tiles")
        start = start_board(rules, spawns)
        return record_of(rules, start, turns, player=PLAYER)
    except IllegalTurnError as fault:
        index = (fault.ply + 1) * found.form.width if fault.ply else 0
        place = places[index] if index < len(places) else len(text)
        raise TextError(place, fault.ply, str(fault)) from None


def _size(text: str) -> Cell:
    rows, columns = text.split("x")
    return int(rows), int(columns)


def _turns(text: str, form: _Form, places: range | list[int]) -> Iterator[ForeignTurn]:
    decode = _new_turn if form is _NEWER else _old_turn
    for index in range(0, len(places), form.width):
        group = places[index : index + form.width]
        ply = max(index // form.width - 1, 0)
        bits = 0
        for place in group:
            if (digit := form.digits.get(text[place])) is None:
                wrong = f"{text[place]!r} is no digit of the {form.name} form"
                raise TextError(place, ply, f"{wrong}, which has {form.alphabet}")
            bits = bits << 7 | digit
        if len(group) < form.width:
            whole = f"a turn has {form.width} digits, and the last one {len(group)}"
            raise TextError(group[0], ply, f"the replay is cut off: {whole}")
        yield decode(bits)


def _old_turn(bits: int) -> ForeignTurn:
    spawn = Spawn(4 if bits >> 4 & 1 else 2, (bits & 3, bits >> 2 & 3))
    return ForeignTurn(_OLD_DIRECTIONS[bits >> 5], spawn)


def _new_turn(bits: int) -> ForeignTurn:
    spawn = Spawn(2 << (bits >> 2 & 3), (bits >> 7 & 7, bits >> 4 & 7))
    return ForeignTurn(_NEW_DIRECTIONS[bits & 3], spawn, _think_ms(bits >> 10 & 7, bits >> 13))


def _think_ms(resolution: int, multiplier: int) -> int:
    """Return the thinking time; a page that was closed in between counts as none."""
    if (resolution, multiplier) == _PAGE_CLOSED:
        return 0
    finer = _REACH[resolution - 1] + _STEPS[resolution - 1] if resolution else 0
    return finer + _STEPS[resolution] * multiplier
