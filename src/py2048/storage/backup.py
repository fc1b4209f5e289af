"""Copies of a whole store in a file of lines, from any database into any other.

The file is JSON lines, compressed by gzip: first ``{"py2048": "backup", "schema": "0002"}``,
then ``[table, row]`` for each row, at last ``{"rows": n}``, by which a cut file is noticed.
"""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import IO

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.errors import StorageError
from py2048.game.record import check_replaceable
from py2048.storage import schema
from py2048.storage.database import Database

_ROWS_AT_ONCE = 500


def back_up(store: Database, path: Path) -> int:
    """Write all tables, as they are at one moment, to a file; return the number of rows.

    Players can continue meanwhile. The file appears under its name when it is complete.

    Raises:
        StorageError: The store cannot be read or the file not be written.
    """
    partial = path.with_name(f"{path.name}.part")
    try:
        check_replaceable(path)
        with gzip.open(partial, "wt", encoding="utf-8") as file, store.read() as connection:
            rows = _write(connection, file)
        partial.chmod(0o600)  # it holds password hashes
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from None
    return rows


def restore(store: Database, path: Path) -> int:
    """Fill a store, which must be empty, from a backup; return the number of rows.

    Raises:
        StorageError: The store holds something, or the file is no complete backup of this
            version; nothing was changed.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file, store.write() as connection:
            _check_empty(connection, store.name)
            return _read(connection, file, path)
    except (OSError, EOFError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise StorageError(f"{path} is no backup that can be read: {why}") from None


def _write(connection: Connection, file: IO[str]) -> int:
    print(json.dumps({"py2048": "backup", "schema": schema.REVISION}), file=file)
    rows = 0
    for table in schema.metadata.sorted_tables:
        found = connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(sa.select(table))
        for row in found:
            print(json.dumps([table.name, list(row)]), file=file)
            rows += 1
    print(json.dumps({"rows": rows}), file=file)
    return rows


def _check_empty(connection: Connection, name: str) -> None:
    for table in schema.metadata.sorted_tables:
        if connection.execute(sa.select(sa.literal(1)).select_from(table).limit(1)).first():
            raise StorageError(
                f"{name} holds {table.name} already: restore into a new database or file"
            )


def _read(connection: Connection, file: IO[str], path: Path) -> int:
    head = json.loads(next(file, "null"))
    if not isinstance(head, dict) or head.get("py2048") != "backup":
        raise StorageError(f"{path} is no backup of py2048")
    if head.get("schema") != schema.REVISION:
        raise StorageError(
            f"{path} holds schema {head.get('schema')}, this py2048 has {schema.REVISION}: "
            "restore it with the version that wrote it, which a newer one then upgrades"
        )
    rows, claimed = 0, None
    for table, lines in itertools.groupby(map(json.loads, file), key=_table_of):
        if table is None:
            claimed = next(lines)["rows"]
            continue
        columns = schema.metadata.tables[table].columns.keys()
        while batch := [
            dict(zip(columns, values, strict=True))
            for _, values in itertools.islice(lines, _ROWS_AT_ONCE)
        ]:
            connection.execute(sa.insert(schema.metadata.tables[table]), batch)
            rows += len(batch)
    if claimed != rows:
        raise StorageError(f"{path} is cut off: it holds {rows} rows of {claimed or 'more'}")
    return rows


def _table_of(line: object) -> str | None:
    """Return the table of a line, None for the last line, which belongs to none."""
    if not isinstance(line, list):
        return None
    if line[0] not in schema.metadata.tables:
        raise ValueError(f"no table is called {line[0]!r}")
    return str(line[0])
