"""Schema versions: new, current, pre-release, older, newer, and other programs' tables."""

from __future__ import annotations

import json
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.processes import python

from py2048.app.session import open_session
from py2048.app.storage import AccountError, StorageError, Store, open_store, schema
from py2048.app.storage.database import WRITES, make_engine
from py2048.app.storage.summaries import COUNTED, recount

PREVIOUS_REVISION = Path(__file__).with_name("before")
"""A store with schema 0009, made by an earlier py2048: see `before/README.md`."""

_, *ROWS, _ = map(json.loads, (PREVIOUS_REVISION / "rows.jsonl").read_text().splitlines())


def make_store_before(url: str) -> None:
    """Create a store with schema 0009."""
    engine, _ = make_engine(url)
    with engine.execution_options(**{WRITES: True}).begin() as connection:
        for statement in (PREVIOUS_REVISION / f"{engine.dialect.name}.sql").read_text().split(";"):
            if statement.strip():
                connection.execute(sa.text(statement))
        for name, row in ROWS:
            table = sa.Table(name, sa.MetaData(), autoload_with=connection)
            known = schema.metadata.tables.get(name, table)
            columns = list(known.columns)[: len(row)]
            values = {column.name: value for column, value in zip(columns, row, strict=True)}
            connection.execute(sa.insert(known), values)
        connection.execute(sa.insert(schema.version), {"version_num": "0009"})
    engine.dispose()


def _query(url: str, statement: str) -> list[tuple[Any, ...]]:
    engine, _ = make_engine(url)
    with engine.execution_options(**{WRITES: True}).begin() as connection:
        result = connection.execute(sa.text(statement))
        rows = [tuple(row) for row in result] if result.returns_rows else []
    engine.dispose()
    return rows


def _plain(index: Any) -> str:
    """Describe an index; partial index conditions are not comparable."""
    options = {key: str(value) for key, value in index.get("dialect_options", {}).items()}
    return str(sorted({**index, "dialect_options": options}.items()))


def _reflect(url: str) -> dict[str, object]:
    """Describe all tables with columns, types, keys and indexes."""
    engine, _ = make_engine(url)
    with engine.connect() as connection:
        inspector = sa.inspect(connection)
        described: dict[str, object] = {
            table: (
                [
                    {**column, "type": str(column["type"].compile(engine.dialect))}
                    for column in inspector.get_columns(table)
                ],
                inspector.get_pk_constraint(table),
                [{**key, "referred_schema": None} for key in inspector.get_foreign_keys(table)],
                sorted(map(_plain, inspector.get_indexes(table))),
            )
            for table in inspector.get_table_names()
        }
    engine.dispose()
    return described


def _rows(store: Store, table: sa.Table) -> list[list[object]]:
    with store.read() as connection:
        return [list(row) for row in connection.execute(sa.select(table))]


def test_a_new_store_is_made_whatever_outlives_its_making(tmp_path):
    """A cursor kept alive by a debugger does not block the first commit."""
    frames: list[object] = []
    sys.setprofile(lambda frame, _event, _argument: frames.append(frame))
    try:
        open_store(tmp_path / "store.sqlite3").close()
    finally:
        sys.setprofile(None)
    assert frames


def test_a_store_of_before_has_the_tables_of_a_new_one(url):
    """Converted and new stores have identical tables, even if several threads open them at once.

    Of lookalike names, only that of the oldest account has a key.
    """
    with ThreadPoolExecutor(4) as pool:  # one creates the tables, the others wait
        for store in pool.map(open_store, [url] * 4):
            store.close()
    made = _reflect(url)
    assert set(made) == {*schema.metadata.tables, "py2048_schema"}
    for table in made:
        _query(url, f"DROP TABLE {table} {'' if url.startswith('sqlite') else 'CASCADE'}")
    make_store_before(url)
    for statement in (
        "UPDATE records SET category = 'offline' WHERE id = '2222'",
        "INSERT INTO rounds (game_id, owner, mode, secret) VALUES ('2222', 'local', 'casual', '')",
        "INSERT INTO leaders VALUES ('x', 'offline', 'classic', 'ada', 1, '', '6666')",
        "INSERT INTO names VALUES ('abe', 'pau1', NULL), ('zed', 'paui', NULL)",
        "INSERT INTO accounts (id, generation, created) VALUES ('abe', 0, '9'), ('zed', 0, '9')",
    ):
        _query(url, statement)
    with ThreadPoolExecutor(4) as pool:  # one converts, the others wait
        for store in pool.map(open_store, [url] * 4):
            store.close()
    assert _reflect(url) == made
    assert _query(url, "SELECT version_num FROM py2048_schema") == [(schema.REVISION,)]
    assert _query(url, "SELECT category FROM records WHERE id = '2222'") == [("assisted",)]
    assert _query(url, "SELECT game_id FROM rounds WHERE offline") == [("2222",)]
    assert _query(url, "SELECT record FROM leaders WHERE category = 'offline'") == []
    later = _query(url, "SELECT account FROM names WHERE looks IS NULL ORDER BY account")
    assert later == [("abe",), ("dot",), ("zed",)]


def test_a_store_of_before_keeps_all_that_a_player_has(url):
    """Conversion keeps all rows, games continue, and all names can log in."""
    make_store_before(url)
    with open_store(url) as store:
        for table in schema.metadata.sorted_tables:
            if table.name not in ("names", "settings", "summaries"):
                expected = [row for name, row in ROWS if name == table.name]
                found = [row[: len(expected[0])] for row in _rows(store, table)] if expected else []
                assert sorted(map(repr, found)) == sorted(map(repr, expected))
        assert _rows(store, schema.settings) == [["local", "theme", "dark"]]
        counted = sa.select(*(schema.records.c[name] for name in COUNTED))
        totals = [list(row.values()) for row in recount(store.rows(counted))]
        assert sorted(_rows(store, schema.summaries)) == totals != []
        people = [row for name, row in ROWS if name == "accounts"]
        for account, name, *_ in people:
            found = store.accounts.find_name(name.upper())
            assert found.id == account
        for taken in ("Mo.dern", "rnodern", "PAU1", "jörg"):
            with pytest.raises(AccountError):
                store.accounts.claim_name("new", taken, "hash")
        assert store.sessions.find("token")
    session = open_session(url)
    assert session.resume()
    assert (session.game.ply, session.game.score) == (1, 4)
    session.close()


def test_a_conversion_that_fails_leaves_the_store_as_it_was(url):
    """A failed conversion is rolled back completely."""
    make_store_before(url)
    _query(url, "ALTER TABLE leaders ADD COLUMN think_ms BIGINT")
    before = _reflect(url)
    with pytest.raises(StorageError, match="nothing was changed"):
        open_store(url)
    assert _reflect(url) == before
    assert _query(url, "SELECT version_num FROM py2048_schema") == [("0009",)]


@pytest.mark.parametrize(
    ("revision", "message"), [("0008", "an older.*0008.*move it away"), ("9999", "a newer.*9999")]
)
def test_a_store_of_another_version_is_refused_and_left_alone(url, revision, message):
    """The error names the store, both schemas and the remedy; nothing is modified."""
    with open_store(url) as store:
        store.settings.set("theme", "dark")
    _query(url, f"UPDATE py2048_schema SET version_num = '{revision}'")
    with pytest.raises(StorageError, match=message) as caught:
        open_store(url)
    assert store.name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert _query(url, "SELECT value FROM settings") == [('"dark"',)]


def test_a_database_of_another_program_is_refused_and_left_alone(url):
    """A database with unknown tables is not modified."""
    _query(url, "CREATE TABLE games (title TEXT)")
    _query(url, "INSERT INTO games VALUES ('chess')")
    with pytest.raises(StorageError, match="another program"):
        open_store(url)
    assert list(_reflect(url)) == ["games"]
    assert _query(url, "SELECT * FROM games") == [("chess",)]


@pytest.mark.postgres
def test_a_server_database_may_hold_other_tables(postgresql_url):
    """On a server the store can share a database with other programs' tables."""
    _query(postgresql_url, "CREATE TABLE alembic_version (version_num TEXT)")
    _query(postgresql_url, "INSERT INTO alembic_version VALUES ('theirs')")
    with open_store(postgresql_url) as store:
        store.settings.set("theme", "dark")
    assert _query(postgresql_url, "SELECT * FROM alembic_version") == [("theirs",)]


def test_an_empty_file_becomes_a_store(tmp_path):
    """An empty file, as left by an early crash, becomes a new store."""
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
        ("import py2048.app.storage", {"sqlalchemy", "platformdirs", "sqlite3"}),
        ("import py2048.testing", {"sqlalchemy", "hypothesis"}),
        ("from py2048.app.storage import open_store; open_store().close()", {"psycopg"}),
    ],
)
def test_libraries_are_loaded_only_when_they_are_needed(code, absent):
    """Importing the store loads no database library."""
    script = f"import sys; {code}; print(*sys.modules)"
    assert not absent & set(python("-c", script, check=True).stdout.split())
