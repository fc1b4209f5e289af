"""Kernels that process single boards, for each memory layout of a board.

A *packed* board stores up to 16 cells in one 64-bit word, ``low``. The four bits from bit ``4 *
cell`` hold the rank of cell ``row * columns + column``, or 0 for an empty cell. The four bits of a
cell are called a *nibble*. A *mask* of cells is a word in which only the lowest bit of each nibble
may be set. Tiles above 32768 need a second word, ``high``, which holds the fifth bit of each rank
and allows tiles up to 2**31.

Boards of any shape can be stored as *cells*, an array of ranks in row-major order, uint8 `[cells]`.

==================  ======================  ======================================  ==============
operation           one word                two words                               cells
==================  ======================  ======================================  ==============
slide               `slide_small`           `slides_4x4`, `slide_packed`,           `slide_cells`
                                            `slide_lines`
legal moves                                                                         `legal_cells`
random spawn                                `spawn_packed`                          `place_cells`
empty cells         `empty_cells`           `word_of`, then as one word
ranks present                               `ranks_packed`                          `ranks_cells`
sum                 `tile_sum`              `sum_packed`                            `sum_cells`
symmetries          `symmetries`, `flip`,   as one word, on each word
                    `mirror`, `transpose`,
                    `canonical`
hash                `mix64`                 `hash_packed`                           `hash_cells`
==================  ======================  ======================================  ==============

Boards of up to 4x4 cells slide by table lookup, with one lookup per line (row or column). The table
fits the CPU cache. The table kernels ignore ``high`` for speed, so merging two 32768s leaves
another 32768 instead of a 65536. The points are correct, however. A slide that scores at least
`MIN_LARGE_POINTS` may have merged 32768s. Kernels that need the exact board therefore repeat such a
slide with `slide_lines`.

A *line table*, uint64 `[16 ** length]`, is indexed by the nibbles of a line, with the first cell in
the lowest bits. Each 64-bit entry holds both slides of a line in four 16-bit fields. From the
lowest bit up, these are the line slid towards its first cell, the line slid towards its last cell,
and the points of both slides, divided by four.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048.engine._bits_kernels import (
    HALF,
    ONE,
    START,
    draw,
    mix64,
    pick_high,
    pick_low,
    pick_rank,
    popcount,
    trailing_zeros,
)
from py2048.engine.jit import kernel

Word = np.uint64
Int = int | np.int64
Table = NDArray[np.uint64]
Cells = NDArray[np.uint8]
Words = NDArray[np.uint64]
Longs = NDArray[np.int64]
Moved = tuple[Word, Word, np.int64]
"""The result of a slide: both words of the afterstate, and the points (-1 if nothing moved)."""

ZERO = np.uint64(0)
TWO = np.uint64(2)
WHOLE = np.int64(1)
NIBBLE = np.uint64(4)
RANKS = np.uint64(15)
ALL_CELLS = np.uint64(0x1111111111111111)
LINE = np.uint64(0xFFFF)
LINE_BITS = np.uint64(16)
UPPER_LINE = np.uint64(0xFFFF0000)
POINTS = np.uint64(32)
ODD = np.uint64(0x9E3779B97F4A7C15)

UP, DOWN, LEFT, RIGHT = (np.int64(direction) for direction in range(4))
SIDE = np.int64(4)
"""Side of a 4x4 board. Passing the literal 4 would make Numba compile a kernel a second time."""

TABLE_CELLS = 4
"""Lines of up to this many cells slide by table lookup."""

MIN_LARGE_POINTS = 1 << 16
"""Points for merging two 32768s."""


# --- cells ---------------------------------------------------------------------------------------


@kernel("(uint64, uint64)", inline=True)
def empty_cells(board: Word, cells: Word) -> Word:
    """Return a mask of the empty cells among `cells`."""
    word = board | (board >> TWO)
    return ~(word | (word >> ONE)) & cells


@kernel(inline=True, borrows=True)
def word_of(low: Word, high: Word) -> Word:
    """Return a board as a single word, with every rank above 15 reduced to 15."""
    return low | ((high << NIBBLE) - high)


@kernel(borrows=True)
def ranks_packed(low: Word, high: Word, cells: Int) -> Word:
    """Return a word whose bit ``r`` is set if the packed board has a tile of rank ``r``."""
    seen = ZERO
    for cell in range(cells):
        seen |= ONE << np.uint64(rank_at(low, high, cell))
    return seen & ~ONE


@kernel(inline=True, borrows=True)
def hash_packed(low: Word, high: Word) -> Word:
    """Return a 64-bit hash of the board. It equals `low` if no tile exceeds 32768."""
    return low if high == ZERO else low ^ mix64(high)


@kernel("(uint64,)")
def tile_sum(board: Word) -> Word:
    """Return the sum of the tiles."""
    total = ZERO
    while board != ZERO:
        if board & RANKS != ZERO:
            total += ONE << (board & RANKS)
        board = board >> NIBBLE
    return total


@kernel(borrows=True)
def sum_packed(low: Word, high: Word) -> np.int64:
    """Return the sum of the tiles on a packed board."""
    # `low` holds only the lower four bits of each rank.
    total, cell = np.int64(tile_sum(low)), 0
    while high != ZERO:
        if high & ONE:
            nibble = np.int64((low >> np.uint64(4 * cell)) & RANKS)
            total += (WHOLE << (nibble + 16)) - ((WHOLE << nibble) if nibble else 0)
        high >>= NIBBLE
        cell += 1
    return total


@kernel("(uint64, uint64)", inline=True)
def nth_cell(mask: Word, index: Word) -> Word:
    """Return the position of the `index`-th set bit of `mask`, counted from the lowest."""
    while index != ZERO:
        mask &= mask - ONE
        index -= ONE
    return trailing_zeros(mask)


@kernel(inline=True, borrows=True)
def spawn_packed(
    low: Word,
    high: Word,
    cells: Word,
    word: Word,
    ranks: NDArray[np.uint8],
    cumulative: NDArray[np.uint64],
) -> tuple[Word, Word]:
    """Add a random tile to the board. The draw `word` selects the cell and the tile.

    Args:
        low: First word of the afterstate. At least one cell must be empty.
        high: Second word.
        cells: The mask of all cells.
        word: The draw.
        ranks: The possible ranks, ascending.
        cumulative: Running sums of the ranks' integer weights.
    """
    free = empty_cells(word_of(low, high), cells)
    cell = nth_cell(free, pick_low(word, popcount(free)))
    rank = pick_rank(word, ranks, cumulative)
    return low | (rank & RANKS) << cell, high | (rank >> NIBBLE) << cell


# --- sliding by table ----------------------------------------------------------------------------


@kernel("(uint64,)", inline=True)
def transpose(board: Word) -> Word:
    """Return a 4x4 board with rows and columns exchanged."""
    swap = (board ^ (board >> np.uint64(12))) & np.uint64(0x0000F0F00000F0F0)
    board = board ^ swap ^ (swap << np.uint64(12))
    swap = (board ^ (board >> np.uint64(24))) & np.uint64(0x00000000FF00FF00)
    return board ^ swap ^ (swap << np.uint64(24))


@kernel(inline=True)
def _slide_rows(board: Word, width: Word, backward: Int, table: Table) -> tuple[Word, np.int64]:
    """Slide up to four rows, each `width` bits wide."""
    mask = (ONE << width) - ONE
    twice = width + width
    part = LINE_BITS if backward else ZERO
    row0, row1 = table[board & mask] >> part, table[(board >> width) & mask] >> part
    row2 = table[(board >> twice) & mask] >> part
    row3 = table[(board >> (twice + width)) & mask] >> part
    after = (row0 & LINE) | (row1 & LINE) << width
    after |= (row2 & LINE) << twice | (row3 & LINE) << (twice + width)
    quarters = ((row0 >> POINTS) & LINE) + ((row1 >> POINTS) & LINE)
    quarters += ((row2 >> POINTS) & LINE) + ((row3 >> POINTS) & LINE)
    return after, np.int64(quarters << TWO)


@kernel("(uint64, int64, uint64, uint64, uint64[::1], uint64[::1])")
def slide_small(
    board: Word, direction: Int, rows: Word, columns: Word, across: Table, down: Table
) -> tuple[Word, np.int64]:
    """Slide a board with sides of up to four cells; return the afterstate and the points.

    Args:
        board: The board.
        direction: The direction, 0 to 3.
        rows: Number of rows.
        columns: Number of columns.
        across: The line table for rows.
        down: The line table for columns.
    """
    if direction >= 2:
        return _slide_rows(board, columns << TWO, direction & 1, across)
    turned = transpose_any(board, rows, columns)
    after, gained = _slide_rows(turned, rows << TWO, direction & 1, down)
    return transpose_any(after, columns, rows), gained


# --- sliding cell by cell ------------------------------------------------------------------------


@kernel("(uint64, uint64, int64, int64, int64, boolean)")
def slide_lines(
    low: Word, high: Word, direction: Int, rows: Int, columns: Int, cascade: bool
) -> Moved:
    """Slide a packed board of any shape, with correct results for tiles up to 2**31."""
    vertical, backward = direction < 2, (direction & 1) == 1
    lines, length = (columns, rows) if vertical else (rows, columns)
    step, stride = (columns, 1) if vertical else (1, columns)
    if backward:
        step = -step
    new_low, new_high = ZERO, ZERO
    points: Int = 0
    for line in range(lines):
        first = line * stride - (step * (length - 1) if backward else 0)
        target, is_open = first, False
        waiting: Int = 0
        for position in range(length):
            rank = rank_at(low, high, first + position * step)
            if rank == 0:
                continue
            if is_open and rank == waiting:
                waiting += 1
                points += 1 << waiting
                is_open = cascade
                continue
            if waiting:
                new_low, new_high = _with_rank(new_low, new_high, target, waiting)
                target += step
            waiting, is_open = rank, True
        if waiting:
            new_low, new_high = _with_rank(new_low, new_high, target, waiting)
    moved = new_low != low or new_high != high
    return new_low, new_high, np.int64(points) if moved else np.int64(-1)


@kernel("(uint64, uint64, int64)", inline=True)
def rank_at(low: Word, high: Word, cell: Int) -> np.int64:
    """Return the rank of one cell on a packed board."""
    shift = np.uint64(4 * cell)
    return np.int64(((low >> shift) & RANKS) | ((high >> shift) & ONE) << NIBBLE)


@kernel(inline=True)
def _with_rank(low: Word, high: Word, cell: Int, rank: Int) -> tuple[Word, Word]:
    shift = np.uint64(4 * cell)
    return low | np.uint64(rank & 15) << shift, high | np.uint64(rank >> 4) << shift


@kernel(inline=True, borrows=True)
def checked_slide(
    low: Word,
    high: Word,
    after: Word,
    gained: Word,
    direction: Int,
    rows: Int,
    columns: Int,
    cascade: bool,
) -> Moved:
    """Return the result of a table lookup; if a tile is too large, slide cell by cell instead."""
    points = np.int64(gained)
    if high != ZERO or points >= MIN_LARGE_POINTS:
        return slide_lines(low, high, direction, rows, columns, cascade)
    return after, ZERO, np.int64(-1) if after == low else points


@kernel(inline=True, borrows=True)
def _slide_both(word: Word, table: Table) -> tuple[Word, Word, Word, Word]:
    """Slide the rows of a 4x4 board left and right; return both afterstates, then their points."""
    row0, row1 = table[word & LINE], table[(word >> LINE_BITS) & LINE]
    row2, row3 = table[(word >> HALF) & LINE], table[word >> np.uint64(48)]
    left = (row0 & LINE) | (row1 & LINE) << LINE_BITS | (row2 & LINE) << HALF
    left |= row3 << np.uint64(48)
    right = (row0 & UPPER_LINE) >> LINE_BITS | (row1 & UPPER_LINE)
    right |= (row2 & UPPER_LINE) << LINE_BITS | (row3 & UPPER_LINE) << HALF
    row0, row1, row2, row3 = row0 >> HALF, row1 >> HALF, row2 >> HALF, row3 >> HALF
    lefts = (row0 & LINE) + (row1 & LINE) + (row2 & LINE) + (row3 & LINE)
    rights = (row0 >> LINE_BITS) + (row1 >> LINE_BITS) + (row2 >> LINE_BITS) + (row3 >> LINE_BITS)
    return left, right, lefts << TWO, rights << TWO


@kernel(inline=True, borrows=True)
def slides_4x4(
    low: Word, high: Word, cascade: bool, table: Table
) -> tuple[Moved, Moved, Moved, Moved]:
    """Slide a 4x4 board in all four directions, correctly for all tiles."""
    up, down, ups, downs = _slide_both(transpose(low), table)
    left, right, lefts, rights = _slide_both(low, table)
    return (
        checked_slide(low, high, transpose(up), ups, UP, SIDE, SIDE, cascade),
        checked_slide(low, high, transpose(down), downs, DOWN, SIDE, SIDE, cascade),
        checked_slide(low, high, left, lefts, LEFT, SIDE, SIDE, cascade),
        checked_slide(low, high, right, rights, RIGHT, SIDE, SIDE, cascade),
    )


@kernel(borrows=True)
def slide_packed(
    low: Word,
    high: Word,
    direction: Int,
    rows: Int,
    columns: Int,
    cascade: bool,
    across: Table,
    down: Table,
) -> Moved:
    """Slide a board with sides of up to four cells, correctly for all tiles."""
    after, points = slide_small(
        low, np.int64(direction), np.uint64(rows), np.uint64(columns), across, down
    )
    return checked_slide(low, high, after, np.uint64(points), direction, rows, columns, cascade)


@kernel("(int64, boolean)")
def line_table(length: Int, cascade: bool) -> Table:
    """Return the line table for lines of `length` cells, where `length` is at most 4."""
    table = np.zeros(1 << (4 * length), np.uint64)
    for line in range(len(table)):
        entry = ZERO
        for backward in range(2):
            low, high, points = slide_lines(np.uint64(line), ZERO, 2 + backward, 1, length, cascade)
            part = LINE_BITS if backward else ZERO
            # Two 32768s merge into rank 16, which does not fit into 4 bits, so 15 is stored.
            entry |= (low | (high << NIBBLE) - high) << part
            entry |= np.uint64(max(points, np.int64(0)) >> 2) << (part + POINTS)
        table[line] = entry
    return table


# --- symmetries ----------------------------------------------------------------------------------


@kernel("(uint64, uint64, uint64)")
def transpose_any(board: Word, rows: Word, columns: Word) -> Word:
    """Return the board with rows and columns exchanged; the result has `columns` rows."""
    if rows == columns:
        return _transpose_square(board, rows)
    turned, cell = ZERO, ZERO
    for row in range(rows):
        target = np.uint64(row) << TWO
        for _ in range(columns):
            turned |= ((board >> cell) & RANKS) << target
            cell += NIBBLE
            target += rows << TWO
    return turned


DIAGONALS = np.array(
    [
        [sum(1 << 4 * (r * side + r + k) for r in range(side - k)) * 15 for k in range(1, 4)]
        for side in range(5)
    ],
    np.uint64,
)
"""Masks of the diagonals above the main diagonal, used to transpose square boards.

The indices are the side length and the distance from the main diagonal minus 1.
"""


@kernel(inline=True)
def _transpose_square(board: Word, side: Word) -> Word:
    """Transpose a square board by swapping cells that mirror each other across the diagonal."""
    apart = (side - ONE) << TWO
    shift = ZERO
    for distance in range(side - ONE):
        shift += apart
        swap = (board ^ (board >> shift)) & DIAGONALS[side, distance]
        board ^= swap ^ (swap << shift)
    return board


@kernel("(uint64, uint64, uint64)")
def mirror(board: Word, rows: Word, columns: Word) -> Word:
    """Return the board mirrored left to right."""
    column = ZERO
    for _ in range(rows):
        column = column << (columns << TWO) | RANKS
    mirrored, source, target = ZERO, ZERO, (columns - ONE) << TWO
    for _ in range(columns):
        mirrored |= ((board >> source) & column) << target
        source += NIBBLE
        target -= NIBBLE
    return mirrored


@kernel("(uint64, uint64, uint64)")
def flip(board: Word, rows: Word, columns: Word) -> Word:
    """Return the board mirrored top to bottom."""
    width = columns << TWO
    row = (ONE << width) - ONE if width < np.uint64(64) else ~ZERO
    flipped, source, target = ZERO, ZERO, (rows - ONE) * width
    for _ in range(rows):
        flipped |= ((board >> source) & row) << target
        source += width
        target -= width
    return flipped


@kernel("(uint64, uint64, uint64, uint64[::1])")
def symmetries(board: Word, rows: Word, columns: Word, images: Table) -> int:
    """Write all rotations and reflections of `board` to `images`; return their number.

    A square board has eight rotations and reflections, and any other board has four. `images` must
    have room for eight.
    """
    images[0], images[1] = board, mirror(board, rows, columns)
    images[2], images[3] = flip(board, rows, columns), flip(images[1], rows, columns)
    if rows != columns:
        return 4
    for image in range(4):
        images[4 + image] = transpose_any(images[image], rows, columns)
    return 8


@kernel("(uint64, uint64, uint64)")
def canonical(board: Word, rows: Word, columns: Word) -> Word:
    """Return the smallest rotation or reflection of `board`.

    All symmetric images of a board have the same canonical form.
    """
    mirrored = mirror(board, rows, columns)
    flipped, turned = flip(board, rows, columns), flip(mirrored, rows, columns)
    best = min(board, mirrored, flipped, turned)
    if rows == columns:
        for image in (board, mirrored, flipped, turned):
            best = min(best, transpose_any(image, rows, columns))
    return best


# --- boards as cells ------------------------------------------------------------------------------
@kernel("(uint8[::1], int64, int64, int64, boolean)")
def slide_cells(cells: Cells, direction: Int, rows: Int, columns: Int, cascade: bool) -> Int:
    """Slide the board in place; return the points, or -1 if the direction is illegal."""
    vertical, backward = direction < 2, (direction & 1) == 1
    lines, length = (columns, rows) if vertical else (rows, columns)
    step, stride = (columns, 1) if vertical else (1, columns)
    points, moved = np.int64(0), False
    for line in range(lines):
        first = line * stride
        if backward:
            first += step * (length - 1)
        gained, changed = _slide_line(cells, first, -step if backward else step, length, cascade)
        points += gained
        moved |= changed
    return points if moved else np.int64(-1)


@kernel(inline=True)
def _slide_line(
    cells: Cells, first: Int, step: Int, length: Int, cascade: bool
) -> tuple[Int, bool]:
    """Slide a line towards the cell `first`; return the points and whether the line changed."""
    points, target, waiting, changed = np.int64(0), first, np.int64(0), False
    for position in range(length):
        cell = first + position * step
        rank = np.int64(cells[cell])
        if rank == 0:
            continue
        if rank == waiting:
            rank += 1
            points += WHOLE << rank
            cells[cell], cells[target - step] = 0, rank
            waiting, changed = rank if cascade else np.int64(0), True
            continue
        if cell != target:
            cells[cell], cells[target] = 0, rank
            changed = True
        waiting = rank
        target += step
    return points, changed


@kernel(borrows=True)
def legal_cells(cells: Cells, rows: Int, columns: Int, target: Int) -> int:
    """Return the legal directions as bits: bit ``d`` for direction ``d``.

    No direction is legal once a tile of rank `target` is on the board; 0 means no target.
    """
    if target:
        for cell in range(len(cells)):
            if cells[cell] >= target:
                return 0
    up, down = _axis_cells(cells, columns, cells.size - columns, 1, 1)
    left, right = _axis_cells(cells, 1, rows * (columns - 1), columns - 1, columns)
    return up | down << 1 | left << 2 | right << 3


@kernel(borrows=True)
def _axis_cells(cells: Cells, step: Int, pairs: Int, in_line: Int, stride: Int) -> tuple[int, int]:
    """Return two flags: whether a tile can move to a lower cell number, and to a higher one."""
    lower, higher = 0, 0
    for pair in range(pairs):
        cell = pair // in_line * stride + pair % in_line
        here, there = cells[cell], cells[cell + step]
        if here != 0:
            higher |= there == 0 or there == here
        if there != 0:
            lower |= here == 0 or there == here
    return lower, higher


@kernel(borrows=True)
def place_cells(cells: Cells, word: Word, ranks: Cells | Words, sums: Words) -> None:
    """Place a random tile on an empty cell; the random number `word` selects tile and cell."""
    empty = 0
    for cell in range(len(cells)):
        empty += cells[cell] == 0
    index = np.int64(pick_low(word, np.uint64(empty)))
    for cell in range(len(cells)):
        if cells[cell] == 0:
            if index == 0:
                cells[cell] = pick_rank(word, ranks, sums)
                break
            index -= 1


@kernel(borrows=True)
def start_cells(
    cells: Cells, key: Word, low: Int, high: Int, ranks: Cells | Words, sums: Words
) -> None:
    """Place `low` to `high` start tiles, drawn with a generator key, on an empty board."""
    extra = pick_high(draw(key, START), np.uint64(high - low + 1))
    for tile in range(low + np.int64(extra)):
        place_cells(cells, draw(key, START + np.uint64(1 + tile)), ranks, sums)


@kernel("(uint8[:, ::1], uint64[::1], int64, int64, uint8[::1], uint64[::1])", borrows=True)
def start_all_cells(
    boards: NDArray[np.uint8], keys: Words, low: Int, high: Int, ranks: Cells, sums: Words
) -> None:
    """Place start tiles on empty boards (uint8 `[n, cells]`), with one generator key per board."""
    for number in range(len(boards)):
        start_cells(boards[number], keys[number], low, high, ranks, sums)


@kernel(borrows=True)
def place_fixed_cells(cells: Cells, landing: Longs, rank: np.uint64) -> None:
    """Place a tile on the first empty cell in `landing`, a list of cells padded with -1."""
    for cell in landing:
        if cell >= 0 and cells[cell] == 0:
            cells[cell] = rank
            break


@kernel(borrows=True)
def sum_cells(cells: Cells) -> Int:
    total = np.int64(0)
    for cell in range(len(cells)):
        if cells[cell]:
            total += WHOLE << cells[cell]
    return total


@kernel(borrows=True)
def ranks_cells(cells: Cells) -> Word:
    """Return a word whose bit ``r`` is set if the board has a tile of rank ``r``."""
    seen = ZERO
    for rank in cells:
        seen |= ONE << np.uint64(rank)
    return seen & ~ONE


@kernel(borrows=True)
def hash_cells(cells: Cells) -> Word:
    """Return a 64-bit hash of the board."""
    name = ODD
    for rank in cells:
        name = (name ^ np.uint64(rank)) * ODD
        name ^= name >> np.uint64(29)
    return name
