"""Count the function calls that a move causes, for a key press and for a message to the server.

The script prints the number of calls to py2048's functions by file, including calls in the threads
that save the move. It reports the median of `TRACED` moves, after `WARM_UP` moves that import
modules and fill caches.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = str(ROOT / "src" / "py2048")
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "server"), str(ROOT / "tests" / "app" / "storage")]
WARM_UP, TRACED = 25, 9
SETTLE_S = 0.5  # time for background threads to save the move


class Trace:
    """Records calls of functions in `src/py2048`, in all threads, while it is active."""

    def __init__(self) -> None:
        self._moves: list[list[tuple[str, str]]] = []
        self._frames: set[FrameType] = set()
        self._is_active = False
        threading.setprofile(self._record)
        sys.setprofile(self._record)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Record the calls of a move within the block."""
        self._moves.append([])
        self._is_active = True
        yield
        self._is_active = False

    def _record(self, frame: FrameType, event: str, _argument: object) -> None:
        file = frame.f_code.co_filename
        is_new = event == "call" and frame not in self._frames  # not a resumed generator
        if self._is_active and is_new and file.startswith(PACKAGE):
            self._frames.add(frame)
            self._moves[-1].append((file[len(PACKAGE) + 1 :], frame.f_code.co_qualname))

    def report(self, name: str) -> None:
        """Print the calls of the median move, with files in the order of their first call."""
        median = sorted(self._moves, key=len)[len(self._moves) // 2]
        files = dict.fromkeys(file for file, _ in median)
        print(f"{name}: {len(median)} calls in {len(files)} files")
        for file in files:
            calls = [qualname for each, qualname in median if each == file]
            listed = dict.fromkeys(each.partition(".")[0] for each in calls)
            print(f"  {file} ({len(calls)}): {', '.join(listed)}")


def trace_key(folder: str) -> Trace:
    """Trace key presses on a fake terminal screen, with an SQLite store."""
    controlled = import_module("tests.app.controller.fake_screen").controlled
    from py2048.app.session import open_session
    from py2048.app.terminal.app import brief

    trace = Trace()
    session = open_session(f"{folder}/key.sqlite3")
    session.start(seed=7)
    controller, _screen = controlled(session, text_of=brief)
    for number in range(WARM_UP + TRACED):
        direction = str(session.game.legal_directions()[0])
        if number < WARM_UP:
            controller.do(direction)
            continue
        with trace.active():
            controller.do(direction)
            time.sleep(SETTLE_S)
    session.close()
    return trace


async def trace_server(folder: str) -> Trace:
    """Trace move messages to a server without network, from a single player."""
    inside = import_module("tests.server.inside")
    trace = Trace()
    async with inside.running(f"{folder}/server.sqlite3") as services:
        visitor = inside.Visitor(services)
        await visitor.new("classic", "ranked")
        for _ in range(WARM_UP):
            await visitor.move()
        for _ in range(TRACED):
            await asyncio.sleep(SETTLE_S)
            number, direction = visitor.state["version"] + 1, visitor.state["legal"][0]
            frame = f'{{"type":"move","number":{number},"direction":"{direction}"}}'
            with trace.active():
                await visitor.connection.on_message(frame)
                await asyncio.sleep(SETTLE_S)
            await visitor.receive()
    return trace


def main() -> None:
    """Trace both kinds of moves."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        trace_key(folder).report("A key")
        asyncio.run(trace_server(folder)).report("A move on the server")


if __name__ == "__main__":
    main()
