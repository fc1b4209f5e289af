"""Every error that py2048 raises on purpose.

::

    Py2048Error
    ├── RulesError         (ValueError)   rules that make no game
    ├── BoardError         (ValueError)   a board that cannot exist
    ├── DirectionError     (ValueError)   a word that names no direction
    ├── SeedError          (ValueError)   a seed that is not a whole number
    ├── IllegalMoveError                  a direction that changes nothing
    │   └── GameOverError                 a move after the end
    ├── RecordError        (ValueError)   a record that breaks its own rules
    ├── PlayerError        (ValueError)   a player that is unknown or misbehaves
    ├── WeightsError       (ValueError)   a weights file that cannot be used
    ├── SolvingError       (ValueError)   rules or a goal that cannot be solved
    ├── CourseError        (ValueError)   a course request that cannot be met
    ├── TournamentError    (ValueError)   a tournament of players that cannot be held
    ├── ClientError                       a server that refuses a program, or does not answer
    ├── StorageError                      the store cannot read or write
    │   └── StaleGameError                another process has moved on
    └── MissingExtraError  (ImportError)  an optional library is not installed

Each message is one line that names the offending value and says what would be right, so a
front end can print it as it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MAX_SHOWN_LENGTH = 80
"""The characters of a value that a message shows."""


class Py2048Error(Exception):
    """The base of every error raised on purpose by py2048."""


class RulesError(Py2048Error, ValueError):
    """Rules that make no game, or a text that describes none."""


class BoardError(Py2048Error, ValueError):
    """A board that cannot exist: ragged rows, a value that is not a tile, a single cell."""


class DirectionError(Py2048Error, ValueError):
    """A word that names no direction."""


class SeedError(Py2048Error, ValueError):
    """A seed that is not a whole number from 0 to 2**64 - 1."""


class IllegalMoveError(Py2048Error):
    """A move in a direction that changes nothing."""


class GameOverError(IllegalMoveError):
    """A move after the end of the game."""


class RecordError(Py2048Error, ValueError):
    """A record that cannot be read, or that breaks its own rules."""


class PlayerError(Py2048Error, ValueError):
    """A player that is unknown, misconfigured, or answered with an illegal move."""


class WeightsError(Py2048Error, ValueError):
    """A weights file that is damaged or belongs to other rules."""


class SolvingError(Py2048Error, ValueError):
    """Rules, a goal or a saved solution with which nothing can be solved."""


class CourseError(Py2048Error, ValueError):
    """A course, starter or submission that cannot be handled."""


class TournamentError(Py2048Error, ValueError):
    """A tournament of players that cannot be held, or whose games do not belong together."""


class ClientError(Py2048Error):
    """A server that a program cannot reach, or that refuses what it asks for.

    Attributes:
        status: the HTTP status, 0 without an answer.
        reason: the server's word for it, empty without one.
        wait: seconds after which to try again, 0.0 if the server names none.
    """

    def __init__(self, message: str, status: int = 0, reason: str = "", wait: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.wait = wait


class StorageError(Py2048Error):
    """The store cannot be opened, read or written.

    Attributes:
        kind: one word for what is wrong with the whole store, such as ``full``, ``read-only``,
            ``locked`` or ``unreachable``; empty where this one request cannot be granted.
    """

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


class StaleGameError(StorageError):
    """Another process has changed this game since it was read."""


class MissingExtraError(Py2048Error, ImportError):
    """A feature needs an optional library that is not installed."""


def install_line(*words: str) -> str:
    """Return the command that installs packages, such as ``py2048[web]``, for this Python.

    From a checkout, the strong networks and py2048 itself come from there.
    """
    import json
    import shlex
    import shutil
    import subprocess
    from importlib.metadata import distributions
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    python, pip = sys.executable, shutil.which("pip")
    tool = [python, "-m", "pip", "install"]
    if find_spec("pip") is None:
        tool = ["uv", "pip", "install", "--python", python]
    elif pip and Path(pip).parent == Path(python).parent:
        tool = ["pip", "install"]
    ours = {}
    for package in distributions(name="py2048"):
        origin = json.loads(package.read_text("direct_url.json") or '{"url": ""}')
        folder = Path(url2pathname(urlsplit(origin["url"]).path))
        weights = folder / "weights"
        if folder.is_absolute() and weights.exists():
            ours = {"py2048": [str(folder)], "py2048[strong]": ["py2048[fast]", str(weights)]}
    command = [*tool, *(each for word in words for each in ours.get(word, [word]))]
    return subprocess.list2cmdline(command) if os.name == "nt" else shlex.join(command)


@contextmanager
def extra_for(what: str, extra: str) -> Iterator[None]:
    """Raise `MissingExtraError` for a library that `what` needs, and that `extra` brings."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("py2048"):
            raise
        raise MissingExtraError(
            f"{what} needs {error.name}, which is not installed: {install_line(f'py2048[{extra}]')}"
        ) from None


def missing_compiler() -> str:
    """Return the line that brings Numba, without which some work takes long, or nothing."""
    return install_line("py2048[fast]") if find_spec("numba") is None else ""


def need_compiler(what: str) -> None:
    """Make sure that Numba is installed, for work that takes too long without.

    Raises:
        MissingExtraError: if it is not.
    """
    if line := missing_compiler():
        raise MissingExtraError(f"{what} needs Numba: {line}")


def shown(value: object) -> str:
    """Return a value as a message shows it: on one line, and not all of a long one."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no more than some thousand digits
        return f"a value with too many digits ({type(value).__name__})"
    return text if len(text) <= MAX_SHOWN_LENGTH else f"{text[:MAX_SHOWN_LENGTH]}…"


def check_kind(value: object, kind: Any, error: type[Py2048Error], wanted: str) -> None:
    """Raise `error` for a value that is not of its kind, or of one of some; say what is wanted."""
    if not isinstance(value, kind):
        raise error(f"{shown(value)} is not {wanted}")


@contextmanager
def os_errors_as(kind: type[Py2048Error], what: str) -> Iterator[None]:
    """Raise the operating system's errors as `kind`, with `what` was not possible and why.

    This includes Python's own for a path that the system cannot take: with a NUL or a surrogate.
    """
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}") from None
    except ValueError as error:
        if "embedded null" not in str(error) and not isinstance(error, UnicodeEncodeError):
            raise
        raise kind(f"{what}: {error}") from None


def unknown(word: object, known: Iterable[str], otherwise: str = "") -> str:
    """Return a word as a message shows it, and what `did_you_mean` says of it."""
    return f"{shown(word)}{did_you_mean(str(word or ''), known, otherwise)}"


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return ``"; did you mean 'x'?"`` for the known word nearest to `word`.

    Args:
        word: the unknown word.
        known: the words that are known.
        otherwise: what to return if none is near; by default the known words, all of them.
    """
    import difflib  # only a mistake has to wait for it

    names = sorted(known)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if near:
        return f"; did you mean {near[0]!r}?"
    if otherwise:
        return otherwise
    return f"; known: {', '.join(names)}" if names else "; there are none"
