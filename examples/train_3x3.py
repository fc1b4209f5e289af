"""Train a 3x3 player in less than a minute, then play one game.

The same seed gives the same network on every run. A random player averages about 200 points,
greedy play with an untrained network about 350, and the trained network ten times that.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from py2048 import Game, get_rules, make_player
from py2048.lab.training.trainer import Trainer, TrainingConfig
from py2048.players.ntuple.weights import save_packed

GAMES = 12_000
JUDGED = 1000


def main() -> None:
    """Train, measure, save, and play one game."""
    trainer = Trainer(TrainingConfig(rules_text="3x3", tuples="lines+rectangles", seed=3))
    before = trainer.evaluate(JUDGED, seed=1)
    trainer.run(games=GAMES)
    after = trainer.evaluate(JUDGED, seed=1)
    print(f"before  {before.mean:7,.0f} ± {before.error:,.0f} points")
    print(f"after   {after.mean:7,.0f} ± {after.error:,.0f} points, {trainer.moves:,} moves")
    print(f"factor  {after.mean / before.mean:.1f}")

    with TemporaryDirectory() as folder:
        path = Path(folder) / "3x3.npz"
        save_packed(trainer.network(), path, step=4.0)
        print(f"packed  {path.stat().st_size:,} bytes")
        player, game = make_player(f"ntuple:weights={path}"), Game(get_rules("3x3"), seed=7)
        while not game.is_over:
            game.play(player.choose(game))
    print(f"game    score {game.score}, largest tile {game.board.max_tile}")
    print(game.board)


if __name__ == "__main__":
    main()
