"""`GameReview`: the review of a game as a screen shows it.

It holds the moves that are judged so far and a place among all moves, and says what stands there:
sentences, short texts, and a graph scaled to the pixels or cells of a screen. Screens only draw.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from py2048.app.controller.background import Failure, Worker
from py2048.app.session import Session, is_by_computer, name_of, review_game
from py2048.core.direction import Direction
from py2048.core.errors import RecordError, missing_compiler
from py2048.core.language import N_, _, ngettext
from py2048.core.language import number as written
from py2048.players import Unit
from py2048.presentation.hints import DirectionRow, describe_losses, direction_rows, points_text
from py2048.presentation.hints import name_of as direction_name
from py2048.presentation.screen import points
from py2048.presentation.themes import Theme as Look
from py2048.presentation.themes import mixed
from py2048.presentation.words import describe_review, luck_word, mistake_reason, percent, way_of
from py2048.review import Grade, Judge, MoveReview, Review
from py2048.review.mistakes import MistakeKind, mistake_kind

if TYPE_CHECKING:
    from py2048.app.session import ReviewUpdate
    from py2048.core.board import Board
    from py2048.core.game import Record
    from py2048.engine.jit.progress import Compiling

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


def describe_move_review(move: MoveReview, unit: Unit, *, is_exact: bool) -> str:
    """Return what the best move was worth and what the others lose, as sentences."""
    text = _("{direction} is worth {value}.")
    value = value_text(move.values[move.best], unit, is_exact=is_exact)
    worth = text.format(direction=direction_name(move.best), value=value)
    rows = direction_rows(move.values, move.best, unit, move.played)
    return " ".join([worth, *describe_losses(rows)])


def value_text(value: float, unit: Unit, *, is_exact: bool) -> str:
    """Return what a move is worth, with no more digits than can be relied on."""
    if unit is Unit.CHANCE:
        return f"{written(100 * value, 2)} %"
    if unit is Unit.POINTS and not is_exact:
        return points_text(value)
    return written(value, 1)


GRADE_SYMBOLS = dict(zip(Grade, ("✓", "✓", "?!", "?", "??"), strict=True))
"""The grades as chess writes them, so that none depends on a colour."""

_TITLES = N_("Best"), N_("Good"), N_("Inaccuracy"), N_("Mistake"), N_("Blunder")
GRADE_TITLES = dict(zip(Grade, _TITLES, strict=True))
"""The grades as they stand alone, to be translated."""


def badge_of(grade: Grade, share: float) -> str:
    """Return the grade of a move and the share of the chances that it lost: "Blunder -15 %"."""
    title = _(GRADE_TITLES[grade])
    return f"{title} \N{MINUS SIGN}{percent(share)}" if grade.is_mistake else title


def headline_of(played: Direction, best: Direction) -> str:
    """Return what was played and what was best: "You went left. Down was best."."""
    if played is best:
        return _("You went {way}, the best move.").format(way=way_of(played))
    text = _("You went {way}. {direction} was best.")
    return text.format(way=way_of(played), direction=direction_name(best))


def verdict_of(move: MoveReview) -> str:
    """Return the grade of a move and what was best: "Blunder -15 %. You went left. …"."""
    if move.grade is Grade.BEST:
        return headline_of(move.played, move.played)
    return f"{badge_of(move.grade, move.share)}. {headline_of(move.played, move.best)}"


def why_better(kind: MistakeKind) -> str:
    """Return what made the best move better, as a sentence."""
    reason = mistake_reason(kind)
    return f"{reason[0].upper()}{reason[1:]}."


def grade_colour(grade: Grade, look: Look) -> str:
    """Return the colour of a grade: its bar, its badge and its dots; a word goes with it."""
    full = look.danger if grade.is_mistake else look.good
    faint = {Grade.GOOD: 0.45, Grade.INACCURACY: 0.55, Grade.MISTAKE: 0.3}
    return mixed(full, look.panel, faint.get(grade, 0.0))


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
        self.index, self._has_walked = 0, False
        self.judge: Judge | None = None
        self.review: Review | None = None
        self.progress, self.error, self.note = _("Preparing the review …"), "", ""
        self.changed: Callable[[], object] = lambda: None
        self._stop: Callable[[], object] = lambda: None
        self._keep: Callable[[Review | None], object] | None = None

    def __len__(self) -> int:
        """Return the number of moves, judged or not."""
        return len(self._positions)

    # Judging, in the background

    def start(self, worker: Worker, keep: Callable[[Review | None], object]) -> None:
        """Let a worker judge the moves; `keep` gets the whole review, or `None` if it failed.

        Where the review has been started, it continues, and tells this `keep`.
        """
        was_started, self._keep = self._keep is not None, keep
        if was_started:
            if not self.is_running:
                keep(self.review)
                self.changed()
            return

        def take(answer: ReviewUpdate | Compiling | Failure) -> None:
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

    def take(self, answer: ReviewUpdate | Compiling | Failure) -> None:
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
                self.progress = _("The judge is {progress}").format(progress=compiling)

    def add(self, moves: Sequence[MoveReview]) -> None:
        """Add the next moves that are judged."""
        for move in moves:
            if move.grade.is_mistake:
                if not self._mistakes and not self._has_walked:  # it opens at the first mistake
                    self.index = len(self.moves)
                self._mistakes.append(len(self.moves))
            self.moves.append(move)
        text = _("{done} of {count} moves are judged …")
        self.progress = text.format(done=written(len(self.moves)), count=written(len(self)))
        if line := missing_compiler():
            self.progress += " " + _("Faster with Numba: {line}").format(line=line)

    # Walking

    def seek(self, index: int) -> None:
        """Go to a move, or the nearest there is."""
        self._has_walked = True
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
        """The accuracy of the whole game, 0 to 100; None until all moves are judged."""
        return self.review.accuracy if self.review else None

    @property
    def rows(self) -> list[DirectionRow]:
        """The legal directions, the best first; empty until the move is judged."""
        move = self.move
        return direction_rows(move.values, move.best, self.unit, move.played) if move else []

    @property
    def badge(self) -> str:
        """The grade of the move and what it lost: "Blunder -15 %"; empty until it is judged."""
        return badge_of(self.move.grade, self.move.share) if self.move else ""

    @property
    def headline(self) -> str:
        """What was played and what was best; until it is judged, what was played."""
        if self.move is None:
            return _("You went {way}.").format(way=way_of(self.played))
        is_best = self.move.grade is Grade.BEST
        return headline_of(self.move.played, self.move.played if is_best else self.move.best)

    @property
    def why(self) -> str:
        """What made the best move better, as a sentence; empty unless it was a mistake."""
        move = self.move
        if move is None or not move.grade.is_mistake:
            return ""
        return why_better(mistake_kind(self.record.rules, move.board, move.played, move.best))

    @property
    def chances(self) -> float | None:
        """What is to come, as a share of the most in the game, or the chance itself."""
        if self.move is None:
            return None
        values = (move.values[move.best] for move in self.moves)
        most = 1.0 if self.unit is Unit.CHANCE else max(values)
        return min(max(self.move.values[self.move.best] / most, 0.0), 1.0) if most > 0 else 0.0

    @property
    def counts(self) -> dict[Grade, int]:
        """How many of the judged moves have each grade, the best first."""
        return {grade: sum(move.grade is grade for move in self.moves) for grade in Grade}

    @property
    def luck(self) -> str:
        """The luck of the whole game in words: "a little bad"; empty until that is known."""
        return luck_word(self.review.luck, self.review.swing) if self.review else ""

    @property
    def place_title(self) -> str:
        """Where this is: "Move 12 of 340"."""
        ply, count = written(self.index + 1), written(len(self))
        return _("Move {ply} of {count}").format(ply=ply, count=count)

    @property
    def place(self) -> str:
        """Where this is: "Move 12 of 340, score 1,234"."""
        text = _("{place}, score {score}")
        return text.format(place=self.place_title, score=written(self.score))

    @property
    def sentences(self) -> str:
        """All that stands here, as sentences."""
        said = [f"{self.place}."]
        if self.move is None:
            said.append(_("{direction} was played.").format(direction=direction_name(self.played)))
        else:
            said.append(verdict_of(self.move))
            said.append(describe_move_review(self.move, self.unit, is_exact=self.is_exact))
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
        """Return the graph of what was still to come before each move: points, or a chance.

        Chances are drawn from 0 to 1, all else in the range of the game itself.

        Args:
            width: how many columns it has; the whole game always fills them.
            height: how high its highest value stands.
        """
        values = [move.values[move.best] for move in self.moves]
        low, top = 0.0, 1.0
        if values and self.unit is not Unit.CHANCE:
            low, top = min(values), max(values)
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
    text = ngettext("{n} new in your notebook", "{n} new in your notebook", count)
    return text.format(n=written(count)) if count else ""


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
    by = name_of(record) or _("a person")
    text = _("{rules}, {points}, by {player}")
    return text.format(rules=record.rules.name, points=points(record.score), player=by) + day
