"""What a command says while it works, or something is compiled: on stderr, and only if it lasts."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling
    from py2048.players import Player
    from py2048.session import Hint, PositionSnapshot

QUIET_S = 1.0
"""Seconds before anything is said."""

PERIODS_S = {True: 0.2, False: 5.0}
"""Seconds between two pieces of news: on a terminal, where a line is rewritten, and in a pipe."""


class StatusLine:
    """One line on stderr about what takes long; a pipe gets a line now and then.

    Args:
        quiet: say nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._is_terminal = sys.stderr.isatty()
        self._next: float | None = None
        self._is_written = False

    def show(self, news: object | None) -> None:
        """Say the news, if there are any and the last are old; the first when it lasts."""
        if news is None:
            return
        if self._next is None:
            self._next = time.monotonic() + QUIET_S
        if time.monotonic() >= self._next:
            self.say(news)

    def say(self, news: object) -> None:
        """Say the news at once."""
        self._next = time.monotonic() + PERIODS_S[self._is_terminal]
        if not self._quiet:
            self._is_written = True
            opening, end = ("\r", "\x1b[K") if self._is_terminal else ("", "\n")
            print(f"{opening}py2048: {news}", end=end, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Take the line away from a terminal."""
        if self._is_written and self._is_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def telling(
    state: Callable[[], Compiling | None] | None = None, *, quiet: bool = False
) -> Iterator[None]:
    """Say how far the compiler is while the commands inside run.

    Args:
        state: returns how far it is; by default that of this process.
        quiet: say nothing.
    """
    from py2048.compiled.jit import progress

    line, over, told = StatusLine(quiet=quiet), threading.Event(), state or progress.now

    def watch() -> None:
        while not over.wait(PERIODS_S[True]):
            line.show(told())

    thread = threading.Thread(target=watch, name="compiling", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        line.close()


def hint_of(snapshot: PositionSnapshot, player: Player, *, only_move: bool, quiet: bool) -> Hint:
    """Return a player's hint; while it is being compiled, say on stderr what there is to know.

    Raises:
        PlayerError: if the player answers with an illegal direction.
    """
    from py2048.session import Hint, advise
    from py2048.ui.shared.describe import describe_hint

    line = StatusLine(quiet=quiet)
    try:
        for answer in advise(snapshot, player, only_move=only_move, apart=False):
            if not isinstance(answer, Hint):
                line.show(answer)
                time.sleep(PERIODS_S[True])
            elif not answer.instead_of:
                return answer
            elif not quiet:
                print(f"py2048: {describe_hint(answer)}", file=sys.stderr, flush=True)
    finally:
        line.close()
    raise AssertionError("advice ends with the hint that was asked for")
