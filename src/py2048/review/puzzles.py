"""Puzzles: positions from games in which one move is clearly the best, and who solves them.

The pack that comes with py2048 was mined by `scripts/mine_puzzles.py`, which says how the
positions were found, valued and rated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from math import gcd, log
from pathlib import Path

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import Py2048Error
from py2048.core.rules import Rules, get_rules
from py2048.players import Unit
from py2048.review.moves import Basis, MoveReview, move_review
from py2048.review.themes import Theme

PACK = Path(__file__).resolve().parent / "data" / "puzzles.txt"
"""One line for each puzzle, in the order of the ratings: its number, its rating, its theme, a
preset, the ranks of the tiles row by row, and the values up, down, left and right."""

SOURCES = {
    "classic": "expectimax:depth=4",
    "comp1127": "expectimax:depth=4",
    "5x5": "expectimax:depth=3",
    "3x3": "exact",
}
"""What valued the moves of the puzzles, by preset."""

RANKS = "0123456789abcdefghijklmnopqrstuv"
"""The digits that stand for the ranks of tiles."""

ILLEGAL = "-"
"""What stands for the value of an illegal move."""

GOLDEN = 0.618033988749895
"""The share of the pack between the puzzles of two days."""


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A position in which one move is clearly the best.

    Attributes:
        id: its number; another version of py2048 gives it to no other puzzle.
        rules: the rules.
        board: the position.
        best: the best move.
        values: of each legal direction, the points to come, the move's own included.
        rating: how hard it is, on the scale of the players' ratings.
        theme: what kind of mistake the move is that players make most often instead.
    """

    id: int
    rules: Rules
    board: Board
    best: Direction
    values: Mapping[Direction, float]
    rating: int
    theme: Theme

    @property
    def source(self) -> str:
        """What valued the moves."""
        return SOURCES[self.rules.name]

    def graded(self, direction: Direction) -> MoveReview:
        """Return what a legal direction is worth against the best one.

        What it loses is a share of the points to come.
        """
        basis = Basis(self.source)
        return move_review(1, self.board, 0, direction, self.values, 0.0, Unit.POINTS, basis)


@cache
def puzzles() -> tuple[Puzzle, ...]:
    """Return the puzzles that come with py2048, the easiest first."""
    lines = PACK.read_text(encoding="ascii").splitlines()
    return tuple(_parse(line) for line in lines if not line.startswith("#"))


def get_puzzle(number: int) -> Puzzle:
    """Return the puzzle with this number.

    Raises:
        Py2048Error: if there is none.
    """
    known = {puzzle.id: puzzle for puzzle in puzzles()}
    if number not in known:
        raise Py2048Error(f"no puzzle has the number {number}: give {min(known)} to {max(known)}")
    return known[number]


def daily_puzzle(day: date) -> Puzzle:
    """Return the puzzle of a day; as many days as there are puzzles have different ones.

    Consecutive days are about the golden section of the pack apart, so that the puzzles of any
    few days are easy and hard ones.
    """
    count = len(puzzles())
    step = next(step for step in range(round(GOLDEN * count), 2 * count) if gcd(step, count) == 1)
    return puzzles()[day.toordinal() * step % count]


def _parse(line: str) -> Puzzle:
    number, rating, theme, rules, ranks, *texts = line.split()
    # Rank 0 is an empty cell.
    tiles = [[1 << RANKS.index(digit) & ~1 for digit in row] for row in ranks.split("/")]
    values = {
        direction: float(text)
        for direction, text in zip(Direction, texts, strict=True)
        if text != ILLEGAL
    }
    best = max(values, key=values.__getitem__)
    board = Board.from_rows(tiles)
    return Puzzle(int(number), get_rules(rules), board, best, values, int(rating), Theme(theme))


# --- ratings -------------------------------------------------------------------------------------

_Q = log(10) / 400

MIN_DEVIATION = 50.0
"""A rating never gets more certain, so that it follows a player who improves."""


@dataclass(frozen=True, slots=True)
class PuzzleRating:
    """How well a player solves puzzles, by Glicko [1], on the scale of the puzzles.

    An answer is a game against the puzzle, whose rating is taken as exact.

    [1] M. E. Glickman, Parameter estimation in large dynamic paired comparison experiments, Applied
    Statistics 48, 1999, also at glicko.net/glicko/glicko.pdf.

    Attributes:
        rating: the rating, 1500 for somebody unknown.
        deviation: the standard deviation of the rating.
    """

    rating: float = 1500.0
    deviation: float = 350.0

    def chance(self, puzzle: float) -> float:
        """Return the chance to solve a puzzle with a rating."""
        return float(1 / (1 + 10 ** ((puzzle - self.rating) / 400)))

    def after(self, puzzle: float, *, is_solved: bool) -> PuzzleRating:
        """Return the rating after an answer to a puzzle with a rating."""
        chance = self.chance(puzzle)
        certainty = 1 / self.deviation**2 + _Q**2 * chance * (1 - chance)
        rating = self.rating + _Q / certainty * (is_solved - chance)
        return PuzzleRating(rating, max(certainty**-0.5, MIN_DEVIATION))
