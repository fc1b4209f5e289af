"""Board operations and leaf evaluations of the search, for each kind of board.

The search addresses boards by *handles*. The handle of a packed board is the board itself: a pair
of words, as in ``engine/_board_kernels.py``. A board that is not packed is stored in a slot of the
search context's arena (``context.py``), and its handle is the slot number. Each level of the search
has ``SLOTS_PER_LEVEL`` slots: one for the board and four for its afterstates.

Each kind of board has these operations:

- ``slides(board, level, context)``: afterstate and points for each direction; the points are -1 if
  the slide is illegal
- ``next_empty(board, cell, context)``: first empty cell at or after `cell`, or -1
- ``count_empty(board, context)``: number of empty cells
- ``with_tile(board, cell, rank, level, context)``: the board with one more tile, at `level`
- ``with_spawn(board, word, context)``: root after the random spawn drawn from `word`
- ``hash_of(board, context)``: 64-bit hash of the board
- ``ranks_on(board, context)``: bit set of the ranks on the board
- ``load(cells, slot, context)`` and ``store(board, cells, context)``: conversion from and to ranks,
  uint8 `[cells]`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from py2048.engine._bits_kernels import popcount, trailing_zeros
from py2048.engine._board_kernels import (
    DOWN,
    LEFT,
    NIBBLE,
    ODD,
    RANKS,
    RIGHT,
    TWO,
    UP,
    ZERO,
    Cells,
    Int,
    Word,
    empty_cells,
    hash_cells,
    hash_packed,
    place_cells,
    rank_at,
    ranks_cells,
    ranks_packed,
    slide_cells,
    slide_packed,
    slides_4x4,
    spawn_packed,
    sum_packed,
    word_of,
)
from py2048.engine.jit import kernel
from py2048.engine.jit.numba_parts import prefetch
from py2048.players.ntuple._heuristic_kernels import lines_4x4, lines_cells, lines_small, squeezed
from py2048.players.ntuple._network_kernels import (
    IndexOf,
    Weights,
    images_4x4,
    known_word,
    make_tuple_index_kernel,
    stage_of,
    total,
    write_indices,
    write_indices_cells,
)
from py2048.players.ntuple.layout import Code
from py2048.players.ntuple.network import NEVER
from py2048.players.search.context import SLOTS_PER_LEVEL, SearchContext

ONE, HALF = np.uint64(1), np.uint64(32)

Packed = tuple[Word, Word]
PackedMoves = tuple[tuple[Packed, np.int64], ...]
CellMoves = tuple[tuple[np.int64, np.int64], ...]


# --- packed boards -------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def slides_square(board: Packed, _level: Int, context: SearchContext) -> PackedMoves:
    """Slide a 4x4 board in all four directions."""
    up, down, left, right = slides_4x4(board[0], board[1], context.cascade != 0, context.across)
    return (
        ((up[0], up[1]), up[2]),
        ((down[0], down[1]), down[2]),
        ((left[0], left[1]), left[2]),
        ((right[0], right[1]), right[2]),
    )


@kernel(borrows=True)
def _slide_small(board: Packed, direction: Int, context: SearchContext) -> tuple[Packed, np.int64]:
    low, high, points = slide_packed(
        board[0],
        board[1],
        direction,
        context.rows,
        context.columns,
        context.cascade != 0,
        context.across,
        context.down,
    )
    return (low, high), points


@kernel(borrows=True)
def slides_small(board: Packed, _level: Int, context: SearchContext) -> PackedMoves:
    """Slide a board of up to 4x4 cells in all four directions."""
    return (
        _slide_small(board, UP, context),
        _slide_small(board, DOWN, context),
        _slide_small(board, LEFT, context),
        _slide_small(board, RIGHT, context),
    )


@kernel(inline=True, borrows=True)
def next_empty_packed(board: Packed, cell: Int, context: SearchContext) -> np.int64:
    """Return the first empty cell at or after `cell`, or -1."""
    if cell > 15:
        return np.int64(-1)
    empty = empty_cells(word_of(board[0], board[1]), context.mask) >> np.uint64(4 * cell)
    return np.int64(-1) if empty == ZERO else cell + np.int64(trailing_zeros(empty) >> TWO)


@kernel(inline=True, borrows=True)
def count_empty_packed(board: Packed, context: SearchContext) -> np.int64:
    """Return the number of empty cells."""
    return np.int64(popcount(empty_cells(word_of(board[0], board[1]), context.mask)))


@kernel(inline=True, borrows=True)
def with_tile_packed(
    board: Packed, cell: Int, rank: Word, _level: Int, _context: SearchContext
) -> Packed:
    """Return the board with a tile added."""
    shift = np.uint64(4 * cell)
    return board[0] | (rank & RANKS) << shift, board[1] | (rank >> NIBBLE) << shift


@kernel(inline=True, borrows=True)
def with_spawn_packed(board: Packed, word: Word, context: SearchContext) -> Packed:
    """Add the tile that the random number `word` determines; return the board."""
    tiles = context.tiles
    return spawn_packed(
        board[0], board[1], context.mask, word, context.ranks[:tiles], context.cumulative[:tiles]
    )


@kernel(inline=True, borrows=True)
def hash_of_packed(board: Packed, _context: SearchContext) -> Word:
    """Return a 64-bit hash of the board. The hash is unique if no tile exceeds 32768."""
    return hash_packed(board[0], board[1])


@kernel(borrows=True)
def ranks_on_packed(board: Packed, context: SearchContext) -> Word:
    """Return the ranks on the board as a bit set."""
    return ranks_packed(board[0], board[1], context.cells)


@kernel(borrows=True)
def load_packed(cells: Cells, _slot: Int, context: SearchContext) -> Packed:
    """Pack a board from its ranks, uint8 `[cells]`."""
    low, high = ZERO, ZERO
    for cell in range(context.cells):
        rank = np.uint64(cells[cell])
        low |= (rank & RANKS) << np.uint64(4 * cell)
        high |= (rank >> NIBBLE) << np.uint64(4 * cell)
    return low, high


@kernel(borrows=True)
def store_packed(board: Packed, cells: Cells, context: SearchContext) -> None:
    """Write the board's ranks to `cells`."""
    for cell in range(context.cells):
        cells[cell] = rank_at(board[0], board[1], cell)


# --- boards of any shape -------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def _copy(source: Int, target: Int, context: SearchContext) -> None:
    for cell in range(context.cells):
        context.arena[target, cell] = context.arena[source, cell]


@kernel(borrows=True)
def _slide_cells(
    board: Int, direction: Int, level: Int, context: SearchContext
) -> tuple[np.int64, np.int64]:
    slot = np.int64(SLOTS_PER_LEVEL * level + 1 + direction)
    _copy(board, slot, context)
    points = slide_cells(
        context.arena[slot],
        np.int64(direction),
        context.rows,
        context.columns,
        context.cascade != 0,
    )
    return slot, np.int64(points)


@kernel(borrows=True)
def slides_cells(board: Int, level: Int, context: SearchContext) -> CellMoves:
    """Slide a board in all directions; write the afterstates to the slots of its level."""
    return (
        _slide_cells(board, UP, level, context),
        _slide_cells(board, DOWN, level, context),
        _slide_cells(board, LEFT, level, context),
        _slide_cells(board, RIGHT, level, context),
    )


@kernel(inline=True, borrows=True)
def next_empty_cells(board: Int, cell: Int, context: SearchContext) -> np.int64:
    """Return the first empty cell at or after `cell`, or -1."""
    for number in range(cell, context.cells):
        if context.arena[board, number] == 0:
            return np.int64(number)
    return np.int64(-1)


@kernel(inline=True, borrows=True)
def count_empty_cells(board: Int, context: SearchContext) -> np.int64:
    """Return the number of empty cells."""
    count = np.int64(0)
    for cell in range(context.cells):
        count += np.int64(context.arena[board, cell] == 0)
    return count


@kernel(inline=True, borrows=True)
def with_tile_cells(
    board: Int, cell: Int, rank: Word, level: Int, context: SearchContext
) -> np.int64:
    """Copy the board to the slot of a level and add a tile; return the slot."""
    slot = np.int64(SLOTS_PER_LEVEL * level)
    _copy(board, slot, context)
    context.arena[slot, cell] = np.uint8(rank)
    return slot


@kernel(borrows=True)
def with_spawn_cells(board: Int, word: Word, context: SearchContext) -> np.int64:
    """Copy a board to the root slot, and add a tile drawn from `word`; return the slot."""
    root, tiles = np.int64(0), context.tiles
    _copy(board, root, context)
    cells = context.arena[root, : context.cells]
    place_cells(cells, word, context.ranks[:tiles], context.cumulative[:tiles])
    return root


@kernel(borrows=True)
def hash_of_cells(board: Int, context: SearchContext) -> Word:
    """Return a 64-bit hash of the board."""
    return hash_cells(context.arena[board, : context.cells])


@kernel(borrows=True)
def ranks_on_cells(board: Int, context: SearchContext) -> Word:
    """Return the ranks on the board as a bit set."""
    return ranks_cells(context.arena[board, : context.cells])


@kernel(borrows=True)
def load_cells(cells: Cells, slot: Int, context: SearchContext) -> np.int64:
    """Copy a board from an array of ranks to a slot; return the slot."""
    for cell in range(context.cells):
        context.arena[slot, cell] = cells[cell]
    return np.int64(slot)


@kernel(borrows=True)
def store_cells(board: Int, cells: Cells, context: SearchContext) -> None:
    """Write the board's ranks to `cells`."""
    for cell in range(context.cells):
        cells[cell] = context.arena[board, cell]


# --- leaf evaluations ----------------------------------------------------------------------------

Leaf = Callable[[Packed, SearchContext, Weights], float]
BandedWeights = tuple[Weights, Weights]
"""The base network's weights, followed by the weights of its late-game bands."""
Weight = np.float32 | np.int16


# --- the heuristic -------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def heuristic_4x4(board: Packed, context: SearchContext, _weights: Weights) -> float:
    """Evaluate a 4x4 afterstate with the heuristic."""
    lines = np.float64(
        lines_4x4(known_word(board[0], board[1], context.max_rank), context.values_across)
    )
    return np.float64(context.scale * squeezed(context.base_value + lines, context.min_value))


@kernel(inline=True, borrows=True)
def heuristic_small(board: Packed, context: SearchContext, _weights: Weights) -> float:
    """Evaluate an afterstate of up to 4x4 cells with the heuristic."""
    rows, columns = np.uint64(context.rows), np.uint64(context.columns)
    word = known_word(board[0], board[1], context.max_rank)
    lines = lines_small(word, rows, columns, context.values_across, context.values_down)
    return np.float64(
        context.scale * squeezed(context.base_value + np.float64(lines), context.min_value)
    )


@kernel(borrows=True)
def heuristic_cells(board: Int, context: SearchContext, _weights: Weights) -> float:
    """Evaluate an afterstate of any shape with the heuristic."""
    lines = lines_cells(context.arena[board], context.rows, context.columns, context.terms)
    return np.float64(context.scale * squeezed(context.base_value + lines, context.min_value))


# --- networks ------------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def first_weight(seen: Word, context: SearchContext) -> Word:
    """Return the index of the first weight of a board's stage."""
    stage = stage_of(seen, context.thresholds[: context.stages])
    return np.uint64(np.uint64(stage) * context.stage_size)


@kernel(inline=True, borrows=True)
def first_weight_packed(board: Packed, context: SearchContext) -> Word:
    """Return the index of the first weight of a packed board's stage."""
    return first_weight(ranks_on_packed(board, context), context)


@kernel(inline=True, borrows=True)
def no_weight(_board: Packed, _context: SearchContext) -> Word:
    """Return 0, for networks without stages."""
    return ZERO


def make_sum_kernels(code: Code) -> tuple[Any, Any]:
    """Build the kernels that sum and prefetch the weights for a 4x4 board.

    The tuples' shifts and masks are compile-time constants, so indices are cheap to compute. The
    kernels compute the indices twice: to prefetch the weights of several boards, and to read the
    weights.
    """
    tuples = [make_tuple_index_kernel(first, parts) for first, parts in code]
    add_image = _make_first_add_kernel(tuples[0])
    fetch_image: Any = prefetch_nothing
    for index_of in tuples[1:]:
        add_image = _make_add_kernel(index_of, add_image)
    for index_of in tuples:
        fetch_image = _make_fetch_kernel(index_of, fetch_image)

    @kernel(inline=True, fastmath=True, borrows=True)
    def sum_of(word: Word, begin: Word, weights: Weights) -> Any:
        a, b, c, d, e, f, g, h = images_4x4(word)
        one = add_image(a, begin, weights) + add_image(b, begin, weights)
        two = add_image(c, begin, weights) + add_image(d, begin, weights)
        three = add_image(e, begin, weights) + add_image(f, begin, weights)
        four = add_image(g, begin, weights) + add_image(h, begin, weights)
        return (one + two) + (three + four)

    @kernel(inline=True, borrows=True)
    def fetch_of(word: Word, begin: Word, weights: Weights) -> None:
        for image in images_4x4(word):
            fetch_image(image, begin, weights)

    return sum_of, fetch_of


def make_cached_leaf(leaf: Leaf, hash_of: Callable[[Packed, SearchContext], Word]) -> Leaf:
    """Return a leaf evaluation that uses the evaluation cache."""

    @kernel(inline=True, borrows=True)
    def cached(after: Packed, context: SearchContext, weights: Weights) -> float:
        key = hash_of(after, context)
        entry = context.eval_cache[((key * ODD) >> HALF) & (context.cache_size - ONE)]
        if entry["hash"] == key:
            return np.float64(entry["value"])
        fresh = np.float64(leaf(after, context, weights))
        entry["hash"], entry["value"] = key, fresh
        return fresh

    return cached


def make_network_kernels(code: Code, *, has_stages: bool) -> tuple[Leaf, Any]:
    """Build the leaf evaluation of a 4x4 network and the kernel that prefetches its weights."""
    sum_of, fetch_of = make_sum_kernels(code)
    begin_of = first_weight_packed if has_stages else no_weight

    @kernel(inline=True, fastmath=True, borrows=True)
    def network(board: Packed, context: SearchContext, weights: Weights) -> float:
        """Estimate the future points of an afterstate with the network."""
        begin = begin_of(board, context)
        word = known_word(board[0], board[1], context.max_rank)
        return np.float64(sum_of(word, begin, weights) * context.step)

    @kernel(inline=True, borrows=True)
    def fetch(board: Packed, context: SearchContext, weights: Weights) -> None:
        """Prefetch the weights that `network` reads."""
        begin = begin_of(board, context)
        fetch_of(known_word(board[0], board[1], context.max_rank), begin, weights)

    return network, fetch


def make_banded_kernels(code: Code, band_code: Code, *, has_stages: bool) -> tuple[Any, Any]:
    """Build the leaf evaluation and the prefetch kernel of a 4x4 network with late-game bands."""
    network, fetch = make_network_kernels(code, has_stages=has_stages)
    sum_of, fetch_of = make_sum_kernels(band_code)

    @kernel(borrows=True)
    def banded(board: Packed, context: SearchContext, weights: BandedWeights) -> float:
        """Estimate the future points of an afterstate, corrected by the root's late-game band."""
        value = network(board, context, weights[0])
        if context.band == 0:
            return np.float64(value)
        band = context.band_list[context.band - 1]
        begin = np.uint64(context.band - 1) * context.band_size
        word = known_word(board[0], board[1], context.band_max_rank)
        beyond = sum_packed(board[0], board[1]) - band["least"]
        added = sum_of(word, begin, weights[1]) * context.band_step
        return np.float64(value - band["level"] - band["slope"] * beyond + added)

    @kernel(borrows=True)
    def fetch_banded(board: Packed, context: SearchContext, weights: BandedWeights) -> None:
        """Prefetch the weights that `banded` reads."""
        fetch(board, context, weights[0])
        if context.band > 0:
            begin = np.uint64(context.band - 1) * context.band_size
            word = known_word(board[0], board[1], context.band_max_rank)
            fetch_of(word, begin, weights[1])

    return banded, fetch_banded


@kernel(borrows=True)
def enter_band(board: Packed, context: SearchContext) -> None:
    """Select the late-game band for a search from this board.

    The search treats positions with the band's target tile as leaves.
    """
    top, total = ranks_on_packed(board, context), sum_packed(board[0], board[1])
    chosen = np.int64(0)
    for number in range(context.bands):
        band = context.band_list[number]
        # `top` is the sum of the distinct tiles, so its highest bit is the largest tile.
        is_largest = band["tile"] <= top < band["tile"] << ONE
        if is_largest and total >= band["least"] and top & band["ending"] == ZERO:
            chosen = np.int64(number + 1)
    if chosen == context.band:
        return
    context.band = chosen
    context.ending_mask, context.min_ending_points, context.win_value = ZERO, NEVER, 0.0
    if chosen > 0:
        band = context.band_list[chosen - 1]
        context.ending_mask, context.win_value = band["ending"], band["goal"]
        context.min_ending_points = np.int64(band["ending"])
    for place in range(np.int64(context.cache_size)):  # values of the previous band
        context.eval_cache[place]["hash"] = ZERO


@kernel(inline=True, borrows=True)
def enter_no_band(_board: object, _context: SearchContext) -> None:
    """Do nothing, for evaluations without bands."""


def _make_first_add_kernel(index_of: IndexOf) -> Any:
    """Build the kernel that reads the weight of one tuple."""

    @kernel(inline=True, borrows=True)
    def add(image: Word, begin: Word, weights: Weights) -> Weight:
        weight: Weight = weights[index_of(image) + begin]
        return weight

    return add


def _make_add_kernel(index_of: IndexOf, others: Any) -> Any:
    """Build a kernel that adds a tuple's weight to the sum that `others` returns."""

    @kernel(inline=True, borrows=True)
    def add(image: Word, begin: Word, weights: Weights) -> Weight:
        weight: Weight = others(image, begin, weights) + weights[index_of(image) + begin]
        return weight

    return add


def _make_fetch_kernel(index_of: IndexOf, others: Any) -> Any:
    """Build a kernel that calls `others`, and then prefetches a tuple's weight."""

    @kernel(inline=True, borrows=True)
    def fetch(image: Word, begin: Word, weights: Weights) -> None:
        others(image, begin, weights)
        prefetch(weights, index_of(image) + begin)

    return fetch


@kernel(inline=True, borrows=True)
def prefetch_nothing(_board: object, _place: object, _weights: Weights) -> None:
    """Skip prefetching, for evaluations whose data fit into the CPU cache."""


@kernel(borrows=True)
def network_small(board: Packed, context: SearchContext, weights: Weights) -> float:
    """Estimate the future points of an afterstate of up to 4x4 cells with the network."""
    begin = first_weight(ranks_on_packed(board, context), context) if context.stages else ZERO
    tuples, parts = context.tuples, context.parts
    write_indices(
        known_word(board[0], board[1], context.max_rank),
        np.uint64(context.rows),
        np.uint64(context.columns),
        context.shifts[:tuples, :parts],
        context.masks[:tuples, :parts],
        context.offsets[:tuples],
        context.indices[0],
    )
    return np.float64(total(weights, context.indices, 0, context.active, begin, ONE) * context.step)


@kernel(borrows=True)
def network_cells(board: Int, context: SearchContext, weights: Weights) -> float:
    """Estimate the future points of an afterstate of any shape with the network."""
    seen = ranks_on_cells(board, context)
    begin = first_weight(seen, context) if context.stages else ZERO
    tuples, parts = context.tuples, context.parts
    write_indices_cells(
        context.arena[board],
        seen,
        context.max_rank + ONE,
        context.places[:tuples, :parts],
        context.offsets[:tuples],
        context.indices[0],
    )
    return np.float64(total(weights, context.indices, 0, context.active, begin, ONE) * context.step)
