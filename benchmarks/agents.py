"""Measure agents on the tracks of ``py2048 benchmark-agent``, with and without luck correction.

Usage: agents.py [TRACK…] [--agents SPEC…] [--jobs N] [--into FOLDER] [--solution FILE]

Prints a table for each track. Submissions are kept in FOLDER, and unfinished submissions are
continued. ``classic:10`` is the first ten games of a track. The exact regret on 3x3 needs
--solution, a file created by ``py2048 solve 3x3 --output``. The agent ``policy:agents:plan`` is
imported from this file, so PYTHONPATH must contain this folder.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from py2048 import __version__, get_rules
from py2048.core.errors import PlayerError
from py2048.engine.batch import rollouts
from py2048.envs import functional
from py2048.lab.arena import protocol, summaries
from py2048.lab.arena.report import number, percent, plus_minus
from py2048.lab.arena.statistics import judge_of, judged
from py2048.lab.commands.bench import processor
from py2048.review import Judge

AGENTS = (
    *("random", "greedy", "corner", "heuristic", "ntuple"),
    *("expectimax:ms=1", "expectimax:ms=10", "policy:agents:plan"),
)
ROLLOUTS = 32
COLUMNS = "games", "mean score", "without luck", "variance saved", "{}", "best moves", "ms a move"


def plan(board: NDArray[np.int8], mask: NDArray[np.bool_]) -> int:
    """Choose the action with the best mean score in random playouts, weighted over all spawns."""
    shape = "x".join(map(str, board.shape))
    rules, values = get_rules("classic" if shape == "4x4" else shape), np.full(4, -np.inf)
    after, points, _ = functional.afterstates(rules, board.astype(np.uint8))
    for action in np.flatnonzero(mask):
        boards, chances = functional.chance_outcomes(rules, after[action], int(action))
        played = rollouts(rules, boards, ROLLOUTS, seed=1, threads=1)
        values[action] = points[action] + chances @ played.scores.mean(axis=1)
    return int(values.argmax())


def row(agent: str, track: str, judge: Judge, jobs: int | None, into: Path) -> str:
    """Play the games that an agent has not finished yet; return its table row."""
    folder = into / track / re.sub(r"[^\w.=-]+", "_", agent)
    wanted = protocol.AgentSubmission(agent, track, {}, "", __version__)
    try:
        begun, secret = protocol.begin(folder, wanted)
        if not protocol.play(folder, begun, secret, jobs, lambda _: None).complete:
            raise KeyboardInterrupt
    except PlayerError as error:
        return f"| `{agent}` | {error} |"
    results = protocol.verified(folder)
    (found,), (summary,) = judged(results, judge), summaries(results)
    cells = summary.games, plus_minus(summary.score), plus_minus(found.score), percent(found.saved)
    loss = found.per_game if judge.is_exact else found.per_move
    rest = plus_minus(loss), percent(found.best_moves.share)
    cost = number(protocol.costs_of(results)["ms"])
    return f"| `{agent}` | {' | '.join(map(str, (*cells, *rest, cost)))} |"


def main() -> None:
    """Play, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tracks", nargs="*", default=[*protocol.TRACKS])
    parser.add_argument("--agents", nargs="+", default=AGENTS)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--into", type=Path, default=Path("build/agents"))
    parser.add_argument("--solution", type=Path)
    wish = parser.parse_args()
    for track in wish.tracks:
        rules = protocol.AgentSubmission("any", track, {}, "", "").tournament().rules
        judge = judge_of(rules, wish.solution if track.startswith("3x3") else None)
        loss = "regret a game" if judge.is_exact else f"loss a move by judge {judge.name}"
        print(f"\n{track}: `{rules}`, on {processor()}, mean ± standard error\n")
        print(f"| agent | {' | '.join(COLUMNS).format(loss)} |\n|---{len(COLUMNS) * '|--:'}|")
        for agent in wish.agents:
            print(row(agent, track, judge, wish.jobs, wish.into), flush=True)


if __name__ == "__main__":
    main()
