"""A queue of game reviews, each computed by one process and stored for everyone.

The queue consists of database rows. Requests therefore survive when a process is killed, and all
processes on a database see the same progress. The process that computes a review holds a claim on
it, which expires unless it is renewed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import sqlalchemy as sa

from py2048.app.storage.database import Repository, insert_new, is_sqlite
from py2048.app.storage.schema import games, records, reviews
from py2048.app.storage.values import ReviewClaim, StoredReview, utc_now

_STATE = sa.select(*(column for column in reviews.c if column.name != "moves"))
_PENDING = reviews.c.finished.is_(None)
_EMPTY = dict.fromkeys(("claimed", "finished", "fault", "summary", "moves"))
_FRESH = {"attempts": 0, "done": 0, **_EMPTY}


class Reviews(Repository):
    """The reviews of finished games, one per game; the caller defines their JSON content."""

    def find(self, game_id: str) -> StoredReview | None:
        """Return the state of a game's review, or None if it was not requested."""
        return self._database.one(StoredReview, _STATE.where(reviews.c.game_id == game_id))

    def moves(self, game_id: str) -> object:
        """Return the per-move data of a finished review, or None."""
        return self._database.value(sa.select(reviews.c.moves).where(reviews.c.game_id == game_id))

    def accuracies(self, games: Collection[str], version: str) -> dict[str, float]:
        """Return the accuracies of those games whose reviews have one.

        Args:
            games: Ids of the games.
            version: First word of the versions that count; others define accuracy differently.
        """
        # PostgreSQL needs a cast to read text as JSON; SQLite does not.
        typed = sa.type_coerce if is_sqlite(self._database.engine) else sa.cast
        figure = typed(sa.type_coerce(reviews.c.summary, sa.Text), sa.JSON)["accuracy"].as_float()
        query = sa.select(reviews.c.game_id, figure.label("figure")).where(
            reviews.c.game_id.in_(games),
            ~_PENDING,
            reviews.c.fault.is_(None),
            reviews.c.version.startswith(f"{version} "),
            figure.is_not(None),
        )
        return {row.game_id: row.figure for row in self._database.rows(query)}

    def request(self, game_id: str, version: str) -> None:
        """Request the review of a finished game; games in progress are ignored.

        Does nothing if the review is pending or was completed by the same version.
        """
        fresh = {**_FRESH, "version": version, "asked": utc_now()}
        is_useless = sa.or_(reviews.c.version != version, reviews.c.fault.is_not(None))
        useless = reviews.c.game_id == game_id, ~_PENDING, is_useless
        with self._database.write() as connection:
            connection.execute(sa.update(reviews).where(*useless).values(fresh))
            over = sa.select(games.c.owner).where(games.c.id == game_id, games.c.is_over)
            finished = sa.select(records.c.owner).where(records.c.id == game_id)
            owner = connection.scalar(finished) or connection.scalar(over)
            if owner is not None:  # the account may have been deleted meanwhile
                row = {"game_id": game_id, "owner": owner, **fresh}
                connection.execute(insert_new(connection, reviews), row)

    def pending(self, before: str | None = None) -> int:
        """Return the number of unfinished reviews.

        Args:
            before: Restricts the count to reviews requested before this time, ISO 8601 in UTC.
        """
        query = sa.select(sa.func.count()).where(_PENDING)
        if before is not None:
            query = query.where(reviews.c.asked < before)
        return int(self._database.value(query))

    def waiting(self, games: Collection[str]) -> set[str]:
        """Return which of the games have an unfinished review."""
        query = sa.select(reviews.c.game_id).where(reviews.c.game_id.in_(games), _PENDING)
        return set(self._database.values(query))

    def claim(self, ended: str) -> ReviewClaim | None:
        """Claim the review that has waited longest, or return None.

        Args:
            ended: Claims not renewed since this time, ISO 8601 in UTC, have expired.
        """
        is_free = sa.or_(reviews.c.claimed.is_(None), reviews.c.claimed < ended)
        columns = reviews.c.game_id, reviews.c.attempts, reviews.c.version
        waiting = sa.select(*columns).where(_PENDING, is_free).order_by(reviews.c.asked)
        found = self._database.rows(waiting.limit(1))  # most polls need no write transaction
        if not found:
            return None
        (row,) = found
        former = ReviewClaim(row.game_id, row.attempts, row.version)
        claim = replace(former, attempt=row.attempts + 1)
        taken = {"attempts": claim.attempt, "claimed": utc_now()}
        # The update succeeds only if no other process has claimed the review in the meantime.
        return claim if self._update(former, taken) else None

    def renew(self, claim: ReviewClaim, done: int) -> bool:
        """Renew a claim and save the progress; return False if the claim was lost."""
        return self._update(claim, {"claimed": utc_now(), "done": done})

    def release(self, claim: ReviewClaim) -> None:
        """Give up a claim, without counting it as an attempt."""
        self._update(claim, {"attempts": claim.attempt - 1, "claimed": None, "done": 0})

    def finish(
        self, claim: ReviewClaim, summary: object, moves: object, fault: str | None = None
    ) -> bool:
        """Save a review or the reason for its failure; return False if the claim was lost."""
        kept = {"summary": summary, "moves": moves, "fault": fault, "finished": utc_now()}
        return self._update(claim, kept)

    def forget(self, most: int) -> None:
        """Delete all but the latest `most` finished reviews."""
        ends = sa.select(reviews.c.finished).where(~_PENDING).order_by(reviews.c.finished.desc())
        latest = ends.offset(most).limit(1).scalar_subquery()
        self._database.change(sa.delete(reviews).where(reviews.c.finished <= latest))

    def _update(self, claim: ReviewClaim, values: dict[str, object]) -> bool:
        """Update a pending review; return False if a later attempt has replaced the claim."""
        same = reviews.c.game_id == claim.game_id, reviews.c.attempts == claim.attempt
        return bool(self._database.change(sa.update(reviews).where(*same, _PENDING).values(values)))
