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


class Canvas:
    """A picture of `columns` x `rows` characters, two pixels wide and two high each."""

    def __init__(self, columns: int, rows: int, ground: str) -> None:
        self.columns, self.rows = columns, rows
        self._colours = [ground]
        self._numbers = {ground: 0}
        self._pixels = [bytearray(2 * columns) for _ in range(2 * rows)]
        self._text: dict[tuple[int, int], tuple[str, int]] = {}

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
                self._text[row, column + offset] = character, number

    def runs(self, row: int) -> list[Run]:
        """Return one row of characters as runs, from the left."""
        runs: list[Run] = []
        top, bottom = self._pixels[2 * row], self._pixels[2 * row + 1]
        for column in range(self.columns):
            x = 2 * column
            quarters = (top[x], top[x + 1], bottom[x], bottom[x + 1])
            runs_on = self._character(row, column, quarters)
            if runs and runs[-1][1:] == runs_on[1:]:
                runs[-1] = runs_on._replace(text=runs[-1].text + runs_on.text)
            else:
                runs.append(runs_on)
        return runs

    def _character(self, row: int, column: int, quarters: tuple[int, int, int, int]) -> Run:
        text = self._text.get((row, column))
        character, ink, ground = _block(quarters)
        if text is not None:
            # Under a letter there is one colour: the one that most of the character has.
            ground = Counter(quarters).most_common(1)[0][0]
            return Run(text[0], self._colours[text[1]], self._colours[ground], bold=True)
        return Run(character, self._colours[ink], self._colours[ground], bold=False)

    def _number(self, colour: str) -> int:
        if colour not in self._numbers:
            self._numbers[colour] = len(self._colours)
            self._colours.append(colour)
        return self._numbers[colour]

    def _forget_text(self, left: int, top: int, right: int, bottom: int) -> None:
        """Drop the letters that a new rectangle covers."""
        covered = [
            (row, column)
            for row, column in self._text
            if top <= row < bottom and left <= column < right
        ]
        for place in covered:
            del self._text[place]


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
