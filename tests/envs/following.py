"""A `Game` that follows an environment, action by action."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048 import Board, Direction, Game


def exponents_of(board: Board) -> NDArray[np.uint8]:
    """Return the board as an environment observes it."""
    return np.array([[t.bit_length() - 1 if t else 0 for t in row] for row in board.rows], np.uint8)


def mask_of(game: Game) -> list[int]:
    """Return the correct action mask of a game's position."""
    legal = game.legal_directions()
    return [int(direction in legal) for direction in Direction]


def board_of(exponents: NDArray[np.uint8]) -> Board:
    """Convert an observation to a board."""
    return Board([[1 << int(e) if e else 0 for e in row] for row in exponents])
