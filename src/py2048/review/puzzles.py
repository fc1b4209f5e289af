"""Puzzles: positions with a clearly best move, and the puzzle ratings of players.

`scripts/mine_puzzles.py` created the puzzles and describes how they were found, evaluated and
rated.
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
from py2048.review.moves import Basis, MoveReview, Position, move_review
from py2048.review.reasons import ReasonKind

PACK = Path(__file__).resolve().parent / "data" / "puzzles.txt"
"""The puzzles, one per line and sorted by rating.

Each line starts with a puzzle's number, rating, theme and preset. The ranks of the
tiles follow, row by row, and then the values of up, down, left and right.
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
"""Placeholder for the value of an illegal move and for a missing reason."""

GOLDEN_SECTION = 0.618033988749895
"""Step from one daily puzzle to the next, as a fraction of the sorted list of puzzles."""


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A position in which one move is clearly the best.

    Attributes:
        id: Number of the puzzle, which is never reused for another puzzle.
        rules: Rules of the game.
        board: The position.
        best: The best move.
        values: Expected points of each legal direction, including the points of the move, best
            first.
        rating: Initial difficulty of the puzzle, on the same scale as player ratings.
        theme: Reason why the most tempting wrong move is worse, or None if playouts show no reason.
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
        """The puzzle's initial rating, before any answers."""
        return Rating(self.rating, PACK_DEVIATION)

    def graded(self, direction: Direction) -> MoveReview:
        """Review a legal direction. Losses are relative to the best move's expected points."""
        at = Position(1, self.board, played=direction)
        return move_review(at, self.values, Unit.POINTS, Basis(self.source))


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
    """Return the puzzle of a day. No puzzle repeats before all others have been used.

    Puzzles are sorted by difficulty. The index advances by about 61.8 % of the list each day, so
    easy and hard puzzles alternate.
    """
    return puzzles()[day.toordinal() * _daily_step() % len(puzzles())]


def pack() -> dict[str, object]:
    """Return the puzzles and the parameters of `daily_puzzle` as JSON values.

    The puzzle of the day has the index ``(days since 1970 * step + offset) % count``.
    """
    offset = date(1970, 1, 1).toordinal() * _daily_step() % len(puzzles())
    return {"step": _daily_step(), "offset": offset, "puzzles": [*map(_row, puzzles())]}


def _row(puzzle: Puzzle) -> list[object]:
    values = {str(direction): value for direction, value in puzzle.values.items()}
    return [puzzle.id, puzzle.rating, puzzle.theme, puzzle.rules.name, puzzle.board.rows, values]


def _daily_step() -> int:
    count = len(puzzles())
    return next(
        step for step in range(round(GOLDEN_SECTION * count), 2 * count) if gcd(step, count) == 1
    )


def _parse(line: str) -> Puzzle:
    number, rating, theme, rules, ranks, *texts = line.split()
    # Rank 0 is an empty cell.
    tiles = [[1 << RANKS.index(digit) & ~1 for digit in row] for row in ranks.split("/")]
    points = zip(Direction, texts, strict=True)
    legal = [(direction, float(text)) for direction, text in points if text != NOTHING]
    values = dict(sorted(legal, key=lambda value: -value[1]))
    best, board = next(iter(values)), Board.from_rows(tiles)
    return Puzzle(
        int(number), get_rules(rules), board, best, values, int(rating), kind_of_theme(theme)
    )


def kind_of_theme(theme: str) -> ReasonKind | None:
    """Return a stored theme as a `ReasonKind`, or `None` if this version does not know it."""
    return ReasonKind(theme) if theme in set(ReasonKind) else None


# --- ratings -------------------------------------------------------------------------------------

_Q = log(10) / 400  # Glicko's q

MIN_DEVIATION = 50.0
"""Minimum rating deviation, which keeps ratings responsive to improvement."""


PACK_DEVIATION = 200.0
"""Rating deviation of the shipped puzzles, whose ratings come from a player model."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The Glicko rating [1] of a player or puzzle.

    Each answer counts as a match of the player against the puzzle. Source: [1] M. E. Glickman,
    Parameter estimation in large dynamic paired comparison experiments, Applied Statistics 48,
    1999, also at glicko.net/glicko/glicko.pdf.

    Attributes:
        rating: The rating. New players start at 1500.
        deviation: Standard deviation of the rating.
    """

    rating: float = 1500.0
    deviation: float = 350.0

    def after(self, other: Rating, *, has_won: bool) -> Rating:
        """Return the new rating after a game against an opponent."""
        weight = (1 + 3 * (_Q * other.deviation / pi) ** 2) ** -0.5
        chance = 1 / (1 + 10 ** (weight * (other.rating - self.rating) / 400))
        certainty = 1 / self.deviation**2 + (_Q * weight) ** 2 * chance * (1 - chance)
        rating = self.rating + _Q * weight / certainty * (has_won - chance)
        return Rating(rating, max(certainty**-0.5, MIN_DEVIATION))
