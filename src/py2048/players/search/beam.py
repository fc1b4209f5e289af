"""Planning games without chance: a beam search over whole games.

Under an `EdgeSpawn` a game follows from its moves alone, so a game can be planned before it is
played. A beam search keeps the best boards of each depth. All boards of one depth hold the same
sum, because every move adds one tile of the same value, and so their values compare.

A narrow beam is quick and sooner or later runs into a dead end. `BeamPlanner` then goes back and
tries again with a wider one, further back each time, until the dead end is passed.

How far can it go? On ``n`` cells no sum is larger than ``2**(n + 1) - 2`` times half the spawned
tile, and so a game of 2s that starts with ``s`` of them has at most ``2**n - 1 - s`` moves: see
`longest_game`.
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
from py2048.engine.boards import ranks_of, tiles_of
from py2048.engine.jit import kernel
from py2048.engine.rules import CompiledRules

RANKS = 64
"""Boards hold ranks below this, more than any game can reach."""
MAX_RANK = 62
"""The largest rank at the start."""

CHUNK = 8192
"""How many moves one search looks ahead."""

DOUBTFUL = 1024
"""How many of the last moves of a search are dropped: nothing behind them was seen."""

STRIDE = 512
"""Distance of the boards to which a planner can go back, in moves."""


# --- kernels -------------------------------------------------------------------------------------

# A board is uint8 `[cells]` of ranks, row-major. Its value is a sum of table entries.

Indices = NDArray[np.uint16]
Counts = NDArray[np.int64]
Values = NDArray[np.float64]

ONE = np.uint64(1)
ZERO = np.uint64(0)
NONE = np.int64(-1)
"""The points of a slide that moves nothing; where tiles are huge, those of others wrap around."""


class BeamSpec(NamedTuple):
    """Rules and the evaluation of boards, made by `spec_of`."""

    rows: Int
    columns: Int
    landing: Counts
    """`[4, longest]`: where a tile may appear after a move, as in `CompiledRules`."""
    spawn: Word
    """The rank of the tile that appears."""
    cascade: bool
    """Whether a merged tile can merge again."""
    stop: Int
    """The rank that ends the game, one that no tile has if none does."""
    places: Values
    """`[cells, ranks]`: the value of each rank on each cell; of those that end the game, -inf."""
    links: Values
    """`[ranks, ranks]`: the value of two ranks beside each other."""
    neighbours: Indices
    """`[pairs, 2]`: the cells beside each other."""
    words: Words
    """`[cells, ranks]`: the random words that hashes are made of."""


@kernel(inline=True, borrows=True)
def slide_and_spawn(cells: Cells, child: Cells, direction: Int, spec: BeamSpec) -> bool:
    """Write to `child` the board after a move; return whether the move is legal.

    `child` is of no use if the move is illegal.
    """
    for cell in range(cells.size):
        child[cell] = cells[cell]
    if slide_cells(child, direction, spec.rows, spec.columns, spec.cascade) == NONE:
        return False
    place_fixed_cells(child, spec.landing[direction], spec.spawn)
    return True


@kernel(inline=True, borrows=True)
def hash_of(cells: Cells, words: Words) -> np.uint64:
    """Return 64 bits that identify the board, almost certainly."""
    found = ZERO
    for cell in range(cells.size):
        found ^= words[cell, cells[cell]]
    return found


@kernel(inline=True, borrows=True)
def value_of(cells: Cells, spec: BeamSpec) -> float:
    """Return the value of a board; larger is better."""
    value, neighbours = 0.0, spec.neighbours
    for cell in range(cells.size):
        value += spec.places[cell, cells[cell]]
    for pair in range(neighbours.shape[0]):
        value += spec.links[cells[neighbours[pair, 0]], cells[neighbours[pair, 1]]]
    return value


@kernel(inline=True, borrows=True)
def is_ended(cells: Cells, spec: BeamSpec) -> bool:
    """Return whether a tile has ended the game."""
    largest = 0
    for cell in range(cells.size):
        largest = max(largest, cells[cell])
    return bool(largest >= spec.stop)


@kernel(inline=True, borrows=True)
def is_new(key: np.uint64, seen: Words, marks: Counts, mark: int) -> bool:
    """Enter `key` into the set of those seen under this `mark`; return whether it was absent.

    The set is a hash table with open addressing, ``seen`` and ``marks`` of a length that is a
    power of two and larger than the number of keys; a new mark empties it.
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
    """Reorder ``chosen[:count]`` so that the `wanted` ones of largest value come first."""
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
    """Write the different children of all boards of `beam`; return how many there are.

    A board on which the game has ended has none.

    Child ``i`` has the value ``values[i]``; it comes from board ``origins[i] // 4`` by the
    direction ``origins[i] % 4``. `seen`, `marks` and `mark` are those of `is_new`.
    """
    count = 0
    for parent in range(beam.shape[0]):
        if is_ended(beam[parent], spec):
            continue
        for direction in range(4):
            child = children[count]
            is_legal = slide_and_spawn(beam[parent], child, direction, spec)
            if is_legal and is_new(hash_of(child, spec.words), seen, marks, mark):
                values[count] = value_of(child, spec)
                origins[count] = 4 * parent + direction
                count += 1
    return count


@kernel(borrows=True)
def trace(history: NDArray[np.int32], last: int, moves: Cells) -> None:
    """Write the moves that lead to board `last` of the deepest beam."""
    for step in range(moves.size - 1, -1, -1):
        moves[step] = history[step, last] % 4
        last = history[step, last] // 4


@kernel
def search(start: Cells, width: int, moves: Cells, spec: BeamSpec) -> int:
    """Search up to ``moves.size`` moves ahead with `width` boards a move; return how many it got.

    The moves to the best board of the greatest depth are written to `moves`.
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
def follow(cells: Cells, moves: Cells, spec: BeamSpec) -> int:
    """Play `moves` on `cells` itself; return how many were legal before the first that is not."""
    child = np.empty_like(cells)
    for step in range(moves.size):
        if not slide_and_spawn(cells, child, moves[step], spec):
            return step
        cells[:] = child
    return moves.size


# --- planning ------------------------------------------------------------------------------------

# The evaluation of a board, in the points of its tiles, was found by trying a few hundred on 5x5
# boards with a beam of 8.
FALLOFF = 0.505
"""Large tiles belong to the beginning of a snake through the board: a tile counts its value times
this to the power of its cell's number on the snake."""
ROUGHNESS = 0.0023
"""The cost of a difference of one point between neighbouring tiles."""
PAIR_BONUS = 0.1822
"""The reward for each point of a tile that has an equal neighbour."""
EMPTY_BONUS = 14.21
"""The reward for each empty cell."""


def longest_game(board: Board) -> int:
    """Return a number of moves that no game with an edge spawn of 2 from `board` can exceed.

    The start must hold nothing but 2s. Take the tiles of the last board in the order in which
    they came to be. When the i-th oldest did, the ``i`` older ones occupied a cell each, so it
    was made on ``n - i`` cells. One cell holds at most a 2, and a tile made on ``c`` cells is
    merged of two, the second of which was made on ``c - 1``: it is at most ``2**c``. So the sum
    is at most ``2**n + … + 2``, and each move adds 2 to it.
    """
    rows, columns = board.shape
    return (1 << rows * columns) - 1 - board.sum // 2


@cache
def spec_of(rules: Rules) -> BeamSpec:
    """Return rules and the evaluation as kernels take them.

    Raises:
        RulesError: if the rules leave the spawn to chance.
    """
    if not rules.is_deterministic:
        raise RulesError(
            f"the rules {rules.name} leave the spawn to chance: a game can be planned ahead only "
            "where the spawn follows from the move (spawn=edge:2, as in cits1401)"
        )
    given = CompiledRules.of(rules)
    rows, columns = rules.shape
    stop = given.ending_rank or RANKS
    values = np.concatenate([[0.0], 2.0 ** np.arange(1, RANKS)])
    snake = np.arange(rows * columns).reshape(rows, columns)
    snake[::2] = snake[::2, ::-1]  # from the upper right corner, row by row, to and fro
    places = values * FALLOFF ** snake.reshape(-1, 1)
    places[:, 0] = EMPTY_BONUS
    places[:, stop:] = -np.inf  # such a board ends its line: others are better
    links = -ROUGHNESS * np.abs(values[:, None] - values)
    links[0] = links[:, 0] = 0.0
    np.fill_diagonal(links, PAIR_BONUS * values)
    grid = np.arange(rules.cells, dtype=np.uint16).reshape(rows, columns)
    beside = np.stack([grid[:, :-1].ravel(), grid[:, 1:].ravel()], axis=1)
    below = np.stack([grid[:-1].ravel(), grid[1:].ravel()], axis=1)
    return BeamSpec(
        rows=rows,
        columns=columns,
        landing=given.landing,
        spawn=np.uint64(given.spawn.ranks[0]),
        cascade=given.cascade,
        stop=stop,
        places=places,
        links=links,
        neighbours=np.concatenate([beside, below]),
        words=np.random.default_rng(2048).integers(
            2**64, size=(rules.cells, RANKS), dtype=np.uint64
        ),
    )


def _search(cells: Cells, width: int, depth: int, spec: BeamSpec) -> Cells:
    moves = np.empty(depth, np.uint8)
    return moves[: search(cells, width, moves, spec)]


def _after(cells: Cells, moves: Cells, spec: BeamSpec) -> Cells:
    end = cells.copy()
    follow(end, moves, spec)
    return end


def beam_search(board: Board, rules: Rules, *, width: int, depth: int) -> tuple[Direction, ...]:
    """Return the moves from `board` to the best board that a beam search finds.

    Args:
        board: where to start.
        rules: rules with an edge spawn.
        width: how many boards of each depth are kept.
        depth: how many moves to look ahead; fewer are returned if every line ends before.

    Raises:
        RulesError: if the rules leave the spawn to chance.
    """
    moves = _search(ranks_of(board, MAX_RANK), width, depth, spec_of(rules))
    return tuple(Direction(move) for move in moves.tolist())


@dataclass
class BeamPlanner:
    """A plan for a game, made longer piece by piece.

    The plan is the longest line found so far; it never gets shorter, and what has been taken of
    it stays. Beside it runs the trial, the line that is being searched; it becomes the plan when
    it is longer.

    Attributes:
        board: where the game starts.
        rules: its rules, with an edge spawn.
        width: how many boards of each depth are kept at first.
        widest: and at most, after dead ends.
        played: how many moves of the plan have been taken.
        is_complete: whether the plan leads to the end of the game and will not be bettered.

    Raises:
        RulesError: if the rules leave the spawn to chance.
    """

    board: Board
    rules: Rules
    width: int = 12
    widest: int = 1024
    played: int = field(default=0, init=False)
    is_complete: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._spec = spec_of(self.rules)
        self._plan = bytearray()
        self._trial = bytearray()
        self._start = ranks_of(self.board, MAX_RANK)
        self._trail = [(0, self._start)]  # boards on the trial to which it can go back
        self._doublings = 0
        self._hurdle = 0
        self._lock = threading.Lock()  # held while the plan changes, not during a search

    def __len__(self) -> int:
        """Return the number of moves planned, those already taken among them."""
        return len(self._plan)

    def __getitem__(self, index: int) -> Direction:
        """Return the planned move with this number, from 0."""
        return Direction(self._plan[index])

    def last_board(self) -> Board:
        """Return the board to which the plan leads."""
        with self._lock:
            moves = np.array(self._plan, np.uint8)
        cells = _after(self._start, moves, self._spec)
        return Board(tiles_of(cells.reshape(self.rules.shape)).tolist())

    def take(self) -> Direction | None:
        """Return the next move to play and settle it; `None` if no more are planned yet.

        One thread may take moves while another one extends the plan.
        """
        with self._lock:
            if self.played == len(self._plan):
                return None
            self.played += 1
            return self[self.played - 1]

    def extend(self) -> None:
        """Search on from the end of the trial: make it longer, or step back from a dead end."""
        if self.is_complete:
            return
        _, cells = self._trail[-1]
        moves = _search(cells, self.width << self._doublings, CHUNK, self._spec)
        with self._lock:
            if not self._trial.startswith(self._plan[: self.played]):
                self._restart()  # the game has left the trial in the meantime
            elif len(moves) == CHUNK:
                self._append(moves[:-DOUBTFUL])
            else:
                self._step_back(moves)

    def finish(self) -> None:
        """Complete the plan now, without stepping back from the next dead end."""
        self.widest = self.width
        while not self.is_complete:
            self.extend()

    def _append(self, moves: Cells) -> None:
        for part in moves.reshape(-1, STRIDE):
            depth, cells = self._trail[-1]
            self._trail.append((depth + STRIDE, _after(cells, part, self._spec)))
        self._trial += moves.tobytes()
        self._adopt(self._trial)
        if len(self._trial) > self._hurdle:
            self._doublings = 0

    def _adopt(self, line: bytearray) -> None:
        if len(line) > len(self._plan):
            self._plan = line.copy()

    def _step_back(self, last: Cells) -> None:
        """Go back from the dead end that the trial and these `last` moves reach."""
        line = self._trial + last.tobytes()
        self._adopt(line)
        self._hurdle = max(self._hurdle, len(line) + CHUNK)
        self._doublings += 1
        self.is_complete = self.width << self._doublings > self.widest
        keep = max(len(line) - STRIDE * 4 ** (self._doublings - 1), self.played)
        while len(self._trail) > 1 and self._trail[-2][0] >= keep:
            self._trail.pop()
        if self._trail[-1][0] < self.played:
            self._restart()
        del self._trial[self._trail[-1][0] :]

    def _restart(self) -> None:
        """Begin a trial at the present position of the game."""
        self._trial = self._plan[: self.played]
        moves = np.array(self._trial, np.uint8)
        self._trail = [(self.played, _after(self._start, moves, self._spec))]
