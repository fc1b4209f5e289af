"""Many games' changes in one transaction, which is what makes a durable move cheap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.storage.access import Access
from py2048.storage.games import SAME_GAME
from py2048.storage.notices import notify
from py2048.storage.schema import games, turns
from py2048.storage.upsert import upsert
from py2048.storage.values import GameChange, utc_now

_ADVANCE = sa.update(games).where(*SAME_GAME)


class _SomeAreStaleError(Exception):
    """Ends a transaction in which a change did not find the revision that it starts from."""


class Batches(Access):
    """Changes of games in progress, written together."""

    def write_changes(self, changes: Sequence[GameChange], origin: str = "") -> set[str]:
        """Write the changes in one transaction; when this returns they are on the disk.

        Args:
            changes: At most one for each game.
            origin: Who writes, so that listeners tell their own notices from others'.

        Returns:
            The games that another process has changed since; nothing of theirs was written.
        """
        # One order for everybody: two processes never wait for each other's rows.
        ordered = sorted(changes, key=lambda change: change.id)
        try:
            with self._writing() as connection:
                if connection.execute(_ADVANCE, _rows(ordered)).rowcount != len(ordered):
                    raise _SomeAreStaleError
                self._complete(connection, ordered, origin)
        except _SomeAreStaleError:
            return self._write_singly(ordered, origin)
        return set()

    def _write_singly(self, ordered: Sequence[GameChange], origin: str) -> set[str]:
        with self._writing() as connection:
            fresh = [
                change
                for change, row in zip(ordered, _rows(ordered), strict=True)
                if connection.execute(_ADVANCE, row).rowcount
            ]
            if fresh:
                self._complete(connection, fresh, origin)
        return {change.id for change in ordered} - {change.id for change in fresh}

    def _complete(self, connection: Connection, changes: Sequence[GameChange], origin: str) -> None:
        added = [
            {"game_id": change.id, "ply": ply, "code": code, "millis": millis}
            for change in changes
            for ply, code, millis in change.turns
        ]
        if added:
            connection.execute(upsert(connection, turns), added)
        notify(connection, origin, [(change.id, change.revision) for change in changes])


def _rows(changes: Sequence[GameChange]) -> list[dict[str, Any]]:
    now = utc_now()
    return [
        {
            "game": change.id,
            "seen": change.seen,
            "revision": change.revision,
            "length": change.length,
            "position": change.position,
            "score": change.score,
            "is_over": change.is_over,
            "undos": change.undos,
            "hints": change.hints,
            "extra": dict(change.extra),
            "updated": now,
        }
        for change in changes
    ]
