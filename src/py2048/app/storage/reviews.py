"""A queue of game reviews. One process computes a review, and all processes share the result.

The queue consists of database rows, so requests survive a crash. All processes that share the
database see the same progress. A process claims a review before computing it. Claims expire unless
they are renewed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import sqlalchemy as sa

from py2048.app.storage.database import Repository, insert_new
from py2048.app.storage.schema import games, records, reviews
from py2048.app.storage.values import ReviewClaim, StoredReview, utc_now

_STATE = sa.select(*(column for column in reviews.c if column.name != "moves"))
_PENDING = reviews.c.finished.is_(None)
_EMPTY = dict.fromkeys(("claimed", "finished", "fault", "summary", "moves"))
_FRESH = {"attempts": 0, "done": 0, **_EMPTY}


class Reviews(Repository):
    """Reviews of finished games, at most one per game. The caller defines the JSON content."""

    def find(self, game_id: str) -> StoredReview | None:
        """Return the state of a game's review, or None if no review was requested."""
        return self._database.one(StoredReview, _STATE.where(reviews.c.game_id == game_id))

    def moves(self, game_id: str) -> object:
        """Return the data about each move in a review, or None if no review is finished."""
        return self._database.value(sa.select(reviews.c.moves).where(reviews.c.game_id == game_id))

    def accuracies(self, games: Collection[str], version: str) -> dict[str, float]:
        """Return the accuracy of each game by id. Games without an accuracy are omitted.

        Args:
            games: Ids of the games.
            version: Reviewer version, the first word of `StoredReview.version`. Other versions may
                define accuracy differently.
        """
        # Unlike SQLite, PostgreSQL needs a cast from text to JSON.
        typed = sa.type_coerce if self._database.is_sqlite else sa.cast
        figure = typed(sa.type_coerce(reviews.c.summary, sa.Text), sa.JSON)["accuracy"].as_float()
        query = sa.select(reviews.c.game_id, figure.label("figure")).where(
            reviews.c.game_id.in_(games),
            ~_PENDING,
            reviews.c.fault.is_(None),
            reviews.c.version.startswith(f"{version} "),
            figure.is_not(None),
        )
        return {row.game_id: row.figure for row in self._database.rows(query)}

    def request(self, game_id: str, version: str, asked: str | None = None) -> bool:
        """Request the review of a finished game. Games in progress are ignored.

        Does nothing if the review is pending, or already complete in the same version.

        Args:
            game_id: The game.
            version: Version of the review.
            asked: Time of the request, ISO 8601 in UTC. The oldest request is served first.
                Defaults to the current time.

        Returns:
            Whether a review has to be computed.
        """
        fresh = {**_FRESH, "version": version, "asked": asked or utc_now()}
        is_useless = sa.or_(reviews.c.version != version, reviews.c.fault.is_not(None))
        useless = reviews.c.game_id == game_id, ~_PENDING, is_useless
        with self._database.write() as connection:
            count = connection.execute(sa.update(reviews).where(*useless).values(fresh)).rowcount
            over = sa.select(games.c.owner).where(games.c.id == game_id, games.c.is_over)
            finished = sa.select(records.c.owner).where(records.c.id == game_id)
            owner = connection.scalar(finished) or connection.scalar(over)
            if owner is not None:  # the account may have been deleted in the meantime
                row = {"game_id": game_id, "owner": owner, **fresh}
                count += connection.execute(insert_new(connection.dialect, reviews), row).rowcount
        return count > 0

    def pending(self, before: str | None = None) -> int:
        """Return the number of unfinished reviews.

        Args:
            before: Restricts the count to reviews requested before this time, ISO 8601 in UTC.
        """
        query = sa.select(sa.func.count()).where(_PENDING)
        if before is not None:
            query = query.where(reviews.c.asked < before)
        return int(self._database.value(query))

    def claim(self, ended: str) -> ReviewClaim | None:
        """Claim the review that has waited longest, or return None if no review is waiting.

        Args:
            ended: Time, ISO 8601 in UTC. Claims last renewed before this time have expired.
        """
        is_free = sa.or_(reviews.c.claimed.is_(None), reviews.c.claimed < ended)
        columns = reviews.c.game_id, reviews.c.attempts.label("attempt"), reviews.c.version
        waiting = sa.select(*columns).where(_PENDING, is_free).order_by(reviews.c.asked).limit(1)
        former = self._database.one(ReviewClaim, waiting)  # usually avoids a write transaction
        if former is None:
            return None
        claim = replace(former, attempt=former.attempt + 1)
        taken = {"attempts": claim.attempt, "claimed": utc_now()}
        # The update succeeds only if no other process has claimed the review in the meantime.
        return claim if self._update(former, taken) else None

    def renew(self, claim: ReviewClaim, done: int) -> bool:
        """Renew a claim and save the progress. Return False if the claim is outdated."""
        return self._update(claim, {"claimed": utc_now(), "done": done})

    def release(self, claim: ReviewClaim) -> None:
        """Give up a claim without counting it as an attempt."""
        self._update(claim, {"attempts": claim.attempt - 1, "claimed": None, "done": 0})

    def finish(
        self, claim: ReviewClaim, summary: object, moves: object, fault: str | None = None
    ) -> bool:
        """Save a review or the reason for its failure. Return False if the claim is outdated."""
        kept = {"summary": summary, "moves": moves, "fault": fault, "finished": utc_now()}
        return self._update(claim, kept)

    def forget(self, most: int) -> None:
        """Delete all finished reviews except the latest `most`."""
        ends = sa.select(reviews.c.finished).where(~_PENDING).order_by(reviews.c.finished.desc())
        latest = ends.offset(most).limit(1).scalar_subquery()
        self._database.change(sa.delete(reviews).where(reviews.c.finished <= latest))

    def _update(self, claim: ReviewClaim, values: dict[str, object]) -> bool:
        """Update a claimed review. Return False if the claim is outdated."""
        same = reviews.c.game_id == claim.game_id, reviews.c.attempts == claim.attempt
        return bool(self._database.change(sa.update(reviews).where(*same, _PENDING).values(values)))
