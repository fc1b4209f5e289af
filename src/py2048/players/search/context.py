"""`SearchContext`: everything that one thread of a search reads and writes, in one record.

Kernels take a record by its address, which makes it cheap to pass; many arrays would not be. It is
a record array `[1]`, made by `new_context` for rules and an evaluation. The weights of a network
are too large for it, and are passed beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
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
from py2048.players.ntuple.network import MAX_RANK, NEVER, Network, check_rules

MAX_CELLS = 64
MAX_TILES = 32
"""The most different tiles that may appear."""
MAX_LEVELS = 24
"""More moves ahead than any search reaches."""

SLOTS = 5
"""Slots of the arena for each level: a board and its afterstates."""
ARENA = SLOTS * (MAX_LEVELS + 2)
"""Slots of the arena."""

TABLE_SIZE, CACHE_SIZE = 1 << 18, 1 << 14
"""The sizes of the transposition table and the cache of evaluations. A larger cache would not stay
close to the processor, and a look-up would take longer than an evaluation."""

MAX_INDICES, MAX_PARTS, MAX_STAGES, MAX_BANDS = 1024, 16, 16, 32
"""The largest network: weights for a board, cells of a tuple, stages, bands."""

COSTS_PER_BIT = 4
"""The units of a path's cost for each bit."""
MOVE_COST = COSTS_PER_BIT
"""The cost of a move, so that paths of deterministic games end too."""
GROWTH, SURE_GROWTH = 0.78, 1.58
"""The bits by which the number of boards is expected to grow for each bit of the cost; and where
nothing is left to chance, so that a move is all that costs, and three or so can be made."""
LOSS_COST = 50.0
"""The cost of a move that, one move ahead, looks as if it lost all points to come; one that loses a
part of them costs that part."""

WON = 10_000.0
"""The bonus for a board that ends the game by its target, in points."""

TERMS = np.dtype(
    [
        ("empty", np.float64, (2, MAX_CELLS + 1)),
        ("merge", np.float64, (2, MAX_CELLS + 1)),
        ("costs", np.float64, (2, RANKS)),
        ("monotonicity", np.float64, (2, RANKS)),
    ]
)

ENTRY = np.dtype([("hash", np.uint64), ("value", np.float64)])
"""A stored value beside its hash, so that a look-up takes one access to memory."""

BAND = np.dtype(
    [
        ("tile", np.uint64),
        ("least", np.int64),
        ("level", np.float64),
        ("slope", np.float64),
        ("goal", np.float64),
        ("ending", np.uint64),
    ]
)
"""The fields of a `Band`, and the tile that ends it."""

# Fields of the context: the type of an attribute, and its type and shape in memory.
Long = Annotated[Int, np.int64]
ULong = Annotated[np.uint64, np.uint64]
Double = Annotated[float, np.float64]
Doubles = NDArray[np.float64]
Entries = NDArray[np.void]


class SearchContext:
    """The data of a thread; `CONTEXT` lays it out in memory as it stands here."""

    # The board.
    rows: Long
    columns: Long
    cells: Long
    mask: ULong  # of all cells of a packed board
    cascade: Long
    across: Annotated[Words, np.uint64, 1 << 16]  # the line table of a row
    down: Annotated[Words, np.uint64, 1 << 16]  # and of a column

    # What appears.
    tiles: Long
    ranks: Annotated[Cells, np.uint8, MAX_TILES]
    cumulative: Annotated[Words, np.uint64, MAX_TILES]  # running sums of the tiles' integer weights
    shares: Annotated[Doubles, np.float64, MAX_TILES]  # probabilities
    costs: Annotated[Longs, np.int64, MAX_TILES, MAX_CELLS + 1]  # on one of that many cells
    loss_cost: Double  # of a move; 0 if every path is followed
    growth: Double  # the bits of the number of boards for each unit of the cost
    edge_length: Long  # 0 if the cell is left to chance
    edges: Annotated[Longs, np.int64, 4, MAX_CELLS]  # else where it is after each direction, or -1

    # Points.
    per_merged: Double  # points for each point of merges
    per_move: Double
    is_endless: Long  # whether no tile ends the game
    endings: ULong  # a bit for each tile that ends the game, or a search in a band
    ending_points: Long  # what a slide that makes one gains at least
    won: Double  # the value of a board with one
    known: ULong  # the largest rank that leaves distinguish

    # The heuristic.
    scale: Double
    base_value: Double  # every NumPy record has a "base"
    least: Double
    terms: Annotated[Terms, TERMS]
    values_across: Annotated[Tables, np.float32, 2, 1 << 16]
    values_down: Annotated[Tables, np.float32, 2, 1 << 16]

    # The network.
    active: Long  # weights that sum to the value of a board
    tuples: Long  # entries of the next four, and their parts
    parts: Long
    shifts: Annotated[Words, np.uint64, MAX_INDICES, MAX_PARTS]
    masks: Annotated[Words, np.uint64, MAX_INDICES, MAX_PARTS]
    offsets: Annotated[Words, np.uint64, MAX_INDICES]
    places: Annotated[Longs, np.int64, MAX_INDICES, MAX_PARTS]
    stages: Long
    thresholds: Annotated[Words, np.uint64, MAX_STAGES]
    stage_size: ULong
    step: Double  # points that one unit of a weight is worth
    bands: Long
    band: Long  # that of the root, from 1; 0 for none
    band_list: Annotated[Entries, BAND, MAX_BANDS]
    band_size: ULong  # the number of weights of each
    band_step: Double
    band_known: ULong

    # Written by kernels.
    nodes: Long  # boards rated in this search
    spent: Long  # boards rated in all searches
    node_limit: Long  # boards that may be rated in this search
    share: Annotated[Doubles, np.float64, 4]  # of the budget, for each root move in the next search
    breadth: Double  # of the last tree, as in `breadth_of`; 0 is unknown
    debt: Double  # by how many budgets the last searches were too long
    cuts: Long  # how often a path was cut short
    generation: Long  # counts searches of root moves; a new one clears the table
    arena: Annotated[Cells, np.uint8, ARENA, MAX_CELLS]
    indices: Annotated[Words, np.uint64, 1, MAX_INDICES + SPARE]
    table_size: ULong
    transposition_table: Annotated[Entries, ENTRY, TABLE_SIZE]
    cache_size: ULong
    eval_cache: Annotated[Entries, ENTRY, CACHE_SIZE]


CONTEXT = np.dtype(
    [
        (name, kind, tuple(shape))
        for name, hint in get_type_hints(SearchContext, include_extras=True).items()
        for _, kind, *shape in [get_args(hint)]
    ],
    align=True,
)

SearchContexts = Sequence[SearchContext]
"""A record array of one context, as kernels take it."""


def check_searchable(rules: Rules) -> None:
    """Check that rules can be searched.

    Raises:
        RulesError: if the board, the number of different tiles, or one of them is too large; or if
            a tile that appears ends the game.
    """
    if rules.cells > MAX_CELLS or len(rules.spawn_weights.tiles) > MAX_TILES:
        raise RulesError(
            f"the rules {rules.name} are too large to search: at most {MAX_CELLS} cells "
            f"and {MAX_TILES} different tiles that appear"
        )
    largest = max(*rules.spawn_weights.tiles, *rules.start_weights.tiles)
    if largest > 1 << MAX_RANK:
        raise RulesError(
            f"tile {largest}, which appears under these rules, is too big to search: "
            f"at most {1 << MAX_RANK}"
        )
    given = CompiledRules.of(rules)
    given.check_end(given.spawn, given.start)


def is_searchable(rules: Rules) -> bool:
    """Return whether rules can be searched."""
    try:
        check_searchable(rules)
    except RulesError:
        return False
    return True


def new_context(
    rules: Rules, evaluation: Network | Heuristic, *, depth: int, follows_all: bool
) -> SearchContexts:
    """Return a context for searches.

    Args:
        rules: the rules.
        evaluation: the evaluation of leaves.
        depth: how many moves ahead searches look.
        follows_all: whether paths cost nothing.

    Raises:
        RulesError: as `check_searchable`.
        WeightsError: if the network does not fit the rules.
    """
    check_searchable(rules)
    contexts = cast("SearchContexts", np.zeros(1, CONTEXT).view(np.recarray))
    context, given = contexts[0], CompiledRules.of(rules)
    # A single entry takes the place of none: kernels need not ask whether there is one.
    context.table_size = context.cache_size = np.uint64(1)
    if depth > 2:
        context.table_size = np.uint64(1 << 16 if depth == 3 else TABLE_SIZE)
    if depth > 1 and isinstance(evaluation, Network):
        context.cache_size = np.uint64(CACHE_SIZE)
    _set_board(context, given)
    _set_spawns(context, given, follows_all)
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


def _set_spawns(context: SearchContext, rules: CompiledRules, follows_all: bool) -> None:
    tiles = context.tiles = len(rules.spawn.ranks)
    context.ranks[:tiles] = rules.spawn.ranks
    context.cumulative[:tiles] = rules.spawn.cumulative
    context.shares[:tiles] = rules.spawn.probabilities
    if not follows_all:
        context.loss_cost = LOSS_COST
        cells = np.maximum(np.arange(rules.cells + 1), 1)
        spread = np.log2(cells) * (not rules.is_fixed)
        bits = spread - np.log2(context.shares[:tiles])[:, None]
        context.costs[:tiles, : rules.cells + 1] = np.rint(COSTS_PER_BIT * bits) + MOVE_COST
    is_sure = rules.is_fixed and tiles == 1
    context.growth = (SURE_GROWTH if is_sure else GROWTH) / COSTS_PER_BIT
    if rules.is_fixed:
        context.edge_length = rules.landing.shape[1]
        context.edges[:, : rules.landing.shape[1]] = rules.landing


def _set_points(context: SearchContext, rules: CompiledRules) -> None:
    context.per_merged, context.per_move = rules.merge_points, rules.points_per_move
    context.endings = np.uint64(-rules.ending_tile % (1 << 64))  # that tile and all larger ones
    context.ending_points = min(rules.ending_tile or NEVER, NEVER)
    context.is_endless = rules.ending_tile == 0


# --- evaluations ---------------------------------------------------------------------------------


def _set_heuristic(context: SearchContext, heuristic: Heuristic, rules: Rules) -> None:
    terms = terms_of(heuristic, *rules.shape)
    counts = terms.empty.shape[1]
    context.terms.empty[:, :counts], context.terms.merge[:, :counts] = terms.empty, terms.merge
    context.terms.costs[:], context.terms.monotonicity[:] = terms.costs, terms.monotonicity
    context.scale, context.base_value, context.least = _scale(rules), terms.base, terms.least
    context.won = context.scale * (terms.base + WON)
    context.known = np.uint64(RANKS - 1)
    if board_kind(*rules.shape) != "cells":
        context.known = np.uint64(PACKED_RANKS - 1)
        across, down = (_tables(heuristic, rules.shape, side) for side in rules.shape[::-1])
        context.values_across[:, : across.shape[1]] = across
        context.values_down[:, : down.shape[1]] = down


@cache
def _tables(heuristic: Heuristic, shape: tuple[int, int], length: int) -> Tables:
    return line_tables(length, terms_of(heuristic, *shape))


def _scale(rules: Rules) -> float:
    """Return how many points of the rules correspond to a point of merges.

    A tile of rank ``r`` makes ``r - 1`` times its value in merges, and takes about half its value
    of moves; the large tiles of a board in play have a rank of about 11.
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
    context.known, context.step = np.uint64(layout.known), network.step
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
            [(*band[:5], band.ending) for band in bands.bands], BAND
        )
        context.band_size, context.band_step = np.uint64(bands.layout.size), bands.step
        context.band_known = np.uint64(bands.layout.known)
