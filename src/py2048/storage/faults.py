"""The database's errors, told in one line that names the store and the way out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy.exc

from py2048.errors import StorageError

_FULL = "the disk of {name} is full; free some space and try again (all that was saved is kept)"
_READ_ONLY = (
    "{name} cannot be written; make its folder writable, or set PY2048_HOME to a folder that is"
)
_DAMAGED = (
    "{name} is damaged or is not a database; restore a copy of it,"
    " or move it away and py2048 starts a new one"
)
_BUSY = "{name} is held by another program; close that program and try again"
_DISK = "the disk of {name} fails or is full ({why}); check it and try again"
_FOREIGN = (
    "{name} holds tables of another program; give py2048 a database or a file of its own"
    " by PY2048_DATABASE_URL"
)
_FORBIDDEN = "{name} does not let this user in or write ({why}); ask for the right to it"
_UNREACHABLE = (
    "cannot reach {name} ({why}); start the server or correct PY2048_DATABASE_URL,"
    " or unset it to use a file"
)
_REFUSED = "{name} cannot keep this value ({why}); nothing was changed"
_OTHER = "{name} reports: {why}; nothing was changed"

# The first prefix that fits decides; names from https://sqlite.org/rescode.html.
_SQLITE = {
    "SQLITE_FULL": _FULL,
    "SQLITE_READONLY": _READ_ONLY,
    "SQLITE_CANTOPEN": _READ_ONLY,
    "SQLITE_PERM": _READ_ONLY,
    "SQLITE_NOTADB": _DAMAGED,
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_BUSY": _BUSY,
    "SQLITE_LOCKED": _BUSY,
    "SQLITE_IOERR": _DISK,
    "SQLITE_TOOBIG": _REFUSED,
}
# Codes and classes from https://www.postgresql.org/docs/current/errcodes-appendix.html.
_POSTGRESQL = {
    "53100": _FULL,
    "42P07": _FOREIGN,
    "25006": _FORBIDDEN,
    "28": _FORBIDDEN,
    "42501": _FORBIDDEN,
    "08": _UNREACHABLE,
    "3D": _UNREACHABLE,
    "53300": _UNREACHABLE,
    "57P": _UNREACHABLE,
    "22": _REFUSED,
    "54": _REFUSED,
    "XX00": _DAMAGED,
    "58": _DISK,
}


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn every failure of the database `name` inside the block into a `StorageError`."""
    try:
        yield
    except (sqlalchemy.exc.SQLAlchemyError, sqlite3.Error, OverflowError, UnicodeError) as error:
        raise StorageError(_explanation(error, name)) from error


def _explanation(error: Exception, name: str) -> str:
    cause = getattr(error, "orig", None) or error
    why = (str(cause).strip().splitlines() or [type(cause).__name__])[0].strip()
    return _sentence(error, cause).format(name=name, why=why)


def _sentence(error: Exception, cause: BaseException) -> str:
    if isinstance(cause, sqlite3.Error):
        return _lookup(_SQLITE, getattr(cause, "sqlite_errorname", "")) or _OTHER
    if not isinstance(error, sqlalchemy.exc.DBAPIError):
        return _REFUSED if isinstance(cause, (TypeError, ValueError, OverflowError)) else _OTHER
    known = _lookup(_POSTGRESQL, getattr(cause, "sqlstate", None) or "")
    if known is None and isinstance(error, sqlalchemy.exc.OperationalError):
        return _UNREACHABLE
    return known or (_REFUSED if isinstance(error, sqlalchemy.exc.DataError) else _OTHER)


def _lookup(sentences: dict[str, str], code: str) -> str | None:
    return next((text for prefix, text in sentences.items() if code.startswith(prefix)), None)
