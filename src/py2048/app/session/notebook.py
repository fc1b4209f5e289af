"""A player's practice data: a notebook of mistakes, and answers to puzzles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from py2048.app.storage import Store
from py2048.app.storage.values import PuzzleAnswer, SavedMistake, ThemeSummary, utc_now, utc_text
from py2048.core.board import Board, canonical
from py2048.core.direction import Direction
from py2048.core.game import Record
from py2048.core.game.turn import cell_digits
from py2048.core.rules import Rules
from py2048.players import Unit
from py2048.review import MoveReview, Review
from py2048.review.levels import goal_of, parse_level
from py2048.review.mistakes import FIRST_BOX, LAST_BOX, interval, next_box
from py2048.review.moves import Basis, Position, move_review
from py2048.review.puzzles import Puzzle, Rating, kind_of_theme, puzzles
from py2048.review.reasons import ReasonKind

MAX_RATING = 9999
REACH = 300
"""Maximum difference between a player's rating and a puzzle's rating. At the maximum difference,
the stronger side wins 85 % of the time.
"""
LEVEL_SOURCE = "level"
"""Prefix of `source` for mistakes that were judged at a skill level, as in ``level casual``."""

MAX_MISTAKES_PER_GAME = 20


@dataclass(frozen=True, slots=True)
class Exercise:
    """A mistake to practise.

    Attributes:
        rules: Rules of the game.
        board: Board before the mistake.
        played: Direction that was played.
        values: Value of each legal direction.
        unit: Unit of `values`.
        kind: The reason why the move is a mistake, if known.
        saved: The stored mistake.
    """

    rules: Rules
    board: Board
    played: Direction
    values: Mapping[Direction, float]
    unit: Unit
    kind: ReasonKind | None
    saved: SavedMistake

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
        """Grade a legal direction by comparing its value with that of the best direction."""
        at = Position(1, self.board, self.saved.score, direction)
        move = move_review(at, self.values, self.unit, Basis(self.saved.source))
        word, _space, text = self.saved.source.partition(" ")
        level = parse_level(text) if word == LEVEL_SOURCE else None
        if level is None:
            return move
        from py2048.review.coaching import grade_for  # slow: imports NumPy

        goal = goal_of(self.rules, level, self.board)
        return replace(move, grade=grade_for(move.loss, 0.0), goal=goal)


class Notebook:
    """A player's mistakes, scheduled for practice at increasing intervals.

    Symmetric positions count as the same mistake.

    Args:
        store: Where the mistakes are saved.
        owner: Owner of the mistakes.
        now: Function that returns the current time in UTC.
    """

    def __init__(
        self,
        store: Store,
        owner: str = "local",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store, self._owner, self._now = store, owner, now

    def keep(self, review: Review) -> int:
        """Schedule a game's worst mistakes for practice, and return the number of new mistakes."""
        mistakes = (move for move in review.mistakes if not move.survival)  # of games not yet lost
        worst = sorted(mistakes, key=lambda move: -move.loss)[:MAX_MISTAKES_PER_GAME]
        saved = [_saved_mistake(review, move) for move in worst]
        return self._store.mistakes.keep(saved, owner=self._owner)

    def due(self, kind: ReasonKind | None = None, *, limit: int = 20) -> list[Exercise]:
        """Return the mistakes that are due, starting with the longest overdue.

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

        An answer counts as correct unless it is graded as a mistake.

        Returns:
            The graded move, and the time until the mistake is due again.
        """
        move = exercise.graded(direction)
        is_success = not move.grade.is_mistake
        box = next_box(exercise.saved.box, is_success=is_success)
        self._store.mistakes.answer(
            exercise.saved,
            box=box,
            due=utc_text(self._now() + interval(box)),
            is_success=is_success,
            owner=self._owner,
        )
        return move, interval(box)

    def progress(self) -> list[ThemeSummary]:
        """Summarise the mistakes of each kind, including how many the player has learned."""
        return self._store.mistakes.summaries(
            utc_text(self._now()), last_box=LAST_BOX, owner=self._owner
        )


class PuzzleBook:
    """A player's answers to puzzles, with the ratings computed from the answers.

    Args:
        store: Stores the answers and the puzzle ratings. All owners share the puzzle ratings.
        owner: Owner of the answers.
    """

    def __init__(self, store: Store, owner: str = "local") -> None:
        self._saved, self._owner = store.puzzle_answers, owner

    @property
    def answers(self) -> list[PuzzleAnswer]:
        """The player's answers, one for each answered puzzle, latest first."""
        return self._saved.select(owner=self._owner)

    @property
    def rating(self) -> Rating:
        """The player's current rating."""
        return self.ratings[0]

    @property
    def ratings(self) -> tuple[Rating, Rating]:
        """The player's current rating, and the rating before the last answer."""
        last = self._saved.select(limit=2, owner=self._owner)
        rated = (Rating(each.rating, each.deviation) for each in last)
        now, before, *_ = *rated, Rating(), Rating()
        return now, before

    def strength(self, puzzle: Puzzle) -> Rating:
        """Return a puzzle's current rating."""
        return self._strengths().get(puzzle.id, puzzle.strength)

    def next(self, low: int = 0, high: int = MAX_RATING, kind: ReasonKind | None = None) -> Puzzle:
        """Return a puzzle whose rating is close to the player's rating.

        Unanswered puzzles come first, starting with the closest rating. If all puzzles in the given
        range have been answered, the puzzle with the oldest answer is repeated. If no range is
        given, puzzles within `REACH` of the player's rating are preferred.

        Args:
            low: Minimum initial rating of the puzzle.
            high: Maximum initial rating of the puzzle.
            kind: Restricts the result to puzzles of this kind. At least one puzzle of this
                kind must have a rating between `low` and `high`.
        """
        answered = {each.puzzle: each.answered for each in self.answers}
        rating, strengths = self.rating.rating, self._strengths()
        reach = REACH if (low, high) == (0, MAX_RATING) else MAX_RATING

        def order(puzzle: Puzzle) -> tuple[bool, str, float]:
            gap = abs(strengths.get(puzzle.id, puzzle.strength).rating - rating)
            return gap > reach, answered.get(puzzle.id, ""), gap

        offered = (each for each in puzzles() if kind in (None, each.theme))
        return min((each for each in offered if low <= each.rating <= high), key=order)

    def answer(self, puzzle: Puzzle, direction: Direction) -> PuzzleAnswer | None:
        """Rate an answer as a match between player and puzzle, save the answer and return it.

        Returns `None` if the puzzle was already answered, because only first answers are rated.
        """
        is_solved = direction is puzzle.best
        mine, its = self.rating, self.strength(puzzle)
        after = mine.after(its, has_won=is_solved)
        its_after = its.after(mine, has_won=not is_solved)
        answer = PuzzleAnswer(puzzle.id, is_solved, after.rating, after.deviation)
        strength = its_after.rating, its_after.deviation
        return answer if self._saved.add(answer, strength, owner=self._owner) else None

    def _strengths(self) -> dict[int, Rating]:
        return {puzzle: Rating(*each) for puzzle, each in self._saved.strengths().items()}


def _saved_mistake(review: Review, move: MoveReview) -> SavedMistake:
    rules, values = review.record.rules, move.chances or move.values
    # Under deterministic rules, symmetric boards can lead to different games.
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
        due=utc_now(),
    )


def _game_digest(record: Record, ply: int) -> str:
    """Hash a game up to a move, so that the digest does not depend on later moves."""
    turns = record.turns[: ply * (2 + cell_digits(record.rules.shape))]
    return sha256(f"{record.start}\n{turns}".encode()).hexdigest()


def _board_text(board: Board) -> str:
    return "/".join(" ".join(map(str, row)) for row in board.rows)
