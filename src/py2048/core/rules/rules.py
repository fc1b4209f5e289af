"""`Rules`: everything that makes one game of 2048 differ from another, as one frozen value.

Rules are written as text on the command line, in records and in URLs:

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

"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, get_args

from py2048.core.errors import RulesError, check_kind, did_you_mean, shown, unknown
from py2048.core.rules.parts import (
    BoardSum,
    EdgeSpawn,
    MergePoints,
    Merging,
    MovePoints,
    RandomSpawn,
    RandomStart,
    Scoring,
    Spawning,
    Weights,
    checked_tile,
    whole_number,
)

PRESETS = {
    "classic": "size=4x4,start=2,spawn=2:9+4:1,merging=once,scoring=merges,target=2048,end=stuck",
    "comp1127": "spawn=2:96+4:5,merging=cascade,end=target",
    "cmput175": "start=2x2:1,spawn=2:3+4:1",
    "cits1401": "size=5x5,start=1..25x2:1,spawn=edge:2,scoring=moves:1:-1,target=none",
    "ist": "spawn=2:4+4:1",
    "qsan_qarut": "start=1,spawn=2:1+4:1,scoring=sum",
    "2x4": "size=2x4,target=256",
    "3x3": "size=3x3,target=512",
    "3x4": "size=3x4,target=1024",
    "5x5": "size=5x5",
    "6x6": "size=6x6",
    "7x7": "size=7x7",
    "8x8": "size=8x8",
}
"""The presets: every rule set that py2048 knows by name, in the grammar above.

What a line leaves out is as in ``classic``. Menus, documentation and tests read this table through
`list_rules`; nothing else knows a preset by name. The five course presets follow ``docs/courses``;
below them are the community's boards, whose target is a tile that a good player reaches. All but
comp1127 play on past it.
"""

MAX_SIDE = 64
"""The longest side a board may have."""

_START = RandomStart(2, 2)
_SPAWN = RandomSpawn(Weights({2: 9, 4: 1}))
_SCORING = MergePoints()

_KINDS: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "start": (RandomStart,),
    "spawn": get_args(Spawning),
    "merging": (Merging,),
    "scoring": get_args(Scoring),
    "ends_at_target": (bool,),
}


@dataclass(frozen=True, slots=True)
class Rules:
    """One rule set of 2048.

    Attributes:
        name: a short name of visible characters, without spaces, ``:``, ``,`` or ``=``.
        rows: the number of rows.
        columns: the number of columns.
        start: how the first tiles are placed.
        spawn: which tile appears after a legal move, and where.
        merging: how often a tile may merge in one slide.
        scoring: what is worth points.
        target: the tile that counts as winning, or ``None`` for no such tile.
        ends_at_target: whether reaching the target ends the game.

    Raises:
        RulesError: if a value makes no game; the message names the value and the reason.
    """

    name: str
    rows: int = 4
    columns: int = 4
    start: RandomStart = _START
    spawn: Spawning = _SPAWN
    merging: Merging = Merging.ONCE
    scoring: Scoring = _SCORING
    target: int | None = 2048
    ends_at_target: bool = False

    def __post_init__(self) -> None:
        self._check_kinds()
        self._check_name()
        self._check_size()
        self._check_start()
        self._check_target()

    def _check_name(self) -> None:
        # A sign that does not print could not be encoded, or be an order to a terminal.
        if not self.name or any(
            c in ":,=" or c.isspace() or not c.isprintable() for c in self.name
        ):
            raise RulesError(
                f"{shown(self.name)} is not a name for rules: use visible characters, "
                "without spaces, ':', ',' and '='"
            )

    def _check_kinds(self) -> None:
        for name, kinds in _KINDS.items():
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
                raise RulesError("a game cannot end at its target without one: give target=2048")
        else:
            object.__setattr__(self, "target", checked_tile(self.target, "target "))

    @property
    def shape(self) -> tuple[int, int]:
        """``(rows, columns)``."""
        return self.rows, self.columns

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.rows * self.columns

    @property
    def start_weights(self) -> Weights:
        """The distribution of the start tiles."""
        if self.start.weights is not None:
            return self.start.weights
        assert isinstance(self.spawn, RandomSpawn)  # _check_start refuses anything else
        return self.spawn.weights

    @property
    def spawn_weights(self) -> Weights:
        """The distribution of the spawned tile's value (one tile for a deterministic spawn)."""
        return self.spawn.weights

    @property
    def is_deterministic(self) -> bool:
        """Whether the spawn follows from the move alone."""
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

    @classmethod
    def parse(cls, text: str) -> Rules:
        """Return the rules that `text` describes; the inverse of ``str``.

        A text is a name with or without changes: a preset's name (``classic:size=5x5``), a size
        (``2x3``: ``classic`` of that size), or, with changes of ``classic``, a new name.
        ``str`` writes every field, so its text keeps its meaning should a preset ever change.
        The head of this module has the grammar.

        Raises:
            RulesError: if the text describes no rules; the message names the part and the fix.
        """
        check_kind(text, str, RulesError, "a text of rules: give one such as 'classic'")
        name, colon, rest = text.strip().partition(":")
        if not name or "=" in name:
            raise RulesError(f"{shown(text)} does not start with a name, such as classic:size=5x5")
        changes = parse_changes(rest) if colon else {}
        is_whole = len(changes) == len(fields(Rules)) - 1  # as `str` writes it: of any size
        if not is_whole and re.fullmatch(r"[0-9]+[xX][0-9]+", name):
            name = name.lower()
            changes = _changes_under_size(name, changes)
        if name in PRESETS:
            return replace(_preset(name), **changes)
        if not changes:
            raise RulesError(f"no rules are called {unknown(name, PRESETS)}")
        return cls(name, **changes)


def _changes_under_size(name: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes of `classic` that a text means whose name is a size.

    Raises:
        RulesError: if the text gives another size.
    """
    size = parse_changes(f"size={name}")
    if size | changes != changes | size:
        raise RulesError(f"rules called {name} are for a board of that size: choose another name")
    return size | changes


@cache
def _preset(name: str) -> Rules:
    return Rules(name, **parse_changes(PRESETS[name]))


def list_rules() -> tuple[Rules, ...]:
    """Return every preset, ``classic`` first."""
    return tuple(_preset(name) for name in PRESETS)


def get_rules(rules: str | Rules | None = None, /, **changes: Any) -> Rules:
    """Return the preset of this name, or other rules or their text, with any fields changed.

    Without rules, `name` is that of a preset, by default the classic one.

    >>> get_rules("classic", rows=5, columns=5).shape
    (5, 5)

    Raises:
        RulesError: if the text describes no rules, there is no such field, or the changed rules
            make no game.
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
    """Return the fields of `Rules` that ``key=value,…`` sets.

    Raises:
        RulesError: if a part cannot be read; the message names the part and what would be right.
    """
    changes: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if key not in _READERS:
            raise RulesError(f"{shown(part)} is not a change of rules{did_you_mean(key, _READERS)}")
        if not equals or not value:
            raise RulesError(f"{shown(part)} lacks a value: write {key}=…")
        field, read = _READERS[key]
        try:
            change = read(value) if key == "size" else {field: read(value)}
        except RulesError:
            raise
        except ValueError as error:
            raise RulesError(f"{key}={shown(value)}: {error}") from None
        if change.keys() & changes.keys():
            raise RulesError(f"{shown(part)} gives {key} a second time: leave one out")
        changes |= change
    return changes


def _int(text: str) -> int:
    """Return the number that digits name; `int` takes signs, underlines and other digits, too.

    Raises:
        ValueError: if there is anything else.
    """
    if not re.fullmatch(r"\s*-?[0-9]+\s*", text):
        raise ValueError(f"{shown(text)} is not a whole number")
    return int(text)


def _size(text: str) -> dict[str, int]:
    try:
        rows, columns = map(_int, text.lower().split("x"))
    except ValueError:
        raise ValueError("write rows x columns, such as size=4x4") from None
    return {"rows": rows, "columns": columns}


def _start(text: str) -> RandomStart:
    count, _, weights = text.partition("x")
    low, _, high = count.partition("..")
    first, last = _int(low), _int(high or low)
    return RandomStart(first, last, _weights(weights) if weights else None)


def _weights(text: str) -> Weights:
    pairs = []
    for pair in text.split("+"):
        tile, colon, weight = pair.partition(":")
        if not colon:
            raise ValueError("write tile:weight for each tile, such as 2:9+4:1")
        pairs.append((_int(tile), weight.strip()))
    return Weights(pairs)


def _spawn(text: str) -> Spawning:
    kind, _, tile = text.partition(":")
    return EdgeSpawn(_int(tile or "2")) if kind == "edge" else RandomSpawn(_weights(text))


def _merging(text: str) -> Merging:
    try:
        return Merging(text.lower())
    except ValueError:
        raise ValueError("write once or cascade") from None


def _scoring(text: str) -> Scoring:
    match text.split(":"):
        case ["merges"]:
            return MergePoints()
        case ["sum"]:
            return BoardSum()
        case ["moves"]:
            return MovePoints()
        case ["moves", legal, illegal]:
            return MovePoints(_int(legal), _int(illegal))
    raise ValueError("write merges, moves:1:-1 or sum")


def _target(text: str) -> int | None:
    return None if text.lower() == "none" else _int(text)


def _end(text: str) -> bool:
    if text not in ("stuck", "target"):
        raise ValueError("write stuck or target")
    return text == "target"


_READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "size": ("", _size),
    "rows": ("rows", _int),
    "columns": ("columns", _int),
    "start": ("start", _start),
    "spawn": ("spawn", _spawn),
    "merging": ("merging", _merging),
    "scoring": ("scoring", _scoring),
    "target": ("target", _target),
    "end": ("ends_at_target", _end),
}
