"""The notebook of mistakes, and answers to puzzles: what a player keeps from practice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from py2048.app.storage import Store
from py2048.app.storage.values import PuzzleAnswer, SavedMistake, ThemeSummary, utc_text
from py2048.core.board import Board, canonical
from py2048.core.direction import Direction
from py2048.core.game import Record
from py2048.core.game.record import cell_digits
from py2048.core.rules import Rules
from py2048.players import Unit
from py2048.review import MoveReview, Review
from py2048.review.mistakes import (
    FIRST_BOX,
    LAST_BOX,
    MistakeKind,
    interval,
    mistake_kind,
    next_box,
)
from py2048.review.moves import Basis, move_review
from py2048.review.puzzles import Puzzle, PuzzleRating, puzzles

MAX_RATING = 9999
MAX_OF_A_GAME = 20
"""The most mistakes of one game that are kept: those that lost most."""


def present() -> datetime:
    """Return the present, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Exercise:
    """A mistake to practise.

    Attributes:
        rules: the rules of the game.
        board: the position.
        score: the score there.
        played: the direction that was played.
        values: what each legal direction is worth.
        unit: the unit of the values.
        source: what valued them.
        theme: what kind of mistake it was.
        saved: the same, as the store has it.
    """

    rules: Rules
    board: Board
    score: int
    played: Direction
    values: Mapping[Direction, float]
    unit: Unit
    source: str
    theme: MistakeKind
    saved: SavedMistake

    @property
    def box(self) -> int:
        """How well it is known: see `py2048.review.mistakes`."""
        return self.saved.box

    @classmethod
    def of(cls, saved: SavedMistake) -> Exercise:
        """Return the exercise that the store has."""
        return cls(
            Rules.parse(saved.rules),
            Board.parse(saved.board),
            saved.score,
            Direction.parse(saved.played),
            {Direction.parse(word): value for word, value in saved.moves.items()},
            Unit(saved.unit),
            saved.source,
            MistakeKind(saved.theme),
            saved,
        )

    def graded(self, direction: Direction) -> MoveReview:
        """Return what a legal direction is worth against the best one."""
        basis = Basis(self.source)
        return move_review(1, self.board, self.score, direction, self.values, 0.0, self.unit, basis)


class Notebook:
    """A player's mistakes, which come back at growing intervals.

    A position and its symmetric images are one mistake.

    Args:
        store: where it is kept.
        owner: whose it is.
        now: returns the present, in UTC.
    """

    def __init__(
        self,
        store: Store,
        owner: str = "local",
        now: Callable[[], datetime] = present,
    ) -> None:
        self._store, self._owner, self._now = store, owner, now

    def keep(self, review: Review) -> int:
        """Keep the worst mistakes of a game, due at once; return how many are new."""
        worst = sorted(review.mistakes, key=lambda move: -move.loss)[:MAX_OF_A_GAME]
        found = [_saved(review, move) for move in worst]
        return self._store.mistakes.keep(found, owner=self._owner)

    def due(self, theme: MistakeKind | None = None, *, limit: int = 20) -> list[Exercise]:
        """Return what is due now, due longest first.

        Args:
            theme: only mistakes of this theme.
            limit: how many at most.
        """
        wanted = None if theme is None else theme.value
        due = self._store.mistakes.due(
            utc_text(self._now()), theme=wanted, limit=limit, owner=self._owner
        )
        return [Exercise.of(saved) for saved in due]

    def answer(self, exercise: Exercise, direction: Direction) -> tuple[MoveReview, timedelta]:
        """Note an answer, which is right if it loses next to nothing.

        Returns:
            what the move is worth, and when the mistake comes back.
        """
        move = exercise.graded(direction)
        is_success = not move.grade.is_mistake
        box = next_box(exercise.box, is_success=is_success)
        self._store.mistakes.answer(
            exercise.saved,
            box=box,
            due=utc_text(self._now() + interval(box)),
            is_success=is_success,
            owner=self._owner,
        )
        return move, interval(box)

    def progress(self) -> list[ThemeSummary]:
        """Return what there is of each theme, and how well it is known."""
        return self._store.mistakes.summaries(
            utc_text(self._now()), last_box=LAST_BOX, owner=self._owner
        )


class PuzzleBook:
    """A player's answers to puzzles, and the rating that follows from them.

    Args:
        store: where they are kept.
        owner: whose they are.
    """

    def __init__(self, store: Store, owner: str = "local") -> None:
        self._store, self._owner = store, owner

    @property
    def answers(self) -> list[PuzzleAnswer]:
        """The first answer to each puzzle, the last first."""
        return self._store.puzzle_answers.select(owner=self._owner)

    @property
    def rating(self) -> PuzzleRating:
        """The player's rating."""
        return rating_after(self.answers)

    def next(self, low: int = 0, high: int = MAX_RATING) -> Puzzle | None:
        """Return the puzzle nearest to the player's rating that is not answered yet.

        Args:
            low: the least rating of the puzzle.
            high: the greatest.

        Returns:
            the puzzle, or `None` if there is none.
        """
        answers = self.answers
        answered, rating = {each.puzzle for each in answers}, rating_after(answers).rating
        return min(
            (each for each in puzzles() if low <= each.rating <= high and each.id not in answered),
            key=lambda each: abs(each.rating - rating),
            default=None,
        )

    def answer(self, puzzle: Puzzle, direction: Direction) -> PuzzleAnswer | None:
        """Note an answer; return it with the new rating, or `None` if it was not the first."""
        is_solved = direction is puzzle.best
        after = self.rating.after(puzzle.rating, is_solved=is_solved)
        answer = PuzzleAnswer(puzzle.id, is_solved, after.rating, after.deviation)
        return answer if self._store.puzzle_answers.add(answer, owner=self._owner) else None


def rating_after(answers: list[PuzzleAnswer]) -> PuzzleRating:
    """Return the rating that answers led to, the last first."""
    return PuzzleRating(answers[0].rating, answers[0].deviation) if answers else PuzzleRating()


def _saved(review: Review, move: MoveReview) -> SavedMistake:
    rules, values = review.record.rules, move.chances or move.values
    # Where no chance places the tiles, an image of a board may go on in another way.
    rows = move.board.rows if rules.is_deterministic else canonical(move.board.rows)
    return SavedMistake(
        rules=str(rules),
        position=_line(Board.from_rows(rows)),
        board=_line(move.board),
        score=move.score,
        game=_game_to(review.record, move.ply),
        played=str(move.played),
        moves={str(direction): value for direction, value in values.items()},
        unit=(Unit.CHANCE if move.chances else review.unit).value,
        source=move.source,
        theme=mistake_kind(rules, move.board, move.played, move.best).value,
        box=FIRST_BOX,
        due=utc_text(present()),
    )


def _game_to(record: Record, ply: int) -> str:
    """Return a digest of a game up to a move, which stays the same however it continues."""
    turns = record.turns[: ply * (2 + cell_digits(record.rules.shape))]
    return sha256(f"{record.start}\n{turns}".encode()).hexdigest()


def _line(board: Board) -> str:
    return "/".join(" ".join(map(str, row)) for row in board.rows)
