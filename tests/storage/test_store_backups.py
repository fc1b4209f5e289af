"""Backups on a schedule: the newest are kept, and nothing that is no backup is touched."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from store_games import new_game

from py2048.cli import main
from py2048.storage import StorageError, Store, open_store
from py2048.storage import store as store_module
from py2048.storage.backups import back_up_into


def earlier(folder: Path, days: float, ending: str = "") -> Path:
    moment = datetime.now(UTC) - timedelta(days=days)
    path = folder / f"py2048-{moment:%Y%m%dT%H%M%SZ}.2048.jsonl.gz{ending}"
    path.write_text("an earlier one")
    os.utime(path, times=(moment.timestamp(), moment.timestamp()))
    return path


def test_the_newest_backups_are_kept(store: Store, tmp_path: Path) -> None:
    """And what failed long ago goes; files with other names stay, and so does work in progress."""
    new_game(store)
    folder = tmp_path / "backups"
    folder.mkdir()
    old, kept = [earlier(folder, days) for days in (9, 8)], earlier(folder, 7)
    left, begun = earlier(folder, 3, ".1f.part"), earlier(folder, 0.5, ".2e.part")
    others = [folder / name for name in ("monday.2048.jsonl.gz", "py2048-notes.txt")]
    for other in others:
        other.touch()
    path, rows = back_up_into(store, folder, keep=2)
    assert sorted(folder.iterdir()) == sorted([kept, path, begun, *others])
    assert not any(each.exists() for each in [*old, left])
    assert path.stat().st_mode & 0o077 == 0
    with open_store("sqlite://") as again:
        assert again.restore(path) == rows > 0


def test_two_backups_of_one_moment_are_both_complete(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second ends while the first is written: the file is whole, and nothing else is left."""
    new_game(store)
    path, write, others = tmp_path / "games.2048.jsonl.gz", store_module._write_rows, []

    def interrupted(*args: Any) -> int:
        if not others:
            others.append(path)
            store.back_up(path)
        return write(*args)

    monkeypatch.setattr(store_module, "_write_rows", interrupted)
    rows = store.back_up(path)
    assert list(tmp_path.glob("games*")) == [path]
    with open_store("sqlite://") as again:
        assert again.restore(path) == rows > 0


def test_a_backup_that_ends_early_leaves_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a fault of the database nor Ctrl+C leaves half a file."""
    for fault in (StorageError("the disk fails"), KeyboardInterrupt()):
        monkeypatch.setattr(store_module, "_write_rows", Mock(side_effect=fault))
        with pytest.raises(type(fault)):
            store.back_up(tmp_path / "games.2048.jsonl.gz")
        assert list(tmp_path.glob("games*")) == []


def test_a_backup_that_fails_removes_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old backups go only when there is a new one."""
    old = [earlier(tmp_path, days) for days in range(1, 4)]

    def fail(_path: Path) -> int:
        raise StorageError("the disk is full")

    monkeypatch.setattr(store, "back_up", fail)
    with pytest.raises(StorageError, match="full"):
        back_up_into(store, tmp_path, keep=1)
    assert all(path.exists() for path in old)


def test_no_backup_takes_the_place_of_the_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor of the files beside it, by whatever name; the store holds what it held."""
    database, link = tmp_path / "games.sqlite3", tmp_path / "link"
    with open_store(database) as store:
        new_game(store)
        rows = store.back_up(tmp_path / "before.gz")
    link.symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "other.gz").hardlink_to(database)
    ends = ("", "-wal", "-shm")
    names = [f"{folder}/games.sqlite3{end}" for folder in (tmp_path, link) for end in ends]
    for name in [*names, f"{tmp_path}/other.gz"]:
        assert main(["backup", name, "--database", str(database)]) == 2
        assert f"{name} is the store itself: name another file" in capsys.readouterr().err
    with open_store(database) as store:
        assert store.back_up(tmp_path / "after.gz") == rows > 0


def test_a_backup_takes_the_place_of_another_file_only_by_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name that is taken is refused, and what is there stays."""
    path = tmp_path / "monday.2048.jsonl.gz"
    path.write_text("the only copy")
    assert main(["backup", str(path)]) == 2
    assert f"{path} exists: choose another name, or give --force" in capsys.readouterr().err
    assert path.read_text() == "the only copy"
    assert main(["backup", str(path), "--force"]) == 0
    with open_store("sqlite://") as again:
        assert again.restore(path) == 0


def test_a_backup_needs_the_name_of_a_file(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder is none, whatever its name."""
    monkeypatch.chdir(tmp_path)
    for name in ("", ".", "..", "/"):
        with pytest.raises(StorageError, match="it is there and no ordinary file"):
            store.back_up(Path(name))


def test_the_command_keeps_backups_in_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`py2048 backup FOLDER --keep N` names what it wrote; a folder must be there."""
    began = time.time()
    assert main(["backup", str(tmp_path / "nowhere"), "--keep", "3"]) == 2
    assert "make it first" in capsys.readouterr().err
    folder = tmp_path / "backups"
    folder.mkdir()
    assert main(["backup", str(folder), "--keep", "3"]) == 0
    (path,) = folder.iterdir()
    assert capsys.readouterr().out.startswith(f"{path}: 0 rows of ")
    assert path.stat().st_mtime >= int(began)
