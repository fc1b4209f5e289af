"""How fast networks of 4x4 are trained and play: moves a second of processor time, one thread.

Usage: bench_training.py [MOVES]. The first rounds meet few weights and are the fastest per move
that caches allow; later ones are what a long training sees.
"""

from __future__ import annotations

import sys
import time

from py2048.lab.training.trainer import Trainer, TrainingConfig

KINDS = {
    "4x6, TC, TD(0.5) by games": TrainingConfig(),
    "4x6, TC, TD(0) by moves": TrainingConfig(trajectory_length=1, lambda_=0.0),
    "4x6, fixed rate, TD(0) by moves": TrainingConfig(
        trajectory_length=1, lambda_=0.0, temporal_coherence=False, learning_rate=0.1
    ),
}
ROUNDS = 5


def speed(trainer: Trainer, moves: int) -> float:
    """Return the moves that a training makes in a second of this process's time."""
    before, start = trainer.moves, time.process_time()
    trainer.run(moves=moves)
    return (trainer.moves - before) / (time.process_time() - start)


def main() -> None:
    """Print millions of moves a second: the first round, the median and the fastest."""
    moves = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    print(f"{'':34}{'first':>8}{'median':>8}{'fastest':>8}  mean score")
    for name, config in KINDS.items():
        trainer = Trainer(config)
        trainer.prepare()
        speeds = []
        for _ in range(ROUNDS):
            before = trainer.tally
            speeds.append(speed(trainer, moves))
            recent = trainer.tally - before
        shown = speeds[0], sorted(speeds)[ROUNDS // 2], max(speeds)
        print(f"{name:34}" + "".join(f"{s / 1e6:8.2f}" for s in shown) + f"  {recent.mean:10,.0f}")


if __name__ == "__main__":
    main()
