"""The desktop command in a separate process, with keys sent through the X server."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.processes import python, until, xdotool

from py2048.app import desktop
from py2048.app.commands import screens as command
from py2048.app.session import Session
from py2048.app.storage import open_store
from py2048.core.errors import Py2048Error

pytestmark = pytest.mark.gui

TIMEOUT_S = 120.0


class Process:
    """A running ``py2048 play --ui desktop``."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "py2048", "play", "--ui", "desktop", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.window = until(self._find).splitlines()[0]
        xdotool("windowfocus", "--sync", self.window)

    def _find(self) -> str:
        assert self.process.poll() is None, self.process.communicate()
        return xdotool("search", "--onlyvisible", "--pid", str(self.process.pid), "--name", "2048")

    def key(self, *keys: str) -> None:
        xdotool("key", "--delay", "2", *keys)

    def end(self) -> tuple[int, str]:
        """Wait for the process; return its exit status and standard error."""
        _, errors = self.process.communicate(timeout=TIMEOUT_S)
        return self.process.returncode, errors


@pytest.fixture
def open_game(display: str) -> Iterator[Callable[..., Process]]:
    if not shutil.which("xdotool"):
        pytest.skip("no xdotool: install xdotool")
    opened: list[Process] = []

    def open_(*words: str) -> Process:
        opened.append(Process(*words))
        return opened[-1]

    yield open_
    for each in opened:
        if each.process.poll() is None:
            each.process.kill()
            each.process.communicate()


def saved_turns(path: Path) -> int:
    """Return the number of turns of the stored game."""
    if not (path / "py2048.sqlite3").exists():
        return 0
    with open_store() as store:
        game = store.games.current()
    return len(game.turns) if game else 0


OPENING = """
import sys
from py2048.app.commands import screens
from py2048.app.desktop import launch
launch.GameWindow.finish_opening = lambda window: print(*sys.modules) or window.close()
screens.open_screen(screens.UserInterface.DESKTOP)
"""


@pytest.mark.usefixtures("display", "data_folder")
def test_the_first_frame_only_imports_what_it_needs():
    """The window is drawn before session, store, players and boards are loaded."""
    done = python("-c", OPENING, check=True)
    later = {"typer", "sqlalchemy", "numpy", "rich", "dataclasses", "secrets"}
    later |= {"py2048.app.session", "py2048.app.storage", "py2048.players", "py2048.core.board"}
    assert "py2048.app.desktop.window" in done.stdout.split()
    assert not later & set(done.stdout.split())


def test_without_tkinter_the_terminal_opens_and_the_package_is_named(monkeypatch, capsys):
    """Without tkinter, the command falls back to the terminal and names the missing package."""
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(desktop, "has_tkinter", lambda: False)
    with pytest.raises(Py2048Error, match="python3-tk"):
        command.choose_screen(command.UserInterface.DESKTOP)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert command.choose_screen(command.UserInterface.AUTO) is command.UserInterface.TERMINAL
    assert "python3-tk" in capsys.readouterr().err
    monkeypatch.setattr(desktop, "has_tkinter", lambda: True)
    assert command.choose_screen(command.UserInterface.AUTO) is command.UserInterface.DESKTOP
    monkeypatch.delenv("DISPLAY")
    if sys.platform == "linux":
        assert command.choose_screen(command.UserInterface.AUTO) is command.UserInterface.TERMINAL
        assert "display" in desktop.why_unavailable()


def test_a_display_that_does_not_answer_is_an_error_in_one_line(monkeypatch):
    """If the display does not exist, an error is raised and no window opens."""
    if os.name != "posix" or sys.platform == "darwin":
        pytest.skip("only X11 has display names")
    monkeypatch.setenv("DISPLAY", ":987")
    with pytest.raises(desktop.NoDesktopError, match="no window can be opened"):
        desktop.run(Session)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_closes_the_window_and_loses_no_move(open_game, data_folder, number):
    """A signal ends the command without a traceback, even if a dialog is open, and saves moves."""
    game = open_game("--seed", "7")
    game.key("Left", "Down")
    until(lambda: saved_turns(data_folder) == 2)
    with closing(sqlite3.connect(data_folder / "py2048.sqlite3", isolation_level=None)) as rival:
        rival.execute("BEGIN IMMEDIATE")
        game.key("Right", "F1")
        until(lambda: xdotool("search", "--onlyvisible", "--name", "^Keys and mouse$"))
        game.process.send_signal(number)
        time.sleep(1.0)
    assert game.end() == (128 + number, "")
    assert saved_turns(data_folder) == 3


def test_without_fonts_the_reason_is_one_line(display, tmp_path):
    """On a system without fonts, the command fails and names the missing package."""
    config = tmp_path / "fonts.conf"
    config.write_text(f"<fontconfig><cachedir>{tmp_path}</cachedir></fontconfig>")
    done = python("-m", "py2048", "play", "--ui", "desktop", FONTCONFIG_FILE=str(config))
    if done.returncode == 0:
        pytest.skip("this Tk does not use fontconfig")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "no fonts are installed" in done.stderr
