"""Our heuristic player beside nneonneo's 2048-ai, at the same time per move, in the same minutes.

Usage: versus_2048_ai.py SOURCE [GAMES] [DEPTH]

SOURCE is a checkout of github.com/nneonneo/2048-ai; it is compiled here with ``g++ -O3
-march=native``, its depth set to DEPTH (3 by default; 0 leaves it as it is: at least 3, more with
more tiles). It plays GAMES games (100), each timed by the work of its process; then our
``expectimax:evaluation=heuristic`` plays as many, of the seeds 1, 2, 3, …, with the milliseconds a
move that the other took. Both run on one core.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from py2048 import get_rules
from py2048.ntuple.heuristic import DEFAULT
from py2048.search.limits import SearchLimits
from py2048.search.searcher import Searcher, play_games

DEFINED = ("HAVE_CXX11", "HAVE_UNORDERED_MAP", "HAVE_DRAND48", "HAVE_STDINT_H", "HAVE_UNISTD_H")
LAST = re.compile(r"Game over\. Your score is (\d+)")


def build(source: Path, depth: int, folder: Path) -> Path:
    """Compile the other program with a depth of its own; return it."""
    text = (source / "2048.cpp").read_text()
    if depth:
        text, changed = re.subn(
            r"state\.depth_limit = [^;]*;", f"state.depth_limit = {depth};", text
        )
        if changed != 1:
            raise SystemExit(
                f"{source / '2048.cpp'} sets its depth in {changed} places, not in one"
            )
    for name in ("2048.h", "platdefs.h"):
        (folder / name).write_text((source / name).read_text())
    (folder / "config.h").write_text("".join(f"#define {name} 1\n" for name in DEFINED))
    (folder / "2048.cpp").write_text(text)
    program = folder / "2048"
    words = ["g++", "-O3", "-march=native", "-I", str(folder), "-o", str(program)]
    subprocess.run([*words, str(folder / "2048.cpp")], check=True)
    return program


def theirs(program: Path) -> tuple[int, int, float]:
    """Let the other program play a game; return its score, its moves, its seconds of work."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    (score,) = LAST.findall(text)
    return int(score), text.count("\nMove #"), after.ru_utime - before.ru_utime


def shown(name: str, scores: list[int], moves: int, seconds: float) -> None:
    """Print how a player did."""
    values = np.array(scores)
    error = values.std(ddof=1) / len(values) ** 0.5
    print(
        f"{name:44}{len(scores):>5} games  mean {values.mean():>9,.0f} ± {error:,.0f}"
        f"   {1000 * seconds / moves:.3f} ms a move",
        flush=True,
    )


def main(source: Path, games: int = 100, depth: int = 3) -> None:
    """Play and print."""
    with tempfile.TemporaryDirectory() as folder:
        program = build(source, depth, Path(folder))
        found = [theirs(program) for _ in range(games)]
    seconds, moves = sum(f[2] for f in found), sum(f[1] for f in found)
    shown(f"2048-ai, depth {depth or 'as it is'}", [f[0] for f in found], moves, seconds)
    ms = round(1000 * seconds / moves, 3)
    searcher = Searcher(get_rules("classic"), DEFAULT, SearchLimits(ms=ms))
    searcher.prepare()
    start = time.process_time()
    ours = play_games(searcher, range(1, games + 1))
    taken = time.process_time() - start
    name = f"expectimax:ms={ms},evaluation=heuristic"
    shown(name, ours.scores.tolist(), int(ours.plies.sum()), taken)
    print(f"ours over theirs: {ours.scores.mean() / np.mean([f[0] for f in found]):.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
