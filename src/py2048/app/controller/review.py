"""`GameReview`, which prepares the review of a game for a screen.

It holds the moves judged so far and the currently selected move. It provides sentences, short
labels, and a graph scaled to the pixels or cells of a screen, so that a screen only has to draw
them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
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

if TYPE_CHECKING:
    from py2048.core.board import Board
    from py2048.core.game import Record
    from py2048.engine.jit.progress import Compiling

PAGE = 10  # moves skipped by Page Up and Page Down

_ARROW_ACTIONS = "previous_mistake", "next_mistake", "back", "forward"
RETRY_DIRECTIONS = dict(zip(_ARROW_ACTIONS, Direction, strict=True)) | {"show_me": Direction.DOWN}
"""Directions by action: while a mistake is retried, the arrow keys and WASD try a move."""

FRAME_S = 0.8
"""Duration of a move of "Show me", in seconds."""

MAX_NAME_LENGTH = 40


class GraphColumn(NamedTuple):
    """A column of the graph.

    Attributes:
        height: Height of the column in pixels or cells; 0 if none of its moves is judged yet.
        grade: Grade of the worst mistake among the moves that start in this column, if any.
        next_height: Height of the chance of the goal after the next one; 0 without goals.
    """

    height: int
    grade: Grade | None
    next_height: int = 0


class Frame(NamedTuple):
    """A step of "Show me".

    Attributes:
        text: What is shown.
        transition: The move.
        direction: Direction of the move; None for the board before the first one.
        fear: Tile to keep an eye on, if any.
    """

    text: str
    transition: BoardTransition
    direction: Direction | None
    fear: int | None


def describe_move_review(move: MoveReview, unit: Unit, *, is_exact: bool) -> str:
    """Describe in sentences what the best move and the other moves are worth."""
    if move.goal:
        ranked = sorted(move.values, key=lambda each: (each is not move.best, -move.values[each]))
        reason = words.reason_text(move.reason, move.played, move.best) if move.reason else ""
        return f"{words.outcome_text(move, ranked)} {reason}".rstrip()
    text = _("{direction} is worth {value}.")
    value = value_text(move.values[move.best], unit, is_exact=is_exact)
    best = text.format(direction=words.name_of(move.best), value=value)
    rows = hints.direction_rows(move.values, move.best, unit, move.played)
    return " ".join([best, *hints.describe_losses(rows)])


def value_text(value: float, unit: Unit, *, is_exact: bool) -> str:
    """Format a move's value with as many digits as are reliable."""
    if unit is Unit.CHANCE:
        return f"{written(100 * value, 2)} %"
    if unit is Unit.POINTS and not is_exact:
        return hints.points_text(value)
    return written(value, 1)


GRADE_SYMBOLS = dict(zip(Grade, ("✓", "✓", "?!", "?", "??"), strict=True))
"""Chess annotation symbols, so that grades can be told apart without colour."""


def badge(move: MoveReview) -> str:
    """Return the grade of a move and the chance or share of points lost: "Blunder -15 %"."""
    title = words.grade_word(move.grade, 1).capitalize()
    lost = move.loss if move.goal else move.share
    return f"{title} \N{MINUS SIGN}{words.percent(lost)}" if move.grade.is_mistake else title


def headline_of(played: Direction, best: Direction) -> str:
    """Return a sentence that says which move was played and which was best."""
    if played is best:
        return _("You went {way}, the best move.").format(way=words.way_of(played))
    text = _("You went {way}. {direction} was best.")
    return text.format(way=words.way_of(played), direction=words.name_of(best))


def chance_title(move: MoveReview | None) -> str:
    """Return the title of the chances, such as "Your chance of 512"; empty without a goal."""
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
    """Return the reason why a move was a mistake, or else what it costs; empty if unknown."""
    if move.reason:
        return words.reason_text(move.reason, move.played, move.best)
    return words.outcome_text(move, [move.best, move.played]) if move.goal else ""


def place_text(ply: int, count: int, score: int | None = None) -> str:
    """Return a position in a game: "Move 12 of 340", or "Move 12 of 340, score 1,234"."""
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
    """A review in progress, and the currently selected move.

    Args:
        record: The game to review.
        level: Level of the player; None for perfect play.

    Attributes:
        record: The game.
        asked: The requested level.
        level: Level of the player; None for perfect play, also where no level can be judged.
        moves: Moves judged so far; more games may still change their chances.
        index: Index of the selected move.
        judge: The judge, once known.
        review: The complete review, once available.
        progress: Progress message; empty once the review has ended.
        error: One-line reason why the review failed.
        note: Text shown after the summary; may be empty.
        frame: Current step of "Show me", if it is running.
        is_retrying: Whether the player is looking for a better move; the answer is hidden.
        changed: Called when more moves have been judged.
        levels: Returns the levels to choose from; a choice judges the game again.

    Raises:
        RecordError: If a turn breaks the record's rules or no turn is a legal move.
    """

    def __init__(self, record: Record, level: Level | None = None) -> None:
        self.record = record
        self._positions = _positions(record)
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
        """End "Show me" and "Try it again"."""
        self.frame: Frame | None = None
        self._frames: list[Frame] = []
        self.is_retrying, self._answer_text = False, ""

    def __len__(self) -> int:
        """Return the number of moves, including unjudged ones."""
        return len(self._positions)

    # Background judging

    def start(self, worker: JobRunner, on_done: Callable[[Review | None], object]) -> None:
        """Start judging; `on_done` receives the complete review, or `None` if it failed.

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
        """Judge the game again, for another level."""
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

    @property
    def is_usable(self) -> bool:
        """Whether the complete review is available or in progress."""
        return self.is_running or self.review is not None

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
        """Add judged moves, or replace them by judgements from more games."""
        is_first_pass = len(self.moves) < len(self)
        for move in moves:
            self.moves[move.ply - 1 : move.ply] = [move]
            if move.goal is None:
                self.level = None
        self._open_at_costliest()
        text = _("{done} of {count} moves are judged …")
        if not is_first_pass:
            text = _("All moves are judged; playing more games …")
        self.progress = text.format(done=written(len(self.moves)), count=written(len(self)))
        if line := missing_compiler():
            self.progress += " " + _("Faster with Numba: {line}").format(line=line)

    def _open_at_costliest(self) -> None:
        """Select the costliest mistake, unless the player has selected a move."""
        if self._moments and not self._has_navigated:
            self.index = max(self._moments, key=lambda index: self.moves[index].loss)

    @property
    def _moments(self) -> list[int]:
        """Indices of the mistakes that cost most, in game order."""
        return [move.ply - 1 for move in moments_of(self.moves)]

    # Navigation

    def seek(self, index: int) -> None:
        """Jump to a move; an index out of range selects the first or last move."""
        self._has_navigated = True
        self._leave_move()
        self.index = min(max(index, 0), len(self) - 1)

    def go(self, name: str) -> None:
        """Perform an action of `REVIEW_ACTIONS` that stays in the review."""
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
        """Hide the answer until the player finds the best move, or show it again."""
        is_retrying = self.move is not None and not self.is_retrying
        self._leave_move()
        self.is_retrying, self._has_navigated = is_retrying, True

    def answer(self, direction: Direction) -> None:
        """Try a direction instead of the one played; it has no effect unless one is asked for."""
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
        """Start showing typical moves after the best move, then after the one played."""
        self._leave_move()
        if self.move:
            self._has_navigated = True
            self._frames = [*self._line(self.move, self.move.best)]
            if self.move.played is not self.move.best:
                self._frames += self._line(self.move, self.move.played)
            self.advance()

    def _line(self, move: MoveReview, direction: Direction) -> Iterator[Frame]:
        from py2048.review.playouts import typical_line  # slow: imports NumPy

        rules = self.record.rules
        line = typical_line(rules, move.board, direction, self.level or LEVELS[-1], move.reason)
        text = _("Typical moves after {direction}.").format(direction=words.name_of(direction))
        if line.fear:
            text += " " + _("Keep an eye on the {tile}.").format(tile=written(line.fear))
        yield Frame(text, BoardTransition((), move.board), None, line.fear)
        for each, (before, after) in zip(line.directions, pairwise(line.boards), strict=True):
            transition = sliding(before.slide(each, rules.merging), after)
            yield Frame(text, transition, each, line.fear)

    def advance(self) -> bool:
        """Go to the next step of "Show me"; return False at its end."""
        self.frame = self._frames.pop(0) if self._frames else None
        return self.frame is not None

    # The current move

    @property
    def board(self) -> Board:
        """Board before the selected move."""
        return self._positions[self.index][0]

    @property
    def score(self) -> int:
        """Score before the selected move."""
        return self._positions[self.index][1]

    @property
    def played(self) -> Direction:
        """Direction that was played."""
        return self._positions[self.index][2]

    @property
    def move(self) -> MoveReview | None:
        """Review of the selected move, once it is judged."""
        return self.moves[self.index] if self.index < len(self.moves) else None

    @property
    def unit(self) -> Unit:
        """Unit of the values."""
        if self.level:
            return Unit.CHANCE
        return self.judge.unit if self.judge else Unit.POINTS

    @property
    def is_exact(self) -> bool:
        """Whether the values are exact."""
        return self.judge is not None and self.judge.is_exact

    @property
    def accuracy(self) -> str:
        """Accuracy of the whole game, or "not yet"; an ellipsis until the review is complete."""
        return words.accuracy_text(self.review.accuracy) if self.review else "…"

    @property
    def accuracy_note(self) -> str:
        """What the accuracy means, in a line."""
        return words.accuracy_note(self.review.accuracy) if self.review else ""

    @property
    def level_title(self) -> str:
        """The level whose chances are shown."""
        return _("Level: {level}").format(level=words.level_name(self.level))

    @property
    def habits(self) -> list[str]:
        """The player's habits, costliest first; empty until the review is complete."""
        return [*map(words.habit_text, self.review.habits)] if self.review else []

    @property
    def _rows(self) -> list[hints.DirectionRow]:
        return hints.rows_of(self.move, self.unit, played=self.played) if self.move else []

    @property
    def rows(self) -> list[hints.DirectionRow]:
        """The legal directions, best first; empty while the answer is unknown or hidden."""
        return [] if self.is_retrying else self._rows

    @property
    def marks(self) -> tuple[Direction | None, Direction | None]:
        """The best direction and the one played, to mark on the board."""
        if self.is_retrying or self.frame:
            return None, None
        return self.move.best if self.move else None, self.played

    @property
    def badge(self) -> str:
        """Grade and loss of the selected move, "Blunder -15 %"; empty if unknown or hidden."""
        return badge(self.move) if self.move and not self.is_retrying else ""

    @property
    def headline(self) -> str:
        """The move played and, once it is judged, the best move."""
        if self.move is None:
            return _("You went {way}.").format(way=words.way_of(self.played))
        is_best = self.move.grade is Grade.BEST
        return headline_of(self.move.played, self.move.played if is_best else self.move.best)

    @property
    def why(self) -> str:
        """Why the move was a mistake, or what it costs; empty unless it was one."""
        move = self.move
        return why_of(move) if move and move.goal and move.grade.is_mistake else ""

    @property
    def rows_title(self) -> str:
        """What the chances in `rows` are; empty if they are none."""
        return "" if self.is_retrying else chance_title(self.move)

    @property
    def message(self) -> str:
        """What to read now: "Show me", a question, the answer to it, or the move's review."""
        if self.frame:
            return self.frame.text
        if self.is_retrying:
            return self._answer_text or _("Your move. Which way is best?")
        return " ".join(filter(None, [self._answer_text or self.headline, self.why]))

    @property
    def chances(self) -> float | None:
        """Value of the best move, as a share of the game's maximum or as a probability."""
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
        """The game's luck in words, such as "a little bad"; empty until known."""
        return words.luck_word(self.review.luck, self.review.swing) if self.review else ""

    @property
    def place_title(self) -> str:
        """Position in the game: "Move 12 of 340"."""
        return place_text(self.index + 1, len(self))

    @property
    def place(self) -> str:
        """Position and score: "Move 12 of 340, score 1,234"."""
        return place_text(self.index + 1, len(self), self.score)

    @property
    def sentences(self) -> str:
        """Description of the selected move, in sentences."""
        parts = [f"{self.place}."]
        if self.move is None:
            text = _("{direction} was played.")
            parts.append(text.format(direction=words.name_of(self.played)))
        else:
            parts.append(verdict_of(self.move))
            parts.append(describe_move_review(self.move, self.unit, is_exact=self.is_exact))
        return " ".join(parts)

    @property
    def summary(self) -> str:
        """Description of the whole review, or its progress."""
        if self.review is None:
            return self.progress or self.error
        lines = [*words.describe_review(self.review, brief=True), *filter(None, [self.note])]
        return " ".join(map(sentence, lines))

    # The graph

    @property
    def graph_title(self) -> str:
        """What the graph shows."""
        if self.level:
            return _("Your chance of the next two tiles")
        return _("Chance") if self.unit is Unit.CHANCE else _("Points still to come")

    @property
    def graph_note(self) -> str:
        """Chances of the two tiles at the selected move: "512: 62 %, 1024: 8 %"."""
        return words.goals_text(self.move) if self.move else ""

    def graph(self, width: int, height: int) -> list[GraphColumn]:
        """Return a graph of the best move's value at each move.

        The vertical axis is 0 to 1 for probabilities, and the range of this game for points.

        Args:
            width: Number of columns; the whole game always fills them.
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
        """Return the first move shown in a column of a graph with this width."""
        return column * len(self) // width

    def column(self, width: int) -> int:
        """Return the column of the selected move in a graph with this width."""
        return ((self.index + 1) * width - 1) // len(self)


_GRADES = list(Grade)


def keep_mistakes(session: Session, review: Review) -> str:
    """Save the mistakes of the player's finished game; return a message to add to the summary.

    Raises:
        StorageError: If the mistakes cannot be saved.
    """
    if not session.keeps_games or is_by_computer(review.record):
        return ""
    count = session.notebook().keep(review)
    text = ngettext("{n} new in your notebook", "{n} new in your notebook", count)
    return text.format(n=written(count)) if count else ""


def _positions(record: Record) -> list[tuple[Board, int, Direction]]:
    """Return the board, score and direction of each legal move.

    Raises:
        RecordError: If a turn breaks the record's rules.
    """
    record.verify()
    board, score, positions = record.start, 0, []
    for next_board, turn, next_score in record.replay():
        if turn.legal:
            positions.append((board, score, turn.direction))
        board, score = next_board, next_score
    return positions


def record_title(record: Record) -> str:
    """Return a one-line title: rules, score, player and date."""
    day = f", {record.finished[:10]}" if record.finished else ""
    text = _("{rules}, {points}, by {player}")
    player = _player_name(record) or _("a person")
    return text.format(rules=record.rules.name, points=points(record.score), player=player) + day


def _player_name(record: Record) -> str:
    """Shorten the player's name and remove control characters: records may be untrusted."""
    name = " ".join("".join(each if each.isprintable() else " " for each in record.player).split())
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[:MAX_NAME_LENGTH]}…"
