"""Measure the desktop window: time to the first tiles, animation, and key latency.

Needs a display, such as the one that ``xvfb-run -a`` provides. The time from the start of the
process until the tiles of the saved game are visible is measured on a separate Xvfb, whose
framebuffer is a memory-mapped file. A minimal tkinter program is measured for comparison.
"""

from __future__ import annotations

import gc
import mmap
import os
import pty
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tkinter as tk
from collections.abc import Iterator
from contextlib import closing, contextmanager
from operator import truediv
from pathlib import Path

import numpy as np

from py2048.app.desktop import why_unavailable
from py2048.app.session import Session, open_session
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.presentation.themes import DEFAULT_THEME

RUNS = 9
MOVES = 60
KEYS, PACE_S = 200, 0.1
"""Number of key presses, and the seconds between them for a fast player."""
POLL_MS = 5
"""Interval in milliseconds at which the end of an animation is polled."""
TIMEOUT_S = 20.0
SETTLING_S = 0.5
"""Seconds to wait after the first frame, while the game opens its store."""

SCREEN = "1920x1080x24"
"""Size of the virtual screen."""

SAVED = "4 2 . ./8 4 2 ./64 32 16 4/256 128 512 8"
"""Board of the saved game."""

FACE = int(DEFAULT_THEME.tile(512).background[1:], 16)
"""Colour of the saved game's largest tile."""

BARE_TK = f"""
import tkinter
root = tkinter.Tk()
canvas = tkinter.Canvas(root, width=520, height=520)
canvas.pack()
for index in range(16):
    x, y = 130 * (index % 4), 130 * (index // 4)
    canvas.create_rectangle(x, y, x + 120, y + 120, fill="#{FACE:06x}")
    canvas.create_text(x + 60, y + 60, text=2**index, font=("sans", 30, "bold"))
root.mainloop()
"""

SCRIPTS = Path(sys.executable).parent
COMMANDS = {
    "bare Tk": [sys.executable, "-c", BARE_TK],
    "py2048": [str(SCRIPTS / "py2048")],
    "py2048 play --ui desktop": [str(SCRIPTS / "py2048"), "play", "--ui", "desktop"],
}


class VirtualScreen:
    """A virtual screen whose framebuffer can be read directly.

    Args:
        folder: An empty folder for the framebuffer.
    """

    def __init__(self, folder: str) -> None:
        reading, writing = os.pipe()
        self._server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-fbdir", folder, "-screen", "0", SCREEN],
            pass_fds=[writing],
            stderr=subprocess.DEVNULL,
        )
        os.close(writing)
        with os.fdopen(reading) as answer:
            self.display = f":{answer.readline().strip()}"
        with Path(folder, "Xvfb_screen0").open("r+b") as file:
            self._picture = np.frombuffer(mmap.mmap(file.fileno(), 0), np.uint32)

    def shows_tiles(self) -> bool:
        """Return whether about 2,000 pixels have the colour of the largest tile."""
        return int(((self._picture[::50] & 0xFFFFFF) == FACE).sum()) >= 40

    def close(self) -> None:
        """Stop Xvfb."""
        self._server.terminate()
        self._server.wait()


@contextmanager
def glass() -> Iterator[tuple[VirtualScreen, dict[str, str]]]:
    """Yield a virtual screen and the environment variables for a new user."""
    with tempfile.TemporaryDirectory() as folder:
        screen = VirtualScreen(folder)
        home = Path(folder, "home")
        home.mkdir()
        environment = {**os.environ, "DISPLAY": screen.display, "PY2048_HOME": str(home)}
        # Python keeps compiled modules after the first run, as on a player's machine.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        with closing(open_session(f"sqlite:///{home}/py2048.sqlite3")) as session:
            session.start(seed=1, board=Board.parse(SAVED))
            session.move(Direction.RIGHT)
        try:
            yield screen, environment
        finally:
            screen.close()


def seconds_to_see(command: list[str], screen: VirtualScreen, environment: dict[str, str]) -> float:
    """Return the time from a command's start until tiles are visible."""
    ours, theirs = pty.openpty()
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env=environment, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL
    )
    while not screen.shows_tiles():
        time.sleep(0.001)
        if time.perf_counter() - began > TIMEOUT_S:
            raise TimeoutError(f"{' '.join(command)} shows nothing")
    took = time.perf_counter() - began
    time.sleep(SETTLING_S)
    process.terminate()
    process.wait()
    os.close(ours)
    os.close(theirs)
    while screen.shows_tiles():
        time.sleep(0.01)
    return took


def commands() -> None:
    """Print the time until tiles are visible, for py2048 and for a minimal Tk program."""
    if shutil.which("Xvfb") is None:
        print("first tiles of the command: not measured: no Xvfb")
        return
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with glass() as (screen, environment):
        for run in range(RUNS + 1):  # the first run is not counted
            for name, command in COMMANDS.items():
                seconds = seconds_to_see(command, screen, environment)
                times[name] += [1000 * seconds] * bool(run)
    bare = times["bare Tk"]
    for name, each in times.items():
        ratio = statistics.median(map(truediv, each, bare))
        print(f"first tiles of {name}: {min(each):.0f} ms, {ratio:.1f} times bare Tk")


def frames() -> None:
    """Print the animation's frame rate and its CPU usage as a share of one core."""
    from py2048.app.desktop.launch import GameWindow

    session = Session()
    session.start(seed=1)
    running = GameWindow(lambda: session)
    running.first_frame()
    running.finish_opening()
    assert running.app is not None
    controller = running.app.controller
    board, root = running.window.board, running.root
    left = MOVES

    def move_when_still() -> None:
        nonlocal left
        if not board.is_moving:
            left -= 1
            if left < 0:
                root.quit()
                return
            controller.do(str(_next(session)))
        root.after(POLL_MS, move_when_still)

    began, busy, before = time.perf_counter(), time.process_time(), board.frames
    move_when_still()
    root.mainloop()
    took, count = time.perf_counter() - began, board.frames - before
    share = (time.process_time() - busy) / took
    print(f"animation: {count / took:.0f} frames/s, {100 * share:.0f} % of a core")
    running.close()


def keys() -> None:
    """Print the latency from a key press to its first frame, with and without the coach."""
    for is_on in (False, True):
        times, busy = key_times(is_on=is_on)
        middle, slow = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        print(
            f"key to frame, coach {'on' if is_on else 'off'}: median {middle:.1f} ms, "
            f"19 of 20 within {slow:.1f} ms; {busy:.1f} ms of processor time a key"
        )


def key_times(*, is_on: bool) -> tuple[list[float], float]:
    """Return latencies in milliseconds, and CPU time per key in milliseconds."""
    from py2048.app.controller.coach import COACH_SETTING
    from py2048.app.desktop.launch import GameWindow

    gc.collect()  # frees the previous window's objects in Tk's thread
    session = Session()
    session.start(seed=1)
    session.set_setting(COACH_SETTING, is_on)
    running = GameWindow(lambda: session)
    running.first_frame()
    running.finish_opening()
    assert running.app is not None
    controller, board, root = running.app.controller, running.window.board, running.root
    board.focus_force()
    _live(root, PACE_S)
    while controller.is_waiting:  # waits for the judge
        _live(root, PACE_S)
    times, before = [], time.process_time()
    for _ in range(KEYS):
        name, version = str(_next(session)).capitalize(), session.version
        began = time.perf_counter()
        board.event_generate(f"<KeyPress-{name}>")
        root.update()
        root.winfo_pointerx()  # returns after the display has handled earlier requests
        times.append(1000 * (time.perf_counter() - began))
        assert session.version > version, "the key has not reached the board"
        _live(root, PACE_S)
    busy = 1000 * (time.process_time() - before) / KEYS
    running.close()
    return times, busy


def _live(root: tk.Tk, seconds: float) -> None:
    """Process a window's events for `seconds` seconds."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        root.update()
        time.sleep(0.001)


def _next(session: Session) -> Direction:
    if session.game.is_over:
        session.start(seed=session.game.ply)
    legal = session.game.legal_directions()
    return next(d for d in (Direction.DOWN, Direction.LEFT, *legal) if d in legal)


def main() -> None:
    """Measure, if there is a display."""
    missing = why_unavailable()
    if missing:
        print(f"desktop: not measured: {missing}")
        return
    print(f"display {os.environ.get('DISPLAY', '')}, load {os.getloadavg()[0]:.1f}")
    commands()
    frames()
    keys()


if __name__ == "__main__":
    main()
