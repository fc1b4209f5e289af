"""Robust standard streams, and a status line for long-running commands."""

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
from py2048.core.language import _

INTERRUPTED = 130
"""Exit status after Ctrl-C, following the convention of shells."""

PIPE_TIMEOUT_S = 2.0
"""Maximum time to wait for the first move from a pipe, in seconds."""

QUIET_S = 1.0
"""Delay before the first status line is written, in seconds."""

POLL_S, PIPE_PERIOD_S = 0.2, 10.0
"""Seconds between updates of the status line on a terminal, and between new lines in a pipe."""

ASCII = {"✓": "+", "✗": "x", "±": "+/-", "…": "...", "→": "->"}
ASCII |= {"\N{MULTIPLICATION SIGN}": "x", "\N{EN DASH}": "-", "\N{MINUS SIGN}": "-"}
"""ASCII replacements for characters that an output stream may not be able to encode."""

UNWRITABLE = {errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF, getattr(errno, "EDQUOT", 0)}
"""Error numbers of failed writes to a disk that is full or was removed."""


def settle() -> None:
    """Replace closed streams with the null device, and unencodable characters with ASCII."""
    codecs.register_error("py2048", _in_ascii)
    for name, errors in (("stdin", "replace"), ("stdout", "py2048"), ("stderr", "py2048")):
        stream = getattr(sys, name) or _opened(name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=errors)


def _opened(name: str) -> TextIO:
    """Open the null device as a standard stream, so that no other file gets the descriptor."""
    null = open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8")  # noqa: PTH123, SIM115
    os.set_inheritable(null.fileno(), True)
    setattr(sys, name, null)
    setattr(sys, f"__{name}__", null)
    return null


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler that substitutes characters from `ASCII`."""
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    return "".join(ASCII.get(sign, "?") for sign in text), error.end


def are_terminal() -> bool:
    """Return whether both standard input and standard output are terminals."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def is_dumb() -> bool:
    """Return whether the terminal can only display lines of text.

    Either ``TERM`` is ``dumb``, or the encoding of standard error, on which Textual draws, lacks
    block characters such as ``▀``.
    """
    try:
        "▀".encode(getattr(sys.__stderr__, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return True
    return os.environ.get("TERM") == "dumb"


def has_moves() -> bool:
    """Return whether standard input provides moves for a game.

    Only files and pipes provide moves. A pipe without data may be unused, because some launchers
    leave a pipe open, or a person may still be typing. A pipe without data only counts if the
    output is a terminal.
    """
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):  # standard input may lack a file descriptor, as under pytest
        return False
    if stat.S_ISCHR(mode):
        return False
    if not stat.S_ISREG(mode) and not _has_input():
        return sys.stdout.isatty()
    return bool(sys.stdin.buffer.peek(1))  # type: ignore[union-attr]  # it is buffered


def _has_input() -> bool:
    """Wait for data or the end of standard input, and return whether there is data."""
    try:
        return bool(select.select([sys.stdin], [], [], PIPE_TIMEOUT_S)[0])
    except OSError:  # select supports only sockets on Windows
        return True


def complain(message: str) -> None:
    """Print a message to standard error as one line, ignoring write errors."""
    try:
        print(f"py2048: {' '.join(message.splitlines())}", file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def reason(error: OSError) -> str:
    """Return a description of an `OSError` in one line, including its file if known."""
    why = error.strerror or str(error) or type(error).__name__
    if error.filename is not None:
        return f"{error.filename}: {why}"
    # Errors that occur while writing to standard output do not contain a file name.
    return f"cannot write to standard output: {why}" if error.errno in UNWRITABLE else why


def discard(stream: TextIO) -> None:
    """Redirect a stream to the null device, because Python flushes all streams at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


# --- status line ---------------------------------------------------------------------------------


class StatusLine:
    """Reports a command's progress on stderr from a thread, after `QUIET_S` seconds.

    On a terminal, the status line is updated in place and erased at the end. In a pipe, a new line
    is written every `PIPE_PERIOD_S` seconds if there is new progress. The line includes the
    compiler's progress and, on a terminal, advice to install a missing compiler.

    Args:
        quiet: Whether to print nothing.

    Attributes:
        news: The current progress, or None.
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
        """Set the current progress."""
        self.news = news

    def _watch(self) -> None:
        from py2048.engine.jit import progress

        due, written = math.inf, ""
        while not self._over.wait(POLL_S):
            news = "; ".join(str(each) for each in (self.news, progress.now()) if each)
            if not news or self._quiet:
                continue
            now = time.monotonic()
            due = due if written else min(due, now + QUIET_S)
            if now >= due and (self._is_terminal or news != written):
                if not written and self._is_terminal and (line := missing_compiler()):
                    complain(_("faster with Numba: {line}").format(line=line))
                self._write(f"\rpy2048: {news}\x1b[K" if self._is_terminal else f"py2048: {news}\n")
                due, written = now if self._is_terminal else now + PIPE_PERIOD_S, news
        if written and self._is_terminal:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            print(text, end="", file=sys.stderr, flush=True)
