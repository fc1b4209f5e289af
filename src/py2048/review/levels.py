"""Player levels: how much players of a level misjudge moves, and which tile they aim for.

A simulated player of level ``s`` rates each move by the points of the slide plus the small
network's value of the afterstate. Each rating is multiplied by ``1 + s * x``, with a new random
``x`` from -1 to 1, and the player makes the move with the highest rating. `scripts/make_levels.py`
simulates players of each level, and writes the fraction of games that reach each tile to
``data/levels.json``. ``docs/explanation/review.md`` describes how well this model predicts people's
moves.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections import Counter
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
"""A file that summarises simulated games, by preset and by the player's relative error.

It holds the median score and the fraction of games that reach each tile.
"""

CERTAIN = 0.9
"""A tile is too easy to be a goal if at least this fraction of games reach it."""

PERFECT = "perfect"
"""The name that selects perfect play instead of a level."""

MAX_SLIP = 0.9
PRIOR_SLIP = 0.1
PRIOR_GAMES = 5
MAX_GAMES = 50
"""Maximum number of recent games from which a player's level is estimated."""

UNSEEN = 1e-4
"""Probability added to each largest tile, because simulated games may miss rare tiles."""

Table = dict[float, dict[int, float]]
"""For each slip (relative error), ascending, the share of games that reach each tile."""


class Level(NamedTuple):
    """A player model.

    Attributes:
        name: English name of the level, or empty for an unnamed level.
        slip: Maximum relative error of the player's move values.
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
"""The slips (relative errors) that `fit_level` chooses from, between 0.0102 and 0.8954."""


class Goals(NamedTuple):
    """The next two tiles that a player tries to reach.

    Attributes:
        tile: The next tile to reach, as defined by `goal_of`.
        next_tile: The goal after `tile`, or `tile` itself if the game ends there.
    """

    tile: int
    next_tile: int


class TileShare(NamedTuple):
    """Compares how often a player's games and a level's games reached a tile.

    Attributes:
        tile: The tile.
        observed: Share of the player's games that reached the tile.
        expected: Share of the level's simulated games that reached the tile.
    """

    tile: int
    observed: float
    expected: float


def level_of(slip: float) -> Level:
    """Return the level with a given slip (relative error), including its name if it has one."""
    return next((level for level in LEVELS if level.slip == slip), Level("", slip))


def parse_level(text: str) -> Level | None:
    """Parse the name of a level, or a slip (relative error) such as ``0.15``.

    Returns `None` for ``perfect``.

    The level ``me`` appears in error messages, but this function rejects it. Callers handle ``me``.

    Raises:
        PlayerError: If the text is neither a level nor a number above 0 and at most 0.9.
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
    """Return the tiles that a player of this level tries to reach from a board.

    Each level has a fixed sequence of goals. The first goal is the smallest tile that fewer than 90
    % of games reach. Later goals follow the same rule, counting only games that reach the previous
    goal. The goal on a board is the first goal above the board's largest tile, so a goal stays the
    same until the player reaches it. If no simulated game reaches a tile, that tile and all larger
    tiles are goals.
    """
    limit = rules.target if rules.target and rules.ends_at_target else 1 << 62
    above = (min(tile, limit) for tile in _goals(rules, level) if tile > board.max_tile)
    return Goals(*islice(above, 2))


def _goals(rules: Rules, level: Level) -> Iterator[int]:
    """Yield the goals of a level as an infinite ascending sequence."""
    made = made_shares(rules, level)
    tile, share = 2, 1.0
    while True:
        tile *= 2
        if made.get(tile, 0.0) < CERTAIN * share or not share:
            share = made.get(tile, 0.0)
            yield tile


def made_shares(rules: Rules, level: Level) -> Mapping[int, float]:
    """Return the share of a level's games that reach each tile, interpolated from a table.

    Rules without a table are simulated. The result is empty if the simulation would take too long.
    """
    table = _tables().get(rules.objective)
    if not table:
        # Importing NumPy and the players at module level would delay the first frame of a screen.
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
    """Return whether levels have been simulated under these rules."""
    return rules.objective in _tables()


@cache
def _tables() -> dict[tuple[object, ...], Table]:
    """Load the simulation results from `TABLE`, keyed by the rules' objective.

    Tiles that are never reached have a share of 0.
    """
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
    """Return a player's most likely level, based on the largest tiles of the last 50 games.

    The prior corresponds to five average games of a player with a relative error of 0.1.

    Args:
        rules: Rules of the games.
        games: The largest tile of each game and whether the game is finished, oldest game first. An
            unfinished game counts as a game that reached at least its current largest tile.

    Raises:
        RulesError: If no levels have been simulated under these rules.
    """
    if not has_table(rules):
        raise RulesError(f"no levels are known for {rules.name}: fit games of classic instead")
    recent, prior = Counter([*games][-MAX_GAMES:]), _largest(rules, PRIOR_SLIP)

    def log_likelihood(slip: float) -> float:
        chances = _largest(rules, slip)
        total = sum(PRIOR_GAMES * prior[tile] * log(chances[tile]) for tile in prior)
        for (largest, is_finished), count in recent.items():
            tile = min(largest, max(chances))
            better = sum(chances[each] for each in chances if each > tile and not is_finished)
            total += count * log(chances[tile] + better)
        return total

    return level_of(max(SLIPS, key=log_likelihood))


def _largest(rules: Rules, slip: float) -> dict[int, float]:
    """Return the probability of each largest tile, which is never 0."""
    made = made_shares(rules, Level("", slip))
    return {tile: share - made.get(2 * tile, 0.0) + UNSEEN for tile, share in made.items()}


def fit_of(rules: Rules, level: Level, games: Iterable[tuple[int, bool]]) -> list[TileShare]:
    """Compare how often a player's last 50 games and a level's games reached each tile.

    Unfinished games are ignored. Tiles are omitted if fewer than 5 % or more than 95 % of the
    level's games reach them.
    """
    largest = [tile for tile, is_finished in [*games][-MAX_GAMES:] if is_finished]
    return [
        TileShare(tile, sum(each >= tile for each in largest) / len(largest), share)
        for tile, share in made_shares(rules, level).items()
        if largest and 0.05 <= share <= 0.95
    ]


_GOAL_RANKS = 20  # Goals are exported for boards whose largest tile is below 2**20.


def facts_of_levels(rules: Rules) -> dict[str, dict[str, object]]:
    """Return each level's relative error (slip) and goals, for use in browsers.

    Item ``r`` of the goals is for boards whose largest tile has rank ``r``.
    """
    rest = [0] * (rules.columns - 1)
    boards = [Board.from_rows([[r and 1 << r, *rest]] * rules.rows) for r in range(_GOAL_RANKS)]
    return {
        str(level): {"slip": level.slip, "goals": [goal_of(rules, level, each) for each in boards]}
        for level in LEVELS
    }
