"""All that a graphics card is to show: speeds, equality with the reference, and what it learns.

Usage: gpu.py [--out FOLDER] [--minutes 4] [quick | long | bands]

`quick` takes two minutes: equality, random moves and steps a second, half a minute of learning.
`long` trains one table for 4 minutes; `bands` trains bands on it, backwards from the end of the
game, for 6. Each leaves its weights in FOLDER, packed, in pieces: ``cat weights.npz.* >
weights.npz``, and ``bands.npz.*`` likewise. Without any, all is done, in 14 minutes.

It needs CuPy and NumPy, Numba for the equality and the bands, and nothing else of py2048. On a lent
machine that has them, with nothing to carry (``git sparse-checkout set src benchmarks`` first, if
the weights in the working tree make it too large to send), in three commands while the machine is
warm; what one needs of another is kept in build/gpu::

    PYTHONPATH=src python3 -u benchmarks/gpu.py quick --out $OUT
    PYTHONPATH=src python3 -u benchmarks/gpu.py long --out $OUT
    PYTHONPATH=src python3 -u benchmarks/gpu.py bands --out $OUT
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from py2048.compiled import cuda
from py2048.compiled.batch import BatchGames
from py2048.errors import Py2048Error
from py2048.ntuple.layout import NetworkLayout, parse_tuples
from py2048.ntuple.network import Band, Network
from py2048.ntuple.weights import load, save_packed
from py2048.rules import get_rules
from py2048.training.ascent import Ascent, plan_from
from py2048.training.bands import CardBandTrainer
from py2048.training.boards import evaluate
from py2048.training.card import CardTrainer
from py2048.training.trainer import TrainingConfig

TUPLES = "9abdef 4567ab abcdef 69abcd 56adef 489abf"
CONFIG = TrainingConfig(tuples=TUPLES, device="cuda")
PHASES = (0.65, 1.0), (0.85, 0.25), (1.0, 0.05)
"""Up to this share of the time, this learning rate."""
GAMES = 540_672
EVALUATED = 20_000
EVALUATION_SEED = 2048
PIECE = 15_000_000
STEP, BAND_STEP = 24.0, 72.0
KEPT = Path("build/gpu")
WEIGHTS = "weights.npz"
BAND_SECONDS = 330.0
"""No band continues when it is later than this."""
RATES = {"goal": 132_000, "moves": [3e9, 1e9, 5e8], "rates": [0.25, 0.05, 0.02]}
PLAN = {
    "tuples": TUPLES,
    "step": BAND_STEP,
    "device": "cuda",
    "threads": os.cpu_count() or 1,
    "depths": [1, 2],
    "judged": 400,
    "checkpoint_minutes": 0.5,
    "collect": [{"tile": 16384, "games": 6000}, {"tile": 32768, "games": 4000, "after": 16384}],
    "bands": [
        *({"tile": 16384, "least": least, **RATES} for least in (30_720, 28_672, 24_576)),
        *({"tile": 32768, "least": least, **RATES} for least in (56_320, 49_152)),
    ],
}
CHUNK = 20_000_000
WINDOW = 5.0
"""Seconds between two lines of the curve."""


def seconds_of(card: cuda.Card, work: Callable[[], object]) -> float:
    """Return how long some work of a card takes."""
    card.arrays.cuda.Device().synchronize()
    start = time.perf_counter()
    work()
    card.arrays.cuda.Device().synchronize()
    return time.perf_counter() - start


def compare() -> None:
    """Say whether the card learns what the reference learns, one table and a band."""
    config = replace(
        CONFIG, tuples="lines+squares", ranks=10, games_at_once=1024, restart_length=30
    )
    trainers = [CardTrainer(replace(config, device=name)) for name in ("cuda", "reference")]
    for trainer in trainers:
        trainer.run(moves=100_000)
    mine, theirs = (trainer.arrays() for trainer in trainers)
    equal = all(np.array_equal(mine[n].view(np.uint8), theirs[n].view(np.uint8)) for n in mine)
    print(f"100,000 moves of learning, card and reference: {'equal' if equal else 'DIFFERENT'}")
    weights = [trained_band(name).weights.tobytes() for name in ("cuda", "reference")]
    print(f"100,000 moves of a band: {'equal' if weights[0] == weights[1] else 'DIFFERENT'}")
    batches = [BatchGames(get_rules("classic"), 4096, device=name) for name in ("cuda", "cpu")]
    tallies = [batch.play_random(500) for batch in batches]
    same = np.array_equal(cuda.card().get(batches[0].boards), batches[1].boards)
    print(
        f"2,048,000 random moves: {'equal' if same and tallies[0] == tallies[1] else 'DIFFERENT'}"
    )


def trained_band(device: str) -> CardBandTrainer:
    """Return a band that begins with an 8 and a 4, on weights that know nothing."""
    layout = NetworkLayout(4, 4, parse_tuples("lines+squares", 4, 4))
    table = np.random.default_rng(1).integers(-99, 99, layout.size).astype(np.int16)
    below, starts = Network(layout, get_rules("classic"), table), np.array([[0x23, 0]], np.uint64)
    band = Band(8, 12, 3.5, 0.7, 5000.0, makes=128)
    trainer = CardBandTrainer(below, layout, band, starts, device=device, games_at_once=1024)
    trainer.run(100_000, 0.5)
    return trainer


def play(card: cuda.Card) -> None:
    """Print random moves a second, and steps with all that an environment returns."""
    batch = BatchGames(get_rules("classic"), GAMES, seed=1, device="cuda")
    batch.play_random(100)
    spent = seconds_of(card, lambda: batch.play_random(4000))
    print(f"random moves: {4000 * GAMES / spent / 1e9:.2f} G/s, {GAMES:,} games")
    ways = [card.arrays.random.randint(0, 4, GAMES, dtype=np.uint8) for _ in range(8)]

    def steps() -> None:
        for number in range(400):
            batch.step(ways[number % 8])
            batch.observe()
            _ = batch.legal_mask, batch.dones

    steps()
    print(f"steps with observation and mask: {400 * GAMES / seconds_of(card, steps) / 1e9:.2f} G/s")


def trained(seconds: float, config: TrainingConfig) -> CardTrainer:
    """Return a network trained for so long, and print its curve."""
    trainer = CardTrainer(config)
    trainer.prepare()
    spent, told, moves, tally = 0.0, WINDOW, 0, trainer.tally
    for share, rate in PHASES:
        trainer.config = config.changed({"learning_rate": rate})
        if rate < 1:
            trainer.reset_coherence()
        while spent < share * seconds:
            start = time.perf_counter()
            trainer.run(moves=CHUNK)
            spent += time.perf_counter() - start
            if spent >= told:
                recent, tally = trainer.tally - tally, trainer.tally
                speed, moves = (trainer.moves - moves) / 1e6, trainer.moves
                window, told = spent - told + WINDOW, spent + WINDOW
                print(
                    f"{spent:6.1f} s  rate {rate:4}  {trainer.active:,} games at once  "
                    f"{speed / window:5.1f} M moves/s  mean {recent.mean:,.0f}  "
                    f"16384 in {recent.rate(16384):.1%}  32768 in {recent.rate(32768):.2%}"
                )
    print(
        f"{trainer.moves / 1e9:.2f} G moves in {spent:.1f} s: {trainer.moves / spent / 1e6:.1f} M/s"
    )
    return trainer


def judge(trainer: CardTrainer, what: str) -> None:
    """Print how a network plays without search."""
    start = time.perf_counter()
    tally = trainer.evaluate(EVALUATED, EVALUATION_SEED)
    print(
        f"1-ply, {what}: {tally.mean:,.0f} ± {tally.error:,.0f} over {tally.games:,} games, "
        f"16384 in {tally.rate(16384):.1%}, 32768 in {tally.rate(32768):.2%} "
        f"({time.perf_counter() - start:.0f} s)"
    )


def leave(path: Path, folder: Path) -> None:
    """Copy a file in pieces."""
    data = path.read_bytes()
    for number, first in enumerate(range(0, len(data), PIECE)):
        (folder / f"{path.name}.{number}").write_bytes(data[first : first + PIECE])
    print(f"{path.name}: {len(data):,} bytes")


def train_table(folder: Path, minutes: float) -> None:
    """Train one table, leave it packed, and print how it plays."""
    trainer = trained(60 * minutes, replace(CONFIG, ranks=14))
    judge(trainer, f"after {minutes:g} min")
    note = {"plan": trainer.config.data(), "moves": trainer.moves, "games": trainer.games}
    packed = save_packed(trainer.network(note), KEPT / WEIGHTS, step=STEP)
    leave(KEPT / WEIGHTS, folder)
    judge(CardTrainer(trainer.config, packed), "packed")


def train_bands(folder: Path) -> None:
    """Train the bands that the time allows; print how the network plays with them."""
    start, path = time.monotonic(), KEPT / "bands.npz"

    def tell(line: str) -> None:
        spent = time.monotonic() - start
        print(f"{spent:6.1f} s  {line}")
        if spent > BAND_SECONDS:
            raise KeyboardInterrupt

    ascent = Ascent(KEPT / "ascent", plan_from(PLAN | {"weights": str(KEPT / WEIGHTS)}), tell)
    try:
        ascent.run()
    except (KeyboardInterrupt, Py2048Error) as reason:
        print(f"not all bands: {str(reason) or 'the time is over'}")
    if not (ascent.folder / WEIGHTS).exists():
        return
    (ascent.folder / WEIGHTS).replace(path)
    leave(path, folder)
    tally = evaluate(load(path), 2000, EVALUATION_SEED, threads=os.cpu_count() or 1)
    print(f"1-ply, with bands: {tally.mean:,.0f} ± {tally.error:,.0f} over {tally.games:,} games")


def main() -> int:
    """Measure; return 2 without a card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=["quick", "long", "bands"])
    parser.add_argument("--out", type=Path, default=KEPT)
    parser.add_argument("--minutes", type=float, default=4.0)
    given = parser.parse_args()
    try:
        card = cuda.card()
    except Py2048Error as error:
        print(f"gpu.py: {error}", file=sys.stderr)
        return 2
    for folder in (KEPT, given.out):
        folder.mkdir(parents=True, exist_ok=True)
    if given.part in (None, "quick"):
        compare()
        play(card)
        judge(trained(30.0, CONFIG), "after 30 s")
    if given.part in (None, "long"):
        train_table(given.out, given.minutes)
    if given.part in (None, "bands"):
        train_bands(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
