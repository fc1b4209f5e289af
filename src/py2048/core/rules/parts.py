"""The parts that rules are made of: merging, start, spawn and scoring, each a small value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cache
from math import lcm
from operator import index

from py2048.core.errors import RulesError, check_kind, shown

MAX_POINTS = 1_000_000
"""The most points that the rules may give or take for a move by itself."""

MAX_RANK = 63
"""That of the largest tile that rules may name: a record writes ranks as digits of base 64.

`py2048.engine.rules` says how large tiles may grow in compiled code.
"""

MAX_TOTAL_WEIGHT = 2**32
"""Integer weights must sum to at most this, so that half of a 64-bit draw can choose one."""


def whole_number(value: object) -> int | None:
    """Return a whole number as an int, NumPy's among them; None for anything else, a bool too."""
    try:
        return None if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def is_tile(value: object) -> bool:
    """Return whether `value` is a tile: an int that is a power of two, 2 or more."""
    return (
        isinstance(value, int)
        and not isinstance(value, bool)
        and value >= 2
        and value & (value - 1) == 0
    )


class Merging(Enum):
    """How often a tile may merge in one slide."""

    ONCE = "once"
    """A tile takes part in one merge a slide: ``2 2 4`` left is ``4 4 .``."""

    CASCADE = "cascade"
    """A merged tile may be merged into again: ``2 2 4`` left is ``8 . .`` (comp1127)."""

    __hash__ = object.__hash__
    """A member equals itself alone. Lines are looked up by it: this hash takes no Python call."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A distribution over tiles with exact rational probabilities.

    Any positive weights are accepted (ints, fractions, texts such as ``"0.9"``); they are
    normalised to sum to one, so ``{2: 9, 4: 1}`` equals ``{2: "0.9", 4: "0.1"}``.

    Attributes:
        pairs: ``(tile, probability)`` in ascending order of tile.
        tiles: the tiles that can occur, ascending.
        integers: the smallest whole-number weights in the same ratio, in the order of `tiles`.

    Raises:
        RulesError: no tile, a value that is not a tile, or a weight that is not positive.
    """

    pairs: tuple[tuple[int, Fraction], ...]
    tiles: tuple[int, ...] = field(compare=False)
    integers: tuple[int, ...] = field(compare=False)

    def __init__(
        self,
        weights: Mapping[int, int | str | Fraction] | Iterable[tuple[int, int | str | Fraction]],
    ) -> None:
        items = weights.items() if isinstance(weights, Mapping) else weights
        try:
            weighted = [(tile, weight) for tile, weight in items]
        except (TypeError, ValueError):
            raise RulesError(
                f"{shown(weights)} are not weights: give a dict such as {{2: 9, 4: 1}}"
            ) from None
        pairs = sorted((checked_tile(tile), _weight(tile, weight)) for tile, weight in weighted)
        if not pairs:
            raise RulesError("a spawn needs at least one tile with a weight, such as 2:9+4:1")
        tiles = [tile for tile, _ in pairs]
        if len(set(tiles)) != len(tiles):
            raise RulesError(f"tile weights name a tile twice: {tiles}")
        total = sum(weight for _, weight in pairs)
        shares = [weight / total for _, weight in pairs]
        denominator = lcm(*(share.denominator for share in shares))
        object.__setattr__(self, "pairs", tuple(zip(tiles, shares, strict=True)))
        object.__setattr__(self, "tiles", tuple(tiles))
        object.__setattr__(self, "integers", tuple(int(s * denominator) for s in shares))
        if denominator > MAX_TOTAL_WEIGHT:
            raise RulesError(
                f"tile weights {self} need a common denominator above 2**32; use simpler ratios"
            )

    def probability(self, tile: int) -> Fraction:
        """Return the probability of `tile` (zero for a tile that never occurs)."""
        return dict(self.pairs).get(tile, Fraction(0))

    def __str__(self) -> str:
        numbers = zip(self.tiles, self.integers, strict=True)
        return "+".join(f"{tile}:{weight}" for tile, weight in numbers)


def checked_tile(value: object, what: str = "") -> int:
    """Return a tile as an int.

    Raises:
        RulesError: if it is not one, or too large for rules; the message names it, after `what`.
    """
    tile = whole_number(value)
    if tile is None or not is_tile(tile):
        raise RulesError(f"{what}{shown(value)} is not a tile: a tile is a power of two, 2 or more")
    rank = tile.bit_length() - 1
    if rank > MAX_RANK:
        raise RulesError(f"{what}2**{rank} is too large: rules have tiles up to 2**{MAX_RANK}")
    return tile


def _weight(tile: int, weight: int | str | Fraction) -> Fraction:
    try:
        # An exponent would make a number of a billion digits from a few characters.
        too_short = isinstance(weight, str) and "e" in weight.lower()
        value = Fraction(0) if too_short else Fraction(weight)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        value = Fraction(0)
    if value <= 0:
        raise RulesError(f"the weight {shown(weight)} of tile {tile} is not a positive number")
    return value


def _check_weights(weights: object) -> None:
    check_kind(weights, Weights, RulesError, "of type Weights: give Weights({2: 9, 4: 1})")


@cache
def _certain(tile: int) -> Weights:
    return Weights({tile: 1})


@dataclass(frozen=True, slots=True)
class RandomStart:
    """A start with a random number of random tiles on random cells.

    Attributes:
        low: the smallest number of start tiles.
        high: the largest; every count from `low` to `high` is equally likely.
        weights: which tiles; ``None`` means those of the spawn.
    """

    low: int
    high: int
    weights: Weights | None = None

    def __post_init__(self) -> None:
        counts = whole_number(self.low), whole_number(self.high)
        if None in counts or self.low < 1 or self.high < self.low:
            raise RulesError(
                f"start tiles {shown(self.low)}..{shown(self.high)}: "
                "at least 1, and not more than the upper end"
            )

        if self.weights is not None:
            _check_weights(self.weights)

    def __str__(self) -> str:
        count = str(self.low) if self.low == self.high else f"{self.low}..{self.high}"
        return count if self.weights is None else f"{count}x{self.weights}"


@dataclass(frozen=True, slots=True)
class RandomSpawn:
    """After each legal move one tile, drawn by `weights`, on an empty cell, all equally likely."""

    weights: Weights

    def __post_init__(self) -> None:
        _check_weights(self.weights)

    def __str__(self) -> str:
        return str(self.weights)


@dataclass(frozen=True, slots=True)
class EdgeSpawn:
    """After each legal move a fixed tile on a fixed cell of the edge that was left behind.

    Up: the rightmost empty cell of the bottom row. Down: the leftmost of the top row.
    Left: the highest of the right column. Right: the lowest of the left column (cits1401).
    After a legal move such a cell always exists. Chance has no part.
    """

    tile: int = 2

    def __post_init__(self) -> None:
        checked_tile(self.tile)

    @property
    def weights(self) -> Weights:
        """The one tile, with certainty."""
        return _certain(self.tile)

    def __str__(self) -> str:
        return f"edge:{self.tile}"


@dataclass(frozen=True, slots=True)
class MergePoints:
    """Each merge is worth the new tile's value."""

    def __str__(self) -> str:
        return "merges"


@dataclass(frozen=True, slots=True)
class MovePoints:
    """Each legal move is worth `legal` points, each illegal one `illegal`; merges give none."""

    legal: int = 1
    illegal: int = -1

    def __post_init__(self) -> None:
        for points in (self.legal, self.illegal):
            number = whole_number(points)
            if number is None or abs(number) > MAX_POINTS:
                whole = f"whole numbers, at most {MAX_POINTS}"
                raise RulesError(f"points of a move must be {whole}, not {shown(points)}")

    def __str__(self) -> str:
        return f"moves:{self.legal}:{self.illegal}"


@dataclass(frozen=True, slots=True)
class BoardSum:
    """The score is the sum of the board after each turn, and 0 before the first."""

    def __str__(self) -> str:
        return "sum"


Spawning = RandomSpawn | EdgeSpawn
Scoring = MergePoints | MovePoints | BoardSum
