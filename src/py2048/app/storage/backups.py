"""Backups, which save all rows of a store in one file and restore them to an empty store.

The file contains gzip-compressed JSON lines: first ``{"py2048": "backup", "schema": "0011"}``, then
``[table, row]`` for each row, and finally ``{"rows": n}``, which shows that the file is complete.
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
from py2048.core.errors import StorageError
from py2048.core.game.record import replacing

if TYPE_CHECKING:
    from py2048.app.storage.store import Store

SQLITE_SUFFIXES = "", "-wal", "-shm", "-journal"  # file name suffixes of an SQLite database
_NAMES = "py2048-????????T??????Z.2048.jsonl.gz"
_ROWS_AT_ONCE = 500


def back_up(store: Store, path: Path, *, replace: bool = True) -> int:
    """Write a consistent snapshot of all tables to a file, and return the number of rows.

    Players can continue in the meantime. The file is renamed to its final name when it is complete.

    Args:
        store: Store to back up.
        path: The file to write.
        replace: Whether an existing file may be replaced.

    Raises:
        StorageError: If the store cannot be read or the file cannot be written.
    """
    database = store.engine.url.database if store.is_sqlite else None
    own = [Path(f"{database}{end}").resolve() for end in SQLITE_SUFFIXES] if database else []
    if path.resolve() in own:
        raise StorageError(f"{path} is the store itself; choose another file for the backup")
    try:
        if path.is_file() and not replace:
            raise StorageError(f"{path} exists: choose another name, or give --force to replace it")
        with (
            replacing(path, mode=0o600) as raw,  # contains password hashes
            gzip.open(raw, "wt", encoding="utf-8") as file,
            store.read() as connection,
        ):
            return _write_rows(connection, file)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from None


def back_up_into(store: Store, folder: Path, keep: int) -> tuple[Path, int]:
    """Write a backup to a folder, and delete all but the newest backups in this folder.

    If the backup fails, nothing is deleted. Other files in the folder are never deleted.

    Args:
        store: Store to back up.
        folder: Folder for backups.
        keep: Number of backups to keep, including the new backup.

    Returns:
        The path of the backup and its number of rows.

    Raises:
        StorageError: If the folder does not exist, or if `back_up` fails.
    """
    if not folder.is_dir():
        raise StorageError(f"the backup folder {folder} does not exist; create it first")
    path = folder / f"py2048-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.2048.jsonl.gz"
    rows = back_up(store, path)
    for each in sorted(folder.glob(_NAMES))[:-keep]:
        each.unlink(missing_ok=True)
    return path, rows


def restore(store: Store, path: Path) -> int:
    """Fill an empty store from a backup, and return the number of rows.

    Raises:
        StorageError: If the store is not empty, or the file is not a complete backup of this
            schema. In this case nothing is changed.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file, store.write() as connection:
            for table in schema.metadata.sorted_tables:
                if connection.execute(sa.select(sa.true()).select_from(table).limit(1)).first():
                    raise StorageError(
                        f"{store.name} contains games or settings: restore into a new store,"
                        " such as --database sqlite:///new.sqlite3"
                    )
            return _read_rows(connection, file, path)
    except (OSError, EOFError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise StorageError(f"{path} cannot be read as a backup: {why}") from None
    except (zlib.error, LookupError, TypeError):
        raise StorageError(f"{path} cannot be read as a backup: it is damaged") from None


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
        raise StorageError(f"{path} is not a py2048 backup: choose a file written by py2048 backup")
    if head.get("schema") != schema.REVISION:
        raise StorageError(
            f"{path} has schema {head.get('schema')}, but this py2048 needs {schema.REVISION}: "
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
        raise StorageError(f"{path} is truncated: it contains {rows} rows of {claimed or 'more'}")
    return rows


def _table_of(line: object) -> str | None:
    """Return the table name in a backup line, or None for the last line."""
    return str(line[0]) if isinstance(line, list) else None
