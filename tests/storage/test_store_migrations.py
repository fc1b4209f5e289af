"""Schemas: new, current, older, newer, and another program's."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from py2048.storage import StorageError, open_store
from py2048.storage.database import WRITES, make_engine


def _query(url: str, statement: str) -> list[tuple[Any, ...]]:
    engine, _ = make_engine(url)
    with engine.execution_options(**{WRITES: True}).begin() as connection:
        result = connection.execute(sa.text(statement))
        rows = [tuple(row) for row in result] if result.returns_rows else []
    engine.dispose()
    return rows


def _tables(url: str) -> list[str]:
    engine, _ = make_engine(url)
    names = sa.inspect(engine).get_table_names()
    engine.dispose()
    return names


def test_a_new_store_is_made_whatever_outlives_its_making(tmp_path: Path) -> None:
    """A debugger that keeps a frame, with what it asked SQLite, holds no commit up."""
    frames: list[object] = []
    sys.setprofile(lambda frame, _event, _argument: frames.append(frame))
    try:
        open_store(tmp_path / "store.sqlite3").close()
    finally:
        sys.setprofile(None)
    assert frames


@pytest.mark.parametrize("revision", ["0009", "9999"])
def test_a_store_of_another_version_is_refused_and_left_alone(url: str, revision: str) -> None:
    """One line names the store, both schemas and the way out; nothing in it is touched."""
    with open_store(url) as store:
        store.settings.set("theme", "dark")
    _query(url, f"UPDATE py2048_schema SET version_num = '{revision}'")
    with pytest.raises(StorageError, match=f"schema {revision}.*or move it away") as caught:
        open_store(url)
    assert store.name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert _query(url, "SELECT value FROM settings") == [('"dark"',)]


def test_a_database_of_another_program_is_refused_and_left_alone(url: str) -> None:
    """A database with tables that are not ours is not ours to change."""
    _query(url, "CREATE TABLE games (title TEXT)")
    _query(url, "INSERT INTO games VALUES ('chess')")
    with pytest.raises(StorageError, match="another program"):
        open_store(url)
    assert _tables(url) == ["games"]
    assert _query(url, "SELECT * FROM games") == [("chess",)]


@pytest.mark.postgres
def test_a_server_database_may_hold_other_tables(postgresql_url: str) -> None:
    """On a server the store can live beside other programs' tables."""
    _query(postgresql_url, "CREATE TABLE alembic_version (version_num TEXT)")
    _query(postgresql_url, "INSERT INTO alembic_version VALUES ('theirs')")
    with open_store(postgresql_url) as store:
        store.settings.set("theme", "dark")
    assert _query(postgresql_url, "SELECT * FROM alembic_version") == [("theirs",)]


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    """A file of no bytes, as a crash at the very first moment leaves, is a new store."""
    path = tmp_path / "py2048.sqlite3"
    path.touch()
    with open_store(path) as store:
        assert store.games.select() == []
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import py2048.storage", {"sqlalchemy", "platformdirs", "sqlite3"}),
        ("import py2048.testing", {"sqlalchemy", "hypothesis"}),
        ("from py2048.storage import open_store; open_store().close()", {"psycopg"}),
    ],
)
def test_libraries_are_loaded_only_when_they_are_needed(code: str, absent: set[str]) -> None:
    """Importing the store loads no database library."""
    script = f"import sys; {code}; print(*sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert not absent & set(output.split())
