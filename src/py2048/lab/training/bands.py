"""`BandTrainer` and `CardBandTrainer`: learn one band of a network from saved boards.

The one does so on several threads, the other with thousands of games at once (``card.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import WeightsError
from py2048.core.rng import derive_seed
from py2048.engine.rules import CompiledRules
from py2048.lab.training import _td_kernels as kernels
from py2048.lab.training.card import MAX_RANK, CardTrainer, Ground
from py2048.lab.training.trainer import RECORD, TrainingConfig, in_threads, new_worker, td_params
from py2048.players.ntuple._network_kernels import SPARE, PackedBoardSpec
from py2048.players.ntuple.archive import (
    Archive,
    Array,
    check_fields,
    is_object,
    open_archive,
    write_archive,
)
from py2048.players.ntuple.layout import NetworkLayout, cells_text
from py2048.players.ntuple.network import NEVER, Band, Bands, Network, board_spec, value_params
from py2048.players.ntuple.weights import MAX_STEP, band_of

KIND = "py2048-band-training"
OVERLAP = 64
"""A band learns so far into the sums of the band above, where searches from its end look."""
MAX_MOVES = 1 << 14
"""Games of more moves end; the rest is taken from their last value."""
KEPT = "boards", "progress", "scores"
"""The parts of a worker's state that are saved, between two games."""
SPARSE = "weights", "learning"
"""The arrays of a card's trainer that are saved where they are used only."""


class BandTrainerBase:
    """What a training of a band on any device has.

    Args:
        network: the network, with the bands that are finished; it has no stages.
        layout: the tuples and ranks of the bands.
        band: the band.
        starts: saved boards of the band, as packed words, uint64 `[boards, 2]`.
        settings: how it is trained, as in `TrainingConfig`.

    Raises:
        WeightsError: if bands are impossible on this network, or there are no boards.
    """

    def __init__(
        self,
        network: Network,
        layout: NetworkLayout,
        band: Band,
        starts: NDArray[np.uint64],
        **settings: Any,
    ) -> None:
        if network.layout.kind != "4x4" or network.layout.stages:
            raise WeightsError("bands are for networks on 4x4 boards without stages")
        if not len(starts):
            raise WeightsError(f"there are no boards with {band.tile} and the sum {band.least}")
        self.network, self.layout, self.band = network, layout, band
        tuples = " ".join(map(cells_text, layout.tuples))
        settings |= {"tuples": tuples, "ranks": layout.ranks}
        self._config = TrainingConfig(str(network.rules), **settings)
        self._starts = starts
        self._above, self._above_weights = self._view_above()
        end = np.int64(self._above.least + OVERLAP) if self._above.ending else NEVER
        self.view = _view_of(band, end, 1.0)

    def _view_above(self) -> tuple[kernels.BandView, NDArray[np.int16]]:
        """Return the next band with the same tile and its weights, or a band of nothing."""
        bands, size = self.network.bands, self.layout.size
        for number, band in enumerate(bands.bands if bands else ()):
            if bands and band.tile == self.band.tile and band.least > self.band.least:
                weights = bands.unpacked[number * size :][:size]
                return _view_of(band, NEVER, bands.step), weights
        return _view_of(Band(0, 0), NEVER, 1.0), np.zeros(1, np.int16)

    @property
    def weights(self) -> NDArray[np.float32]:
        """What has been learnt, float32 `[layout.size]`."""
        raise NotImplementedError

    def finished(self, step: float) -> Network:
        """Return the network with this band as it is now.

        Raises:
            WeightsError: if the network's bands have other tuples or another step.
        """
        rounded = np.rint(self.weights / np.float32(step))
        table = np.clip(rounded, -MAX_STEP, MAX_STEP).astype(np.int16)
        bands = self.network.bands
        if bands is None:
            return replace(self.network, bands=Bands(self.layout, (self.band,), table, step))
        if bands.layout != self.layout or bands.step != step:
            raise WeightsError("the bands of a network have the same tuples, ranks and step")
        return replace(self.network, bands=bands.with_band(self.band, table))

    # --- checkpoints -----------------------------------------------------------------------------

    def save(self, path: Path, notes: Mapping[str, object]) -> None:
        """Save what has been learnt, and `notes` in plain JSON; a crash leaves the file before."""
        header = {"band": self.band._asdict(), "notes": notes, "device": self._config.device}
        write_archive(path, KIND, header, self._arrays())

    @staticmethod
    def band_of(path: Path) -> Band:
        """Return the band of a file of `save`.

        Raises:
            WeightsError: if the file is damaged.
        """
        with open_archive(path, KIND) as archive:
            checks = {"band": (is_object, "an object"), "notes": (is_object, "an object")}
            check_fields(path, archive.header, checks)
            return band_of(path, archive.header["band"])

    def restore(self, path: Path) -> dict[str, Any]:
        """Continue from a file of `save`; return its notes.

        Raises:
            WeightsError: if the file is damaged, of another band, or of a device that learns
                otherwise.
        """
        if self.band_of(path) != self.band:
            raise WeightsError(f"{path} is of another band")
        with open_archive(path, KIND) as archive:
            device = archive.header.get("device", "cpu")
            if (device == "cpu") != (self._config.device == "cpu"):
                raise WeightsError(f"{path} was begun on the device {device}, and stays there")
            self._take(archive)
            return dict(archive.header["notes"])

    def _arrays(self) -> list[tuple[str, Array]]:
        raise NotImplementedError

    def _take(self, archive: Archive) -> None:
        raise NotImplementedError


class BandTrainer(BandTrainerBase):
    """Learns one band on threads; what the network knows already stays as it is.

    Args:
        network: as in `BandTrainerBase`, and the next three.
        layout: the tuples and ranks of the bands.
        band: the band.
        starts: saved boards of the band.
        lambda_: λ of TD(λ).
        restart_length: games of more moves are followed by one from their middle; 0 for never.
        seed: the seed of all games.
        threads: how many games are played at the same time.
    """

    def __init__(
        self,
        network: Network,
        layout: NetworkLayout,
        band: Band,
        starts: NDArray[np.uint64],
        *,
        lambda_: float = 0.5,
        restart_length: int = 20,
        seed: int = 1,
        threads: int = 1,
    ) -> None:
        super().__init__(
            network, layout, band, starts, lambda_=lambda_, restart_length=restart_length
        )
        self.records = np.zeros((layout.size, RECORD), np.float32)
        self._value_params = value_params(layout, network.rules)
        self._td_params = td_params(self._config)
        view, weights = self.view._replace(stride=np.uint64(RECORD)), self.records.reshape(-1)
        self._values = kernels.BandNetwork(
            self._below(), weights, view, self._above_weights, self._above
        )
        self._kernel = kernels.make_band_kernel(RECORD, network.layout.code, layout.code)
        self.workers = [self._worker() for _ in range(threads)]
        self._seeds = [np.uint64(derive_seed(seed, number)) for number in range(threads)]

    def _below(self) -> kernels.Below:
        rules = CompiledRules.of(self.network.rules)
        spec, band_spec = self.network.spec, board_spec(self.layout, self.network.rules)
        assert isinstance(spec, PackedBoardSpec), "the board is 4x4"
        assert isinstance(band_spec, PackedBoardSpec), "the board is 4x4"
        return kernels.Below(
            spec,
            self.network.table,
            np.float32(self.network.step),
            band_spec,
            float(rules.merge_points),
            rules.points_per_move,
        )

    def _worker(self) -> kernels.BandWorker:
        state = new_worker(self.layout, MAX_MOVES)
        below_indices = np.zeros((4, self.network.layout.active + SPARE), np.uint64)
        return kernels.BandWorker(state, below_indices, np.zeros(4))

    @property
    def games(self) -> int:
        """Games played so far."""
        return sum(int(worker.state.progress[kernels.GAMES]) for worker in self.workers)

    @property
    def moves(self) -> int:
        """Moves played so far."""
        return sum(int(worker.state.progress[kernels.MOVES]) for worker in self.workers)

    @property
    def passed(self) -> float:
        """The share of the games from saved boards that left the band upwards."""
        finished, passed, _ = np.sum([worker.state.scores for worker in self.workers], axis=0)
        return float(passed / max(finished, 1))

    def run(self, moves: int, learning_rate: float) -> None:
        """Play and learn for about `moves` moves."""
        each = np.int64(-(-moves // len(self.workers)))
        params = self._td_params._replace(learning_rate=float(learning_rate))
        known = self._values, self._value_params, params

        def work(number: int) -> None:
            self._kernel(*known, self.workers[number], self._starts, self._seeds[number], each)

        in_threads(work, len(self.workers))

    def reset_coherence(self) -> None:
        """Forget the errors of all weights, so that they learn at the full rate again."""
        self.records[:, 1:] = 0

    @property
    def weights(self) -> NDArray[np.float32]:
        """What has been learnt, float32 `[layout.size]`."""
        return self.records[:, 0]

    def _arrays(self) -> list[tuple[str, Array]]:
        used = np.flatnonzero((self.records[:, 0] != 0) | (self.records[:, 2] != 0))
        return [
            ("used", used),
            ("records", self.records[used]),
            *(
                (f"worker{number}/{name}", getattr(worker.state, name))
                for number, worker in enumerate(self.workers)
                for name in KEPT
            ),
        ]

    def _take(self, archive: Archive) -> None:
        self.records[archive.read("used")] = archive.read("records")
        for number, worker in enumerate(self.workers):
            for name in KEPT:
                if f"worker{number}/{name}" in archive.names():
                    getattr(worker.state, name)[...] = archive.read(f"worker{number}/{name}")


class CardBandTrainer(BandTrainerBase):
    """Learns one band as a graphics card does, in thousands of games at once.

    Args:
        network: as in `BandTrainerBase`, and the rest.
        layout: the tuples and ranks of the bands.
        band: the band.
        starts: saved boards of the band.
        settings: among them the device.

    Raises:
        WeightsError: if there is a 65536 on a board, or a larger tile is to be made.
    """

    def __init__(
        self,
        network: Network,
        layout: NetworkLayout,
        band: Band,
        starts: NDArray[np.uint64],
        **settings: Any,
    ) -> None:
        super().__init__(network, layout, band, starts, **settings)
        if starts[:, 1].any() or max(band.ending, int(self._above.ending)) > 1 << MAX_RANK:
            raise WeightsError(f"a card trains bands up to a {1 << MAX_RANK}, which it may make")
        boards = np.ascontiguousarray(starts[:, 0])
        ground = Ground(network, self.view, self._above, self._above_weights, boards)
        self._trainer = CardTrainer(self._config, ground=ground)

    @property
    def games(self) -> int:
        """Games played so far."""
        return self._trainer.games

    @property
    def moves(self) -> int:
        """Moves played so far."""
        return self._trainer.moves

    @property
    def passed(self) -> float:
        """The share of the games from saved boards that left the band upwards."""
        return self._trainer.passed

    @property
    def weights(self) -> NDArray[np.float32]:
        """What has been learnt, float32 `[layout.size]`."""
        return self._trainer.network().weights

    def run(self, moves: int, learning_rate: float) -> None:
        """Play and learn for `moves` moves."""
        self._trainer.config = replace(self._config, learning_rate=float(learning_rate))
        self._trainer.run(moves=moves)

    def reset_coherence(self) -> None:
        """Forget the errors of all weights, so that they learn at the full rate again."""
        self._trainer.reset_coherence()

    def _arrays(self) -> list[tuple[str, Array]]:
        arrays = self._trainer.arrays()
        used = np.flatnonzero((arrays["weights"] != 0) | (arrays["learning"][:, 1] != 0))
        kept = {name: arrays[name][used] if name in SPARSE else arrays[name] for name in arrays}
        return [("used", used), *kept.items()]

    def _take(self, archive: Archive) -> None:
        arrays, used = self._trainer.arrays(), archive.read("used")
        for name, array in arrays.items():
            if name in SPARSE:
                array[used] = archive.read(name)
            elif archive.read(name).shape != array.shape:
                raise WeightsError(f"{archive.path} has another number of games at once")
            else:
                array[...] = archive.read(name)
        self._trainer.take_arrays(arrays)


def _view_of(band: Band, end: np.int64, step: float) -> kernels.BandView:
    return kernels.BandView(
        np.uint64(band.ending),
        np.int64(band.least),
        float(band.level),
        float(band.slope),
        float(band.goal),
        np.int64(end),
        np.uint64(0),
        np.uint64(1),
        np.float32(step),
    )
