"""`Coach`, which judges the player's moves in the background.

It judges the current position first, then any unjudged earlier positions, newest first. Judging a
position evaluates all legal moves, so that the move played there can be graded at once. Play never
waits for the coach. Its comments on a position count as one hint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from py2048.app.controller.background import Failure, JobRunner
from py2048.app.controller.review import GRADE_SYMBOLS, badge_of, sentence, value_text
from py2048.app.session import Event, Session
from py2048.core.direction import Direction
from py2048.core.language import _
from py2048.players import Unit
from py2048.presentation import events
from py2048.presentation.screen import CoachStatus, preparing
from py2048.presentation.words import accuracy_text, way_of
from py2048.review import Judge, MoveReview
from py2048.review.advice import ready_judge
from py2048.review.games import accuracy_of_moves
from py2048.review.moves import Basis, Grade, move_review

if TYPE_CHECKING:
    from py2048.core.board import Board
    from py2048.core.rules import Rules
    from py2048.engine.jit.progress import Compiling

SETTING = "coach"


class CoachScreen(Protocol):
    """What a `Coach` requires of a front end."""

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show the coach's comments; `None` hides the coach's bar."""

    def warn(self, text: str) -> None:
        """Show a warning that the player cannot miss."""


@dataclass(slots=True)
class _Position:
    """A position of the game, the move played there, and the judge's results."""

    ply: int
    board: Board
    score: int
    played: Direction | None = None
    judged: MoveReview | None = None
    review: MoveReview | None = None


class Coach:
    """Judges the positions of a session's game and shows comments on a screen.

    Args:
        session: The session to watch.
        screen: The screen.
        worker: Runs the judge.
        on_assisted: Called when the coach's comments make the game assisted.

    Attributes:
        is_on: Whether the coach is on.
        is_paused: Whether autoplay is running, whose moves are not judged.
        progress: The compiler's progress, or an empty string.
    """

    def __init__(
        self,
        session: Session,
        screen: CoachScreen,
        worker: JobRunner,
        on_assisted: Callable[[], object] = lambda: None,
    ) -> None:
        self._session, self._screen, self._worker = session, screen, worker
        self._on_assisted = on_assisted
        self._judge: Judge | None = None
        self.is_on = self.is_paused = False
        self.progress = ""
        self._first = 1  # ply of the first position
        self._positions: list[_Position] = []

        self._max_outlook = 0.0

    def toggle(self) -> str:
        """Turn the coach on or off; return the message to show."""
        if self.is_on:
            self.stop()
            return _("The coach is off.")
        self.start()
        return _("The coach judges your moves; the game counts as assisted.")

    def start(self) -> None:
        """Start judging from the current position."""
        self.is_on = True
        self._begin()

    def stop(self) -> None:
        """Stop judging and hide the bar."""
        self.is_on, self._judge = False, None
        self._worker.cancel()
        self._positions.clear()
        self._screen.show_coach(None)

    def pause(self, *, is_paused: bool) -> None:
        """Pause during autoplay, or resume from the current position."""
        if is_paused == self.is_paused:
            return
        self.is_paused = is_paused
        if self.is_on:
            self._begin()

    def follow(self, event: Event) -> None:
        """Judge the position after an event."""
        if not self.is_on or self.is_paused:
            return
        match event:
            case events.Moved(turn=turn) if turn.legal:  # a redone turn may be an illegal move
                self._rewind(self._session.game.ply)
                self._positions[-1].played = turn.direction
                self._judge_positions()
            case events.Undone() if self._session.game.ply + 1 >= self._first:
                self._rewind(self._session.game.ply + 1)
                self._judge_positions()
            case events.GameStarted() | events.Undone():
                self._begin()

    def _receive(self, result: MoveReview | Compiling | Failure) -> None:
        """Use a result of the judge, unless it is stale."""
        match result:
            case _ if not self.is_on or self.is_paused:
                return
            case Failure(reason):
                self.stop()
                text = _("The coach cannot judge this game: {reason}")
                self._screen.warn(text.format(reason=reason))
                return
            case MoveReview():
                self.progress, index = "", result.ply - self._first
                if index in range(len(self._positions)):
                    position = self._positions[index]
                    if position.board == result.board:
                        position.judged = result
                        self._max_outlook = max(self._max_outlook, self._outlook(result))
            case compiling:
                self.progress = preparing(compiling)
        self._grade()
        self._screen.show_coach(self.status)

    # What is judged

    def _begin(self) -> None:
        self._first, self.progress = self._session.game.ply + 1, ""
        self._positions, self._max_outlook = [], 0.0
        self._judge_positions()

    def _rewind(self, ply: int) -> None:
        """Return to the position before move `ply`; forget that move and all later positions."""
        del self._positions[ply - self._first + 1 :]
        self._positions[-1].played = self._positions[-1].review = None

    def _judge_positions(self) -> None:
        """Add the current position, start judging, and show what is known so far."""
        game = self._session.game
        if len(self._positions) == game.ply + 1 - self._first and not game.is_over:
            self._positions.append(_Position(game.ply + 1, game.board, game.score))
        if not (waiting := [each for each in reversed(self._positions) if each.judged is None]):
            self._grade()
        elif not self.is_paused:
            self._worker.run(partial(self._judge_job, self._session.rules, waiting), self._receive)
        self._screen.show_coach(self.status)

    def _judge_job(
        self, rules: Rules, waiting: Sequence[_Position]
    ) -> Iterator[MoveReview | Compiling]:
        """Judge positions; runs in the worker's thread."""
        if self._judge is None or self._judge.rules != rules:
            self._judge = yield from ready_judge(rules)
        judge = self._judge
        for at in waiting:
            yield judge.review_move(at.board, at.score, at.board.legal_directions()[0], ply=at.ply)

    def _grade(self) -> None:
        """Review moves in judged positions; count advice on the current position as a hint."""
        for each in self._positions:
            if each.review is None and each.played is not None and each.judged is not None:
                each.review = self._review_of(each.judged, each.played)
        if self._current is not None:
            before = self._session.category
            self._session.count_help()
            if self._session.category != before:
                self._on_assisted()

    def _review_of(self, judged: MoveReview, played: Direction) -> MoveReview:
        """Return the review of `played` in an already judged position."""
        if judged.played is played or self._judge is None:
            return judged
        at, judge = judged, self._judge
        basis = Basis(at.source, at.chances, judge.is_exact)
        return move_review(at.ply, at.board, at.score, played, at.values, 0.0, judge.unit, basis)

    # What is shown

    @property
    def _unit(self) -> Unit:
        return self._judge.unit if self._judge else Unit.POINTS

    @property
    def accuracy(self) -> float | None:
        """Accuracy of the reviewed moves, if there are any."""
        reviews = [each.review for each in self._positions if each.review is not None]
        return accuracy_of_moves(reviews) if reviews else None

    @property
    def _current(self) -> MoveReview | None:
        """The judgement of the current position, if available."""
        last = self._positions[-1] if self._positions else None
        return last.judged if last is not None and last.played is None else None

    @property
    def last_move(self) -> MoveReview | None:
        """Review of the last move, if available."""
        played = [at for at in self._positions[-2:] if at.played is not None]
        return played[-1].review if played else None

    @property
    def _expected(self) -> str:
        """Description of the expected result, if known."""
        if self._current is None or self._judge is None:
            return ""
        value = self._outlook(self._current)
        return value_text(value, self._unit, is_exact=self._judge.is_exact)

    @property
    def status(self) -> CoachStatus:
        """What the coach's bar shows."""
        if self.is_paused:
            return CoachStatus(0.0, (_("The coach pauses while the computer plays"),))
        parts = []
        if (last := self.last_move) is not None:
            parts.append(last_move_text(last))
        if (accuracy := self.accuracy) is not None:
            parts.append(_("accuracy {accuracy}").format(accuracy=accuracy_text(accuracy, 0)))
        if expected := self._expected:
            parts.append(_("expected {value}").format(value=expected))
        elif not self._session.game.is_over:
            parts.append(self.progress or _("judging …"))
        return CoachStatus(self._share, tuple(parts))

    @property
    def sentences(self) -> str:
        """The coach's comments as sentences; empty until the current position is judged."""
        if not self._expected and not self._session.game.is_over:
            return ""
        parts = [part.lstrip("✓?! ") for part in self.status.parts]
        return " ".join(map(sentence, parts))

    @property
    def _share(self) -> float:
        judged = [each.judged for each in self._positions if each.judged]
        top = 1.0 if self._unit is Unit.CHANCE else self._max_outlook
        return max(0.0, self._outlook(judged[-1]) / top) if judged and top > 0 else 0.0

    def _outlook(self, move: MoveReview) -> float:
        """Return the expected final score, or the value of the best move."""
        return move.expected if self._unit is Unit.POINTS else move.values[move.best]


def last_move_text(move: MoveReview) -> str:
    """Return a move's grade, with the best move unless that was played."""
    symbol = GRADE_SYMBOLS[move.grade]
    if move.grade is Grade.BEST:
        return _("{symbol} best move").format(symbol=symbol)
    text, badge = _("{symbol} {grade}: {best} was best"), badge_of(move.grade, move.share)
    return text.format(symbol=symbol, grade=badge, best=way_of(move.best))
