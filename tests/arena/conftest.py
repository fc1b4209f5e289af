"""Players for the arena's tests, installed for this process and those it starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.arena.plugin import installed

from py2048.players import registry


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the players of `tests.arena.plugin`."""
    folder = str(installed(tmp_path / "packages"))
    monkeypatch.syspath_prepend(folder)
    paths = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    registry.entries.cache_clear()
    yield
    registry.entries.cache_clear()
    sys.modules.pop("arena_plugin", None)
