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

from collections.abc import Callable
from typing import Any

from py2048.errors import RulesError, did_you_mean
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
    Weights,
)


def parse_changes(text: str) -> dict[str, Any]:
    """Return the fields of `Rules` that ``key=value,…`` sets.

    Raises:
        RulesError: if a part cannot be read; the message names the part and what would be right.
    """
    changes: dict[str, Any] = {}
    for part in text.split(","):
        changes.update(_parse_change(part))
    return changes


def _parse_change(part: str) -> dict[str, Any]:
    key, equals, value = (word.strip() for word in part.partition("="))
    if key not in _READERS:
        raise RulesError(f"{part!r} is no change of rules{did_you_mean(key, _READERS)}")
    if not equals or not value:
        raise RulesError(f"{part!r} lacks a value: write {key}=…")
    return _READERS[key](value)


def _whole(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise RulesError(f"{key}={text!r} is not a whole number") from None


def _size(text: str) -> dict[str, Any]:
    rows, x, columns = text.lower().partition("x")
    if not x:
        raise RulesError(f"size={text!r}: write rows x columns, such as size=4x4")
    return {"rows": _whole("size", rows), "columns": _whole("size", columns)}


def _start(text: str) -> dict[str, Any]:
    count, _, weights = text.partition("x")
    low, _, high = count.partition("..")
    first, last = _whole("start", low), _whole("start", high or low)
    return {"start": RandomStart(first, last, _weights(weights) if weights else None)}


def _weights(text: str) -> Weights:
    pairs = []
    for pair in text.split("+"):
        tile, colon, weight = pair.partition(":")
        if not colon:
            raise RulesError(f"{pair!r} is no weight of a tile: write tile:weight, such as 2:9+4:1")
        pairs.append((_whole("spawn", tile), weight.strip()))
    return Weights(pairs)


def _spawn(text: str) -> dict[str, Any]:
    kind, _, tile = text.partition(":")
    for fixed in (EdgeSpawn, CornerSpawn):
        if kind == fixed.kind:
            return {"spawn": fixed(_whole("spawn", tile or "2"))}
    return {"spawn": RandomSpawn(_weights(text))}


def _merging(text: str) -> dict[str, Any]:
    try:
        return {"merging": Merging(text.lower())}
    except ValueError:
        raise RulesError(f"merging={text!r}: write once or cascade") from None


def _scoring(text: str) -> dict[str, Any]:
    kind, *numbers = text.split(":")
    scoring: Scoring
    if kind == "merges" and not numbers:
        scoring = MergePoints()
    elif kind == "sum" and not numbers:
        scoring = BoardSum()
    elif kind == "net" and len(numbers) <= 1:
        scoring = NetPoints(*(_whole("scoring", number) for number in numbers))
    elif kind == "moves" and len(numbers) in (0, 2):
        scoring = MovePoints(*(_whole("scoring", number) for number in numbers))
    else:
        raise RulesError(f"scoring={text!r}: write merges, net:4, moves:1:-1 or sum")
    return {"scoring": scoring}


def _target(text: str) -> dict[str, Any]:
    return {"target": None if text.lower() == "none" else _whole("target", text)}


def _end(text: str) -> dict[str, Any]:
    if text not in ("stuck", "target"):
        raise RulesError(f"end={text!r}: write stuck or target")
    return {"ends_at_target": text == "target"}


_READERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "size": _size,
    "rows": lambda text: {"rows": _whole("rows", text)},
    "columns": lambda text: {"columns": _whole("columns", text)},
    "start": _start,
    "spawn": _spawn,
    "merging": _merging,
    "scoring": _scoring,
    "target": _target,
    "end": _end,
}
