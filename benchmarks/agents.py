"""The table of agents on the published tracks of ``py2048 benchmark-agent``.

Usage: agents.py [TRACK…] [--agents SPEC…] [--into FOLDER]

Each agent's submission stays in FOLDER and is continued, not played again; the table is
``results/agents.md``. On 3x3 the regret is known once ``py2048 solve 3x3 --save`` has made a file,
named by --solution.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from py2048.arena.protocol import TRACKS
from py2048.cli.bench import processor

AGENTS = (
    *("random", "greedy", "corner", "heuristic", "ntuple"),
    *("expectimax:ms=1", "expectimax:ms=10"),
)
PAGE = Path(__file__).parent / "results" / "agents.md"
HEAD = (
    "| agent | games | mean score (95 %) | regret a game | best moves | ms a move | tile in half |"
)


def row(agent: str, track: str, into: Path, solution: list[str]) -> str:
    """Play what is missing of an agent's games, and return its row."""
    folder = into / track / re.sub(r"[^\w.=-]+", "_", agent)
    command = [sys.executable, "-m", "py2048", "benchmark-agent", agent, "--track", track]
    done = subprocess.run(
        [*command, "--out", folder, "--json", *(solution if track == "3x3" else [])],
        stdout=subprocess.PIPE,
        check=True,
    )
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
    return (
        f"| `{agent}` | {player['games']} | {score['mean']:,.0f} ({score['low']:,.0f} to "
        f"{score['high']:,.0f}) | {regret} | {share} | {found['costs']['ms']:.3f} | {tile} |"
    )


def main() -> None:
    """Play, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tracks", nargs="*", default=[*TRACKS])
    parser.add_argument("--agents", nargs="+", default=AGENTS)
    parser.add_argument("--into", type=Path, default=Path("build/agents"))
    parser.add_argument("--solution", type=Path)
    wish = parser.parse_args()
    solution = ["--solution", str(wish.solution)] if wish.solution else []
    parts = [f"# Agents\n\n`python benchmarks/agents.py`, on {processor()}.\n"]
    for track in wish.tracks:
        rows = [row(agent, track, wish.into, solution) for agent in wish.agents]
        rules, games = TRACKS[track]
        parts.append(f"## {track}\n\n`{rules}`, {games} games.\n\n{HEAD}\n|---{6 * '|--:'}|")
        parts.append("\n".join(rows) + "\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
