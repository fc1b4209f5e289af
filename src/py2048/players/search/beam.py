"""Plan deterministic games with a beam search.

With an `EdgeSpawn`, the move determines the spawn, so a whole game can be planned in advance. A
beam search keeps only the best boards of each depth. Every move spawns the same tile, so all boards
of the same depth have the same sum and are comparable.

A narrow beam is fast but eventually reaches a dead end. `BeamPlanner` then backtracks and searches
with a wider beam, going back further each time until the game can continue.

If every move spawns a 2, a game on `n` cells that starts with `s` tiles has at most ``2**n - 1 -
s`` moves; `longest_game` proves this.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import RulesError
from py2048.core.rules import Rules
from py2048.engine._board_kernels import Cells, Int, Word, Words, place_fixed_cells, slide_cells
from py2048.engine.boards import ranks_of
from py2048.engine.jit import kernel
from py2048.engine.rules import CompiledRules

RANKS = 64
"""Number of ranks in the value tables. No game reaches a higher rank."""
MAX_RANK = 62
"""Largest rank that a starting board may have."""

SEARCH_DEPTH = 8192
"""Number of moves that one search looks ahead."""

DISCARDED_MOVES = 1024
"""Number of moves to discard at the end of a search, because they may lead to a dead end."""

CHECKPOINT_MOVES = 512
"""Number of moves between checkpoints. The planner can backtrack only to a checkpoint."""


# --- kernels -------------------------------------------------------------------------------------

# Boards are row-major ranks, uint8 `[cells]`. Board values are sums of entries in the tables of
# `BeamSpec`.

Indices = NDArray[np.uint16]
Counts = NDArray[np.int64]
Values = NDArray[np.float64]

ONE = np.uint64(1)
ZERO = np.uint64(0)
NONE = np.int64(-1)
"""Points of an illegal slide.

Code compares points with this value rather than with 0, because the points of extremely large tiles
may overflow and become negative.
"""


class BeamSpec(NamedTuple):
    """Rules and evaluation tables for the kernels, built by `spec_of`."""

    rows: Int
    columns: Int
    landing: Counts
    """Candidate cells for the spawn after a move in each direction, `[4, longest]`."""
    spawn: Word
    """Rank of the spawned tile."""
    cascade: bool
    """Whether a merged tile can merge again in the same slide."""
    ending_rank: Int
    """The rank that ends the game, or a rank that no tile can reach."""
    cell_values: Values
    """Value of each rank on each cell, or -inf if the rank ends the game, `[cells, ranks]`."""
    pair_values: Values
    """Value of each pair of ranks on neighbouring cells, `[ranks, ranks]`."""
    neighbours: Indices
    """`[pairs, 2]`: adjacent cells."""
    hash_words: Words
    """Random words for Zobrist hashing, `[cells, ranks]`."""


@kernel(inline=True, borrows=True)
def slide_and_spawn(cells: Cells, child: Cells, direction: Int, spec: BeamSpec) -> bool:
    """Write the board after a move and its spawn to `child`; return whether the move is legal.

    The content of `child` is undefined after an illegal move.
    """
    for cell in range(cells.size):
        child[cell] = cells[cell]
    if slide_cells(child, direction, spec.rows, spec.columns, spec.cascade) == NONE:
        return False
    place_fixed_cells(child, spec.landing[direction], spec.spawn)
    return True


@kernel(inline=True, borrows=True)
def hash_of(cells: Cells, hash_words: Words) -> np.uint64:
    """Return the board's Zobrist hash."""
    found = ZERO
    for cell in range(cells.size):
        found ^= hash_words[cell, cells[cell]]
    return found


@kernel(inline=True, borrows=True)
def value_of(cells: Cells, spec: BeamSpec) -> float:
    """Return the heuristic value of a board; higher is better."""
    value, neighbours = 0.0, spec.neighbours
    for cell in range(cells.size):
        value += spec.cell_values[cell, cells[cell]]
    for pair in range(neighbours.shape[0]):
        value += spec.pair_values[cells[neighbours[pair, 0]], cells[neighbours[pair, 1]]]
    return value


@kernel(inline=True, borrows=True)
def is_ended(cells: Cells, spec: BeamSpec) -> bool:
    """Return whether a tile has ended the game."""
    largest = 0
    for cell in range(cells.size):
        largest = max(largest, cells[cell])
    return bool(largest >= spec.ending_rank)


@kernel(inline=True, borrows=True)
def is_new(key: np.uint64, seen: Words, marks: Counts, mark: int) -> bool:
    """Add a key to a reusable hash set; return whether the key is new.

    The set uses open addressing. Only entries with the given mark count as present, so the caller
    can empty the set by choosing another mark. The arrays `seen` and `marks` have the same length,
    a power of two that exceeds the number of keys.
    """
    mask = np.uint64(seen.size) - ONE
    slot = key & mask
    while marks[slot] == mark:
        if seen[slot] == key:
            return False
        slot = (slot + ONE) & mask
    marks[slot] = mark
    seen[slot] = key
    return True


@kernel(borrows=True)
def keep_best(values: Values, chosen: Counts, count: int, wanted: int) -> None:
    """Move the `wanted` entries with the largest values to the front of ``chosen[:count]``."""
    low, high = 0, count - 1
    while low < high:
        pivot = values[chosen[(low + high) // 2]]
        left, right = low, high
        while left <= right:
            while values[chosen[left]] > pivot:
                left += 1
            while values[chosen[right]] < pivot:
                right -= 1
            if left <= right:
                chosen[left], chosen[right] = chosen[right], chosen[left]
                left += 1
                right -= 1
        if wanted - 1 <= right:
            high = right
        elif wanted - 1 >= left:
            low = left
        else:
            break


@kernel(borrows=True)
def expand(
    beam: Cells,
    children: Cells,
    values: Values,
    origins: NDArray[np.int32],
    seen: Words,
    marks: Counts,
    mark: int,
    spec: BeamSpec,
) -> int:
    """Write the distinct children of all boards in `beam`; return their number.

    Boards on which the game has ended have no children. Child `i` has the value ``values[i]``, and
    is reached from board ``origins[i] // 4`` in direction ``origins[i] % 4``. See `is_new` for
    `seen`, `marks` and `mark`.
    """
    count = 0
    for parent in range(beam.shape[0]):
        if is_ended(beam[parent], spec):
            continue
        for direction in range(4):
            child = children[count]
            is_legal = slide_and_spawn(beam[parent], child, direction, spec)
            if is_legal and is_new(hash_of(child, spec.hash_words), seen, marks, mark):
                values[count] = value_of(child, spec)
                origins[count] = 4 * parent + direction
                count += 1
    return count


@kernel(borrows=True)
def trace(history: NDArray[np.int32], last: int, moves: Cells) -> None:
    """Write the moves that lead to the board at index `last` of the deepest beam."""
    for step in range(moves.size - 1, -1, -1):
        moves[step] = history[step, last] % 4
        last = history[step, last] // 4


@kernel
def search(start: Cells, width: int, moves: Cells, spec: BeamSpec) -> int:
    """Search at most ``moves.size`` moves ahead; return the depth reached.

    The beam holds `width` boards. `moves` receives the moves to the best board at the greatest
    depth.
    """
    size = 4 * width
    beam = np.empty((width, start.size), np.uint8)
    children = np.empty((size, start.size), np.uint8)
    values = np.empty(size)
    origins = np.empty(size, np.int32)
    chosen = np.empty(size, np.int64)
    history = np.empty((moves.size, width), np.int32)
    slots = 1
    while slots < 2 * size:
        slots *= 2
    seen = np.empty(slots, np.uint64)
    marks = np.full(slots, -1)
    beam[0] = start
    held = 1
    best = 0
    for depth in range(moves.size):
        count = expand(beam[:held], children, values, origins, seen, marks, depth, spec)
        if count == 0:
            trace(history, best, moves[:depth])
            return depth
        for child in range(count):
            chosen[child] = child
        held = min(count, width)
        keep_best(values, chosen, count, held)
        best = 0
        for rank in range(held):
            beam[rank] = children[chosen[rank]]
            history[depth, rank] = origins[chosen[rank]]
            if values[chosen[rank]] > values[chosen[best]]:
                best = rank
    trace(history, best, moves)
    return moves.size


@kernel
def board_after(start: Cells, moves: Cells, spec: BeamSpec) -> Cells:
    """Return the board after legal moves."""
    cells, child = start.copy(), np.empty_like(start)
    for move in moves:
        slide_and_spawn(cells, child, move, spec)
        cells[:] = child
    return cells


# --- planning ------------------------------------------------------------------------------------

# Evaluation weights, in points: the best of a few hundred settings on 5x5 boards with a beam width
# of 8.
FALLOFF = 0.505
"""Factor by which a tile's value decreases from cell to cell along a snake-shaped path."""
ROUGHNESS = 0.0023
"""Penalty for the difference between neighbouring tiles, per unit of difference."""
PAIR_BONUS = 0.1822
"""Reward for two equal neighbours, as a share of their value."""
EMPTY_BONUS = 14.21
"""Reward for each empty cell."""


def longest_game(board: Board) -> int:
    """Return an upper bound on the number of moves in a game that spawns only 2s.

    The starting board must not contain tiles other than 2. Proof: number the tiles of the final
    board from 0, in the order in which they were created. When tile `i` was created, each of the
    `i` older tiles occupied a cell, so ``n - i`` cells were available. With one cell available,
    the largest possible tile is a 2 that spawns there. With `c` cells, it is ``2**c``, because the
    second of the two tiles to merge is built on ``c - 1`` cells. The tiles of the final board add
    up to at most ``2**n + … + 2``, and each move adds 2 to the board's sum.
    """
    rows, columns = board.shape
    return (1 << rows * columns) - 1 - board.sum // 2


@cache
def spec_of(rules: Rules) -> BeamSpec:
    """Encode the rules and the evaluation for the kernels.

    Raises:
        RulesError: If the spawn is random.
    """
    if not rules.is_deterministic:
        raise RulesError(
            f"the rules {rules.name} have random spawns, and only games with deterministic spawns "
            "can be planned: use rules with spawn=edge:2, such as cits1401"
        )
    given = CompiledRules.of(rules)
    rows, columns = rules.shape
    ending_rank = given.ending_rank or RANKS
    values = np.concatenate([[0.0], 2.0 ** np.arange(1, RANKS)])
    snake = np.arange(rows * columns).reshape(rows, columns)
    snake[::2] = snake[::2, ::-1]  # a snake-shaped path from the upper right corner
    cell_values = values * FALLOFF ** snake.reshape(-1, 1)
    cell_values[:, 0] = EMPTY_BONUS
    cell_values[:, ending_rank:] = -np.inf  # avoid ending the game
    pair_values = -ROUGHNESS * np.abs(values[:, None] - values)
    pair_values[0] = pair_values[:, 0] = 0.0
    np.fill_diagonal(pair_values, PAIR_BONUS * values)
    words = np.random.default_rng(2048).integers(2**64, size=(rules.cells, RANKS), dtype=np.uint64)
    grid = np.arange(rules.cells, dtype=np.uint16).reshape(rows, columns)
    beside = np.stack([grid[:, :-1].ravel(), grid[:, 1:].ravel()], axis=1)
    below = np.stack([grid[:-1].ravel(), grid[1:].ravel()], axis=1)
    return BeamSpec(
        rows=rows,
        columns=columns,
        landing=given.landing,
        spawn=np.uint64(given.spawn.ranks[0]),
        cascade=given.cascade,
        ending_rank=ending_rank,
        cell_values=cell_values,
        pair_values=pair_values,
        neighbours=np.concatenate([beside, below]),
        hash_words=words,
    )


def search_moves(cells: Cells, width: int, depth: int, spec: BeamSpec) -> Cells:
    """Return the moves that lead to the best board within `depth` moves."""
    moves = np.empty(depth, np.uint8)
    return moves[: search(cells, width, moves, spec)]


def beam_search(board: Board, rules: Rules, *, width: int, depth: int) -> tuple[Direction, ...]:
    """Return the moves that lead from `board` to the best board that a beam search finds.

    Args:
        board: Starting board.
        rules: Rules with an edge spawn.
        width: Beam width, in boards per depth.
        depth: Maximum number of moves. Fewer moves are returned if the search finds no line of this
            length.

    Raises:
        RulesError: If the spawn is random.
    """
    moves = search_moves(ranks_of(board, MAX_RANK), width, depth, spec_of(rules))
    return tuple(Direction(move) for move in moves.tolist())


@dataclass
class BeamPlanner:
    """A plan for a deterministic game, extended step by step.

    The plan is the longest line of moves found so far, so it never gets shorter. Moves that `take`
    has returned are final. Searches extend a separate trial line, which replaces the plan as soon
    as it is longer.

    Attributes:
        board: Starting board.
        rules: Rules with an edge spawn.
        width: Initial beam width, in boards per depth.
        max_width: Upper limit for the beam width, which grows after dead ends.
        played: Number of planned moves that have been returned.
        is_complete: Whether the plan reaches the end of the game and cannot be improved any more.

    Raises:
        RulesError: If the spawn is random.
    """

    board: Board
    rules: Rules
    width: int = 12
    max_width: int = 1024
    played: int = field(default=0, init=False)
    is_complete: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._spec = spec_of(self.rules)
        self._plan = bytearray()
        self._trial = bytearray()
        self._start = ranks_of(self.board, MAX_RANK)
        self._checkpoints = [(0, self._start)]  # (depth, board) pairs on the trial
        self._doublings = 0
        self._passed_depth = 0
        self._lock = threading.Lock()  # Protects the plan. Searches do not hold the lock.

    def __len__(self) -> int:
        """Return the number of planned moves, including those already taken."""
        return len(self._plan)

    def __getitem__(self, index: int) -> Direction:
        """Return the planned move with this index."""
        return Direction(self._plan[index])

    def take(self) -> Direction | None:
        """Return the next planned move and make it final, or return `None` if no move is planned.

        One thread may take moves while another extends the plan.
        """
        with self._lock:
            if self.played == len(self._plan):
                return None
            self.played += 1
            return self[self.played - 1]

    def extend(self) -> None:
        """Extend the plan by one search, or backtrack from a dead end."""
        if self.is_complete:
            return
        _, cells = self._checkpoints[-1]
        moves = search_moves(cells, self.width << self._doublings, SEARCH_DEPTH, self._spec)
        with self._lock:
            if not self._trial.startswith(self._plan[: self.played]):
                self._restart()  # The game has deviated from the trial line.
            elif len(moves) == SEARCH_DEPTH:
                self._append(moves[:-DISCARDED_MOVES])
            else:
                self._step_back(moves)

    def _append(self, moves: Cells) -> None:
        for part in moves.reshape(-1, CHECKPOINT_MOVES):
            depth, cells = self._checkpoints[-1]
            cells = board_after(cells, part, self._spec)
            self._checkpoints.append((depth + CHECKPOINT_MOVES, cells))
        self._trial += moves.tobytes()
        self._adopt(self._trial)
        if len(self._trial) > self._passed_depth:
            self._doublings = 0

    def _adopt(self, line: bytearray) -> None:
        if len(line) > len(self._plan):
            self._plan = line.copy()

    def _step_back(self, last: Cells) -> None:
        """Backtrack after the moves `last` have led to a dead end."""
        line = self._trial + last.tobytes()
        self._adopt(line)
        self._passed_depth = max(self._passed_depth, len(line) + SEARCH_DEPTH)
        self._doublings += 1
        self.is_complete = self.width << self._doublings > self.max_width
        keep = max(len(line) - CHECKPOINT_MOVES * 4 ** (self._doublings - 1), self.played)
        while len(self._checkpoints) > 1 and self._checkpoints[-2][0] >= keep:
            self._checkpoints.pop()
        if self._checkpoints[-1][0] < self.played:
            self._restart()
        del self._trial[self._checkpoints[-1][0] :]

    def _restart(self) -> None:
        """Start a new trial line at the current position of the game."""
        self._trial = self._plan[: self.played]
        moves = np.array(self._trial, np.uint8)
        self._checkpoints = [(self.played, board_after(self._start, moves, self._spec))]
