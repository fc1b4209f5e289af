"""Files written by py2048 0.1, before the redesign, can be read."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from py2048 import Board, get_rules
from py2048.lab.arena import Tournament
from py2048.lab.arena.log import GameLog
from py2048.lab.training.run import StopCriteria, TrainingRun
from py2048.players.ntuple.weights import load

FILES = Path(__file__).parent / "files"
BOARD = Board.from_rows([[8, 2, 0], [2, 4, 0]])


def test_weights_keep_their_values():
    """Exact and packed weights keep their values in both stages."""
    exact, packed = load(FILES / "weights-exact.npz"), load(FILES / "weights-packed.npz")
    assert exact.value(BOARD) == pytest.approx(97.49130249)
    assert packed.value(BOARD) == 98.5
    assert exact.value(Board.from_rows([[2, 0, 0], [0, 0, 0]])) == pytest.approx(130.27529907)


def test_a_training_continues(tmp_path):
    """A training run continues with its settings, games and curve."""
    shutil.copy(FILES / "checkpoint.npz", tmp_path)
    run = TrainingRun.resume(tmp_path)
    config = run.trainer.config
    assert (config.learning_rate, config.lambda_, config.trajectory_length) == (0.5, 0.25, 16)
    assert (config.optimistic_init, config.restart_length, config.threads) == (10.0, 8, 2)
    assert (run.trainer.games, run.trainer.moves, run.curve[-1].mean) == (20, 385, 206.0)
    run.run(StopCriteria(games=30, evaluate_every=10))
    assert run.trainer.games == 30
    assert len(run.curve) == 3


def test_a_log_is_read(tmp_path):
    """All games of a log are read."""
    path = Path(shutil.copy(FILES / "arena-log.jsonl", tmp_path))
    tournament = Tournament(("greedy", "corner"), get_rules("2x4"), 2, seed=3)
    with closing(GameLog(path, tournament)) as log:
        assert [game.score for game in log.played] == [76, 460, 72, 272]
    assert path.read_bytes() == (FILES / "arena-log.jsonl").read_bytes()
