"""What watchers get of a move: a few bytes, from which their page works out the rest.

A frame is binary. Its bytes are: the version after the move, modulo 256; the direction (bits 0 and
1, as `py2048.direction.Direction` counts them) with the exponent of the new tile above it (bits 2
to 7); the new tile's cell, counted from 0 row by row; and what the move changed in the score, in
groups of seven bits, the lowest first, of which all but the last have bit 7 set, with the sign in
the lowest bit. Whatever is no plain move, or would not fit, is sent as to everybody else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from py2048.session import Event, Moved

if TYPE_CHECKING:
    from py2048.server.play.games import OnlineGame

_MOST_EXPONENT = 63


class Step(bytes):
    """A binary frame; all others are text."""


def step_frame(game: OnlineGame, events: Sequence[Event]) -> Step | None:
    """Return what has just happened in a game in as few bytes as can be.

    Returns:
        The frame; None where watchers need more than that, such as at the end of a game.
    """
    match events:
        case [Moved(turn=turn, redone=False) as moved] if turn.spawn is not None:
            row, column = turn.spawn.cell
            exponent = turn.spawn.tile.bit_length() - 1
            if turn.spawn.tile != 1 << exponent or exponent > _MOST_EXPONENT:
                return None
            cell = row * game.session.rules.columns + column
            head = game.version % 256, turn.direction.value | exponent << 2, cell
            return Step((*head, *_packed(moved.points)))
    return None


def _packed(number: int) -> list[int]:
    """Return a number in groups of seven bits."""
    left = 2 * number if number >= 0 else -2 * number - 1
    groups = [left & 0x7F]
    while left := left >> 7:
        groups[-1] |= 0x80
        groups.append(left & 0x7F)
    return groups
