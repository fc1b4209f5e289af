"""The four directions."""

from __future__ import annotations

from enum import Enum

from py2048.errors import DirectionError, did_you_mean


class Direction(Enum):
    """A direction to slide in. The values 0 to 3 are the action numbers of every array API."""

    UP = 0
    DOWN = 1
    LEFT = 2
    RIGHT = 3

    @classmethod
    def parse(cls, text: str) -> Direction:
        """Return the direction that `text` names, in any case.

        Known are the names (``left``), their first letters (``L``), the points of the compass
        (``W`` for west) and arrows (``←``). Keys such as WASD belong to the front ends.

        Raises:
            DirectionError: if `text` names no direction.
        """
        try:
            return _WORDS[text.strip().lower()]
        except KeyError:
            known = [direction.name.lower() for direction in cls]
            raise DirectionError(
                f"{text!r} is no direction{did_you_mean(text.lower(), known)}"
            ) from None

    @property
    def letter(self) -> str:
        """The letter that stands for this direction in records: U, D, L or R."""
        return self.name[0]

    @property
    def opposite(self) -> Direction:
        """The direction that points back."""
        return Direction(self.value ^ 1)

    @property
    def is_vertical(self) -> bool:
        """Whether tiles move along columns."""
        return self.value < 2

    @property
    def is_forward(self) -> bool:
        """Whether tiles move towards the first row or column."""
        return self.value % 2 == 0

    def __str__(self) -> str:
        return self.name.lower()


_WORDS = {direction.name.lower(): direction for direction in Direction}
_WORDS |= {direction.letter.lower(): direction for direction in Direction}
_WORDS |= dict(zip("nswe", Direction, strict=True))
_WORDS |= dict(zip("↑↓←→", Direction, strict=True))
