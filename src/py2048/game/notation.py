"""Turns as text: the compact notation of records and of the store.

A legal turn is a direction letter (``U D L R``), the rank of the spawned tile and its cell in
row-major order, as digits of base 64 (``0-9 A-Z a-z - _``): ``L1C`` is left, then a 2 on cell
12. Boards above 64 cells write the cell with two digits. An illegal attempt that cost points is
the direction letter in lower case alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from py2048.direction import Direction
from py2048.errors import RecordError
from py2048.game.spawning import Spawn
from py2048.game.turn import Turn

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"

Step = tuple[Direction, Spawn | None]
"""A direction with its spawn; `None` for an illegal attempt."""

_VALUES = {digit: value for value, digit in enumerate(DIGITS)}
_LEGAL = {direction.letter: direction for direction in Direction}
_ILLEGAL = {direction.letter.lower(): direction for direction in Direction}


def cell_digits(shape: tuple[int, int]) -> int:
    """Return how many digits a cell takes on a board of this shape."""
    return 1 if shape[0] * shape[1] <= len(DIGITS) else 2


def encode_step(direction: Direction, spawn: Spawn | None, shape: tuple[int, int]) -> str:
    """Return the code of one turn on a board of `shape`."""
    if spawn is None:
        return direction.letter.lower()
    (row, column), digits = spawn.cell, cell_digits(shape)
    number = row * shape[1] + column
    cell = "".join(DIGITS[number >> (6 * k) & 63] for k in reversed(range(digits)))
    return direction.letter + DIGITS[spawn.tile.bit_length() - 1] + cell


def encode_turn(turn: Turn) -> str:
    """Return the code of `turn`."""
    return encode_step(turn.direction, turn.spawn, turn.slide.before.shape)


def direction_of(code: str) -> Direction:
    """Return the direction of one turn's code, legal or not."""
    return _LEGAL[code[0].upper()]


def decode_steps(text: str, shape: tuple[int, int]) -> Iterator[Step]:
    """Yield the steps that `text` writes, for a board of `shape`.

    Raises:
        RecordError: at the first character that fits no turn; the message says where.
    """
    index, width = 0, 2 + cell_digits(shape)
    while index < len(text):
        letter = text[index]
        if letter in _ILLEGAL:
            yield _ILLEGAL[letter], None
            index += 1
            continue
        spawn = _decode_spawn(text[index + 1 : index + width], shape)
        if letter not in _LEGAL or spawn is None:
            raise RecordError(
                f"turn text {text[index : index + width]!r} at character {index + 1} is no turn"
            )
        yield _LEGAL[letter], spawn
        index += width


def _decode_spawn(code: str, shape: tuple[int, int]) -> Spawn | None:
    if len(code) != 1 + cell_digits(shape) or any(digit not in _VALUES for digit in code):
        return None
    cell = 0
    for digit in code[1:]:
        cell = cell << 6 | _VALUES[digit]
    rank = _VALUES[code[0]]
    return Spawn(1 << rank, divmod(cell, shape[1])) if rank and cell < shape[0] * shape[1] else None
