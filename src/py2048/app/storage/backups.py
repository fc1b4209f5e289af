"""Backups: all rows of a store in one file, which any store can be filled from.

The file holds JSON lines, compressed by gzip: first ``{"py2048": "backup", "schema": "0010"}``,
then ``[table, row]`` for each row, at last ``{"rows": n}``, by which a cut file is noticed.
"""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.app.storage import schema
from py2048.app.storage.database import is_sqlite
from py2048.core.errors import StorageError
from py2048.core.game.record import replacing

if TYPE_CHECKING:
    from py2048.app.storage.store import Store

SQLITE_ENDINGS = "", "-wal", "-shm", "-journal"
"""What the names of the files of an SQLite database end in, after the database's own."""

_NAMES = "py2048-????????T??????Z.2048.jsonl.gz"
_ROWS_AT_ONCE = 500


def back_up(store: Store, path: Path, *, replace: bool = True) -> int:
    """Write all tables, as they are at one moment, to a file; return the number of rows.

    Players can continue meanwhile. The file appears under its name when it is complete.

    Args:
        store: what to copy.
        path: the file.
        replace: whether it may take the place of another file.

    Raises:
        StorageError: The store cannot be read or the file not be written.
    """
    database = store.engine.url.database if is_sqlite(store.engine) else None
    own = [Path(f"{database}{end}").resolve() for end in SQLITE_ENDINGS] if database else []
    if path.resolve() in own:
        raise StorageError(f"{path} is the store itself: name another file for the backup")
    try:
        if path.is_file() and not replace:
            raise StorageError(f"{path} exists: choose another name, or give --force to replace it")
        with (
            replacing(path, mode=0o600) as raw,  # it holds password hashes
            gzip.open(raw, "wt", encoding="utf-8") as file,
            store.read() as connection,
        ):
            return _write_rows(connection, file)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from None


def back_up_into(store: Store, folder: Path, keep: int) -> tuple[Path, int]:
    """Write a backup into a folder; then remove all but the newest backups there.

    Nothing is removed if the backup fails, and no file that has another name.

    Args:
        store: what to copy.
        folder: where the backups are.
        keep: how many to keep, this one included.

    Returns:
        The file, and its number of rows.

    Raises:
        StorageError: The folder is not there, or as `back_up`.
    """
    if not folder.is_dir():
        raise StorageError(f"there is no folder {folder} for backups: make it first")
    path = folder / f"py2048-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.2048.jsonl.gz"
    rows = back_up(store, path)
    for each in sorted(folder.glob(_NAMES))[:-keep]:
        each.unlink(missing_ok=True)
    return path, rows


def restore(store: Store, path: Path) -> int:
    """Fill a store, which must be empty, from a backup; return the number of rows.

    Raises:
        StorageError: The store holds something, or the file is not a complete backup that this
            version can read; nothing was changed.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file, store.write() as connection:
            for table in schema.metadata.sorted_tables:
                if connection.execute(sa.select(sa.true()).select_from(table).limit(1)).first():
                    raise StorageError(
                        f"{store.name} holds games or settings already: restore into a new store,"
                        " such as --database sqlite:///new.sqlite3"
                    )
            return _read_rows(connection, file, path)
    except (OSError, EOFError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise StorageError(f"{path} is not a backup that can be read: {why}") from None
    except (zlib.error, LookupError, TypeError):
        raise StorageError(f"{path} is not a backup that can be read: it is damaged") from None


def _write_rows(connection: Connection, file: IO[str]) -> int:
    print(json.dumps({"py2048": "backup", "schema": schema.REVISION}), file=file)
    rows = 0
    for table in schema.metadata.sorted_tables:
        found = connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(sa.select(table))
        for row in found:
            print(json.dumps([table.name, list(row)]), file=file)
            rows += 1
    print(json.dumps({"rows": rows}), file=file)
    return rows


def _read_rows(connection: Connection, file: IO[str], path: Path) -> int:
    try:
        head = json.loads(next(file, "null"))
    except (gzip.BadGzipFile, ValueError):
        head = None
    if not isinstance(head, dict) or head.get("py2048") != "backup":
        raise StorageError(
            f"{path} is not a backup of py2048: give a file that py2048 backup wrote"
        )
    if head.get("schema") != schema.REVISION:
        raise StorageError(
            f"{path} holds schema {head.get('schema')}, this py2048 has {schema.REVISION}: "
            "restore it with the version that wrote it"
        )
    rows, claimed = 0, None
    for name, lines in itertools.groupby(map(json.loads, file), key=_table_of):
        if name is None:
            claimed = next(lines)["rows"]
            continue
        table = schema.metadata.tables[name]
        while values := [row for _, row in itertools.islice(lines, _ROWS_AT_ONCE)]:
            batch = [dict(zip(table.columns.keys(), row, strict=True)) for row in values]
            connection.execute(sa.insert(table), batch)
            rows += len(values)
    if claimed != rows:
        raise StorageError(f"{path} is cut off: it holds {rows} rows of {claimed or 'more'}")
    return rows


def _table_of(line: object) -> str | None:
    """Return the table of a line, None for the last line, which belongs to none."""
    return str(line[0]) if isinstance(line, list) else None
