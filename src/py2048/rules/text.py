"""The grammar of rules as text, for the command line, records and URLs.

::

    rules   = name [":" change *("," change)]
    change  = "size=" ROWS "x" COLUMNS        size=4x4      (also rows=, columns=)
            | "start=" COUNT ["x" weights]    start=2       start=1..25x2:1
            | "spawn=" (weights | ("edge:" | "corners:") T)  spawn=2:9+4:1 spawn=edge:2
            | "merging=" ("once" | "cascade")
            | "scoring=" ("merges" | "net:4" | "moves:1:-1" | "sum")
            | "target=" (TILE | "none")
            | "end=" ("stuck" | "target")
    weights = TILE ":" NUMBER *("+" TILE ":" NUMBER)        numbers may be 9, 0.9 or 9/10

This module reads the changes; `py2048.rules.rules` puts the pieces together.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from py2048.errors import RulesError, did_you_mean, shown
from py2048.rules.parts import (
    BoardSum,
    CornerSpawn,
    EdgeSpawn,
    MergePoints,
    Merging,
    MovePoints,
    NetPoints,
    RandomSpawn,
    RandomStart,
    Scoring,
    Spawning,
    Weights,
)


def parse_changes(text: str) -> dict[str, Any]:
    """Return the fields of `Rules` that ``key=value,…`` sets.

    Raises:
        RulesError: if a part cannot be read; the message names the part and what would be right.
    """
    changes: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if key not in _READERS:
            raise RulesError(f"{shown(part)} is no change of rules{did_you_mean(key, _READERS)}")
        if not equals or not value:
            raise RulesError(f"{shown(part)} lacks a value: write {key}=…")
        field, read = _READERS[key]
        change = read(value) if key == "size" else {field: read(value)}
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
        raise ValueError
    return int(text)


def _whole(key: str, text: str) -> int:
    try:
        return _int(text)
    except ValueError:
        raise RulesError(f"{key}={shown(text)} is not a whole number") from None


def _size(text: str) -> dict[str, int]:
    rows, _, columns = text.lower().partition("x")
    try:
        return {"rows": _int(rows), "columns": _int(columns)}
    except ValueError:
        raise RulesError(f"size={shown(text)}: write rows x columns, such as size=4x4") from None


def _start(text: str) -> RandomStart:
    count, _, weights = text.partition("x")
    low, _, high = count.partition("..")
    first, last = _whole("start", low), _whole("start", high or low)
    return RandomStart(first, last, _weights(weights) if weights else None)


def _weights(text: str) -> Weights:
    pairs = []
    for pair in text.split("+"):
        tile, colon, weight = pair.partition(":")
        if not colon:
            raise RulesError(
                f"{shown(pair)} is no weight of a tile: write tile:weight, such as 2:9+4:1"
            )
        pairs.append((_whole("spawn", tile), weight.strip()))
    return Weights(pairs)


def _spawn(text: str) -> Spawning:
    kind, _, tile = text.partition(":")
    for fixed in (EdgeSpawn, CornerSpawn):
        if kind == fixed.kind:
            return fixed(_whole("spawn", tile or "2"))
    return RandomSpawn(_weights(text))


def _merging(text: str) -> Merging:
    try:
        return Merging(text.lower())
    except ValueError:
        raise RulesError(f"merging={shown(text)}: write once or cascade") from None


def _scoring(text: str) -> Scoring:
    match text.split(":"):
        case ["merges"]:
            return MergePoints()
        case ["sum"]:
            return BoardSum()
        case ["net", *cost] if len(cost) <= 1:
            return NetPoints(*(_whole("scoring", number) for number in cost))
        case ["moves"]:
            return MovePoints()
        case ["moves", legal, illegal]:
            return MovePoints(_whole("scoring", legal), _whole("scoring", illegal))
    raise RulesError(f"scoring={shown(text)}: write merges, net:4, moves:1:-1 or sum")


def _target(text: str) -> int | None:
    return None if text.lower() == "none" else _whole("target", text)


def _end(text: str) -> bool:
    if text not in ("stuck", "target"):
        raise RulesError(f"end={shown(text)}: write stuck or target")
    return text == "target"


_READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "size": ("", _size),
    "rows": ("rows", partial(_whole, "rows")),
    "columns": ("columns", partial(_whole, "columns")),
    "start": ("start", _start),
    "spawn": ("spawn", _spawn),
    "merging": ("merging", _merging),
    "scoring": ("scoring", _scoring),
    "target": ("target", _target),
    "end": ("ends_at_target", _end),
}
