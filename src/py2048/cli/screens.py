"""Which screen a game opens on, and opening it. Loads no more than that screen's first picture."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import closing
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from py2048.cli import streams
from py2048.errors import Py2048Error

if TYPE_CHECKING:
    from py2048.session import Session

DEMO_PLAYER = "greedy"
"""Plays the demonstration: a player that has nothing to compile first."""

DEMO_SECONDS = 6.0
DEMO_PACE = 0.4
"""How long the demonstration plays, and a move of it stands to be read, in seconds."""

HOW_TO_PLAY = """\
That was a demonstration: here is no display, no terminal, and no moves on standard input.
To play, start py2048 on a desktop or in a terminal (through ssh: ssh -t HOST py2048), or send
moves, one a line: printf 'left\\nup\\n' | py2048
A whole game by a computer player: py2048 watch. All commands: py2048 --help"""

NO_TERMINAL = (
    "the terminal's game needs a terminal at standard input and output: "
    "for pipes and files there is --ui lines"
)


class Screen(StrEnum):
    """Where to play."""

    AUTO = "auto"
    DESKTOP = "desktop"
    TERMINAL = "terminal"
    LINES = "lines"
    DEMO = "demo"


INSTEAD = {
    Screen.TERMINAL: "the terminal's game",
    Screen.LINES: "the game in lines",
    Screen.DEMO: "a demonstration",
}


class Place(NamedTuple):
    """What the command finds where it starts.

    Attributes:
        moves: standard input is a pipe or a file with something to read.
        display: a window can be opened.
        terminal: standard input and output are a terminal.
        dumb: it is one that can only print lines (``TERM=dumb``, or an encoding without blocks).
    """

    moves: bool
    display: bool
    terminal: bool
    dumb: bool = False


def best_screen(place: Place) -> Screen:
    """Return the screen that suits the place; ``docs/reference/command.md`` has the rule."""
    if place.moves:
        return Screen.LINES
    if place.display:
        return Screen.DESKTOP
    if place.terminal:
        return Screen.LINES if place.dumb else Screen.TERMINAL
    return Screen.DEMO


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
        Py2048Error: if the screen that is asked for cannot be here.
    """
    screen = choose_screen(ui)
    if screen is Screen.DESKTOP:
        return _desktop(ui, wish)
    return _beside_the_prompt(screen, wish)


def choose_screen(ui: Screen) -> Screen:
    """Return the screen to open; where a window was wanted and cannot be, say why.

    Raises:
        Py2048Error: if the screen that is asked for cannot be here.
    """
    from py2048.ui import desktop

    if ui is Screen.TERMINAL and not streams.are_terminal():
        raise Py2048Error(NO_TERMINAL)
    moves = ui is Screen.AUTO and streams.has_moves()
    screen = ui if ui is not Screen.AUTO else best_screen(_place(moves, desktop.has_display()))
    if screen is Screen.DESKTOP and (reason := desktop.why_unavailable()):
        return _instead_of_a_window(ui, reason)
    return screen


def _place(moves: bool, display: bool) -> Place:
    return Place(moves, display, streams.are_terminal(), streams.is_dumb())


def _instead_of_a_window(ui: Screen, trouble: str) -> Screen:
    """Say why there is no window, and return what is best without one.

    Raises:
        Py2048Error: if a window was asked for, and there is no terminal either.
    """
    screen = best_screen(_place(moves=False, display=False))
    if ui is Screen.DESKTOP and screen is Screen.DEMO:
        raise Py2048Error(trouble)
    streams.complain(f"{trouble}; here is {INSTEAD[screen]} instead")
    return screen


def _desktop(ui: Screen, wish: Wish) -> int:
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
            state_file=data_folder() / "desktop.json",
        )
    except desktop.NoDesktopError as error:
        screen = _instead_of_a_window(ui, str(error))
    return _beside_the_prompt(screen, wish)


def _beside_the_prompt(screen: Screen, wish: Wish) -> int:
    if screen is Screen.DEMO:
        return _demonstrate(wish)
    with closing(wish.open_session()) as session:
        wish.begin(session)
        if screen is Screen.LINES:
            from py2048.ui.terminal import plain_text

            return plain_text.run(session, sys.stdin, sys.stdout, player=wish.player)
        from py2048.ui import terminal

        return terminal.run(
            session, theme=wish.theme, reduced_motion=wish.reduced_motion, player=wish.player
        )


def _demonstrate(wish: Wish) -> int:
    """Let the computer play for some seconds, then say how to play. Nothing is saved."""
    from py2048.session import Session
    from py2048.ui.shared.describe import describe

    print("2048, played by the computer for a few seconds.")
    session = Session()
    session.subscribe(lambda event: print(describe(event), flush=True))
    wish.begin(session)
    end = time.monotonic() + DEMO_SECONDS
    while time.monotonic() < end and session.autoplay_step(wish.player or DEMO_PLAYER):
        print(session.game.board, flush=True)
        time.sleep(DEMO_PACE)
    print(HOW_TO_PLAY)
    return 0
