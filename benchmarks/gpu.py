"""Measure a GPU and train a network on it; print each result next to its required minimum.

Usage: gpu.py [--out FOLDER] [quick | table | bands]

`quick` takes about two minutes. It compares the GPU's results with the reference, and measures
random moves and environment steps per second; pgx and jumanji are measured for comparison if they
are installed. `table` trains one table for 8 minutes, evaluates it after 30 s and at the end, and
writes its curve for docs/strength.md. `bands` spends 215 s on training bands on top of that table,
starting with the last stage of the game. `table` and `bands` write packed weights to FOLDER in
pieces. Join the pieces with ``cat weights.npz.* > weights.npz``, and ``bands.npz.*`` in the same
way. Without an argument, all three parts run, which takes 14 minutes.

The script needs CuPy, NumPy and Numba. On a rented machine that limits commands to ten minutes, run
the three parts separately. Intermediate files are in build/gpu. pgx and jumanji, and their
dependencies svgwrite, esquilax, dm-env and gymnasium, can be uploaded as wheels and installed with
``pip install --no-index --no-deps --target /tmp/site``::

    export PYTHONPATH=src:/tmp/site PYTHONUNBUFFERED=1
    python3 benchmarks/gpu.py quick --out $OUT
    python3 benchmarks/gpu.py table --out $OUT
    python3 benchmarks/gpu.py bands --out $OUT
"""

from __future__ import annotations

import argparse
import csv
import importlib
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from peers import PEERS, is_here

from py2048.core.errors import Py2048Error
from py2048.core.rules import get_rules
from py2048.engine import cuda
from py2048.engine.batch import BatchGames
from py2048.lab.training.ascent import SIX_TUPLES, Ascent, plan_from
from py2048.lab.training.bands import BandTask
from py2048.lab.training.boards import ScoreTally, evaluate
from py2048.lab.training.card import CardTrainer
from py2048.lab.training.trainer import TrainingConfig
from py2048.players.ntuple.layout import NetworkLayout, parse_tuples
from py2048.players.ntuple.network import Band, Network
from py2048.players.ntuple.weights import load, save_packed

CLASSIC = get_rules("classic")
CONFIG = TrainingConfig(tuples=SIX_TUPLES, ranks=14)
THREADS = os.cpu_count() or 1
PHASES = (0.65, 1.0), (0.85, 0.25), (1.0, 0.05)
"""Pairs of a fraction of the training time and the learning rate used until then."""
EVALUATION_SEED = 2048
PIECE = 15_000_000
STEP, BAND_STEP = 24.0, 72.0
KEPT = Path("build/gpu")
RESULTS = Path(__file__).parent / "results" / "strength"
WEIGHTS, CURVE = "weights.npz", "card.csv"
WINDOW_SECONDS = 5.0
"""Seconds between two points of the learning curve."""
BAND_SPEED, RATES = 0.6, {0.25: 20.0, 0.05: 8.0, 0.02: 4.0}
"""A band's training speed relative to a table's, and the seconds per learning rate."""


@dataclass(frozen=True)
class Size:
    """The amount of work in each measurement.

    Attributes:
        device: Device, as in `TrainingConfig`.
        config: Settings of the table's training.
        games: Number of games in a batch.
        moves: Random moves per game.
        compared: Training moves when GPU and reference are compared.
        evaluated: Games for evaluating a network.
        chunk: Number of training moves between clock checks.
        seconds: Durations of the table's training before and after the first evaluation.
        in_all: Time limit for all parts, in seconds.
        for_bands: Time limit for training bands, in seconds.
        plan: The `AscentPlan`, without the moves and learning rates of its bands.
    """

    device: str = "cuda"
    config: TrainingConfig = CONFIG
    games: int = 540_672
    moves: int = 4000
    compared: int = 100_000
    evaluated: int = 20_000
    chunk: int = 20_000_000
    seconds: tuple[float, float] = (30.0, 450.0)
    in_all: float = 840.0
    for_bands: float = 215.0
    plan: dict[str, Any] = field(
        default_factory=lambda: {
            "step": BAND_STEP,
            "judged": 200,
            "collect": [
                {"tile": 16384, "games": 6000},
                {"tile": 32768, "games": 4000, "after": 16384},
            ],
            "bands": [
                {"tile": 16384, "min_sum": 30_720, "goal": 132_000},
                {"tile": 32768, "min_sum": 47_104, "goal": 100_000, "target_tile": 16384},
                {"tile": 16384, "min_sum": 28_672, "goal": 132_000},
            ],
        }
    )

    @property
    def arrays(self) -> Any:
        """The array module of the device."""
        return cuda.card().arrays if self.device == "cuda" else np

    def batch(self, games: int) -> BatchGames:
        """Return games on the device."""
        device = "cuda" if self.device == "cuda" else "cpu"
        return BatchGames(CLASSIC, games, seed=1, device=device)

    def seconds_of(self, work: Callable[[], object]) -> float:
        """Return the time in seconds that `work` takes on the device."""
        wait = self.arrays.cuda.Device().synchronize if self.device == "cuda" else lambda: None
        wait()
        start = time.perf_counter()
        work()
        wait()
        return time.perf_counter() - start


def bar(what: str, figure: float, least: float, shown: str = ",.0f") -> None:
    """Print a result next to its required minimum."""
    is_reached = "reached" if figure >= least else "NOT REACHED"
    print(f"BAR  {what}: {figure:{shown}}, at least {least:{shown}}: {is_reached}")


def tell(line: str) -> None:
    """Print a line, prefixed with the seconds since the start."""
    print(f"{time.perf_counter() - BEGUN:6.1f} s  {line}")


BEGUN = time.perf_counter()

# --- quick ----------------------------------------------------------------------------------------


def compare(size: Size) -> None:
    """Check that the GPU trains and plays exactly like the reference."""
    config = replace(
        size.config, tuples="lines+squares", ranks=10, games_at_once=1024, restart_length=30
    )
    found, devices = [], (size.device, "reference")
    for device in devices:
        trainer = CardTrainer(replace(config, device=device))
        trainer.run(moves=size.compared)
        arrays = [array.tobytes() for array in trainer.arrays().values()]
        found.append((arrays, band_weights(device, size.compared)))
    batches = size.batch(4096), BatchGames(CLASSIC, 4096, seed=1)
    tallies = [batch.play_random(500) for batch in batches]
    boards = [batch.get_state().cells.tolist() for batch in batches]
    for what, is_equal in (
        (f"{size.compared:,} moves of learning", found[0][0] == found[1][0]),
        (f"{size.compared:,} moves of a band", found[0][1] == found[1][1]),
        ("2,048,000 random moves", (tallies[0], boards[0]) == (tallies[1], boards[1])),
    ):
        bar(f"{what}, bit for bit the processor's", is_equal, 1)


def band_weights(device: str, moves: int) -> bytes:
    """Train a band on top of a random network; return its weights."""
    layout = NetworkLayout(4, 4, parse_tuples("lines+squares", 4, 4))
    table = np.random.default_rng(1).integers(-99, 99, layout.size).astype(np.int16)
    below, starts = Network(layout, CLASSIC, table), np.array([[0x23, 0]], np.uint64)
    band = Band(8, 12, 3.5, 0.7, 5000.0, makes=128)
    config = TrainingConfig(
        tuples="lines+squares", learning_rate=0.5, device=device, games_at_once=1024
    )
    trainer = CardTrainer(config, task=BandTask(below, band, starts))
    trainer.run(moves=moves)
    return bytes(trainer.weights)


def play(size: Size) -> None:
    """Print random moves per second, and steps per second with all outputs."""
    batch = size.batch(size.games)
    batch.play_random(100)
    spent = size.seconds_of(lambda: batch.play_random(size.moves))
    bar("10⁹ random moves a second", size.moves * size.games / spent / 1e9, 10, ".2f")
    actions = np.random.default_rng(1).integers(0, 4, (8, size.games), np.uint8)

    def speed(step: Callable[[Any], Any], ways: list[Any], steps: int) -> float:
        """Return the steps per second of all games together, after a warm-up."""

        def some(count: int) -> None:
            for way in islice(cycle(ways), count):
                step(way)

        some(-(-steps // 10))
        return steps * size.games / size.seconds_of(lambda: some(steps))

    def step(way: Any) -> None:
        batch.step(way)
        batch.observe()
        _ = batch.legal_mask, batch.dones

    ours = speed(step, list(map(size.arrays.asarray, actions)), max(size.moves // 10, 1))
    bar("10⁹ steps with observation, mask, reward and reset", ours / 1e9, 1, ".2f")
    for name, make in PEERS.items():
        if not is_here(name):
            print(f"{name} is not installed here, so it is not beside ours")
            continue
        try:
            jax = importlib.import_module("jax")
            theirs = speed(
                make(size.games), list(map(jax.device_put, actions.astype(np.int32))), 20
            )
        except Exception as error:  # noqa: BLE001 - the library may not support this machine
            print(f"{name} does not run here: {error!r}")
            continue
        print(
            f"{name} on the {jax.default_backend()}, {size.games:,} games, random moves: "
            f"{theirs / 1e9:.3f}·10⁹ steps a second; ours {ours / theirs:.1f} times that"
        )


# --- a table --------------------------------------------------------------------------------------


class Table:
    """The training of one table, and its learning curve.

    Args:
        size: What to measure.
    """

    def __init__(self, size: Size) -> None:
        self.size = size
        self.trainer = CardTrainer(replace(size.config, device=size.device))
        self.trainer.prepare()
        self.seconds, self.curve = 0.0, list[dict[str, float]]()
        self._before, self._told = self.trainer.tally, 0.0

    def train(self, seconds: float) -> None:
        """Train for `seconds` seconds with decreasing learning rates."""
        trainer, begun = self.trainer, self.seconds
        for share, rate in PHASES:
            trainer.config = trainer.config.changed({"learning_rate": rate})
            if self.seconds:
                trainer.reset_coherence()
            while self.seconds < begun + share * seconds:
                start = time.perf_counter()
                trainer.run(moves=self.size.chunk)
                self.seconds += time.perf_counter() - start
                if self.seconds >= self._told + WINDOW_SECONDS:
                    self._add_point(rate)
        self._add_point(rate)

    def _add_point(self, rate: float) -> None:
        trainer, tally = self.trainer, self.trainer.tally
        recent, self._before, self._told = tally - self._before, tally, self.seconds
        if not recent.games:
            return
        point = {
            "seconds": round(self.seconds, 3),
            "games": trainer.games,
            "moves": trainer.moves,
            "mean": recent.mean,
            "error": recent.error,
        }
        self.curve.append(point)
        print(
            f"{self.seconds:6.1f} s  rate {rate:4}  {trainer.active:,} games at once  "
            f"{trainer.moves / 1e9:.2f} G moves  mean {recent.mean:,.0f}  "
            f"16384 in {recent.rate(16384):.1%}  32768 in {recent.rate(32768):.2%}"
        )

    def judge(self, least: float) -> None:
        """Print the network's strength without search."""
        tally = self.trainer.evaluate(self.size.evaluated, EVALUATION_SEED)
        bar(f"1-ply after {self.seconds:.0f} s", tally.mean, least)
        print(said(tally))

    def save_curve(self, path: Path) -> None:
        """Write the learning curve for the strength page."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self.curve[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.curve)


def said(tally: ScoreTally) -> str:
    """Format the mean score and the rates of large tiles."""
    return (
        f"  {tally.mean:,.0f} ± {tally.error:,.0f} over {tally.games:,} games, "
        f"16384 in {tally.rate(16384):.1%}, 32768 in {tally.rate(32768):.2%}"
    )


def train_table(size: Size, folder: Path) -> None:
    """Train one table; write its curve and packed weights, and print its strength."""
    table, (first, second) = Table(size), size.seconds
    table.train(first)
    table.judge(240_000)
    table.train(second)
    table.judge(330_000)
    trainer, curve = table.trainer, RESULTS / CURVE
    bar("10⁶ learning moves a second", trainer.moves / table.seconds / 1e6, 150, ".1f")
    table.save_curve(curve)
    if folder != KEPT:
        shutil.copy(curve, folder)
    note = {"plan": trainer.config.data(), "moves": trainer.moves, "seconds": table.seconds}
    packed = save_packed(trainer.network(note), KEPT / WEIGHTS, step=STEP)
    leave(KEPT / WEIGHTS, folder)
    tally = CardTrainer(trainer.config, packed).evaluate(size.evaluated, EVALUATION_SEED)
    tell(f"packed:{said(tally)}")


def leave(path: Path, folder: Path) -> None:
    """Copy a file in pieces."""
    data = path.read_bytes()
    for number, first in enumerate(range(0, len(data), PIECE)):
        (folder / f"{path.name}.{number}").write_bytes(data[first : first + PIECE])
    print(f"{path.name}: {len(data):,} bytes")


# --- bands ----------------------------------------------------------------------------------------


def train_bands(size: Size, folder: Path, seconds: float) -> None:
    """Train bands until time is up, and print the strength of the banded network."""
    until, home, path = time.perf_counter() + seconds, KEPT / "ascent", KEPT / "bands.npz"
    shutil.rmtree(home, ignore_errors=True)
    network = load(KEPT / WEIGHTS)
    speed = BAND_SPEED * network.history[-1]["moves"] / network.history[-1]["seconds"]
    rates = {"moves": [max(speed * each, 1.0) for each in RATES.values()], "rates": list(RATES)}
    plan = plan_from(
        {"device": size.device, "threads": THREADS, "weights": str(KEPT / WEIGHTS)}
        | size.plan
        | {"bands": [rates | band for band in size.plan["bands"]]}
    )
    try:
        ascent, longest = Ascent(home, plan, tell), 0.0
        for collected in plan.collect:
            ascent.boards(network, collected.tile)
        for number, band in enumerate(plan.bands, 1):
            begun = time.perf_counter()
            if begun + longest > until:
                tell(f"{band}: not trained, as the time is over")
                break
            Ascent(home, replace(plan, bands=plan.bands[:number]), tell).run()
            longest = max(longest, time.perf_counter() - begun)
    except Py2048Error as error:
        tell(f"not all bands: {error}")
    if not (home / WEIGHTS).exists():
        return
    (home / WEIGHTS).replace(path)
    leave(path, folder)
    better = load(path)
    last = next(entry["last_stretch"] for entry in better.history if "band" in entry)
    depth = max(last)
    made, boards = last[depth][1]
    bar(f"last stretch with the first band, depth {depth}", made / boards, 0.65, ".1%")
    tally = evaluate(better, size.evaluated // 10, EVALUATION_SEED, threads=THREADS)
    tell(f"1-ply, with bands:{said(tally)}")


def measure(size: Size, folder: Path, part: str | None) -> None:
    """Run one part, or all."""
    for each in (KEPT, folder):
        each.mkdir(parents=True, exist_ok=True)
    if part in (None, "quick"):
        compare(size)
        play(size)
    if part in (None, "table"):
        train_table(size, folder)
    if part in (None, "bands"):
        left = size.in_all - (time.perf_counter() - BEGUN)
        train_bands(size, folder, min(size.for_bands, left) - 30)  # 30 s to pack and evaluate
    tell("done")


def main() -> int:
    """Run the measurement; return 2 if there is no GPU."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=["quick", "table", "bands"])
    parser.add_argument("--out", type=Path, default=KEPT)
    given = parser.parse_args()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or JAX reserves GPU memory
    try:
        cuda.card()
    except Py2048Error as error:
        print(f"gpu.py: {error}", file=sys.stderr)
        return 2
    measure(Size(), given.out, given.part)
    return 0


if __name__ == "__main__":
    sys.exit(main())
