"""Practice: your mistakes when they are due, endings against their table, puzzles.

A `Drill` asks for moves and says what they were worth; the command ``practice`` and the screens
go through the same ones, the screens by a `PracticeRun`, which has a place in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from py2048.direction import Direction
from py2048.folders import built_tables
from py2048.players import Unit
from py2048.review import MoveReview
from py2048.review.puzzles import Puzzle, daily_puzzle
from py2048.review.themes import Theme
from py2048.rng import random_seed
from py2048.session.notebook import MOST_RATING, Exercise, Notebook, PuzzleBook
from py2048.ui.shared.describe import describe_move_review
from py2048.ui.shared.review import DirectionRow, direction_rows, verdict_of
from py2048.ui.shared.screen import Choice, counted

if TYPE_CHECKING:
    from py2048.board import Board
    from py2048.review.endings import EndingPractice
    from py2048.rules import Rules
    from py2048.session import Session

MAX_DUE = 20
"""How many mistakes are practised at a time, unless another number is given."""

HOW_TO_KEEP = "review a finished game on a screen, or by py2048 review FILE --keep"
ALL_ANSWERED = "you have answered every such puzzle; py2048 puzzle --id N shows one again"


@dataclass(frozen=True, slots=True)
class Question:
    """A position, and which move is asked for.

    Attributes:
        title: what people read above the board.
        board: the position.
        about: what programs read of it.
    """

    title: str
    board: Board
    about: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a move was worth, and what follows from it.

    Attributes:
        move: the move.
        unit: the unit of its values.
        then: a sentence for people on what follows.
        about: the same for programs.
    """

    move: MoveReview
    unit: Unit
    then: str
    about: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Closing:
    """What is said when nothing more is asked.

    Attributes:
        text: for people; may be empty.
        about: the same for programs, if there is something.
        board: the last board, if there is one to be shown.
    """

    text: str
    about: Mapping[str, object] | None = None
    board: Board | None = None


class Drill(ABC):
    """Questions, one after another.

    Attributes:
        opening: what people are told first; may be empty.
    """

    opening = ""

    @abstractmethod
    def question(self) -> Question | None:
        """Return the next question, `None` at the end."""

    @abstractmethod
    def answer(self, direction: Direction) -> Answer:
        """Answer the question with a legal direction.

        Raises:
            StorageError: if the answer cannot be kept.
        """

    @property
    @abstractmethod
    def closing(self) -> Closing:
        """What is said at the end."""


class MistakeDrill(Drill):
    """The mistakes that are due.

    Args:
        notebook: where they are.
        theme: only mistakes of this theme.
        count: at most so many.

    Raises:
        StorageError: if the notebook cannot be read.
    """

    def __init__(
        self, notebook: Notebook, theme: Theme | None = None, count: int = MAX_DUE
    ) -> None:
        self._notebook, self._theme = notebook, theme
        self._due = notebook.due(theme, limit=count)
        self._number = 0

    def question(self) -> Question | None:
        """Return the next mistake, due longest first."""
        if self._number == len(self._due):
            return None
        self._number += 1
        title = f"mistake {self._number} of {len(self._due)}, {_name(self._exercise.rules)}"
        about = {"rules": str(self._exercise.rules), "box": self._exercise.box}
        return Question(title, self._exercise.board, about)

    @property
    def _exercise(self) -> Exercise:
        return self._due[self._number - 1]

    def answer(self, direction: Direction) -> Answer:
        """Note the answer, and say when the mistake comes back."""
        exercise = self._exercise
        move, later = self._notebook.answer(exercise, direction)
        before, kind = exercise.played, exercise.theme
        then = f"in your game you played {before} ({kind.label}); again in {_days(later)}"
        about = {"before": str(before), "theme": kind.value, "days": later.days}
        return Answer(move, exercise.unit, then, about)

    @property
    def closing(self) -> Closing:
        """Nothing after mistakes; where none was due, when the next one is."""
        return Closing("" if self._due else _nothing_due(self._notebook, self._theme))


def _nothing_due(notebook: Notebook, theme: Theme | None) -> str:
    known = [each for each in notebook.progress() if theme is None or each.theme == theme.value]
    if not known:
        those = f" with the theme {theme}" if theme else ""
        return f"no mistakes{those} are kept: {HOW_TO_KEEP}"
    first = min(each.next_due for each in known)
    return f"nothing is due; the next mistake comes back on {first[:10]}"


class EndingDrill(Drill):
    """An ending, move by move.

    Args:
        ending: the ending.
        seed: the seed that dealt it.
    """

    def __init__(self, ending: EndingPractice, seed: int) -> None:
        self._ending, self._seed = ending, seed
        target, large = ending.table.target, ending.table.formation.larges
        self.opening = f"make {target} beside the {large} large tiles; seed {seed}"

    @classmethod
    def deal(cls, name: str, seed: int) -> EndingDrill:
        """Return an ending of a table, which is named as by `py2048.solving.tables.load_table`.

        Raises:
            SolvingError: if there is no such table.
        """
        from py2048.review.endings import EndingPractice  # NumPy comes with these
        from py2048.solving.tables import load_table

        return cls(EndingPractice.deal(load_table(name), seed), seed)

    def question(self) -> Question | None:
        """Return the position, until the target is made or cannot be."""
        if self._ending.is_over:
            return None
        name, move = self._ending.table.name, self._ending.game.ply + 1
        about = {"table": name, "seed": self._seed, "move": move}
        return Question(f"{name}, move {move}", self._ending.game.board, about)

    def answer(self, direction: Direction) -> Answer:
        """Play a move, and say what the new tile leaves of the chance."""
        move = self._ending.play(direction)
        chance = self._ending.chance
        then = f"after the new tile the chance is {chance:.4%}"
        return Answer(move, Unit.CHANCE, then, {"chance": chance})

    @property
    def closing(self) -> Closing:
        """The result, beside the chance at the start."""
        ending = self._ending
        end = f"{ending.table.target} {'is made' if ending.is_made else 'can no longer be made'}"
        return Closing(
            f"{end}; the chance at the start was {ending.start:.4%}, and your moves kept "
            f"{ending.kept:.2%} of it",
            {"made": ending.is_made, "start": ending.start, "kept": ending.kept},
            ending.game.board,
        )


class PuzzleDrill(Drill):
    """Puzzles near the player's rating, or one puzzle.

    Args:
        book: the player's answers.
        low: the least rating of the puzzles.
        high: the greatest.
        puzzle: the only puzzle.
    """

    def __init__(
        self,
        book: PuzzleBook,
        low: int = 0,
        high: int = MOST_RATING,
        *,
        puzzle: Puzzle | None = None,
    ) -> None:
        self._book, self._is_alone = book, puzzle is not None
        near = iter(partial(book.next, low, high), None)
        self._puzzles: Iterator[Puzzle] = near if puzzle is None else iter((puzzle,))
        self._puzzle: Puzzle | None = None

    def question(self) -> Question | None:
        """Return the next puzzle."""
        self._puzzle = puzzle = next(self._puzzles, None)
        if puzzle is None:
            return None
        title = f"puzzle {puzzle.id}, rated {puzzle.rating}, {_name(puzzle.rules)}"
        about = {"puzzle": puzzle.id, "rating": puzzle.rating, "rules": str(puzzle.rules)}
        return Question(title, puzzle.board, about)

    def answer(self, direction: Direction) -> Answer:
        """Note the answer; the first one to a puzzle changes the rating."""
        puzzle = self._puzzle
        assert puzzle is not None  # there was a question
        before = self._book.rating.rating
        is_first = self._book.answer(puzzle, direction) is not None
        now, is_solved = self._book.rating.rating, direction is puzzle.best
        change = f" ({now - before:+.0f})" if is_first else ", answered before"
        kind = "" if puzzle.theme is Theme.OTHER else f": {puzzle.theme.label}"
        solved = "solved" if is_solved else f"not solved{kind}"
        about = {"solved": is_solved, "theme": puzzle.theme.value, "your_rating": now}
        then = f"{solved}; your rating is {now:.0f}{change}"
        return Answer(puzzle.graded(direction), Unit.POINTS, then, about)

    @property
    def closing(self) -> Closing:
        """That all are answered, after the last of several."""
        return Closing("" if self._is_alone else ALL_ANSWERED)


def _days(time: timedelta) -> str:
    return counted(time.days, "day")


def _name(rules: Rules) -> str:
    size = f"{rules.rows}x{rules.columns}"
    return size if rules.name == size else f"{rules.name} on {size}"


# What a screen offers

MISTAKES, PUZZLES, DAILY, ENDING = "mistakes", "puzzles", "daily", "ending"


def list_offers(session: Session) -> list[Choice]:
    """Return what can be practised: all mistakes and those of each theme, puzzles, endings.

    Raises:
        StorageError: if this session keeps nothing, or the store cannot be read.
    """
    known = session.notebook().progress()
    due, kept = sum(each.due for each in known), sum(each.mistakes for each in known)
    book = session.puzzle_book()
    themes = [
        Choice(f"{MISTAKES} {each.theme}", f"  {Theme(each.theme).label}", f"{each.due:,} due")
        for each in known
        if each.due
    ]
    endings = [
        Choice(f"{ENDING} {path.stem}", f"Ending {path.stem}", "with the true chance of every move")
        for path in built_tables()
    ]
    return [
        Choice(MISTAKES, "Your mistakes", f"{due:,} due, {kept:,} kept"),
        *(themes if len(themes) > 1 else []),
        Choice(PUZZLES, "Puzzles", f"your rating is {book.rating.rating:.0f}"),
        Choice(DAILY, "Puzzle of the day", "the same for everybody"),
        *endings,
    ]


def drill_of(session: Session, choice: str) -> Drill:
    """Return the drill of an offer, by its `choice`; an ending takes some time.

    Raises:
        StorageError: if the store cannot be read.
        SolvingError: if a table cannot be.
    """
    kind, _, name = choice.partition(" ")
    match kind:
        case "mistakes":
            return MistakeDrill(session.notebook(), Theme(name) if name else None)
        case "ending":
            return EndingDrill.deal(name, random_seed())
        case "daily":
            return PuzzleDrill(session.puzzle_book(), puzzle=daily_puzzle(today()))
        case _:
            return PuzzleDrill(session.puzzle_book())


def today() -> date:
    """Return the day of the daily puzzle, in UTC."""
    return datetime.now(UTC).date()


# A drill on a screen

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
