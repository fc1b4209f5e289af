"""Build the wheel, install it alone into an empty environment, and play a game from it.

What users get is the wheel and not this checkout: a missing data file, a forgotten dependency or
an import that only the development tools satisfy shows here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("gymnasium", "matplotlib", "psycopg", "ray", "starlette")
HEAVY = ("numba", "numpy", "sqlalchemy", "textual", "tkinter", "PIL", *EXTRAS)

LIGHT_IMPORT = f"""
import sys, py2048
loaded = sorted(set({HEAVY!r}) & set(sys.modules))
sys.exit(f"import py2048 loads {{loaded}}" if loaded else 0)
"""

NO_EXTRAS = f"""
import importlib.util, sys
found = [name for name in {EXTRAS!r} if importlib.util.find_spec(name)]
sys.exit(f"the base install brings {{found}}" if found else 0)
"""

A_GAME = """
from py2048 import Game, Record, get_rules, make_player
game, player = Game(get_rules("classic"), seed=2048), make_player("greedy")
while not game.is_over:
    game.play(player.choose(game))
Record.from_json(game.record().to_json()).verify()
print(f"greedy played {game.ply} moves to {game.board.max_tile} and {game.score} points")
"""


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command to its end and return what it printed; stop the check if it fails."""
    result = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean_environment() | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if result.returncode:
        shown = " ".join(str(part) for part in command)
        sys.exit(f"failed ({result.returncode}): {shown}\n{result.stdout}{result.stderr}")
    return result.stdout


def clean_environment() -> dict[str, str]:
    """Return the environment without what could lend the wheel this checkout's modules."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}


def build(folder: Path) -> Path:
    """Build the wheel into `folder` and return its path."""
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT)
    (wheel,) = folder.glob("py2048-*.whl")
    return wheel


def check_contents(wheel: Path) -> None:
    """See that the wheel holds the marker for typing and nothing that is not part of it."""
    names = zipfile.ZipFile(wheel).namelist()
    if "py2048/py.typed" not in names:
        sys.exit(f"{wheel.name} lacks py2048/py.typed")
    strays = [name for name in names if not name.startswith(("py2048/", "py2048-"))]
    if strays:
        sys.exit(f"{wheel.name} holds {strays}")


def install(wheel: Path, folder: Path) -> Path:
    """Install the wheel into a new environment in `folder` and return its programs' folder."""
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    uv = shutil.which("uv")
    if uv:
        run(uv, "venv", "--quiet", "--python", sys.executable, folder)
        run(uv, "pip", "install", "--quiet", "--python", programs / "python", wheel)
    else:
        run(sys.executable, "-m", "venv", folder)
        run(programs / "python", "-m", "pip", "install", "--quiet", wheel)
    return programs


def play(programs: Path, home: Path) -> None:
    """Play whole games from the installed package, by its API and by its command."""
    python, data = programs / "python", str(home / "data")
    run(python, "-c", NO_EXTRAS, cwd=home)
    run(python, "-c", LIGHT_IMPORT, cwd=home)
    print(run(python, "-c", A_GAME, cwd=home).strip())
    watched = run(
        programs / "py2048",
        "watch",
        "--player",
        "greedy",
        "--seed",
        "7",
        cwd=home,
        PY2048_HOME=data,
    )
    last = watched.strip().splitlines()[-1]
    print(f"py2048 watch: {last}")


def main() -> None:
    """Run the whole check."""
    with tempfile.TemporaryDirectory(prefix="py2048-wheel-") as scratch:
        home = Path(scratch)
        wheel = build(home / "dist")
        check_contents(wheel)
        play(install(wheel, home / "environment"), home)
        print(f"{wheel.name}: installs alone and plays")


if __name__ == "__main__":
    main()
