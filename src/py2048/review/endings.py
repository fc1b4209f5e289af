"""`EndingPractice`: practice of endings, with exact probabilities from an endgame table."""

from __future__ import annotations

import random

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError
from py2048.core.game import Game
from py2048.core.rng import checked_seed, derive_seed
from py2048.players import Unit
from py2048.players.solving.formations import CELLS, SIDE
from py2048.players.solving.tables import EndingTable
from py2048.review.moves import Basis, MoveReview, Position, move_review

CHANCE_RANGE = 0.5, 0.95
"""Range of winning chances that make an ending worth practising."""
MAX_ATTEMPTS = 20
"""Maximum number of random positions to try.

If the winning chances of all positions are outside `CHANCE_RANGE`, the closest position is used.
"""
SLIP_SHARE = 0.15
"""Share of random moves before the starting position, to make it resemble human play."""
PROGRESS_RANGE = 0.2, 0.9
"""Range of the sum of the small tiles when practice starts, as a fraction of the target."""
MAX_TILE = 1 << 17
"""Largest tile possible on a 4x4 board."""


class EndingPractice:
    """An ending that the player practises.

    Attributes:
        table: The endgame table.
        game: The game. Call `play` to make moves.
        start: Probability of reaching the target from the starting position with best play.
        kept: Fraction of the winning probability that the player's moves have preserved, which is 1
            after optimal play.
    """

    def __init__(self, table: EndingTable, board: Board, seed: int) -> None:
        self.table = table
        self.game = Game(table.rules, seed=seed, board=board)
        self.start = table.chance_of(board)
        self.kept = 1.0

    @classmethod
    def deal(cls, table: EndingTable, seed: int) -> EndingPractice:
        """Generate an ending. The same seed always gives the same ending."""
        draws = random.Random(checked_seed(seed))
        candidates: list[tuple[float, Board]] = []
        for attempt in range(MAX_ATTEMPTS):
            board = _position(table, draws, derive_seed(seed, attempt))
            chance = table.chance_of(board)
            candidates.append((abs(chance - sum(CHANCE_RANGE) / 2), board))
            if CHANCE_RANGE[0] <= chance <= CHANCE_RANGE[1]:
                break
        _, board = min(candidates, key=lambda each: each[0])
        return cls(table, board, derive_seed(seed, MAX_ATTEMPTS))

    @property
    def chance(self) -> float:
        """Probability of reaching the target with best play, or 1 if the target was reached."""
        try:
            return self.table.chance_of(self.game.board)
        except BoardError:  # the position left the formation
            return 0.0

    @property
    def is_made(self) -> bool:
        """Whether the target was reached in a cell that the endgame table accepts."""
        return self.chance == 1 and not self.table.holds(self.game.board)

    @property
    def is_over(self) -> bool:
        """Whether the target has been reached or cannot be reached any more."""
        return self.is_made or not self.chance

    def play(self, direction: Direction) -> MoveReview:
        """Play a move and return its review.

        Raises:
            IllegalMoveError: If the direction is illegal. Illegal directions do not change the
                game.
        """
        game = self.game
        at = Position(game.ply + 1, game.board, game.score, direction)
        values = self.table.move_chances(at.board)
        game.play(direction)
        move = move_review(at, values, Unit.CHANCE, Basis(self.table.name))
        self.kept *= 1 - move.share
        return move


def _position(table: EndingTable, draws: random.Random, seed: int) -> Board:
    """Return a random position from which the target can still be reached."""
    ending = EndingPractice(table, _first_board(table, draws), seed)
    min_sum = table.target * draws.uniform(*PROGRESS_RANGE)
    board = ending.game.board
    while sum(tile for row in board.rows for tile in row if tile < table.target) < min_sum:
        chances = {each: chance for each, chance in table.move_chances(board).items() if chance}
        best = max(chances, key=chances.__getitem__, default=None)
        if best is None:
            break
        ending.game.play(draws.choice(list(chances)) if draws.random() < SLIP_SHARE else best)
        if ending.is_over:
            break
        board = ending.game.board
    return board


def _first_board(table: EndingTable, draws: random.Random) -> Board:
    """Return a starting board with the large tiles that the table needs, and a few small tiles."""
    formation = table.formation
    locked = [cell for cell in range(CELLS) if formation.locks[0] >> cell & 1]
    others = [cell for cell in reversed(range(CELLS)) if cell not in locked]
    cells = sorted([*locked, *others[: formation.larges - len(locked)]])
    smallest = table.target if table.target << len(cells) > MAX_TILE else 2 * table.target
    tiles = [0] * CELLS
    for place, cell in enumerate(cells):
        tiles[cell] = smallest << place
    weights = table.rules.spawn_weights
    shares = [float(share) for _, share in weights.pairs]
    free = [cell for cell in range(CELLS) if not tiles[cell]]
    for cell in draws.sample(free, min(2, len(free) - 1)):
        tiles[cell] = draws.choices(weights.tiles, shares)[0]
    return Board.from_rows([tiles[first : first + SIDE] for first in range(0, CELLS, SIDE)])
