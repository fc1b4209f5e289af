"""The goal of perfect play. Encodes the rules and the goal for the solver's kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from py2048.core.board import Board, canonical
from py2048.core.errors import BoardError, SolvingError, shown
from py2048.core.rules import MovePoints, Rules, is_tile
from py2048.engine.rules import CompiledRules
from py2048.players.solving import _solver_kernels as kernels
from py2048.players.solving._solver_kernels import MULTIPLIER, Lookup, SolverSpec, Tile

MAX_STARTS = 100_000
"""Maximum number of distinct starting positions."""

MAX_RANK = 15
"""Largest rank on a board that is packed into one word."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What perfect play maximises.

    Attributes:
        tile: The tile to reach with maximum probability, or `None` to maximise the expected score.
    """

    tile: int | None = None

    def __post_init__(self) -> None:
        if self.tile is not None and not is_tile(self.tile):
            raise SolvingError(f"{shown(self.tile)} is not a tile: give one such as tile=256")

    @classmethod
    def parse(cls, text: str | Goal) -> Goal:
        """Parse a goal: ``score``, or a tile such as ``tile=256``.

        Raises:
            SolvingError: If the string is not a valid goal.
        """
        if isinstance(text, Goal):
            return text
        word, _, number = str(text).strip().partition("=")
        if word == "score" and not number:
            return cls()
        if word == "tile" and number.isdecimal() and len(number) < 10:
            return cls(int(number))
        raise SolvingError(f"{shown(text)} is not a goal: give score, or a tile such as tile=256")

    def __str__(self) -> str:
        return "score" if self.tile is None else f"tile={self.tile}"


@dataclass(frozen=True)
class TileSpawn:
    """A tile that can spawn.

    Attributes:
        tile: Value of the tile.
        known: Rank, probability and points of the tile, for the kernels.
        ends: Value of the board if spawning this tile ends the game, or `None` if the game
            continues.
    """

    tile: int
    known: Tile
    ends: float | None


class Problem:
    """A game to solve: rules, a goal and the starting boards.

    Attributes:
        rules: The rules.
        goal: The goal.
        spec: The rules and the goal, encoded for the kernels.
        spawns: Tiles that can spawn, ascending.
        tiles: Tiles that do not end the game when they spawn.
        boards: Starting boards, all equally likely. By default, the rules determine them.
        for_points: Whether the goal is to maximise points, rather than to reach a tile.

    Raises:
        SolvingError: If the problem cannot be solved; the message gives the reason.
    """

    def __init__(self, rules: Rules, goal: Goal, boards: Sequence[Board] = ()) -> None:
        self.rules, self.goal, self.boards = rules, goal, tuple(boards)
        self.compiled = given = CompiledRules.of(rules)
        self._stop = self._stopping_rank()
        self._check()
        self.for_points = goal.tile is None
        gains = given.sum_points if self.for_points else 0
        self.spawns = [
            TileSpawn(
                tile,
                Tile(np.uint64(rank), float(share), float(gains * tile)),
                float(self.is_reached(rank)) if rank >= self._stop else None,
            )
            for tile, share in rules.spawn_weights.pairs
            for rank in [tile.bit_length() - 1]
        ]
        self.tiles = [spawn.tile for spawn in self.spawns if spawn.ends is None]
        stopped = sum(spawn.known.chance * self._last_gain(spawn) for spawn in self.spawns)
        self.spec = self._spec(stopped)

    def _stopping_rank(self) -> int:
        """Return the rank of the tile at which play stops, or 16 if there is none."""
        tiles = [tile for tile in (self.goal.tile, self.compiled.ending_tile) if tile]
        return min([MAX_RANK + 1, *(tile.bit_length() - 1 for tile in tiles)])

    def _check(self) -> None:
        rules = self.rules
        if isinstance(rules.scoring, MovePoints) and rules.scoring.illegal > 0:
            raise SolvingError(f"{rules.name} pays for illegal moves, so scores have no maximum")
        new = max(rules.spawn_weights.tiles)
        if new >= 1 << MAX_RANK:
            raise SolvingError(
                f"{rules.name} spawns tiles of {new:,}, but only rules with spawned tiles below "
                f"{1 << MAX_RANK:,} can be solved"
            )
        largest = self.largest_rank
        if rules.cells > 16 or largest > MAX_RANK:
            raise SolvingError(
                f"{rules.name} on {rules.rows}x{rules.columns} is too large to be solved: "
                "use a smaller board, such as --size 3x3, or a smaller goal, such as tile=2048"
            )

    @property
    def largest_rank(self) -> int:
        """Upper bound for ranks on boards where the game is not over."""
        tiles = self.rules.spawn_weights.tiles + self.rules.start_weights.tiles
        grown = self.rules.cells + max(tiles).bit_length() - 2
        return grown if self._stop > MAX_RANK else min(self._stop - 1, grown)

    def _spec(self, stopped: float) -> SolverSpec:
        given, width = self.compiled, 4 * self.rules.cells
        table = np.empty(0, np.uint64)
        table.setflags(write=False)
        points = self.for_points
        return SolverSpec(
            rows=np.uint64(given.rows),
            columns=np.uint64(given.columns),
            cells=given.mask,
            across=given.across if given.is_small else table,
            down=given.down if given.is_small else table,
            cascade=given.cascade,
            fixed=given.is_fixed,
            landing=given.landing,
            tile=np.uint64(given.spawn.ranks[0]),
            half=np.uint64(width // 2),
            bits=np.uint64((1 << width) - 1),
            multiplier=np.uint64(MULTIPLIER & (1 << width) - 1),
            inverse=np.uint64(pow(MULTIPLIER, -1, 1 << width)),
            stop=np.uint64(self._stop if self._stop <= MAX_RANK else 0),
            stopped=stopped,
            merge_points=float(given.merge_points * points),
            legal_points=float(given.legal_points * points),
        )

    def pack(self, board: Board) -> np.uint64:
        """Pack a board into a word, four bits per cell.

        Raises:
            BoardError: If the board has the wrong shape or a tile that is too large.
        """
        if board.shape != self.rules.shape:
            raise BoardError(f"the board is {board.shape}, the rules are {self.rules.shape}")
        if board.max_tile > 1 << MAX_RANK:
            raise BoardError(f"no game under {self.rules.name} reaches the tile {board.max_tile}")
        return np.uint64(pack_board(board))

    def starts(self) -> dict[Board, Fraction]:
        """Return the starting positions and their probabilities; symmetric positions are merged.

        Raises:
            SolvingError: If there are too many starting positions.
        """
        if self.boards:
            counts = Counter(map(self._named, self.boards))
            return {board: Fraction(n, len(self.boards)) for board, n in counts.items()}
        start, weights = self.rules.start, self.rules.start_weights.pairs
        found: dict[Board, Fraction] = {}
        now = {Board.empty(*self.rules.shape): Fraction(1)}
        for count in range(1, start.high + 1):
            following: dict[Board, Fraction] = {}
            for board, chance in now.items():
                cells = board.empty_cells()
                for cell, (tile, share) in product(cells, weights):
                    after = self._named(board.with_tile(cell, tile))
                    part = chance * share / len(cells)
                    following[after] = following.get(after, Fraction(0)) + part
            now = following
            if len(now) > MAX_STARTS:
                raise SolvingError(f"{self.rules.name} has more than {MAX_STARTS} starts")
            if count >= start.low:
                part = Fraction(1, start.high - start.low + 1)
                for board, chance in now.items():
                    found[board] = found.get(board, Fraction(0)) + chance * part
        return found

    def expect(
        self, afters: NDArray[np.uint64], known: Callable[[int], Lookup], out: NDArray[np.float64]
    ) -> None:
        """Write the expected values of afterstates that have the same tile sum.

        Args:
            afters: Keys of the afterstates.
            known: Function that returns the successors' lookup table for a spawned tile.
            out: Receives the values, float64 with the shape of `afters`.
        """
        out[:] = 0
        terms = np.empty(16)
        for spawn in self.spawns:
            if spawn.ends is not None:
                out += spawn.known.chance * (spawn.known.gain + spawn.ends)
            elif len(afters):
                kernels.expect(afters, self.spec, spawn.known, known(spawn.tile), out, terms)

    def is_reached(self, rank: int) -> bool:
        """Return whether a tile of this rank fulfils the goal."""
        return self.goal.tile is not None and 1 << rank >= self.goal.tile

    def _last_gain(self, spawn: TileSpawn) -> float:
        """Return the value of a spawn after a move that has ended the game."""
        rank = max(self._stop, int(spawn.known.rank))
        return spawn.known.gain + self.is_reached(rank)

    def stopped_value(self, board: Board) -> float | None:
        """Return the value of a board if play stops there, or `None` if play continues."""
        rank = board.max_tile.bit_length() - 1
        return float(self.is_reached(rank)) if rank >= self._stop else None

    def _named(self, board: Board) -> Board:
        """Return the board's canonical image, or the board itself if spawns are deterministic."""
        return board if self.compiled.is_fixed else Board(canonical(board.rows))


def pack_board(board: Board) -> int:
    """Pack a board into a word, four bits per rank, with the first cell in the lowest bits."""
    tiles = (tile for row in board.rows for tile in row)
    return sum(max(tile.bit_length() - 1, 0) << 4 * cell for cell, tile in enumerate(tiles))


def refusal(rules: Rules, board: Board) -> BoardError:
    """Return the exception for a board that is not reachable under the rules."""
    line = " / ".join(str(board).splitlines())
    return BoardError(f"no game under {rules.name} reaches the board {line}")
