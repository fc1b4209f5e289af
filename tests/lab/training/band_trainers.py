"""Trainers of bands for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.lab.training.bands import BandTask
from py2048.lab.training.card import CardTrainer
from py2048.lab.training.run import make_trainer
from py2048.lab.training.trainer import Trainer, TrainingConfig
from py2048.players.ntuple.layout import NetworkLayout, cells_text
from py2048.players.ntuple.network import Band, Network


def band_trainer(
    network: Network,
    layout: NetworkLayout,
    band: Band,
    starts: NDArray[np.uint64],
    **settings: Any,
) -> Trainer | CardTrainer:
    """Create a trainer of a band with tuples of its own."""
    tuples = " ".join(map(cells_text, layout.tuples))
    own = {"rules_text": str(network.rules), "tuples": tuples, "ranks": layout.ranks}
    config = TrainingConfig(**own | {"restart_length": 20} | settings)
    return make_trainer(config, task=BandTask(network, band, starts))


def learn(trainer: Trainer | CardTrainer, moves: int, rate: float) -> None:
    """Train for a number of moves at a learning rate."""
    trainer.config = replace(trainer.config, learning_rate=rate)
    trainer.run(moves=moves)
