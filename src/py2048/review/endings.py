"""`EndingPractice`: an ending played against its table, with the true chance of every move."""

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
from py2048.review.moves import Basis, MoveReview, move_review

WORTHWHILE = 0.5, 0.95
"""The chances between which a start is practised: neither lost nor sure."""
ATTEMPTS = 20
"""How many starts are tried for one between them; then the nearest is taken."""
SLIPS = 0.15
"""The share of moves before the start that are any that do not lose, as in games of people."""
PROGRESS = 0.2, 0.9
"""Between these shares of the target is the sum of the small tiles at the start."""
MAX_TILE = 1 << 17
"""The largest tile that a game on 4x4 can have."""


class EndingPractice:
    """An ending that is played to its end.

    Attributes:
        table: its table.
        game: the game, to be read; `play` plays it.
        start: the chance to make the target at the start, under best play.
        kept: the share of the chances that the moves kept: 1 if each was the best.
    """

    def __init__(self, table: EndingTable, board: Board, seed: int) -> None:
        self.table = table
        self.game = Game(table.rules, seed=seed, board=board)
        self.start = table.chance_of(board)
        self.kept = 1.0

    @classmethod
    def deal(cls, table: EndingTable, seed: int) -> EndingPractice:
        """Return an ending to practise; the same seed gives the same one."""
        draws = random.Random(checked_seed(seed))
        found: list[tuple[float, Board]] = []
        for attempt in range(ATTEMPTS):
            board = _position(table, draws, derive_seed(seed, attempt))
            chance = table.chance_of(board)
            found.append((abs(chance - sum(WORTHWHILE) / 2), board))
            if WORTHWHILE[0] <= chance <= WORTHWHILE[1]:
                break
        _, board = min(found, key=lambda each: each[0])
        return cls(table, board, derive_seed(seed, ATTEMPTS))

    @property
    def chance(self) -> float:
        """The chance to make the target from here, under best play; 1 once it is made."""
        try:
            return self.table.chance_of(self.game.board)
        except BoardError:  # the formation is broken
            return 0.0

    @property
    def is_made(self) -> bool:
        """Whether the target stands beside the large tiles, where it counts."""
        return self.chance == 1 and not self.table.holds(self.game.board)

    @property
    def is_over(self) -> bool:
        """Whether the target is made, or cannot be any more."""
        return self.is_made or not self.chance

    def play(self, direction: Direction) -> MoveReview:
        """Play a move; return what it and the others were worth.

        Raises:
            IllegalMoveError: if the direction is not legal; nothing has changed then.
        """
        board, score = self.game.board, self.game.score
        values = self.table.move_chances(board)
        self.game.play(direction)
        basis = Basis(self.table.name)
        move = move_review(self.game.ply, board, score, direction, values, 0.0, Unit.CHANCE, basis)
        self.kept *= 1 - move.share
        return move


def _position(table: EndingTable, draws: random.Random, seed: int) -> Board:
    """Return a position on the way to the target, from which it can be made."""
    ending = EndingPractice(table, _first_board(table, draws), seed)
    wanted = table.target * draws.uniform(*PROGRESS)
    board = ending.game.board
    while sum(tile for row in board.rows for tile in row if tile < table.target) < wanted:
        chances = {each: chance for each, chance in table.move_chances(board).items() if chance}
        best = max(chances, key=chances.__getitem__, default=None)
        if best is None:
            break
        ending.game.play(draws.choice(list(chances)) if draws.random() < SLIPS else best)
        if ending.is_over:
            break
        board = ending.game.board
    return board


def _first_board(table: EndingTable, draws: random.Random) -> Board:
    """Return the large tiles of the formation, in order, and the first new tiles."""
    formation = table.formation
    locked = [cell for cell in range(CELLS) if formation.locks[0] >> cell & 1]
    others = [cell for cell in reversed(range(CELLS)) if cell not in locked]
    cells = sorted([*locked, *others[: formation.larges - len(locked)]])
    least = table.target if table.target << len(cells) > MAX_TILE else 2 * table.target
    tiles = [0] * CELLS
    for place, cell in enumerate(cells):
        tiles[cell] = least << place
    weights = table.rules.spawn_weights
    shares = [float(share) for _, share in weights.pairs]
    free = [cell for cell in range(CELLS) if not tiles[cell]]
    for cell in draws.sample(free, min(2, len(free) - 1)):
        tiles[cell] = draws.choices(weights.tiles, shares)[0]
    return Board.from_rows([tiles[first : first + SIDE] for first in range(0, CELLS, SIDE)])
