"""Games of a simulated player, who misjudges moves, played by compiled kernels.

See `py2048.review.levels` for the model of the player, and `py2048.review.playouts` for the random
numbers, the counts and the plain reference.

Levels have their own network for some rules, in ``data``. It is smaller and faster than the one
that players use, because it plays millions of moves to judge a position.
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
"""Folder of the levels' own networks."""

HEURISTIC_SHARE = 0.05
"""Factor of misjudgements with the heuristic, whose ratings of two moves differ less."""

SEED = 0
"""Seed of the games that judge moves."""

ENDLESS = 1 << 62
"""A tile that no game makes."""

FEW_GAMES = 256
LAST_TILE = 4096
MAX_CELLS = 25
"""Limits of `simulated_shares`."""

Sums = NDArray[np.int64]


@cache
def evaluation_of(rules: Rules) -> Network | Heuristic:
    """Return what a level's player evaluates afterstates with.

    It is the levels' own network for these rules, the network that comes with py2048, or the
    heuristic, in this order. Networks of installed packages are not used.
    """
    path = network_path(rules)
    return load(path) if path else heuristic_for(rules)


def network_path(rules: Rules) -> Path | None:
    """Return the file of the network with which levels play under these rules, if any."""
    return _networks().get(rules.objective)


@cache
def _networks() -> dict[tuple[object, ...], Path]:
    paths = *SHIPPED.glob("*.npz"), *NETWORKS.glob("*.npz")  # later ones take precedence
    return {Rules.parse(header_of(path)["rules"]).objective: path for path in paths}


def misjudgement(rules: Rules, slip: float) -> float:
    """Return by how much a player misjudges moves at most, as a share of their value."""
    return slip if isinstance(evaluation_of(rules), Network) else slip * HEURISTIC_SHARE


# --- games played on -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Batch:
    """Games to play on from a position.

    Attributes:
        board: Board before the moves.
        ply: Number of the move, which seeds the games.
        goal: The tiles to make, the goal and the one after it.
        watch: The tiles to watch, see `py2048.review.reasons.Watch`.
        directions: The legal moves to try.
        first: Number of the first game.
        games: Number of games after each move.
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
        """The batch as numbers, see `_playout_kernels`."""
        bits = sum(1 << direction.value for direction in self.directions)
        ranks = [tile.bit_length() - 1 if tile else 0 for tile in self.watch]
        return [self.ply, self.first, self.games, bits, *self.goal, *ranks]


class Playouts:
    """Plays games on from given moves, with compiled kernels in several threads. Thread-safe.

    The results do not depend on the number of threads.

    Args:
        rules: Rules of the games.
        slip: Slip of the level.
        seed: Seed of the games.
        threads: Number of threads; one for each CPU by default.

    Raises:
        RulesError: The compiled search does not support the rules.
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

        Returns:
            int64 `[batches, 4, 2, columns]`, by direction, parity of the game's number, and column
            of `_playout_kernels`.
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
    """Play games as a level's player, who chooses all moves but the first.

    Args:
        rules: Rules of the games.
        slip: The level's slip.
        games: Number of games.
        seed: Seed of the games.
        last_tile: Games end when this tile is made.

    Returns:
        The largest tile and the score of each game: int64 `[games]`.
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
    """Return the share of games that made each tile, given their largest tiles."""
    tiles = 1 << np.arange(1, int(largest.max()).bit_length())
    return {int(tile): float((largest >= tile).mean()) for tile in tiles}


@cache
def simulated_shares(rules: Rules, slip: float) -> dict[int, float]:
    """Return the share of a few games that make each tile up to 4096.

    The result is empty without a compiler, for small boards, which are judged exactly, and for
    boards that are too large.
    """
    is_simulated = QUICK_CELLS < rules.cells <= MAX_CELLS and is_searchable(rules)
    if not is_simulated or IS_PLAIN or missing_compiler():
        return {}
    return shares_of(simulate(rules, slip, FEW_GAMES, last_tile=LAST_TILE)[0])
