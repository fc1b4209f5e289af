"""Reviews do not depend on the machine."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from py2048 import Game, make_player

COMMAND = sys.executable, "-m", "py2048", "review", "--json", "--quiet"

GENERIC = "import os, sys; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
GENERIC += "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
"""Runs Python on one processor, so that nothing is divided among threads."""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processors cannot be chosen")
@pytest.mark.parametrize("rules", ["classic", "5x5", "3x3", "2x4"])
def test_another_processor_gives_the_same_review(rules, tmp_path):
    """Generic code on one thread gives the same review, byte for byte, as native code.

    The judges are a network on 4x4, one on another board, a search beside known best moves, and an
    exact solution.
    """
    game, player = Game(rules, seed=5), make_player("greedy")
    while game.ply < 60 and not game.is_over:
        game.play(player.choose(game))
    file = tmp_path / "game.2048.json"
    game.record().save(file)
    usual = subprocess.run([*COMMAND, file], check=True, capture_output=True).stdout
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "PYTHONHASHSEED": "1"}
    other |= {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    command = [sys.executable, "-c", GENERIC, *COMMAND[1:], file]
    environment = {**os.environ, **other}
    found = subprocess.run(command, env=environment, check=True, capture_output=True).stdout
    assert found == usual
    assert usual.count(b'"grade"') == game.ply
