"""Choose a screen and open a game on it.

The module imports little, so that the first frame appears quickly.
"""

from __future__ import annotations

import sys
import time
from contextlib import closing
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Unpack

from py2048.core.errors import Py2048Error
from py2048.core.language import LANGUAGES, N_, _, language_of_environment, set_language
from py2048.presentation import streams

if TYPE_CHECKING:
    from py2048.app.controller.controller import ScreenOptions, Start
    from py2048.app.session import Session

DEMO_PLAYER = "greedy"
"""The demonstration's player, chosen because it needs no compilation."""

DEMO_S = 6.0
"""Duration of the demonstration, in seconds."""
DEMO_MOVE_S = 0.4
"""Duration of a move in the demonstration, in seconds."""

HOW_TO_PLAY = N_("""\
That was a demonstration: there is no display, no terminal, and no moves on standard input.
To play, start py2048 on a desktop or in a terminal (through ssh: ssh -t HOST py2048), or send
moves, one a line: printf 'left\\nup\\n' | py2048
A whole game by a computer player: py2048 watch. All commands: py2048 --help""")

NO_TERMINAL = (
    "the terminal interface needs a terminal at standard input and output: "
    "for pipes and files, use --ui lines"
)


class UserInterface(StrEnum):
    """User interfaces, as in ``--ui``."""

    AUTO = "auto"
    DESKTOP = "desktop"
    TERMINAL = "terminal"
    LINES = "lines"
    DEMO = "demo"


INSTEAD = {
    UserInterface.TERMINAL: N_("the terminal interface"),
    UserInterface.LINES: N_("line mode"),
    UserInterface.DEMO: N_("a demo"),
}


def best_screen(moves: bool, display: bool, terminal: bool, dumb: bool = False) -> UserInterface:
    """Choose the screen to start, by the rules in ``docs/reference/command.md``.

    Args:
        moves: Whether standard input is a pipe or a file that contains moves.
        display: Whether a window can be opened.
        terminal: Whether standard input and output are a terminal.
        dumb: Whether the terminal supports only plain text, because of ``TERM=dumb`` or an encoding
            without block characters.
    """
    if moves:
        return UserInterface.LINES
    if display:
        return UserInterface.DESKTOP
    if terminal:
        return UserInterface.LINES if dumb else UserInterface.TERMINAL
    return UserInterface.DEMO


def open_screen(
    ui: UserInterface = UserInterface.AUTO, *, save: bool = True, **options: Unpack[ScreenOptions]
) -> int:
    """Open a game on a screen, and return the exit status when the player leaves.

    Args:
        ui: The screen.
        save: Whether to save the game and the score.
        options: See `ScreenOptions`.

    Raises:
        Py2048Error: The requested screen is not available.
    """
    set_language(language_of_environment())
    screen = choose_screen(ui)
    if screen is UserInterface.DESKTOP:
        from py2048.app import desktop
        from py2048.core.folders import data_folder

        try:
            file = data_folder() / "desktop.json"
            return desktop.run(partial(_open_session, save=save), file, **options)
        except desktop.NoDesktopError as error:
            screen = _instead_of_a_window(ui, str(error))
    return _open_in_terminal(screen, save, options)


def _open_session(*, save: bool) -> Session:
    """Open the player's saved session or, if `save` is False, a temporary session."""
    from py2048.app.session import Session, open_session

    return open_session() if save else Session()


def choose_screen(ui: UserInterface) -> UserInterface:
    """Choose the screen to open.

    If a window cannot be opened, prints the reason and chooses another screen.

    Raises:
        Py2048Error: The requested screen is not available.
    """
    from py2048.app import desktop

    if ui is UserInterface.TERMINAL and not streams.are_terminal():
        raise Py2048Error(NO_TERMINAL)
    screen = ui
    if ui is UserInterface.AUTO:
        screen = _screen_here(moves=streams.has_moves(), display=desktop.has_display())
    if screen is UserInterface.DESKTOP and (reason := desktop.why_unavailable()):
        return _instead_of_a_window(ui, reason)
    return screen


def _screen_here(*, moves: bool, display: bool) -> UserInterface:
    return best_screen(moves, display, streams.are_terminal(), streams.is_dumb())


def _instead_of_a_window(ui: UserInterface, trouble: str) -> UserInterface:
    """Print why no window can be opened, and return the best alternative.

    Raises:
        Py2048Error: If a window was requested and there is no terminal to use instead.
    """
    screen = _screen_here(moves=False, display=False)
    if ui is UserInterface.DESKTOP and screen is UserInterface.DEMO:
        raise Py2048Error(trouble)
    text = _("{trouble}; starting {screen} instead")
    streams.complain(text.format(trouble=trouble, screen=_(INSTEAD[screen])))
    return screen


def _open_in_terminal(screen: UserInterface, save: bool, options: ScreenOptions) -> int:
    if screen is UserInterface.DEMO:
        return _demonstrate(options.get("begin"), options.get("player") or DEMO_PLAYER)
    with closing(_open_session(save=save)) as session:
        if (chosen := str(session.get_setting("language", ""))) in LANGUAGES:
            set_language(chosen)
        if screen is UserInterface.LINES:
            from py2048.app.terminal import plain_text

            return plain_text.run(session, sys.stdin, sys.stdout, **options)
        from py2048.app import terminal

        return terminal.run(session, **options)


def _demonstrate(begin: Start | None, player: str) -> int:
    """Let a computer player make a few moves, then print how to play. Nothing is saved."""
    from py2048.app.session import Session
    from py2048.presentation.describe import describe

    print(_("2048, played by the computer for a few seconds."))
    session = Session()
    happened = (begin or Session.start)(session)
    end = time.monotonic() + DEMO_S
    while happened:
        print(*map(describe, happened), sep="\n", flush=True)
        if session.game.ply:
            print(session.game.board, flush=True)
            time.sleep(DEMO_MOVE_S)
        happened = session.autoplay_step(player) if time.monotonic() < end else ()
    print(_(HOW_TO_PLAY))
    return 0
