"""The compiled engine agrees with its plain form and with published counts and scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.engine.perft import GOLDEN, perft
from tests.players.solving.making import maker
from tests.processes import python

from py2048.core.rules import get_rules
from py2048.engine.batch import BatchGames, behaviour_signature, rollouts
from py2048.players.solving import solve

packages = pytest.mark.parametrize("package", ["engine", "envs"])


def exercise(package: str, *options: str, **environment: str) -> str:
    """Run the kernels of a package in a separate process; return the output."""
    if package == "envs":
        pytest.importorskip("gymnasium", reason="Gymnasium is not installed")
    tests = Path(__file__).parents[1]
    source = tests.parent / "src"
    program = tests / package / "exercise.py"
    return python(program, *options, check=True, PYTHONPATH=str(source), **environment).stdout


@packages
def test_kernels_are_the_same_compiled_and_plain(package):
    """All kernels give the same results in plain Python."""
    compiled = exercise(package)
    assert len(compiled) > 10_000
    assert exercise(package, "--plain", PY2048_JIT="0") == compiled


@pytest.mark.slow
@packages
@pytest.mark.timeout(1200)
def test_kernels_never_leave_their_arrays(package):
    """With bounds checks, all kernels give the same results as optimised ones."""
    assert exercise(package, NUMBA_BOUNDSCHECK="1") == exercise(package, NUMBA_OPT="3")


@pytest.mark.parametrize(("side", "target"), [(2, 8), (2, 16), (2, 32), (2, 64), (3, 8)])
def test_reachable_boards_agree_with_published_counts(side, target):
    """The reference engine reaches exactly the published number of boards."""
    assert perft(side, side, target) == GOLDEN[side, target]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("side", "target"),
    [
        pytest.param(*task, marks=pytest.mark.slow if GOLDEN[task] > 10**6 else ())
        for task in GOLDEN
    ],
)
def test_the_solver_reaches_the_published_number_of_boards(side, target):
    """Of the boards in a solution, up to 25 million can be played on, as published."""
    solution = solve(f"classic:size={side}x{side}", f"tile={target}")
    every_sum = solution.layers[-1].total
    legal = [np.count_nonzero(moves) for _, moves in maker.best_moves(solution, every_sum)]
    assert sum(legal) == GOLDEN[side, target]


@pytest.mark.parametrize("games", [40_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_random_play_scores_as_published(games):
    """Random 4x4 games average 1,095 points and 118.4 moves, within four standard errors."""
    rules = get_rules("classic")
    played = rollouts(rules, BatchGames(rules, games, seed=1).observe(), 1, seed=1)
    error = played.scores.std() / games**0.5
    assert played.scores.mean() == pytest.approx(1095.0, abs=4 * error + 0.5)
    assert played.plies.mean() == pytest.approx(118.4, abs=(4 * error + 0.5) / 10)


def test_behaviour_signature_is_pinned():
    """The signature of fixed games under every preset never changes silently."""
    assert behaviour_signature() == 14_293_230_736_704_080_366
