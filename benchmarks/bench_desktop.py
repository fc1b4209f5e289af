"""How soon the desktop game's window shows, and what a frame of its animation costs.

Needs a display, such as ``xvfb-run -a``.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

from py2048.engine import Direction
from py2048.session import Session
from py2048.ui.desktop import trouble

RUNS = 7
MOVES = 60

FIRST_FRAME = """
import time
began = time.perf_counter()
from py2048.session import open_session
from py2048.ui.desktop.start import start
imported = time.perf_counter()
running = start(open_session)
running.first_frame()
shown = time.perf_counter()
running.close()
print(imported - began, shown - imported, flush=True)
"""


def first_frames() -> None:
    """Print the time from the start of Python to the first frame, and its part in our hands."""
    times = []
    for _ in range(RUNS + 1):  # the first run warms the disk's cache
        began = time.perf_counter()
        command = [sys.executable, "-c", FIRST_FRAME]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        whole = time.perf_counter() - began
        imports, frame = map(float, printed.split())
        times.append((whole, imports, frame))
    medians = [1000 * statistics.median(column) for column in zip(*times[1:], strict=True)]
    print(
        f"first frame: process {medians[0]:.0f} ms, of it imports {medians[1]:.0f} ms, "
        f"window {medians[2]:.0f} ms"
    )


def frames() -> None:
    """Print how many frames a second the animation reaches, and its share of a core."""
    from py2048.ui.desktop.start import start

    session = Session()
    session.start(seed=1)
    running = start(session)
    running.first_frame()
    running.go_on()
    board = running.window.board
    began, busy, before = time.perf_counter(), time.process_time(), board.frames
    moving = 0.0
    for move in range(MOVES):
        if session.game.is_over:
            session.start(seed=move)
        legal = session.game.legal_directions()
        session.move(next(d for d in (Direction.DOWN, Direction.LEFT, *legal) if d in legal))
        since = time.perf_counter()
        while board.is_moving:
            running.root.update()
            time.sleep(0.001)
        moving += time.perf_counter() - since
    count = board.frames - before
    share = (time.process_time() - busy) / (time.perf_counter() - began)
    print(f"animation: {count / moving:.0f} frames/s, {100 * share:.0f} % of a core")
    running.close()


def main() -> None:
    """Measure, where there is a display."""
    missing = trouble()
    if missing:
        print(f"desktop: not measured: {missing}")
        return
    print(f"display {os.environ.get('DISPLAY', '')}")
    first_frames()
    frames()


if __name__ == "__main__":
    main()
