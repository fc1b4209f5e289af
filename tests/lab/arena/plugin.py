"""Players installed as plugins for the arena's tests."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from py2048 import Direction, Game, Rules
from py2048.core.rng import derive_seed
from py2048.players.player import FinishedGame
from py2048.players.simple import CornerPlayer

METADATA = "Metadata-Version: 2.1\nName: arena-plugin\nVersion: 1\n"
ENTRY_POINTS = """\
[py2048.players]
fragile = arena_plugin:FragilePlayer
wrong = arena_plugin:WrongPlayer
failing = arena_plugin:FailingPlayer
slow = arena_plugin:SlowPlayer
whole = arena_plugin:WholePlayer
"""


def installed(folder: Path) -> Path:
    """Install this plugin in `folder` as a package would be; return the folder."""
    distribution = folder / "arena_plugin-1.0.dist-info"
    distribution.mkdir(parents=True)
    (distribution / "METADATA").write_text(METADATA)
    (distribution / "entry_points.txt").write_text(ENTRY_POINTS)
    (folder / "arena_plugin.py").write_text(Path(__file__).read_text(encoding="utf-8"))
    return folder


def fragile(deaths: Path, count: int) -> str:
    """Return the spec of a `FragilePlayer` that kills its process `count` times."""
    deaths.mkdir()
    for life in range(count):
        (deaths / str(life)).touch()
    return f"fragile:deaths={deaths}"


class FragilePlayer(CornerPlayer):
    """Plays like corner, but kills its process once per file in `deaths`."""

    def __init__(self, deaths: str) -> None:
        self.name = f"fragile:deaths={deaths}"
        self._deaths = Path(deaths)

    def choose(self, game: Game) -> Direction:
        """Kill this process, or choose like corner."""
        if game.board.max_tile >= 32:
            for life in self._deaths.glob("*"):
                life.unlink(missing_ok=True)
                os.kill(os.getpid(), signal.SIGKILL)
        return super().choose(game)


class WrongPlayer(CornerPlayer):
    """Always chooses up, even if it is illegal."""

    name = "wrong"

    def choose(self, game: Game) -> Direction:
        """Return up."""
        return Direction.UP


class FailingPlayer(CornerPlayer):
    """Fails in the middle of a game."""

    name = "failing"

    def choose(self, game: Game) -> Direction:
        """Divide by zero at some point."""
        return super().choose(game) if game.board.max_tile < 32 else Direction(1 // 0)


class SlowPlayer(CornerPlayer):
    """Plays like corner, with a delay before each move."""

    def __init__(self, ms: float = 1.0) -> None:
        self.name = f"slow:ms={ms}"
        self._seconds = ms / 1000

    def choose(self, game: Game) -> Direction:
        """Wait, then choose like corner."""
        time.sleep(self._seconds)
        return super().choose(game)


class WholePlayer:
    """Plays whole games: randomly with a `seed`, otherwise like corner."""

    def __init__(self, seed: int | None = None) -> None:
        self.name = "whole" if seed is None else f"whole:seed={seed}"
        self._seed = seed
        self._played = 0

    def choose(self, game: Game) -> Direction:
        """Return a legal direction determined by the seed and the board."""
        legal = game.legal_directions()
        if self._seed is None:
            return CornerPlayer().choose(game)
        return legal[derive_seed(self._seed, hash(game.board.rows) % 2**32) % len(legal)]

    def rate(self, game: Game) -> dict[Direction, float]:
        """Rate all directions the same."""
        return dict.fromkeys(game.legal_directions(), 0.0)

    def play_games(self, rules: Rules, seeds: Sequence[int]) -> list[FinishedGame]:
        """Play each game."""
        return [self._play(Game(rules, seed=seed)) for seed in seeds]

    def _play(self, game: Game) -> FinishedGame:
        while not game.is_over:
            game.play(self.choose(game))
        return FinishedGame(game.score, game.board.max_tile, game.ply)
