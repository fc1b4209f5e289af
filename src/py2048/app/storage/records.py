"""Finished games: records, best scores and leaderboards."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.app.storage.database import Repository, upsert
from py2048.app.storage.games import lock_game, remove_game
from py2048.app.storage.schema import accounts, bests, leaders, records, rounds
from py2048.app.storage.values import GameEnd, RecordSummary, ScoreSummary, utc_now, utc_text
from py2048.core.errors import StaleGameError, StorageError

_SUMMARY = sa.select(*(column for column in records.c if column.name != "record"))
_UNNAMED = tuple(column for column in records.c if column.name not in ("record", "player"))
_ORDERS = {
    "score": (records.c.score.desc(), records.c.finished, records.c.id),
    "finished": (records.c.finished.desc(), records.c.id),
}
_CAREER = ("owner", "rules", "category")
# An outer join, because a best score may come from a game that is still in progress.
_SUMMARIES = (
    sa.select(
        bests.c.rules,
        bests.c.category,
        bests.c.score.label("best"),
        sa.func.count(records.c.id).label("games"),
        sa.cast(sa.func.coalesce(sa.func.avg(records.c.score), 0), sa.Double).label("mean_score"),
        sa.func.coalesce(sa.func.max(records.c.max_tile), 0).label("max_tile"),
        sa.func.coalesce(sa.func.sum(records.c.plies), 0).label("plies"),
    )
    .outerjoin(records, sa.and_(*(bests.c[name] == records.c[name] for name in _CAREER)))
    .group_by(*(bests.c[name] for name in _CAREER))
    .order_by(bests.c.rules, bests.c.category)
)
_LEADER_COLUMNS = ("category", "rules", "owner", "score", "finished")
_LEADERS = (leaders.c.score.desc(), leaders.c.finished, leaders.c.record)
_LONGEST_PERIOD = timedelta(days=92)  # the longest quarter

MAX_PLACE = 10_000  # lower places on a leaderboard are not counted


class Records(Repository):
    """The finished games."""

    def finish(
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
        counts: bool = True,
        think_ms: int | None = None,
        can_undo: bool = False,
    ) -> None:
        """Turn a game in progress into a record with the same id, and update the scores.

        Runs in one transaction. If the game is already finished, nothing happens.

        Args:
            game_id: Id of the game.
            revision: The last revision known to the caller.
            record_json: The record, opaque to the store.
            score: Final score.
            max_tile: Largest tile of the final board.
            plies: Number of turns.
            outcome: How the game ended.
            category: Score category.
            counts: Whether the score may become the owner's best.
            think_ms: Total thinking time if a program played, for the leaderboard of programs.
            can_undo: Whether to keep the game beside its record, so that the last move can be
                undone.

        Raises:
            StaleGameError: If another process has changed or discarded the game.
        """
        with self._database.write() as connection:
            game = (lock_game if can_undo else remove_game)(connection, game_id, revision)
            if connection.scalar(sa.select(sa.exists().where(records.c.id == game_id))):
                return
            if game is None:
                raise StaleGameError(f"game {game_id} was discarded by another window")
            insert_record(
                connection, id=game_id, owner=game.owner, rules=game.rules,
                player=game.player, category=category, started=game.started,
                finished=utc_now(), score=score, max_tile=max_tile, plies=plies,
                outcome=outcome, record=record_json, counts=counts, think_ms=think_ms,
            )  # fmt: skip

    def load(self, record_id: str) -> str:
        """Return the record as it was saved.

        Raises:
            StorageError: If there is no such record.
        """
        query = sa.select(records.c.record).where(records.c.id == record_id)
        text: str | None = self._database.value(query)
        if text is None:
            raise StorageError(f"{self._database.name} has no finished game {record_id!r}")
        return text

    def select(
        self,
        *,
        rules: str | None = None,
        owner: str | None = None,
        order: Literal["score", "finished"] = "score",
        limit: int = 20,
    ) -> list[RecordSummary]:
        """Return summaries of finished games.

        Args:
            rules: Restricts the result to games under these rules.
            owner: Restricts the result to games of this owner.
            order: ``"score"`` for the highest score first (and the earlier game first in a tie), or
                ``"finished"`` for the latest game first.
            limit: Maximum number of games.
        """
        wanted = {"rules": rules, "owner": owner}
        query = _SUMMARY.where(
            *(records.c[name] == value for name, value in wanted.items() if value is not None)
        )
        return self._database.all(RecordSummary, query.order_by(*_ORDERS[order]).limit(limit))

    def summary(self, record_id: str) -> RecordSummary | None:
        """Return the summary of a finished game, or None."""
        return self._database.one(RecordSummary, _SUMMARY.where(records.c.id == record_id))

    def ends(self, owner: str, rules: str) -> list[GameEnd]:
        """Return the results of an account's latest 5,000 games under these rules, oldest first.

        Games in which a computer player made a move are excluded.
        """
        return self._ends(owner, rules, records.c.category != "computer", 5000)

    def largest_tiles(self, owner: str, rules: str, limit: int) -> list[int]:
        """Return the largest tiles of an account's latest games without help, oldest first."""
        ends = self._ends(owner, rules, records.c.category == "plain", limit)
        return [end.max_tile for end in ends]

    def _ends(
        self, owner: str, rules: str, condition: sa.ColumnElement[bool], limit: int
    ) -> list[GameEnd]:
        """Return the results of the latest games that meet a condition, oldest first."""
        query = (
            sa.select(records.c.finished, records.c.score, records.c.max_tile)
            .where(records.c.owner == owner, records.c.rules == rules, condition)
            .order_by(records.c.finished.desc(), records.c.id)
            .limit(limit)
        )
        return self._database.all(GameEnd, query)[::-1]


def insert_record(
    connection: Connection, *, counts: bool = True, think_ms: int | None = None, **row: object
) -> None:
    """Insert a record and update scores and leaderboards, within a transaction.

    A score that does not count enters the best scores as 0, so that summaries include the record.
    """
    connection.execute(sa.insert(records), row)
    _note(connection, **{name: row[name] for name in _CAREER}, score=row["score"] if counts else 0)
    enter_records(connection, records.c.id == row["id"], think_ms)


def retract_records(connection: Connection, ids: Collection[str]) -> None:
    """Delete the records and scores of games whose end was undone, within a transaction."""
    columns = [records.c[name] for name in _CAREER]
    query = sa.select(*columns).distinct().where(records.c.id.in_(ids)).order_by(*columns)
    careers = connection.execute(query).all()
    connection.execute(sa.delete(records).where(records.c.id.in_(ids)))
    since = utc_text(datetime.now(UTC) - _LONGEST_PERIOD)
    for career in careers:
        of_records, of_bests, of_leaders = (
            sa.and_(*(table.c[name] == career._mapping[name] for name in _CAREER))
            for table in (records, bests, leaders)
        )
        connection.execute(sa.delete(bests).where(of_bests))
        connection.execute(sa.delete(leaders).where(of_leaders, leaders.c.record.in_(ids)))
        query = _SUMMARY.where(of_records).order_by(*_ORDERS["score"]).limit(1)
        if best := connection.execute(query).one_or_none():
            row = {**career._mapping, "score": best.score, "reached": best.finished}
            connection.execute(sa.insert(bests), row)
            is_rival = sa.or_(records.c.finished > since, records.c.id == best.id)
            enter_records(connection, sa.and_(of_records, is_rival))


class Scores(Repository):
    """Best scores. Deleting a game does not lower the best score it set; an undo may lower it."""

    def bests(
        self, rules: str, owner: str = "local", *, without: str | None = None
    ) -> dict[str, int]:
        """Return the owner's best score in each category that has one.

        Args:
            rules: The text of the rules.
            owner: Whose scores.
            without: Id of a record to leave out. If given, only scores with a record are
                considered.
        """
        table = bests if without is None else records
        query = sa.select(table.c.category, sa.func.max(table.c.score).label("score"))
        query = query.where(table.c.owner == owner, table.c.rules == rules)
        if without is not None:
            query = query.where(records.c.id != without)
        rows = self._database.rows(query.group_by(table.c.category))
        return {row.category: row.score for row in rows}

    def note(self, rules: str, owner: str, category: str, score: int) -> None:
        """Raise the best score to `score` if it is higher; the game may still be in progress."""
        with self._database.write() as connection:
            _note(connection, owner=owner, rules=rules, category=category, score=score)

    def summaries(self, owner: str = "local", *, rules: str | None = None) -> list[ScoreSummary]:
        """Return the owner's results, ordered by rules and category."""
        query = _SUMMARIES.where(bests.c.owner == owner)
        if rules is not None:
            query = query.where(bests.c.rules == rules)
        return self._database.all(ScoreSummary, query)


def _note(connection: Connection, **score: object) -> None:
    """Raise the best score within a transaction."""
    connection.execute(upsert(connection, bests, rising="score"), {**score, "reached": utc_now()})


class Leaderboards(Repository):
    """The best game of each named player, updated when games end.

    There is one row per player, board, rules and period, so that a page reads at most a hundred
    rows from an index, however many games exist. Periods are UTC days, weeks and quarters, and the
    dates of daily challenges. Quarters are called seasons and are kept forever.
    """

    def top(self, category: str, rules: str, period: str = "ever") -> list[RecordSummary]:
        """Return the best game of each named account, limited to the 100 highest scores.

        Args:
            category: Score category.
            rules: Rules as text.
            period: ``day``, ``week`` or ``season`` for the current period in UTC, ``ever``, a
                season such as ``2048-Q1``, or the date of a daily challenge such as ``2048-01-31``.
                The board of a daily challenge excludes accounts created on that day or later,
                because their owners may already know the tiles from another account.
        """
        query = _board_query(category, rules, period).order_by(*_LEADERS).limit(100)
        return self._database.all(RecordSummary, query)

    def standing(
        self, owner: str, category: str, rules: str, period: str = "ever"
    ) -> tuple[int, RecordSummary] | None:
        """Return an account's place and game on a board, or None if it has no game there.

        Places are counted up to `MAX_PLACE`; all lower accounts share the next place. Arguments are
        the same as for `top`.
        """
        query = _board_query(category, rules, period)
        mine = self._database.one(RecordSummary, query.where(leaders.c.owner == owner))
        if mine is None:
            return None
        is_earlier = sa.tuple_(leaders.c.finished, leaders.c.record) < (mine.finished, mine.id)
        ahead = query.where(
            leaders.c.score >= mine.score, sa.or_(leaders.c.score > mine.score, is_earlier)
        ).limit(MAX_PLACE)
        count = sa.select(sa.func.count()).select_from(ahead.subquery())
        return 1 + int(self._database.value(count)), mine

    def seasons(self) -> list[str]:
        """Return all seasons from the first one with a game to the current one, latest first."""
        now = season_of(today := datetime.now(UTC).date())
        of_seasons = leaders.c.period > "season ", leaders.c.period < "season:"
        found = self._database.value(sa.select(sa.func.min(leaders.c.period)).where(*of_seasons))
        # `min`, because the server's clock may once have been ahead.
        first = min(found.removeprefix("season "), now) if found else now
        years = range(today.year, int(first[:4]) - 1, -1)
        names = [f"{year:04}-Q{quarter}" for year in years for quarter in (4, 3, 2, 1)]
        return [each for each in names if first <= each <= now]

    def forget_periods(self) -> None:
        """Delete the rows of past days and weeks."""
        today = datetime.now(UTC).date()
        with self._database.write() as connection:
            for period in ("day", "week"):
                current = _period_key(period, today)
                past = leaders.c.period > f"{period} ", leaders.c.period < current
                connection.execute(sa.delete(leaders).where(*past))


def _board_query(category: str, rules: str, period: str) -> sa.Select[Any]:
    """Return the unordered query for the games on a board."""
    return (
        sa.select(*_UNNAMED, accounts.c.name.label("player"), leaders.c.think_ms)
        .select_from(leaders)
        .join(records, records.c.id == leaders.c.record)
        .join(accounts, accounts.c.id == leaders.c.owner)
        .where(
            leaders.c.period == _period_key(period, datetime.now(UTC).date()),
            leaders.c.category == category,
            leaders.c.rules == rules,
            accounts.c.created < period if category == "daily" else sa.true(),
        )
    )


def enter_records(
    connection: Connection, condition: sa.ColumnElement[bool], think_ms: int | None = None
) -> None:
    """Add records of named players to the leaderboards, within a transaction."""
    found = connection.execute(
        sa.select(records.c.id, *(records.c[name] for name in _LEADER_COLUMNS), rounds.c.day)
        .join(accounts, accounts.c.id == records.c.owner)
        .outerjoin(rounds, rounds.c.game_id == records.c.id)
        .where(condition, accounts.c.name.is_not(None))
        .order_by(records.c.score.desc(), records.c.finished, records.c.id)
    )
    best: dict[tuple[str, ...], dict[str, object]] = {}
    for row in found:  # best first
        facts = {name: row._mapping[name] for name in _LEADER_COLUMNS}
        facts |= {"record": row.id, "think_ms": think_ms}
        ended = date.fromisoformat(row.finished[:10])
        for period in filter(None, ("ever", "season", "day", "week", row.day)):
            key = _period_key(period, ended)
            best.setdefault((key, row.category, row.rules), {"period": key, **facts})
    if best:
        connection.execute(upsert(connection, leaders, rising="score"), list(best.values()))


def season_of(day: date) -> str:
    """Return the season (quarter) of a day.

    >>> season_of(date(2026, 9, 30)), season_of(date(2026, 10, 1))
    ('2026-Q3', '2026-Q4')
    """
    return f"{day.year:04}-Q{(day.month + 2) // 3}"


def _period_key(period: str, today: date) -> str:
    """Return the database key of a period, which is named as in `Leaderboards.top`."""
    match period:
        case "day":
            return f"day {today}"
        case "week":
            return f"week {today - timedelta(days=today.weekday())}"
        case "season":
            return f"season {season_of(today)}"
        case _ if "Q" in period:
            return f"season {period}"
        case _:
            return period
