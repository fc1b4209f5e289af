"""TD learning: updates follow the equations, and trainings are reproducible."""

from __future__ import annotations

import runpy
from collections import defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engine.boards import ODD_RULES
from tests.players.ntuple.networks import put_board

from py2048 import Board, Game, Rules
from py2048.core.errors import WeightsError
from py2048.core.rng import derive_seed
from py2048.lab.training import _td_kernels as kernels
from py2048.lab.training.trainer import RECORD, Trainer, TrainingConfig
from py2048.players.ntuple._network_kernels import SPARE, indices_small
from py2048.players.ntuple.network import Network
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher

ROOT = Path(__file__).resolve().parents[3]
SMALL = TrainingConfig(rules_text="classic:size=2x3", tuples="lines+squares", seed=5)
TRAJECTORY = [
    Board.from_rows(rows)
    for rows in (
        [[2, 0, 2], [4, 0, 0]],
        [[4, 0, 0], [4, 2, 0]],
        [[8, 2, 2], [0, 0, 0]],
        [[8, 2, 2], [0, 0, 0]],
        [[2, 2, 2], [2, 2, 2]],
    )
]
REWARDS = [4.0, 0.0, 8.0, 4.0, 12.0]
STAGES = [0, 1, 0, 1, 1]


@cache
def learn() -> Any:
    """Return the kernel that learns from a trajectory."""
    return kernels.make_learn_kernel(indices_small, np.uint64(RECORD))


def met(trainer: Trainer, board: Board) -> list[int]:
    """Return the weight indices of a board, one per tuple and image."""
    boards = np.zeros((1, 2), np.uint64)
    put_board(trainer.layout, boards, 0, board)
    out = np.zeros((1, trainer.layout.active + SPARE), np.uint64)
    indices_small(boards, 0, trainer.spec, out, 0)
    return [int(index) for index in out[0, :-SPARE]]


def taught(config: TrainingConfig, path: list[Board], gains: list[float], target: float) -> Trainer:
    """Return a new trainer after one update along a trajectory."""
    trainer = Trainer(config)
    worker = trainer.workers[0]
    for step, board in enumerate(path):
        put_board(trainer.layout, worker.trajectory, step, board)
        worker.rewards[step] = gains[step]
        worker.stages[step] = STAGES[step] if config.stages else 0
    with np.errstate(over="ignore"):
        learn()(worker, len(path), target, trainer.inputs)
    return trainer


def plainly_taught(
    config: TrainingConfig, path: list[Board], gains: list[float], target: float
) -> dict[int, list[float]]:
    """Compute the same update in plain Python: index -> [weight, E, A]."""
    trainer, table = Trainer(config), defaultdict[int, list[float]](lambda: [0.0, 0.0, 0.0])
    for board, gain, stage in reversed(list(zip(path, gains, STAGES, strict=True))):
        later = trainer.layout.size if stage and config.stages else 0
        indices = met(trainer, board)
        value = sum(table[index + later][0] or table[index][0] for index in indices)
        error = target - value
        for index in indices:
            record = table[index + later]
            record[0] = record[0] or table[index][0]
            rate = abs(record[1]) / record[2] if config.temporal_coherence and record[2] else 1.0
            change = config.learning_rate * rate * error / len(indices)
            record[0] += change
            value += change
            if config.temporal_coherence:
                record[1] += error
                record[2] += abs(error)
        target = gain + (1 - config.lambda_) * value + config.lambda_ * target
    return table


@pytest.mark.parametrize("lambda_", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("learning_rate", [0.1, 1.0])
@pytest.mark.parametrize("stages", [(), (16,)])
def test_an_update_follows_the_equations(
    lambda_: float, learning_rate: float, stages: tuple[int, ...]
) -> None:
    """TD(0), TD(λ) and Monte Carlo updates equal plain Python, also with stages."""
    rates = {"lambda_": lambda_, "learning_rate": learning_rate}
    config = replace(SMALL, stages=stages, **rates)
    trainer = taught(config, TRAJECTORY, REWARDS, -100.0)
    table = plainly_taught(config, TRAJECTORY, REWARDS, -100.0)
    expected = np.zeros_like(trainer.records)
    for index, record in table.items():
        expected[index, :3] = record
    assert np.allclose(trainer.records, expected, rtol=1e-5, atol=1e-5)
    assert np.abs(expected).max() > 1


# --- trainings -----------------------------------------------------------------------------------


def test_threads_share_the_games() -> None:
    """Threads play each game once, and evaluations do not depend on them."""
    trainer = Trainer(TrainingConfig.from_data(SMALL.data() | {"threads": 3}))
    trainer.run(games=200)
    assert trainer.games == trainer.tally.games == 200
    assert trainer.tally.ranks.sum() == 200
    one, three = trainer.evaluate(50, 9, threads=1), trainer.evaluate(50, 9, threads=3)
    assert (one.total, one.squares) == (three.total, three.squares)
    assert np.array_equal(one.ranks, three.ranks)


@pytest.mark.parametrize(
    "text",
    [
        "classic:size=2x3",
        "ist:size=3x3",
        "comp1127:size=3x3,target=32",
        "qsan_qarut:size=2x4",
        "cmput175:size=3x4,scoring=moves:2:-1",
        "classic:size=2x2,start=4,scoring=sum,target=16,end=target",
        ODD_RULES[0],
        *(pytest.param(text, marks=pytest.mark.slow) for text in (ODD_RULES[1], ODD_RULES[3])),
    ],
)
def test_a_training_plays_by_the_rules(text: str) -> None:
    """A training game equals the `Game` of its seed."""
    rules = Rules.parse(text)
    config = TrainingConfig(text, "squares", learning_rate=0.0)
    layout = config.layout
    # Whole-numbered weights sum exactly, so both choose the same move where two are equal.
    weights = np.random.default_rng(1).integers(-90, 90, layout.weights).astype(np.float32)
    network = Network(layout, rules, weights)
    trainer, searcher = Trainer(config, network), Searcher(rules, network, SearchLimits(depth=1))
    trainer.run(games=20)
    tally, evaluated = trainer.tally, trainer.evaluate(20, derive_seed(config.seed, 0))
    assert tally.data() == evaluated.data()
    scores, best = [], []
    for number in range(20):
        game = Game(rules, seed=derive_seed(derive_seed(config.seed, 0), number))
        while not game.is_over:
            ratings = searcher.rate(game.board)
            game.play(max(ratings, key=ratings.__getitem__))
        scores.append(game.score)
        best.append(game.board.max_tile.bit_length() - 1)
    assert tally.games == 20
    assert tally.total == sum(scores)
    assert np.array_equal(tally.ranks, np.bincount(best, minlength=64))


def test_restarts_begin_after_so_many_moves() -> None:
    """Before `restart_after`, a training equals one without restarts."""
    values = SMALL.data() | {"restart_length": 10, "restart_after": 3000}
    never, later = Trainer(SMALL), Trainer(TrainingConfig.from_data(values))
    while later.moves < 3000:
        assert later.tally.games == later.games
        assert np.array_equal(never.records, later.records)
        never.run(games=1)
        later.run(games=1)
    later.run(games=100)
    assert later.tally.games < later.games
    shared = TrainingConfig.from_data(values | {"threads": 3})
    trainer = Trainer(shared)
    trainer.run(moves=2700)
    assert trainer.tally.games == trainer.games
    assert trainer.inputs.params.restart_after == 1000


def test_stages_carousel_and_restarts() -> None:
    """Games start from stored stage boards, and untrained weights are promoted."""
    values = SMALL.data() | {"stages": [16, 32], "carousel": True, "restart_length": 10}
    trainer = Trainer(TrainingConfig.from_data(values))
    trainer.run(games=400)
    worker = trainer.workers[0]
    assert worker.started[1] > 0 < worker.started[2]
    assert trainer.tally.games < trainer.games
    network = trainer.network()
    stages = network.weights.reshape(3, -1)
    unknown = trainer.records.reshape(3, -1, RECORD)[2, :, 0] == 0
    assert unknown.any()
    assert np.array_equal(stages[2][unknown], stages[1][unknown])
    assert not np.array_equal(stages[2], stages[1])


def test_a_later_stage_is_added_to_what_was_learnt() -> None:
    """A new stage starts from the weights of the stage before."""
    trainer = Trainer(SMALL)
    trainer.run(games=500)
    old = trainer.network()
    values = SMALL.data() | {"stages": [32], "carousel": True, "learning_rate": 0.1, "seed": 8}
    later = Trainer(TrainingConfig.from_data(values), old)
    board = Board.from_rows([[32, 8, 0], [2, 4, 0]])
    assert later.network().value(board) == old.value(board)
    later.run(games=2000)
    assert later.evaluate(2000, 1).mean > trainer.evaluate(2000, 1).mean
    assert later.network().value(board) != old.value(board)
    with pytest.raises(WeightsError, match="leave these settings out"):
        Trainer(SMALL, later.network())


@pytest.mark.slow
def test_the_example_makes_a_player_ten_times_as_strong(capsys: pytest.CaptureFixture[str]) -> None:
    """The example's player is ten times as strong as an untrained one."""
    runpy.run_path(str(ROOT / "examples" / "train_3x3.py"), run_name="__main__")
    words = capsys.readouterr().out.split()
    assert float(words[words.index("factor") + 1]) > 8
