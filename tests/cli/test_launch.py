"""Starting the game: the table of screens, and the real command in each environment."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest
from tests.processes import python, until, xdotool

from py2048.app.commands.screens import UserInterface, best_screen
from py2048.app.session import open_session
from py2048.app.storage import open_store
from py2048.cli import main
from py2048.core.rules import get_rules

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 60.0
LINES, DEMO = b"2048. Type help", b"2048, played by the computer"
TERMINAL = b"\x1b[?1049h"
"""What a screen prints first; a window prints nothing."""

MOVES, NULL, CLOSED, SILENT = "moves", "null", "closed", "silent"


def documented() -> dict[tuple[bool, ...], UserInterface]:
    """Return the table of ``docs/reference/command.md``."""
    text = (ROOT / "docs/reference/command.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|" + r" (yes|no|any) \|" * 3 + r" .*\(`(\w+)`\) \|$", text, re.MULTILINE)
    meanings = {"yes": [True], "no": [False], "any": [True, False]}
    return {
        place: UserInterface(name)
        for *words, name in rows
        for place in product(*(meanings[word] for word in words))
    }


def test_the_rule_is_the_documented_one():
    """Each of the eight environments matches one row and opens its screen."""
    rule = documented()
    assert len(rule) == 8
    assert {place: best_screen(*place) for place in rule} == rule


def test_a_terminal_that_only_prints_lines_has_the_game_in_lines():
    """``TERM=dumb`` only matters where the terminal interface would open."""
    assert best_screen(False, False, True, dumb=True) is UserInterface.LINES
    assert best_screen(False, True, True, dumb=True) is UserInterface.DESKTOP


SERVE = """
import py2048.server.run, py2048.cli
py2048.server.run.run = lambda *_: None
py2048.cli.main(["serve", "--port", "0"])"""


@pytest.mark.parametrize(
    ("code", "later"),
    [
        ("import py2048.app.terminal.plain_text", {"textual"}),
        ("import py2048.app.session as s; s.Session().start()", {"numba", "py2048.engine.boards"}),
        (SERVE, {"websockets", "sqlalchemy", "argon2"}),
    ],
    ids=["lines", "game", "server"],
)
def test_what_is_not_needed_yet_is_not_imported(code, later):
    """Lines need no Textual, a game no compiler, and a first page no database and no socket."""
    done = python("-c", f"{code}\nimport sys; print(*sys.modules)", check=True)
    assert not later & {*done.stdout.split()}


class Started:
    """A running ``py2048``, its output and its windows."""

    def __init__(
        self, where: str, stdin: str, display: str | None, home: Path, *words: str
    ) -> None:
        environment = os.environ | {"PY2048_HOME": str(home), "TERM": "xterm"}
        environment.pop("DISPLAY", None)
        environment |= {"DISPLAY": display} if display else {}
        self._screen, slave = os.openpty() if where == "terminal" else os.pipe()
        inputs = {MOVES: subprocess.PIPE, SILENT: subprocess.PIPE, "terminal": slave}
        closing = "<&- " * (stdin == CLOSED) + ">&- 2>&-" * (where == "closed")
        words = words or (sys.executable, "-m", "py2048", "--rules", "5x5")
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" {closing}', "sh", *words],
            stdin=inputs.get(stdin, subprocess.DEVNULL),
            stdout=slave,
            stderr=slave,
            env=environment,
            cwd=ROOT,
            start_new_session=True,
        )
        os.close(slave)
        if stdin == MOVES:
            self.process.stdin.write(b"left\nright\n")
            self.process.stdin.close()
        self.printed = b""

    def until(self, expected: bytes) -> None:
        """Read until this was printed."""
        while expected not in self.printed:
            try:
                more = os.read(self._screen, 1 << 16)
            except OSError:  # no process has the terminal open any more
                more = b""
            assert more, f"no {expected!r} in {self.printed!r}"
            self.printed += more

    def until_window(self) -> None:
        """Wait for a window."""
        words = ("search", "--onlyvisible", "--pid", str(self.process.pid), "2048")
        until(lambda: xdotool(*words), TIMEOUT_S)

    def end(self) -> int:
        """Wait for the exit status."""
        return self.process.wait(TIMEOUT_S)

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()
        os.close(self._screen)


Start = Callable[..., Started]


@pytest.fixture
def start(data_folder: Path) -> Iterator[Start]:
    started: list[Started] = []

    def begin(where: str, stdin: str, display: str | None, *words: str) -> Started:
        home = data_folder / str(len(started))
        started.append(Started(where, stdin, display, home, *words))
        return started[-1]

    yield begin
    for each in started:
        each.close()


@pytest.mark.gui
def test_with_a_display_a_window_opens_unless_moves_come(display, start):
    """A window opens with any output, and with a terminal, silent or closed input."""
    if not shutil.which("xdotool"):
        pytest.skip("no xdotool: install xdotool")
    windows = [
        start("terminal", "terminal", display),
        start("terminal", CLOSED, display),
        start("pipe", NULL, display),
        start("closed", CLOSED, display),
        start("closed", SILENT, display),
    ]
    lines = [start("terminal", MOVES, display), start("pipe", MOVES, display)]
    for each in lines:
        each.until(LINES)
        each.until(b"Right: ")
        assert each.end() == 0
    for each in windows:
        each.until_window()


def test_without_a_display_a_terminal_has_its_game_and_moves_are_played(start):
    """Moves from a pipe are played and saved, even if nothing reads the output."""
    game = start("terminal", "terminal", None)
    lines = [start("terminal", MOVES, None), start("pipe", MOVES, None)]
    nowhere = start("closed", MOVES, None)
    for each in lines:
        each.until(LINES)
        each.until(b"Right: ")
        assert each.end() == 0
    assert nowhere.end() == 0
    game.until(TERMINAL)


def test_with_nothing_a_demonstration_is_played(start):
    """A demonstration plays moves, then explains how to play, with any kind of output."""
    places = [("terminal", CLOSED), ("terminal", NULL), ("pipe", CLOSED), ("pipe", SILENT)]
    started = [start(where, stdin, None) for where, stdin in places]
    unseen = start("closed", CLOSED, None)
    for each in started:
        each.until(DEMO)
    watched = started[2]
    watched.until(b"To play, start py2048")
    assert watched.end() == unseen.end() == 0
    assert watched.printed.count(b". Score ") > 1  # the first is that of the new game


def test_the_terminal_has_its_game_though_errors_go_elsewhere(start):
    """The terminal interface works with standard error redirected to a file."""
    words = ("sh", "-c", '"$0" -m py2048 2>/dev/null', sys.executable)
    start("terminal", "terminal", None, *words).until(TERMINAL)


ODD = '/opt/a "b" $HOME `c` 100% \\d/python'


@pytest.mark.skipif(sys.platform != "linux", reason="menus of freedesktop.org")
@pytest.mark.parametrize("program", [sys.executable, ODD])
def test_a_desktop_entry_starts_this_installation(program, tmp_path, monkeypatch, cli):
    """The entry names this Python and an existing icon; --remove deletes both."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "my data"))
    monkeypatch.setattr(sys, "executable", program)
    entry, picture = (Path(line[6:]) for line in cli("desktop-entry").splitlines())
    keys = dict(line.split("=", 1) for line in entry.read_text().splitlines()[1:])
    # As the specification reads it: the string first, then the quoted word.
    command = re.sub(r"\\(.)", r"\1", keys["Exec"])
    quoted = re.fullmatch(r'"((?:\\.|[^"`$\\])*)" -P -m py2048', command)
    assert quoted
    assert re.sub(r"\\(.)", r"\1", quoted[1]).replace("%%", "%") == program
    assert keys["Icon"] == str(picture)
    assert keys["Terminal"] == "false"
    assert picture.read_bytes().startswith(b"<svg")
    assert main(["desktop-entry", "--remove"]) == 0
    assert not entry.exists()
    assert not picture.exists()


def test_a_silent_pipe_at_a_terminal_is_waited_for(start):
    """With output to a terminal, the first move from a pipe may take any time."""
    game = start("terminal", SILENT, None)
    game.until(LINES)
    game.process.stdin.write(b"left\n")
    game.process.stdin.close()
    game.until(b"Left: ")
    assert game.end() == 0


def test_a_computer_player_leaves_the_games_of_a_person_alone(monkeypatch):
    """`--player` starts a new game unless `--resume` is given."""
    session = open_session()
    session.start(get_rules("2x4"), seed=1)
    session.move(session.game.legal_directions()[0])
    session.close()
    words = ["play", "--player", "greedy", "--ui", "lines"]
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert main(words) == 0
    with open_store() as store:
        (mine,) = store.games.select()
        (computers,) = store.records.select()
        assert (mine.position, bool(mine.extra.get("computer"))) == (1, False)
        assert computers.category == "computer"
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert main([*words, "--resume"]) == 0
    with open_store() as store:
        assert store.games.select() == []
