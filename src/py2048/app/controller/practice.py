"""Practice: your mistakes when they are due, endings against their table, puzzles.

A `Drill` asks for moves and says what they were worth; the command ``practice`` and the screens
go through the same ones, the screens by a `PracticeRun`, which has a place in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING

from py2048.app.controller.review import describe_move_review, verdict_of
from py2048.app.session.notebook import MAX_RATING, Exercise, Notebook, PuzzleBook
from py2048.core.direction import Direction
from py2048.core.folders import built_tables
from py2048.core.language import N_, _, ngettext, number
from py2048.core.rng import random_seed
from py2048.players import Unit
from py2048.presentation.hints import DirectionRow, direction_rows, name_of
from py2048.presentation.screen import Choice, title_of
from py2048.presentation.words import mistake_name, way_of
from py2048.review import MoveReview
from py2048.review.mistakes import MistakeKind
from py2048.review.puzzles import Puzzle, daily_puzzle

if TYPE_CHECKING:
    from py2048.app.session import Session
    from py2048.core.board import Board
    from py2048.review.endings import EndingPractice

MAX_DUE = 20
"""How many mistakes are practised at a time, unless another number is given."""

HOW_TO_KEEP = N_("review a finished game on a screen, or by py2048 review FILE --notebook")
ALL_ANSWERED = N_("you have answered every such puzzle")


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

    @property
    def is_exact(self) -> bool:
        """Whether its values are exact."""
        return self.move.source == "exact"


@dataclass(frozen=True, slots=True)
class Question:
    """A position, and which move is asked for.

    Attributes:
        title: what people read above the board.
        board: the position.
        about: what programs read of it.
        answer: answers with a legal direction; raises a `StorageError` if that cannot be kept.
        goal: what people are told before the first question; may be empty.
    """

    title: str
    board: Board
    about: Mapping[str, object]
    answer: Callable[[Direction], Answer]
    goal: str = ""


@dataclass(frozen=True, slots=True)
class Closing:
    """What is said when nothing more is asked.

    Attributes:
        text: for people.
        about: the same for programs, if there is something.
        board: the last board, if there is one to be shown.
    """

    text: str
    about: Mapping[str, object] | None = None
    board: Board | None = None


Drill = Iterator[Question | Closing]
"""Questions, each to be answered before the next is taken, and last a closing if there is one."""


def mistakes(notebook: Notebook, theme: MistakeKind | None = None, count: int = MAX_DUE) -> Drill:
    """Ask for the mistakes that are due, due longest first.

    Args:
        notebook: where they are.
        theme: only mistakes of this theme.
        count: the most that are asked for.

    Raises:
        StorageError: if the notebook cannot be read.
    """
    due = notebook.due(theme, limit=count)
    for place, exercise in enumerate(due, start=1):
        title = _("mistake {n} of {count}, {board}").format(
            n=place, count=len(due), board=title_of(exercise.rules.name, exercise.rules.shape)
        )
        about = {"rules": str(exercise.rules), "box": exercise.box}
        answer = partial(_answer_mistake, notebook, exercise)
        yield Question(title, exercise.board, about, answer)
    if not due:
        yield Closing(_nothing_due(notebook, theme))


def _answer_mistake(notebook: Notebook, exercise: Exercise, direction: Direction) -> Answer:
    """Note the answer, and say when the mistake comes back."""
    move, later = notebook.answer(exercise, direction)
    before, kind, days = exercise.played, exercise.theme, later.days
    text = ngettext(
        "in your game you went {direction} ({mistake}); it comes again in {n} day",
        "in your game you went {direction} ({mistake}); it comes again in {n} days",
        days,
    )
    then = text.format(direction=way_of(before), mistake=mistake_name(kind), n=number(days))
    about = {"before": str(before), "theme": kind.value, "days": later.days}
    return Answer(move, exercise.unit, then, about)


def _nothing_due(notebook: Notebook, theme: MistakeKind | None) -> str:
    known = [each for each in notebook.progress() if theme is None or each.theme == theme.value]
    if not known:
        none = _("no mistakes are kept: {how}")
        none = _("no mistakes of this kind are kept: {how}") if theme else none
        return none.format(how=_(HOW_TO_KEEP))
    first = min(each.next_due for each in known)
    return _("nothing is due; the next mistake comes back on {day}").format(day=first[:10])


def ending(name: str, seed: int) -> Drill:
    """Deal an ending of a table, to be played move by move.

    Args:
        name: the table, as for `py2048.players.solving.tables.load_table`.
        seed: deals the ending.

    Raises:
        SolvingError: if there is no such table.
    """
    from py2048.players.solving.tables import load_table
    from py2048.review.endings import EndingPractice  # NumPy comes with these

    return _play_ending(EndingPractice.deal(load_table(name), seed), seed)


def _play_ending(practice: EndingPractice, seed: int) -> Drill:
    table, game = practice.table, practice.game

    def answer(direction: Direction) -> Answer:
        """Play a move, and say what the new tile leaves of the chance."""
        move, chance = practice.play(direction), practice.chance
        then = _("after the new tile the chance is {share} %").format(share=number(100 * chance, 4))
        return Answer(move, Unit.CHANCE, then, {"chance": chance})

    text = _("make {tile} beside the {count} large tiles; seed {seed}")
    goal = text.format(tile=table.target, count=table.formation.larges, seed=seed)
    while not practice.is_over:
        ply = game.ply + 1
        about = {"table": table.name, "seed": seed, "move": ply}
        title = _("{ending}, move {n}").format(ending=table.name, n=ply)
        yield Question(title, game.board, about, answer, goal)
    made = _("{tile} is made; you began with a chance of {start} % and kept {kept} % of it")
    lost = _("{tile} is out of reach; you began with a chance of {start} % and kept {kept} % of it")
    start, kept = number(100 * practice.start, 4), number(100 * practice.kept, 2)
    yield Closing(
        (made if practice.is_made else lost).format(tile=table.target, start=start, kept=kept),
        {"made": practice.is_made, "start": practice.start, "kept": practice.kept},
        game.board,
    )


def puzzles(book: PuzzleBook, low: int = 0, high: int = MAX_RATING) -> Drill:
    """Ask for puzzles near the player's rating, which are rated from `low` to `high`."""
    for puzzle in iter(partial(book.next, low, high), None):
        yield from one_puzzle(book, puzzle)
    yield Closing(_(ALL_ANSWERED))


def one_puzzle(book: PuzzleBook, puzzle: Puzzle) -> Iterator[Question]:
    """Ask for one puzzle."""
    title = _("puzzle {id}, rated {rating}, {board}").format(
        id=puzzle.id,
        rating=number(puzzle.rating),
        board=title_of(puzzle.rules.name, puzzle.rules.shape),
    )
    about = {"puzzle": puzzle.id, "rating": puzzle.rating, "rules": str(puzzle.rules)}
    yield Question(title, puzzle.board, about, partial(_answer_puzzle, book, puzzle))


def _answer_puzzle(book: PuzzleBook, puzzle: Puzzle, direction: Direction) -> Answer:
    """Note the answer; the first one to a puzzle changes the rating."""
    before = book.rating.rating
    is_first = book.answer(puzzle, direction) is not None
    now, is_solved = book.rating.rating, direction is puzzle.best
    solved = _("solved") if is_solved else _("not solved")
    if not is_solved and puzzle.theme is not MistakeKind.OTHER:
        solved = _("not solved: {mistake}").format(mistake=mistake_name(puzzle.theme))
    rated = _("your rating is {rating} ({change})") if is_first else _("your rating stays {rating}")
    rated = rated.format(rating=number(now), change=number(now - before, signed=True))
    about = {"solved": is_solved, "theme": puzzle.theme.value, "your_rating": now}
    then = f"{solved}; {rated}"
    return Answer(puzzle.graded(direction), Unit.POINTS, then, about)


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
    themes, endings = list[Choice](), list[Choice]()
    for each in filter(lambda one: one.due, known):
        title, n = f"  {mistake_name(MistakeKind(each.theme))}", number(each.due)
        themes.append(Choice(f"{MISTAKES} {each.theme}", title, _("{n} due").format(n=n)))
    for name in (path.stem for path in built_tables()):
        title, about = _("Ending {name}").format(name=name), _("with the true chance of every move")
        endings.append(Choice(f"{ENDING} {name}", title, about))
    counts = _("{due} due, {kept} kept").format(due=number(due), kept=number(kept))
    rating = _("your rating is {rating}").format(rating=number(book.rating.rating))
    return [
        Choice(MISTAKES, _("Your mistakes"), counts),
        *(themes if len(themes) > 1 else []),
        Choice(PUZZLES, _("Puzzles"), rating),
        Choice(DAILY, _("Puzzle of the day"), _("the same for everyone")),
        *endings,
    ]


def drill_of(session: Session, choice: str) -> Drill:
    """Return the drill of an offer, by its `choice`; an ending takes some time.

    Raises:
        StorageError: if the store cannot be read.
        SolvingError: if a table cannot be.
    """
    kind, _space, name = choice.partition(" ")
    match kind:
        case "mistakes":
            return mistakes(session.notebook(), MistakeKind(name) if name else None)
        case "ending":
            return ending(name, random_seed())
        case "daily":
            return one_puzzle(session.puzzle_book(), daily_puzzle(today()))
        case _:
            return puzzles(session.puzzle_book())


def today() -> date:
    """Return the day of the daily puzzle, in UTC."""
    return datetime.now(UTC).date()


# A drill on a screen

YOUR_MOVE = N_("Your move: which is best?")


class PracticeRun:
    """A drill as a screen shows it: a question, then its answer, until nothing more is asked.

    Args:
        drill: the drill.

    Attributes:
        answer: what the move was worth, once it is made.
        note: why the last key did nothing; or empty.

    Raises:
        StorageError: if the store cannot be read.
    """

    def __init__(self, drill: Drill) -> None:
        self._drill = drill
        self.note = ""
        self._ask()

    def _ask(self) -> None:
        self._shown = next(self._drill, Closing(_("that was all")))
        self.answer: Answer | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more is asked."""
        return isinstance(self._shown, Closing)

    def go(self, name: str) -> None:
        """Do what an action of `PRACTICE_ACTIONS` says: a move, or the next question.

        Raises:
            StorageError: if the answer cannot be kept.
        """
        self.note = ""
        if isinstance(self._shown, Closing):
            return
        if name == "next":
            if self.answer is None:
                self.note = _("Make a move first.")
            else:
                self._ask()
        elif self.answer is None:
            direction = Direction.parse(name)
            if direction in self._shown.board.legal_directions():
                self.answer = self._shown.answer(direction)
            else:
                self.note = _("{direction}: nothing moves.").format(direction=name_of(direction))

    # What stands here

    @property
    def board(self) -> Board | None:
        """The position; at the end the last one, if there is one."""
        return self._shown.board

    @property
    def title(self) -> str:
        """What is practised, and where this is."""
        if isinstance(self._shown, Closing):
            return _("Done")
        title = ": ".join(filter(None, (self._shown.title, self._shown.goal)))
        return f"{title[0].upper()}{title[1:]}"

    @property
    def rows(self) -> list[DirectionRow]:
        """What each direction was worth, the best first; empty until the move is made."""
        if self.answer is None:
            return []
        move = self.answer.move
        return direction_rows(move.values, move.best, self.answer.unit, move.played)

    @property
    def verdict(self) -> str:
        """What is asked, or the grade of the move in a few words."""
        if self.is_over:
            return ""
        return self.note or (verdict_of(self.answer.move) if self.answer else _(YOUR_MOVE))

    @property
    def sentences(self) -> str:
        """What the moves were worth and what follows, or what is said at the end."""
        if isinstance(self._shown, Closing):
            return _sentence(self._shown.text)
        if (answer := self.answer) is None:
            return ""
        said = describe_move_review(answer.move, answer.unit, is_exact=answer.is_exact)
        return f"{said} {_sentence(answer.then)}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
