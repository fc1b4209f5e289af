"""A *desk*: everything that one thread of a search reads and writes, in one record.

Kernels take a record by its address, so a desk costs nothing to hand on; a handful of arrays would.
It is a record array `[1]`, made by `new_desk` for rules and an evaluation. The weights of a network
are too large for it, and stand beside it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.compiled.rules import CompiledRules, line_table
from py2048.errors import RulesError
from py2048.ntuple._heuristic_kernels import Tables, line_tables
from py2048.ntuple.heuristic import RANKS, Heuristic, terms_of
from py2048.ntuple.layout import PACKED_RANKS
from py2048.ntuple.network import NEVER, Network, check_rules
from py2048.rules import BoardSum, MergePoints, Merging, Rules

Desk = NDArray[Any]

MAX_CELLS = 64
MAX_TILES = 32
"""How many different tiles may appear."""
MAX_LEVELS = 24
"""More moves ahead than any search gets."""

SLOTS = 5
"""Slots of the arena for each level: a board and its afterstates."""
ARENA = SLOTS * (MAX_LEVELS + 2)
"""Slots of the arena."""

TABLE, CACHE = 1 << 18, 1 << 14
"""How many chance nodes and leaves can be remembered. More leaves would not stay as close to the
processor, where they are found in less time than it takes to rate them again."""

MAX_INDICES, MAX_PARTS, MAX_STAGES = 1024, 16, 16
"""How large a network may be: weights that a board meets, cells of a tuple, stages."""

COSTS_PER_BIT = 4
"""Units in which costs of paths are counted, for each bit."""
MOVE_COST = COSTS_PER_BIT
"""What a move costs a path, so that deterministic games end too."""

WON = 10_000.0
"""What a board that ends the game by its target is worth more than others, in points."""

TERMS = np.dtype(
    [
        ("room", np.float64, (2, MAX_CELLS + 1)),
        ("merges", np.float64, (2, MAX_CELLS + 1)),
        ("costs", np.float64, (2, RANKS)),
        ("steepness", np.float64, (2, RANKS)),
    ]
)

ENTRY = np.dtype([("name", np.uint64), ("value", np.float64)])
"""A value that is remembered, beside its name: to look it up takes one access to memory."""

DESK = np.dtype(
    [
        # The board.
        ("rows", np.int64),
        ("columns", np.int64),
        ("cells", np.int64),
        ("mask", np.uint64),  # of all cells of a packed board
        ("cascade", np.int64),
        ("across", np.uint64, 1 << 16),  # the line table of a row
        ("down", np.uint64, 1 << 16),  # and of a column
        # What appears.
        ("tiles", np.int64),
        ("ranks", np.uint8, MAX_TILES),
        ("cumulative", np.uint64, MAX_TILES),  # running sums of the tiles' integer weights
        ("shares", np.float64, MAX_TILES),  # probabilities
        ("costs", np.int64, (MAX_TILES, MAX_CELLS + 1)),  # on one of so many cells
        ("edge_length", np.int64),  # 0 if the cell is left to chance
        ("edges", np.int64, (4, MAX_CELLS)),  # else where it is after each direction, or -1
        # What it is worth.
        ("per_merged", np.float64),  # points for each point of merges
        ("per_move", np.float64),
        ("target", np.uint64),  # the tile that ends the game, or 0
        ("target_points", np.int64),  # what a slide that makes it gains at least
        ("won", np.float64),  # what is to come after that
        ("known", np.uint64),  # the largest rank that leaves know
        # The heuristic.
        ("scale", np.float64),
        ("ground", np.float64),  # not "base", which every NumPy record has
        ("least", np.float64),
        ("terms", TERMS),
        ("worth_across", np.float32, (2, 1 << 16)),
        ("worth_down", np.float32, (2, 1 << 16)),
        # The network.
        ("tuples", np.int64),
        ("parts", np.int64),
        ("shifts", np.uint64, (MAX_INDICES, MAX_PARTS)),
        ("masks", np.uint64, (MAX_INDICES, MAX_PARTS)),
        ("offsets", np.uint64, MAX_INDICES),
        ("places", np.int64, (MAX_INDICES, MAX_PARTS)),
        ("stages", np.int64),
        ("stage", np.uint64, MAX_STAGES),
        ("stage_size", np.uint64),
        ("step", np.float64),  # points that one unit of a weight is worth
        # What is written.
        ("nodes", np.int64),  # boards rated in this search
        ("spent", np.int64),  # and in several searches, of one move after another
        ("budget", np.int64),  # and how many may be
        ("share", np.float64, 4),  # of a purse that each root move gets of the next search
        ("cuts", np.int64),  # how often a path was cut off
        ("generation", np.int64),  # counts searches of root moves; a new one empties the table
        ("arena", np.uint8, (ARENA, MAX_CELLS)),
        ("images", np.uint64, 8),
        ("table_size", np.uint64),
        ("chances", ENTRY, TABLE),
        ("cache_size", np.uint64),
        ("leaves", ENTRY, CACHE),
    ],
    align=True,
)


def is_packed(rules: Rules) -> bool:
    """Whether boards are held in words, and slide by line tables."""
    return max(rules.shape) <= 4


def kind_of_rules(rules: Rules) -> str:
    """Return which kernels search boards of these rules."""
    if not is_packed(rules):
        return "cells"
    return "4x4" if rules.shape == (4, 4) else "small"


def new_desk(
    rules: Rules,
    evaluation: Network | Heuristic,
    *,
    follows_all: bool,
    table: int,
    cache: int,
) -> Desk:
    """Return a desk for searches.

    Args:
        rules: the rules.
        evaluation: what leaves are worth.
        follows_all: whether paths cost nothing.
        table: how many chance nodes to remember, a power of two up to `TABLE`, or 0.
        cache: how many leaves to remember, a power of two up to `CACHE`, or 0.

    Raises:
        RulesError: if the board or the number of different tiles is too large.
        WeightsError: if the network does not fit the rules.
    """
    if rules.cells > MAX_CELLS or len(rules.spawn_weights.tiles) > MAX_TILES:
        raise RulesError(
            f"the rules {rules.name} are too large to search: at most {MAX_CELLS} cells "
            f"and {MAX_TILES} different tiles that appear"
        )
    desks = np.zeros(1, DESK).view(np.recarray)
    desk = desks[0]
    desk.table_size, desk.cache_size = max(table, 1), cache
    _set_board(desk, rules)
    _set_spawns(desk, rules, follows_all)
    _set_points(desk, rules)
    if isinstance(evaluation, Network):
        _set_network(desk, evaluation, rules)
    else:
        _set_heuristic(desk, evaluation, rules)
    return desks


def _set_board(desk: Any, rules: Rules) -> None:
    desk.rows, desk.columns = rules.shape
    desk.cells = rules.cells
    desk.cascade = rules.merging is Merging.CASCADE
    if is_packed(rules):
        desk.mask = sum(1 << 4 * cell for cell in range(rules.cells))
        desk.across[: 16**rules.columns] = line_table(rules.columns, rules.merging)
        desk.down[: 16**rules.rows] = line_table(rules.rows, rules.merging)


def _set_spawns(desk: Any, rules: Rules, follows_all: bool) -> None:
    weights = rules.spawn_weights
    tiles = desk.tiles = len(weights.tiles)
    desk.ranks[:tiles] = CompiledRules.of(rules).spawn.ranks
    desk.cumulative[:tiles] = CompiledRules.of(rules).spawn.cumulative
    desk.shares[:tiles] = [float(share) for _, share in weights.pairs]
    if not follows_all:
        cells = np.maximum(np.arange(rules.cells + 1), 1)
        spread = np.log2(cells) * (not rules.is_deterministic)
        bits = spread - np.log2(desk.shares[:tiles])[:, None]
        desk.costs[:tiles, : rules.cells + 1] = np.rint(COSTS_PER_BIT * bits) + MOVE_COST
    if rules.is_deterministic:
        edges = CompiledRules.of(rules).edges
        desk.edge_length = edges.shape[1]
        desk.edges[:, : edges.shape[1]] = edges


def _set_points(desk: Any, rules: Rules) -> None:
    if isinstance(rules.scoring, MergePoints):
        desk.per_merged = 1.0
    elif isinstance(rules.scoring, BoardSum):
        # A slide keeps the sum; what a turn adds is its spawn.
        desk.per_move = sum(tile * share for tile, share in rules.spawn_weights.pairs)
    else:
        desk.per_move = rules.scoring.legal
    target = rules.target if rules.ends_at_target and rules.target else 0
    desk.target, desk.target_points = target, target or NEVER


# --- evaluations ---------------------------------------------------------------------------------


def _set_heuristic(desk: Any, heuristic: Heuristic, rules: Rules) -> None:
    terms = terms_of(heuristic, *rules.shape)
    counts = terms.room.shape[1]
    desk.terms.room[:, :counts], desk.terms.merges[:, :counts] = terms.room, terms.merges
    desk.terms.costs[:], desk.terms.steepness[:] = terms.costs, terms.steepness
    desk.scale, desk.ground, desk.least = _scale(rules), terms.base, terms.least
    desk.won = desk.scale * (terms.base + WON)
    desk.known = RANKS - 1
    if is_packed(rules):
        desk.known = PACKED_RANKS - 1
        across, down = (_tables(heuristic, rules.shape, side) for side in rules.shape[::-1])
        desk.worth_across[:, : across.shape[1]] = across
        desk.worth_down[:, : down.shape[1]] = down


@cache
def _tables(heuristic: Heuristic, shape: tuple[int, int], length: int) -> Tables:
    return line_tables(length, terms_of(heuristic, *shape))


def _scale(rules: Rules) -> float:
    """Return how many points of the rules go with a point of merges.

    A tile of rank ``r`` has made ``r - 1`` times its value in merges, and taken about half its
    value of moves; the large tiles of a board in play have a rank of about 11.
    """
    if isinstance(rules.scoring, MergePoints):
        return 1.0
    return 0.1 if isinstance(rules.scoring, BoardSum) else 0.05


def _set_network(desk: Any, network: Network, rules: Rules) -> None:
    layout = network.layout
    space: Any = network.space  # one of two kinds
    check_rules(layout, rules)
    if layout.active > MAX_INDICES or max(map(len, layout.tuples)) > MAX_PARTS:
        raise RulesError(
            f"the network is too large to search with: at most {MAX_INDICES} weights for a board, "
            f"and tuples of {MAX_PARTS} cells"
        )
    desk.known, desk.step = layout.known, network.step
    desk.tuples = len(space.offsets)
    desk.offsets[: desk.tuples] = space.offsets
    if is_packed(rules):
        desk.parts = space.shifts.shape[1]
        desk.shifts[: desk.tuples, : desk.parts] = space.shifts
        desk.masks[: desk.tuples, : desk.parts] = space.masks
    else:
        desk.parts = space.places.shape[1]
        desk.places[: desk.tuples, : desk.parts] = space.places
    desk.stages = len(layout.stages)
    desk.stage[: desk.stages] = layout.stages
    desk.stage_size = layout.size
