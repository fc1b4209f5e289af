"""Levels of players: how far they misjudge moves, and which tile each level plays for.

A player of level ``s`` judges each move anew in every position: the points of its slide plus the
small network's value of the board after it, times ``1 + s * x`` with a uniformly random ``x`` from
-1 to 1. The move that is judged best is played. `scripts/make_levels.py` simulates these players
and writes how many of their games make each tile to ``data/levels.json``. How well the model
predicts people's moves is in ``docs/explanation/review.md``; `benchmarks/people.py` measures it.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from math import log
from pathlib import Path
from typing import NamedTuple

from py2048.core.board import Board
from py2048.core.errors import PlayerError, RulesError, unknown
from py2048.core.rules import Rules, get_rules

TABLE = Path(__file__).resolve().parent / "data" / "levels.json"
"""For each preset and slip: the median score, and the share of games that made each tile."""

CERTAIN = 0.9
"""Tiles that at least this share of games make are not goals."""

PERFECT = "perfect"
"""Text for judging by the best possible play instead of a level."""

MAX_SLIP = 0.9
PRIOR_SLIP = 0.1
PRIOR_GAMES = 5
MAX_GAMES = 50
"""Number of a player's last games that count."""

UNSEEN = 1e-4
"""Added to the probability of each largest tile, because rare ones were not simulated."""

Table = dict[float, dict[int, float]]
"""Share of games that make each tile, by slip; both ascending."""


class Level(NamedTuple):
    """A player model.

    Attributes:
        name: Name in English, empty if the slip has none.
        slip: By how much the player misjudges moves at most, as a share of each move's value.
    """

    name: str
    slip: float

    def __str__(self) -> str:
        """Return the text that `parse_level` reads."""
        return self.name.lower() or f"{self.slip:g}"


LEVELS = (
    Level("Beginner", 0.3),
    Level("Casual", 0.2),
    Level("Practised", 0.1),
    Level("Strong", 0.05),
    Level("Expert", 0.02),
)

SLIPS = tuple(round(PRIOR_SLIP * 1.1**step, 4) for step in range(-24, 24))
"""Slips among which `fit_level` chooses, 0.0102 to 0.8954."""


class Goals(NamedTuple):
    """The tiles that a player is playing for.

    Attributes:
        tile: The next tile that the player's level does not make almost always.
        next_tile: The goal once that tile is made; the same tile if making it ends the game.
    """

    tile: int
    next_tile: int


class TileShare(NamedTuple):
    """How many games made a tile.

    Attributes:
        tile: The tile.
        observed: Share of a player's games that made it.
        expected: Share of the level's games that made it.
    """

    tile: int
    observed: float
    expected: float


def level_of(slip: float) -> Level:
    """Return the level with this slip, with its name if it has one."""
    return next((level for level in LEVELS if level.slip == slip), Level("", slip))


def parse_level(text: str) -> Level | None:
    """Parse the name of a level, or a slip such as ``0.15``. Returns `None` for ``perfect``.

    Callers resolve ``me``, which is one of the choices in error messages.

    Raises:
        PlayerError: If the text is neither, or the slip is not above 0 and at most 0.9.
    """
    word = text.strip().lower()
    if word == PERFECT:
        return None
    names = {str(level): level for level in LEVELS}
    if word in names:
        return names[word]
    choices = f"me, {', '.join(names)}, {PERFECT}, or a slip above 0, at most {MAX_SLIP}"
    try:
        slip = float(word)
    except ValueError:
        raise PlayerError(
            f"level {unknown(text, [*names, PERFECT], ';')} choose {choices}"
        ) from None
    if not 0 < slip <= MAX_SLIP:
        raise PlayerError(f"a slip of {text} is out of range; choose {choices}")
    return level_of(slip)


# --- goals ---------------------------------------------------------------------------------------


def goal_of(rules: Rules, level: Level, board: Board) -> Goals:
    """Return the goal of a level's player on a board.

    Goals are a fixed sequence for each level: the first is the smallest tile that fewer than 90 %
    of games make, and the next is the smallest tile that fewer than 90 % of the games that made the
    last goal make. The board's goal is the first above its largest tile, so a goal stays until it
    is made. Beyond the tiles that the level ever makes, the goal is the next tile.
    """
    limit = rules.target if rules.target and rules.ends_at_target else 1 << 62
    above = (min(tile, limit) for tile in _goals(rules, level) if tile > board.max_tile)
    return Goals(*islice(above, 2))


def _goals(rules: Rules, level: Level) -> Iterator[int]:
    """Yield the goals of a level, ascending without end."""
    made = made_shares(rules, level)
    tile, share = 2, 1.0
    while True:
        tile *= 2
        if made.get(tile, 0.0) < CERTAIN * share or not share:
            share = made.get(tile, 0.0)
            yield tile


def made_shares(rules: Rules, level: Level) -> Mapping[int, float]:
    """Return the share of a level's games that make each tile, interpolated between slips.

    Rules without a table are simulated. The result is empty if that would take too long.
    """
    table = _tables().get(rules.objective)
    if not table:
        # NumPy and the players import too slowly for a screen's first frame.
        from py2048.review.simulation import simulated_shares

        return simulated_shares(rules, level.slip)
    slips = list(table)
    slip = min(max(level.slip, slips[0]), slips[-1])
    upper = min(bisect(slips, slip), len(slips) - 1)
    low, high = slips[upper - 1], slips[upper]
    weight = (slip - low) / (high - low)
    return {
        tile: share + weight * (table[high][tile] - share) for tile, share in table[low].items()
    }


def has_table(rules: Rules) -> bool:
    """Return whether players of every level were simulated under these rules."""
    return rules.objective in _tables()


@cache
def _tables() -> dict[tuple[object, ...], Table]:
    """Return the tables by the rules' objective; all rows of a table have the same tiles."""
    tables: dict[tuple[object, ...], Table] = {}
    for name, preset in json.loads(TABLE.read_text(encoding="ascii")).items():
        rows = {float(slip): row["made"] for slip, row in preset["slips"].items()}
        tiles = max(rows.values(), key=len)
        tables[get_rules(name).objective] = {
            slip: {int(tile): row.get(tile, 0.0) for tile in tiles}
            for slip, row in sorted(rows.items())
        }
    return tables


# --- a player's own level ------------------------------------------------------------------------


def fit_level(rules: Rules, games: Iterable[tuple[int, bool]]) -> Level:
    """Return the most likely level of a player, given the largest tiles of their last 50 games.

    The prior counts as much as five average games of a player with a slip of 0.1.

    Args:
        rules: Rules of the games.
        games: Largest tile and whether the game is finished, oldest game first. A game that is not
            finished made at least its largest tile.

    Raises:
        RulesError: If there is no table for the rules.
    """
    if not has_table(rules):
        raise RulesError(f"no levels are known for {rules.name}: fit games of classic instead")
    recent, prior = [*games][-MAX_GAMES:], _largest(rules, PRIOR_SLIP)

    def log_likelihood(slip: float) -> float:
        chances = _largest(rules, slip)
        total = sum(PRIOR_GAMES * prior[tile] * log(chances[tile]) for tile in prior)
        for largest, is_finished in recent:
            tile = min(largest, max(chances))
            better = sum(chances[each] for each in chances if each > tile and not is_finished)
            total += log(chances[tile] + better)
        return total

    return level_of(max(SLIPS, key=log_likelihood))


def _largest(rules: Rules, slip: float) -> dict[int, float]:
    """Return the probability of each largest tile; no simulated game had the rarest ones."""
    made = made_shares(rules, Level("", slip))
    return {tile: share - made.get(2 * tile, 0.0) + UNSEEN for tile, share in made.items()}


def fit_of(rules: Rules, level: Level, games: Iterable[tuple[int, bool]]) -> list[TileShare]:
    """Compare a player's last 50 games with those of a level: who made which tile how often.

    Games that are not finished are left out, and so are tiles that fewer than 5 of 100 games of the
    level make or miss.
    """
    largest = [tile for tile, is_finished in [*games][-MAX_GAMES:] if is_finished]
    return [
        TileShare(tile, sum(each >= tile for each in largest) / len(largest), share)
        for tile, share in made_shares(rules, level).items()
        if largest and 0.05 <= share <= 0.95
    ]
