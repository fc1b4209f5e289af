"""The facade is pinned: what users import stays, stays sorted, and stays light."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest

import py2048

EXPORTED = [
    "Board",
    "Direction",
    "Game",
    "Merging",
    "Motion",
    "Outcome",
    "Player",
    "Py2048Error",
    "Record",
    "Rules",
    "Slide",
    "Spawn",
    "Turn",
    "get_rules",
    "list_players",
    "list_rules",
    "make_player",
]

HEAVY = {
    "PIL",
    "alembic",
    "gymnasium",
    "llvmlite",
    "matplotlib",
    "numba",
    "numpy",
    "ray",
    "rich",
    "sqlalchemy",
    "starlette",
    "textual",
    "tkinter",
    "typer",
}


def modules_after(statement: str) -> set[str]:
    """Return the names of the top-level modules that a fresh Python holds after `statement`."""
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    return set(done.stdout.split())


def packages() -> list[str]:
    """Return the package and its layers that declare what they export."""
    found = [module.name for module in pkgutil.iter_modules(py2048.__path__) if module.ispkg]
    return ["py2048", *(f"py2048.{name}" for name in found)]


def test_exported_names_are_pinned() -> None:
    """A name leaves or joins the facade by a change of this list, never by accident."""
    assert py2048.__all__ == EXPORTED


@pytest.mark.parametrize("package", packages())
def test_exported_names_exist(package: str) -> None:
    """Each `__all__` names what is there, once; their order is a rule of the linter's."""
    module = importlib.import_module(package)
    names = list(getattr(module, "__all__", []))
    assert len(names) == len(set(names))
    assert not [name for name in names if not hasattr(module, name)]


@pytest.mark.parametrize("name", EXPORTED)
def test_exported_names_have_docstrings(name: str) -> None:
    """Whatever a user can import says what it is."""
    assert (getattr(py2048, name).__doc__ or "").strip()


def test_import_is_light() -> None:
    """`import py2048` loads no compiler, no arrays, no database and no screen."""
    assert not modules_after("import py2048") & HEAVY


def test_a_game_is_light() -> None:
    """A whole game with its record needs none of the heavy libraries either."""
    played = (
        "import py2048\n"
        "game = py2048.Game(py2048.get_rules('2x4'), seed=1)\n"
        "while not game.is_over:\n"
        "    game.play(game.legal_directions()[0])\n"
        "py2048.Record.from_json(game.record().to_json()).verify()"
    )
    assert not modules_after(played) & HEAVY


def test_heavy_libraries_would_be_noticed() -> None:
    """The check itself can fail: a module that loads NumPy is seen to load it."""
    assert "numpy" in modules_after("import numpy")


def test_version_is_the_distribution_s() -> None:
    """`py2048.__version__` and the installed metadata agree."""
    from importlib.metadata import version

    assert py2048.__version__ == version("py2048")
