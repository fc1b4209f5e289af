"""Making a player ready in the background: compiling what it needs.

Compiled kernels go into the cache, so another process can compile them. That leaves the screen of
this one alone, which compiling on a thread would hold up for tenths of a second, and for seconds
on a busy machine. Where no cache can be written, a thread has to do.

``python -m py2048.players.preparing SPEC RULES`` is that other process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import IO

from py2048.compiled.jit import cache_directory, progress
from py2048.compiled.jit.progress import Compiling
from py2048.game import Game
from py2048.players.player import Player
from py2048.players.registry import make_player
from py2048.rules import Rules

PERIOD = 0.25
"""Seconds between two reports of the other process."""

NICENESS = 5
"""How far the other process stands back."""


class Preparation:
    """A player that is being made ready for games under some rules.

    Attributes:
        is_over: whether it has ended. A player that fails will say so when it is asked.
    """

    def __init__(self, player: Player, rules: Rules, *, apart: bool) -> None:
        self._player, self._rules, self._apart = player, rules, apart
        self._reported = Compiling()
        self.is_over = False
        threading.Thread(target=self._run, name="preparation", daemon=True).start()

    @property
    def progress(self) -> Compiling:
        """How far it is."""
        return progress.now() or self._reported

    def _run(self) -> None:
        try:
            if not (self._apart and cache_directory() and self._compile_apart()):
                _ask(self._player, self._rules)
        except Exception:  # noqa: BLE001 - who asks the player next hears of it
            pass
        finally:
            self.is_over = True

    def _compile_apart(self) -> bool:
        """Compile in another process, which ends with this one; return whether it succeeded."""
        # -P: files of the folder that we are in, such as a student's random.py, are not imported.
        command = [sys.executable, "-P", "-m", __name__, self._player.name, str(self._rules)]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
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


def prepare(player: Player, rules: Rules, *, apart: bool = True) -> Preparation:
    """Return the preparation of a player for rules: the one that is running, or else a new one.

    Args:
        player: who is made ready.
        rules: the rules to be ready for.
        apart: compile in another process, if there is a cache.
    """
    with _lock:
        key = player.name, rules
        if key not in _running or _running[key].is_over:
            _running[key] = Preparation(player, rules, apart=apart)
        return _running[key]


def _ask(player: Player, rules: Rules) -> None:
    """Let a player rate and choose its first move."""
    game = Game(rules, seed=1)
    if not game.is_over:
        player.rate(game)
        player.choose(game)


def _main(spec: str, rules: str) -> None:
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    threading.Thread(target=_end_with_parent, args=(sys.stdin,), daemon=True).start()
    threading.Thread(target=_report, daemon=True).start()
    _ask(make_player(spec), Rules.parse(rules))


def _end_with_parent(stdin: IO[str]) -> None:
    """End this process, whatever it does, when nobody holds the other end of its input."""
    stdin.read()
    os._exit(1)


def _report() -> None:
    while True:
        if state := progress.now():
            print(state.done, state.total, state.share, flush=True)
        time.sleep(PERIOD)


if __name__ == "__main__":
    _main(*sys.argv[1:])
