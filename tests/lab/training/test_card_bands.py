"""Bands trained in many games at once: CUDA source against reference and threads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.engine import emulation
from tests.engine.boards import pack
from tests.lab.training.band_trainers import band_trainer, learn

from py2048 import Board, get_rules
from py2048.core.errors import WeightsError
from py2048.engine import cuda
from py2048.lab.training.bands import BandTask
from py2048.lab.training.card import CardTrainer, source_of
from py2048.lab.training.trainer import TrainingConfig
from py2048.players.ntuple.layout import NetworkLayout, parse_tuples
from py2048.players.ntuple.network import Band, Bands, Network

BASE = NetworkLayout(4, 4, parse_tuples("0123 4567", 4, 4), ranks=7)  # as in test_ascent.py
LAYOUT = NetworkLayout(4, 4, parse_tuples("0123 4567", 4, 4), ranks=9)
BAND = Band(512, 540, 200.3, 2.7, 5000.0, makes=128)
ABOVE = Band(512, 600, -100.1, 1.3, 9000.0, makes=128)
"""Games that come to a sum of 664 continue in it."""


def network(above: Band | None = ABOVE, kind: type = np.int16) -> Network:
    """Return a network with random weights, and optionally a band above."""
    generator = np.random.default_rng(4)
    table = generator.integers(-100, 300, BASE.weights).astype(kind)
    whole = Network(BASE, get_rules("classic"), table, step=0.7)
    if above is None:
        return whole
    added = generator.integers(-100, 300, LAYOUT.size).astype(np.int16)
    return replace(whole, bands=Bands(LAYOUT, (above,), added, 2.3))


def starts() -> NDArray[np.uint64]:
    """Return boards of the band with a 512, a pair of 64 and smaller tiles."""
    generator = np.random.default_rng(5)
    ranks = generator.integers(0, 6, (3000, 16)).astype(np.uint64)
    ranks[:, 0], ranks[:1000, 5:7] = 9, 6
    sums = ((1 << ranks) * (ranks > 0)).sum(axis=1)
    words = (ranks << (np.arange(16, dtype=np.uint64) * np.uint64(4))).sum(1, dtype=np.uint64)
    chosen = words[(sums >= 560) & (sums < 662)]
    return np.stack([chosen, np.zeros_like(chosen)], axis=1)


def card_trainer(
    device: str = "reference", above: Band | None = ABOVE, **settings: Any
) -> CardTrainer:
    given = {"games_at_once": 8, "seed": 3, "device": device, "restart_length": 0} | settings
    trainer = band_trainer(network(above), LAYOUT, BAND, starts(), **given)
    assert isinstance(trainer, CardTrainer)
    return trainer


card = emulation.every_card


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize("above", [ABOVE, None], ids=["a band above", "no band above"])
def test_a_card_learns_the_bands_of_the_reference(above: Band | None) -> None:
    """The CUDA source trains bands like the reference, bit for bit."""
    reference, trainer = (
        card_trainer(each, above, restart_length=9) for each in ("reference", "cuda")
    )
    for moves, rate in ((20, 0.5), (400, 0.05)):
        for each in (reference, trainer):
            learn(each, moves, rate)
            each.reset_coherence()
        assert trainer.weights.tobytes() == reference.weights.tobytes()
        assert (trainer.games, trainer.moves) == (reference.games, reference.moves)
        assert trainer.passed == reference.passed
    assert np.count_nonzero(reference.weights) > 1000
    assert 0 < reference.passed < 1


def test_the_source_compiles_for_a_card() -> None:
    """NVRTC compiles the source of a whole network, and of a band above any kind of weights."""
    pytest.importorskip("cupy")
    networks = [network(kind=kind) for kind in (np.int16, np.float32)]
    bands = [BandTask(below, BAND, starts()) for below in networks]
    for task in (BandTask.whole(get_rules("classic")), *bands):
        config = TrainingConfig(tuples="0123 4567", device="cuda")
        assert b"learn" in cuda.compiled(source_of(config, task), "90")


def test_values_and_endings_are_those_of_threads() -> None:
    """Without learning, games and endings equal those of the CPU trainer."""
    known = network(), LAYOUT, BAND, starts()
    plain = band_trainer(*known, restart_length=0, seed=3)
    card = card_trainer(restart_length=0, games_at_once=1)
    learn(plain, 1500, 0.0)
    learn(card, plain.moves + 1, 0.0)
    assert (card.games, card.moves) == (plain.games, plain.moves + 1)
    assert card.passed == plain.passed
    assert 0.1 < plain.passed < 0.9


FULL = "64 32 16 8/2 64 4 16/16 2 64 4"
DYING, PASSING, RISING = (f"{row}/{FULL}" for row in ("4 4 256 128", "256 128 128 2", "4 4 8 8"))
"""Boards with one move left, then the end; then a 512; then what the band above says."""


@pytest.mark.parametrize("text", [DYING, PASSING, RISING])
def test_what_is_learnt_is_that_of_threads(text: str) -> None:
    """A game with one afterstate teaches the same as on the CPU trainer."""
    board = Board.parse(text)
    band = Band(256, board.sum - 100, 123.4, 1.7, 50_000.0)
    above = Band(256, board.sum - 62, 5.0, 0.3, 70_000.0) if text == RISING else None
    known = network(above), LAYOUT, band, np.array([pack(board)])
    plain = band_trainer(*known, seed=3)
    card = band_trainer(*known, seed=3, games_at_once=1, device="reference")
    learn(plain, 1, 1.0)
    learn(card, 2, 1.0)  # the second begins the next game
    assert (plain.games, plain.moves) == (card.games, card.moves - 1) == (1, 1)
    assert card.passed == plain.passed == (text != DYING)
    assert np.count_nonzero(plain.weights) == LAYOUT.active
    assert card.weights == pytest.approx(plain.weights, abs=1e-3)


def test_what_no_card_can_train_is_refused() -> None:
    """Boards with a 65536 and larger target tiles are refused."""
    late = np.array([[1, 1]], np.uint64)
    for band, boards in ((Band(1 << 16, 1 << 16), starts()), (BAND, late)):
        with pytest.raises(WeightsError, match="up to the tile 65536"):
            band_trainer(network(None), LAYOUT, band, boards, device="reference")
