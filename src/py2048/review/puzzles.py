"""Puzzles, which are positions with a clearly best move, and players' puzzle ratings.

`scripts/mine_puzzles.py` mined the puzzles and documents how they were found, evaluated and rated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from math import gcd, log, pi
from pathlib import Path

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import Py2048Error
from py2048.core.rules import Rules, get_rules
from py2048.players import Unit
from py2048.review.moves import Basis, MoveReview, move_review
from py2048.review.reasons import ReasonKind

PACK = Path(__file__).resolve().parent / "data" / "puzzles.txt"
"""The puzzles, one per line and sorted by rating.

The columns are number, rating, kind of reason, preset, tile ranks row by row, and the values of
up, down, left and right.
"""

SOURCES = {
    "classic": "expectimax:depth=4",
    "comp1127": "expectimax:depth=4",
    "5x5": "expectimax:depth=3",
    "3x3": "exact",
}
"""The player that evaluated the puzzles of each preset."""

RANKS = "0123456789abcdefghijklmnopqrstuv"
"""Digits of tile ranks."""

NOTHING = "-"
"""Marks the value of an illegal move, and a missing reason."""

GOLDEN_SECTION = 0.618033988749895
"""Distance between the puzzles of consecutive days, as a share of the pack."""


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A position with a clearly best move.

    Attributes:
        id: Number, which other versions of py2048 never reuse for another puzzle.
        rules: Rules of the game.
        board: The position.
        best: The best move.
        values: Expected further points of each legal direction, including the move's own.
        rating: Difficulty before anyone has answered, on the same scale as player ratings.
        theme: What is wrong with the most tempting wrong move, if games played on show it.
    """

    id: int
    rules: Rules
    board: Board
    best: Direction
    values: Mapping[Direction, float]
    rating: int
    theme: ReasonKind | None

    @property
    def source(self) -> str:
        """The player that evaluated the moves."""
        return SOURCES[self.rules.name]

    @property
    def strength(self) -> Rating:
        """The puzzle's rating before anyone has answered it."""
        return Rating(self.rating, PACK_DEVIATION)

    def graded(self, direction: Direction) -> MoveReview:
        """Review a legal direction; its loss is a share of the expected further points."""
        basis = Basis(self.source)
        return move_review(1, self.board, 0, direction, self.values, 0.0, Unit.POINTS, basis)


@cache
def puzzles() -> tuple[Puzzle, ...]:
    """Return the puzzles shipped with py2048, sorted by difficulty."""
    lines = PACK.read_text(encoding="ascii").splitlines()
    return tuple(_parse(line) for line in lines if not line.startswith("#"))


def get_puzzle(number: int) -> Puzzle:
    """Return the puzzle with this number.

    Raises:
        Py2048Error: If no puzzle has this number.
    """
    by_number = {puzzle.id: puzzle for puzzle in puzzles()}
    if number not in by_number:
        first, last = min(by_number), max(by_number)
        raise Py2048Error(f"no puzzle has the number {number}: give another, {first} to {last}")
    return by_number[number]


def daily_puzzle(day: date) -> Puzzle:
    """Return the puzzle of a day; puzzles repeat only after all have been used.

    Each day moves on by about a golden section of the sorted pack, so that a few consecutive days
    mix easy and hard puzzles.
    """
    count = len(puzzles())
    step = next(
        step for step in range(round(GOLDEN_SECTION * count), 2 * count) if gcd(step, count) == 1
    )
    return puzzles()[day.toordinal() * step % count]


def _parse(line: str) -> Puzzle:
    number, rating, theme, rules, ranks, *texts = line.split()
    # Rank 0 is an empty cell.
    tiles = [[1 << RANKS.index(digit) & ~1 for digit in row] for row in ranks.split("/")]
    values = {
        direction: float(text)
        for direction, text in zip(Direction, texts, strict=True)
        if text != NOTHING
    }
    best = max(values, key=values.__getitem__)
    board = Board.from_rows(tiles)
    return Puzzle(
        int(number), get_rules(rules), board, best, values, int(rating), kind_of_theme(theme)
    )


def kind_of_theme(theme: str) -> ReasonKind | None:
    """Return the reason that a stored theme names; earlier versions had themes without one."""
    return ReasonKind(theme) if theme in set(ReasonKind) else None


# --- ratings -------------------------------------------------------------------------------------

_Q = log(10) / 400  # Glicko's q

MIN_DEVIATION = 50.0
"""Minimum deviation, which keeps a rating responsive to improvement."""


PACK_DEVIATION = 200.0
"""Deviation of the ratings in the pack, which come from a model of players."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The rating of a player or of a puzzle, by Glicko [1].

    An answer counts as a game between the two. Source: [1] M. E. Glickman, Parameter estimation in
    large dynamic paired comparison experiments, Applied Statistics 48, 1999, also at
    glicko.net/glicko/glicko.pdf.

    Attributes:
        rating: The rating; new players start at 1500.
        deviation: Standard deviation of the rating.
    """

    rating: float = 1500.0
    deviation: float = 350.0

    def after(self, other: Rating, *, has_won: bool) -> Rating:
        """Return the rating after a game against another one."""
        weight = (1 + 3 * (_Q * other.deviation / pi) ** 2) ** -0.5
        chance = 1 / (1 + 10 ** (weight * (other.rating - self.rating) / 400))
        certainty = 1 / self.deviation**2 + (_Q * weight) ** 2 * chance * (1 - chance)
        rating = self.rating + _Q * weight / certainty * (has_won - chance)
        return Rating(rating, max(certainty**-0.5, MIN_DEVIATION))
