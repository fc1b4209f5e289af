"""The rules that a server plays: bounded, so that no game can outgrow the store or the page.

A game has at most `MOST_ACTIONS` actions, each of which adds one tile of at most `LARGEST_TILE`.
With `n` tiles their sum is at most ``n * LARGEST_TILE``, and merges earn at most
``sum * log2(sum)`` points: a merge of two tiles ``t`` raises the sum of ``t * log2(t)`` by the
points that it earns. That stays below 2**53, which JavaScript's numbers hold exactly, and far
below the 2**63 of the store's columns.
"""

from __future__ import annotations

from py2048.errors import Py2048Error
from py2048.rules import MovePoints, Rules
from py2048.server.table import RefusedError

LARGEST_SIDE = 16
LARGEST_TILE = 2**20
"""The largest tile that may appear by itself, at the start or after a move."""

LARGEST_TARGET = 2**40
"""No game reaches a larger tile."""

MOST_POINTS = 1_000_000
"""The most points that a move may give or take."""

LONGEST_NAME = 40
_LONGEST_TEXT = 400


def checked_rules(text: str) -> Rules:
    """Return the rules that a stranger's text describes.

    Raises:
        RefusedError: if it describes none, or rules that are not played on a server; the message
            names the value and what is possible.
    """
    if len(text) > _LONGEST_TEXT:
        raise RefusedError("rules", f"the rules are too long: at most {_LONGEST_TEXT} characters")
    try:
        rules = Rules.parse(text)
    except (Py2048Error, ValueError, OverflowError) as error:
        raise RefusedError("rules", str(error)) from None
    fault = _fault(rules)
    if fault is not None:
        raise RefusedError("rules", fault)
    return rules


def _fault(rules: Rules) -> str | None:
    """Return why rules are not played here, None if they are."""
    tile = max(*rules.spawn_weights.tiles, *rules.start_weights.tiles)
    scoring = rules.scoring
    points = (scoring.legal, scoring.illegal) if isinstance(scoring, MovePoints) else (0,)
    if not rules.name.isprintable() or len(rules.name) > LONGEST_NAME:
        return f"{rules.name!r} is no name here: use at most {LONGEST_NAME} visible characters"
    if max(rules.shape) > LARGEST_SIDE:
        size = f"{rules.rows}x{rules.columns}"
        return f"size={size} is too large here: use at most {LARGEST_SIDE} rows and columns"
    if tile > LARGEST_TILE:
        return f"new tiles of {tile} are too large here: use at most {LARGEST_TILE}"
    if (rules.target or 0) > LARGEST_TARGET:
        return f"target={rules.target} is too large here: use at most {LARGEST_TARGET}, or none"
    if max(map(abs, points)) > MOST_POINTS:
        return f"scoring={scoring}: use at most {MOST_POINTS} points a move here"
    if len(str(rules)) > _LONGEST_TEXT:
        return f"the rules are too long: at most {_LONGEST_TEXT} characters when written in full"
    return None
