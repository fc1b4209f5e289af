"""`PracticeRun`: a drill with a place in it, for screens to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from py2048.direction import Direction
from py2048.ui.shared.describe import describe_move_review
from py2048.ui.shared.drills import Answer, Drill, Question
from py2048.ui.shared.review import DirectionRow, direction_rows, verdict_of

if TYPE_CHECKING:
    from py2048.board import Board

YOUR_MOVE = "Your move: which is the best?"


class PracticeRun:
    """A drill as a screen shows it: a question, then its answer, until nothing more is asked.

    Args:
        drill: the drill.

    Attributes:
        question: what is asked, or was; `None` at the end.
        answer: what the move was worth, once it is made.
        note: why the last key did nothing; or empty.

    Raises:
        StorageError: if the store cannot be read.
    """

    def __init__(self, drill: Drill) -> None:
        self._drill = drill
        self.question: Question | None = None
        self.answer: Answer | None = None
        self.note = ""
        self._ask()

    def _ask(self) -> None:
        self.question, self.answer = self._drill.question(), None
        if self.question is None:
            self._closing = self._drill.closing

    @property
    def is_over(self) -> bool:
        """Whether nothing more is asked."""
        return self.question is None

    def go(self, name: str) -> None:
        """Do what an action of `PRACTICE_ACTIONS` says: a move, or the next question.

        Raises:
            StorageError: if the answer cannot be kept.
        """
        self.note = ""
        if self.question is None:
            return
        if name == "next":
            if self.answer is None:
                self.note = "Make a move first."
            else:
                self._ask()
        elif self.answer is None:
            self._play(Direction.parse(name))

    def _play(self, direction: Direction) -> None:
        assert self.question is not None  # there is one to be answered
        if direction in self.question.board.legal_directions():
            self.answer = self._drill.answer(direction)
        else:
            self.note = f"{direction} moves nothing.".capitalize()

    # What stands here

    @property
    def board(self) -> Board | None:
        """The position; at the end the last one, if there is one."""
        return self._closing.board if self.question is None else self.question.board

    @property
    def title(self) -> str:
        """What is practised, and where this is."""
        if self.question is None:
            return "Done"
        opening = self._drill.opening and f": {self._drill.opening}"
        return f"{self.question.title[0].upper()}{self.question.title[1:]}{opening}"

    @property
    def rows(self) -> list[DirectionRow]:
        """What each direction was worth, the best first; empty until the move is made."""
        if self.answer is None:
            return []
        is_exact = _is_exact(self.answer)
        return direction_rows(self.answer.move, self.answer.unit, is_exact=is_exact)

    @property
    def verdict(self) -> str:
        """What is asked, or the grade of the move in a few words."""
        if self.question is None:
            return ""
        return self.note or (verdict_of(self.answer.move) if self.answer else YOUR_MOVE)

    @property
    def sentences(self) -> str:
        """What the moves were worth and what follows, or what is said at the end."""
        if self.question is None:
            return _sentence(self._closing.text or "that was all")
        if self.answer is None:
            return ""
        move, unit = self.answer.move, self.answer.unit
        said = describe_move_review(move, unit, is_exact=_is_exact(self.answer))
        return f"{said} {_sentence(self.answer.then)}"


def _is_exact(answer: Answer) -> bool:
    return answer.move.source == "exact"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
