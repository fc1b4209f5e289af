"""The import contracts of `make architecture` can fail, and each package has a size budget."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.processes import python

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "py2048"
sys.path.insert(0, str(ROOT / "scripts"))

import count_lines  # noqa: E402 - a script

BUDGETS = {
    "app": 9_800,
    "cli": 300,
    "core": 2_100,
    "courses": 11_300,
    "engine": 3_200,
    "envs": 1_700,
    "lab": 4_200,
    "players": 6_260,
    "presentation": 2_160,
    "review": 2_100,
    "server": 6_120,
    "testing": 200,
    "whole": 49_500,
    "javascript": 4_400,
    "benchmarks": 2_200,
    "scripts": 1_400,
    "examples": 850,
    "tests": 33_000,
}
"""Maximum lines of code per room. A commit that raises one must say what it gained."""


def check_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of `folder`/pyproject.toml against `folder`/src."""
    command = "import sys; sys.path.insert(0, 'src'); from importlinter.cli import lint_imports"
    return python("-c", f"{command}; sys.exit(lint_imports(no_cache=True))", cwd=folder)


BREAKING = [
    ("core.rules", "import py2048.engine.rules", "Rooms import only"),
    ("core.board", "import numpy", "The reference board"),
    ("core.board", "import numba", "Packages that are loaded lazily"),
    ("core.game.game", "import sqlalchemy", "Only app.storage"),
    ("core.game.game", "import socket", "Only lab.arena and the server"),
    ("app.session.session", "import tkinter", "Only the window, the courses"),
    ("app.desktop.app", "import py2048.app.storage.games", "Screens and courses reach"),
    ("players.simple", "from py2048 import Board", "Nothing below the screens"),
    ("core.direction", "import py2048.core.board", "No cycles"),
]


def test_a_broken_law_is_noticed(tmp_path):
    """An import that breaks a contract is reported with the contract's name."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    folder, unread = tmp_path / "src" / "py2048", ("__pycache__", "data", "static", "locale")
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns(*unread))
    for module, statement, _ in BREAKING:
        path = folder / f"{module.replace('.', '/')}.py"
        path.write_text(path.read_text(encoding="utf-8") + f"\n{statement}\n", encoding="utf-8")
    result = check_imports(tmp_path)
    assert result.returncode != 0
    _, *reports = re.split(r"\n([^\n]+)\n-+\n", result.stdout)
    found = dict(zip(reports[::2], reports[1::2], strict=True))
    for module, _, law in BREAKING:
        (report,) = (text for title, text in found.items() if title.startswith(law))
        assert f".{module.rpartition('.')[2]} -> " in report, result.stdout


def test_packages_keep_their_budgets():
    """The packages, the whole source tree and the tests stay within their budgets."""
    groups = count_lines.groups()
    packages = {name for name in groups if (PACKAGE / name).is_dir()}
    assert packages <= BUDGETS.keys()
    lines = {name: count_lines.counted(groups[name])[1] for name in BUDGETS}
    above = {
        name: f"{lines[name]:,} lines, at most {limit:,}"
        for name, limit in BUDGETS.items()
        if lines[name] > limit
    }
    assert not above


def test_lines_of_code_are_neither_blank_nor_comments_nor_docstrings(tmp_path):
    """Blank lines, comments and docstrings do not count, but strings used by the program do."""
    python, script = tmp_path / "a.py", tmp_path / "a.js"
    python.write_text('"""What."""\n\n# Why.\nX = """a\n\nb"""  # Three lines.\n')
    script.write_text("// Why.\n\n/* What.\n\n * Why. */\nlet x = 1; // One line.\n")
    assert count_lines.counted([python, script]) == (2, 4)
