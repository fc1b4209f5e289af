"""Schemas: new, current, older, newer, and another program's."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from first_tables import make_first_tables
from postgresql_server import PostgresqlServer
from store_games import append_turn, load, new_game

from py2048.storage import StorageError, migration, open_store, schema
from py2048.storage.database import WRITES, make_engine

_TODAY = schema.REVISION
_NEXT = f"""
from alembic import op
import sqlalchemy as sa
revision, down_revision = "9999", "{_TODAY}"
def upgrade():
    op.add_column("settings", sa.Column("device", sa.Text, server_default="any"))
"""


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend to be the next py2048, whose schema has one more column."""
    folder = tmp_path / "next version 100%"
    shutil.copytree(migration.MIGRATIONS, folder)
    (folder / "versions" / "v9999_device.py").write_text(_NEXT)
    monkeypatch.setattr(migration, "MIGRATIONS", folder)
    monkeypatch.setattr(schema, "REVISION", "9999")


def _query(url: str, statement: str) -> list[tuple[Any, ...]]:
    engine, _ = make_engine(url)
    with engine.execution_options(**{WRITES: True}).begin() as connection:
        result = connection.execute(sa.text(statement))
        rows = [tuple(row) for row in result] if result.returns_rows else []
    engine.dispose()
    return rows


def _migrate_from_the_first(url: str) -> None:
    engine, name = make_engine(url)
    with engine.execution_options(**{WRITES: True}).begin() as connection:
        make_first_tables(connection)
        migration.run_migrations(connection, "0001", name)
    engine.dispose()


def _plain(index: Any) -> str:
    """Describe an index; the conditions of partial ones are objects that equal nothing."""
    options = {key: str(value) for key, value in index.get("dialect_options", {}).items()}
    return str(sorted({**index, "dialect_options": options}.items()))


def _reflect(url: str) -> dict[str, object]:
    """Describe all tables: columns with types, keys, indexes."""
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


def test_the_declared_revision_is_the_newest_migration() -> None:
    """What a new store is stamped with is the head of the migrations."""
    config = Config()
    config.set_main_option("script_location", str(migration.MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_heads() == [schema.REVISION]


def test_migrations_lead_to_the_declared_tables_on_sqlite(tmp_path: Path) -> None:
    """A new store and a migrated one are the same, so nobody's database is a special case."""
    made, migrated = (f"sqlite:///{tmp_path / name}" for name in ("made", "migrated"))
    open_store(made).close()
    _migrate_from_the_first(migrated)
    assert _reflect(made) == _reflect(migrated)
    statements = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
    assert _query(made, statements) == _query(migrated, statements)
    assert set(_reflect(made)) == {*schema.metadata.tables, "py2048_schema"}


@pytest.mark.postgres
def test_migrations_lead_to_the_declared_tables_on_postgresql(
    postgresql: PostgresqlServer, postgresql_url: str
) -> None:
    """The same on PostgreSQL, by reflection and by Alembic's own comparison."""
    postgresql.create_schema("migrated")
    migrated = postgresql.url(schema="migrated")
    open_store(postgresql_url).close()
    _migrate_from_the_first(migrated)
    assert _reflect(postgresql_url) == _reflect(migrated)
    engine, _ = make_engine(migrated)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "py2048_schema"})
        assert compare_metadata(context, schema.metadata) == []
    engine.dispose()
    postgresql.drop_schema("migrated")


def test_opening_twice_changes_nothing(url: str) -> None:
    """A second start finds everything as the first left it."""
    with open_store(url) as store:
        game = new_game(store)
    before = _reflect(url)
    with open_store(url) as store:
        assert store.games.current() == game
    assert _reflect(url) == before


@pytest.mark.usefixtures("next_version")
def test_an_older_store_is_migrated_and_keeps_its_data(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer py2048 brings an older store up to date, and nothing in it is lost."""
    with monkeypatch.context() as past:
        past.setattr(schema, "REVISION", _TODAY)
        with open_store(url) as store:
            game = new_game(store)
            append_turn(store, game.id, 0, 0, "a", score=4)
            store.settings.set("theme", "dark")
    with open_store(url) as store:
        assert load(store, game.id).turns == ("a",)
        assert store.settings.get("theme") == "dark"
    assert _query(url, "SELECT version_num FROM py2048_schema") == [("9999",)]
    assert _query(url, "SELECT device FROM settings") == [("any",)]


def test_an_older_store_gets_its_leaderboards(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best games of a store from before there were leaderboards stand on them."""
    folder = tmp_path / "before"
    shutil.copytree(migration.MIGRATIONS, folder)
    for version in (folder / "versions").glob("v*.py"):
        if version.name >= "v0004":
            version.unlink()
    with monkeypatch.context() as past:
        past.setattr(migration, "MIGRATIONS", folder)
        _migrate_from_the_first(url)
    _query(
        url,
        "INSERT INTO accounts (id, name, name_key, generation, created) VALUES"
        " ('ada', 'Ada', 'ada', 0, '2048'), ('eve', NULL, NULL, 0, '2048')",
    )
    now = f"{datetime.now(UTC):%FT%TZ}"
    games = [("a", "ada", "2020", 30), ("b", "ada", now, 20), ("c", "ada", now, 20),
             ("d", "eve", now, 99)]  # fmt: skip
    for game, owner, finished, score in games:
        board = "daily" if game == "c" else "ranked"
        day = "'2048-01-31'" if game == "c" else "NULL"
        _query(
            url,
            f"INSERT INTO records VALUES ('{game}', '{owner}', 'classic', 'me', '{board}',"
            f" '2020', '{finished}', {score}, 64, 9, 'lost', '')",
        )
        _query(url, f"INSERT INTO rounds VALUES ('{game}', '{owner}', '{board}', {day}, '')")
    with open_store(url) as store:
        periods = (("ever", "a"), ("2020-Q1", "a"), ("season", "b"), ("week", "b"), ("day", "b"))
        for period, best in periods:
            found = store.leaderboards.top("ranked", "classic", period)
            assert [(row.id, row.player) for row in found] == [(best, "Ada")]
        assert [row.id for row in store.leaderboards.top("daily", "classic", "2048-01-31")] == ["c"]


def test_many_may_migrate_an_older_store_at_once(url: str, request: pytest.FixtureRequest) -> None:
    """One migrates, the others wait and find it done."""
    open_store(url).close()
    request.getfixturevalue("next_version")
    with ThreadPoolExecutor(4) as pool:
        for store in pool.map(open_store, [url] * 4):
            store.close()
    assert _query(url, "SELECT version_num FROM py2048_schema") == [("9999",)]


def test_a_migration_that_fails_leaves_the_store_as_it_was(url: str, next_version: None) -> None:
    """Half a migration is none."""
    open_store(url).close()  # stamped as the next without the new column
    _query(url, f"UPDATE py2048_schema SET version_num = '{_TODAY}'")
    _query(url, "ALTER TABLE settings ADD COLUMN device TEXT")
    before = _reflect(url)
    with pytest.raises(StorageError, match="nothing was changed"):
        open_store(url)
    assert _reflect(url) == before
    assert _query(url, "SELECT version_num FROM py2048_schema") == [(_TODAY,)]


def test_a_store_of_a_newer_version_is_refused_and_left_alone(url: str) -> None:
    """An older py2048 says that it is too old, and does not touch what it does not know."""
    with open_store(url) as store:
        store.settings.set("theme", "dark")
    _query(url, "UPDATE py2048_schema SET version_num = '9999'")
    with pytest.raises(StorageError, match=r"newer py2048.*9999.*upgrade py2048") as caught:
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
    assert list(_reflect(url)) == ["games"]
    assert _query(url, "SELECT * FROM games") == [("chess",)]


@pytest.mark.postgres
def test_a_server_database_may_hold_other_tables(postgresql_url: str) -> None:
    """On a server the store can live beside other programs' tables, even another Alembic's."""
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
        ("import py2048.storage", {"sqlalchemy", "alembic", "platformdirs", "sqlite3"}),
        ("import py2048.testing", {"sqlalchemy", "hypothesis"}),
        ("from py2048.storage import open_store; open_store().close()", {"alembic", "psycopg"}),
    ],
)
def test_libraries_are_loaded_only_when_they_are_needed(code: str, absent: set[str]) -> None:
    """Importing the store loads no database library; a new store needs no Alembic."""
    script = f"import sys; {code}; print(*sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert not absent & set(output.split())
