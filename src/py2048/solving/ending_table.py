"""`EndingTable`: what a table of endings knows of a board, however it stores its chances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import ClassVar

import numpy as np

from py2048.board import Board
from py2048.direction import Direction
from py2048.errors import BoardError
from py2048.rules import Rules
from py2048.solving import _table_kernels as kernels
from py2048.solving.formations import SIDE
from py2048.solving.positions import LARGE, Positions, large_cells


class EndingTable(ABC):
    """The chance to make a tile from positions of a formation.

    Attributes:
        formation: the formation.
        target: the tile to be made.
        rules: the rules.
    """

    error: ClassVar[float]
    """No chance differs from the exact one by more."""

    def __init__(self, positions: Positions) -> None:
        self._positions = positions
        self.formation, self.target = positions.formation, positions.target
        self.rules = positions.rules
        self._turns = lru_cache(maxsize=1 << 12)(self._turns_of)

    def serves(self, rules: Rules) -> bool:
        """Whether the chances are those of games under these rules."""
        return _chances_of(rules) == _chances_of(self.rules)

    @property
    def name(self) -> str:
        """The formation and the target."""
        return self._positions.name

    def holds(self, board: Board) -> bool:
        """Whether a board is in the formation, in any symmetric image, its target not yet made."""
        views = self._views(board)
        return bool(views) and not any(self._is_made(view) for view in views)

    def chance_of(self, board: Board) -> float:
        """Return the chance to make the target from a board on, under best play.

        Raises:
            BoardError: if the board is not in the formation, in any symmetric image.
            SolvingError: if the file is damaged.
        """
        if any(self._is_made(view) for view in self._checked_views(board)):
            return 1.0
        return max(self.move_chances(board).values(), default=0.0)

    def move_chances(self, board: Board) -> dict[Direction, float]:
        """Return the chance after each legal move, 0 where it breaks the formation.

        Raises:
            BoardError: if the board is not in the formation, in any symmetric image.
            SolvingError: if the file is damaged.
        """
        found: dict[Direction, float] = {}
        for view in self._checked_views(board):
            for direction, chance in self._afters(*view).items():
                found[direction] = max(chance, found.get(direction, 0.0))
        return found

    def best(self, board: Board) -> Direction | None:
        """Return the best move, the first of several in the order of `Direction`; `None` at an end.

        Raises:
            BoardError: if the board is not in the formation, in any symmetric image.
            SolvingError: if the file is damaged.
        """
        chances = self.move_chances(board)
        return max(chances, key=chances.__getitem__) if chances else None

    def _afters(self, board: int, turn: int) -> dict[Direction, float]:
        """Return the chance after each legal move on a packed board, seen turned."""
        slid = np.empty(4, np.uint64)
        kernels.afterstates(np.uint64(board), self._positions.spec.lines, slid)
        return {
            direction: self._chance(self._turned(int(after), turn))
            for direction, after in zip(Direction, slid, strict=True)
            if after != board
        }

    def _chance(self, after: int) -> float:
        """Return the chance of an afterstate."""
        positions = self._positions
        if not positions.holds(after):
            return 0.0
        if positions.is_made(after):
            return 1.0
        total = positions.sum_of(after)
        if total > positions.limit:
            return 0.0
        return self._stored(total, positions.place_of(after))

    @abstractmethod
    def _stored(self, total: int, place: int) -> float:
        """Return the chance of the afterstate at a place of a layer."""

    def _views(self, board: Board) -> list[tuple[int, int]]:
        """Return the board with large tiles all alike, and how to turn it to the formation."""
        return [
            (packed, turn)
            for packed in self._masked(board)
            for turn in self._turns(large_cells(packed))
        ]

    def _turns_of(self, larges: int) -> tuple[int, ...]:
        """Return how the formation comes of the cells with large tiles."""
        return tuple(
            turn for turn in range(8) if self._positions.holds(self._turned(larges * LARGE, turn))
        )

    def _checked_views(self, board: Board) -> list[tuple[int, int]]:
        """Return the views of a board that is in the formation."""
        views = self._views(board)
        if not views:
            line = " / ".join(str(board).splitlines())
            formation = self.formation
            raise BoardError(
                f"the board {line} is not in the formation {formation.name}: {formation.larges} "
                f"different tiles of {self.target} or more must stand as py2048 tables list shows"
            )
        return views

    def _is_made(self, view: tuple[int, int]) -> bool:
        return self._positions.is_made(self._turned(*view))

    @staticmethod
    def _turned(board: int, turn: int) -> int:
        return int(kernels.turned(np.uint64(board), turn))

    def _masked(self, board: Board) -> Iterator[int]:
        """Yield the board packed, with large tiles all alike, for each choice of them."""
        if board.shape != (SIDE, SIDE):
            raise BoardError(f"the board is {board.shape}, tables are for 4x4")
        tiles = [tile for row in board.rows for tile in row]
        larger = [cell for cell, tile in enumerate(tiles) if tile > self.target]
        equal = [cell for cell, tile in enumerate(tiles) if tile == self.target]
        missing = self.formation.larges - len(larger)
        if len({tiles[cell] for cell in larger}) < len(larger) or missing not in (0, 1):
            return
        for chosen in combinations(equal, missing):
            yield sum(
                (LARGE if cell in (*larger, *chosen) else max(tile.bit_length() - 1, 0)) << 4 * cell
                for cell, tile in enumerate(tiles)
            )


def _chances_of(rules: Rules) -> tuple[object, ...]:
    """Return what of rules the chances depend on."""
    return rules.shape, rules.spawn, rules.merging, rules.ends_at_target
