"""`Presenter`: from the session's events to a screen, the same for the terminal and the window."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatchmethod
from typing import TYPE_CHECKING

from py2048.session import (
    Event,
    GameOver,
    GameStarted,
    Hinted,
    IllegalMove,
    Moved,
    SavingChanged,
    Session,
    StorageFailed,
    Undone,
    Won,
)
from py2048.ui.shared import motion
from py2048.ui.shared.background import Autoplay
from py2048.ui.shared.describe import describe
from py2048.ui.shared.screen import Banner, GameScreen, Status

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling

PACES = {"slow": 2.0, "normal": 1.0, "fast": 0.5}
"""How many times longer than in the original an animation takes, by the name of its speed."""

LEAST_PACE = 0.2
"""A fast autoplay shortens animations; below this share of their time they are left out."""

HELP = {"assisted": "assisted", "computer": "by a player"}
"""The words for a game's category; none for a plain one."""

OVER = "The game is over: n starts a new one, u takes the last move back."


def current_events(session: Session) -> list[Event]:
    """Return the events that introduce the session's game to a screen that opens on it."""
    game = session.game
    events: list[Event] = [GameStarted(game.board, game.score, session.best, resumed=game.ply > 0)]
    if game.is_over:
        is_best = 0 < game.score == session.best
        events.append(GameOver(game.outcome, game.score, session.best, is_best))
    return events


class Presenter:
    """Shows on a screen what happens in a session.

    Args:
        session: the session.
        screen: the screen.
        autoplay: hurries the animations while it is on.
        text_of: returns the message for an event, in as many words as the screen has room for.

    Attributes:
        is_animated: whether tiles slide or jump.
        speed: a key of `PACES`.
        thinking: who is asked for a hint now, or an empty text.
        compiling: the compiler's progress with that player.
    """

    def __init__(
        self,
        session: Session,
        screen: GameScreen,
        autoplay: Autoplay,
        text_of: Callable[[Event], str] = describe,
    ) -> None:
        self._session = session
        self._screen = screen
        self._autoplay = autoplay
        self._text_of = text_of
        self.is_animated = True
        self.speed = "normal"
        self.thinking = ""
        self.compiling: Compiling | None = None

    @singledispatchmethod
    def show(self, event: object) -> None:
        """Show an event. A running animation jumps to its end."""
        raise TypeError(f"{event!r} is no event of a session")

    @show.register
    def _(self, event: GameStarted) -> None:
        self._show_position(event, motion.appearing(event.board))

    @show.register
    def _(self, event: Moved) -> None:
        self._show_position(event, motion.of_move(event))
        self._screen.show_gain(event.points, is_animated=self.is_animated)

    @show.register
    def _(self, event: Undone) -> None:
        self._show_position(event, motion.of_undo(event))

    @show.register
    def _(self, event: IllegalMove) -> None:
        if self._session.game.is_over:
            self._screen.say(OVER)
            return
        self._screen.say(self._text_of(event))
        self.show_status()
        self._screen.show_gain(event.penalty, is_animated=self.is_animated)

    @show.register
    def _(self, event: Won) -> None:
        self._screen.say(self._text_of(event))
        if event.plays_on and not self._autoplay.is_on:
            banner = Banner(f"You made {event.tile}!", ("Any move continues.",), False)
            self._screen.cover(banner, is_animated=self.is_animated)

    @show.register
    def _(self, event: GameOver) -> None:
        self._autoplay.stop()
        self._screen.say(self._text_of(event))
        title = "You win!" if self._session.game.has_won else "Game over!"
        best = "A new best!" if event.is_best else f"Best {event.best:,}" if event.best else ""
        banner = Banner(title, tuple(filter(None, (f"Score {event.score:,}", best))), True)
        self._screen.cover(banner, is_animated=self.is_animated)

    @show.register
    def _(self, event: Hinted) -> None:
        self._screen.show_hint(event.hint)
        self._screen.say(self._text_of(event))

    @show.register
    def _(self, event: StorageFailed) -> None:
        self._screen.warn(event.message)

    @show.register
    def _(self, event: SavingChanged) -> None:
        self._screen.show_unsaved(event.unsaved)

    def show_status(self) -> None:
        """Show the scores and who thinks or plays."""
        session = self._session
        note = str(self._autoplay)
        if self.thinking:
            progress = f": {self.compiling}" if self.compiling else " is thinking …"
            note = f"{self.thinking}{progress}"
        self._screen.show_status(
            Status(
                session.game.rules.name,
                session.game.score,
                session.best,
                session.game.ply,
                HELP.get(session.category, ""),
                note,
                session.can_undo,
                session.can_redo,
            )
        )

    def _show_position(self, event: Event, transition: motion.BoardTransition) -> None:
        """Show a new position without what belonged to the one before."""
        self._screen.cover(None, is_animated=False)
        self._screen.say(self._text_of(event))
        self._screen.show_board(transition, self._pace(transition))
        self.show_status()

    def _pace(self, transition: motion.BoardTransition) -> float:
        if not self.is_animated or not transition.seconds:
            return 0.0
        pace = PACES[self.speed]
        if self._autoplay.is_on:
            share = self._autoplay.interval / transition.seconds
            pace = min(pace, share) if share >= LEAST_PACE else 0.0
        return pace
