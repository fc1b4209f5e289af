"""Tune the heuristic by playing: a small evolution strategy over the logarithms of its numbers.

Usage: tune_heuristic.py [RULES] [GENERATIONS] [GAMES] [LIMIT] [START]

LIMIT is how far games search, such as ``depth=2`` or ``nodes=20000``; START, from which numbers it
begins: ``default``, ``steep`` or ``lasting``.

Each generation, twelve variants of the present numbers play the same fresh games; the mean of the
better half, weighted by rank, becomes the present. A number's spread follows how far the better
half strayed from the rest. Prints the present numbers and their mean score after every generation.
"""

from __future__ import annotations

import sys
from dataclasses import astuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048 import get_rules
from py2048.core.rules import Rules
from py2048.players.ntuple.heuristic import DEFAULT, LASTING, STEEP, Heuristic
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher, play_games

VARIANTS = 12
SPREAD = 0.25
LEARNING = 0.3
SHARES = np.log(VARIANTS / 2 + 0.5) - np.log(np.arange(1, VARIANTS // 2 + 1))
SHARES /= SHARES.sum()

Vector = NDArray[np.float64]


def to_vector(heuristic: Heuristic) -> Vector:
    """Return the logarithms of a heuristic's numbers."""
    logarithms: Vector = np.log(np.hstack(astuple(heuristic)))
    return logarithms


def from_vector(vector: Vector) -> Heuristic:
    """Return the heuristic of such numbers."""
    numbers = iter(np.exp(vector).tolist())
    values: list[Any] = [
        (next(numbers), next(numbers)) if isinstance(value, tuple) else next(numbers)
        for value in astuple(DEFAULT)
    ]
    return Heuristic(*values)


def score(heuristic: Heuristic, rules: Rules, limits: SearchLimits, seeds: range) -> float:
    """Return the mean score of games with a heuristic."""
    searcher = Searcher(rules, heuristic, limits)
    return float(play_games(searcher, seeds).scores.mean())


def main() -> None:
    """Tune until all generations have played."""
    given = dict(enumerate(sys.argv[1:]))
    rules = get_rules(given.get(0, "classic"))
    generations, games = (int(given.get(n, d)) for n, d in ((1, 40), (2, 150)))
    name, _, most = given.get(3, "depth=2").partition("=")
    limits = SearchLimits(**{name: int(most)})
    starts = {"default": DEFAULT, "steep": STEEP, "lasting": LASTING}
    start = starts[given.get(4, "default")]
    generator = np.random.default_rng(1)
    mean, spread = to_vector(start), np.full(len(to_vector(start)), SPREAD)
    for generation in range(generations):
        seeds = range(10**6 + generation * games, 10**6 + (generation + 1) * games)
        steps = generator.standard_normal((VARIANTS, len(mean)))
        scores = [score(from_vector(mean + spread * s), rules, limits, seeds) for s in steps]
        best = steps[np.argsort(scores)[::-1][: VARIANTS // 2]]
        mean = mean + spread * (SHARES @ best)
        strayed = np.sqrt(SHARES @ best**2)
        spread *= np.exp(LEARNING * (strayed - 1)).clip(0.8, 1.2)
        present = score(from_vector(mean), rules, limits, seeds)
        print(f"{generation}: {present:,.0f} (variants {np.mean(scores):,.0f})", flush=True)
        print("   ", from_vector(mean), flush=True)


if __name__ == "__main__":
    main()
