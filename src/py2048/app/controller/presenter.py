"""`GameScreen`, the interface of a front end, and `Presenter`, which shows events on it."""

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
from py2048.presentation.hints import TEACHING_MOVES, teaching
from py2048.presentation.result import Result, result_of
from py2048.presentation.screen import CoachStatus, FileKind, ListRequest, Status, title_of
from py2048.presentation.words import level_name

if TYPE_CHECKING:
    from py2048.app.controller.practice import PracticeRun
    from py2048.app.controller.review import GameReview
    from py2048.app.session import Hint
    from py2048.presentation.themes import Theme

MIN_PACE = 0.2  # if autoplay requires a lower pace, it skips animations

CATEGORY_LABELS = {"assisted": N_("assisted"), "computer": N_("played by the computer")}


SAVING_POLL_S = 0.25

Start = Callable[[Session], Iterable[Event]]


class GameScreen(Protocol):
    """What a `ScreenController` requires of a front end."""

    def show_board(self, transition: motion.BoardTransition, pace: float) -> None:
        """Animate a board transition; `pace` scales its duration, 0 shows the result at once."""

    def show_status(self, status: Status) -> None:
        """Show the scores and the active settings."""

    def show_gain(self, points: int) -> None:
        """Briefly show the points gained by a move."""

    def show_hint(self, hint: Hint) -> None:
        """Show a hint on the board."""

    def cover(self, result: Result | None) -> None:
        """Show or, with `None`, remove an overlay with the game's result and its review."""

    def say(self, text: str) -> None:
        """Show a message until the next message."""

    def warn(self, text: str) -> None:
        """Show a warning that the player cannot miss."""

    def show_unsaved(self, reason: str) -> None:
        """Show why changes are not saved; an empty string removes the message."""

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show the coach's comments; `None` hides the coach's bar."""

    def show_review(self, review: GameReview, leave: Callable[[str], object]) -> None:
        """Open a review until the player leaves it.

        Args:
            review: The review, which is about to start.
            leave: Called after the review has closed for one of its actions ``play_on`` and
                ``practice``.
        """

    def show_practice(self, run: PracticeRun, answer: Callable[[str], object]) -> None:
        """Open practice until the player leaves it.

        Args:
            run: The practice run to show.
            answer: Performs an action of `PRACTICE_ACTIONS` on the run; the screen then redraws.
        """

    def set_theme(self, theme: Theme) -> None:
        """Apply a colour theme."""

    def ask(self, text: str, yes: str, no: str, action: Callable[[], object]) -> None:
        """Ask a yes-no question; run `action` on yes."""

    def choose(self, request: ListRequest) -> None:
        """Let the player choose from a list."""

    def ask_to_save(
        self, title: str, kind: FileKind, name: str, take: Callable[[Path], object]
    ) -> None:
        """Ask for a file to write; ask for confirmation before replacing a file.

        Args:
            title: Title of the dialog.
            kind: File type with its extension.
            name: Default name, without the extension.
            take: Called with the chosen path.
        """

    def ask_to_open(self, title: str, kind: FileKind, take: Callable[[Path], object]) -> None:
        """Ask for a file to read."""

    def share(self) -> None:
        """Share the result as text, or the board if the game has no result."""

    def show_help(self) -> None:
        """Show all keys."""

    def later(self, seconds: float, action: Callable[[], None]) -> object:
        """Call `action` after a number of seconds."""

    def quit(self) -> None:
        """Close the screen."""


class Presenter:
    """Shows a session's events on a screen.

    Args:
        session: The session.
        screen: The screen.
        text_of: Returns an event's message, at a length suited to the screen.

    Attributes:
        is_animated: Whether tiles slide instead of jumping.
        note: Says which player is thinking or playing; may be empty.
        interval_s: Seconds between autoplay moves; `None` if autoplay is off.
        result: The result shown as an overlay, if any.
        follow: Called with each event after it is shown.
    """

    def __init__(
        self, session: Session, screen: GameScreen, text_of: Callable[[Event], str] = describe
    ) -> None:
        self.session, self.screen, self._text_of = session, screen, text_of
        self._is_unsaved = self._is_polling_saving = False
        self.is_animated = True
        self.note = ""
        self.interval_s: float | None = None
        self.result: Result | None = None
        self.follow: Callable[[Event], object] = lambda _: None

    def attempt(self, action: Callable[[], object]) -> bool:
        """Run an action and show its error, if any; return whether it succeeded."""
        try:
            action()
        except (Py2048Error, OSError) as error:
            self.screen.warn(str(error))
            return False
        return True

    def change(self, action: Callable[[], Iterable[Event]]) -> None:
        """Run an action that changes the game, and show its events or its error."""
        self.attempt(lambda: self.show(action()))

    def remember(self, key: str, value: object) -> None:
        """Save a setting for future sessions."""
        self.session.set_setting(key, value)
        self.show(self.session.check_saving())

    def show(self, happened: Iterable[Event]) -> bool:
        """Show events; return whether there were any.

        While changes are unsaved, the saving state is polled.
        """
        happened = tuple(happened)
        for event in happened:
            self._show(event)
            self.follow(event)
        if self._is_unsaved and not self._is_polling_saving:
            self._is_polling_saving = True
            self.screen.later(SAVING_POLL_S, self._poll_saving)
        return bool(happened)

    def _poll_saving(self) -> None:
        self._is_polling_saving = False
        self.show(self.session.check_saving())

    def _show(self, event: Event) -> None:  # noqa: C901 - a branch for each event
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
                self._show_illegal_move(event)
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
                self._is_unsaved = bool(event.unsaved)
                screen.show_unsaved(event.unsaved)
            case _:
                assert_never(event)

    def _show_board(self, event: Event, transition: motion.BoardTransition) -> None:
        """Show a new position with its message and scores, and remove the hint and the result."""
        self.cover(None)
        self.screen.say(self._text_of(event))
        self.screen.show_board(transition, self._pace(transition))
        self.show_status()

    def _show_illegal_move(self, event: events.IllegalMove) -> None:
        if self.session.game.is_over:
            text = _("The game is over: n starts a new one, u undoes the last move.")
            self.screen.say(text)
            return
        self.screen.say(self._text_of(event))
        self.show_status()
        self.screen.show_gain(event.penalty)

    def cover(self, result: Result | None) -> None:
        """Show or remove the result overlay."""
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
            level=level_name(level) if (level := self.session.level()) else "",
            is_by_computer=is_by_computer,
        )

    def show_status(self) -> None:
        """Show the scores and who is thinking or playing."""
        session, rules, now = self.session, self.session.game.rules, self.session.game.position
        label = CATEGORY_LABELS.get(session.category)
        lesson = teaching(rules) if now.ply < TEACHING_MOVES else ""
        self.screen.show_status(
            Status(
                rules.name, now.score, session.best, now.ply, _(label) if label else "", self.note,
                now.turn_count > 0, 2 * now.max_tile, lesson,
            )
        )  # fmt: skip

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
    """Return the error message of `action`, or an empty string if it succeeds."""
    try:
        action()
    except Py2048Error as error:
        return str(error)
    return ""


def opening(session: Session, start: Start | None = None) -> Iterable[Event]:
    """Return the events with which a newly opened screen shows a session's game.

    If the session has no game yet, `start` supplies one. By default the last unfinished game is
    resumed, or a new one starts. If the store cannot be read, the events contain a warning and a
    new game starts.
    """
    game = session.game
    if session.version > 0:
        started = events.GameStarted(game.board, game.score, session.best, resumed=game.ply > 0)
        return [started, session.game_over] if game.is_over else [started]
    try:
        return start(session) if start else session.resume() or session.start()
    except StorageError as error:
        return [events.StorageFailed(str(error)), *session.start()]
