"""Train one band of a network from saved boards.

With a `BandTask`, a `Trainer` or `CardTrainer` trains a band instead of a whole network. Games
start from saved boards of the band. The weights of the network itself and of other bands do not
change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import WeightsError
from py2048.core.rules import Rules
from py2048.lab.training._td_kernels import BandInputs, BandView
from py2048.players.ntuple.layout import NetworkLayout
from py2048.players.ntuple.network import NEVER, Band, Bands, Boards, Network, empty_boards
from py2048.players.ntuple.weights import MAX_STEP

OVERLAP_SUM = 64
"""How far training games continue into the next band, as a difference of tile sums. Searches near
the end of a band also evaluate boards in the next band.
"""


class BandTask(NamedTuple):
    """A band to train.

    Attributes:
        network: The network with all finished bands. It must not have stages.
        band: The band.
        starts: Saved boards of the band as packed words, uint64 `[boards, 2]`.
    """

    network: Network
    band: Band
    starts: Boards

    @classmethod
    def whole(cls, rules: Rules) -> BandTask:
        """Return a task for a whole network, which is trained as a band that never ends."""
        layout = NetworkLayout(*rules.shape, ((0,),))
        network = Network.zeros(layout, rules)
        return cls(network, Band(0, 0, makes=int(NEVER)), empty_boards(layout, 0))

    def check(self) -> None:
        """Check that the network can have bands, and that there are start boards.

        Raises:
            WeightsError: If the network cannot have bands, or there are no start boards.
        """
        if self.network.layout.kind != "4x4" or self.network.layout.stages:
            raise WeightsError("bands are for networks on 4x4 boards without stages")
        if not len(self.starts):
            band = self.band
            raise WeightsError(f"there are no boards with {band.tile} and the sum {band.least}")

    def inputs(self, layout: NetworkLayout) -> BandInputs:
        """Return the kernels' inputs for this band. They stay the same during training."""
        network, (above, weights) = self.network, self._above(layout)
        end = np.int64(above.least + OVERLAP_SUM) if above.ending else NEVER
        step, own = np.float32(network.step), _view_of(self.band, end, 1.0)
        return BandInputs(network.spec, network.table, step, own, weights, above, self.starts)

    def _above(self, layout: NetworkLayout) -> tuple[BandView, NDArray[np.int16]]:
        """Return the tile's following band and its weights, or zeros if none exists."""
        bands, size = self.network.bands, layout.size
        for number, band in enumerate(bands.bands if bands else ()):
            if bands and band.tile == self.band.tile and band.least > self.band.least:
                weights = bands.unpacked[number * size :][:size]
                return _view_of(band, NEVER, bands.step), weights
        return _view_of(Band(0, 0), NEVER, 1.0), np.zeros(1, np.int16)

    def finished_network(
        self, weights: NDArray[np.float32], layout: NetworkLayout, step: float
    ) -> Network:
        """Return the network with this band added. Its weights are rounded to multiples of `step`.

        Raises:
            WeightsError: If existing bands have a different layout or step.
        """
        rounded = np.rint(weights / np.float32(step))
        table = np.clip(rounded, -MAX_STEP, MAX_STEP).astype(np.int16)
        bands = self.network.bands
        if bands is None:
            return replace(self.network, bands=Bands(layout, (self.band,), table, step))
        if bands.layout != layout or bands.step != step:
            raise WeightsError("all bands of a network need the same tuples, ranks and step")
        return replace(self.network, bands=bands.with_band(self.band, table))


def _view_of(band: Band, end: np.int64, step: float) -> BandView:
    return BandView(
        np.uint64(band.ending),
        np.int64(band.least),
        float(band.level),
        float(band.slope),
        float(band.goal),
        np.int64(end),
        np.float32(step),
    )
