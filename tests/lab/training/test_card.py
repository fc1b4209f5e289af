"""Training in many games at once: the reference, and the CUDA source against it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import CommandLine
from tests.engine import emulation

from py2048.cli import main
from py2048.core.errors import Py2048Error
from py2048.engine import cuda
from py2048.lab.training.card import CardTrainer
from py2048.lab.training.trainer import Trainer, TrainingConfig
from py2048.players.ntuple.weights import load

SMALL = TrainingConfig(tuples="lines+squares", device="reference", games_at_once=64, seed=3)
ODD = replace(SMALL, ranks=7, restart_length=30)
"""Downgraded tiles, games from the middle."""


def is_same(one: CardTrainer, other: CardTrainer) -> bool:
    """Return whether two trainings have the same state, bit for bit."""
    mine, theirs = one.arrays(), other.arrays()
    return all(
        np.array_equal(mine[name].view(np.uint8), theirs[name].view(np.uint8)) for name in mine
    )


card = emulation.every_card


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize("config", [SMALL, ODD], ids=["small", "odd"])
def test_a_card_learns_what_the_reference_learns(config: TrainingConfig) -> None:
    """The CUDA source and the reference have the same state, bit for bit."""
    reference, trainer = CardTrainer(config), CardTrainer(replace(config, device="cuda"))
    for moves in (30, 1000):
        reference.run(moves=moves)
        trainer.run(moves=moves)
        assert is_same(reference, trainer)
    assert trainer.evaluate(1, 5).data() == reference.evaluate(1, 5).data()


def test_one_game_at_once_is_td0_of_the_plain_trainer() -> None:
    """With one game and one waiting afterstate, learning is TD(0) except for rounding."""
    tiles = "+".join(f"{2**rank}:1" for rank in range(1, 13))
    values: dict[str, Any] = {
        "rules": f"many:start=13x{tiles},spawn=2:9+4:1",
        "tuples": "01249 0156b",
        "trajectory_length": 1,
        "seed": 1,
    }
    plain = Trainer(TrainingConfig.from_data(values))
    card = CardTrainer(
        TrainingConfig.from_data(values | {"device": "reference", "games_at_once": 1})
    )
    plain.run(games=1)
    card.run(moves=plain.moves + 1)  # the game ends one step after its last move
    assert card.moves == plain.moves + 1 > 20
    weights = card.network().weights
    met = plain.records[:, 0] != 0
    assert met.sum() > 100
    assert np.array_equal(weights != 0, met)
    assert weights[met] == pytest.approx(plain.records[met, 0], abs=1 / 128)


def test_the_command_trains_on_the_reference(tmp_path: Path, cli: CommandLine) -> None:
    """The command trains and resumes on the reference device."""
    folder = str(tmp_path / "net")
    settings = ["-s", "tuples=lines+squares", "-s", "games_at_once=8", "-s", "evaluate_every=20"]
    assert "mean" in cli("train", folder, "--device", "reference", "--games", "40", *settings)
    resumed = ["train", folder, "--resume", "-q", "--set", "learning_rate=0.1", "--games", "60"]
    assert main(resumed) == 0
    assert len((tmp_path / "net" / "curve.csv").read_text().splitlines()) > 2
    note = load(tmp_path / "net" / "weights.npz").history[-1]
    assert note["games"] >= 60
    assert note["plan"]["device"] == "reference"


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("rules=5x5", "device reference supports only 4x4"),
        ("stages=[16384]", "does not support stages"),
        ("temporal_coherence=false", "needs temporal_coherence"),
        ("games_at_once=100000", "games_at_once must be at most 32767"),
        ("device=gpu", "device = gpu"),
    ],
)
def test_what_no_card_can_do_is_refused(
    setting: str, reason: str, tmp_path: Path, cli: CommandLine
) -> None:
    """Unsupported settings are refused in one line."""
    given = ["-s", "device=reference", "-s", setting]
    assert reason in cli.error("train", str(tmp_path / "net"), *given)


def test_without_a_card_the_command_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a GPU, the error says what is missing."""
    try:
        cuda.card()
    except Py2048Error:
        assert main(["train", str(tmp_path / "net"), "--device", "cuda"]) == 2
        assert len(error := capsys.readouterr().err.splitlines()) == 1
        assert "GPU" in error[0]
        assert not (tmp_path / "net").exists()
    else:
        pytest.skip("there is a card")
