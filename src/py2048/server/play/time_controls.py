"""Time controls of programs' games, and the clock that decides them.

A time control limits the mean time a move: a game may take its limit times its moves in all, so a
slow move is paid for by quick ones. Only the server's clock counts. It runs from the moment when a
position is handed to the network until the next move has come, so the network's part is in it;
what a program says of its own thinking, or of its distance, cannot be checked. The first move is
free: a program connects and warms up in it. A game that exceeds its limit stands on the board of
the first slower control that it kept.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType

from py2048.server.schema import BOT

UNLIMITED = "unlimited"
LIMITS_MS: Mapping[str, int | None] = MappingProxyType(
    {"1ms": 1, "10ms": 10, "100ms": 100, "1s": 1000, UNLIMITED: None}
)
"""The mean milliseconds a move of each time control, the fastest first; None without a limit."""

_STARTED = datetime.now(UTC)


def board_of_control(control: str | None) -> str:
    """Return the board of scores for the games of a time control; None has no limit."""
    return BOT if control in (None, UNLIMITED) else f"{BOT}-{control}"


def board_kept(control: str | None, think_ms: int, moves: int) -> str:
    """Return the board that a finished game counts for.

    Args:
        control: its time control.
        think_ms: the time of all its moves together.
        moves: how many there are.
    """
    slower = list(LIMITS_MS)[list(LIMITS_MS).index(control or UNLIMITED) :]
    kept = (
        name for name in slower if (limit := LIMITS_MS[name]) is None or think_ms <= limit * moves
    )
    return board_of_control(next(kept))


@dataclass
class Clock:
    """How long a program thinks about a position.

    Attributes:
        since: when the position was handed to the network, as of `time.monotonic`.
    """

    since: float
    _rest: float = field(default=0.0, repr=False)

    @classmethod
    def resumed(cls, updated: str) -> Clock:
        """Return the clock of a game that was loaded from the store.

        It has run since the last move, but not while this server was down.

        Args:
            updated: when the game last changed, ISO 8601 in UTC.
        """
        since = max(datetime.fromisoformat(updated), _STARTED)
        elapsed = (datetime.now(UTC) - since).total_seconds()
        return cls(time.monotonic() - max(0.0, elapsed))

    def read(self, now: float) -> int:
        """Return the whole milliseconds until `now`; what is left over counts with the next.

        So the times of many moves add up to the true time, however short each is.
        """
        elapsed = max(0.0, now - self.since) * 1000 + self._rest
        self._rest = elapsed % 1
        return int(elapsed)
