"""Rules and a game as the array that the kernels of a single environment take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048.compiled.rule_arrays import edge_table, tile_ranks
from py2048.envs import _step_kernels as kernels
from py2048.envs.options import Illegal, Options
from py2048.rules import BoardSum, EdgeSpawn, MergePoints, Merging, MovePoints, Rules, Weights

_POLICIES = {
    Illegal.NOOP: kernels.NOOP,
    Illegal.PENALTY: kernels.NOOP,
    Illegal.TERMINATE: kernels.TERMINATE,
    Illegal.RAISE: kernels.REFUSE,
}


def new_game(options: Options) -> NDArray[np.int64]:
    """Return the array of a game that has not begun; a step before `begin` is refused."""
    rules = options.rules
    head = np.zeros(kernels.TABLES, np.int64)
    head[kernels.ROWS], head[kernels.COLUMNS] = rules.shape
    head[kernels.CASCADE] = rules.merging is Merging.CASCADE
    head[kernels.TARGET] = ending_rank(rules)
    head[kernels.IS_EDGE] = isinstance(rules.spawn, EdgeSpawn)
    head[kernels.START_LOW], head[kernels.START_HIGH] = rules.start.low, rules.start.high
    head[kernels.START_TILES] = len(rules.start_weights.tiles)
    head[kernels.SPAWN_TILES] = len(rules.spawn_weights.tiles)
    head[kernels.REWARD] = kernels.LOG if options.reward == "log" else kernels.POINTS
    head[kernels.ILLEGAL] = _POLICIES[options.illegal]
    head[kernels.STATUS] = kernels.ENDED
    _set_scoring(head, rules)
    tables = [*_tables(rules.start_weights), *_tables(rules.spawn_weights)]
    return np.concatenate([head, *tables, edge_table(*rules.shape).ravel()])


def ending_rank(rules: Rules) -> int:
    """Return the rank of the tile that ends the game, 0 if there is none."""
    if not rules.ends_at_target or rules.target is None:
        return 0
    return rules.target.bit_length() - 1


def _set_scoring(head: NDArray[np.int64], rules: Rules) -> None:
    match rules.scoring:
        case MergePoints():
            head[kernels.SCORING] = kernels.MERGES
        case MovePoints(legal, illegal):
            head[kernels.SCORING] = kernels.MOVES
            head[kernels.LEGAL_POINTS], head[kernels.ILLEGAL_POINTS] = legal, illegal
        case BoardSum():
            head[kernels.SCORING] = kernels.SUM


def _tables(weights: Weights) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return tile_ranks(weights).astype(np.int64), np.cumsum(weights.integers, dtype=np.int64)
