"""Summaries of finished games by owner, rules and category.

`count_records` updates the summaries in the transaction that writes or deletes records. A page
therefore reads few rows, even for a player with thousands of games. `recount` is a reference
implementation that computes the summaries from all records. Best scores are read from an index on
the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.app.storage.database import Repository, lock_rows, upsert
from py2048.app.storage.schema import accounts, milestones, names, records, rounds, summaries
from py2048.app.storage.values import ScoreSummary
from py2048.review.milestones import Pace

COUNTED = "owner", "rules", "category", "score", "max_tile", "plies"

MAX_TIMES = 1000  # Number of best times to load before guests and programs are removed.

_PRECISION_BITS = 5
_KEY = tuple(column.name for column in summaries.primary_key)
_SUMS = "games", "score", "plies"
_DAY = timedelta(days=1)
_CAREER = summaries.c.owner, summaries.c.rules, summaries.c.category
_BEST = (
    sa.select(records.c.score)
    .where(*(records.c[column.name] == column for column in _CAREER))
    .where(records.c.continued.is_not(True), records.c.id != sa.bindparam("without", ""))
    .order_by(records.c.score.desc())
    .limit(1)
)
_OWN = summaries.c.owner == sa.bindparam("owner"), summaries.c.rules == sa.bindparam("rules")
_BESTS = sa.select(summaries.c.category, _BEST.scalar_subquery().label("score"))
_BESTS = _BESTS.where(*_OWN).group_by(*_CAREER)
_PACES = sa.select(milestones.c.tile, milestones.c.millis, milestones.c.moves)
_PACES = _PACES.filter_by(owner=sa.bindparam("owner"), rules=sa.bindparam("rules"))
GAMES, _SCORE, _PLIES = (sa.cast(sa.func.sum(summaries.c[name]), sa.BigInteger) for name in _SUMS)


def rounded(score: int) -> int:
    """Round a score down to five significant bits, with an error of less than 1/16.

    >>> rounded(31), rounded(1000), rounded(-1000)
    (31, 992, -1024)
    """
    shift = max(0, score.bit_length() - _PRECISION_BITS)
    return score >> shift << shift


def recount(found: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    """Summarise records, given by their `COUNTED` columns, as rows of `summaries`."""
    totals: dict[tuple[Any, ...], list[int]] = {}
    for *career, score, max_tile, plies in found:
        total = totals.setdefault((*career, max_tile, rounded(score)), [0, 0, 0])
        total[:] = total[0] + 1, total[1] + score, total[2] + plies
    names = *_KEY, *_SUMS
    return [dict(zip(names, (*key, *totals[key]), strict=True)) for key in sorted(totals)]


def count_records(connection: Connection, found: Iterable[Sequence[Any]], sign: int = 1) -> None:
    """In the caller's transaction, add records to the summaries, or remove them if `sign` is -1."""
    for row in recount(found):
        signed = row | {name: sign * row[name] for name in _SUMS}
        connection.execute(upsert(connection.dialect, summaries, sums=_SUMS), signed)
        if sign < 0:
            same = (summaries.c[name] == row[name] for name in _KEY)
            connection.execute(sa.delete(summaries).where(*same, summaries.c.games == 0))


def extend_streak(connection: Connection, game_id: str) -> None:
    """Set the streak of a finished daily game, and update the streaks of the following days."""
    query = sa.select(rounds.c.owner, rounds.c.day).join(records, records.c.id == rounds.c.game_id)
    is_daily = rounds.c.game_id == game_id, rounds.c.day.is_not(None), records.c.category == "daily"
    for owner, text in connection.execute(query.where(*is_daily)):
        day = date.fromisoformat(text)
        lock_rows(connection, accounts.c.id, [owner])  # Another daily game may end concurrently.
        near = rounds.c.owner == owner, rounds.c.day >= str(day - _DAY)
        found = sa.select(rounds.c.day, rounds.c.streak).where(*near, rounds.c.streak.is_not(None))
        streaks = {row.day: row.streak for row in connection.execute(found)} | {text: 0}
        length = streaks.get(str(day - _DAY), 0)
        while str(day) in streaks:
            length += 1
            same = rounds.c.owner == owner, rounds.c.day == str(day)
            connection.execute(sa.update(rounds).where(*same).values(streak=length))
            day += _DAY


class Scores(Repository):
    """Best scores and summaries of finished games, except games that an undo has reopened."""

    def bests(self, rules: str, owner: str = "local", *, without: str = "") -> dict[str, int]:
        """Return the owner's best score in each category that has a finished game.

        Args:
            rules: The text of the rules.
            owner: Owner of the scores.
            without: Id of a record to exclude.
        """
        rows = self._database.rows(_BESTS, owner=owner, rules=rules, without=without)
        return {row.category: row.score for row in rows if row.score is not None}

    def milestones(self, rules: str, owner: str = "local") -> dict[int, Pace]:
        """Return the owner's shortest time to each tile, in games without help."""
        rows = self._database.rows(_PACES, owner=owner, rules=rules)
        return {row.tile: Pace(row.millis, row.moves) for row in rows}

    def fastest(self, rules: str, tile: int) -> list[dict[str, Any]]:
        """Return the 100 shortest times to a tile, without guests and programs."""
        times = sa.select(milestones).filter_by(rules=rules, tile=tile)
        first = times.order_by(milestones.c.millis).limit(MAX_TIMES).subquery()
        query = sa.select(first, accounts.c.name.label("player"))
        query = query.join(accounts, accounts.c.id == first.c.owner)
        query = query.join(names, names.c.account == first.c.owner).where(names.c.bot_of.is_(None))
        return self._database.all(dict, query.order_by(first.c.millis).limit(100))

    def summaries(self, owner: str = "local", *, rules: str | None = None) -> list[ScoreSummary]:
        """Return the owner's results, ordered by rules and category."""
        query = sa.select(
            summaries.c.rules,
            summaries.c.category,
            sa.func.coalesce(_BEST.scalar_subquery(), 0).label("best"),
            GAMES.label("games"),
            (sa.cast(_SCORE, sa.Double) / GAMES).label("mean_score"),
            sa.func.max(summaries.c.max_tile).label("max_tile"),
            _PLIES.label("plies"),
        ).where(summaries.c.owner == owner, summaries.c.rules == rules if rules else sa.true())
        return self._database.all(ScoreSummary, query.group_by(*_CAREER).order_by(*_CAREER))
