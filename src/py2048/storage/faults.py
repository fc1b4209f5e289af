"""The database's errors, told in one line that names the store and the way out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy.exc

from py2048.errors import StorageError

# What is wrong with the whole store, by kind, as its owner is told.
_SENTENCES = {
    "full": "the disk of {name} is full; free some space and try again"
    " (all that was saved is kept)",
    "read-only": "{name} cannot be written; make its folder writable,"
    " or set PY2048_HOME to a folder that is",
    "damaged": "{name} is damaged or is not a database; restore a copy of it,"
    " or move it away and py2048 starts a new one",
    "locked": "{name} is held by another program; close that program and try again",
    "disk": "the disk of {name} fails or is full ({why}); check it and try again",
    "foreign": "{name} holds tables of another program; give py2048 a database or a file of its own"
    " by PY2048_DATABASE_URL",
    "forbidden": "{name} does not let this user in or write ({why}); ask for the right to it",
    "unreachable": "cannot reach {name} ({why}); start the server or correct PY2048_DATABASE_URL,"
    " or unset it to use a file",
}
_REFUSED = "{name} cannot keep this value ({why}); nothing was changed"
_OTHER = "{name} reports: {why}; nothing was changed"
_VALUE = "value"
"""The kind of an error that says nothing of the store: one value cannot be kept."""

# The first prefix that fits decides; names from https://sqlite.org/rescode.html.
_SQLITE = {
    "SQLITE_FULL": "full",
    "SQLITE_READONLY": "read-only",
    "SQLITE_CANTOPEN": "read-only",
    "SQLITE_PERM": "read-only",
    "SQLITE_NOTADB": "damaged",
    "SQLITE_CORRUPT": "damaged",
    "SQLITE_BUSY": "locked",
    "SQLITE_LOCKED": "locked",
    "SQLITE_IOERR": "disk",
    "SQLITE_TOOBIG": _VALUE,
}
# Codes and classes from https://www.postgresql.org/docs/current/errcodes-appendix.html.
_POSTGRESQL = {
    "53100": "full",
    "42P07": "foreign",
    "25006": "forbidden",
    "28": "forbidden",
    "42501": "forbidden",
    "08": "unreachable",
    "3D": "unreachable",
    "53300": "unreachable",
    "57P": "unreachable",
    "55P03": "locked",
    "22": _VALUE,
    "54": _VALUE,
    "XX00": "damaged",
    "58": "disk",
}


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn every failure of the database `name` inside the block into a `StorageError`."""
    try:
        yield
    except (sqlalchemy.exc.SQLAlchemyError, sqlite3.Error, OverflowError, UnicodeError) as error:
        raise _explained(error, name) from error


def _explained(error: Exception, name: str) -> StorageError:
    cause = getattr(error, "orig", None) or error
    why = (str(cause).strip().splitlines() or [type(cause).__name__])[0].strip()
    kind = _kind(error, cause)
    sentence = _SENTENCES.get(kind) or (_REFUSED if kind == _VALUE else _OTHER)
    return StorageError(sentence.format(name=name, why=why), kind if kind in _SENTENCES else "")


def _kind(error: Exception, cause: BaseException) -> str:
    if isinstance(cause, sqlite3.Error):
        return _lookup(_SQLITE, getattr(cause, "sqlite_errorname", ""))
    if not isinstance(error, sqlalchemy.exc.DBAPIError):
        return _VALUE if isinstance(cause, (TypeError, ValueError, OverflowError)) else ""
    known = _lookup(_POSTGRESQL, getattr(cause, "sqlstate", None) or "")
    if not known and isinstance(error, sqlalchemy.exc.OperationalError):
        return "unreachable"
    return known or (_VALUE if isinstance(error, sqlalchemy.exc.DataError) else "")


def _lookup(kinds: dict[str, str], code: str) -> str:
    return next((kind for prefix, kind in kinds.items() if code.startswith(prefix)), "")
