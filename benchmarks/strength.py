"""Measure the players' strength and speed, and update docs/strength.md.

Usage: strength.py [NAME…] [--jobs N] [--minutes M] [--again] [--list]

NAME is a row of strength.toml, ``nodes``, ``training`` or ``page``. By default, everything without
a result is measured. Finished games are saved in ``results/strength/`` every minute and on Ctrl-C,
and the same command resumes the measurement. With --minutes, each row starts no new games after M
minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import strength_page
from strength_page import COLUMNS, HERE, RESULTS, SETTINGS

from py2048 import Game, Rules, make_player
from py2048.core.errors import Py2048Error
from py2048.engine.jit import available_threads
from py2048.lab.arena import GameResult, Job, Results, Tournament, local_pool, run_tournament
from py2048.lab.arena.jobs import run_job
from py2048.lab.commands.bench import load, processor
from py2048.lab.training.ascent import SIX_TUPLES
from py2048.players.ntuple.heuristic import DEFAULT
from py2048.players.search.limits import SearchLimits, SearchSpeed
from py2048.players.search.searcher import Searcher

if TYPE_CHECKING:
    from py2048.lab.training.run import TrainingRun

SAVE_SECONDS = 60.0
OPENING = 60
"""Number of moves that are compared to detect whether a timed player has changed."""
WORK = HERE.parent / "build" / "strength"


@dataclass(frozen=True)
class Row:
    """A row of strength.toml, which describes a tournament of one player."""

    name: str
    player: str
    games: int
    rules: str = "classic"
    network: bool = False
    seed: int | str = SETTINGS["seed"]

    @property
    def path(self) -> Path:
        """File of the result."""
        return RESULTS / f"{self.name}.json"

    @property
    def weights(self) -> str:
        """Digest of the shipped weights, if the player uses them."""
        return strength_page.weights_of(Rules.parse(self.rules)) if self.network else ""

    def tournament(self) -> Tournament:
        """Return the tournament."""
        rules = Rules.parse(self.rules)
        return Tournament((self.player,), rules, self.games, self.seed)

    def known(self) -> Iterator[GameResult]:
        """Yield the saved games, if the player and its weights have not changed."""
        if not self.path.exists():
            return
        data = json.loads(self.path.read_text(encoding="utf-8"))
        if any(data.get(name) != value for name, value in self.heading().items()):
            return
        games = list(strength_page.games_of(data))
        if self.plays_still(games[0]):
            yield from games

    def plays_still(self, game: GameResult) -> bool:
        """Return whether the current player plays a saved game in the same way."""
        if "ms=" in self.player:  # games with a time limit are not reproducible
            return True
        (now,) = run_job(Job(self.player, self.tournament().rules, self.seed, (game.game,))).played
        return (now.score, now.max_tile, now.moves) == (game.score, game.max_tile, game.moves)

    def heading(self) -> dict[str, Any]:
        """Return the saved data that must be unchanged for saved games to be valid."""
        rules, weights = str(Rules.parse(self.rules)), self.weights
        found = {"player": self.player, "rules": rules, "seed": self.seed, "weights": weights}
        return found | ({"opening": self.opening()} if "ms=" in self.player else {})

    def opening(self) -> str:
        """Return a timed player's first moves if its search speed is assumed, not measured."""
        player = make_player(self.player)
        game = Game(Rules.parse(self.rules), seed=SETTINGS["seed"])
        with patch.object(SearchSpeed, "record"):
            while not game.is_over and game.ply < OPENING:
                game.play(player.choose(game))
        return "".join(turn.direction.name[0] for turn in game.turns)

    def save(self, results: Results) -> None:
        """Save the finished games."""
        played = results.of(self.player).values()
        data = {"name": self.name, **self.heading(), "wanted": self.games, "machine": _machine()}
        data["seconds"] = round(sum(game.seconds for game in played), 3)
        numbers = {game.game for game in played}
        data["missing"] = sorted(set(range(max(numbers))) - numbers)
        data |= {name: [getattr(game, name) for game in played] for name in COLUMNS}
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in data.items()]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


@cache
def _machine() -> dict[str, str]:
    """Describe the machine, including its load when the measurement began."""
    return {
        "processor": processor(),
        "cores": str(available_threads()),
        "system": platform.platform(),
        "python": platform.python_version(),
        "py2048": version("py2048"),
        "load": load(),
    }


def measure(row: Row, jobs: int | None, *, again: bool, minutes: float = math.inf) -> bool:
    """Play a row's missing games; return whether to continue with the next row."""
    try:
        results = Results(row.tournament(), () if again else row.known())
        if not results.complete:
            _play(row, results, jobs, minutes)
    except Py2048Error as error:
        print(f"{row.name}: left out: {error}")
    except KeyboardInterrupt:
        print("stopped; the same command continues")
        return False
    return True


def _play(row: Row, results: Results, jobs: int | None, minutes: float) -> None:
    _machine()  # describe the machine before the measurement loads it
    saved = start = time.monotonic()
    try:
        with closing(local_pool(jobs)) as pool:
            for _ in run_tournament(results, pool, lambda: time.monotonic() < start + 60 * minutes):
                print(f"\r{row.name}: {results.count:,} of {results.total:,} ", end="", flush=True)
                if time.monotonic() > saved + SAVE_SECONDS:
                    row.save(results)
                    saved = time.monotonic()
    finally:
        print()
        if results.count:
            row.save(results)


def measure_nodes() -> None:
    """Measure a single-threaded search in nodes per second, on positions from a game."""
    rules = Rules.parse("classic")
    boards = list(_positions(rules))
    found = []
    for depth in (2, 3, 4):
        searcher = Searcher(rules, DEFAULT, SearchLimits(depth=depth))
        searcher.rate(boards[0])  # compiles
        nodes, start = 0, time.process_time()
        for board in boards:
            searcher.rate(board)
            nodes += searcher.nodes
        seconds = time.process_time() - start
        found.append({"search": f"heuristic, depth {depth}", "nodes": nodes, "seconds": seconds})
        print(f"heuristic, depth {depth}: {nodes / seconds:,.0f} nodes/s")
    data = {"machine": _machine(), "searches": found}
    (RESULTS / "nodes.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _positions(rules: Rules) -> Iterator[Any]:
    """Yield every tenth position of a game that expectimax plays."""
    game, player = Game(rules, seed=SETTINGS["seed"]), make_player("expectimax:depth=2")
    while not game.is_over and game.ply < 1000:
        if game.ply % 10 == 0:
            yield game.board
        game.play(player.choose(Game(rules, seed=0, board=game.board)))


def measure_training(minutes: float = 10.0) -> None:
    """Train a network for as long as moporgic/TDL2048, and evaluate it over 10,000 games.

    For the last fifth of the time, the learning rate is ten times lower, to average out noise.
    """
    from py2048.lab.training.boards import evaluate
    from py2048.lab.training.run import TrainingRun
    from py2048.lab.training.trainer import TrainingConfig

    threads, folder = available_threads(), WORK / "training"
    shutil.rmtree(folder, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    config = TrainingConfig(
        tuples=SIX_TUPLES, ranks=14, restart_length=20, restart_after=30_000_000, threads=threads
    )
    run = TrainingRun.begin(folder, config)
    _train(run, 0.8 * minutes, evaluate_every=20_000)
    run = TrainingRun.resume(folder, {"learning_rate": 0.1})
    _train(run, minutes, evaluate_every=5_000)
    tally = evaluate(run.trainer.network(), 10_000, SETTINGS["seed"], threads=threads)
    print(f"\n1-ply mean {tally.mean:,.0f} ± {tally.error:,.0f}")
    shutil.copy(WORK / "training" / "curve.csv", RESULTS / "training.csv")
    data = {"machine": _machine(), "minutes": minutes, "threads": threads, "games": tally.games}
    data |= {"mean": tally.mean, "error": tally.error}
    (RESULTS / "training.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _train(run: TrainingRun, minutes: float, *, evaluate_every: int) -> None:
    from py2048.lab.training.run import StopCriteria

    stop = StopCriteria(minutes=minutes, evaluate_every=evaluate_every, evaluate_games=0)
    run.run(stop, lambda: print(f"\r{run.seconds:.0f} s ", end="", flush=True))


EXTRAS: dict[str, tuple[Callable[[], None], Path]] = {
    "nodes": (measure_nodes, RESULTS / "nodes.json"),
    "training": (measure_training, RESULTS / "training.json"),
}


def main() -> None:
    """Measure the given rows, then update the page."""
    parser = argparse.ArgumentParser(description="How strong and how fast the players are.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", type=int, help="processes; by default one a processor")
    parser.add_argument("--minutes", type=float, default=math.inf, help="for each row at most")
    parser.add_argument("--again", action="store_true", help="measure what has a result, too")
    parser.add_argument("--list", action="store_true", help="say what can be measured")
    options = parser.parse_args()
    rows = {row["name"]: Row(**row) for row in SETTINGS["row"]}
    known = [*rows, *EXTRAS, "page"]
    if options.list:
        sys.exit("\n".join(known))
    if wrong := set(options.names) - set(known):
        sys.exit(f"strength: nothing is called {min(wrong)!r}; known: {', '.join(known)}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in options.names or known:
        row = rows.get(name)
        if row and not measure(row, options.jobs, again=options.again, minutes=options.minutes):
            break
        if name in EXTRAS and (options.again or options.names or not EXTRAS[name][1].exists()):
            EXTRAS[name][0]()
    strength_page.write()


if __name__ == "__main__":
    main()
