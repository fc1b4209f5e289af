"""`GameState`: everything about a game in progress, to keep, compare and come back to."""

from __future__ import annotations

from typing import NamedTuple

from py2048.board import Board
from py2048.errors import BoardError
from py2048.rules import Rules


class GameState(NamedTuple):
    """A game in progress: immutable, hashable, picklable.

    Restoring it and repeating the actions repeats the game, because the spawns follow from `seed`
    and `ply`. For other spawns from the same board give it another seed:
    ``state._replace(seed=5)``.

    Attributes:
        exponents: the base-2 logarithm of each tile in row-major order, 0 for an empty cell.
        score: the points so far.
        ply: the number of legal moves so far.
        seed: the seed of this game, as of `py2048.Game`.
    """

    exponents: bytes
    score: int
    ply: int
    seed: int

    @classmethod
    def of(cls, board: Board, *, score: int = 0, ply: int = 0, seed: int = 0) -> GameState:
        """Return the state in which a game stands on `board`."""
        tiles = [tile for row in board.rows for tile in row]
        return cls(bytes(tile.bit_length() - 1 if tile else 0 for tile in tiles), score, ply, seed)

    def board(self, rules: Rules) -> Board:
        """Return the board, whose shape the rules know."""
        tiles = [1 << exponent if exponent else 0 for exponent in self.exponents]
        starts = range(0, rules.cells, rules.columns)
        return Board([tiles[start : start + rules.columns] for start in starts])

    def check(self, rules: Rules, largest: int) -> None:
        """Check that the state can occur under `rules`, whose largest exponent is `largest`.

        Raises:
            BoardError: if it has another number of cells, or a tile that cannot be reached.
        """
        if len(self.exponents) != rules.cells:
            raise BoardError(
                f"the state has {len(self.exponents)} cells, the board of {rules.name} "
                f"{rules.rows}x{rules.columns}"
            )
        if max(self.exponents) > largest:
            raise BoardError(
                f"the state has a tile 2**{max(self.exponents)}; under the rules {rules.name} "
                f"none can exceed 2**{largest}"
            )
