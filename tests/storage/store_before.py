"""A store of schema 0009, which an earlier py2048 made: see `before/README.md`."""

from __future__ import annotations

import json
from pathlib import Path

import sqlalchemy as sa

from py2048.storage import schema
from py2048.storage.database import WRITES, make_engine

FOLDER = Path(__file__).with_name("before")
ROWS = FOLDER / "rows.jsonl"


def make_store_before(url: str) -> None:
    """Make it at an empty place."""
    engine, _ = make_engine(url)
    with engine.execution_options(**{WRITES: True}).begin() as connection:
        for statement in (FOLDER / f"{engine.dialect.name}.sql").read_text().split(";"):
            if statement.strip():
                connection.execute(sa.text(statement))
        _, *rows, _ = map(json.loads, ROWS.read_text().splitlines())
        for name, row in rows:
            found = schema.metadata.tables.get(name)
            table = sa.Table(name, sa.MetaData(), autoload_with=connection)
            columns = table.columns if found is None else list(found.columns)[: len(row)]
            values = {column.name: value for column, value in zip(columns, row, strict=True)}
            connection.execute(sa.insert(table if found is None else found), values)
        connection.execute(sa.insert(schema.version), {"version_num": "0009"})
    engine.dispose()
