"""Simulate players of all levels, and write the table that `py2048.review.levels` reads.

Usage: make_levels.py [PRESET…]

The script plays 1,000 games for each PRESET and each value in `SLIPS`, by default for all presets
with a network. The table contains the median score and the share of games that reached each tile.
The rows of other presets are kept.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from py2048.core.rules import Rules, list_rules
from py2048.players.ntuple.network import Network
from py2048.review.levels import TABLE
from py2048.review.simulation import evaluation_of, shares_of, simulate

SLIPS = (0.9, 0.7, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.035, 0.02, 0.01)
SEED, GAMES = 2048, 1000


def table_of(rules: Rules) -> dict[str, Any]:
    """Simulate all levels under these rules."""
    slips = {}
    for slip in SLIPS:
        largest, scores = simulate(rules, slip, GAMES, SEED)
        slips[slip] = {"median": int(np.median(scores)), "made": shares_of(largest)}
        print(rules.name, slip, slips[slip], flush=True)
    return {"seed": SEED, "games": GAMES, "slips": slips}


def main(names: list[str]) -> None:
    """Write the table with one line per preset."""
    presets = [rules for rules in list_rules() if isinstance(evaluation_of(rules), Network)]
    table = json.loads(TABLE.read_text(encoding="ascii"))
    table |= {rules.name: table_of(rules) for rules in presets if rules.name in names or not names}
    lines = [f'"{name}": {json.dumps(row)}' for name, row in table.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="ascii")


if __name__ == "__main__":
    main(sys.argv[1:])
