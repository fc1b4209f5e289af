"""A player's practice data: the notebook of mistakes, and answers to puzzles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from py2048.app.storage import Store
from py2048.app.storage.values import PuzzleAnswer, SavedMistake, ThemeSummary, utc_text
from py2048.core.board import Board, canonical
from py2048.core.direction import Direction
from py2048.core.game import Record
from py2048.core.game.turn import cell_digits
from py2048.core.rules import Rules
from py2048.players import Unit
from py2048.review import MoveReview, Review
from py2048.review.levels import goal_of, parse_level
from py2048.review.mistakes import FIRST_BOX, LAST_BOX, interval, next_box
from py2048.review.moves import Basis, move_review
from py2048.review.puzzles import Puzzle, PuzzleRating, kind_of_theme, puzzles
from py2048.review.reasons import ReasonKind

MAX_RATING = 9999
LEVEL_SOURCE = "level"
"""First word of the source of chances at a level, which follows it."""

MAX_MISTAKES_PER_GAME = 20


def current_time() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Exercise:
    """A mistake to practise.

    Attributes:
        rules: Rules of the game.
        board: Board before the mistake.
        played: Direction that was played.
        values: Value of each legal direction.
        unit: Unit of `values`.
        kind: Why the mistake is one, if known.
        saved: The stored mistake.
    """

    rules: Rules
    board: Board
    played: Direction
    values: Mapping[Direction, float]
    unit: Unit
    kind: ReasonKind | None
    saved: SavedMistake

    @property
    def box(self) -> int:
        """Repetition box; a higher box means a later repetition (see `py2048.review.mistakes`)."""
        return self.saved.box

    @classmethod
    def of(cls, saved: SavedMistake) -> Exercise:
        """Create an exercise from a stored mistake."""
        return cls(
            Rules.parse(saved.rules),
            Board.parse(saved.board),
            Direction.parse(saved.played),
            {Direction.parse(word): value for word, value in saved.moves.items()},
            Unit(saved.unit),
            kind_of_theme(saved.theme),
            saved,
        )

    def graded(self, direction: Direction) -> MoveReview:
        """Grade a legal direction against the best one."""
        score, basis = self.saved.score, Basis(self.saved.source)
        move = move_review(1, self.board, score, direction, self.values, 0.0, self.unit, basis)
        word, _space, text = self.saved.source.partition(" ")
        level = parse_level(text) if word == LEVEL_SOURCE else None
        if level is None:
            return move
        from py2048.review.coaching import grade_for  # slow: imports NumPy

        goal = goal_of(self.rules, level, self.board)
        return replace(move, grade=grade_for(move.loss, 0.0), goal=goal)


class Notebook:
    """A player's mistakes, repeated at growing intervals.

    A position and its symmetric images count as the same mistake.

    Args:
        store: Where the mistakes are saved.
        owner: Owner of the mistakes.
        now: Function that returns the current time in UTC.
    """

    def __init__(
        self,
        store: Store,
        owner: str = "local",
        now: Callable[[], datetime] = current_time,
    ) -> None:
        self._store, self._owner, self._now = store, owner, now

    def keep(self, review: Review) -> int:
        """Save the worst mistakes of a game, due immediately; return how many are new."""
        mistakes = (move for move in review.mistakes if not move.survival)  # of games not yet lost
        worst = sorted(mistakes, key=lambda move: -move.loss)[:MAX_MISTAKES_PER_GAME]
        saved = [_saved_mistake(review, move) for move in worst]
        return self._store.mistakes.keep(saved, owner=self._owner)

    def due(self, kind: ReasonKind | None = None, *, limit: int = 20) -> list[Exercise]:
        """Return the mistakes that are due, longest overdue first.

        Args:
            kind: Restricts the result to mistakes of this kind.
            limit: Maximum number of mistakes.
        """
        due = self._store.mistakes.due(
            utc_text(self._now()), theme=kind, limit=limit, owner=self._owner
        )
        return [Exercise.of(saved) for saved in due]

    def answer(self, exercise: Exercise, direction: Direction) -> tuple[MoveReview, timedelta]:
        """Save an answer and schedule the next repetition.

        An answer is correct unless its grade is a mistake.

        Returns:
            The graded move, and the time until the mistake is due again.
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
        """Summarise the mistakes of each kind and how well the player has learned them."""
        return self._store.mistakes.summaries(
            utc_text(self._now()), last_box=LAST_BOX, owner=self._owner
        )


class PuzzleBook:
    """A player's puzzle answers and the rating computed from them.

    Args:
        store: Where the answers are saved.
        owner: Owner of the answers.
    """

    def __init__(self, store: Store, owner: str = "local") -> None:
        self._store, self._owner = store, owner

    @property
    def answers(self) -> list[PuzzleAnswer]:
        """The first answer to each puzzle, most recent first."""
        return self._store.puzzle_answers.select(owner=self._owner)

    @property
    def rating(self) -> PuzzleRating:
        """The player's current rating."""
        return rating_after(self.answers)

    def next(
        self, low: int = 0, high: int = MAX_RATING, kind: ReasonKind | None = None
    ) -> Puzzle | None:
        """Return the unanswered puzzle closest to the player's rating.

        Args:
            low: Minimum puzzle rating.
            high: Maximum puzzle rating.
            kind: Restricts the result to puzzles of this kind.

        Returns:
            The puzzle, or `None` if all puzzles in the range are answered.
        """
        answers = self.answers
        answered, rating = {each.puzzle for each in answers}, rating_after(answers).rating
        offered = (
            each
            for each in puzzles()
            if low <= each.rating <= high
            and each.id not in answered
            and (kind is None or each.theme is kind)
        )
        return min(offered, key=lambda each: abs(each.rating - rating), default=None)

    def answer(self, puzzle: Puzzle, direction: Direction) -> PuzzleAnswer | None:
        """Save an answer and return it with the new rating.

        Returns `None` if the puzzle was already answered.
        """
        is_solved = direction is puzzle.best
        after = self.rating.after(puzzle.rating, is_solved=is_solved)
        answer = PuzzleAnswer(puzzle.id, is_solved, after.rating, after.deviation)
        return answer if self._store.puzzle_answers.add(answer, owner=self._owner) else None


def rating_after(answers: list[PuzzleAnswer]) -> PuzzleRating:
    """Return the rating after these answers, which start with the most recent."""
    return PuzzleRating(answers[0].rating, answers[0].deviation) if answers else PuzzleRating()


def _saved_mistake(review: Review, move: MoveReview) -> SavedMistake:
    rules, values = review.record.rules, move.chances or move.values
    # Under deterministic rules, symmetric boards may continue differently.
    rows = move.board.rows if rules.is_deterministic else canonical(move.board.rows)
    return SavedMistake(
        rules=str(rules),
        position=_board_text(Board.from_rows(rows)),
        board=_board_text(move.board),
        score=move.score,
        game=_game_digest(review.record, move.ply),
        played=str(move.played),
        moves={str(direction): value for direction, value in values.items()},
        unit=(Unit.CHANCE if move.chances else review.unit).value,
        source=f"{LEVEL_SOURCE} {review.level}" if review.level else move.source,
        theme=move.reason.kind if move.reason else "",
        box=FIRST_BOX,
        due=utc_text(current_time()),
    )


def _game_digest(record: Record, ply: int) -> str:
    """Hash a game up to a move; later moves do not change the digest."""
    turns = record.turns[: ply * (2 + cell_digits(record.rules.shape))]
    return sha256(f"{record.start}\n{turns}".encode()).hexdigest()


def _board_text(board: Board) -> str:
    return "/".join(" ".join(map(str, row)) for row in board.rows)
