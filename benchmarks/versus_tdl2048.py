"""How fast we train, play and search beside moporgic/TDL2048, in the same minutes on one core.

Usage: versus_tdl2048.py SOURCE [THOUSANDS] [ROUNDS]

SOURCE is a checkout of github.com/moporgic/TDL2048; a copy of it is compiled here with its own
``make``. Both programs train a network of four 6-tuples with temporal coherence for THOUSANDS
thousand games (20), and then play with it, without search and two and three plies deep. Playing is
measured ROUNDS times (3) in turn, each time on the same games of either program, and the best of
each counts. Speeds are moves in a second of real time: let nothing else run.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from py2048 import get_rules
from py2048.core.rng import derive_seed
from py2048.lab.commands.bench import machine
from py2048.lab.training.trainer import Trainer, TrainingConfig
from py2048.players.ntuple.network import Network
from py2048.players.ntuple.weights import load, save_packed
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher, play_games

GAMES = {1: 1000, 2: 40, 3: 2}
"""How many games are played at each depth."""
NETWORK = ["-n", "4x6patt"]
SPEED = re.compile(r"^\d+/\d+ (\d+)ms ([\d.]+)ops", re.MULTILINE)


def build(source: Path, folder: Path) -> Path:
    """Compile a copy of the other program; return it."""
    copy = folder / "source"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns(".git", "2048"))
    subprocess.run(["make", "default"], cwd=copy, check=True, stdout=subprocess.DEVNULL)
    return copy / "2048"


def told(program: Path, *words: str) -> float:
    """Run the other program; return its moves a second."""
    command = [str(program), *NETWORK, *words, "-s", "1"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    parts = [(float(ms), float(speed)) for ms, speed in SPEED.findall(text)]
    return sum(ms * speed for ms, speed in parts) / sum(ms for ms, _ in parts)


def trained(thousands: int, folder: Path) -> tuple[Network, float]:
    """Train ours; return the network as it is shipped, in whole steps, and the moves a second."""
    trainer = Trainer(TrainingConfig("classic", tuples="4x6"))
    trainer.prepare()
    start = time.perf_counter()
    trainer.run(games=1000 * thousands)
    speed = trainer.moves / (time.perf_counter() - start)
    path = folder / "ours.npz"
    save_packed(trainer.network(), path, step=16.0)
    return load(path), speed


def played(searcher: Searcher, games: int) -> float:
    """Let ours play; return the moves a second."""
    start = time.perf_counter()
    plies = play_games(searcher, [derive_seed(1, n) for n in range(games)]).plies
    return float(plies.sum()) / (time.perf_counter() - start)


def shown(what: str, ours: float, theirs: float) -> None:
    """Print a line of the table."""
    print(f"{what:12}{ours:>14,.0f}{theirs:>14,.0f}{ours / theirs:>8.2f}", flush=True)


def main(source: Path, thousands: int = 20, rounds: int = 3) -> None:
    """Measure and print."""
    print(*(f"{name}: {value}" for name, value in machine().items()), sep="\n")
    print(f"\n{'moves/s':12}{'py2048':>14}{'TDL2048':>14}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        program, weights = build(source, Path(folder)), f"{folder}/theirs.w"
        theirs = told(program, "-a", "1.0", "coherence", "-t", str(thousands), "-o", weights)
        network, speed = trained(thousands, Path(folder))
        shown("training", speed, theirs)
        for depth, games in GAMES.items():
            searcher = Searcher(get_rules("classic"), network, SearchLimits(depth))
            searcher.prepare()
            words = ["-i", weights, "-e", f"1x{games}", *(["-d", f"{depth}p"] if depth > 1 else [])]
            pairs = [(told(program, *words), played(searcher, games)) for _ in range(rounds)]
            shown(f"{depth}-ply", max(p[1] for p in pairs), max(p[0] for p in pairs))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
