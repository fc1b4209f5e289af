"""`Rules`: the rules of a 2048 game as an immutable object.

The command line, records and URLs use this text form of rules:

::

    rules   = name [":" change *("," change)]
    change  = "size=" ROWS "x" COLUMNS        size=4x4      (also rows=, columns=)
            | "start=" COUNT ["x" weights]    start=2       start=1..25x2:1
            | "spawn=" (weights | "edge:" TILE)  spawn=2:9+4:1   spawn=edge:2
            | "merging=" ("once" | "cascade")
            | "scoring=" ("merges" | "moves:1:-1" | "sum")
            | "target=" (TILE | "none")
            | "end=" ("stuck" | "target")
    weights = TILE ":" NUMBER *("+" TILE ":" NUMBER)        numbers may be 9, 0.9 or 9/10

This module defines the parts of rules (merging, start, spawn, scoring), then `Rules` and its
presets, and finally the parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from fractions import Fraction
from functools import cache, lru_cache
from math import lcm
from operator import attrgetter, index
from typing import Any, get_args

from py2048.core.errors import RulesError, check_kind, did_you_mean, shown, unknown

MAX_POINTS = 1_000_000
"""Maximum number of points that rules may award or deduct for a move."""

MAX_RANK = 63
"""Largest allowed rank (base-2 logarithm of a tile). Records write a rank as one base-64 digit.

`py2048.engine.rules` defines the limits of compiled code.
"""

MAX_TOTAL_WEIGHT = 2**32
"""Maximum sum of the integer weights, because a 32-bit random number selects each tile."""


def whole_number(value: object) -> int | None:
    """Return `value` as an int if it is an integer of any type except bool, otherwise None."""
    try:
        return None if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def is_tile(value: object) -> bool:
    """Return whether `value` is a tile: an int that is a power of two, at least 2."""
    return type(value) is int and value >= 2 and value & (value - 1) == 0


class Merging(Enum):
    """How often a tile may merge in one slide."""

    ONCE = "once"
    """A tile merges at most once per slide: ``2 2 4`` slides left to ``4 4 .``."""

    CASCADE = "cascade"
    """A merged tile may merge again: ``2 2 4`` slides left to ``8 . .`` (comp1127)."""

    __hash__ = object.__hash__
    """Members compare by identity.

    The default `Enum.__hash__` is written in Python and would slow down every slide.
    """


@dataclass(frozen=True, slots=True)
class Weights:
    """A probability distribution over tiles, with exact rational probabilities.

    Accepts any positive weights (ints, fractions, or strings such as ``"0.9"``) and normalises them
    to sum to one, so ``{2: 9, 4: 1}`` equals ``{2: "0.9", 4: "0.1"}``.

    Attributes:
        pairs: ``(tile, probability)`` pairs, sorted by tile.
        tiles: The possible tiles, ascending.
        integers: The smallest integer weights that are proportional to the probabilities, in the
            order of `tiles`.

    Raises:
        RulesError: If there are no weights, a key is not a tile, or a weight is not positive.
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
        pairs = sorted(
            (checked_tile(tile), _checked_weight(tile, weight)) for tile, weight in weighted
        )
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
        """Return the probability of `tile`; zero if the tile never occurs."""
        return dict(self.pairs).get(tile, Fraction(0))

    def __str__(self) -> str:
        numbers = zip(self.tiles, self.integers, strict=True)
        return "+".join(f"{tile}:{weight}" for tile, weight in numbers)


def checked_tile(value: object, what: str = "") -> int:
    """Return `value` as an int.

    Args:
        value: The tile to check.
        what: Description of the tile; the error message begins with it.

    Raises:
        RulesError: If the value is not a tile or exceeds the limit for rules.
    """
    tile = whole_number(value)
    if tile is None or not is_tile(tile):
        raise RulesError(f"{what}{shown(value)} is not a tile: a tile is a power of two, 2 or more")
    rank = tile.bit_length() - 1
    if rank > MAX_RANK:
        raise RulesError(f"{what}2**{rank} is too large: rules have tiles up to 2**{MAX_RANK}")
    return tile


def _checked_weight(tile: int, weight: int | str | Fraction) -> Fraction:
    try:
        # Reject exponents: a few characters such as 1e999999999 would create a huge number.
        has_exponent = isinstance(weight, str) and "e" in weight.lower()
        value = Fraction(0) if has_exponent else Fraction(weight)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        value = Fraction(0)
    if value <= 0:
        raise RulesError(f"the weight {shown(weight)} of tile {tile} is not a positive number")
    return value


def _check_weights(weights: object) -> None:
    check_kind(weights, Weights, RulesError, "of type Weights: give Weights({2: 9, 4: 1})")


@cache
def _single_tile(tile: int) -> Weights:
    return Weights({tile: 1})


@dataclass(frozen=True, slots=True)
class RandomStart:
    """A start position with a random number of random tiles on random cells.

    Attributes:
        low: Minimum number of start tiles.
        high: Maximum number of tiles; every number from `low` to `high` is equally likely.
        weights: Distribution of the start tiles, or ``None`` to use the spawn distribution.
    """

    low: int
    high: int
    weights: Weights | None = None

    def __post_init__(self) -> None:
        counts = whole_number(self.low), whole_number(self.high)
        if None in counts or self.low < 1 or self.high < self.low:
            raise RulesError(
                f"start tiles {shown(self.low)}..{shown(self.high)} are not a range: "
                "give at least 1, the smaller number first"
            )
        if self.weights is not None:
            _check_weights(self.weights)

    def __str__(self) -> str:
        count = str(self.low) if self.low == self.high else f"{self.low}..{self.high}"
        return count if self.weights is None else f"{count}x{self.weights}"


@dataclass(frozen=True, slots=True)
class RandomSpawn:
    """Each legal move spawns a tile drawn from `weights` on a uniformly random empty cell."""

    weights: Weights

    def __post_init__(self) -> None:
        _check_weights(self.weights)

    def __str__(self) -> str:
        return str(self.weights)


@dataclass(frozen=True, slots=True)
class EdgeSpawn:
    """After each legal move, a fixed tile spawns on the edge opposite to the move.

    The first empty cell of the edge gets the tile, without randomness. After Up, the bottom row is
    searched from the right; after Down, the top row from the left. After Left, the right column is
    searched from the top; after Right, the left column from the bottom. CITS1401 uses this rule.
    After a legal move, the opposite edge always has an empty cell.
    """

    tile: int = 2

    def __post_init__(self) -> None:
        checked_tile(self.tile)

    @property
    def weights(self) -> Weights:
        """The distribution of spawned tiles, in which `tile` is certain."""
        return _single_tile(self.tile)

    def __str__(self) -> str:
        return f"edge:{self.tile}"


@dataclass(frozen=True, slots=True)
class MergePoints:
    """Each merge scores the value of the new tile."""

    def __str__(self) -> str:
        return "merges"


@dataclass(frozen=True, slots=True)
class MovePoints:
    """Every legal move scores `legal` points, and every illegal attempt `illegal` points.

    Merges score no points.
    """

    legal: int = 1
    illegal: int = -1

    def __post_init__(self) -> None:
        for points in (self.legal, self.illegal):
            number = whole_number(points)
            if number is None or abs(number) > MAX_POINTS:
                raise RulesError(
                    f"points of a move must be whole numbers, at most {MAX_POINTS}, "
                    f"not {shown(points)}"
                )

    def __str__(self) -> str:
        return f"moves:{self.legal}:{self.illegal}"


@dataclass(frozen=True, slots=True)
class BoardSum:
    """The score is the sum of all tiles after each turn, and 0 before the first turn."""

    def __str__(self) -> str:
        return "sum"


Spawning = RandomSpawn | EdgeSpawn
Scoring = MergePoints | MovePoints | BoardSum


COURSE_PRESETS = {
    "comp1127": "spawn=2:96+4:5,merging=cascade,end=target",
    "cmput175": "start=2x2:1,spawn=2:3+4:1",
    "cits1401": "size=5x5,start=1..25x2:1,spawn=edge:2,scoring=moves:1:-1,target=none",
    "ist": "spawn=2:4+4:1",
    "qsan_qarut": "start=1,spawn=2:1+4:1,scoring=sum",
}
"""The presets of university courses, by name; ``docs/courses`` describes the courses."""

PRESETS = {
    "classic": "size=4x4,start=2,spawn=2:9+4:1,merging=once,scoring=merges,target=2048,end=stuck",
    **COURSE_PRESETS,
    "2x4": "size=2x4,target=256",
    "3x3": "size=3x3,target=512",
    "3x4": "size=3x4,target=1024",
    "5x5": "size=5x5",
    "6x6": "size=6x6",
    "7x7": "size=7x7",
    "8x8": "size=8x8",
}
"""All presets by name, written in the grammar of the module docstring.

Omitted settings are those of ``classic``. No other code names a preset. Documentation and tests
list presets with `list_rules`, and menus use `list_boards`. The presets named after a board size
have a target that a good player can reach. Games continue after the target is reached, except in
comp1127.
"""

MAX_SIDE = 64
"""Maximum number of rows or columns."""

_DEFAULT_START = RandomStart(2, 2)
_DEFAULT_SPAWN = RandomSpawn(Weights({2: 9, 4: 1}))
_DEFAULT_SCORING = MergePoints()

_FIELD_TYPES: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "start": (RandomStart,),
    "spawn": get_args(Spawning),
    "merging": (Merging,),
    "scoring": get_args(Scoring),
    "ends_at_target": (bool,),
}


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a game.

    Attributes:
        name: A short name of printable characters, without spaces, ``:``, ``,`` or ``=``.
        rows: Number of rows.
        columns: Number of columns.
        start: How the first tiles are placed.
        spawn: Which tile appears after a legal move, and where.
        merging: How often a tile may merge in one slide.
        scoring: How points are scored.
        target: The tile that wins the game, or ``None``.
        ends_at_target: Whether the game ends when the target is reached.

    Raises:
        RulesError: If the rules are not playable; the message names the value and the reason.
    """

    name: str
    rows: int = 4
    columns: int = 4
    start: RandomStart = _DEFAULT_START
    spawn: Spawning = _DEFAULT_SPAWN
    merging: Merging = Merging.ONCE
    scoring: Scoring = _DEFAULT_SCORING
    target: int | None = 2048
    ends_at_target: bool = False

    def __post_init__(self) -> None:
        self._check_types()
        self._check_name()
        self._check_size()
        self._check_start()
        self._check_target()

    def _check_name(self) -> None:
        # Unprintable characters could change a terminal's state, and some cannot be encoded.
        if not self.name or any(
            c in ":,=" or c.isspace() or not c.isprintable() for c in self.name
        ):
            raise RulesError(
                f"{shown(self.name)} is not a valid name for rules: use visible characters "
                "without spaces, ':', ',' and '='"
            )

    def _check_types(self) -> None:
        for name, kinds in _FIELD_TYPES.items():
            value = getattr(self, name)
            if not isinstance(value, kinds):
                wanted = " or ".join(kind.__name__ for kind in kinds)
                raise RulesError(f"{name} must be of type {wanted}, not {shown(value)}")

    def _check_size(self) -> None:
        for side in ("rows", "columns"):
            given = getattr(self, side)
            length = whole_number(given)
            if length is None or not 1 <= length <= MAX_SIDE:
                raise RulesError(f"{side} must be 1 to {MAX_SIDE}, not {shown(given)}")
            object.__setattr__(self, side, length)
        if self.cells < 2:
            raise RulesError("a 1x1 board has no move: a board needs at least two cells")

    def _check_start(self) -> None:
        if self.start.high > self.cells:
            raise RulesError(
                f"{self.start.high} start tiles do not fit on a {self.rows}x{self.columns} board "
                f"of {self.cells} cells"
            )
        if self.start.weights is None and self.is_deterministic:
            raise RulesError(
                f"spawn={self.spawn} has no weights: give the start its own, such as 2x2:1"
            )

    def _check_target(self) -> None:
        if self.target is None:
            if self.ends_at_target:
                raise RulesError("end=target needs a target: give target=2048")
        else:
            object.__setattr__(self, "target", checked_tile(self.target, "target "))

    @property
    def shape(self) -> tuple[int, int]:
        """``(rows, columns)``."""
        return self.rows, self.columns

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.rows * self.columns

    @property
    def objective(self) -> tuple[object, ...]:
        """The settings that affect future points, as a tuple."""
        end = self.target if self.ends_at_target else None
        return self.shape, self.spawn, self.merging, self.scoring, end

    @property
    def start_weights(self) -> Weights:
        """Distribution of the start tiles."""
        if self.start.weights is not None:
            return self.start.weights
        assert isinstance(self.spawn, RandomSpawn)  # _check_start refuses anything else
        return self.spawn.weights

    @property
    def spawn_weights(self) -> Weights:
        """Distribution of spawned tiles; an `EdgeSpawn` always spawns the same tile."""
        return self.spawn.weights

    @property
    def is_deterministic(self) -> bool:
        """Whether spawns are fully determined by the board and the move, without randomness."""
        return not isinstance(self.spawn, RandomSpawn)

    def __str__(self) -> str:
        changes = {
            "size": f"{self.rows}x{self.columns}",
            "start": self.start,
            "spawn": self.spawn,
            "merging": self.merging.value,
            "scoring": self.scoring,
            "target": "none" if self.target is None else self.target,
            "end": "target" if self.ends_at_target else "stuck",
        }
        return f"{self.name}:" + ",".join(f"{key}={value}" for key, value in changes.items())

    @staticmethod
    def parse(text: str) -> Rules:
        """Parse rules; the inverse of ``str``.

        The text is the name of a preset (``classic:size=5x5``), a size (``2x3`` means ``classic``
        of that size), or a new name with changes to ``classic``. ``str`` writes every setting, so
        saved rules keep their meaning if a preset changes. The module docstring has the grammar.

        Raises:
            RulesError: If the text cannot be parsed; the message names the faulty part and how to
                fix it.
        """
        check_kind(text, str, RulesError, "rules as text: give a string such as 'classic'")
        return _parsed(text)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Rules:
    name, colon, rest = text.strip().partition(":")
    if not name or "=" in name:
        raise RulesError(f"{shown(text)} does not start with a name, such as classic:size=5x5")
    changes = parse_changes(rest) if colon else {}
    # A name such as 3x3 sets the board size, unless the text contains every setting.
    is_complete = len(changes) == len(fields(Rules)) - 1
    if not is_complete and re.fullmatch(r"[0-9]+[xX][0-9]+", name):
        name = name.lower()
        changes = _changes_for_size(name, changes)
    if name in PRESETS:
        return replace(_preset(name), **changes)
    if not changes:
        raise RulesError(f"there are no rules named {unknown(name, PRESETS)}")
    return Rules(name, **changes)


def _changes_for_size(name: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes to ``classic``: `changes`, plus any board size that `name` contains.

    Raises:
        RulesError: If `changes` set a size that differs from the name.
    """
    size = parse_changes(f"size={name}")
    if size | changes != changes | size:
        raise RulesError(f"rules named {name} must have that size: choose another name")
    return size | changes


@cache
def _preset(name: str) -> Rules:
    return Rules(name, **parse_changes(PRESETS[name]))


def list_rules() -> tuple[Rules, ...]:
    """Return all presets, ``classic`` first."""
    return tuple(_preset(name) for name in PRESETS)


def list_boards() -> tuple[Rules, ...]:
    """Return the presets that menus offer: all except course presets, with ``classic`` first."""
    return tuple(_preset(name) for name in PRESETS if name not in COURSE_PRESETS)


@lru_cache(maxsize=1024)
def preset_of(rules: Rules) -> Rules | None:
    """Return the preset that equals these rules apart from size and name, or None.

    If several presets match, such as classic and 5x5, prefer the one with the same name.
    """
    names = [each.name for each in fields(Rules) if each.name not in ("name", "rows", "columns")]
    wanted = attrgetter(*names)
    same = [preset for preset in list_rules() if wanted(preset) == wanted(rules)]
    first = same[0] if same else None
    return next((each for each in same if each.name == rules.name.casefold()), first)


def get_rules(rules: str | Rules | None = None, /, **changes: Any) -> Rules:
    """Return rules from an object, text or preset name, with the fields in `changes` replaced.

    Args:
        rules: `Rules`, or their text. If omitted, ``name`` in `changes` selects the preset; the
            default is ``"classic"``.
        **changes: Fields of `Rules` to replace.

    >>> get_rules("classic", rows=5, columns=5).shape
    (5, 5)

    Raises:
        RulesError: If the text cannot be parsed, a field does not exist, or the resulting rules are
            not playable.
    """
    if rules is None:
        rules = changes.pop("name", "classic")
    chosen = rules if isinstance(rules, Rules) else Rules.parse(rules)
    known = {field.name for field in fields(Rules)}
    for change in changes.keys() - known:
        raise RulesError(f"rules have no field {unknown(change, known)}")
    return replace(chosen, **changes) if changes else chosen


# --- rules as text -------------------------------------------------------------------------------


def parse_changes(text: str) -> dict[str, Any]:
    """Parse ``key=value,…`` into fields of `Rules`.

    Raises:
        RulesError: If a part cannot be parsed; the message names the faulty part and how to fix it.
    """
    changes: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if key not in _PARSERS:
            raise RulesError(f"{shown(part)} is not a rule setting{did_you_mean(key, _PARSERS)}")
        if not equals or not value:
            raise RulesError(f"{shown(part)} lacks a value: write {key}=…")
        field, read = _PARSERS[key]
        try:
            change = read(value) if key == "size" else {field: read(value)}
        except RulesError:
            raise
        except ValueError as error:
            raise RulesError(f"{key}={shown(value)}: {error}") from None
        if change.keys() & changes.keys():
            raise RulesError(f"{shown(part)} sets {key} a second time: leave one out")
        changes |= change
    return changes


def _parse_int(text: str) -> int:
    """Parse a number; unlike `int`, reject plus signs, underscores and non-ASCII digits.

    Raises:
        ValueError: If the text is not a whole number.
    """
    if not re.fullmatch(r"\s*-?[0-9]+\s*", text):
        raise ValueError(f"{shown(text)} is not a whole number")
    return int(text)


def _parse_size(text: str) -> dict[str, int]:
    try:
        rows, columns = map(_parse_int, text.lower().split("x"))
    except ValueError:
        raise ValueError("write rows x columns, such as size=4x4") from None
    return {"rows": rows, "columns": columns}


def _parse_start(text: str) -> RandomStart:
    count, _, weights = text.partition("x")
    low, _, high = count.partition("..")
    first, last = _parse_int(low), _parse_int(high or low)
    return RandomStart(first, last, _parse_weights(weights) if weights else None)


def _parse_weights(text: str) -> Weights:
    pairs = []
    for pair in text.split("+"):
        tile, colon, weight = pair.partition(":")
        if not colon:
            raise ValueError("write tile:weight for each tile, such as 2:9+4:1")
        pairs.append((_parse_int(tile), weight.strip()))
    return Weights(pairs)


def _parse_spawn(text: str) -> Spawning:
    kind, _, tile = text.partition(":")
    return (
        EdgeSpawn(_parse_int(tile or "2")) if kind == "edge" else RandomSpawn(_parse_weights(text))
    )


def _parse_merging(text: str) -> Merging:
    try:
        return Merging(text.lower())
    except ValueError:
        raise ValueError("write once or cascade") from None


def _parse_scoring(text: str) -> Scoring:
    match text.split(":"):
        case ["merges"]:
            return MergePoints()
        case ["sum"]:
            return BoardSum()
        case ["moves"]:
            return MovePoints()
        case ["moves", legal, illegal]:
            return MovePoints(_parse_int(legal), _parse_int(illegal))
    raise ValueError("write merges, moves:1:-1 or sum")


def _parse_target(text: str) -> int | None:
    return None if text.lower() == "none" else _parse_int(text)


def _parse_end(text: str) -> bool:
    if text not in ("stuck", "target"):
        raise ValueError("write stuck or target")
    return text == "target"


_PARSERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "size": ("", _parse_size),
    "rows": ("rows", _parse_int),
    "columns": ("columns", _parse_int),
    "start": ("start", _parse_start),
    "spawn": ("spawn", _parse_spawn),
    "merging": ("merging", _parse_merging),
    "scoring": ("scoring", _parse_scoring),
    "target": ("target", _parse_target),
    "end": ("ends_at_target", _parse_end),
}
