"""Backups: complete or absent, the newest kept, and other files untouched."""

from __future__ import annotations

import gzip
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from store_games import add_record, append_turn, load, new_game, new_online_game

from py2048.app.storage import StorageError, Store, open_store
from py2048.app.storage.backups import back_up, back_up_into, restore
from py2048.cli import main


def earlier(folder: Path, days: float, ending: str = "") -> Path:
    moment = datetime.now(UTC) - timedelta(days=days)
    name = f"py2048-{moment:%Y%m%dT%H%M%SZ}.2048.jsonl.gz"
    path = folder / (f".{name}.{ending}" if ending else name)
    path.write_text("an earlier one")
    os.utime(path, times=(moment.timestamp(), moment.timestamp()))
    return path


def test_the_newest_backups_are_kept(store, tmp_path, monkeypatch):
    """Only old backups are deleted; other files and unfinished backups stay."""
    new_game(store)
    folder = tmp_path / "backups"
    folder.mkdir()
    old, kept = [earlier(folder, days) for days in (9, 8)], earlier(folder, 7)
    begun = earlier(folder, 0.5, "2e.tmp")
    others = [folder / name for name in ("monday.2048.jsonl.gz", "py2048-notes.txt")]
    for other in others:
        other.touch()
    unlink = Path.unlink

    def late(each: Path, missing_ok: bool = False) -> None:  # another process was faster
        unlink(each, missing_ok=True)
        unlink(each, missing_ok)

    monkeypatch.setattr(Path, "unlink", late)
    path, rows = back_up_into(store, folder, keep=2)
    assert sorted(folder.iterdir()) == sorted([kept, path, begun, *others])
    assert not any(each.exists() for each in old)
    assert path.stat().st_mode & 0o077 == 0
    with open_store("sqlite://") as again:
        assert restore(again, path) == rows > 0


def test_a_backup_while_people_play_is_of_one_moment(store, tmp_path):
    """A backup during play is consistent and contains every earlier move."""
    game, is_over = new_game(store), threading.Event()
    played = []

    def play() -> None:
        while not is_over.is_set():
            append_turn(store, game.id, len(played), len(played), "a")
            played.append("a")

    player = threading.Thread(target=play)
    player.start()
    while len(played) < 20:
        time.sleep(0.01)
    before = len(played)
    back_up(store, tmp_path / "some.gz")
    is_over.set()
    player.join()
    with open_store("sqlite://") as again:
        restore(again, tmp_path / "some.gz")
        found = load(again, game.id)
    assert found.revision == found.position == len(found.turns) >= before


def interrupted(store: Store, monkeypatch: pytest.MonkeyPatch, what: Callable[[], object]) -> None:
    """Call a function when a backup starts to read the store."""
    read, happened = store.read, list[object]()

    def reading() -> AbstractContextManager[Any]:
        if not happened:
            happened.append(None)
            happened.append(what())
        return read()

    monkeypatch.setattr(store, "read", reading)


def test_two_backups_of_one_moment_are_both_complete(store, tmp_path, monkeypatch):
    """Two overlapping backups to a path leave a complete file and nothing else."""
    new_game(store)
    path = tmp_path / "games.2048.jsonl.gz"
    interrupted(store, monkeypatch, lambda: back_up(store, path))
    rows = back_up(store, path)
    assert [each for each in tmp_path.iterdir() if "games" in each.name] == [path]
    with open_store("sqlite://") as again:
        assert restore(again, path) == rows > 0


@pytest.mark.parametrize("fault", [StorageError("the disk fails"), KeyboardInterrupt()])
def test_a_backup_that_ends_early_changes_nothing(store, tmp_path, monkeypatch, fault):
    """A failed or interrupted backup leaves no partial file and deletes no old one."""
    old = sorted(earlier(tmp_path, days) for days in range(1, 4))
    interrupted(store, monkeypatch, Mock(side_effect=fault))
    with pytest.raises(type(fault)):
        back_up_into(store, tmp_path, keep=1)
    assert sorted(each for each in tmp_path.iterdir() if each.suffix in (".gz", ".tmp")) == old


def filled(store: Store) -> Store:
    store.accounts.claim_name("ada", "Ada", "hash")
    add_record(store, "1", owner="ada", score=100, category="ranked")
    game = new_online_game(store, owner="ada", seed=2**64 - 1)
    append_turn(store, game.id, 0, 0, "a")
    store.settings.set("theme", {"dark": [1, None, "ü"]})
    return store


def check_restored(store: Store, other: Store, path: Path) -> None:
    rows = back_up(filled(store), path)
    assert restore(other, path) == rows
    assert other.accounts.export("ada") == store.accounts.export("ada")
    assert other.accounts.find("ada") == store.accounts.find("ada")
    assert other.settings.get("theme") == {"dark": [1, None, "ü"]}
    with pytest.raises(StorageError, match="restore into a new store"):
        restore(other, path)


def test_a_backup_is_the_whole_store(store, tmp_path):
    """A restored store equals the original; a non-empty store is not filled."""
    with open_store(tmp_path / "again.sqlite3") as again:
        check_restored(store, again, tmp_path / "all.gz")


@pytest.mark.postgres
def test_a_backup_leads_from_sqlite_to_postgresql(sqlite_url, postgresql_url, tmp_path):
    """A backup of SQLite restores completely into PostgreSQL."""
    with open_store(sqlite_url) as small, open_store(postgresql_url) as large:
        check_restored(small, large, tmp_path / "all.gz")


def test_what_is_not_a_backup_is_refused(tmp_path):
    """A file that is not a backup of this schema, or no file, is rejected with an explanation."""
    path, other = tmp_path / "some.gz", gzip.compress(b'{"py2048": "backup", "schema": "0001"}')
    why = "is not a py2048 backup: choose a file written by py2048 backup"
    nonsense = [b"", b"nonsense", gzip.compress(b"nonsense\n"), gzip.compress(b"{}")]
    with open_store("sqlite://") as empty:
        for data, reason in [*((each, why) for each in nonsense), (other, "has schema 0001, but")]:
            path.write_bytes(data)
            with pytest.raises(StorageError, match=f"some.gz {reason}"):
                restore(empty, path)
        with pytest.raises(StorageError, match="cannot be read as a backup: Is a directory"):
            restore(empty, tmp_path)
        with pytest.raises(StorageError, match="it exists and is not a regular file"):
            back_up(empty, tmp_path)


def test_a_damaged_backup_restores_nothing(tmp_path):
    """A backup with any changed or missing byte or line is rejected, and the store stays empty."""
    path = tmp_path / "all.gz"
    with open_store("sqlite://") as store:
        back_up(filled(store), path)
    whole = path.read_bytes()
    head, *lines = gzip.decompress(whole).splitlines(keepends=True)
    begun = b"".join([head, *lines[:-1]])
    ends = [b"{}", b"5", b"[]", b"[{}, 1]", b'["settings", 5]', b'"x"']
    reasons = dict.fromkeys(ends, "it is damaged") | {
        b"": r"contains \d+ rows of more", b'{"rows": 2}': r"contains \d+ rows of 2",
        b'["settings", [1]]': "cannot be read as a backup: zip",
    }  # fmt: skip
    wrong = [whole[:-20], *(gzip.compress(each) for each in (begun, b"".join([head, *lines[1:]])))]
    wrong += [
        whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]
        for place in range(
            12, len(whole), len(whole) // 50
        )  # skip the gzip header, which contains the time
    ]
    with open_store("sqlite://") as empty:
        for end, reason in reasons.items():
            path.write_bytes(gzip.compress(begun + end))
            with pytest.raises(StorageError, match=reason):
                restore(empty, path)
        for damaged in wrong:
            path.write_bytes(damaged)
            with pytest.raises(StorageError):
                restore(empty, path)
        assert empty.accounts.find("ada") is None


def test_no_backup_takes_the_place_of_the_store(tmp_path, capsys):
    """A backup cannot overwrite the store or its companion files by any path."""
    database, link = tmp_path / "games.sqlite3", tmp_path / "link"
    with open_store(database) as store:
        new_game(store)
        rows = back_up(store, tmp_path / "before.gz")
    link.symlink_to(tmp_path, target_is_directory=True)
    ends = ("", "-wal", "-shm")
    names = [f"{folder}/games.sqlite3{end}" for folder in (tmp_path, link) for end in ends]
    for name in names:
        assert main(["backup", name, "--database", str(database)]) == 2
        assert f"{name} is the store itself; choose another file" in capsys.readouterr().err
    words = ["backup", str(tmp_path / "other.gz"), "--database", str(database)]
    assert [main([*words, *more]) for more in ([], [], ["--force"])] == [0, 2, 0]
    assert "other.gz exists: choose another name" in capsys.readouterr().err
    with open_store(database) as store:
        assert back_up(store, tmp_path / "after.gz") == rows > 0


def test_the_command_keeps_backups_in_a_folder(tmp_path, capsys):
    """`py2048 backup FOLDER --keep N` prints the new file; the folder must exist."""
    began = time.time()
    assert main(["backup", str(tmp_path / "nowhere"), "--keep", "3"]) == 2
    assert "create it first" in capsys.readouterr().err
    folder = tmp_path / "backups"
    folder.mkdir()
    assert main(["backup", str(folder), "--keep", "3"]) == 0
    (path,) = folder.iterdir()
    assert capsys.readouterr().out.startswith(f"{path}: 0 rows of ")
    assert path.stat().st_mtime >= int(began)
