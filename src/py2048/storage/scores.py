"""Best scores per owner, rules and category."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.storage.access import Access
from py2048.storage.schema import bests, records
from py2048.storage.upsert import upsert
from py2048.storage.values import ScoreSummary, utc_now


class Scores(Access):
    """The best scores; they only grow, and outlive the games that reached them."""

    def best_score(self, rules: str, owner: str = "local", category: str | None = None) -> int:
        """Return the owner's best score in points, 0 where there is none.

        With `category` None, the best of all categories.
        """
        query = sa.select(sa.func.max(bests.c.score)).where(
            bests.c.owner == owner, bests.c.rules == rules
        )
        if category is not None:
            query = query.where(bests.c.category == category)
        with self._reading() as connection:
            best: int | None = connection.execute(query).scalar()
        return best or 0

    def best_scores(self, rules: str, owner: str) -> dict[str, int]:
        """Return the owner's best score in each category, without those that have none."""
        query = sa.select(bests.c.category, bests.c.score).where(
            bests.c.owner == owner, bests.c.rules == rules
        )
        with self._reading() as connection:
            return {row.category: row.score for row in connection.execute(query)}

    def note_score(self, rules: str, owner: str, category: str, score: int) -> None:
        """Raise the best score to `score` if that is higher, also while the game goes on."""
        with self._writing() as connection:
            note(connection, rules=rules, owner=owner, category=category, score=score)

    def score_summaries(
        self, owner: str = "local", *, rules: str | None = None
    ) -> list[ScoreSummary]:
        """Return what the owner reached, one summary per rules and category, in that order."""
        query = _summaries().where(bests.c.owner == owner)
        if rules is not None:
            query = query.where(bests.c.rules == rules)
        with self._reading() as connection:
            return [ScoreSummary(**row._mapping) for row in connection.execute(query)]


def note(connection: Connection, *, rules: str, owner: str, category: str, score: int) -> None:
    """Raise the best score within a transaction."""
    row = {"owner": owner, "rules": rules, "category": category, "score": score}
    connection.execute(upsert(connection, bests, rising="score"), {**row, "reached": utc_now()})


def _summaries() -> sa.Select[tuple[str, str, int, int, float, int, int, str | None]]:
    """Join each best score with the finished games below it; a best may have none."""
    key = ("owner", "rules", "category")
    return (
        sa.select(
            bests.c.rules,
            bests.c.category,
            bests.c.score.label("best"),
            sa.func.count(records.c.id).label("games"),
            sa.cast(sa.func.coalesce(sa.func.avg(records.c.score), 0), sa.Double).label(
                "mean_score"
            ),
            sa.func.coalesce(sa.func.max(records.c.max_tile), 0).label("max_tile"),
            sa.func.coalesce(sa.func.sum(records.c.plies), 0).label("plies"),
            sa.func.max(records.c.finished).label("last_finished"),
        )
        .outerjoin(records, sa.and_(*(bests.c[name] == records.c[name] for name in key)))
        .group_by(*(bests.c[name] for name in key))
        .order_by(bests.c.rules, bests.c.category)
    )
