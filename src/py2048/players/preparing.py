"""Compile kernels for one player in the background, or for all players ahead of time.

A subprocess compiles the kernels, and this process loads them from the on-disk cache. A thread in
the same process would freeze the screen for tenths of a second, or for seconds on a busy machine.
The kernels are compiled on a thread only if no cache folder is writable.

The subprocess runs ``python -m py2048.players.preparing SPEC RULES``, or another module that calls
`compile_in_child`.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryDirectory
from typing import IO

from py2048.core.board import Board
from py2048.core.errors import PlayerError
from py2048.core.game import Game
from py2048.core.rules import Rules, get_rules, list_rules
from py2048.engine.jit import progress
from py2048.engine.jit.disk_cache import cache_directory
from py2048.engine.jit.progress import Compiling
from py2048.players.player import Player
from py2048.players.registry import make_player

REPORT_PERIOD_S = 0.25
"""Seconds between progress reports of the subprocess."""

WARM_UP_SPECS = "expectimax:depth=1", "heuristic:depth=1"

NICENESS = 5
"""Niceness of the subprocess."""


class Preparation:
    """Compiles a player's kernels for a set of rules.

    Attributes:
        is_over: Whether compiling has ended. If compiling failed, the player raises the error on
            first use.
    """

    def __init__(self, player: Player, rules: Rules, module: str | None) -> None:
        self._player, self._rules, self._module = player, rules, module
        self._reported = Compiling()
        self.is_over = False
        threading.Thread(target=self._run, name="preparation", daemon=True).start()

    @property
    def progress(self) -> Compiling:
        """Progress of the compiler."""
        return progress.now() or self._reported

    def _run(self) -> None:
        with suppress(Exception, SystemExit):  # using the player raises the error again
            if not (self._module and cache_directory() and self._run_subprocess(self._module)):
                _use_once(self._player, self._rules)
        self.is_over = True

    def _run_subprocess(self, module: str) -> bool:
        """Compile in a subprocess that ends with this process; return whether it succeeded."""
        # The option -P prevents imports from the current folder, where a student may have a
        # random.py.
        command = [sys.executable, "-P", "-m", module, self._player.name, str(self._rules)]
        try:
            process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True)
        except OSError:
            return False
        with process:
            assert process.stdout is not None  # it is a pipe
            for line in process.stdout:
                done, total, share = line.split()
                self._reported = Compiling(int(done), int(total), float(share))
        return process.returncode == 0


_running: dict[tuple[str, Rules], Preparation] = {}
_lock = threading.Lock()


def prepare(player: Player, rules: Rules, module: str | None = __name__) -> Preparation:
    """Start compiling a player's kernels, unless they are already being compiled.

    Args:
        player: The player.
        rules: The rules.
        module: The module to run in the subprocess, or None to compile on a thread.
    """
    with _lock:
        key = player.name, rules
        for other in [each for each, running in _running.items() if running.is_over]:
            del _running[other]
        if key not in _running:
            _running[key] = Preparation(player, rules, module)
        return _running[key]


def _use_once(player: Player, rules: Rules) -> None:
    """Compile a player's kernels by rating and choosing the first move of a game."""
    game = Game(rules, seed=1)
    if not game.is_over:
        player.rate(game)
        player.choose(game)


def compile_in_child(make: Callable[[str], Player]) -> None:
    """Compile the kernels for the player and the rules given on the command line.

    Args:
        make: Function that creates the player from its name.
    """
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    threading.Thread(target=_end_with_parent, args=(sys.stdin,), daemon=True).start()
    threading.Thread(target=_report, daemon=True).start()
    _use_once(make(sys.argv[1]), Rules.parse(sys.argv[2]))


def _end_with_parent(stdin: IO[str]) -> None:
    """Exit when the parent process closes the pipe."""
    stdin.read()
    os._exit(1)


def _report() -> None:
    while True:
        if state := progress.now():
            print(state.done, state.total, state.share, flush=True)
        time.sleep(REPORT_PERIOD_S)


# --- everything ----------------------------------------------------------------------------------


def warmup_tasks() -> list[tuple[str, Callable[[], object]]]:
    """Return named tasks that compile the kernels of all players for all presets."""
    pairs = [(spec, rules) for rules in list_rules() for spec in WARM_UP_SPECS]
    pairs += [("beam", get_rules("cits1401")), ("perfect", Rules.parse("ist:size=2x2"))]
    players: list[tuple[str, Callable[[], object]]] = [
        (f"{spec.partition(':')[0]} under {rules.name}", partial(_rate, spec, rules))
        for spec, rules in pairs
    ]
    return [*players, ("tables of endings", _build_table)]


def _rate(spec: str, rules: Rules) -> None:
    """Make a player rate the first move of a game, unless the player does not support the rules."""
    with suppress(PlayerError):
        make_player(spec).rate(Game(rules, seed=1))


def _build_table() -> None:
    """Build the smallest endgame table and look up a board, which compiles the table kernels."""
    from py2048.players.solving import Formation, build_table

    tiles = [[2, 0, 32, 64], *([2**rank for rank in range(n, n + 4)] for n in (7, 11, 15))]
    with TemporaryDirectory() as folder:
        table = build_table(Formation("any", (0xFFFC,), 3, 14), 16, Path(folder) / "table")
        table.chance_of(Board(tiles))


if __name__ == "__main__":
    compile_in_child(make_player)
