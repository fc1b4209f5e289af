"""Reading the replay texts of 2048verse, in both of its public forms.

Each form writes the two start tiles first, as if they were turns whose direction means nothing.

Older form, ``replay`` with an optional ``:`` or ``_`` and size, then one character a turn. The
character's place in the alphabet has seven bits: two for the direction (up, right, down, left),
one for the tile (2 or 4), two for the column and two for the row.

Newer form, ``4x4-…_`` (rows x columns; what stands before the ``_`` is free), then three digits
of base 128 a turn, 21 bits from the low end: two for the direction (up, down, left, right), two
for the tile, three for the column, three for the row, and eleven for the thinking time.

Source: the site's own converter, github.com/2048Verse/2048-replay-utils.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from py2048.board import Board, Cell
from py2048.direction import Direction
from py2048.errors import RecordError, RulesError
from py2048.game.record import Record, encode_step, read_text
from py2048.game.turn import Spawn
from py2048.rules import Rules, get_rules, list_rules

_OLD_HEAD = re.compile(r"replay(?:[:_](?:(\d)x(\d))?)?")
_NEW_HEAD = re.compile(r"(\d+)x(\d+)-[^_]*_")

# The printable characters of ASCII, then those of code page 850 from its 128th place.
_OLD = bytes([*range(32, 127), *range(128, 161)]).decode("cp850")
_NEW = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    + "".join(map(chr, range(192, 256)))
    + "¤¾"
)
_OLD_DIGITS = {character: value for value, character in enumerate(_OLD)}
_NEW_DIGITS = {character: value for value, character in enumerate(_NEW)}
_OLD_DIRECTIONS = (Direction.UP, Direction.RIGHT, Direction.DOWN, Direction.LEFT)
_NEW_DIRECTIONS = tuple(Direction)

# The time is `multiplier` steps of a resolution above the reach of the finer ones.
_STEPS = (1, 3, 12, 48, 192, 768, 3072, 12288)
_REACH = (255, 1021, 4084, 16336, 65344, 265966, 1050094, 4186606)
_PAGE_CLOSED = 7, 255


class _Entry(NamedTuple):
    """One written turn; the first two of a replay are start tiles."""

    direction: Direction
    spawn: Spawn
    think_ms: int


def is_verse(text: str) -> bool:
    """Return whether `text` begins like a replay of 2048verse."""
    return bool(_OLD_HEAD.match(text) or _NEW_HEAD.match(text))


def from_verse(text: str) -> Record:
    """Return the record of a 2048verse replay, verified.

    Raises:
        RecordError: if the text is no such replay, or a turn of it breaks the rules; the message
            names the place.
    """
    text = text.strip("\r\n\ufeff")
    new, old = _NEW_HEAD.match(text), _OLD_HEAD.match(text)
    if new:
        return _record((int(new[1]), int(new[2])), _new_entries(text[new.end() :]))
    if not old:
        raise RecordError(f"{text[:20]!r}… is no 2048verse replay: it begins with replay or 4x4-")
    size = (int(old[1]), int(old[2])) if old[1] else (4, 4)
    try:
        return _record(size, _old_entries(text[old.end() :]))
    except RecordError:
        if not old[1]:  # what looks like the sign after the word may be the first tile
            with contextlib.suppress(RecordError):
                return _record(size, _old_entries(text.removeprefix("replay")))
        raise


def load_record(path: Path) -> Record:
    """Return the record in a file: ours, or a replay of 2048verse.

    Raises:
        RecordError: if the file holds neither.
    """
    text = read_text(path)
    try:
        return from_verse(text) if is_verse(text.lstrip("\ufeff")) else Record.from_json(text)
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from None


def _rules(size: Cell) -> Rules:
    """Return the classic rules on a board of `size`, by the preset's name if it has one."""
    name = f"{size[0]}x{size[1]}"
    if name in {rules.name for rules in list_rules()}:
        return get_rules(name)
    try:
        return get_rules("classic", rows=size[0], columns=size[1])
    except RulesError as error:
        raise RecordError(str(error)) from None


def _record(size: Cell, written: Iterator[_Entry]) -> Record:
    entries, rules = list(written), _rules(size)
    if len(entries) < 2:
        raise RecordError("the replay ends before its two start tiles")
    start = Board.empty(*rules.shape)
    for _, spawn, _ in entries[:2]:
        if spawn.cell not in start.empty_cells():
            raise RecordError(f"a start tile cannot stand on cell {spawn.cell}")
        start = start.with_tile(spawn.cell, spawn.tile)
    turns = "".join(_code(entry, rules.shape, ply) for ply, entry in enumerate(entries[2:], 1))
    times = tuple(entry.think_ms for entry in entries[2:])
    record = Record(rules, start, turns, score=0, player="2048verse", times=times)
    score = 0
    for _, _, reached in record.replay():
        score = reached
    return replace(record, score=score)


def _code(entry: _Entry, shape: Cell, ply: int) -> str:
    row, column = entry.spawn.cell
    if row >= shape[0] or column >= shape[1]:
        raise RecordError(f"ply {ply}: cell {entry.spawn.cell} is outside a {shape} board")
    return encode_step(entry.direction, entry.spawn, shape)


def _digit(digits: dict[str, int], text: str, index: int) -> int:
    try:
        return digits[text[index]]
    except KeyError:
        raise RecordError(f"{text[index]!r} at turn character {index + 1} is no digit") from None


def _old_entries(text: str) -> Iterator[_Entry]:
    for index in range(len(text)):
        bits = _digit(_OLD_DIGITS, text, index)
        spawn = Spawn(4 if bits >> 4 & 1 else 2, (bits & 3, bits >> 2 & 3))
        yield _Entry(_OLD_DIRECTIONS[bits >> 5], spawn, 0)


def _new_entries(text: str) -> Iterator[_Entry]:
    if len(text) % 3:
        raise RecordError(f"the replay is cut off: {len(text)} characters are no multiple of 3")
    for index in range(0, len(text), 3):
        digits = [_digit(_NEW_DIGITS, text, index + k) for k in range(3)]
        bits = digits[0] << 14 | digits[1] << 7 | digits[2]
        spawn = Spawn(2 << (bits >> 2 & 3), (bits >> 7 & 7, bits >> 4 & 7))
        yield _Entry(_NEW_DIRECTIONS[bits & 3], spawn, _think_ms(bits >> 10 & 7, bits >> 13))


def _think_ms(resolution: int, multiplier: int) -> int:
    """Return the thinking time; a page that was closed in between counts as none."""
    if (resolution, multiplier) == _PAGE_CLOSED:
        return 0
    finer = _REACH[resolution - 1] + _STEPS[resolution - 1] if resolution else 0
    return finer + _STEPS[resolution] * multiplier
