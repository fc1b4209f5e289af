"""The content of a review screen.

`GameReview` holds the judged moves and the selected move, and prepares sentences, labels and a
graph. Screens therefore only contain drawing code.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from py2048.app.controller.background import Failure, JobRunner
from py2048.app.session import ReviewUpdate, Session, review_game
from py2048.app.session.session import is_by_computer
from py2048.core.direction import Direction
from py2048.core.errors import RecordError, missing_compiler
from py2048.core.language import _, ngettext
from py2048.core.language import number as written
from py2048.players import Unit
from py2048.presentation import hints, words
from py2048.presentation.motion import BoardTransition, sliding
from py2048.presentation.screen import ListRequest, points
from py2048.presentation.themes import Theme as Look
from py2048.presentation.themes import mixed
from py2048.review import Grade, Judge, MoveReview, Review
from py2048.review.games import moments_of
from py2048.review.levels import LEVELS, Level
from py2048.review.moves import legal_turns

if TYPE_CHECKING:
    from py2048.core.board import Board
    from py2048.core.game import Record
    from py2048.engine.jit.progress import Compiling

PAGE = 10  # Number of moves that Page Up and Page Down skip.

_ARROW_ACTIONS = "previous_mistake", "next_mistake", "back", "forward"
RETRY_DIRECTIONS = dict(zip(_ARROW_ACTIONS, Direction, strict=True)) | {"show_me": Direction.DOWN}
"""Maps actions to directions, so that arrow keys and WASD choose a move during a retry."""

FRAME_S = 0.8
"""Duration of each step of "Show me", in seconds."""

MAX_NAME_LENGTH = 40


class GraphColumn(NamedTuple):
    """A column of the graph.

    Attributes:
        height: Height of the column in pixels or cells, or 0 until a move in it has been judged.
        grade: Grade of the worst mistake in this column, or None if there is none.
        next_height: Height of the line that shows the chance of the second goal, or 0 if the
            review has no goals.
    """

    height: int
    grade: Grade | None
    next_height: int = 0


class Frame(NamedTuple):
    """A step of "Show me".

    Attributes:
        text: The caption.
        transition: The move.
        direction: Direction of the move, or None for the board before the first move.
        fear: Value of the tiles to highlight as being at risk, or None if no tiles are at risk.
    """

    text: str
    transition: BoardTransition
    direction: Direction | None
    fear: int | None


def describe_move_review(move: MoveReview, unit: Unit, *, is_exact: bool) -> str:
    """Describe the values of the best move and of the other moves in sentences."""
    if move.goal:
        return f"{words.outcome_text(move, hints.ranked(move))} {words.reason_text(move)}".rstrip()
    text = _("{direction} is worth {value}.")
    value = value_text(move.values[move.best], unit, is_exact=is_exact)
    best = text.format(direction=words.name_of(move.best), value=value)
    return " ".join([best, *hints.describe_losses(hints.rows_of(move, unit))])


def value_text(value: float, unit: Unit, *, is_exact: bool) -> str:
    """Format the value of a move with as many digits as the judge's precision justifies."""
    if unit is Unit.CHANCE:
        return f"{written(100 * value, 2)} %"
    if unit is Unit.POINTS and not is_exact:
        return hints.points_text(value)
    return written(value, 1)


GRADE_SYMBOLS = dict(zip(Grade, ("✓", "✓", "?!", "?", "??"), strict=True))
"""Chess annotation symbols, which tell grades apart without colour."""


def badge(move: MoveReview) -> str:
    """Return the grade of a move and its loss, such as "Blunder -15 %"."""
    title = words.grade_word(move.grade, 1).capitalize()
    lost = move.loss if move.goal else move.share
    return f"{title} \N{MINUS SIGN}{words.percent(lost)}" if move.grade.is_mistake else title


def headline_of(played: Direction, best: Direction) -> str:
    """Return a sentence with the played move and the best move."""
    if played is best:
        return _("You went {way}, the best move.").format(way=words.way_of(played))
    text = _("You went {way}. {direction} was best.")
    return text.format(way=words.way_of(played), direction=words.name_of(best))


def chance_title(move: MoveReview | None) -> str:
    """Return a heading for the chances, such as "Your chance of 512", or "" without a goal."""
    if move is None or not move.goal:
        return ""
    text = _("Your chance of 20 more moves") if move.survival else _("Your chance of {tile}")
    return text.format(tile=written(move.goal.tile))


def verdict_of(move: MoveReview) -> str:
    """Return a move's grade and loss, followed by its headline."""
    if move.played is move.best or move.grade is Grade.BEST:
        return headline_of(move.played, move.played)
    return f"{badge(move)}. {headline_of(move.played, move.best)}"


def why_of(move: MoveReview) -> str:
    """Explain a mistake by its reason or its cost. Return "" if neither is known."""
    cost = words.outcome_text(move, [move.best, move.played]) if move.goal else ""
    return words.reason_text(move) or cost


def place_text(ply: int, count: int, score: int | None = None) -> str:
    """Return the number and the score of a move, such as "Move 12 of 340, score 1,234"."""
    place = _("Move {ply} of {count}").format(ply=written(ply), count=written(count))
    if score is None:
        return place
    return _("{place}, score {score}").format(place=place, score=written(score))


def sentence(text: str) -> str:
    """Capitalise a clause and end it with a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def grade_colour(grade: Grade, look: Look) -> str:
    """Return the colour of a grade's bar, badge and dots."""
    full = look.danger if grade.is_mistake else look.good
    faint = {Grade.GOOD: 0.45, Grade.INACCURACY: 0.55, Grade.MISTAKE: 0.3}
    return mixed(full, look.panel, faint.get(grade, 0.0))


class GameReview:
    """A review, in progress or complete, and its selected move.

    Args:
        record: The game to review.
        level: Level of the player, or None for perfect play.

    Attributes:
        record: The game.
        asked: The requested level.
        level: Level of the player, or None for perfect play and for rules without levels.
        moves: The moves judged so far. The values may change while more games are simulated.
        index: Index of the selected move.
        judge: The judge, once known.
        review: The complete review, once available.
        progress: Progress message, or an empty string when the review has ended.
        error: The reason why the review failed, as one line.
        note: Text shown after the summary, or an empty string.
        frame: Current step of "Show me", if it is running.
        is_retrying: Whether the player is retrying the move, with the best move hidden.
        changed: Callback, called whenever more moves have been judged.
        levels: Function that returns a dialog for choosing a level. After the player has chosen a
            level, the game is judged again.

    Raises:
        RecordError: If a turn breaks the record's rules or no turn is a legal move.
    """

    def __init__(self, record: Record, level: Level | None = None) -> None:
        self.record = record
        record.verify()
        self._positions = [(at.board, at.score, turn.direction) for at, turn in legal_turns(record)]
        if not self._positions:
            raise RecordError("there is nothing to review: no move was made")
        self.changed: Callable[[], object] = lambda: None
        self.levels: Callable[[], ListRequest] = lambda: ListRequest("", (), lambda _: None)
        self._worker: JobRunner | None = None
        self._on_done: Callable[[Review | None], object] = lambda _: None
        self._reset(level)

    def _reset(self, level: Level | None) -> None:
        self.asked = self.level = level
        self.moves: list[MoveReview] = []
        self.index, self._has_navigated = 0, False
        self.judge: Judge | None = None
        self.review: Review | None = None
        self.progress, self.error, self.note = _("Preparing the review …"), "", ""
        self._leave_move()

    def _leave_move(self) -> None:
        """Leave the modes "Show me" and "Try it again"."""
        self.frame: Frame | None = None
        self._frames: list[Frame] = []
        self.is_retrying, self._answer_text = False, ""

    def __len__(self) -> int:
        """Return the number of moves, including moves that have not been judged yet."""
        return len(self._positions)

    # Background judging

    def start(self, worker: JobRunner, on_done: Callable[[Review | None], object]) -> None:
        """Start judging. `on_done` receives the complete review, or `None` if the review failed.

        If the review is already running, only its callback is replaced.
        """
        self._on_done = on_done
        if self._worker is None:
            self._worker = worker
            self._judge(worker)
        elif not self.is_running:
            on_done(self.review)
            self.changed()

    def restart(self, level: Level | None) -> None:
        """Judge the game again at another level."""
        if level != self.asked and self._worker:
            self.close()
            self._reset(level)
            self._judge(self._worker)
            self.changed()

    def _judge(self, worker: JobRunner) -> None:
        def receive(result: ReviewUpdate | Compiling | Failure) -> None:
            self.receive(result)
            if not self.is_running:
                self._on_done(self.review)
            self.changed()

        worker.run(lambda: review_game(self.record, self.level), receive)

    @property
    def is_running(self) -> bool:
        """Whether moves are still being judged."""
        return bool(self.progress)

    def close(self) -> None:
        """Stop judging."""
        self.progress = ""
        if self._worker:
            self._worker.cancel()

    def receive(self, result: ReviewUpdate | Compiling | Failure) -> None:
        """Add a result of the judge."""
        from py2048.engine.jit.progress import Compiling  # already loaded by the job

        match result:
            case Failure(reason):
                self.progress, self.error = "", reason
            case Judge():
                self.judge = result
            case Review():
                self.review, self.progress = result, ""
                self.moves = [*result.moves]
                self._open_at_costliest()
            case tuple():
                self.add(result)
            case Compiling():
                self.progress = _("The judge is {progress}").format(progress=result)

    def add(self, moves: Sequence[MoveReview]) -> None:
        """Add judged moves. A later judgement of the same move replaces the earlier judgement."""
        is_first_pass = len(self.moves) < len(self)
        for move in moves:
            self.moves[move.ply - 1 : move.ply] = [move]
            if move.goal is None:
                self.level = None
        self._open_at_costliest()
        text = _("{done} of {count} moves judged …")
        if not is_first_pass:
            text = _("All moves judged. Simulating more games …")
        self.progress = text.format(done=written(len(self.moves)), count=written(len(self)))
        if line := missing_compiler():
            self.progress += " " + _("Faster with Numba: {line}").format(line=line)

    def _open_at_costliest(self) -> None:
        """Select the costliest mistake, unless the player has already selected a move."""
        if self._moments and not self._has_navigated:
            self.index = max(self._moments, key=lambda index: self.moves[index].loss)

    @property
    def _moments(self) -> list[int]:
        """Indices of the costliest mistakes, in game order."""
        return [move.ply - 1 for move in moments_of(self.moves)]

    # Navigation

    def seek(self, index: int) -> None:
        """Select a move. An index out of range selects the first or the last move."""
        self._has_navigated = True
        self._leave_move()
        self.index = min(max(index, 0), len(self) - 1)

    def go(self, name: str) -> None:
        """Perform one of the `REVIEW_ACTIONS`, except those that leave the review."""
        if self.is_retrying and name in RETRY_DIRECTIONS:
            self.answer(RETRY_DIRECTIONS[name])
        elif name == "retry":
            self._retry()
        elif name == "show_me":
            self._show_me()
        else:
            self._step(name)

    def _step(self, name: str) -> None:
        here, mistakes = self.index, self._moments
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

    # Try it again

    def _retry(self) -> None:
        """Hide the best move until the player finds it, or show a hidden best move."""
        is_retrying = self.move is not None and not self.is_retrying
        self._leave_move()
        self.is_retrying, self._has_navigated = is_retrying, True

    def answer(self, direction: Direction) -> None:
        """Try another direction. Ignored unless the player is retrying a mistake."""
        move = self.move
        if not self.is_retrying or move is None:
            return
        row = next((row for row in self._rows if row.direction is direction), None)
        if row is None:
            self._answer_text = _("{direction}: nothing moves.")
        elif row.is_best or (move.goal and row.grade is Grade.BEST):
            self.is_retrying = False
            self._answer_text = _("Yes, {direction} is the better move.")
            if direction is move.played:
                self._answer_text = _("Yes, {direction} is as good as any move.")
        elif row.chance:
            self._answer_text = _("{direction}: {chance}. Another move is better.")
        else:
            self._answer_text = _("{direction} loses {loss}. Another move is better.")
        chance, loss = (row.chance, row.loss or written(0)) if row else ("", "")
        self._answer_text = self._answer_text.format(
            direction=words.name_of(direction), chance=chance, loss=loss
        )

    # Show me

    def _show_me(self) -> None:
        """Animate typical continuations after the best move and the played move."""
        self._leave_move()
        if self.move:
            self._has_navigated = True
            self._frames = [*self._line(self.move, self.move.best)]
            if self.move.played is not self.move.best:
                self._frames += self._line(self.move, self.move.played)
            self.advance()

    def _line(self, move: MoveReview, direction: Direction) -> Iterator[Frame]:
        from py2048.review.playouts import typical_line  # slow: imports NumPy

        fear = move.reason.tile if move.reason else None
        text = _("Typical moves after {direction}.").format(direction=words.name_of(direction))
        if fear:
            text += " " + _("Keep an eye on the {tile}.").format(tile=written(fear))
        yield Frame(text, BoardTransition((), move.board), None, fear)
        level = self.level or LEVELS[-1]
        for turn in typical_line(self.record.rules, move.board, direction, level):
            yield Frame(text, sliding(turn.slide, turn.board), turn.direction, fear)

    def advance(self) -> bool:
        """Go to the next step of "Show me", or return False at the end."""
        self.frame = self._frames.pop(0) if self._frames else None
        return self.frame is not None

    # The current move

    @property
    def board(self) -> Board:
        """Board before the selected move."""
        return self._positions[self.index][0]

    @property
    def played(self) -> Direction:
        """Direction that was played."""
        return self._positions[self.index][2]

    @property
    def move(self) -> MoveReview | None:
        """Review of the selected move, or None until the move is judged."""
        return self.moves[self.index] if self.index < len(self.moves) else None

    @property
    def unit(self) -> Unit:
        """Unit of the values."""
        if self.level:
            return Unit.CHANCE
        return self.judge.unit if self.judge else Unit.POINTS

    @property
    def accuracy(self) -> str:
        """Accuracy of the whole game, or "…" until the review is complete."""
        return words.accuracy_text(self.review.accuracy) if self.review else "…"

    @property
    def accuracy_note(self) -> str:
        """One line that explains the accuracy."""
        return words.accuracy_note(self.review.accuracy) if self.review else ""

    @property
    def level_title(self) -> str:
        """The level whose chances are shown."""
        return _("Level: {level}").format(level=words.level_name(self.level))

    @property
    def habits(self) -> list[str]:
        """The player's habits, costliest first. Empty until the review is complete."""
        return [*map(words.habit_text, self.review.habits)] if self.review else []

    @property
    def _rows(self) -> list[hints.DirectionRow]:
        return hints.rows_of(self.move, self.unit) if self.move else []

    @property
    def rows(self) -> list[hints.DirectionRow]:
        """The legal directions with their values, best first. Empty if unknown or hidden."""
        return [] if self.is_retrying else self._rows

    @property
    def marks(self) -> tuple[Direction | None, Direction | None]:
        """The directions to mark on the board: the best one and the one that was played."""
        if self.is_retrying or self.frame:
            return None, None
        return self.move.best if self.move else None, self.played

    @property
    def badge(self) -> str:
        """Grade and loss of the move, such as "Blunder -15 %". Empty if unknown or hidden."""
        return badge(self.move) if self.move and not self.is_retrying else ""

    @property
    def headline(self) -> str:
        """The played move and, when the move has been judged, the best move."""
        if self.move is None:
            return _("You went {way}.").format(way=words.way_of(self.played))
        is_best = self.move.grade is Grade.BEST
        return headline_of(self.move.played, self.move.played if is_best else self.move.best)

    @property
    def why(self) -> str:
        """Explanation of the selected move if it is a mistake. Otherwise empty."""
        move = self.move
        return why_of(move) if move and move.goal and move.grade.is_mistake else ""

    @property
    def rows_title(self) -> str:
        """Title for the probabilities in `rows`. Empty if `rows` shows no probabilities."""
        return "" if self.is_retrying else chance_title(self.move)

    @property
    def message(self) -> str:
        """The main text about the selected move or the current step of "Show me"."""
        if self.frame:
            return self.frame.text
        if self.is_retrying:
            return self._answer_text or _("Your move. Which way is best?")
        return " ".join(filter(None, [self._answer_text or self.headline, self.why]))

    @property
    def chances(self) -> float | None:
        """Value of the best move, as a probability or as a share of the game's highest value."""
        if self.move is None:
            return None
        top = 1.0
        if self.unit is not Unit.CHANCE:
            top = max(move.values[move.best] for move in self.moves)
        return min(max(self.move.values[self.move.best] / top, 0.0), 1.0) if top > 0 else 0.0

    @property
    def counts(self) -> dict[Grade, int]:
        """Number of judged moves per grade, best grade first."""
        return {grade: sum(move.grade is grade for move in self.moves) for grade in Grade}

    @property
    def luck(self) -> str:
        """Luck in the game, such as "luck: very bad", or "" until it is known."""
        luck = words.luck_word(self.review.luck, self.review.swing) if self.review else ""
        return luck and _("luck: {luck}").format(luck=luck)

    @property
    def state(self) -> str:
        """Message about the review's progress, failure or completion."""
        return self.progress or self.error or self.note

    @property
    def place(self) -> str:
        """Number and score of the selected move, such as "Move 12 of 340, score 1,234"."""
        return place_text(self.index + 1, len(self), self._positions[self.index][1])

    @property
    def sentences(self) -> str:
        """Sentences that describe the selected move."""
        parts = [f"{self.place}."]
        if self.move is None:
            text = _("{direction} was played.")
            parts.append(text.format(direction=words.name_of(self.played)))
        else:
            parts.append(verdict_of(self.move))
            is_exact = self.judge is not None and self.judge.is_exact
            parts.append(describe_move_review(self.move, self.unit, is_exact=is_exact))
        return " ".join(parts)

    @property
    def summary(self) -> str:
        """Sentences that summarise the review, or report its progress until it is complete."""
        if self.review is None:
            return self.progress or self.error
        lines = [*words.describe_review(self.review, brief=True), *filter(None, [self.note])]
        return " ".join(map(sentence, lines))

    # The graph

    @property
    def graph_title(self) -> str:
        """Description of the graph."""
        if self.level:
            return _("Your chance of the next two tiles")
        return _("Chance") if self.unit is Unit.CHANCE else _("Points still to come")

    @property
    def graph_note(self) -> str:
        """Chances of reaching the next two goals, such as "512: 62 %, 1024: 8 %"."""
        return words.goals_text(self.move) if self.move else ""

    def graph(self, width: int, height: int) -> list[GraphColumn]:
        """Return a graph of the best move's value over the game.

        The vertical axis runs from 0 to 1 for probabilities, and from the lowest to the highest
        value for points.

        Args:
            width: Number of columns in the graph.
            height: Height of the largest value.
        """
        values = [move.values[move.best] for move in self.moves]
        nexts = [move.next_values.get(move.best, 0.0) for move in self.moves]
        low, top = 0.0, 1.0
        if values and self.unit is not Unit.CHANCE:
            low, top = min(values), max(values)
        scale = height / (top - low or 1.0)
        columns = []
        for column in range(width):
            first = self.place_at(column, width)
            moves = slice(first, max(first + 1, self.place_at(column + 1, width)))
            shown, grades = values[moves], [move.grade for move in self.moves[moves]]
            mean = sum(shown) / len(shown) if shown else low
            worst = max(grades, key=_GRADES.index, default=Grade.BEST)
            filled = max(1, round(scale * (mean - low))) if shown else 0
            later = round(height * sum(nexts[moves]) / len(shown)) if shown else 0
            is_first = not column or self.place_at(column - 1, width) != first
            is_marked = is_first and worst.is_mistake
            columns.append(GraphColumn(filled, worst if is_marked else None, later))
        return columns

    def place_at(self, column: int, width: int) -> int:
        """Return the index of the first move that a column of the graph represents."""
        return column * len(self) // width

    def column(self, width: int) -> int:
        """Return the selected move's column in a graph with `width` columns."""
        return ((self.index + 1) * width - 1) // len(self)


_GRADES = list(Grade)


def keep_mistakes(session: Session, review: Review) -> str:
    """Save the mistakes of the player's finished game, and return a message for the summary.

    Raises:
        StorageError: If the mistakes cannot be saved.
    """
    if not session.keeps_games or is_by_computer(review.record):
        return ""
    count = session.notebook().keep(review)
    text = ngettext("{n} new in your notebook", "{n} new in your notebook", count)
    return text.format(n=written(count)) if count else ""


def record_title(record: Record) -> str:
    """Return a one-line title: rules, score, player and date."""
    day = f", {record.finished[:10]}" if record.finished else ""
    text = _("{rules}, {points}, by {player}")
    player = _player_name(record) or _("a person")
    return text.format(rules=record.rules.name, points=points(record.score), player=player) + day


def _player_name(record: Record) -> str:
    """Shorten the player's name and remove control characters, because records may be untrusted."""
    name = " ".join("".join(each if each.isprintable() else " " for each in record.player).split())
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[:MAX_NAME_LENGTH]}…"
