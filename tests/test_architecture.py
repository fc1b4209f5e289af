"""The architecture holds: the import contracts of ``pyproject.toml``."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "py2048"


def check_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of `folder`/pyproject.toml against `folder`/src."""
    command = "import sys; sys.path.insert(0, 'src'); from importlinter.cli import lint_imports"
    return subprocess.run(
        [sys.executable, "-c", f"{command}; sys.exit(lint_imports(no_cache=True))"],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_contracts_hold() -> None:
    """Every law of the architecture holds for the package as it is."""
    result = check_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("module", "statement", "law"),
    [
        ("rules/parts.py", "import py2048.game.game", "Each layer imports only"),
        ("board.py", "import numpy", "The oracle is plain Python"),
        ("board.py", "import numba", "What is imported by name"),
        ("game/game.py", "import sqlalchemy", "Databases are met in storage"),
        ("game/game.py", "import socket", "The network is met in the arena"),
        ("session/session.py", "import tkinter", "Tk is met in the window"),
        ("ui/shared/actions.py", "import py2048.storage.games", "Screens and courses reach"),
        ("players/simple.py", "from py2048 import Board", "The facade is for users"),
        ("direction.py", "import py2048.board", "No cycles"),
    ],
)
def test_a_broken_law_is_noticed(module: str, statement: str, law: str, tmp_path: Path) -> None:
    """Each contract can fail: an import that breaks it is reported under its name."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(
        PACKAGE, tmp_path / "src" / "py2048", ignore=shutil.ignore_patterns("__pycache__")
    )
    path = tmp_path / "src" / "py2048" / module
    path.write_text(path.read_text(encoding="utf-8") + f"\n{statement}\n", encoding="utf-8")
    result = check_imports(tmp_path)
    assert result.returncode != 0
    broken = [line for line in result.stdout.splitlines() if "BROKEN" in line]
    assert any(line.startswith(law) for line in broken), result.stdout + result.stderr
