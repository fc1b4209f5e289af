"""Build the distributions, install only the wheel into an empty environment, and play.

The script finds missing data files, missing dependencies, and imports that only development tools
provide. The wheel is built twice, from the source archive and from the checkout. Identical bytes
show that the archive is complete and that the build is reproducible. Finally, the strong networks
are installed, and py2048 must find these networks.
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
CHECKOUT = "PYTHONPATH", "VIRTUAL_ENV"
"""Environment variables that would expose this checkout's modules."""
EXTRAS = ("gymnasium", "matplotlib", "numba", "psycopg", "ray", "starlette")

NO_EXTRAS = f"""
import importlib.util, sys
found = [name for name in {EXTRAS!r} if importlib.util.find_spec(name)]
sys.exit(f"the base install brings {{found}}" if found else 0)
"""

PAGE = next(ROOT.glob("packaging/flatpak/*.metainfo.xml"))
"""Metadata for software stores."""

MEGABYTE = 1_000_000
LIMITS = {
    "py2048-*.whl": 12.1 * MEGABYTE,
    "py2048-*.tar.gz": 30 * MEGABYTE,
    "py2048_weights-*.whl": 95 * MEGABYTE,
}
"""Maximum file sizes. Package indexes accept files of up to 100 MB."""

RECORD = ROOT / "docs" / "images" / "hero.2048.json"
BOARD = "2 4 8 16 / 4 8 16 32 / 2 . 4 8 / . 2 . 2"
STRONG = "py2048_weights-"
"""Text that py2048 prints if only the small networks are installed."""


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command and return its output; exit if it fails."""
    result = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={k: v for k, v in os.environ.items() if k not in CHECKOUT} | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    if result.returncode:
        sys.exit(f"failed ({result.returncode}): {' '.join(map(str, command))}\n{result.stdout}")
    return result.stdout


def build(folder: Path) -> dict[str, Path]:
    """Build all distributions into `folder`; return the files by pattern in `LIMITS`."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "again", ROOT)
    for again in (folder / "again").iterdir():
        if again.read_bytes() != (folder / again.name).read_bytes():
            sys.exit(f"{again.name} differs when it is built from the checkout")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT / "weights")
    files = {pattern: one for pattern in LIMITS for one in folder.glob(pattern)}
    for pattern, limit in LIMITS.items():
        size = files[pattern].stat().st_size
        print(f"{files[pattern].name}: {size / MEGABYTE:.1f} MB")
        if size > limit:
            sys.exit(f"{files[pattern].name} is larger than {limit / MEGABYTE:.1f} MB")
    return files


def check_contents(wheel: Path) -> None:
    """Check that the wheel contains the typing marker and only files of the package."""
    names = zipfile.ZipFile(wheel).namelist()
    if "py2048/py.typed" not in names:
        sys.exit(f"{wheel.name} lacks py2048/py.typed")
    ours = "py2048/", "py2048-", "py2048_verifiers.py"
    strays = [name for name in names if not name.startswith(ours)]
    if strays:
        sys.exit(f"{wheel.name} holds {strays}")


def check_entry(environment: Path) -> None:
    """Check that the desktop entry, its command and its icon are installed."""
    share = environment / "share"
    file = share / "applications" / "py2048.desktop"
    if shutil.which("desktop-file-validate"):
        run("desktop-file-validate", file)
    if shutil.which("appstreamcli"):
        run("appstreamcli", "validate", "--no-net", PAGE)
    entry = file.read_text(encoding="utf-8")
    if "\nExec=py2048w\n" not in entry or not any(environment.glob("*/py2048w*")):
        sys.exit("the desktop entry starts a command that is not installed")
    if not (share / "icons" / "hicolor" / "scalable" / "apps" / "py2048.svg").exists():
        sys.exit("the desktop entry has no icon")


def install(folder: Path, *wheels: Path) -> Path:
    """Install wheels into a new or existing environment; return the folder with its programs."""
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    if not folder.exists():
        run(sys.executable, "-m", "venv", folder)
    run(programs / "python", "-m", "pip", "install", "--quiet", *wheels)
    return programs


def play(programs: Path, home: Path) -> None:
    """Play one game and verify another with the installed package, without any extras."""
    run(programs / "python", "-c", NO_EXTRAS, cwd=home)
    for words in (("watch", "--player", "greedy", "--seed", "7"), ("verify", RECORD)):
        print(f"py2048 {words[0]}: {command(programs, home, *words).splitlines()[-1]}")


def advise(programs: Path, home: Path, *, strong: bool) -> None:
    """Ask for a hint, and check which networks are installed."""
    print(f"py2048 hint: {command(programs, home, 'hint', BOARD).splitlines()[-1]}")
    count = command(programs, home, "players").count(STRONG)
    if count != (not strong):
        sys.exit(f"py2048 players names {count} times how to install the strong networks")


def command(programs: Path, home: Path, *words: str | Path) -> str:
    """Run py2048 and return its output."""
    return run(programs / "py2048", *words, cwd=home, PY2048_HOME=str(home / "data")).strip()


def main() -> None:
    """Run all checks."""
    with tempfile.TemporaryDirectory(prefix="py2048-wheel-") as scratch:
        home = Path(scratch)
        ours, _, weights = build(home / "dist").values()
        check_contents(ours)
        programs = install(home / "environment", ours)
        check_entry(home / "environment")
        play(programs, home)
        advise(programs, home, strong=False)
        install(home / "environment", weights)
        advise(programs, home, strong=True)
        print(f"{ours.name}: installs alone, plays, and finds {weights.name}")


if __name__ == "__main__":
    main()
