"""Storage of mistakes for practice, and of answers to puzzles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.app.storage.database import Repository, insert_new, upsert
from py2048.app.storage.schema import mistakes, puzzle_answers, puzzle_ratings
from py2048.app.storage.values import PuzzleAnswer, SavedMistake, ThemeSummary

MAX_MISTAKES = 1000
"""Maximum number of mistakes per owner. The best-learned mistakes are dropped first."""

_MISTAKE = sa.select(*(column for column in mistakes.c if column.name != "owner"))
_ANSWER = sa.select(*(column for column in puzzle_answers.c if column.name != "owner"))


class Mistakes(Repository):
    """The mistakes of each owner, with at most `MAX_MISTAKES` per owner."""

    def keep(self, found: Iterable[SavedMistake], *, owner: str = "local") -> int:
        """Save mistakes.

        A mistake that the player repeats in another game returns to the first box but keeps its
        statistics. Saving the same mistake from the same game again has no effect.

        Returns:
            The number of new mistakes.
        """
        count = 0
        with self._database.write() as connection:
            insert = insert_new(connection.dialect, mistakes)
            for each in found:
                row = {"owner": owner, **vars(each)}
                if connection.execute(insert, row).rowcount:
                    count += 1
                else:
                    for name in ("tries", "successes"):
                        del row[name]
                    again = _matches(owner, each), mistakes.c.game != each.game
                    connection.execute(sa.update(mistakes).where(*again).values(row))
            _drop_excess(connection, owner)
        return count

    def due(
        self, moment: str, *, theme: str | None = None, limit: int = 20, owner: str = "local"
    ) -> list[SavedMistake]:
        """Return the mistakes that are due at a given time, starting with the longest overdue."""
        query = _MISTAKE.where(mistakes.c.owner == owner, mistakes.c.due <= moment)
        if theme is not None:
            query = query.where(mistakes.c.theme == theme)
        query = query.order_by(mistakes.c.due, mistakes.c.rules, mistakes.c.position).limit(limit)
        return self._database.all(SavedMistake, query)

    def answer(
        self, mistake: SavedMistake, *, box: int, due: str, is_success: bool, owner: str = "local"
    ) -> None:
        """Record a practice attempt, and schedule the mistake's next repetition."""
        columns = mistakes.c
        values = {
            "box": box,
            "due": due,
            "tries": columns.tries + 1,
            "successes": columns.successes + int(is_success),
        }
        self._database.change(sa.update(mistakes).where(_matches(owner, mistake)).values(values))

    def summaries(self, moment: str, *, last_box: int, owner: str = "local") -> list[ThemeSummary]:
        """Return statistics of the owner's mistakes by theme, ordered by name."""
        columns, count = mistakes.c, sa.func.count
        query = (
            sa.select(
                columns.theme,
                count().label("mistakes"),
                count().filter(columns.due <= moment).label("due"),
                count().filter(columns.box >= last_box).label("known"),
                sa.func.sum(columns.tries).label("tries"),
                sa.func.sum(columns.successes).label("successes"),
                sa.func.min(columns.due).label("next_due"),
            )
            .where(columns.owner == owner)
            .group_by(columns.theme)
            .order_by(columns.theme)
        )
        return self._database.all(ThemeSummary, query)


def _matches(owner: str, mistake: SavedMistake) -> sa.ColumnElement[bool]:
    columns = mistakes.c
    return sa.and_(
        columns.owner == owner, columns.rules == mistake.rules, columns.position == mistake.position
    )


def _drop_excess(connection: Connection, owner: str) -> None:
    """Delete mistakes beyond `MAX_MISTAKES` in the caller's transaction."""
    key = sa.tuple_(mistakes.c.rules, mistakes.c.position)
    mine = mistakes.c.owner == owner
    known = sa.select(mistakes.c.rules, mistakes.c.position).where(mine)
    extra = known.order_by(mistakes.c.box, mistakes.c.due).offset(MAX_MISTAKES)
    connection.execute(sa.delete(mistakes).where(mine, key.in_(extra)))


class PuzzleAnswers(Repository):
    """Each owner's answers to puzzles, and the ratings of the puzzles."""

    def add(
        self, answer: PuzzleAnswer, strength: tuple[float, float], *, owner: str = "local"
    ) -> bool:
        """Save a first answer and the puzzle's new rating.

        Later answers to the same puzzle update the time, but no rating changes.

        Args:
            answer: The answer.
            strength: The puzzle's rating after the answer, and its uncertainty.
            owner: Owner of the answer.

        Returns:
            Whether this was the first answer.
        """
        with self._database.write() as connection:
            row = {"owner": owner, **vars(answer)}
            if connection.execute(insert_new(connection.dialect, puzzle_answers), row).rowcount:
                rating, deviation = strength
                row = {"puzzle": answer.puzzle, "rating": rating, "deviation": deviation}
                connection.execute(upsert(connection.dialect, puzzle_ratings), row)
                return True
            latest = connection.execute(_latest(owner, 1)).one()
            again = {name: getattr(latest, name) for name in ("rating", "deviation")}
            same = sa.update(puzzle_answers).filter_by(owner=owner, puzzle=answer.puzzle)
            connection.execute(same.values(answered=answer.answered, **again))
        return False

    def select(self, *, limit: int | None = None, owner: str = "local") -> list[PuzzleAnswer]:
        """Return the answers, most recent first."""
        return self._database.all(PuzzleAnswer, _latest(owner, limit))

    def strengths(self) -> dict[int, tuple[float, float]]:
        """Return the rating and the uncertainty of each puzzle that was answered."""
        rows = self._database.rows(sa.select(puzzle_ratings))
        return {row.puzzle: (row.rating, row.deviation) for row in rows}


def _latest(owner: str, limit: int | None) -> sa.Select[Any]:
    columns = puzzle_answers.c
    query = _ANSWER.where(columns.owner == owner).limit(limit)
    return query.order_by(columns.answered.desc(), columns.puzzle)
