"""Compare models of a player by how well they predict the moves in replays of people.

Usage: people.py PATH…

Each PATH is a file or a folder with the games of one player, in a format that ``py2048 import``
reads, under rules with a network. The parameter of a model is fitted to the first half of the
player's moves and tested on the second half, then the other way round. The table shows the mean
log-likelihood of a tested move, and both fits. All models are mixed with 1 % of random legal moves,
so that no move is impossible.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048 import Direction
from py2048.core.game.importing import load_records
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher
from py2048.review.simulation import evaluation_of

Array = NDArray[Any]

LAPSES = 0.01
GRID = tuple(float(f"{each:.2g}") for each in np.geomspace(0.01, 0.9, 40))
POINTS = np.linspace(-1, 1, 129)[1::2]
"""Midpoints at which the distribution of misjudgements is integrated."""


def moves_of(path: Path) -> tuple[Array, Array]:
    """Return the 1-ply values `[moves, 4]` of moves with a choice, -inf if illegal, and moves."""
    values, played = [], []
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    for record in (record for file in files for record in load_records(file)):
        evaluation = evaluation_of(record.rules)
        searcher, board = Searcher(record.rules, evaluation, SearchLimits(depth=1)), record.start
        for after, turn, _ in record.replay():
            rated = searcher.rate(board)
            if len(rated) > 1:
                values.append([rated.get(each, -np.inf) for each in Direction])
                played.append(turn.direction.value)
            board = after
    return np.array(values), np.array(played)


def normalized(weights: Array) -> Array:
    """Scale each row to the sum 1."""
    chances: Array = weights / weights.sum(axis=1, keepdims=True)
    return chances


def random(values: Array, _: float = 0.0) -> Array:
    """Choose any legal move."""
    return normalized(np.isfinite(values))


def slips(values: Array, slip: float) -> Array:
    """Choose the best move, but with probability `slip` any legal one."""
    best = normalized(values == values.max(axis=1, keepdims=True))
    return normalized((1 - slip) * best + slip * random(values))


def softmax(values: Array, temperature: float) -> Array:
    """Choose by softmax; the temperature is relative to the best value."""
    best = values.max(axis=1, keepdims=True)
    return normalized(np.exp((values - best) / (temperature * best)))


def misjudged(values: Array, share: float) -> Array:
    """Choose the best move after multiplying each value by `1 + share * x`, x in [-1, 1)."""
    legal = np.isfinite(values)
    true = np.where(legal, values, 0)[..., None, None]  # [moves, direction, other, points]
    judged, other = true * (1 + share * POINTS), np.moveaxis(true, 1, 2)
    below = (judged / np.maximum(other, 1e-9) - 1 + share) / (2 * share)
    below[:, range(4), range(4)] = 1
    return normalized(np.clip(below, 0, 1).prod(axis=2).mean(axis=-1) * legal)


MODELS: tuple[Callable[[Array, float], Array], ...] = (random, slips, softmax, misjudged)


def main(files: list[str]) -> None:
    """Print the table."""
    for name in files:
        values, played = moves_of(Path(name))
        print(f"{name}: {len(played):,} moves with a choice")
        halves = np.arange(len(played)) < len(played) // 2
        for model in MODELS:
            scores = {}
            for each in GRID:
                chances = (1 - LAPSES) * model(values, each) + LAPSES * random(values)
                scores[each] = np.log(chances[np.arange(len(played)), played])
            first, second = (
                max(scores, key=lambda each: scores[each][half].sum()) for half in (halves, ~halves)
            )
            tested = np.where(halves, scores[second], scores[first]).mean()
            print(f"  {model.__name__:<10} {tested:7.3f}  {first:g}, {second:g}")


if __name__ == "__main__":
    main(sys.argv[1:])
