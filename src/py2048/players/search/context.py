"""`SearchContext`: the state of one search thread, stored in a single NumPy record.

Passing a record to a kernel takes a single pointer, which is cheaper than passing dozens of arrays.
`new_context` returns the record in an array of length 1. Network weights are passed separately,
because they are too large to copy into a record.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from typing import Annotated, cast, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import RulesError
from py2048.core.rules import Rules
from py2048.engine._board_kernels import Cells, Int, Longs, Words
from py2048.engine.rules import CompiledRules
from py2048.players.ntuple._heuristic_kernels import Tables, Terms, line_tables, terms_of
from py2048.players.ntuple._network_kernels import SPARE, PackedBoardSpec
from py2048.players.ntuple.heuristic import RANKS, Heuristic
from py2048.players.ntuple.layout import PACKED_RANKS, board_kind
from py2048.players.ntuple.network import NEVER, Network, check_rules, check_spawned

MAX_CELLS = 64
MAX_TILES = 32
"""Maximum number of distinct tiles that can spawn."""
MAX_LEVELS = 24
"""Maximum search depth in plies."""

SLOTS_PER_LEVEL = 5
"""Number of arena slots per search level, for a board and its four afterstates."""
ARENA_SLOTS = SLOTS_PER_LEVEL * (MAX_LEVELS + 2)

TABLE_ENTRIES, CACHE_ENTRIES = 1 << 18, 1 << 14
"""Sizes of the transposition table and the evaluation cache.

A larger evaluation cache would not fit into the CPU's L2 cache, and a lookup would take longer than
an evaluation.
"""

MAX_INDICES, MAX_PARTS, MAX_STAGES, MAX_BANDS = 1024, 16, 16, 32
"""Limits for networks: active weights, cells per tuple, stages and bands."""

COSTS_PER_BIT = 4
"""Number of cost units per bit of a path's improbability (-log2 of its probability)."""
MOVE_COST = COSTS_PER_BIT
"""Cost of each ply. It limits the length of paths even without random spawns."""
NODE_GROWTH, DETERMINISTIC_NODE_GROWTH = 0.78, 1.58
"""Expected increase of log2(nodes) per bit of path cost.

The number of nodes grows faster in deterministic games, in which spawns cost nothing and about
three moves per board are legal.
"""
LOSS_COST = 50.0
"""Cost of a move that loses all expected points. Smaller losses cost proportionally less."""

WIN_BONUS = 10_000.0
"""Bonus in points for a board that ends the game by reaching the target."""

_COUNTS, _RANKS = (np.float64, (2, MAX_CELLS + 1)), (np.float64, (2, RANKS))
TERMS = np.dtype(
    [("empty", *_COUNTS), ("merge", *_COUNTS), ("costs", *_RANKS), ("monotonicity", *_RANKS)]
)

ENTRY = np.dtype([("hash", np.uint64), ("value", np.float64)])
"""Table entry. Hash and value are adjacent, so a lookup takes one memory access."""

BAND_FIELDS = "tile", "least", "level", "slope", "goal", "ending"
BAND = np.dtype(list(zip(BAND_FIELDS, ["u8", "i8", "f8", "f8", "f8", "u8"], strict=True)))
"""NumPy type of a late-game band, with attributes of `Band` as fields."""

# Each attribute is annotated with its Python type, and with its dtype and shape in memory.
Long = Annotated[Int, np.int64]
ULong = Annotated[np.uint64, np.uint64]
Double = Annotated[float, np.float64]
Doubles = NDArray[np.float64]
Entries = NDArray[np.void]


class SearchContext:
    """Per-thread search state, with its memory layout in `CONTEXT`."""

    # Board.
    rows: Long
    columns: Long
    cells: Long
    mask: ULong  # all cells of a packed board
    cascade: Long
    across: Annotated[Words, np.uint64, 1 << 16]  # The table of all row slides.
    down: Annotated[Words, np.uint64, 1 << 16]  # The table of all column slides.

    # Spawns.
    tiles: Long
    ranks: Annotated[Cells, np.uint8, MAX_TILES]
    cumulative: Annotated[Words, np.uint64, MAX_TILES]  # running sums of the integer spawn weights
    probabilities: Annotated[Doubles, np.float64, MAX_TILES]
    costs: Annotated[Longs, np.int64, MAX_TILES, MAX_CELLS + 1]  # By tile and empty cells.
    loss_cost: Double  # `LOSS_COST`, or 0 if the search is exhaustive.
    growth: Double  # Expected growth of log2(nodes) per cost unit.
    edge_length: Long  # Number of candidate cells per direction; 0 if spawns are random.
    edge_cells: Annotated[Longs, np.int64, 4, MAX_CELLS]  # Padded with -1.

    # Points.
    per_merged: Double  # Points per merge point.
    per_move: Double
    is_endless: Long  # Whether no tile ends the game.
    ending_mask: ULong  # Bit set of the tile ranks that end the game or band.
    min_ending_points: Long  # Minimum points of a slide that can end the game.
    win_value: Double  # Value of a board with a tile that ends the game or band.
    max_rank: ULong  # Largest rank that the evaluation distinguishes.

    # Heuristic.
    scale: Double
    base_value: Double  # NumPy reserves the name "base"
    min_value: Double
    terms: Annotated[Terms, TERMS]
    values_across: Annotated[Tables, np.float32, 2, 1 << 16]
    values_down: Annotated[Tables, np.float32, 2, 1 << 16]

    # Network.
    active: Long  # Number of weights added up to evaluate a board.
    tuples: Long  # Number of rows in use in `shifts`, `masks`, `offsets` and `places`.
    parts: Long
    shifts: Annotated[Words, np.uint64, MAX_INDICES, MAX_PARTS]
    masks: Annotated[Words, np.uint64, MAX_INDICES, MAX_PARTS]
    offsets: Annotated[Words, np.uint64, MAX_INDICES]
    places: Annotated[Longs, np.int64, MAX_INDICES, MAX_PARTS]
    stages: Long
    thresholds: Annotated[Words, np.uint64, MAX_STAGES]
    stage_size: ULong
    step: Double  # points per unit of a weight
    bands: Long
    band: Long  # Number of the root's band, counted from 1, or 0 if the root belongs to no band.
    band_list: Annotated[Entries, BAND, MAX_BANDS]
    band_size: ULong  # weights per band
    band_step: Double
    band_max_rank: ULong

    # State that kernels update.
    nodes: Long  # Number of leaves evaluated in this iteration.
    total_nodes: Long  # Number of leaves evaluated since the context was created.
    node_limit: Long  # Maximum of `nodes` in this iteration.
    node_shares: Annotated[Doubles, np.float64, 4]  # Relative node budget of each root move.
    breadth: Double  # `tree_breadth` of the last move, or 0 if unknown.
    overrun: Double  # Time overrun of recent moves, as a multiple of the budget per move.
    cuts: Long  # Number of paths pruned in this iteration.
    generation: Long  # Incremented for each root move, to empty the transposition table.
    arena: Annotated[Cells, np.uint8, ARENA_SLOTS, MAX_CELLS]
    indices: Annotated[Words, np.uint64, 1, MAX_INDICES + SPARE]
    table_size: ULong
    transposition_table: Annotated[Entries, ENTRY, TABLE_ENTRIES]
    cache_size: ULong
    eval_cache: Annotated[Entries, ENTRY, CACHE_ENTRIES]


CONTEXT = np.dtype(
    [
        (name, kind, tuple(shape))
        for name, hint in get_type_hints(SearchContext, include_extras=True).items()
        for _, kind, *shape in [get_args(hint)]
    ],
    align=True,
)

SearchContexts = Sequence[SearchContext]
"""An array that holds one `SearchContext`, so that kernels can access it by reference."""


def check_searchable(rules: Rules) -> None:
    """Raise an error if the compiled search does not support the rules.

    Raises:
        RulesError: If the search does not support the board size or the tiles that spawn.
    """
    if rules.cells > MAX_CELLS or len(rules.spawn_weights.tiles) > MAX_TILES:
        raise RulesError(
            f"the rules {rules.name} are too large to search: at most {MAX_CELLS} cells "
            f"and {MAX_TILES} different spawned tiles are supported"
        )
    check_spawned(rules)


def is_searchable(rules: Rules) -> bool:
    """Return whether the compiled search supports the rules."""
    try:
        check_searchable(rules)
    except RulesError:
        return False
    return True


def new_context(
    rules: Rules, evaluation: Network | Heuristic, *, depth: int, is_exhaustive: bool
) -> SearchContexts:
    """Build the context of one search thread.

    Args:
        rules: Rules to search under.
        evaluation: Leaf evaluation.
        depth: Search depth in plies; shallow searches get smaller tables.
        is_exhaustive: Whether to search all paths regardless of their cost.

    Raises:
        RulesError: If the rules or the network exceed a limit.
        WeightsError: If the network does not fit the rules.
    """
    check_searchable(rules)
    contexts = cast("SearchContexts", np.zeros(1, CONTEXT).view(np.recarray))
    context, given = contexts[0], CompiledRules.of(rules)
    # Unused tables have one entry, so that kernels need no special case.
    context.table_size = context.cache_size = np.uint64(1)
    if depth > 2:
        context.table_size = np.uint64(1 << 16 if depth == 3 else TABLE_ENTRIES)
    if depth > 1 and isinstance(evaluation, Network):
        context.cache_size = np.uint64(CACHE_ENTRIES)
    _set_board(context, given)
    _set_spawns(context, given, is_exhaustive)
    _set_points(context, given)
    if isinstance(evaluation, Network):
        _set_network(context, evaluation, rules)
    else:
        _set_heuristic(context, evaluation, rules)
    return contexts


def _set_board(context: SearchContext, rules: CompiledRules) -> None:
    context.rows, context.columns, context.cells = rules.rows, rules.columns, rules.cells
    context.cascade = rules.cascade
    if rules.is_small:
        context.mask = rules.mask
        context.across[: len(rules.across)] = rules.across
        context.down[: len(rules.down)] = rules.down


def _set_spawns(context: SearchContext, rules: CompiledRules, is_exhaustive: bool) -> None:
    tiles = context.tiles = len(rules.spawn.ranks)
    context.ranks[:tiles] = rules.spawn.ranks
    context.cumulative[:tiles] = rules.spawn.cumulative
    context.probabilities[:tiles] = rules.spawn.probabilities
    if not is_exhaustive:
        context.loss_cost = LOSS_COST
        cells = np.maximum(np.arange(rules.cells + 1), 1)
        spread = np.log2(cells) * (not rules.is_fixed)
        bits = spread - np.log2(context.probabilities[:tiles])[:, None]
        context.costs[:tiles, : rules.cells + 1] = np.rint(COSTS_PER_BIT * bits) + MOVE_COST
    is_sure = rules.is_fixed and tiles == 1
    context.growth = (DETERMINISTIC_NODE_GROWTH if is_sure else NODE_GROWTH) / COSTS_PER_BIT
    if rules.is_fixed:
        context.edge_length = rules.landing.shape[1]
        context.edge_cells[:, : rules.landing.shape[1]] = rules.landing


def _set_points(context: SearchContext, rules: CompiledRules) -> None:
    context.per_merged, context.per_move = rules.merge_points, rules.points_per_move
    context.ending_mask = np.uint64(-rules.ending_tile % (1 << 64))  # this tile and all larger ones
    context.min_ending_points = min(rules.ending_tile or NEVER, NEVER)
    context.is_endless = rules.ending_tile == 0


# --- evaluations ---------------------------------------------------------------------------------


def _set_heuristic(context: SearchContext, heuristic: Heuristic, rules: Rules) -> None:
    terms = terms_of(heuristic, *rules.shape)
    counts = terms.empty.shape[1]
    context.terms.empty[:, :counts], context.terms.merge[:, :counts] = terms.empty, terms.merge
    context.terms.costs[:], context.terms.monotonicity[:] = terms.costs, terms.monotonicity
    context.scale, context.base_value, context.min_value = _scale(rules), terms.base, terms.least
    context.win_value = context.scale * (terms.base + WIN_BONUS)
    context.max_rank = np.uint64(RANKS - 1)
    if board_kind(*rules.shape) != "cells":
        context.max_rank = np.uint64(PACKED_RANKS - 1)
        across, down = (_tables(heuristic, rules.shape, side) for side in rules.shape[::-1])
        context.values_across[:, : across.shape[1]] = across
        context.values_down[:, : down.shape[1]] = down


@cache
def _tables(heuristic: Heuristic, shape: tuple[int, int], length: int) -> Tables:
    return line_tables(length, terms_of(heuristic, *shape))


def _scale(rules: Rules) -> float:
    """Estimate how many points the rules give per point of classic scoring.

    Building a tile of rank `r` takes about ``2**r / 2`` moves. In classic scoring, the merges for
    this tile earn ``2**r * (r - 1)`` points in total. The estimate is for a game that builds a
    2048 tile (rank 11).
    """
    given = CompiledRules.of(rules)
    return 1.0 if given.merge_points else 0.1 if given.sum_points else 0.05


def _set_network(context: SearchContext, network: Network, rules: Rules) -> None:
    layout, spec = network.layout, network.spec
    check_rules(layout, rules)
    if layout.active > MAX_INDICES or max(map(len, layout.tuples)) > MAX_PARTS:
        raise RulesError(
            f"the network is too large to search with: at most {MAX_INDICES} weights for a board, "
            f"and tuples of {MAX_PARTS} cells"
        )
    context.max_rank, context.step = np.uint64(layout.known), network.step
    context.active, context.tuples = layout.active, len(spec.offsets)
    context.offsets[: context.tuples] = spec.offsets
    if isinstance(spec, PackedBoardSpec):
        context.parts = spec.shifts.shape[1]
        context.shifts[: context.tuples, : context.parts] = spec.shifts
        context.masks[: context.tuples, : context.parts] = spec.masks
    else:
        context.parts = spec.places.shape[1]
        context.places[: context.tuples, : context.parts] = spec.places
    context.stages = len(layout.stages)
    context.thresholds[: context.stages] = layout.stages
    context.stage_size = np.uint64(layout.size)
    if bands := network.bands:
        if len(bands.bands) > MAX_BANDS:
            raise RulesError(f"{len(bands.bands)} bands are too many: at most {MAX_BANDS}")
        context.bands = len(bands.bands)
        context.band_list[: context.bands] = np.array(
            list(map(attrgetter(*BAND_FIELDS), bands.bands)), BAND
        )
        context.band_size, context.band_step = np.uint64(bands.layout.size), bands.step
        context.band_max_rank = np.uint64(bands.layout.known)
