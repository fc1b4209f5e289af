"""`GameReview`: the review of a game as a screen shows it.

It holds the moves that are judged so far and a place among all moves, and says what stands there:
sentences, short texts, and a graph scaled to the pixels or cells of a screen. Screens only draw.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from py2048.direction import Direction
from py2048.errors import RecordError
from py2048.players import Unit
from py2048.review import Grade, Judge, MoveReview, Review
from py2048.review.games import accuracy_of_moves
from py2048.review.words import describe_review, number
from py2048.session import Session, is_by_computer, name_of, review_game
from py2048.ui.shared.background import Failure, Worker
from py2048.ui.shared.describe import (
    GRADE_SYMBOLS,
    describe_move_review,
    spoken,
    value_text,
)
from py2048.ui.shared.screen import points

if TYPE_CHECKING:
    from py2048.board import Board
    from py2048.compiled.jit.progress import Compiling
    from py2048.game import Record
    from py2048.session import Finding

PAGE = 10
"""How many moves Page Up and Page Down skip."""


class GraphColumn(NamedTuple):
    """A column of the graph.

    Attributes:
        height: how far it is filled from below, in pixels or cells; 0 where nothing is judged.
        grade: the worst mistake among the moves that begin in it, if any.
    """

    height: int
    grade: Grade | None


class DirectionRow(NamedTuple):
    """What is known of a legal direction.

    Attributes:
        direction: the direction.
        is_best: whether it is the best one.
        is_played: whether it was played.
        value: its worth.
        loss: what it loses against the best one; empty for the best.
    """

    direction: Direction
    is_best: bool
    is_played: bool
    value: str
    loss: str

    @property
    def marks(self) -> list[str]:
        """What it is called, "best", "played" or both."""
        return ["best"] * self.is_best + ["played"] * self.is_played


def direction_rows(move: MoveReview, unit: Unit, *, is_exact: bool) -> list[DirectionRow]:
    """Return what each legal direction was worth, the best first."""
    ranked = sorted(move.values, key=lambda each: (each is not move.best, -move.values[each]))
    most = move.values[move.best]
    return [
        DirectionRow(
            each,
            each is move.best,
            each is move.played,
            value_text(move.values[each], unit, is_exact=is_exact),
            "" if each is move.best else number(unit, move.values[each] - most, signed=True),
        )
        for each in ranked
    ]


def verdict_of(move: MoveReview) -> str:
    """Return the grade of a move in a few words: "?? blunder: left, best up"."""
    best = "" if move.grade is Grade.BEST else f", best {move.best}"
    return f"{GRADE_SYMBOLS[move.grade]} {move.grade}: {move.played}{best}"


class GameReview:
    """A review as it comes, and a place in it.

    Args:
        record: the game.

    Attributes:
        record: the game.
        moves: the moves that are judged, from the first.
        index: the move that is shown, 0 for the first.
        judge: who judges, once that is known.
        review: the whole review, once it is complete.
        progress: what is under way, in words; empty at the end.
        error: why there is no more, in one line.
        note: what is said after the summary; may be empty.
        changed: called when more moves are judged.

    Raises:
        RecordError: if the record breaks its own rules, or has no legal move.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self._positions = _positions(record)
        if not self._positions:
            raise RecordError("there is nothing to review: no move was made")
        self.moves: list[MoveReview] = []
        self._mistakes: list[int] = []
        self.index = 0
        self.judge: Judge | None = None
        self.review: Review | None = None
        self.progress, self.error, self.note = "Preparing the review …", "", ""
        self.changed: Callable[[], object] = lambda: None
        self._stop: Callable[[], object] = lambda: None
        self._keep: Callable[[Review | None], object] | None = None

    def __len__(self) -> int:
        """Return the number of moves, judged or not."""
        return len(self._positions)

    # Judging, in the background

    def start(self, worker: Worker, keep: Callable[[Review | None], object]) -> None:
        """Let a worker judge the moves; `keep` gets the whole review, or `None` if it failed.

        Where the review has been started, it goes on, and tells this `keep`.
        """
        was_started, self._keep = self._keep is not None, keep
        if was_started:
            if not self.is_running:
                keep(self.review)
                self.changed()
            return

        def take(answer: Finding | Compiling | Failure) -> None:
            self.take(answer)
            if not self.is_running and self._keep:
                self._keep(self.review)
            self.changed()

        self._stop = worker.drop
        worker.ask(lambda: review_game(self.record), take)

    @property
    def is_running(self) -> bool:
        """Whether more moves are being judged."""
        return bool(self.progress)

    @property
    def is_usable(self) -> bool:
        """Whether the whole review is there, or comes."""
        return self.is_running or self.review is not None

    def close(self) -> None:
        """Stop judging."""
        self.progress = ""
        self._stop()

    def take(self, answer: Finding | Compiling | Failure) -> None:
        """Add what the judge has found."""
        match answer:
            case Failure(reason):
                self.progress, self.error = "", reason
            case Judge():
                self.judge = answer
            case Review():
                self.review, self.progress = answer, ""
            case tuple():
                self.add(answer)
            case compiling:
                self.progress = f"The judge is {compiling}"

    def add(self, moves: Sequence[MoveReview]) -> None:
        """Add the next moves that are judged."""
        for move in moves:
            if move.grade.is_mistake:
                self._mistakes.append(len(self.moves))
            self.moves.append(move)
        self.progress = f"{len(self.moves):,} of {len(self):,} moves are judged …"

    # Walking

    def seek(self, index: int) -> None:
        """Go to a move, or the nearest there is."""
        self.index = min(max(index, 0), len(self) - 1)

    def go(self, name: str) -> None:
        """Go where an action of `REVIEW_ACTIONS` says; stay where there is no such place."""
        here, mistakes = self.index, self._mistakes
        steps = {
            "back": here - 1,
            "forward": here + 1,
            "page_back": here - PAGE,
            "page_forward": here + PAGE,
            "first": 0,
            "last": len(self) - 1,
            "previous_mistake": next(iter(mistakes[: bisect_left(mistakes, here)][-1:]), here),
            "next_mistake": next(iter(mistakes[bisect_right(mistakes, here) :]), here),
        }
        self.seek(steps[name])

    # What stands here

    @property
    def board(self) -> Board:
        """The board before the move that is shown."""
        return self._positions[self.index][0]

    @property
    def score(self) -> int:
        """The score before it."""
        return self._positions[self.index][1]

    @property
    def played(self) -> Direction:
        """The direction that was played."""
        return self._positions[self.index][2]

    @property
    def move(self) -> MoveReview | None:
        """The review of the move that is shown, if it is judged already."""
        return self.moves[self.index] if self.index < len(self.moves) else None

    @property
    def unit(self) -> Unit:
        """The unit of the values."""
        return self.judge.unit if self.judge else Unit.POINTS

    @property
    def is_exact(self) -> bool:
        """Whether the values are exact."""
        return self.judge is not None and self.judge.is_exact

    @property
    def accuracy(self) -> float | None:
        """The accuracy of all moves that are judged, 0 to 100."""
        return accuracy_of_moves(self.moves) if self.moves else None

    @property
    def accuracy_here(self) -> float | None:
        """The accuracy up to the move that is shown, this one included."""
        return accuracy_of_moves(self.moves[: self.index + 1]) if self.moves else None

    @property
    def rows(self) -> list[DirectionRow]:
        """The legal directions, the best first; empty until the move is judged."""
        return direction_rows(self.move, self.unit, is_exact=self.is_exact) if self.move else []

    @property
    def place(self) -> str:
        """Where this is: "Move 12 of 340, score 1,234"."""
        return f"Move {self.index + 1:,} of {len(self):,}, score {self.score:,}"

    @property
    def verdict(self) -> str:
        """The grade of the move in a few words: "?? blunder: left, best up"."""
        move = self.move
        if move is None:
            return f"{self.played}: not judged yet" if self.is_running else f"{self.played}"
        return verdict_of(move)

    @property
    def figures(self) -> list[str]:
        """Luck and accuracy in short: "luck +34", "accuracy 87.1 % here, 91.3 % in all"."""
        luck = []
        if self.move is not None:
            luck.append(f"luck {number(self.unit, self.move.luck, signed=True)}")
        if self.accuracy_here is None or self.accuracy is None:
            return luck
        scope = "so far" if self.is_running else "in all"
        return [*luck, f"accuracy {self.accuracy_here:.1f} % here, {self.accuracy:.1f} % {scope}"]

    @property
    def sentences(self) -> str:
        """All that stands here, as sentences."""
        said = [f"{self.place}."]
        if self.move is None:
            said.append(f"{str(self.played).capitalize()} was played.")
        else:
            said.append(describe_move_review(self.move, self.unit, is_exact=self.is_exact))
            said += [f"{spoken(figure).capitalize()}." for figure in self.figures]
        return " ".join(said)

    @property
    def summary(self) -> str:
        """The whole review in sentences, or how far it is."""
        if self.review is None:
            return self.progress or self.error
        lines = [*describe_review(self.review, brief=True), *filter(None, [self.note])]
        return " ".join(f"{line[0].upper()}{line[1:]}." for line in lines)

    # The graph

    def graph(self, width: int, height: int) -> list[GraphColumn]:
        """Return the graph of what was to be expected before each move.

        That is the final score if the values are points, else the value of the best move.

        Args:
            width: how many columns it has; the whole game always fills them.
            height: how high its highest value stands.
        """
        values = self._graph_values()
        low = min(0.0, *values) if values else 0.0
        top = 1.0 if self.unit is Unit.CHANCE else max(values, default=1.0)
        scale = height / (top - low or 1.0)
        columns = []
        for column in range(width):
            first = self.place_at(column, width)
            moves = slice(first, max(first + 1, self.place_at(column + 1, width)))
            found, grades = values[moves], [move.grade for move in self.moves[moves]]
            mean = sum(found) / len(found) if found else low
            worst = max(grades, key=_GRADES.index, default=Grade.BEST)
            filled = max(1, round(scale * (mean - low))) if found else 0
            begins = not column or self.place_at(column - 1, width) != first
            is_marked = begins and worst.is_mistake
            columns.append(GraphColumn(filled, worst if is_marked else None))
        return columns

    def _graph_values(self) -> list[float]:
        if self.unit is Unit.POINTS:
            return [move.expected for move in self.moves]
        return [move.values[move.best] for move in self.moves]

    def place_at(self, column: int, width: int) -> int:
        """Return the first move that a column of a graph of this width stands for."""
        return column * len(self) // width

    def column(self, width: int) -> int:
        """Return the column of the move that is shown, in a graph of this width."""
        return ((self.index + 1) * width - 1) // len(self)


_GRADES = list(Grade)


def keep_mistakes(session: Session, review: Review) -> str:
    """Put the mistakes of a player's finished game into the notebook; return what to say of it.

    Raises:
        StorageError: if they cannot be kept.
    """
    if not session.keeps_games or is_by_computer(review.record):
        return ""
    count = session.notebook().keep(review)
    return f"{count} new in your notebook of mistakes" if count else ""


def _positions(record: Record) -> list[tuple[Board, int, Direction]]:
    """Return the board and the score before each legal move, and its direction.

    Raises:
        RecordError: if the record breaks its own rules.
    """
    record.verify()
    board, score, found = record.start, 0, []
    for after, turn, reached in record.replay():
        if turn.legal:
            found.append((board, score, turn.direction))
        board, score = after, reached
    return found


def record_title(record: Record) -> str:
    """Return what a record is in a line: its rules, score, player and day."""
    day = f", {record.finished[:10]}" if record.finished else ""
    by = name_of(record) or "a person"
    return f"{record.rules.name}, {points(record.score)}, by {by}{day}"
