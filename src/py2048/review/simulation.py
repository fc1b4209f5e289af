"""Whole games of a simulated player, who misjudges moves.

See `py2048.review.levels` for the model.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import missing_compiler
from py2048.core.rules import Rules
from py2048.engine.batch import BatchGames
from py2048.players.ntuple.heuristic import Heuristic, heuristic_for
from py2048.players.ntuple.network import Network
from py2048.players.ntuple.weights import SHIPPED, header_of, load
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher

HEURISTIC_SHARE = 0.05
"""Factor of misjudgements with the heuristic, whose ratings of two moves differ less."""

FEW_GAMES = 256
MAX_MOVES = 3000
MAX_CELLS = 25
"""Limits of `simulated_shares`."""


@cache
def evaluation_of(rules: Rules) -> Network | Heuristic:
    """Return what a player evaluates afterstates with: py2048's own network, or the heuristic."""
    path = _own_networks().get(rules.objective)
    return load(path) if path else heuristic_for(rules)


@cache
def _own_networks() -> dict[tuple[object, ...], Path]:
    """Return py2048's own networks by objective, without those of installed packages."""
    paths = SHIPPED.glob("*.npz")
    return {Rules.parse(header_of(path)["rules"]).objective: path for path in paths}


def misjudgement(rules: Rules, slip: float) -> float:
    """Return by how much a player misjudges moves at most, as a share of their value."""
    return slip if isinstance(evaluation_of(rules), Network) else slip * HEURISTIC_SHARE


def simulate(
    rules: Rules, slip: float, games: int, seed: int = 0, max_moves: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Play games as a level's player.

    Args:
        rules: Rules of the games.
        slip: The level's slip.
        games: Number of games.
        seed: Seed of the games.
        max_moves: Moves after which a game is stopped.

    Returns:
        The largest tile and the score of each game: int64 `[games]`.
    """
    share = misjudgement(rules, slip)
    searcher = Searcher(rules, evaluation_of(rules), SearchLimits(depth=1))
    batch, draws = BatchGames(rules, games, seed, reset="disabled"), np.random.default_rng(seed)
    directions = np.zeros(games, np.uint8)
    while (playing := np.flatnonzero(~batch.dones)).size and batch.plies.max() != max_moves:
        values = searcher.rate(batch.boards[playing])
        judged = values * (1 + share * draws.uniform(-1, 1, values.shape))
        directions[playing] = judged.argmax(axis=1)
        batch.step(directions)
    largest = batch.boards.reshape(games, -1).max(axis=1)
    return np.int64(1) << largest.astype(np.int64), batch.scores.copy()


def shares_of(largest: NDArray[np.int64]) -> dict[int, float]:
    """Return the share of games that made each tile, given their largest tiles."""
    tiles = 1 << np.arange(1, int(largest.max()).bit_length())
    return {int(tile): float((largest >= tile).mean()) for tile in tiles}


@cache
def simulated_shares(rules: Rules, slip: float) -> dict[int, float]:
    """Return the share of a few games that make each tile.

    The result is empty for boards with more than 25 cells, and without a compiler.
    """
    if rules.cells > MAX_CELLS or missing_compiler():
        return {}
    return shares_of(simulate(rules, slip, FEW_GAMES, max_moves=MAX_MOVES)[0])
