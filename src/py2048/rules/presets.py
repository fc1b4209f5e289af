"""The presets: every rule set that py2048 knows by name, in one list.

Menus, documentation and tests read this list; nothing else knows a preset by name. The five
course presets follow ``docs/courses``; the sizes below ``classic`` are the community's boards.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from py2048.errors import RulesError, did_you_mean
from py2048.rules.parts import (
    BoardSum,
    EdgeSpawn,
    Merging,
    MovePoints,
    RandomSpawn,
    RandomStart,
    Weights,
)
from py2048.rules.rules import Rules

_ONLY_TWOS = Weights({2: 1})

_COURSES = (
    Rules("classic"),
    Rules(
        "comp1127",
        spawn=RandomSpawn(Weights({2: 96, 4: 5})),
        merging=Merging.CASCADE,
        ends_at_target=True,
    ),
    Rules(
        "cmput175",
        start=RandomStart(2, 2, _ONLY_TWOS),
        spawn=RandomSpawn(Weights({2: 3, 4: 1})),
    ),
    Rules(
        "cits1401",
        rows=5,
        columns=5,
        start=RandomStart(1, 25, _ONLY_TWOS),
        spawn=EdgeSpawn(2),
        scoring=MovePoints(),
        target=None,
    ),
    Rules("ist", spawn=RandomSpawn(Weights({2: 4, 4: 1}))),
    Rules(
        "qsan_qarut",
        start=RandomStart(1, 1),
        spawn=RandomSpawn(Weights({2: 1, 4: 1})),
        scoring=BoardSum(),
    ),
)

# The target of a small board is one that a good player reaches; all of them play on past it.
_SIZES = tuple(
    Rules(f"{rows}x{columns}", rows=rows, columns=columns, target=target)
    for rows, columns, target in (
        (2, 4, 256),
        (3, 3, 512),
        (3, 4, 1024),
        (5, 5, 2048),
        (6, 6, 2048),
        (7, 7, 2048),
        (8, 8, 2048),
    )
)

PRESETS: dict[str, Rules] = {rules.name: rules for rules in (*_COURSES, *_SIZES)}


def list_rules() -> tuple[Rules, ...]:
    """Return every preset, ``classic`` first."""
    return tuple(PRESETS.values())


def get_rules(name: str = "classic", **changes: Any) -> Rules:
    """Return the preset called `name`, with any of its fields changed.

    >>> get_rules("classic", rows=5, columns=5).shape
    (5, 5)

    Raises:
        RulesError: if there is no such preset or field, or the changed rules make no game.
    """
    if name not in PRESETS:
        raise RulesError(f"no rules are called {name!r}{did_you_mean(name, PRESETS)}")
    try:
        return replace(PRESETS[name], **changes)
    except TypeError as error:
        raise RulesError(f"rules have no such field: {error}") from None
