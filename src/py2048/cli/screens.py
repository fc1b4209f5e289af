"""Which screen a game opens on, and opening it. Loads no more than that screen's first picture."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from py2048.errors import Py2048Error

if TYPE_CHECKING:
    from py2048.session import Session


class Screen(StrEnum):
    """Where to play."""

    AUTO = "auto"
    DESKTOP = "desktop"
    TERMINAL = "terminal"
    LINES = "lines"


class Wish(NamedTuple):
    """What to open on a screen.

    Attributes:
        begin: puts a game on the table.
        theme: the name of a theme, or `None` for the one used last.
        reduced_motion: show moves without animation.
        player: the spec of the player that plays, or `None` for the person.
        save: keep the game and the score.
    """

    begin: Callable[[Session], object]
    theme: str | None = None
    reduced_motion: bool = False
    player: str | None = None
    save: bool = True

    def open_session(self) -> Session:
        """Return the table to play at."""
        from py2048.session import Session, open_session

        return open_session() if self.save else Session()


def open_last_game() -> int:
    """Go on with the last game, or begin one, on the best screen there is; return the status."""
    return open_screen(Screen.AUTO, Wish(resume_or_start))


def resume_or_start(session: Session) -> None:
    """Go on with the last game, or begin a classic one."""
    if not session.resume():
        from py2048.rules import get_rules

        session.start(get_rules("classic"))


def open_screen(ui: Screen, wish: Wish) -> int:
    """Play on this screen until the player leaves; return the exit status.

    Raises:
        Py2048Error: if a window is asked for, there can be none, and there is no terminal.
    """
    screen = choose_screen(ui)
    if screen is Screen.DESKTOP:
        return _desktop(wish)
    return _beside_the_prompt(screen, wish)


def choose_screen(ui: Screen) -> Screen:
    """Return the screen to open; where a window was wanted and cannot be, say why."""
    from py2048.ui import desktop

    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if ui is Screen.AUTO and not (is_terminal and desktop.has_display()):
        return Screen.TERMINAL if is_terminal else Screen.LINES
    if ui in (Screen.AUTO, Screen.DESKTOP):
        trouble = desktop.trouble()
        if trouble:
            return _instead_of_a_window(trouble)
        return Screen.DESKTOP
    return ui


def _instead_of_a_window(trouble: str) -> Screen:
    """Say why there is no window, and return the terminal's game, if there is a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Py2048Error(trouble)
    print(f"py2048: {trouble}; here is the terminal's game instead", file=sys.stderr)
    return Screen.TERMINAL


def _desktop(wish: Wish) -> int:
    from py2048.storage import data_folder
    from py2048.ui import desktop

    try:
        return desktop.run(
            wish.open_session,
            theme=wish.theme,
            reduced_motion=wish.reduced_motion,
            player=wish.player,
            watch=wish.player is not None,
            begin=wish.begin,
            memory=data_folder() / "desktop.json",
        )
    except desktop.NoDesktopError as error:
        screen = _instead_of_a_window(str(error))
    return _beside_the_prompt(screen, wish)


def _beside_the_prompt(screen: Screen, wish: Wish) -> int:
    with closing(wish.open_session()) as session:
        wish.begin(session)
        if screen is Screen.LINES:
            from py2048.ui.terminal import lines

            return lines.run(session, sys.stdin, sys.stdout, player=wish.player)
        from py2048.ui import terminal

        return terminal.run(
            session, theme=wish.theme, reduced_motion=wish.reduced_motion, player=wish.player
        )
