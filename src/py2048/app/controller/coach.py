"""`Coach`: judges your moves while you play, in the background, if you want it to.

It judges positions: the one on the screen first, then those that you left before they were judged,
the newest first. The grade of a move follows from the position that it was played in. Play never
waits for it, and every position of which it tells something counts as a hint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from py2048.app.controller.background import Failure, Worker
from py2048.app.controller.review import GRADE_SYMBOLS, badge_of, value_text
from py2048.app.session import Event, Session, ready_judge
from py2048.core.direction import Direction
from py2048.core.language import N_, _, number
from py2048.players import Unit
from py2048.presentation import events
from py2048.presentation.screen import CoachStatus, preparing
from py2048.presentation.words import way_of
from py2048.review import Judge, MoveReview
from py2048.review.games import MeanAccuracy
from py2048.review.moves import Basis, Grade, move_review

if TYPE_CHECKING:
    from py2048.core.board import Board
    from py2048.core.rules import Rules
    from py2048.engine.jit.progress import Compiling

SETTING = "coach"
PAUSED = N_("The coach pauses while the computer plays")
JUDGING = N_("judging …")


class CoachScreen(Protocol):
    """A front end as a `Coach` sees it."""

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show what the coach says, or take its bar away."""

    def warn(self, text: str) -> None:
        """Show a warning so that the player cannot miss it."""


@dataclass(slots=True)
class _Position:
    """A position of the game, with what was played there and what the judge found, if anything."""

    ply: int
    board: Board
    score: int
    played: Direction | None = None
    judged: MoveReview | None = None
    review: MoveReview | None = None


class Coach:
    """Judges the positions of a session's game, and shows what follows on a screen.

    Args:
        session: where the game is.
        screen: where to.
        worker: does the judging.
        assisted: called when the game has become assisted by what the coach has told.

    Attributes:
        is_on: whether it judges.
        is_paused: whether a player plays by itself, whose moves are not judged.
        progress: the compiler's progress; or empty.
    """

    def __init__(
        self,
        session: Session,
        screen: CoachScreen,
        worker: Worker,
        assisted: Callable[[], object] = lambda: None,
    ) -> None:
        self._session, self._screen, self._worker = session, screen, worker
        self._assisted = assisted
        self._judge: Judge | None = None
        self.is_on = self.is_paused = False
        self.progress = ""
        self._first = 1  # the ply of the first position
        self._positions: list[_Position] = []
        self._mean = MeanAccuracy()  # of those with a review
        self._most = 0.0  # what was expected at most

    def toggle(self) -> str:
        """Judge from this position on, or no longer; return what to say."""
        if self.is_on:
            self.stop()
            return _("The coach is off.")
        self.start()
        return _("The coach judges your moves; the game counts as assisted.")

    def start(self) -> None:
        """Judge from this position on."""
        self.is_on = True
        self._begin()

    def stop(self) -> None:
        """Stop judging, and take the bar away."""
        self.is_on, self._judge = False, None
        self._worker.drop()
        self._positions.clear()
        self._screen.show_coach(None)

    def pause(self, *, is_paused: bool) -> None:
        """Pause while a player plays by itself, and continue from where it stops."""
        if is_paused == self.is_paused:
            return
        self.is_paused = is_paused
        if self.is_on:
            self._begin()

    def follow(self, event: Event) -> None:
        """Judge the position that an event brings."""
        if not self.is_on or self.is_paused:
            return
        match event:
            case events.Moved(turn=turn) if turn.legal:  # a redone attempt may be none
                self._go_to(self._session.game.ply)
                self._positions[-1].played = turn.direction
                self._look()
            case events.Undone() if self._session.game.ply + 1 >= self._first:
                self._go_to(self._session.game.ply + 1)
                self._look()
            case events.GameStarted() | events.Undone():
                self._begin()

    def _take(self, answer: MoveReview | Compiling | Failure) -> None:
        """Use what the judge has found, unless the game has moved on."""
        match answer:
            case _ if not self.is_on or self.is_paused:
                return
            case Failure(reason):
                self.stop()
                text = _("The coach cannot judge this game: {reason}")
                self._screen.warn(text.format(reason=reason))
                return
            case MoveReview():
                self.progress, at = "", answer.ply - self._first
                if 0 <= at < len(self._positions) and self._positions[at].board == answer.board:
                    self._positions[at].judged = answer
                    self._most = max(self._most, self._outlook(answer))
            case compiling:
                self.progress = preparing(compiling)
        self._grade()
        self._screen.show_coach(self.status)

    # What is judged

    def _begin(self) -> None:
        self._first, self.progress = self._session.game.ply + 1, ""
        self._positions, self._mean, self._most = [], MeanAccuracy(), 0.0
        self._look()

    def _go_to(self, ply: int) -> None:
        """Forget the positions after that before move `ply`, and what was played there."""
        del self._positions[ply - self._first + 1 :]
        here = self._positions[-1]
        here.played = None
        if here.review is not None:
            here.review, self._mean = None, MeanAccuracy()
            for at in self._positions:
                if at.review is not None:
                    self._mean.add(at.review)

    def _look(self) -> None:
        """Judge the position on the screen, and show what is known until then."""
        game = self._session.game
        if len(self._positions) == game.ply + 1 - self._first and not game.is_over:
            self._positions.append(_Position(game.ply + 1, game.board, game.score))
        if not (waiting := [at for at in reversed(self._positions) if at.judged is None]):
            self._grade()
        elif not self.is_paused:
            self._worker.ask(partial(self._judging, self._session.rules, waiting), self._take)
        self._screen.show_coach(self.status)

    def _judging(
        self, rules: Rules, waiting: Sequence[_Position]
    ) -> Iterator[MoveReview | Compiling]:
        """Judge positions; in the worker's thread."""
        if self._judge is None or self._judge.rules != rules:
            self._judge = yield from ready_judge(rules)
        judge = self._judge
        for at in waiting:
            yield judge.review_move(at.board, at.score, at.board.legal_directions()[0], ply=at.ply)

    def _grade(self) -> None:
        """Review the moves whose positions are judged; what is told of this one is a hint."""
        for at in self._positions:
            if at.review is None and at.played is not None and at.judged is not None:
                at.review = self._review_of(at.judged, at.played)
                self._mean.add(at.review)
        if self._here is not None:
            before = self._session.category
            self._session.count_help()
            if self._session.category != before:
                self._assisted()

    def _review_of(self, judged: MoveReview, played: Direction) -> MoveReview:
        """Return the review of another move in the position of one."""
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
        """The accuracy of the moves that are judged, if any is."""
        is_any = any(at.review is not None for at in self._positions)
        return self._mean.value if is_any else None

    @property
    def _here(self) -> MoveReview | None:
        """What is known of the position on the screen."""
        last = self._positions[-1] if self._positions else None
        return last.judged if last is not None and last.played is None else None

    @property
    def last_move(self) -> MoveReview | None:
        """The review of the last move, once it is judged."""
        played = [at for at in self._positions[-2:] if at.played is not None]
        return played[-1].review if played else None

    @property
    def _expected(self) -> str:
        """What to expect, if it is known."""
        if self._here is None or self._judge is None:
            return ""
        worth = self._outlook(self._here)
        return value_text(worth, self._unit, is_exact=self._judge.is_exact)

    @property
    def status(self) -> CoachStatus:
        """What the coach says now."""
        if self.is_paused:
            return CoachStatus(0.0, (_(PAUSED),))
        said = []
        if (last := self.last_move) is not None:
            said.append(last_move_text(last))
        if self.accuracy is not None:
            said.append(_("accuracy {share} %").format(share=number(self.accuracy)))
        if expected := self._expected:
            said.append(_("expected {value}").format(value=expected))
        elif not self._session.game.is_over:
            said.append(self.progress or _(JUDGING))
        return CoachStatus(self._share, tuple(said))

    @property
    def sentences(self) -> str:
        """The same as sentences; empty while nothing is known of the position."""
        if not self._expected and not self._session.game.is_over:
            return ""
        said = [part.lstrip("✓?! ") for part in self.status.parts]
        return " ".join(f"{part[0].upper()}{part[1:]}." for part in said)

    @property
    def _share(self) -> float:
        known = self._here or next((at.judged for at in self._positions[::-1] if at.judged), None)
        most = 1.0 if self._unit is Unit.CHANCE else self._most
        return max(0.0, self._outlook(known) / most) if known and most > 0 else 0.0

    def _outlook(self, move: MoveReview) -> float:
        """Return what to expect: the final score, or what the best move is worth."""
        return move.expected if self._unit is Unit.POINTS else move.values[move.best]


def last_move_text(move: MoveReview) -> str:
    """Return the grade of a move, and what was best: "?! Inaccuracy -1.3 %: up was best"."""
    symbol = GRADE_SYMBOLS[move.grade]
    if move.grade is Grade.BEST:
        return _("{symbol} best move").format(symbol=symbol)
    text, badge = _("{symbol} {grade}: {best} was best"), badge_of(move.grade, move.share)
    return text.format(symbol=symbol, grade=badge, best=way_of(move.best))
