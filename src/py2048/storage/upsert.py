"""Insert-or-update, which both databases have and SQLAlchemy spells per dialect."""

from __future__ import annotations

import functools
import importlib

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.dml import Insert


def upsert(connection: Connection, table: sa.Table, *, rising: str | None = None) -> Insert:
    """Return the statement that inserts a row, or updates the one with the same primary key.

    Args:
        connection: Tells the dialect.
        table: Where to.
        rising: A column that may only grow: a row with a lower or equal value changes nothing.
    """
    return _upsert(connection.dialect.name, table, rising)


@functools.cache
def _upsert(dialect: str, table: sa.Table, rising: str | None) -> Insert:
    insert = importlib.import_module(f"sqlalchemy.dialects.{dialect}").insert(table)
    statement: Insert = insert.on_conflict_do_update(
        index_elements=[column.name for column in table.primary_key],
        set_={column.name: insert.excluded[column.name] for column in _values(table)},
        where=None if rising is None else table.c[rising] < insert.excluded[rising],
    )
    return statement


def _values(table: sa.Table) -> list[sa.Column[object]]:
    return [column for column in table.columns if not column.primary_key]
