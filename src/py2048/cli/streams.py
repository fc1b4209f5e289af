"""Standard input, output and error made safe, and what a command says there while it works."""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import select
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling
    from py2048.players import Player
    from py2048.session import Hint, PositionSnapshot

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""

PIPE_TIMEOUT_S = 2.0
"""How long a game waits for the first of the moves in a pipe."""

QUIET_S = 1.0
"""Seconds before anything is said about work that lasts."""

PERIODS_S = {True: 0.2, False: 5.0}
"""Seconds between two pieces of news: on a terminal, where a line is rewritten, and in a pipe."""

ASCII = {
    "✓": "+",
    "✗": "x",
    "±": "+/-",
    "\N{MULTIPLICATION SIGN}": "x",
    "\N{EN DASH}": "-",
    "…": "...",
    "→": "->",
    "━": "=",
}
ASCII |= dict(zip("·▁▂▃▄▅▆▇█", "._.,-=+*#", strict=True))
"""What stands for the signs of our output where the encoding lacks them."""

UNWRITABLE = {errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF, getattr(errno, "EDQUOT", 0)}
"""Errors of a stream whose disk is full or gone."""


def settle() -> None:
    """Open closed streams on the null device, and let no text fail for its encoding."""
    codecs.register_error("py2048", _in_ascii)
    for name, errors in (("stdin", "replace"), ("stdout", "py2048"), ("stderr", "py2048")):
        stream = getattr(sys, name) or _opened(name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=errors)


def _opened(name: str) -> TextIO:
    """Open the null device as the stream `name`, so that no other file takes its descriptor."""
    null = open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8")  # noqa: PTH123, SIM115
    os.set_inheritable(null.fileno(), True)
    setattr(sys, name, null)
    setattr(sys, f"__{name}__", null)
    return null


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    return "".join(ASCII.get(sign, "?") for sign in text), error.end


def are_terminal() -> bool:
    """Return whether a person sits at standard input and output."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def is_dumb() -> bool:
    """Return whether the terminal can print lines only: it says so, or its encoding has no blocks.

    Textual paints on standard error, in blocks such as ``▀``.
    """
    try:
        "▀".encode(getattr(sys.__stderr__, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return True
    return os.environ.get("TERM") == "dumb"


def has_moves() -> bool:
    """Return whether standard input has something to read: moves for a game.

    A terminal and a device have none, nor has a pipe in which nothing comes for a while: some
    launchers leave such a one open. Where the output is a terminal a person made the pipe, and
    may take their time.
    """
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):  # no file at all, as under pytest
        return False
    if stat.S_ISCHR(mode):
        return False
    if not stat.S_ISREG(mode) and not _speaks():
        return sys.stdout.isatty()
    return bool(sys.stdin.buffer.peek(1))  # type: ignore[union-attr]  # it is buffered


def _speaks() -> bool:
    """Return whether something comes from the pipe at standard input, be it its end."""
    try:
        return bool(select.select([sys.stdin], [], [], PIPE_TIMEOUT_S)[0])
    except OSError:  # Windows can wait for sockets only
        return True


def complain(message: str) -> None:
    """Print one line on standard error, if that can be."""
    try:
        print(f"py2048: {' '.join(message.splitlines())}", file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def reason(error: OSError) -> str:
    """Return in one line what could not be done: the file, if there is one, and why."""
    why = error.strerror or str(error) or type(error).__name__
    if error.filename is not None:
        return f"{error.filename}: {why}"
    # Whatever writes a file of its own says so by an error of ours.
    return f"cannot write to standard output: {why}" if error.errno in UNWRITABLE else why


def discard(stream: TextIO) -> None:
    """Let the null device take what a stream still holds: Python tries once more on its way out."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


# --- what is said while something lasts: on stderr ------------------------------------------------


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
