"""The four directions."""

from __future__ import annotations

from enum import Enum

from py2048.core.errors import DirectionError, check_kind, did_you_mean, shown


class Direction(Enum):
    """A direction to slide in.

    In NumPy arrays, a direction is stored as its enum value, 0 to 3.

    Attributes:
        is_vertical: Whether tiles move along columns.
        is_forward: Whether tiles move towards the first row or column.
        letter: The direction's letter in records: U, D, L or R.
    """

    UP = 0
    DOWN = 1
    LEFT = 2
    RIGHT = 3

    def __init__(self, number: int) -> None:
        # Use attributes rather than properties, because every slide reads them.
        self.is_vertical = number < 2
        self.is_forward = number % 2 == 0
        self.letter = "UDLR"[number]
        self._text = self._name_.lower()

    # Members compare by identity. The default `Enum.__hash__` is written in Python and would slow
    # down every slide.
    __hash__ = object.__hash__

    @classmethod
    def _missing_(cls, value: object) -> Direction:
        raise DirectionError(f"{shown(value)} is not a direction number: give 0 to 3")

    @classmethod
    def parse(cls, text: str | Direction) -> Direction:
        """Parse a direction, ignoring case; a `Direction` is returned unchanged.

        Accepts names (``left``), first letters (``L``), compass points (``W`` for west) and arrows
        (``←``). Keys such as W, A, S and D are not accepted; each front end maps keys to directions
        itself.

        Raises:
            DirectionError: If `text` is not a direction.
        """
        if isinstance(text, Direction):
            return text
        check_kind(text, str, DirectionError, "a direction: give a Direction or a name like 'left'")
        try:
            return _WORDS[text.strip().lower()]
        except KeyError:
            known = [direction.name.lower() for direction in cls]
            raise DirectionError(
                f"{shown(text)} is not a direction{did_you_mean(text.lower(), known)}"
            ) from None

    def __str__(self) -> str:
        return self._text


_WORDS = {direction.name.lower(): direction for direction in Direction}
_WORDS |= {direction.letter.lower(): direction for direction in Direction}
_WORDS |= dict(zip("nswe", Direction, strict=True))
_WORDS |= dict(zip("↑↓←→", Direction, strict=True))
