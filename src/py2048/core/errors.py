"""The exceptions that py2048 raises deliberately, and helpers for wording their messages.

::

    Py2048Error
    ├── RulesError         (ValueError)   rules that cannot be played
    ├── BoardError         (ValueError)   an invalid board
    ├── DirectionError     (ValueError)   an unknown direction
    ├── SeedError          (ValueError)   a seed that is not a 64-bit whole number
    ├── IllegalMoveError                  a move that changes nothing
    │   └── GameOverError                 a move after the end of the game
    ├── RecordError        (ValueError)   an unreadable record, or one that breaks its own rules
    ├── PlayerError        (ValueError)   an unknown, misconfigured or misbehaving player
    ├── WeightsError       (ValueError)   an unusable weights file
    ├── SolvingError       (ValueError)   rules or a goal that cannot be solved
    ├── CourseError        (ValueError)   an invalid course, starter or submission
    ├── TournamentError    (ValueError)   a tournament that cannot be run
    ├── ClientError                       a py2048 server that refuses a request or is unreachable
    ├── StorageError                      a store that cannot be read or written
    │   └── StaleGameError                a write based on an outdated game
    └── MissingExtraError  (ImportError)  an optional library that is not installed

Each message names the invalid value, the problem and the solution on a single line, so a front end
can print the message unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

MAX_SHOWN_LENGTH = 80
"""Maximum length of a value's representation in a message, in characters."""


class Py2048Error(Exception):
    """Base class of all exceptions that py2048 raises deliberately."""


class RulesError(Py2048Error, ValueError):
    """Raised if rules are not playable, or if their text cannot be parsed."""


class BoardError(Py2048Error, ValueError):
    """Raised if a board has ragged rows, a value that is not a tile, or only one cell."""


class DirectionError(Py2048Error, ValueError):
    """Raised if a direction is unknown."""


class SeedError(Py2048Error, ValueError):
    """Raised if a seed is not a whole number from 0 to 2**64 - 1."""


class IllegalMoveError(Py2048Error):
    """Raised if a move changes nothing."""


class GameOverError(IllegalMoveError):
    """Raised if a move is attempted after the game has ended."""


class RecordError(Py2048Error, ValueError):
    """Raised if a record cannot be read, or contains a turn that its rules do not allow."""


class PlayerError(Py2048Error, ValueError):
    """Raised if a player is unknown, is misconfigured, or chose an illegal move."""


class WeightsError(Py2048Error, ValueError):
    """Raised if a weights file is damaged or was trained for other rules."""


class SolvingError(Py2048Error, ValueError):
    """Raised if rules or a goal cannot be solved, or if a saved solution cannot be used."""


class CourseError(Py2048Error, ValueError):
    """Raised if a course, starter or submission cannot be processed."""


class TournamentError(Py2048Error, ValueError):
    """Raised if a tournament cannot be run, or if its log or submission cannot be used."""


class ClientError(Py2048Error):
    """Raised if a py2048 server is unreachable or refused a request.

    Attributes:
        status: HTTP status code, or 0 if the server did not answer.
        reason: Machine-readable reason from the response, or an empty string.
        wait: Seconds to wait before retrying, or 0.0 if the server gives no delay.
    """

    def __init__(self, message: str, status: int = 0, reason: str = "", wait: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.wait = wait


class StorageError(Py2048Error):
    """Raised if the store cannot be opened, read or written.

    Attributes:
        kind: ``full``, ``read-only``, ``locked``, ``unreachable`` or similar if the whole store is
            affected; empty if only this request failed.
    """

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


class StaleGameError(StorageError):
    """Raised if another process changed the game after this process read it."""


class MissingExtraError(Py2048Error, ImportError):
    """Raised if a feature needs an optional library that is not installed."""


@contextmanager
def extra_for(what: str, extra: str) -> Iterator[None]:
    """Raise `MissingExtraError` if the import of an optional library fails.

    Args:
        what: Name of the feature that needs the library; the message begins with it.
        extra: The py2048 extra that installs the library.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("py2048"):
            raise
        from py2048.core.installation import install_line

        raise MissingExtraError(
            f"{what} needs {error.name}, which is not installed: {install_line(extra)}"
        ) from None


def missing_compiler() -> str:
    """Return the command that installs Numba, or an empty string if Numba is installed."""
    if find_spec("numba") is not None:
        return ""
    from py2048.core.installation import install_line

    return install_line("fast")


def need_compiler(what: str) -> None:
    """Require Numba for work that would take too long without it.

    Raises:
        MissingExtraError: If Numba is not installed.
    """
    if line := missing_compiler():
        raise MissingExtraError(f"{what} needs Numba: {line}")


def shown(value: object) -> str:
    """Return a one-line ``repr`` of `value`, truncated for use in a message."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # raised for integers with thousands of digits
        return f"a value with too many digits ({type(value).__name__})"
    return text if len(text) <= MAX_SHOWN_LENGTH else f"{text[:MAX_SHOWN_LENGTH]}…"


def check_kind(value: object, kind: Any, error: type[Py2048Error], wanted: str) -> None:
    """Raise `error` if `value` is not an instance of `kind`; `wanted` describes what to pass."""
    if not isinstance(value, kind):
        raise error(f"{shown(value)} is not {wanted}")


@contextmanager
def os_errors_as(kind: type[Py2048Error], what: str) -> Iterator[None]:
    """Convert operating-system errors to exceptions of type `kind`.

    The message begins with `what`, a description of the failed action.

    A `ValueError` caused by a NUL character or a lone surrogate in a path is also converted.
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
    """Return the unknown word in quotes, followed by a suggestion from `did_you_mean`."""
    return f"{shown(word)}{did_you_mean(str(word or ''), known, otherwise)}"


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return ``"; did you mean 'x'?"`` with the closest known word.

    Args:
        word: The unknown word.
        known: The known words.
        otherwise: Text to return if no known word is close. Defaults to a list of all known words.
    """
    import difflib

    names = sorted(known)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if near:
        return f"; did you mean {near[0]!r}?"
    if otherwise:
        return otherwise
    return f"; known: {', '.join(names)}" if names else "; there are none"
