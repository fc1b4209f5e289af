"""External failures: each gives one clear line, and saved data is never lost."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from postgresql_server import PASSWORD
from store_games import append_turn, load, new_game
from tests.free_ports import free_port

from py2048.app.storage import SavedGame, StorageError, Store, open_store
from py2048.core.errors import MissingExtraError


@contextmanager
def one_clear_line(*words: str, kind: str | None = None) -> Iterator[None]:
    """Expect a one-line StorageError with `words`, but no password or values of a statement."""
    with pytest.raises(StorageError) as caught:
        yield
    message = str(caught.value)
    assert kind in (None, caught.value.kind)
    assert "\n" not in message
    assert PASSWORD not in message
    assert "[parameters: " not in str(caught.value.__cause__)
    for word in words:
        assert word in message


def play(store: Store, turns: int) -> SavedGame:
    game = store.games.current() or new_game(store)
    for ply in range(game.position, game.position + turns):
        append_turn(store, game.id, ply, ply, f"turn {ply}" * 20, score=ply)
    return load(store, game.id)


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that every user can access, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="py2048-store-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@contextmanager
def unprivileged() -> Iterator[None]:
    """Run as the user `nobody` if the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)


def test_the_store_lies_in_the_data_folder(data_folder, monkeypatch):
    """Without a URL the store is `py2048.sqlite3` in `PY2048_HOME`, which is created."""
    with open_store() as store:
        assert store.name == str(data_folder / "py2048.sqlite3")
        store.settings.set("theme", "dark")
    monkeypatch.setenv("PY2048_DATABASE_URL", f"sqlite:///{data_folder / 'py2048.sqlite3'}")
    with open_store() as store:
        assert store.settings.get("theme") == "dark"


def test_text_is_a_path_if_it_looks_like_one_or_names_a_file(tmp_path, monkeypatch):
    """Other text without a scheme does not name a database."""
    monkeypatch.chdir(tmp_path)
    Path("plain").touch()
    for name in ("a.sqlite3", "a\\b", "plain", "./other"):
        with open_store(name) as store:
            assert store.name == str(tmp_path / name)
    with one_clear_line("'nothing' is not a database URL"):
        open_store("nothing")


@pytest.mark.postgres
def test_connections_wait_and_sync_as_they_are_told(sqlite_url, postgresql_url):
    """Each connection has the store's timeout and durability, and SQLite checks foreign keys."""
    names = "busy_timeout", "synchronous", "foreign_keys"
    found = []
    for durability, timeout_s in (("process", 0.5), ("disk", 30)):
        with open_store(sqlite_url, durability=durability, timeout_s=timeout_s) as store:
            found.append([store.value(sa.text(f"PRAGMA {name}")) for name in names])
    assert found == [[500, 1, 1], [30_000, 2, 1]]
    with open_store(postgresql_url, timeout_s=0.5) as store:
        assert store.value(sa.text("SHOW lock_timeout")) == "500ms"


def test_values_that_no_database_can_hold_are_refused(store):
    """A huge number, a lone surrogate and a duplicate key raise an error and change nothing."""
    game = new_game(store)
    with one_clear_line("nothing was changed", kind=""):
        store.accounts.set_recovery("ada", ["code", "code"])
    for code, score in (("a", 2**63), ("\ud800", 0)):
        with one_clear_line("cannot store this value", "nothing was changed", kind=""):
            append_turn(store, game.id, 0, 0, code, score=score)
    assert load(store, game.id) == game


def test_a_home_that_nobody_knows_is_named():
    """An unknown home directory in the path of a database is reported."""
    with one_clear_line("does not exist", "~nobody_x"):
        open_store("~nobody_x/games.sqlite3")


def test_a_closed_store_refuses_work(store):
    """A closed store raises an error and does not reopen."""
    store.close()
    with one_clear_line("closed", store.name):
        store.games.select()
    with one_clear_line("closed"):
        store.settings.set("theme", "dark")


def test_a_data_folder_that_cannot_be_made_is_named(data_folder):
    """A file in place of the data folder is reported and left unchanged."""
    data_folder.write_text("precious")
    with one_clear_line(str(data_folder), "PY2048_HOME"):
        open_store()
    assert data_folder.read_text() == "precious"


def test_a_read_only_data_folder_is_named(public_folder):
    """A new store in a read-only folder raises an error that names the folder."""
    public_folder.chmod(0o555)
    with unprivileged(), one_clear_line(str(public_folder), "PY2048_HOME"):
        open_store(public_folder / "py2048.sqlite3")
    with unprivileged(), one_clear_line(str(public_folder / "folder"), "create it"):
        open_store(public_folder / "folder" / "py2048.sqlite3")


def test_a_read_only_store_keeps_its_games(public_folder):
    """A read-only store rejects moves and keeps the saved ones."""
    path = public_folder / "py2048.sqlite3"
    with open_store(path) as store:
        game = play(store, 5)
    path.chmod(0o444)
    public_folder.chmod(0o555)
    with unprivileged(), one_clear_line(str(path), "is not writable"), open_store(path) as store:
        append_turn(store, game.id, 5, 5, "x", score=0)
    public_folder.chmod(0o755)
    path.chmod(0o644)
    with open_store(path) as store:
        assert load(store, game.id) == game


def test_a_new_store_is_its_owners_alone(public_folder):
    """Other users cannot read the database files, whatever the folder allows."""
    with open_store(public_folder / "py2048.sqlite3") as store:
        play(store, 3)
        found = {each.name: each.stat().st_mode & 0o777 for each in public_folder.iterdir()}
    assert len(found) > 1
    assert set(found.values()) == {0o600}


def test_a_store_that_is_moved_away_takes_no_more(tmp_path):
    """A moved or replaced file receives no writes; once put back, it works again."""
    path, aside = tmp_path / "py2048.sqlite3", tmp_path / "aside.sqlite3"
    with open_store(path) as store:
        game = play(store, 3)
        for is_replaced in (False, True):
            path.rename(aside)
            if is_replaced:
                path.touch()
            with one_clear_line(str(path), "moved away or replaced"):
                append_turn(store, game.id, 3, 3, "x")
            with one_clear_line("moved away or replaced"):
                store.settings.check_writable()
            aside.rename(path)
        assert load(store, game.id) == game
        assert append_turn(store, game.id, 3, 3, "x")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_full_disk_loses_nothing(public_folder):
    """On a full file system of 768 kB the last turn is rejected and earlier ones stay."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=768k", "none", str(public_folder)], check=False
    )
    if mounted.returncode:
        pytest.skip("this machine may not mount a file system")
    try:
        ballast = public_folder / "ballast"
        ballast.write_bytes(b"x" * 100_000)
        with open_store(public_folder / "py2048.sqlite3") as store:
            with one_clear_line("full", str(public_folder), "kept"):
                play(store, 100_000)
            full = store.games.select()[0]
            assert full.position > 10
            with one_clear_line("full"):
                append_turn(store, full.id, full.revision, full.position, "x" * 9000, score=0)
        with open_store(public_folder / "py2048.sqlite3") as store:
            assert load(store, full.id) == full
            ballast.unlink()
            assert play(store, 3).turns[:-3] == full.turns
    finally:
        subprocess.run(["umount", str(public_folder)], check=True)


def test_what_is_damaged_or_not_a_database_is_refused_and_left_alone(tmp_path):
    """A damaged store or another kind of file is rejected and not modified.

    Damage that does not prevent opening is found by a check of the whole file.
    """
    path = tmp_path / "py2048.sqlite3"
    with open_store(path) as store:
        play(store, 300)
        store.check()
    content = path.read_bytes()
    path.write_bytes(content[:-4096] + b"\xa5" * 4096)
    with open_store(path) as store, one_clear_line(str(path), "restore a backup", kind="damaged"):
        store.check()
    damaged = content[:100] + b"\xa5" * (len(content) - 100)
    for held in (damaged, b"SQLite format 3\0" + b"\xff" * 9000, b"these are my notes\n" * 100):
        path.write_bytes(held)
        with one_clear_line(str(path), "damaged", "restore a backup"):
            open_store(path)
        assert path.read_bytes() == held


def test_a_store_held_by_another_program_says_so(sqlite_url):
    """A write locks the store from its start; a rival's wait ends with an error and no loss."""
    with open_store(sqlite_url, timeout_s=0.05) as store, open_store(sqlite_url) as rival:
        with rival.write(), one_clear_line(store.name, "another program", kind="locked"):
            store.settings.set("theme", "dark")
        store.settings.set("theme", "light")
        assert store.settings.get("theme") == "light"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{PASSWORD}@host:port/name",
        f"://me:{PASSWORD}@host/name",
        f"mysql://me:{PASSWORD}@host/name",
        f"postgresql+asyncpg://me:{PASSWORD}@host/name",
        f"postgresql//://me:{PASSWORD}@@host/name",
    ],
)
def test_a_url_that_names_no_usable_database_is_refused(url, monkeypatch):
    """The error shows the URL without its password, and an example of a valid URL."""
    monkeypatch.setenv("PY2048_DATABASE_URL", url)
    with one_clear_line("***", "postgresql://user:password@host/name", "PY2048_DATABASE_URL"):
        open_store()


def test_a_server_that_does_not_answer_is_named(monkeypatch):
    """The error shows the server's address and a remedy, but not the password."""
    port = free_port()
    for scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        url = f"{scheme}://me:{PASSWORD}@127.0.0.1:{port}/name?password={PASSWORD}"
        monkeypatch.setenv("PY2048_DATABASE_URL", url)
        with one_clear_line(f"me:***@127.0.0.1:{port}/name", "cannot reach", "refused"):
            open_store()


@pytest.mark.postgres
def test_a_server_that_lets_nobody_in_says_why(postgresql):
    """A wrong password and an unknown database give different errors."""
    with one_clear_line("password authentication failed", ":***@"):
        open_store(postgresql.url(password="wrong"))
    with one_clear_line('"nowhere" does not exist'):
        open_store(postgresql.url().replace("/postgres?", "/nowhere?"))


@pytest.mark.postgres
def test_a_server_that_restarts_loses_nothing(postgresql, postgresql_url):
    """Moves are rejected while the server is down; the same store works again afterwards."""
    with open_store(postgresql_url) as store:
        game = play(store, 3)
        postgresql.stop()
        with one_clear_line("cannot reach"):
            append_turn(store, game.id, 3, 3, "x", score=0)
        with one_clear_line("cannot reach"):
            next(store.notices.listen(0.2))
        postgresql.start()
        assert load(store, game.id) == game
        assert append_turn(store, game.id, 3, 3, "x")
        postgresql.stop()
        postgresql.start()  # no move was made meanwhile
        assert append_turn(store, game.id, 4, 4, "y")


@pytest.mark.postgres
def test_a_server_that_only_reads_says_so(postgresql_url):
    """A standby or read-only database rejects moves and keeps the games."""
    with open_store(postgresql_url) as store:
        game = play(store, 3)
    read_only = postgresql_url + "%20-cdefault_transaction_read_only%3Don"
    with open_store(read_only) as store:
        assert load(store, game.id) == game
        with one_clear_line("denies access"):
            append_turn(store, game.id, 3, 3, "x", score=0)


def test_postgresql_without_psycopg_names_the_extra(monkeypatch):
    """If psycopg is missing, the error gives the command to install it."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"install .*\[postgres\]'"):
        open_store("postgresql://host/name")


@pytest.mark.postgres
def test_text_that_postgresql_cannot_hold_is_refused(postgresql_url):
    """Text with a NUL character raises an error instead of being truncated."""
    with open_store(postgresql_url) as store:
        with one_clear_line("cannot store this value", kind=""):
            new_game(store, start="a\0b")
        assert store.games.select() == []
