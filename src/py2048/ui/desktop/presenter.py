"""From the session's events to the window: what each of them looks like. Knows no Tk."""

from __future__ import annotations

from functools import singledispatchmethod
from typing import TYPE_CHECKING, Protocol

from py2048.session import (
    GameOver,
    GameStarted,
    Hint,
    Hinted,
    IllegalMove,
    Moved,
    SavingChanged,
    Session,
    StorageFailed,
    Undone,
    Won,
)
from py2048.ui.desktop import motion
from py2048.ui.desktop.banner import Banner, Choice
from py2048.ui.desktop.header import Status
from py2048.ui.shared.autoplay import Autoplay
from py2048.ui.shared.describe import describe

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling

PACES = {"slow": 2.0, "normal": 1.0, "fast": 0.5}
"""How many times longer than in the original an animation takes."""

LEAST_PACE = 0.2
"""Animations are hurried for a fast autoplay; below this share of their time they are left out."""


class Screen(Protocol):
    """What the presenter asks of a window."""

    def show(self, transition: motion.Transition, pace: float) -> None:
        """Show a board become another; a pace of 0 shows the end."""

    def show_status(self, status: Status) -> None:
        """Show the scores."""

    def rise(self, points: int, *, is_animated: bool) -> None:
        """Let points rise over the score."""

    def point(self, hint: Hint) -> None:
        """Show a hint on the board."""

    def cover(self, banner: Banner | None, *, is_animated: bool) -> None:
        """Cover the board with words, or uncover it."""

    def say(self, text: str) -> None:
        """Say what happened."""

    def warn(self, text: str) -> None:
        """Say what went wrong, beside what happened."""

    def show_unsaved(self, reason: str) -> None:
        """Say why something is not saved, as long as that is so; an empty text ends it."""


class Presenter:
    """Shows in a window what happens in a session.

    Attributes:
        is_animated: whether tiles slide or jump.
        speed: a key of `PACES`.
        thinking: who is thinking now, if anybody.
        compiling: how far the compiler is with what that player needs.
    """

    def __init__(
        self, session: Session, screen: Screen, autoplay: Autoplay, *, is_animated: bool
    ) -> None:
        self._session = session
        self._screen = screen
        self._autoplay = autoplay
        self.is_animated = is_animated
        self.speed = "normal"
        self.thinking = ""
        self.compiling: Compiling | None = None

    @singledispatchmethod
    def show(self, event: object) -> None:
        """Show what happened. Whatever was still moving jumps to its end."""
        raise TypeError(f"{event!r} is no event of a session")

    @show.register
    def _(self, event: GameStarted) -> None:
        self._begin(describe(event), motion.appearing(event.board))

    @show.register
    def _(self, event: Moved) -> None:
        self._begin(describe(event), motion.turning(event))
        self._screen.rise(event.points, is_animated=self.is_animated)

    @show.register
    def _(self, event: Undone) -> None:
        self._begin(describe(event), motion.returning(event))

    @show.register
    def _(self, event: IllegalMove) -> None:
        if self._session.game.is_over:
            self._screen.say("The game is over: N begins a new one, U takes the last move back.")
            return
        self._screen.say(describe(event))
        self._screen.rise(event.penalty, is_animated=self.is_animated)
        self.show_status()

    @show.register
    def _(self, event: Won) -> None:
        self._screen.say(describe(event))
        if event.plays_on and not self._autoplay.is_on:
            choices = (Choice("Keep going", "keep_going"), Choice("New game", "new"))
            text = "Any move goes on."
            banner = Banner(f"{event.tile:,} — you win!", text, choices, waits=False)
            self._screen.cover(banner, is_animated=self.is_animated)

    @show.register
    def _(self, event: GameOver) -> None:
        self._autoplay.stop()
        self._screen.say(describe(event))
        title = "You win!" if self._session.game.has_won else "Game over!"
        best = " A new best!" if event.is_best else f" Best {event.best:,}" if event.best else ""
        choices = (Choice("New game", "new"), Choice("Undo", "undo"), Choice("Watch it", "replay"))
        banner = Banner(title, f"Score {event.score:,}.{best}", choices)
        self._screen.cover(banner, is_animated=self.is_animated)

    @show.register
    def _(self, event: Hinted) -> None:
        self._screen.point(event.hint)
        self._screen.say(describe(event))

    @show.register
    def _(self, event: StorageFailed) -> None:
        self._screen.warn(event.message)

    @show.register
    def _(self, event: SavingChanged) -> None:
        self._screen.show_unsaved(event.unsaved)

    def show_status(self) -> None:
        """Show the scores and who thinks or plays."""
        game, autoplay = self._session.game, self._autoplay
        note = str(autoplay)
        if self.thinking:
            doing = f": {self.compiling}" if self.compiling else " is thinking …"
            note = f"{self.thinking}{doing}"
        self._screen.show_status(
            Status(game.rules.name, game.score, self._session.best, game.ply, note)
        )

    def _begin(self, text: str, transition: motion.Transition) -> None:
        """Show a new position without what belonged to the one before."""
        self._screen.cover(None, is_animated=False)
        self._screen.say(text)
        self._screen.show(transition, self._pace(transition))
        self.show_status()

    def _pace(self, transition: motion.Transition) -> float:
        if not self.is_animated or not transition.seconds:
            return 0.0
        pace = PACES[self.speed]
        if self._autoplay.is_on:
            share = self._autoplay.interval / transition.seconds
            pace = min(pace, share) if share >= LEAST_PACE else 0.0
        return pace
