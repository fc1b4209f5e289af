"""The application in a pseudo-terminal, with a terminal emulator that reads its screen."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pexpect
import pyte
import pytest

from py2048.app.session import open_session
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.game import Game
from py2048.core.rules import get_rules
from py2048.presentation.themes import DARK, LIGHT

# The same timeouts for slow disks as in conftest.py.
PLAY = (
    "import sys; from py2048.app.session import autosave, open_session\n"
    "from py2048.app.terminal import run\n"
    "autosave.WRITE_WAIT_S = autosave.READ_TIMEOUT_S = autosave.CLOSE_TIMEOUT_S = 60.0\n"
    "s = open_session(); s.resume() or s.start(seed=7)\n"
    "status = run(s); s.close(); sys.exit(status)"
)
SIZE = 16, 60  # too small for large digits, so that numbers can be read


class Terminal:
    """A Python program in a pseudo-terminal, and its screen.

    Args:
        arguments: Arguments of Python.
        size: Rows and columns.
        **variables: Environment variables.
    """

    def __init__(self, arguments: list[str], size: tuple[int, int], **variables: str) -> None:
        rows, columns = size
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        environment = os.environ | variables
        for name in ("COLUMNS", "LINES"):  # these describe the terminal that runs the tests
            environment.pop(name, None)
        self.process = pexpect.spawn(sys.executable, arguments, env=environment, dimensions=size)
        self.process.delaybeforesend = None

    def read(self) -> None:
        """Update the screen with the program's output."""
        try:
            # The emulator does not support private keyboard modes and would print them.
            raw = self.process.read_nonblocking(1 << 16, timeout=0.05)
            self._stream.feed(re.sub(rb"\x1b\[[<>=][0-9;]*u", b"", raw))
        except (pexpect.TIMEOUT, pexpect.EOF):
            pass

    def end(self) -> None:
        """Kill the program; on a busy machine `close` alone would time out."""
        self.process.kill(signal.SIGKILL)
        while self.process.isalive():
            self.read()
        self.process.close()

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Update the screen until the condition is true."""
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, f"no {what} on:\n" + "\n".join(self.screen.display)
            self.read()

    def shows(self, text: str) -> bool:
        """Return whether a text is on the screen."""
        return self.finds(re.escape(text))

    def finds(self, pattern: str) -> bool:
        """Return whether a pattern matches within a line of the screen."""
        return any(re.search(pattern, line) for line in self.screen.display)

    def board(self) -> list[list[str]]:
        """Return the numbers on the board, row by row."""
        rows = []
        for line in self.screen.display[:-1]:  # without the key bar
            numbers = re.findall(r"\d+", line[:31])
            if numbers:
                rows.append(numbers)
        return rows


def open_terminal(data_folder: Path) -> Terminal:
    """Start the game, or resume it."""
    variables = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    return Terminal(["-c", PLAY], SIZE, PY2048_HOME=str(data_folder), **variables)


@pytest.fixture
def terminal(data_folder: Path) -> Iterator[Terminal]:
    terminal = open_terminal(data_folder)
    yield terminal
    terminal.end()


def numbers(board: Board) -> list[list[str]]:
    rows = [[str(tile) for tile in row if tile] for row in board.rows]
    return [row for row in rows if row]


def test_a_person_plays_switches_theme_quits_and_comes_back(terminal, data_folder):
    """All of 40 keys sent at once count, and the game is resumed after quitting."""
    game = Game(get_rules("classic"), seed=7)
    terminal.until(lambda: terminal.shows("Best"), "score")
    terminal.until(lambda: terminal.board() == numbers(game.board), "first board")
    assert terminal.screen.buffer[0][0].bg == DARK.page.removeprefix("#")

    arrows = {Direction.LEFT: "\x1b[D", Direction.UP: "\x1b[A", Direction.RIGHT: "\x1b[C"}
    burst = [Direction.LEFT, Direction.UP, Direction.RIGHT, Direction.UP] * 10
    terminal.process.send("".join(arrows[direction] for direction in burst))
    for direction in burst:
        game.attempt(direction)
    terminal.until(lambda: terminal.shows(f"move {game.ply}"), f"move {game.ply}")
    terminal.until(lambda: terminal.board() == numbers(game.board), "board after the burst")
    assert terminal.shows(f"{game.score:,}")

    terminal.process.send("t")
    terminal.until(
        lambda: terminal.screen.buffer[0][0].bg == LIGHT.page.removeprefix("#"), "light page"
    )
    terminal.process.send("n")
    terminal.until(lambda: terminal.shows("Start a new game?"), "question")
    terminal.process.send("n")
    terminal.until(lambda: not terminal.shows("Start a new game?"), "answer")
    terminal.process.send("q")
    terminal.until(lambda: not terminal.process.isalive(), "end of the program")
    assert terminal.process.exitstatus == 0

    again = open_terminal(data_folder)
    again.until(lambda: again.shows("Game resumed"), "resumed game")
    again.until(lambda: again.board() == numbers(game.board), "board of the resumed game")
    again.end()
    session = open_session()
    assert session.resume()
    assert session.game.board == game.board
    session.close()


def test_sigterm_restores_the_terminal(terminal):
    """SIGTERM restores the main screen and the mouse, and sets the exit status."""
    terminal.until(lambda: terminal.shows("Best"), "score")
    terminal.process.kill(signal.SIGTERM)
    output = b""
    with suppress(pexpect.EOF):
        while True:
            with suppress(pexpect.TIMEOUT):
                output += terminal.process.read_nonblocking(1 << 16, timeout=0.05)
    terminal.process.wait()
    assert b"\x1b[?1049l" in output
    assert b"\x1b[?1000l" in output
    assert terminal.process.exitstatus == 128 + signal.SIGTERM
