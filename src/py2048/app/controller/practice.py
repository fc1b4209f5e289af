"""Practice of due mistakes, puzzles, and endings with a perfect-play table.

A `Drill` asks for moves and rates the answers. The ``practice`` command iterates over a drill.
Screens use a `PracticeRun`, which keeps the current prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING

from py2048.app.controller.review import describe_move_review, sentence, verdict_of
from py2048.app.session.notebook import MAX_RATING, Exercise, Notebook, PuzzleBook
from py2048.core.direction import Direction
from py2048.core.folders import built_tables
from py2048.core.language import N_, _, ngettext, number
from py2048.core.rng import random_seed
from py2048.players import Unit
from py2048.presentation.hints import DirectionRow, rows_of
from py2048.presentation.screen import Choice, title_of
from py2048.presentation.words import name_of, reason_name, way_of
from py2048.review import MoveReview
from py2048.review.puzzles import Puzzle, daily_puzzle
from py2048.review.reasons import ReasonKind

if TYPE_CHECKING:
    from py2048.app.session import Session
    from py2048.core.board import Board
    from py2048.review.endings import EndingPractice

MAX_DUE = 20  # The default number of mistakes in a practice session.

HOW_TO_KEEP = N_("review a finished game, or run py2048 review FILE --notebook")


@dataclass(frozen=True, slots=True)
class Feedback:
    """The feedback on an answer: the value of the move and its consequences.

    Attributes:
        move: The graded move.
        unit: Unit of the move's values.
        then: Clause that describes the consequences.
        about: The consequences as JSON data.
    """

    move: MoveReview
    unit: Unit
    then: str
    about: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A practice position, for which the player chooses a move.

    Attributes:
        title: Heading above the board.
        board: The position.
        about: JSON data equivalent to `title`.
        answer: Rates a legal direction. Raises `StorageError` if the answer cannot be saved.
        goal: Goal of the drill, shown when the drill starts, or an empty string.
    """

    title: str
    board: Board
    about: Mapping[str, object]
    answer: Callable[[Direction], Feedback]
    goal: str = ""


@dataclass(frozen=True, slots=True)
class DrillEnd:
    """The last message of a drill.

    Attributes:
        text: The message.
        about: JSON data equivalent to `text`, or None.
        board: The final board, if any.
    """

    text: str
    about: Mapping[str, object] | None = None
    board: Board | None = None


Drill = Iterator[Prompt | DrillEnd]
"""The prompts of a drill, optionally followed by a `DrillEnd`. The player must answer each prompt
before the next prompt is requested.
"""


def mistakes(notebook: Notebook, kind: ReasonKind | None = None, count: int = MAX_DUE) -> Drill:
    """Ask for the best move in the position of each due mistake, starting with the oldest.

    Args:
        notebook: The player's mistakes.
        kind: Restricts the drill to mistakes of this kind.
        count: Maximum number of mistakes.

    Raises:
        StorageError: If the notebook cannot be read.
    """
    due = notebook.due(kind, limit=count)
    for place, exercise in enumerate(due, start=1):
        title = _("mistake {n} of {count}, {board}").format(
            n=place, count=len(due), board=title_of(exercise.rules.name, exercise.rules.shape)
        )
        about = {"rules": str(exercise.rules), "box": exercise.saved.box}
        answer = partial(_answer_mistake, notebook, exercise)
        yield Prompt(title, exercise.board, about, answer)
    if not due:
        yield DrillEnd(_nothing_due(notebook, kind))


def habit(notebook: Notebook, book: PuzzleBook, kind: ReasonKind) -> Drill:
    """Yield the player's due mistakes of a kind, then puzzles of the same kind."""
    yield from (each for each in mistakes(notebook, kind) if isinstance(each, Prompt))
    yield from puzzles(book, kind=kind)


def _answer_mistake(notebook: Notebook, exercise: Exercise, direction: Direction) -> Feedback:
    """Save an answer to a mistake. The feedback says when the mistake will be practised again."""
    move, interval = notebook.answer(exercise, direction)
    before, kind, days = exercise.played, exercise.kind, interval.days
    text = ngettext(
        "in your game you went {direction}{mistake}; due again in {n} day",
        "in your game you went {direction}{mistake}; due again in {n} days",
        days,
    )
    mistake = f" ({reason_name(kind)})" if kind else ""
    then = text.format(direction=way_of(before), mistake=mistake, n=number(days))
    about = {"before": str(before), "theme": kind, "days": days}
    return Feedback(move, exercise.unit, then, about)


def _nothing_due(notebook: Notebook, kind: ReasonKind | None) -> str:
    known = [each for each in notebook.progress() if kind in (None, each.theme)]
    if not known:
        none = _("no mistakes saved yet: {how}")
        none = _("no mistakes of this kind saved yet: {how}") if kind else none
        return none.format(how=_(HOW_TO_KEEP))
    first = min(each.next_due for each in known)
    return _("nothing is due; the next mistake is due on {day}").format(day=first[:10])


def ending(name: str, seed: int) -> Drill:
    """Practise a random ending from an endgame table.

    Args:
        name: Name of the table, as in `py2048.players.solving.tables.load_table`.
        seed: Seed that selects the ending.

    Raises:
        SolvingError: If the table does not exist.
    """
    from py2048.players.solving.tables import load_table
    from py2048.review.endings import EndingPractice  # slow: imports NumPy

    return _play_ending(EndingPractice.deal(load_table(name), seed), seed)


def _play_ending(practice: EndingPractice, seed: int) -> Drill:
    table, game = practice.table, practice.game

    def answer(direction: Direction) -> Feedback:
        move, chance = practice.play(direction), practice.chance
        then = _("after the new tile the chance is {share} %").format(share=number(100 * chance, 4))
        return Feedback(move, Unit.CHANCE, then, {"chance": chance})

    text = _("make {tile} beside the {count} large tiles; seed {seed}")
    goal = text.format(tile=table.target, count=table.formation.larges, seed=seed)
    while not practice.is_over:
        ply = game.ply + 1
        about = {"table": table.name, "seed": seed, "move": ply}
        title = _("{ending}, move {n}").format(ending=table.name, n=ply)
        yield Prompt(title, game.board, about, answer, goal)
    made = _("you made {tile}; you started with a {start} % chance and kept {kept} % of it")
    lost = _("{tile} is out of reach; you started with a {start} % chance and kept {kept} % of it")
    start, kept = number(100 * practice.start, 4), number(100 * practice.kept, 2)
    yield DrillEnd(
        (made if practice.is_made else lost).format(tile=table.target, start=start, kept=kept),
        {"made": practice.is_made, "start": practice.start, "kept": practice.kept},
        game.board,
    )


def puzzles(
    book: PuzzleBook,
    notebook: Notebook | None = None,
    low: int = 0,
    high: int = MAX_RATING,
    kind: ReasonKind | None = None,
) -> Drill:
    """Yield puzzles endlessly, alternating with mistakes from the notebook that are due.

    `PuzzleBook.next` selects puzzles with ratings close to the player's rating.
    """
    while True:
        if notebook and notebook.due(limit=1):
            yield from mistakes(notebook, count=1)
        yield from one_puzzle(book, book.next(low, high, kind))


def one_puzzle(book: PuzzleBook, puzzle: Puzzle) -> Iterator[Prompt]:
    """Ask for a single puzzle."""
    rating = round(book.strength(puzzle).rating)
    title = _("puzzle {id}, rated {rating}, {board}").format(
        id=puzzle.id, rating=number(rating), board=title_of(puzzle.rules.name, puzzle.rules.shape)
    )
    about = {"puzzle": puzzle.id, "rating": rating, "rules": str(puzzle.rules)}
    yield Prompt(title, puzzle.board, about, partial(_answer_puzzle, book, puzzle))


def _answer_puzzle(book: PuzzleBook, puzzle: Puzzle, direction: Direction) -> Feedback:
    """Save an answer to a puzzle. Only the first answer to a puzzle changes the rating."""
    is_first = book.answer(puzzle, direction) is not None
    (now, before), is_solved = [each.rating for each in book.ratings], direction is puzzle.best
    solved = _("solved") if is_solved else _("not solved")
    if not is_solved and puzzle.theme:
        solved = _("not solved: {mistake}").format(mistake=reason_name(puzzle.theme))
    rated = _("your rating is {rating} ({change})") if is_first else _("your rating stays {rating}")
    rated = rated.format(rating=number(now), change=number(now - before, signed=True))
    about = {"solved": is_solved, "theme": puzzle.theme, "your_rating": now}
    return Feedback(puzzle.graded(direction), Unit.POINTS, f"{solved}; {rated}", about)


# Drills offered by a screen


def choice_of(kind: ReasonKind) -> str:
    """Return the id of the drill for a kind of mistake."""
    return f"mistakes {kind}"


def list_offers(session: Session) -> dict[Choice, Callable[[], Drill]]:
    """Return the drills that the player can choose: mistakes by kind, puzzles and endings.

    The functions create the drills. Creating an ending takes a while, and raises `SolvingError` if
    the table cannot be read.

    Raises:
        StorageError: If the session has no store, or the store cannot be read.
    """
    notebook, book = session.notebook(), session.puzzle_book()
    known = notebook.progress()
    due, kept = sum(each.due for each in known), sum(each.mistakes for each in known)
    counts = _("{due} due, {kept} kept").format(due=number(due), kept=number(kept))
    offers: dict[Choice, Callable[[], Drill]] = {
        Choice("mistakes", _("Your mistakes"), counts): partial(mistakes, notebook)
    }
    for each in known:
        if each.theme:
            kind, text = ReasonKind(each.theme), _("{n} due, then puzzles")
            due_text = text.format(n=number(each.due))
            choice = Choice(choice_of(kind), f"  {reason_name(kind)}", due_text)
            offers[choice] = partial(habit, notebook, book, kind)
    rating = _("your rating is {rating}").format(rating=number(book.rating.rating))
    offers[Choice("puzzles", _("Puzzles"), rating)] = partial(puzzles, book, notebook)
    daily = Choice("daily", _("Puzzle of the day"), _("the same for everyone"))
    offers[daily] = lambda: one_puzzle(book, daily_puzzle(today()))
    for name in (path.stem for path in built_tables()):
        title, about = _("Ending {name}").format(name=name), _("with the exact chance of each move")
        offers[Choice(f"ending {name}", title, about)] = partial(ending, name, random_seed())
    return offers


def today() -> date:
    """Return today's date in UTC. It determines the daily puzzle."""
    return datetime.now(UTC).date()


# Running a drill on a screen


class PracticeRun:
    """Runs a drill on a screen, which shows each prompt and then the feedback.

    Args:
        drill: The drill to run.

    Attributes:
        answer: Feedback on the move, or `None` until the player makes a move.
        note: The reason why the last key had no effect, or an empty string.

    Raises:
        StorageError: If the store cannot be read.
    """

    def __init__(self, drill: Drill) -> None:
        self._drill = drill
        self.note = ""
        self._advance()

    def _advance(self) -> None:
        self._current = next(self._drill, DrillEnd(_("all done")))
        self.answer: Feedback | None = None

    @property
    def is_over(self) -> bool:
        """Whether the drill has ended."""
        return isinstance(self._current, DrillEnd)

    def go(self, name: str) -> None:
        """Perform an action of `PRACTICE_ACTIONS`: make a move, or show the next prompt.

        Raises:
            StorageError: If the answer cannot be saved.
        """
        self.note = ""
        if isinstance(self._current, DrillEnd):
            return
        if name == "next":
            if self.answer is None:
                self.note = _("Make a move first.")
            else:
                self._advance()
        elif self.answer is None:
            direction = Direction.parse(name)
            if direction in self._current.board.legal_directions():
                self.answer = self._current.answer(direction)
            else:
                self.note = _("{direction}: nothing moves.").format(direction=name_of(direction))

    @property
    def board(self) -> Board | None:
        """The board to show, or None if the drill has ended without a final board."""
        return self._current.board

    @property
    def title(self) -> str:
        """Heading that names the subject and the progress of the drill."""
        if isinstance(self._current, DrillEnd):
            return _("Done")
        title = ": ".join(filter(None, (self._current.title, self._current.goal)))
        return f"{title[0].upper()}{title[1:]}"

    @property
    def rows(self) -> list[DirectionRow]:
        """The legal directions with their values, best first. Empty until the player moves."""
        return rows_of(self.answer.move, self.answer.unit) if self.answer else []

    @property
    def verdict(self) -> str:
        """The question to the player or, after a move, the move's grade."""
        if self.is_over or self.note:
            return self.note
        return verdict_of(self.answer.move) if self.answer else _("Your move: which is best?")

    @property
    def sentences(self) -> str:
        """Sentences about the answer or, at the end of the drill, the final message."""
        if isinstance(self._current, DrillEnd):
            return sentence(self._current.text)
        if (answer := self.answer) is None:
            return ""
        is_exact = answer.move.source == "exact"
        values = describe_move_review(answer.move, answer.unit, is_exact=is_exact)
        return f"{values} {sentence(answer.then)}"
