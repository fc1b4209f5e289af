"""A coach that judges the player's moves in the background.

Moves are judged after they have been played, so the player never waits. The coach comments on
mistakes and on new largest tiles. A game with comments from the coach counts as assisted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from py2048.app.controller.background import Failure, JobRunner
from py2048.app.controller.review import GRADE_SYMBOLS, badge, headline_of, why_of
from py2048.app.session import Session
from py2048.core.language import _, number
from py2048.presentation import events
from py2048.presentation.screen import CoachStatus, preparing
from py2048.presentation.words import accuracy_text, goal_text, percent
from py2048.review import Judge, MoveReview
from py2048.review.advice import ready_judge
from py2048.review.games import accuracy_of_moves
from py2048.review.levels import Level, goal_of
from py2048.review.moves import Grade, Position

if TYPE_CHECKING:
    from py2048.core.rules import Rules
    from py2048.engine.jit.progress import Compiling

COACH_SETTING = "coach"

SPOKEN = Grade.MISTAKE, Grade.BLUNDER
"""Grades that the coach comments on."""


class CoachScreen(Protocol):
    """The methods that a `Coach` calls on a front end."""

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show the coach's comments, or hide the coach's bar if `status` is `None`."""

    def warn(self, text: str) -> None:
        """Show a warning until the player dismisses it."""


class Coach:
    """Judges the moves of a session's game and shows comments on a screen.

    Args:
        session: The session to watch.
        screen: The screen.
        worker: Runs the judge.
        on_assisted: Called when a comment first makes the game count as assisted.

    Attributes:
        is_on: Whether the coach is on.
        is_paused: Whether the coach ignores moves because autoplay is running.
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
        self._level: Level | None = None
        self.is_on = self.is_paused = False
        self.progress = ""
        self._moves: dict[int, MoveReview] = {}  # by ply
        self._waiting: list[Position] = []

    def toggle(self) -> str:
        """Turn the coach on or off, and return the message to show."""
        if self.is_on:
            self.stop()
            return _("The coach is off.")
        self.start()
        return _("The coach judges your moves; the game counts as assisted.")

    def start(self) -> None:
        """Start judging from the current position."""
        self.is_on = True
        self._begin()

    def restart(self) -> None:
        """Discard all judgements. If the coach is on, start judging again from this position."""
        if self.is_on:
            self._begin()

    def stop(self) -> None:
        """Stop judging and hide the comments."""
        self.is_on, self._judge = False, None
        self._worker.cancel()
        self._moves.clear()
        self._screen.show_coach(None)

    def pause(self, *, is_paused: bool) -> None:
        """Pause the coach during autoplay, or resume it at the current position."""
        if is_paused == self.is_paused:
            return
        self.is_paused = is_paused
        self.restart()

    def follow(self, event: events.Event) -> None:
        """Judge a played move, or discard the judgement of a move that was undone."""
        if self.is_paused:
            return
        ply = self._session.game.ply
        match event:
            case events.Moved(turn=turn) if turn.legal:  # a redone turn may be illegal
                self._forget(ply)
                score = event.score - event.points
                self._waiting.append(Position(ply, event.before, score, turn.direction))
                newest_first = self._waiting[::-1]
                job = partial(self._judge_job, self._session.rules, newest_first)
                self._worker.run(job, self._receive)
                self._screen.show_coach(self.status)
            case events.Undone():
                self._forget(ply + 1)
                self._screen.show_coach(self.status)
            case events.GameStarted():
                self._begin()

    def _begin(self) -> None:
        self._moves, self._waiting, self.progress = {}, [], ""
        self._level = self._session.level()
        self._judge = None if self._level else self._judge
        self._screen.show_coach(self.status)

    def _forget(self, ply: int) -> None:
        """Discard the judgements of move `ply` and all later moves."""
        self._moves = {each: move for each, move in self._moves.items() if each < ply}
        self._waiting = [move for move in self._waiting if move.ply < ply]

    # Judging

    def _judge_job(
        self, rules: Rules, moves: Sequence[Position]
    ) -> Iterator[MoveReview | Compiling]:
        """Judge moves in the worker's thread."""
        from py2048.review.coaching import level_judge  # slow: imports NumPy

        judge = self._judge
        if self._level:
            judge = level_judge(rules, self._level)
        elif judge is None or judge.rules != rules:
            judge = self._judge = yield from ready_judge(rules)
        for at in moves:
            yield judge.review_move(at)

    def _receive(self, result: MoveReview | Compiling | Failure) -> None:
        """Handle a judged move, a progress report or a failure. Ignore stale results."""
        match result:
            case _ if not self.is_on or self.is_paused:
                return
            case Failure(reason):
                self.stop()
                text = _("The coach cannot judge this game: {reason}")
                self._screen.warn(text.format(reason=reason))
                return
            case MoveReview():
                self.progress, wanted = "", (result.ply, result.board, result.played)
                if wanted in [(at.ply, at.board, at.played) for at in self._waiting]:
                    self._waiting = [at for at in self._waiting if at.ply != result.ply]
                    self._moves[result.ply] = result
                    if self._session.count_help():
                        self._on_assisted()
            case compiling:
                self.progress = preparing(compiling)
        self._screen.show_coach(self.status)

    # What is shown

    @property
    def accuracy(self) -> float | None:
        """Accuracy of the judged moves, or None if too few moves have been judged."""
        return accuracy_of_moves(self._moves.values()) if self._moves else None

    @property
    def last_move(self) -> MoveReview | None:
        """Review of the last move, if available."""
        return self._moves.get(self._session.game.ply)

    @property
    def comment(self) -> str:
        """Comment on the last move: a mistake with its reason, or a new largest tile."""
        move, board = self.last_move, self._session.game.board
        if move is None:
            return ""
        if move.grade in SPOKEN:
            grade = f"{GRADE_SYMBOLS[move.grade]} {badge(move)}."
            return f"{grade} {why_of(move) or headline_of(move.played, move.best)}"
        if board.max_tile > move.board.max_tile and self._level:
            return goal_text(goal_of(self._session.rules, self._level, board), board.max_tile)
        return ""

    @property
    def status(self) -> CoachStatus:
        """The text shown in the coach's bar."""
        if self.is_paused:
            return CoachStatus(facts=(_("The coach pauses while the computer plays"),))
        judged = self._moves.get(max(self._moves, default=0))
        facts = []
        if judged and judged.goal:
            chance = percent(judged.values[judged.played])
            text = _("{chance} for 20 moves") if judged.survival else _("{chance} to make {tile}")
            facts.append(text.format(chance=chance, tile=number(judged.goal.tile)))
        if self._moves:
            accuracy = accuracy_text(self.accuracy, 0)
            facts.append(_("accuracy {accuracy}").format(accuracy=accuracy))
        if self._waiting:
            facts.append(self.progress or _("judging …"))
        return CoachStatus(self.comment, tuple(facts) or (_("The coach judges your moves"),))

    @property
    def sentences(self) -> str:
        """The coach's comment in sentences, or an empty string if there is no comment."""
        return self.comment.lstrip("?! ")
