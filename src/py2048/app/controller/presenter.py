"""`GameScreen`: what is asked of a front end. `Presenter`: shows what happens on one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, assert_never

from py2048.app.session import Event, Session
from py2048.core.errors import Py2048Error, StorageError
from py2048.core.language import N_, _
from py2048.presentation import events, motion
from py2048.presentation.describe import describe
from py2048.presentation.hints import teaching
from py2048.presentation.result import Result, result_of
from py2048.presentation.screen import CoachStatus, FileKind, ListRequest, Status, title_of

if TYPE_CHECKING:
    from py2048.app.controller.practice import PracticeRun
    from py2048.app.controller.review import GameReview
    from py2048.app.session import Hint
    from py2048.presentation.themes import Theme

MIN_PACE = 0.2
"""A fast autoplay shortens animations; below this share of their time they are left out."""

HELP = {"assisted": N_("assisted"), "computer": N_("played by the computer")}
"""The words for a game's category, to be translated; none for a plain one."""

OVER = N_("The game is over: n starts a new one, u takes the last move back.")

SAVING_PERIOD_S = 0.25
"""Seconds between looks whether all is saved, while it is not."""

Start = Callable[[Session], Iterable[Event]]


class GameScreen(Protocol):
    """A front end as a `Controller` sees it."""

    def show_board(self, transition: motion.BoardTransition, pace: float) -> None:
        """Show a board become another, in `pace` times the usual time; 0 shows the end at once."""

    def show_status(self, status: Status) -> None:
        """Show the scores, and mark the settings in use."""

    def show_gain(self, points: int) -> None:
        """Show the points that a move has gained, for a moment."""

    def show_hint(self, hint: Hint) -> None:
        """Show a hint on the board."""

    def cover(self, result: Result | None) -> None:
        """Show that the game is won or over, what its review has found, or the board again."""

    def say(self, text: str) -> None:
        """Show a message until the next one."""

    def warn(self, text: str) -> None:
        """Show a warning so that the player cannot miss it."""

    def show_unsaved(self, reason: str) -> None:
        """Show why something is not saved, until it is; an empty text ends it."""

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show what the coach says, or take its bar away."""

    def show_review(self, review: GameReview, play_on: Callable[[], object]) -> None:
        """Open a review, and close it when the player leaves it.

        Args:
            review: the review, which is about to begin.
            play_on: what "play on from here" does, after the review has closed.
        """

    def show_practice(self, run: PracticeRun, answer: Callable[[str], object]) -> None:
        """Open practice, and close it when the player leaves it.

        Args:
            run: what is asked.
            answer: does an action of `PRACTICE_ACTIONS` on it; the screen then shows it again.
        """

    def set_theme(self, theme: Theme) -> None:
        """Change the colours."""

    def ask(self, text: str, yes: str, no: str, action: Callable[[], object]) -> None:
        """Ask a question; do `action` if the answer is yes."""

    def choose(self, request: ListRequest) -> None:
        """Let the player choose from a list."""

    def ask_to_save(
        self, title: str, kind: FileKind, name: str, take: Callable[[Path], object]
    ) -> None:
        """Ask for a file to write, and again before one is replaced.

        Args:
            title: what is asked.
            kind: the kind of file, with its ending.
            name: what to call it by default, without the ending.
            take: called with the file.
        """

    def ask_to_open(self, title: str, kind: FileKind, take: Callable[[Path], object]) -> None:
        """Ask for a file to read."""

    def share(self) -> None:
        """Give the result away in words, or the board where there is none."""

    def show_help(self) -> None:
        """Show all keys."""

    def later(self, seconds: float, action: Callable[[], None]) -> object:
        """Call `action` after some seconds."""

    def quit(self) -> None:
        """Close the screen."""


class Presenter:
    """Shows on a screen what happens in a session.

    Args:
        session: the session.
        screen: the screen.
        text_of: returns the message for an event, in as many words as the screen has room for.

    Attributes:
        is_animated: whether tiles slide or jump.
        note: who thinks or plays, or an empty text.
        interval_s: the seconds from one move of autoplay to the next; `None` if it is off.
        result: what covers the board; `None` if nothing does.
        follow: called with each event after it is shown.
    """

    def __init__(
        self, session: Session, screen: GameScreen, text_of: Callable[[Event], str] = describe
    ) -> None:
        self.session, self.screen, self._text_of = session, screen, text_of
        self._is_watching_saving = False
        self.is_animated = True
        self.note = ""
        self.interval_s: float | None = None
        self.result: Result | None = None
        self.follow: Callable[[Event], object] = lambda _: None

    # Doing

    def attempt(self, action: Callable[[], object]) -> bool:
        """Do something that may fail; show why if it does. Return whether it worked."""
        try:
            action()
        except (Py2048Error, OSError) as error:
            self.screen.warn(str(error))
            return False
        return True

    def change(self, action: Callable[[], Iterable[Event]]) -> None:
        """Change the game by something that may fail, and show what happened."""
        self.attempt(lambda: self.show(action()))

    def remember(self, key: str, value: object) -> None:
        """Keep a setting for the next session."""
        self.session.set_setting(key, value)
        self.show(self.session.check_saving())

    # Showing

    def show(self, happened: Iterable[Event]) -> bool:
        """Show events, and look again and again while something is not saved.

        Return whether there was an event.
        """
        happened = tuple(happened)
        for event in happened:
            self._show(event)
            self.follow(event)
        if self.session.unsaved and not self._is_watching_saving:
            self._is_watching_saving = True
            self.screen.later(SAVING_PERIOD_S, self._look_at_saving)
        return bool(happened)

    def _look_at_saving(self) -> None:
        self._is_watching_saving = False
        self.show(self.session.check_saving())

    def _show(self, event: Event) -> None:  # noqa: C901 - a branch for each event
        """Show an event. A running animation jumps to its end."""
        screen = self.screen
        match event:
            case events.GameStarted():
                self._show_board(event, motion.appearing(event.board))
            case events.Moved():
                self._show_board(event, motion.of_move(event))
                screen.show_gain(event.points)
            case events.Undone():
                self._show_board(event, motion.of_undo(event))
            case events.IllegalMove():
                self._show_refusal(event)
            case events.Won():
                screen.say(self._text_of(event))
                if event.plays_on and not event.by_computer:
                    self.cover(self._result())
            case events.GameOver():
                screen.say(self._text_of(event))
                self.cover(self._result(is_by_computer=event.by_computer))
            case events.Hinted():
                screen.show_hint(event.hint)
                screen.say(self._text_of(event))
            case events.StorageFailed():
                screen.warn(event.message)
            case events.SavingChanged():
                screen.show_unsaved(event.unsaved)
            case _:
                assert_never(event)

    def _show_board(self, event: Event, transition: motion.BoardTransition) -> None:
        """Show a new position without what belonged to the one before."""
        self.cover(None)
        self.screen.say(self._text_of(event))
        self.screen.show_board(transition, self._pace(transition))
        self.show_status()

    def _show_refusal(self, event: events.IllegalMove) -> None:
        if self.session.game.is_over:
            self.screen.say(_(OVER))
            return
        self.screen.say(self._text_of(event))
        self.show_status()
        self.screen.show_gain(event.penalty)

    def cover(self, result: Result | None) -> None:
        """Cover the board with the end of the game, or uncover it."""
        self.result = result
        self.screen.cover(result)

    def _result(self, *, is_by_computer: bool = False) -> Result:
        game, ends = self.session.game, self.session.ends()
        today = datetime.now().astimezone().date()
        return result_of(
            title_of(game.rules.name, game.rules.shape),
            game.score,
            largest=game.board.max_tile,
            moves=game.ply,
            target=game.rules.target,
            is_final=game.is_over,
            earlier=[end.score for end in ends],
            today=[end.score for end in ends if _day(end.finished) == today],
            is_by_computer=is_by_computer,
        )

    def show_status(self) -> None:
        """Show the scores and who thinks or plays."""
        session, game = self.session, self.session.game
        scores = game.rules.name, game.score, session.best, game.ply
        help_ = _(HELP[session.category]) if session.category in HELP else ""
        goal = 2 * game.board.max_tile, teaching(game.rules, game.ply)
        self.screen.show_status(Status(*scores, help_, self.note, game.can_undo, *goal))

    def _pace(self, transition: motion.BoardTransition) -> float:
        if not self.is_animated or not transition.seconds:
            return 0.0
        if self.interval_s is None:
            return 1.0
        share = self.interval_s / transition.seconds
        return min(1.0, share) if share >= MIN_PACE else 0.0


def _day(moment: str) -> date:
    return datetime.fromisoformat(moment).astimezone().date()


def fault_of(action: Callable[[], object]) -> str:
    """Return why `action` fails, or an empty text if it does not."""
    try:
        action()
    except Py2048Error as error:
        return str(error)
    return ""


def opening(session: Session, start: Start | None = None) -> Iterable[Event]:
    """Return the events that introduce a session's game to a screen that opens on it.

    Where there is no game yet, `start` brings one; by default the last unfinished one is resumed,
    or a new one starts. So it does, after a warning, if the store cannot be read.
    """
    game = session.game
    if session.version > 0:
        started = events.GameStarted(game.board, game.score, session.best, resumed=game.ply > 0)
        return [started, session.game_over] if game.is_over else [started]
    try:
        return start(session) if start else session.resume() or session.start()
    except StorageError as error:
        return [events.StorageFailed(str(error)), *session.start()]
