"""Compiled simulation of players who misjudge moves.

`py2048.review.levels` describes the player model. The reference implementation in
`py2048.review.playouts` also documents the random numbers and the statistics.

Judging a position takes millions of simulated moves. To save time, the folder ``data`` contains a
smaller network than that of the computer players for some rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import missing_compiler
from py2048.core.game import Game
from py2048.core.rng import derive_seed
from py2048.core.rules import Rules
from py2048.engine.boards import ranks_of
from py2048.engine.jit import IS_PLAIN, available_threads, together
from py2048.engine.rules import CompiledRules
from py2048.players.ntuple.heuristic import Heuristic, heuristic_for
from py2048.players.ntuple.layout import Code, board_kind
from py2048.players.ntuple.network import MAX_RANK, Network
from py2048.players.ntuple.weights import SHIPPED, header_of, load
from py2048.players.perfect import QUICK_CELLS
from py2048.players.search.context import is_searchable, new_context
from py2048.review import _playout_kernels as kernels

NETWORKS = Path(__file__).resolve().parent / "data"
"""Folder of the networks that were trained for player levels."""

HEURISTIC_SHARE = 0.05
"""Factor for a player's slip (relative error) if the heuristic evaluates moves.

The heuristic's values differ less from move to move than those of a network.
"""

SEED = 0
"""Random seed of the playouts that judge moves."""

ENDLESS = 1 << 62
"""A tile that no game reaches."""

FEW_GAMES = 256
LAST_TILE = 4096
MAX_CELLS = 25
"""Limits of `simulated_shares`."""

Sums = NDArray[np.int64]


@cache
def evaluation_of(rules: Rules) -> Network | Heuristic:
    """Return the network or heuristic with which simulated players evaluate boards.

    A network that was trained for levels takes precedence over py2048's main network. Rules without
    a network use the heuristic. Networks from other packages are ignored.
    """
    path = network_path(rules)
    return load(path) if path else heuristic_for(rules)


def network_path(rules: Rules) -> Path | None:
    """Return the path of the network for simulated players, or None if the rules have none."""
    return _networks().get(rules.objective)


@cache
def _networks() -> dict[tuple[object, ...], Path]:
    paths = *SHIPPED.glob("*.npz"), *NETWORKS.glob("*.npz")  # later files take precedence
    return {Rules.parse(header_of(path)["rules"]).objective: path for path in paths}


def misjudgement(rules: Rules, slip: float) -> float:
    """Return the maximum relative error of a simulated player's move values."""
    return slip if isinstance(evaluation_of(rules), Network) else slip * HEURISTIC_SHARE


# --- games played on -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of playouts from a position.

    Attributes:
        board: Board before the moves.
        ply: Number of the move, which is part of the playouts' random seed.
        goal: The next two goals, as tiles.
        watch: The tiles to watch, as in `py2048.review.reasons.Watch`.
        directions: The legal moves to try.
        first: Number of the first game.
        games: Number of playouts for each move.
    """

    board: Board
    ply: int
    goal: tuple[int, int]
    watch: tuple[int, ...]
    directions: Sequence[Direction]
    first: int
    games: int

    @property
    def job(self) -> list[int]:
        """The batch as a list of integers, in the order that the kernels expect."""
        bits = sum(1 << direction.value for direction in self.directions)
        ranks = [tile.bit_length() - 1 if tile else 0 for tile in self.watch]
        return [self.ply, self.first, self.games, bits, *self.goal, *ranks]


class Playouts:
    """Runs playouts with compiled kernels on several threads. This class is thread-safe.

    The results do not depend on the number of threads.

    Args:
        rules: Rules of the games.
        slip: Slip of the level.
        seed: Seed of the games.
        threads: Number of threads, by default one for each CPU.

    Raises:
        RulesError: If the compiled search does not support the rules.
    """

    def __init__(
        self, rules: Rules, slip: float, *, seed: int = SEED, threads: int | None = None
    ) -> None:
        self.rules = rules
        self._player = np.uint64(seed), misjudgement(rules, slip)
        evaluation, kind = evaluation_of(rules), board_kind(*rules.shape)
        self._weights: Any = np.zeros(1, np.float32)
        name, code, has_stages = "heuristic", Code(), False
        if isinstance(evaluation, Network):
            name, code, self._weights = "network", evaluation.layout.code, evaluation.table
            has_stages = bool(evaluation.layout.stages)
        self._kernel = kernels.playout_kernel(kind, name, code, has_stages=has_stages)
        self._contexts = [
            new_context(rules, evaluation, depth=1, is_exhaustive=True)
            for _ in range(threads or available_threads())
        ]
        self._lock = Lock()

    def play(self, batches: Sequence[Batch]) -> Sums:
        """Play batches; return their sums.

        Returns: The totals of each batch, int64 `[batches, 4, 2, columns]`. The second axis is the
            direction. The third axis is 0 for playouts with even numbers and 1 for those with odd
            numbers. `_playout_kernels` defines the columns.
        """
        sums = np.zeros((len(batches), 4, 2, kernels.SUMS), np.int64)
        rest = iter(zip(batches, sums, strict=True))  # each thread takes the next batch

        def work(context: Any) -> None:
            game = np.zeros(kernels.SUMS, np.int64)
            for batch, row in rest:
                cells, job = ranks_of(batch.board, MAX_RANK), np.array(batch.job, np.int64)
                self._kernel(cells, job, *self._player, context, self._weights, game, row)

        with self._lock:
            together(work, [(context,) for context in self._contexts])
        return sums


# --- whole games ---------------------------------------------------------------------------------


def simulate(
    rules: Rules, slip: float, games: int, seed: int = SEED, last_tile: int = ENDLESS
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Simulate games in which the simulated player chooses all moves except the first.

    Args:
        rules: Rules of the games.
        slip: The level's slip.
        games: Number of games.
        seed: Seed of the games.
        last_tile: The game ends when this tile is reached.

    Returns: The largest tile and the score of each game, both int64 `[games]`.
    """
    batches = []
    for game in range(games):
        board = Game(rules, seed=derive_seed(seed, game)).board
        first = board.legal_directions()[:1]
        batches.append(Batch(board, 0, (last_tile, last_tile), (0, 0, 0, 0), first, game, 1))
    sums = Playouts(rules, slip, seed=seed).play(batches).sum(axis=(1, 2))
    given = CompiledRules.of(rules)
    moves = sums[:, kernels.GAMES] + sums[:, kernels.MOVES]
    scores = given.merge_points * sums[:, kernels.MERGED] + given.points_per_move * moves
    return 1 << sums[:, kernels.LARGEST], np.rint(scores).astype(np.int64)


def shares_of(largest: NDArray[np.int64]) -> dict[int, float]:
    """Return the share of games that reached each tile, given the largest tile of each game."""
    tiles = 1 << np.arange(1, int(largest.max()).bit_length())
    return {int(tile): float((largest >= tile).mean()) for tile in tiles}


@cache
def simulated_shares(rules: Rules, slip: float) -> dict[int, float]:
    """Simulate a few games, and return the share of games that reach each tile up to 4096.

    Returns an empty dict without Numba, and for boards that are too large or are judged exactly.
    """
    is_simulated = QUICK_CELLS < rules.cells <= MAX_CELLS and is_searchable(rules)
    if not is_simulated or IS_PLAIN or missing_compiler():
        return {}
    return shares_of(simulate(rules, slip, FEW_GAMES, last_tile=LAST_TILE)[0])
