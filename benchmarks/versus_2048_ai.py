"""Our heuristic player beside another program without weights, at the same time per move.

Usage: versus_2048_ai.py SOURCE [GAMES] [SETTING] [FIRST]

SOURCE is a checkout of github.com/ziap/2048-ai, built here by the ``zig`` of the path (0.15.2, as
in PyPI's ``ziglang``), SETTING its budget (24,500 by default); or of github.com/nneonneo/2048-ai,
compiled by ``g++ -O3 -march=native``, SETTING its depth (3 by default; 0 leaves it as it is: at
least 3, more with more tiles). They take turns on one core: the other program plays a game, then
our ``expectimax:evaluation=heuristic`` one with the milliseconds a move that the other has taken
so far, until each has played GAMES (100). Times are of the processes' own work. Ours plays the
seeds FIRST (1), FIRST + 1, …, and so does ziap's, whose draws are others.
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
from py2048.players.searching import ExpectimaxPlayer

DEFINED = ("HAVE_CXX11", "HAVE_UNORDERED_MAP", "HAVE_DRAND48", "HAVE_STDINT_H", "HAVE_UNISTD_H")
LAST = re.compile(r"Game over\. Your score is (\d+)")
ZIAP = re.compile(r"Score +: Max (\d+) .*\nPerformance +: ([\d.]+) moves/s \| ([\d.]+)s")

Game = tuple[int, int, float]
"""The score of a game, its moves, the seconds of work that it took."""


def build(source: Path, depth: int, folder: Path) -> Path:
    """Compile the other program, nneonneo's with a depth of its own; return it."""
    program = folder / "bin" / "2048"
    if (source / "build.zig").exists():
        places = f"--prefix {folder} --cache-dir {folder} --global-cache-dir {folder}"
        words = ["zig", "build", "--release=fast", *places.split()]
        subprocess.run(words, cwd=source, check=True)
        return program
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
    program.parent.mkdir()
    words = ["g++", "-O3", "-march=native", "-I", str(folder), "-o", str(program)]
    subprocess.run([*words, str(folder / "2048.cpp")], check=True)
    return program


def theirs(words: list[str]) -> Game:
    """Let the other program play a game."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if told := ZIAP.search(text):
        score, moves = int(told[1]), round(float(told[2]) * float(told[3]))
    else:
        (last,) = LAST.findall(text)
        score, moves = int(last), text.count("\nMove #")
    return score, moves, after.ru_utime - before.ru_utime


def ours(ms: float, seed: int) -> Game:
    """Let our player play a game."""
    player = ExpectimaxPlayer(ms=ms, evaluation="heuristic")
    player.searcher(get_rules("classic")).prepare(plays=True)
    start = time.process_time()
    (game,) = player.play_games(get_rules("classic"), [seed])
    return game.score, game.moves, time.process_time() - start


def shown(games: list[Game]) -> str:
    """Return how a player has done so far, and its last game."""
    scores, moves, seconds = np.array(games).T
    error = scores.std(ddof=1) / len(scores) ** 0.5 if len(scores) > 1 else np.nan
    return (
        f"{scores[-1]:>9,.0f}, mean {scores.mean():>9,.0f} ± {error:<7,.0f}"
        f" {1000 * seconds.sum() / moves.sum():.3f} ms"
    )


def main(source: Path, games: int = 100, setting: int | None = None, first: int = 1) -> None:
    """Play and print."""
    is_ziap = (source / "build.zig").exists()
    setting = setting if setting is not None else 24_500 if is_ziap else 3
    others: list[Game] = []
    own: list[Game] = []
    with tempfile.TemporaryDirectory() as folder:
        words = [str(build(source, setting, Path(folder)))]
        for seed in range(first, first + games):
            options = f"-i 1 -t 1 -b {setting} -s {seed}".split() if is_ziap else []
            others.append(theirs(words + options))
            _, moves, seconds = np.sum(others, axis=0)
            own.append(ours(round(1000 * seconds / moves, 3), seed))
            print(f"{seed:>4}  theirs {shown(others)}   ours {shown(own)}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
