"""`RaceTracker`: shows the race of a session on a screen, and tells the splits."""

from __future__ import annotations

from py2048.session import Event, GameStarted, Moved, Session, Undone
from py2048.ui.shared.race import Race
from py2048.ui.shared.screen import GameScreen

PERIOD = 0.2
"""Seconds between looks whether a rival that is behind has moved."""


class RaceTracker:
    """Shows the race of a session on a screen, while there is one.

    Args:
        session: where the game is.
        screen: the screen.
    """

    def __init__(self, session: Session, screen: GameScreen) -> None:
        self._session, self._screen = session, screen
        self._race: Race | None = None
        self._is_waiting = False

    def listen(self, event: Event) -> None:
        """Follow an event of the session."""
        split = None
        match event:
            case GameStarted():
                was_on, rival = self._race is not None, self._session.rival
                self._race = Race(self._session, rival) if rival else None
                if was_on and not rival:
                    self._screen.show_race(None)
            case Moved() if self._race:
                split = self._race.moved()
            case Undone() if self._race:
                self._race.undone()
            case _:
                return
        self._show()
        if split:
            self._screen.say(f"{split}.")

    def _show(self) -> None:
        if self._race is None:
            return
        self._screen.show_race(self._race.view)
        if self._race.is_behind and not self._is_waiting:
            self._is_waiting = True
            self._screen.later(PERIOD, self._look_again)

    def _look_again(self) -> None:
        self._is_waiting = False
        self._show()
