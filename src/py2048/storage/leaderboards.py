"""The leaderboards: the best game of each player with a name, noted as games end.

A player has one row for each board, rules and period, so that a page reads its hundred rows off an
index, however many games there are. Periods are days and weeks of UTC, and the days of challenges.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.storage.access import Access
from py2048.storage.schema import accounts, leaders, records, rounds
from py2048.storage.upsert import upsert
from py2048.storage.values import RecordSummary

_SUMMARY = tuple(column for column in records.c if column.name not in ("record", "player"))
_FACTS = ("category", "rules", "owner", "score", "finished")
_ORDER = (leaders.c.score.desc(), leaders.c.finished, leaders.c.record)


class Leaderboards(Access):
    """The best game of each player with a name."""

    def leaderboard(
        self, category: str, rules: str, period: str = "ever", *, limit: int = 100
    ) -> list[RecordSummary]:
        """Return the best game of each account with a name, the highest score first.

        Args:
            category: The board.
            rules: The text of the rules.
            period: ``day``, ``week`` or ``ever``: when the game ended; the day and the week are
                those of now, in UTC. Or the date of a daily challenge, such as ``2048-01-31``.
            limit: At most so many.
        """
        query = (
            sa.select(*_SUMMARY, accounts.c.name.label("player"))
            .select_from(leaders)
            .join(records, records.c.id == leaders.c.record)
            .join(accounts, accounts.c.id == leaders.c.owner)
            .where(
                leaders.c.period == _key(period, datetime.now(UTC).date()),
                leaders.c.category == category,
                leaders.c.rules == rules,
            )
            .order_by(*_ORDER)
            .limit(limit)
        )
        with self._reading() as connection:
            return [RecordSummary(**row._mapping) for row in connection.execute(query)]

    def forget_periods(self) -> None:
        """Remove the rows of days and weeks that are over."""
        today = datetime.now(UTC).date()
        with self._writing() as connection:
            for period in ("day", "week"):
                past = leaders.c.period > f"{period} ", leaders.c.period < _key(period, today)
                connection.execute(sa.delete(leaders).where(*past))


def enter(connection: Connection, record_id: str) -> None:
    """Enter a record into the leaderboards, within a transaction, if its player has a name."""
    _enter(connection, records.c.id == record_id)


def enter_all(connection: Connection, owner: str) -> None:
    """Enter all records of an account, which has just taken a name, within a transaction."""
    _enter(connection, records.c.owner == owner)


def _enter(connection: Connection, condition: sa.ColumnElement[bool]) -> None:
    found = connection.execute(
        sa.select(records.c.id, *(records.c[name] for name in _FACTS), rounds.c.day)
        .join(accounts, accounts.c.id == records.c.owner)
        .outerjoin(rounds, rounds.c.game_id == records.c.id)
        .where(condition, accounts.c.name.is_not(None))
        .order_by(records.c.score.desc(), records.c.finished, records.c.id)
    )
    rows = list(_best_rows(found))
    if rows:
        connection.execute(upsert(connection, leaders, rising="score"), rows)


def _best_rows(found: Iterable[Any]) -> Iterable[dict[str, Any]]:
    """Return the rows that records make, which come with the best first."""
    best: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in found:
        facts = {name: row._mapping[name] for name in _FACTS} | {"record": row.id}
        for period in _periods(row.finished, row.day):
            best.setdefault((period, row.category, row.rules), {"period": period, **facts})
    return best.values()


def _periods(finished: str, day: str | None) -> tuple[str, ...]:
    ended = date.fromisoformat(finished[:10])
    usual = tuple(_key(period, ended) for period in ("ever", "day", "week"))
    return usual if day is None else (*usual, day)


def _key(period: str, today: date) -> str:
    """Return what is stored of a period that is named as `Leaderboards.leaderboard` does."""
    match period:
        case "day":
            return f"day {today}"
        case "week":
            return f"week {today - timedelta(days=today.weekday())}"
        case _:
            return period
