"""Measure agents on the published tracks of ``py2048 benchmark-agent``.

Usage: agents.py [TRACK…] [--agents SPEC…] [--minutes N] [--into FOLDER]

Prints a table for each track. Submissions are kept in FOLDER, and unfinished ones are continued.
``classic:10`` is the first ten games of a track. With --minutes, DQN and
MaskablePPO are also trained on each track for N minutes on one core (see `learners`) and then
measured. Measuring the regret on 3x3 needs --solution, a file that ``py2048 solve 3x3 --save``
wrote.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import learners

from py2048.core.rules import Rules
from py2048.lab.arena.protocol import TRACKS, AgentSubmission
from py2048.lab.commands.bench import processor
from py2048.players.perfect import QUICK_CELLS
from py2048.players.solving import solve

AGENTS = (
    *("random", "greedy", "corner", "heuristic", "ntuple"),
    *("expectimax:ms=1", "expectimax:ms=10"),
)
LEARNED = "dqn", "ppo"
BIG = "classic", "short"
"""Tracks without exact values."""

HERE = Path(__file__).parent.resolve()
HEAD = (
    "| agent | games | mean score (95 %) | regret a game | best moves | ms a move | tile in half |"
)


def learned(name: str, rules: Rules, folder: Path, minutes: float) -> str:
    """Return the spec of a trained agent; train it if its file is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / f"{name}.zip").exists():
        learners.train_sb3(name, rules, learners.Budget([60 * minutes])).save(folder / name)
    return f"policy:learners:{name}"


def perfect_play(rules: Rules, folder: Path) -> Path | None:
    """Return the solution file of a small board; solve it if the file is missing."""
    if rules.cells > QUICK_CELLS:
        return None
    if not (path := folder / "perfect").exists():
        folder.mkdir(parents=True, exist_ok=True)
        solve(rules, save=path)
    return path


def row(agent: str, track: str, folder: Path, solution: Path | None) -> str:
    """Play an agent's missing games; return its table row."""
    options: list[str] = []
    if solution and not track.startswith(BIG):
        options = ["--solution", str(solution.resolve())]
    command = [sys.executable, "-m", "py2048", "benchmark-agent", agent, "--track", track]
    out = re.sub(r"[^\w.=-]+", "_", agent)
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [*command, "--out", out, "--json", *options],
        stdout=subprocess.PIPE,
        check=False,
        cwd=folder,  # where trained agents are found
        env=os.environ | {"PYTHONPATH": f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
    )
    if done.returncode == 2:  # the command has printed the reason
        return f"| `{agent}` | 0 |  |  |  |  |  |"
    done.check_returncode()
    found = json.loads(done.stdout)
    player, (loss, *_) = found["players"][0], found.get("regret", []) or [None]
    score, tile = (
        player["score"],
        max(
            (int(tile) for tile, each in player["tiles"].items() if each["share"] >= 0.5), default=2
        ),
    )
    regret = f"{loss['per_game']['mean']:,.0f}" if loss else ""
    share = f"{loss['best_moves']['share']:.1%}" if loss else ""
    low, high = score["low"], score["high"]  # none for fewer than four games
    interval = "" if low is None else f" ({low:,.0f} to {high:,.0f})"
    return (
        f"| `{agent}` | {player['games']} | {score['mean']:,.0f}{interval} | {regret} | {share} | "
        f"{found['costs']['ms']:.3f} | {tile} |"
    )


def main() -> None:
    """Play, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tracks", nargs="*", default=[*TRACKS])
    parser.add_argument("--agents", nargs="+", default=AGENTS)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--into", type=Path, default=Path("build/agents"))
    parser.add_argument("--solution", type=Path)
    wish = parser.parse_args()
    for track in wish.tracks:
        published = AgentSubmission("", track, {}, "", "").tournament(is_played=False)
        rules, folder, agents = published.rules, wish.into / track, [*wish.agents]
        perfect = perfect_play(rules, folder) or wish.solution
        if wish.minutes:
            agents += [learned(name, rules, folder, wish.minutes) for name in LEARNED]
        games = f"{published.games} of {TRACKS[track.partition(':')[0]][1]} games"
        print(f"\n{track}: `{rules}`, {games}, on {processor()}\n\n{HEAD}\n|---{6 * '|--:'}|")
        for agent in agents:
            print(row(agent, track, folder, perfect), flush=True)


if __name__ == "__main__":
    main()
