"""`BandTrainer`: learns one band of a network from saved boards, on several threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.compiled.rules import CompiledRules
from py2048.errors import WeightsError
from py2048.ntuple._network_kernels import SPARE, PackedBoardSpec
from py2048.ntuple.archive import Array, check_fields, is_object, open_archive, write_archive
from py2048.ntuple.layout import NetworkLayout
from py2048.ntuple.network import NEVER, Band, Bands, Network, board_spec, value_params
from py2048.ntuple.weights import MAX_STEP, band_of
from py2048.rng import derive_seed
from py2048.training import _td_kernels as kernels
from py2048.training.trainer import RECORD, TrainingConfig, in_threads, new_worker, td_params

KIND = "py2048-band-training"
OVERLAP = 64
"""A band learns so far into the sums of the band above, where searches from its end look."""
MAX_MOVES = 1 << 14
"""Games of more moves end; the rest is taken from their last value."""
KEPT = "boards", "progress", "scores"
"""The parts of a worker's state that are saved, between two games."""


class BandTrainer:
    """Learns one band; what the network knows already stays as it is.

    Args:
        network: the network, with the bands that are finished; it has no stages.
        layout: the tuples and ranks of the bands.
        band: the band.
        starts: saved boards of the band, as packed words, uint64 `[boards, 2]`.
        lambda_: λ of TD(λ).
        restart_length: games of more moves are followed by one from their middle; 0 for never.
        seed: the seed of all games.
        threads: how many games are played at the same time.

    Raises:
        WeightsError: if bands are impossible on this network, or there are no boards.
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
        if network.layout.kind != "4x4" or network.layout.stages:
            raise WeightsError("bands are for networks on 4x4 boards without stages")
        if not len(starts):
            raise WeightsError(f"there are no boards with {band.tile} and the sum {band.least}")
        self.network, self.layout, self.band = network, layout, band
        self.records = np.zeros((layout.size, RECORD), np.float32)
        self._starts = starts
        self._value_params = value_params(layout, network.rules)
        settings = TrainingConfig(
            str(network.rules), lambda_=lambda_, restart_length=restart_length, ranks=layout.ranks
        )
        self._td_params = td_params(settings)
        above, above_weights = self._view_above()
        end = np.int64(above.least + OVERLAP) if above.ending else NEVER
        view = _view_of(band, end, 0, RECORD, 1.0)
        self._values = kernels.BandNetwork(
            self._below(), self.records.reshape(-1), view, above_weights, above
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

    def _view_above(self) -> tuple[kernels.BandView, NDArray[np.int16]]:
        """Return the next band with the same tile and its weights, or a band of nothing."""
        bands = self.network.bands
        for number, band in enumerate(bands.bands if bands else ()):
            if bands and band.tile == self.band.tile and band.least > self.band.least:
                view = _view_of(band, NEVER, number * self.layout.size, 1, bands.step)
                return view, bands.unpacked
        return _view_of(Band(0, 0), NEVER, 0, 1, 1.0), np.zeros(1, np.int16)

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
        """Play and learn for about so many moves."""
        each = np.int64(-(-moves // len(self.workers)))
        params = self._td_params._replace(learning_rate=float(learning_rate))
        known = self._values, self._value_params, params

        def work(number: int) -> None:
            self._kernel(*known, self.workers[number], self._starts, self._seeds[number], each)

        in_threads(work, len(self.workers))

    def reset_coherence(self) -> None:
        """Forget the errors of all weights, so that they learn at the full rate again."""
        self.records[:, 1:] = 0

    def finished(self, step: float) -> Network:
        """Return the network with this band as it is now.

        Raises:
            WeightsError: if the network's bands have other tuples or another step.
        """
        rounded = np.rint(self.records[:, 0] / np.float32(step))
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
        used = np.flatnonzero((self.records[:, 0] != 0) | (self.records[:, 2] != 0))
        arrays: list[tuple[str, Array]]
        arrays = [("used", used), ("records", self.records[used])]
        for number, worker in enumerate(self.workers):
            arrays += [(f"worker{number}/{name}", getattr(worker.state, name)) for name in KEPT]
        write_archive(path, KIND, {"band": self.band._asdict(), "notes": notes}, arrays)

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
            WeightsError: if the file is damaged, or of another band.
        """
        if self.band_of(path) != self.band:
            raise WeightsError(f"{path} is of another band")
        with open_archive(path, KIND) as archive:
            self.records[archive.read("used")] = archive.read("records")
            for number, worker in enumerate(self.workers):
                for name in KEPT:
                    if f"worker{number}/{name}" in archive.names():
                        getattr(worker.state, name)[...] = archive.read(f"worker{number}/{name}")
            return dict(archive.header["notes"])


def _view_of(band: Band, end: np.int64, first: int, stride: int, step: float) -> kernels.BandView:
    return kernels.BandView(
        np.uint64(band.ending),
        np.int64(band.least),
        float(band.level),
        float(band.slope),
        float(band.goal),
        np.int64(end),
        np.uint64(first),
        np.uint64(stride),
        np.float32(step),
    )
