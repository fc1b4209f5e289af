"""Milestones: the tiles that players race to reach, and how soon a game reached them.

A board's milestones begin at a quarter of its target tile. On a 4x4 board, the milestones are 512,
1024, 2048 and all larger tiles. The clock starts with the first move.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from operator import attrgetter
from typing import NamedTuple

from py2048.core.game import Position
from py2048.core.rules import Rules

FIRST_SHARE = 4
"""Ratio between the target tile and the first milestone."""


class Pace(NamedTuple):
    """The time and the number of moves that a game took to reach a tile.

    Attributes:
        millis: Milliseconds since the first move.
        moves: Number of moves.
    """

    millis: int
    moves: int


class Milestone(NamedTuple):
    """A tile to reach.

    Attributes:
        tile: The tile.
        pace: The pace of this game, or None if the tile was not reached.
        best: The player's best pace in a game without help, or None if there is none.
    """

    tile: int
    pace: Pace | None
    best: Pace | None


def milestones(rules: Rules) -> Iterator[int]:
    """Yield the milestones of a board in ascending order, or none for rules without a target."""
    tile = (rules.target or 0) // FIRST_SHARE
    most = max(rules.spawn_weights.tiles) << (rules.rows * rules.columns - 1)
    while 0 < tile <= (rules.target if rules.ends_at_target and rules.target else most):
        yield tile
        tile *= 2


def is_milestone(rules: Rules, tile: int) -> bool:
    """Return whether a new largest tile is a milestone."""
    return rules.target is not None and tile * FIRST_SHARE >= rules.target


def race_of(
    positions: Sequence[Position], millis: Sequence[int], rules: Rules, bests: Mapping[int, Pace]
) -> list[Milestone]:
    """Return the milestones up to the target, and larger milestones that the player has reached.

    Args:
        positions: The positions at the start and after each turn.
        millis: Duration of each turn in milliseconds.
        rules: Rules of the game.
        bests: The player's best pace for each tile.
    """
    found, shown = [], max(rules.target or 0, positions[-1].max_tile, *bests)
    for tile in takewhile(lambda tile: tile <= shown, milestones(rules)):
        index = bisect_left(positions, tile, key=attrgetter("max_tile"))
        is_made = 0 < index < len(positions)
        pace = Pace(sum(millis[1:index]), positions[index].ply) if is_made else None
        found.append(Milestone(tile, pace, bests.get(tile)))
    return found
