"""Data lies in `PY2048_HOME` or where the platform puts it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from py2048.core.errors import StorageError
from py2048.core.folders import built_tables, data_folder, expanded, tables_folder


def test_py2048_home_is_the_data_folder(monkeypatch, tmp_path):
    """`PY2048_HOME` may be relative or begin with `~`; the folder is not created."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for home in ("here", "~/here"):
        monkeypatch.setenv("PY2048_HOME", home)
        assert data_folder() == tmp_path / "here"
    assert not data_folder().exists()


def test_without_py2048_home_the_platform_decides(monkeypatch):
    """Without `PY2048_HOME`, the platform's user data folder is used."""
    monkeypatch.delenv("PY2048_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere/data")
    assert data_folder().name == "py2048"
    if sys.platform == "linux":
        assert data_folder() == Path("/somewhere/data/py2048")


def test_an_unknown_home_folder_is_named(monkeypatch):
    """An unknown user's home stays unexpanded in a path and is refused in `PY2048_HOME`."""
    assert expanded("~nobody_x/games") == Path("~nobody_x/games")
    monkeypatch.setenv("PY2048_HOME", "~nobody_x/games")
    with pytest.raises(StorageError, match="PY2048_HOME=~nobody_x/games: unknown home folder"):
        data_folder()


def test_tables_are_listed_in_order():
    """Only files with the suffix of tables are tables."""
    assert built_tables() == []
    tables_folder().mkdir(parents=True)
    for name in ("b.table", "a.table", "a.toml"):
        (tables_folder() / name).touch()
    assert [path.name for path in built_tables()] == ["a.table", "b.table"]
