"""The four directions."""

from __future__ import annotations

from enum import Enum

from py2048.core.errors import DirectionError, check_kind, did_you_mean, shown


class Direction(Enum):
    """A direction to slide in. The values 0 to 3 are the action numbers of every array API.

    Attributes:
        is_vertical: whether tiles move along columns.
        is_forward: whether tiles move towards the first row or column.
        letter: the letter that stands for this direction in records: U, D, L or R.
    """

    UP = 0
    DOWN = 1
    LEFT = 2
    RIGHT = 3

    def __init__(self, number: int) -> None:
        # Plain attributes: every slide asks for them several times.
        self.is_vertical = number < 2
        self.is_forward = number % 2 == 0
        self.letter = "UDLR"[number]
        self._text = self._name_.lower()

    # A member equals itself alone. Lines are looked up by it: this hash takes no Python call.
    __hash__ = object.__hash__

    @classmethod
    def _missing_(cls, value: object) -> Direction:
        raise DirectionError(f"{shown(value)} is not a number of a direction: give 0 to 3")

    @classmethod
    def parse(cls, text: str | Direction) -> Direction:
        """Return the direction that `text` names, in any case; a direction is one already.

        Known are the names (``left``), their first letters (``L``), the points of the compass
        (``W`` for west) and arrows (``←``). Keys such as WASD belong to the front ends.

        Raises:
            DirectionError: if `text` names no direction.
        """
        if isinstance(text, Direction):
            return text
        check_kind(text, str, DirectionError, "a direction: give one, or a text such as 'left'")
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
