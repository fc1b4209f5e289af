"""Standard input, output and error made safe, and what a command says there while it works."""

from __future__ import annotations

import codecs
import contextlib
import errno
import math
import os
import select
import stat
import sys
import threading
import time
from typing import Self, TextIO

from py2048.core.errors import missing_compiler

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""

PIPE_TIMEOUT_S = 2.0
"""How long a game waits for the first of the moves in a pipe."""

QUIET_S = 1.0
"""Seconds before anything is said about work that lasts."""

LOOK_S, PIPE_PERIOD_S = 0.2, 10.0
"""Seconds between two looks at the news, and between two lines about them in a pipe."""

ASCII = {"✓": "+", "✗": "x", "±": "+/-", "…": "...", "→": "->"}
ASCII |= {"\N{MULTIPLICATION SIGN}": "x", "\N{EN DASH}": "-"}
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
    """Says on stderr how far a command is, from a thread of its own and only if it lasts.

    On a terminal one line is rewritten and taken away at the end; a pipe gets a line now and then.
    The progress of the compiler is said too, and on a terminal what brings one that is missing.

    Args:
        quiet: say nothing.

    Attributes:
        news: what is said, if there is something.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.news: object | None = None
        self._quiet = quiet
        self._is_terminal = sys.stderr.isatty()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="status", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def tell(self, news: object) -> None:
        """Say this from now on."""
        self.news = news

    def _watch(self) -> None:
        from py2048.engine.jit import progress

        due, is_written = math.inf, False
        while not self._over.wait(LOOK_S):
            news = "; ".join(str(each) for each in (self.news, progress.now()) if each)
            if not news or self._quiet:
                continue
            now = time.monotonic()
            due = min(due, now + QUIET_S)
            if now >= due:
                if not is_written and self._is_terminal and (line := missing_compiler()):
                    complain(f"faster with Numba: {line}")
                self._write(f"\rpy2048: {news}\x1b[K" if self._is_terminal else f"py2048: {news}\n")
                due, is_written = now if self._is_terminal else now + PIPE_PERIOD_S, True
        if is_written and self._is_terminal:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            print(text, end="", file=sys.stderr, flush=True)
