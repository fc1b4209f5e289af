"""`PuzzleRating`: how well a player solves puzzles, by Glicko.

An answer is a game against the puzzle, whose rating is taken as exact. Source: M. E. Glickman,
Parameter estimation in large dynamic paired comparison experiments, Applied Statistics 48, 1999,
also at glicko.net/glicko/glicko.pdf.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_Q = math.log(10) / 400

LEAST_DEVIATION = 50.0
"""A rating never gets more certain, so that it follows a player who improves."""


@dataclass(frozen=True, slots=True)
class PuzzleRating:
    """A player's rating, on the scale of the puzzles'.

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
        return PuzzleRating(rating, max(certainty**-0.5, LEAST_DEVIATION))
