"""A canvas of quarter characters: rectangles and text in, coloured runs of characters out."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import NamedTuple

# One character for each set of filled quarters: bit 1 top left, 2 top right, 4 bottom left,
# 8 bottom right.
_QUARTERS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"


class Run(NamedTuple):
    """Neighbouring characters of one row with the same colours."""

    text: str
    ink: str
    ground: str
    bold: bool


RowKey = tuple[bytes, bytes, tuple[tuple[int, tuple[str, int]], ...]]
"""Equal keys of one canvas mean equal rows: two rows of pixels, and the text on them."""

MOST_COLOURS = 200
"""A canvas numbers its colours in bytes; `clear` starts anew when it has as many as this."""


class Canvas:
    """A picture of `columns` x `rows` characters, two pixels wide and two high each."""

    def __init__(self, columns: int, rows: int, ground: str) -> None:
        self.columns, self.rows = columns, rows
        self._colours: list[str] = []
        self._numbers: dict[str, int] = {}
        self._pixels: list[bytearray] = []
        self._text: list[dict[int, tuple[str, int]]] = []
        self._blocks: dict[tuple[int, int, int, int], Run] = {}
        self.clear(ground)

    def clear(self, ground: str) -> bool:
        """Fill everything with `ground`; return whether the keys from before still hold."""
        is_full = len(self._colours) > MOST_COLOURS
        if is_full:
            self._colours.clear()
            self._numbers.clear()
            self._blocks.clear()
        blank = bytes([self._number(ground)]) * (2 * self.columns)
        self._pixels = [bytearray(blank) for _ in range(2 * self.rows)]
        self._text = [{} for _ in range(self.rows)]
        return not is_full

    def key(self, row: int) -> RowKey:
        """Return what the look of a row depends on."""
        text = tuple(sorted(self._text[row].items()))
        return bytes(self._pixels[2 * row]), bytes(self._pixels[2 * row + 1]), text

    def rectangle(self, x: int, y: int, width: int, height: int, colour: str) -> None:
        """Fill a rectangle of pixels; parts outside the canvas are cut off."""
        left, right = max(x, 0), min(x + width, 2 * self.columns)
        if right <= left:
            return
        filling = bytes([self._number(colour)]) * (right - left)
        for line in range(max(y, 0), min(y + height, 2 * self.rows)):
            self._pixels[line][left:right] = filling
        self._forget_text(left // 2, max(y, 0) // 2, -(-right // 2), -(-(y + height) // 2))

    def write(self, column: int, row: int, text: str, colour: str) -> None:
        """Write bold characters onto the picture; those outside the canvas are cut off."""
        number = self._number(colour)
        for offset, character in enumerate(text):
            if 0 <= row < self.rows and 0 <= column + offset < self.columns:
                self._text[row][column + offset] = character, number

    def runs(self, row: int) -> list[Run]:
        """Return one row of characters as runs, from the left."""
        runs: list[Run] = []
        top, bottom, text = self._pixels[2 * row], self._pixels[2 * row + 1], self._text[row]
        halves = zip(top[::2], top[1::2], bottom[::2], bottom[1::2], strict=True)
        for column, quarters in enumerate(halves):
            run = self._blocks.get(quarters) or self._block(quarters)
            if column in text:
                run = self._letter(*text[column], quarters)
            if runs and runs[-1][1:] == run[1:]:
                runs[-1] = runs[-1]._replace(text=runs[-1].text + run.text)
            else:
                runs.append(run)
        return runs

    def _block(self, quarters: tuple[int, int, int, int]) -> Run:
        character, ink, ground = _block(quarters)
        run = Run(character, self._colours[ink], self._colours[ground], bold=False)
        self._blocks[quarters] = run
        return run

    def _letter(self, character: str, ink: int, quarters: tuple[int, int, int, int]) -> Run:
        # Under a letter there is one colour: the one that most of the character has.
        ground = Counter(quarters).most_common(1)[0][0]
        return Run(character, self._colours[ink], self._colours[ground], bold=True)

    def _number(self, colour: str) -> int:
        if colour not in self._numbers:
            self._numbers[colour] = len(self._colours)
            self._colours.append(colour)
        return self._numbers[colour]

    def _forget_text(self, left: int, top: int, right: int, bottom: int) -> None:
        """Drop the letters that a new rectangle covers."""
        for texts in self._text[top:bottom]:
            for column in [column for column in texts if left <= column < right]:
                del texts[column]


@lru_cache(maxsize=1 << 14)
def _block(quarters: tuple[int, int, int, int]) -> tuple[str, int, int]:
    """Return the character, its ink and its ground that look most like four coloured quarters.

    A character has two colours. Where three meet, which happens only while tiles move, the rarer
    ones give way.
    """
    (ground, count), *others = Counter(quarters).most_common()
    if count == 4:
        return " ", ground, ground
    ink = others[0][0]
    mask = sum(1 << bit for bit, colour in enumerate(quarters) if colour != ground)
    if _QUARTERS[mask] in "▄▐":
        # In some fonts the lower half ends above the next row, which shows as a line across a
        # tile; the upper half with its colours exchanged has no such edge.
        return _QUARTERS[15 - mask], ground, ink
    return _QUARTERS[mask], ink, ground
