"""Insert-or-update, which both databases have and SQLAlchemy spells per dialect."""

from __future__ import annotations

import functools
import importlib
from typing import Any

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


def insert_new(connection: Connection, table: sa.Table) -> Insert:
    """Return the statement that inserts a row, unless a unique index has one like it."""
    statement: Insert = _insert(connection.dialect.name, table).on_conflict_do_nothing()
    return statement


def _insert(dialect: str, table: sa.Table) -> Any:
    return importlib.import_module(f"sqlalchemy.dialects.{dialect}").insert(table)


@functools.cache
def _upsert(dialect: str, table: sa.Table, rising: str | None) -> Insert:
    insert = _insert(dialect, table)
    statement: Insert = insert.on_conflict_do_update(
        index_elements=[column.name for column in table.primary_key],
        set_={column.name: insert.excluded[column.name] for column in _values(table)},
        where=None if rising is None else table.c[rising] < insert.excluded[rising],
    )
    return statement


def _values(table: sa.Table) -> list[sa.Column[object]]:
    return [column for column in table.columns if not column.primary_key]
