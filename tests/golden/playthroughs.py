"""Golden playthroughs: one game of each preset, with every turn.

``python -m tests.golden.playthroughs`` regenerates them. A change in these files changes the
meaning of seeds, breaks every shared seed, and must be mentioned in the changelog.
"""

from __future__ import annotations

from pathlib import Path

from py2048 import Board, Direction, Game, Rules, list_rules
from py2048.core import rng
from py2048.core.game.turn import encode_turn

FOLDER = Path(__file__).parent / "playthroughs"
SEED = 2048
ATTEMPTS = 120


def playthrough(rules: Rules) -> str:
    """Play a game in directions drawn from the documented generator."""
    game = Game(rules, seed=SEED)
    key = rng.key_of(rng.derive_seed(SEED, 1))
    lines = [f"rules {rules}", f"seed {SEED}", f"start {_row(game.start)}"]
    for attempt in range(ATTEMPTS):
        direction = Direction(rng.pick_high(rng.draw(key, attempt), 4))
        before = game.turn_count
        game.attempt(direction)
        if game.turn_count > before and game.last_turn:
            lines.append(f"{encode_turn(game.last_turn)} {game.score} {_row(game.board)}")
        else:
            lines.append(f"{direction} changes nothing")
    lines.append(f"outcome {game.outcome.value}")
    return "\n".join(lines) + "\n"


def _row(board: Board) -> str:
    return " / ".join(" ".join(str(tile or ".") for tile in row) for row in board.rows)


if __name__ == "__main__":
    for each in list_rules():
        (FOLDER / f"{each.name}.txt").write_text(playthrough(each), encoding="utf-8")
