"""Finished games: records and leaderboards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.app.storage.database import Repository, insert_new, upsert
from py2048.app.storage.games import lock_game, remove_game
from py2048.app.storage.schema import accounts, leaders, records, rounds, summaries
from py2048.app.storage.summaries import COUNTED, GAMES, count_records, extend_streak, rounded
from py2048.app.storage.values import Career, RecordSummary, utc_now, utc_text
from py2048.core.errors import StaleGameError, StorageError

_LISTED = [column for column in records.c if column.name not in ("record", "continued")]
_SUMMARY = sa.select(*_LISTED)
_SUMMARY_BY_ID = _SUMMARY.where(records.c.id == sa.bindparam("id"))
_UNNAMED = tuple(column for column in _LISTED if column.name != "player")
_ORDERS = {
    "score": (records.c.score.desc(), records.c.finished, records.c.id),
    "finished": (records.c.finished.desc(), records.c.id),
}
_LEADER_COLUMNS = ("category", "rules", "owner", "score", "finished")
_CASUAL = ("plain", "assisted")  # Both are listed on the "assisted" leaderboard.
NAMED = (  # Records that are eligible for leaderboards, best score first.
    sa.select(records.c.id, *(records.c[name] for name in _LEADER_COLUMNS), rounds.c.day)
    .join(accounts, accounts.c.id == records.c.owner)
    .outerjoin(rounds, rounds.c.game_id == records.c.id)
    .where(accounts.c.name.is_not(None), rounds.c.offline.is_not(True))
    .order_by(*_ORDERS["score"])
)
_NAMED_BY_ID = NAMED.where(records.c.id == sa.bindparam("id"))
_LEADERS = (leaders.c.score.desc(), leaders.c.finished, leaders.c.record)
_LONGEST_PERIOD = timedelta(days=92)  # the longest quarter

RECENT_GAMES = 50
"""Maximum number of games in `Career.recent`."""

MAX_PLACE = 10_000  # Maximum leaderboard place that is counted.


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
        offline: bool = False,
    ) -> bool:
        """Turn a game in progress into a record with the same id, and update the scores.

        The record and the scores are written in one transaction. If the game already has a record,
        nothing changes.

        Args:
            game_id: Id of the game.
            revision: The last revision known to the caller.
            record_json: The record as JSON, which the store does not interpret.
            score: Final score.
            max_tile: Largest tile of the final board.
            plies: Number of turns.
            outcome: How the game ended.
            category: Score category.
            counts: Whether the score can become the owner's best score.
            think_ms: Total thinking time of a program, for the leaderboard of programs.
            can_undo: Whether to keep the game in addition to its record, so that the player can
                undo the last move.
            offline: Whether a browser chose some of the tiles. Such games are not on leaderboards.

        Returns:
            False if the game was already finished.

        Raises:
            StaleGameError: If another process has changed or deleted the game.
        """
        with self._database.write() as connection:
            game = (lock_game if can_undo else remove_game)(connection, game_id, revision)
            if game is None:
                if connection.scalar(sa.select(sa.exists().where(records.c.id == game_id))):
                    return False
                raise StaleGameError(f"game {game_id} was discarded by another window")
            if offline:
                played = sa.update(rounds).where(rounds.c.game_id == game_id)
                connection.execute(played.values(offline=True))
            return insert_record(
                connection, id=game_id, owner=game.owner, rules=game.rules,
                player=game.player, category=category, started=game.started,
                finished=utc_now(), score=score, max_tile=max_tile, plies=plies,
                outcome=outcome, record=record_json, counts=counts, think_ms=think_ms,
            )  # fmt: skip

    def load(self, record_id: str) -> str:
        """Return a record as JSON, exactly as it was saved.

        Raises:
            StorageError: If there is no record with this id.
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
        categories: Collection[str] = (),
    ) -> list[RecordSummary]:
        """Return summaries of finished games.

        The query is fastest if both `owner` and `rules` are given, because it can then use an
        index.

        Args:
            rules: Restricts the result to games under these rules.
            owner: Restricts the result to games of this owner.
            order: ``"score"`` for the highest score first, with the earlier game first in a tie, or
                ``"finished"`` for the latest game first.
            limit: Maximum number of games.
            categories: Score categories of an owner's games under the same rules. Defaults to all
                categories.
        """
        wanted = {"rules": rules, "owner": owner}
        conditions = [records.c[name] == value for name, value in wanted.items() if value]
        if owner and rules:
            played = sa.select(summaries.c.category).distinct().filter_by(owner=owner, rules=rules)
            first = sa.select(records.c.id).where(*conditions)
            first = first.order_by(*_ORDERS[order]).limit(limit)
            kinds = categories or self._database.values(played)
            parts = [first.where(records.c.category == each).subquery() for each in kinds]
            found = sa.union_all(*map(sa.select, parts)) if parts else ()
            conditions = [records.c.id.in_(found)]
        query = _SUMMARY.where(*conditions).order_by(*_ORDERS[order]).limit(limit)
        return self._database.all(RecordSummary, query)

    def career(self, owner: str, rules: str, *, without: str = "") -> Career:
        """Return the summary of an owner's games in which no computer player made a move.

        Args:
            owner: Owner of the games.
            rules: Rules as text.
            without: Id of a record to exclude.
        """
        own = summaries.c.owner == owner, summaries.c.rules == rules
        human = sa.select(GAMES).where(*own, summaries.c.category != "computer")
        columns = summaries.c.rounded, summaries.c.max_tile, summaries.c.category
        most = RECENT_GAMES + 1
        with self._database.snapshot():  # a game may end between the queries
            scores, tiles, categories = (
                Counter({value: games for games, value in map(tuple, self._database.rows(query))})
                for query in (human.add_columns(each).group_by(each) for each in columns)
            )
            if not categories:
                return Career()
            left = self.summary(without)
            recent = self.select(
                owner=owner, rules=rules, order="finished", limit=most, categories=categories
            )
        if left and left.category in categories:
            scores -= Counter([rounded(left.score)])
            tiles -= Counter([left.max_tile])
        recent = [each for each in recent if each.id != without][RECENT_GAMES - 1 :: -1]
        if scores.total() <= RECENT_GAMES:
            scores = Counter(each.score for each in recent)
        return Career(scores, tiles, recent)

    def summary(self, record_id: str) -> RecordSummary | None:
        """Return the summary of a finished game, or None."""
        return self._database.one(RecordSummary, _SUMMARY_BY_ID, id=record_id)


def insert_record(
    connection: Connection, *, counts: bool = True, think_ms: int | None = None, **row: object
) -> bool:
    """In the caller's transaction, insert a record and update summaries and leaderboards.

    Returns:
        False if the record already exists.
    """
    row["continued"] = None if counts else True
    if not connection.execute(insert_new(connection.dialect, records), row).rowcount:
        return False
    count_records(connection, [[row[name] for name in COUNTED]])
    if row["category"] == "daily":
        extend_streak(connection, str(row["id"]))
    enter_records(connection, _NAMED_BY_ID, think_ms, id=row["id"])
    return True


def retract_records(connection: Connection, ids: Collection[str]) -> None:
    """Delete the records of games whose last move was undone, and update all statistics."""
    columns = [records.c[name] for name in COUNTED]
    query = sa.select(*columns).where(records.c.id.in_(ids)).order_by(*columns[:3])
    undone = connection.execute(query).all()
    if not undone:
        return
    connection.execute(sa.delete(records).where(records.c.id.in_(ids)))
    is_theirs = leaders.c.owner.in_({row.owner for row in undone})
    connection.execute(sa.delete(leaders).where(is_theirs, leaders.c.record.in_(ids)))
    count_records(connection, undone, -1)
    since = utc_text(datetime.now(UTC) - _LONGEST_PERIOD)
    for row in undone:
        sharing = _CASUAL if row.category in _CASUAL else (row.category,)
        own = records.c.owner == row.owner, records.c.rules == row.rules
        rivals = sa.and_(*own, records.c.category.in_(sharing))
        best = sa.select(records.c.id).where(rivals).order_by(*_ORDERS["score"]).limit(1)
        is_best = records.c.id == best.scalar_subquery()
        enter_records(connection, NAMED.where(rivals, sa.or_(records.c.finished > since, is_best)))


class Leaderboards(Repository):
    """Stores the best game of each named player. Updated whenever a game ends.

    There is one row per player, leaderboard, rules and period. A leaderboard page therefore reads
    at most 100 rows, however many games exist. A period is a day, a week or a quarter in UTC, or
    the date of a daily challenge. Quarters are called seasons and are kept forever.
    """

    def top(self, category: str, rules: str, period: str = "ever") -> list[RecordSummary]:
        """Return the best games of named accounts, one per account and at most 100.

        Args:
            category: Score category.
            rules: Rules as text.
            period: ``day``, ``week`` or ``season`` for the current period in UTC, ``ever``, a
                season such as ``2048-Q1``, or the date of a daily challenge such as ``2048-01-31``.
                The leaderboard of a daily challenge excludes accounts created on that day or later,
                because their owners may know the tiles from another account.
        """
        query = _board_query(category, rules, period).order_by(*_LEADERS).limit(100)
        return self._database.all(RecordSummary, query)

    def standing(
        self, owner: str, category: str, rules: str, period: str = "ever"
    ) -> tuple[int, RecordSummary] | None:
        """Return an account's place and game on a leaderboard, or None for an unlisted account.

        All accounts below place `MAX_PLACE` get the same place, `MAX_PLACE` + 1. The arguments are
        those of `top`.
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
        """Return all seasons from the first season with a game to the current one, latest first."""
        now = season_of(today := datetime.now(UTC).date())
        of_seasons = leaders.c.period > "season ", leaders.c.period < "season:"
        found = self._database.value(sa.select(sa.func.min(leaders.c.period)).where(*of_seasons))
        # A wrong server clock may have created a season in the future.
        first = min(found.removeprefix("season "), now) if found else now
        years = range(today.year, int(first[:4]) - 1, -1)
        names = [f"{year:04}-Q{quarter}" for year in years for quarter in (4, 3, 2, 1)]
        return [each for each in names if first <= each <= now]

    def forget_periods(self) -> None:
        """Delete the leaderboards of past days and weeks."""
        today = datetime.now(UTC).date()
        with self._database.write() as connection:
            for period in ("day", "week"):
                current = _period_key(period, today)
                past = leaders.c.period > f"{period} ", leaders.c.period < current
                connection.execute(sa.delete(leaders).where(*past))


def _board_query(category: str, rules: str, period: str) -> sa.Select[Any]:
    """Return a query for the games on a leaderboard, in no particular order."""
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
    connection: Connection, named: sa.Select[Any], think_ms: int | None = None, **values: object
) -> None:
    """Add the records that a query finds to the leaderboards, without committing."""
    best: dict[tuple[str, ...], dict[str, object]] = {}
    for row in connection.execute(named, values):
        facts = {name: row._mapping[name] for name in _LEADER_COLUMNS}
        facts |= {"record": row.id, "think_ms": think_ms}
        if row.category in _CASUAL:
            facts["category"] = _CASUAL[-1]
        ended = date.fromisoformat(row.finished[:10])
        for period in filter(None, ("ever", "season", "day", "week", row.day)):
            key = _period_key(period, ended)
            best.setdefault((key, facts["category"], row.rules), {"period": key, **facts})
    if best:
        connection.execute(upsert(connection.dialect, leaders, rising="score"), list(best.values()))


def season_of(day: date) -> str:
    """Return the season (quarter) that contains a day.

    >>> season_of(date(2026, 9, 30)), season_of(date(2026, 10, 1))
    ('2026-Q3', '2026-Q4')
    """
    return f"{day.year:04}-Q{(day.month + 2) // 3}"


def _period_key(period: str, today: date) -> str:
    """Convert a `period` argument of `Leaderboards.top` to its database key."""
    current = {
        "day": f"day {today}",
        "week": f"week {today - timedelta(days=today.weekday())}",
        "season": f"season {season_of(today)}",
    }
    return current.get(period) or (f"season {period}" if "Q" in period else period)
