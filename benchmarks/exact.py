"""Measure what docs/explanation/exact.md tells, and bring the page up to date.

Usage: exact.py values FILE… | regret FILE [--games N] | costs RULES [--goal GOAL]
       | bounds RULES PLAYER [--games N] | page

``values`` and ``regret`` take files that ``py2048 solve RULES --save FILE`` wrote. Results are kept
in ``results/exact/``.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any

import exact_page
from exact_page import RESULTS
from outcomes import PerfectPlay

from py2048 import Record, get_rules
from py2048.lab.arena import Tournament, compare_players
from py2048.lab.arena.statistics import estimate, regrets_of
from py2048.lab.commands.bench import processor
from py2048.players.solving import Solution
from py2048.players.solving.files import length_of
from py2048.players.solving.sharded import MIN_SHARD_KEYS, Task, solve_sharded

PLAYERS = ("corner", "greedy", "heuristic", "ntuple", "expectimax:depth=2")
SEED = 2048
CONFIDENCE = 0.99


def keep(name: str, key: str, data: object) -> None:
    """Keep a result beside those that are there."""
    path = RESULTS / f"{name}.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept[key] = data
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(kept[k])}" for k in sorted(kept))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


# --- exact values --------------------------------------------------------------------------------


def values(files: Sequence[Path]) -> None:
    """Keep what the page tells of solutions."""
    for file in files:
        solution = Solution.load(file)
        rules, outcomes = solution.rules, PerfectPlay(solution).outcomes()
        kept: dict[str, Any] = {
            name: getattr(solution, name) for name in ("value", "error", "positions", "seconds")
        }
        kept["tiles"] = {str(tile): chance for tile, chance in outcomes.tiles.items()}
        kept["rows"], kept["columns"], kept["name"] = rules.rows, rules.columns, rules.name
        kept["goal"], kept["layers"] = str(solution.goal), len(solution.layers)
        kept["largest"] = max(layer.positions for layer in solution.layers)
        if solution.goal.tile is None:
            kept["survival"] = [[solution.layers[0].total, 1.0], *_survival(outcomes.sums)]
            kept["starts"] = _starts(solution)
        keep("values", f"{rules} {solution.goal}", kept)


def _survival(sums: dict[int, float]) -> list[list[float]]:
    """Return the probability of reaching a sum, where it changes to be seen."""
    left, found = 1.0, list[list[float]]()
    for total, share in sums.items():
        if not found or abs(found[-1][1] - left) > 5e-4:
            found.append([total, round(left, 5)])
        left -= share
    return [*found, [max(sums), max(round(left, 5), 0.0)]]


def _starts(solution: Solution) -> list[tuple[str, float]]:
    """Return tiles and values of the starts with two tiles."""
    tiles = (
        sorted(tile for row in start.board.rows for tile in row if tile)
        for start in solution.starts
    )
    return [
        (" + ".join(map(str, found)), start.value)
        for found, start in zip(tiles, solution.starts, strict=True)
    ]


# --- regret --------------------------------------------------------------------------------------


def regret(file: Path, games: int) -> None:
    """Let players play under the rules of a solution, and keep how they lose value."""
    solution = Solution.load(file)
    tournament = Tournament(PLAYERS, solution.rules, games, SEED, recorded=True)
    results = compare_players(tournament, jobs=1)
    for player in PLAYERS:
        lost = [
            regrets_of(Record.from_json(game.record or ""), solution)
            for game in results.of(player).values()
        ]
        each = estimate([sum(game) for game in lost])
        step = max(1, max(map(len, lost)) // 60)
        plies = range(0, max(map(len, lost)) + step, step)
        means = [round(sum(sum(game[:ply]) for game in lost) / games, 2) for ply in plies]
        data = {"regret": each.mean, "error": each.error, "step": step, "means": means}
        rules = {"rules": str(solution.rules), "value": solution.value, "games": games}
        keep("regret", player, {**rules, **data})


# --- costs ---------------------------------------------------------------------------------------


@dataclass
class OneProcess:
    """Does the tasks of a sharded solver here, and counts what they cost.

    Attributes:
        width: the shards of a layer, at least.
        seconds: of the processor, by the task's function.
        bytes: written, by kind of file.
    """

    width: int = 2
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    bytes: Counter[str] = field(default_factory=Counter)

    def run(self, tasks: Sequence[Task], /) -> list[Any]:
        """Return the results of tasks."""
        results = []
        for task in tasks:
            began = time.process_time()
            results.append(task())
            name = task.func.__name__  # type: ignore[attr-defined]
            self.seconds[name] += time.process_time() - began
            if isinstance(results[-1], list):
                self._count(results[-1])
        return results

    def _count(self, files: Sequence[Path]) -> None:
        for file in files:
            self.bytes[file.name.partition("-")[0]] += 8 * length_of(file)


def costs(rules: str, goal: str) -> None:
    """Solve by shards in one process, and keep what it costs."""
    workers = OneProcess()
    with tempfile.TemporaryDirectory() as folder:
        solve_sharded(OneProcess(), "classic:size=2x2", save=Path(folder) / "warm")
        began = time.perf_counter()
        solution = solve_sharded(workers, rules, goal, save=Path(folder) / "file")
        took = time.perf_counter() - began
    data = {
        "goal": goal,
        "value": solution.value,
        "positions": solution.positions,
        "layers": len(solution.layers),
        "largest": max(layer.positions for layer in solution.layers),
        "seconds": took,
        "processor": dict(workers.seconds),
        "bytes": dict(workers.bytes),
        "memory": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "few": MIN_SHARD_KEYS,
        "machine": processor(),
    }
    keep("costs", f"{rules} {goal}", data)


# --- bounds --------------------------------------------------------------------------------------


def free_merging(cells: int, start: int) -> float:
    """Return what a game from two tiles of 2 or 4 would be worth if equal tiles merged anywhere.

    No play of the classic rules on these cells is worth more. A score is the sum of (k - 1) 2^k
    over the tiles 2^k of the last board, less 4 for each 4 that appeared. For a given sum of the
    board that is most where all equal tiles are merged, which are the binary digits of the sum.
    With as many digits as cells, no cell is empty and no two tiles are equal: any game is over by
    then. Which tiles appear does not depend on play, and each that appears can only add points.

    Args:
        cells: the cells of the board.
        start: the sum of the first two tiles.
    """
    most = (1 << cells + 2) - 4  # 4 + 8 + ... with as many terms as cells
    worth = dict.fromkeys(range(most, most + 5), 0.0)
    for total in range(most - 1, start - 1, -1):
        worth[total] = 0.0
        if total.bit_count() < cells:
            worth[total] = sum(
                chance
                * (_merged(total + tile) - _merged(total) - _merged(tile) + worth[total + tile])
                for tile, chance in ((2, 0.9), (4, 0.1))
            )
    return worth[start] + _merged(start) - 2 * (start - 4)  # a start of 6 has one 4, of 8 two


def _merged(total: int) -> int:
    """Return the points of merging 2s to the binary digits of a sum."""
    return sum((k - 1) << k for k in range(1, total.bit_length()) if total >> k & 1)


def bounds(rules: str, player: str, games: int) -> None:
    """Bound what the classic game is worth from the start with two 2s, and keep it."""
    chosen = get_rules(rules)
    twos = get_rules(f"{rules},start=2x2:1" if ":" in rules else f"{rules}:start=2x2:1")
    played = compare_players(Tournament((player,), twos, games, SEED))
    scores = estimate([game.score for game in played.of(player).values()])
    data = {
        "player": player,
        "games": games,
        "mean": scores.mean,
        "error": scores.error,
        "lower": scores.mean - NormalDist().inv_cdf(CONFIDENCE) * scores.error,
        "upper": free_merging(chosen.cells, 4),
    }
    keep("bounds", rules, data)


def main() -> None:
    """Run what the command names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("values").add_argument("files", type=Path, nargs="+")
    one = commands.add_parser("regret")
    one.add_argument("file", type=Path)
    one.add_argument("--games", type=int, default=200)
    one = commands.add_parser("costs")
    one.add_argument("rules")
    one.add_argument("--goal", default="score")
    one = commands.add_parser("bounds")
    one.add_argument("rules")
    one.add_argument("player")
    one.add_argument("--games", type=int, default=1000)
    commands.add_parser("page")
    given = vars(parser.parse_args())
    does: dict[str, Callable[..., None]] = {
        "values": values,
        "regret": regret,
        "costs": costs,
        "bounds": bounds,
        "page": exact_page.write,
    }
    does[given.pop("command")](**given)


if __name__ == "__main__":
    main()
