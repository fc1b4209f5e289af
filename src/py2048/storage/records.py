"""Finished games: their records, and the step from a game in progress to one."""

from __future__ import annotations

import secrets
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.errors import StaleGameError, StorageError, did_you_mean
from py2048.storage.games import Games
from py2048.storage.leaderboards import enter
from py2048.storage.schema import records
from py2048.storage.scores import note
from py2048.storage.values import RecordSummary, utc_now, utc_time

_SUMMARY = sa.select(*(column for column in records.c if column.name != "record"))
_ORDERS = {
    "score": (records.c.score.desc(), records.c.finished, records.c.id),
    "finished": (records.c.finished.desc(), records.c.id),
}


class Records(Games):
    """The finished records."""

    def finish_game(
        self,
        game_id: str,
        revision: int,
        record_json: str,
        *,
        score: int,
        max_tile: int,
        plies: int,
        outcome: str,
        category: str,
    ) -> None:
        """Turn a game in progress into a finished record of the same id, and note its score.

        All of it happens or nothing. Finishing a game that is finished changes nothing.

        Args:
            game_id: The game.
            revision: The revision that the caller last saw.
            record_json: The record, opaque to the store.
            score: The final score in points.
            max_tile: The highest tile of the final board.
            plies: How many turns were played.
            outcome: How it ended.
            category: Which board of scores it counts for.

        Raises:
            StaleGameError: Another process has changed or discarded the game.
        """
        facts = {"score": score, "max_tile": max_tile, "plies": plies, "outcome": outcome}
        with self._writing() as connection:
            game = self._take(connection, game_id, revision)
            if game is not None:
                _insert(
                    connection, id=game_id, owner=game.owner, rules=game.rules,
                    player=game.player, category=category, started=game.started,
                    finished=utc_now(), record=record_json, **facts,
                )  # fmt: skip
            elif not _is_there(connection, game_id):
                raise StaleGameError(f"game {game_id} was discarded by another window")

    def add_record(
        self,
        record_json: str,
        *,
        rules: str,
        score: int,
        max_tile: int,
        plies: int,
        outcome: str,
        category: str = "plain",
        owner: str = "local",
        player: str = "",
        started: str | None = None,
        finished: str | None = None,
    ) -> str:
        """Add a finished game that was not played in this store, and return its id.

        Args:
            record_json: The record, opaque to the store.
            rules: The text of the rules.
            score: The final score in points; it counts for the best score.
            max_tile: The highest tile of the final board.
            plies: How many turns were played.
            outcome: How it ended.
            category: Which board of scores it counts for.
            owner: Whose game it was.
            player: Who played.
            started: When it began, ISO 8601; None means when it ended.
            finished: When it ended, ISO 8601; None means now.
        """
        end = utc_time(finished) if finished else utc_now()
        record_id = secrets.token_hex(8)
        with self._writing() as connection:
            _insert(
                connection, id=record_id, owner=owner, rules=rules, player=player,
                category=category, started=utc_time(started) if started else end, finished=end,
                score=score, max_tile=max_tile, plies=plies, outcome=outcome, record=record_json,
            )  # fmt: skip
        return record_id

    def load_record(self, record_id: str) -> str:
        """Return the finished record, exactly as it was given.

        Raises:
            StorageError: There is no such record.
        """
        query = sa.select(records.c.record).where(records.c.id == record_id)
        with self._reading() as connection:
            text: str | None = connection.execute(query).scalar_one_or_none()
        if text is None:
            raise StorageError(f"no finished game {record_id!r} is in {self.name}")
        return text

    def records(
        self,
        *,
        rules: str | None = None,
        owner: str | None = None,
        category: str | None = None,
        order: Literal["score", "finished"] = "score",
        limit: int = 20,
        offset: int = 0,
    ) -> list[RecordSummary]:
        """Return summaries of finished games, the best or the latest first.

        Args:
            rules: Only games under these rules.
            owner: Only this owner's games.
            category: Only games of this category.
            order: ``"score"``, the highest first and the earlier of equals before the later,
                or ``"finished"``, the latest first.
            limit: At most so many.
            offset: Skip so many.
        """
        if order not in _ORDERS:
            raise StorageError(f"no order {order!r}{did_you_mean(order, _ORDERS)}")
        wanted = {"rules": rules, "owner": owner, "category": category}
        query = _SUMMARY.where(
            *(records.c[name] == value for name, value in wanted.items() if value is not None)
        )
        query = query.order_by(*_ORDERS[order]).limit(limit).offset(offset)
        with self._reading() as connection:
            return [RecordSummary(**row._mapping) for row in connection.execute(query)]


def _insert(connection: Connection, **row: Any) -> None:
    """Add a record, note its score and enter it into the leaderboards, within a transaction."""
    connection.execute(sa.insert(records), row)
    scored = {name: row[name] for name in ("rules", "owner", "category", "score")}
    note(connection, **scored)
    enter(connection, row["id"])


def _is_there(connection: Connection, record_id: str) -> bool:
    return bool(connection.scalar(sa.select(sa.exists().where(records.c.id == record_id))))
