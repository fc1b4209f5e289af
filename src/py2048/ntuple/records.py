"""Records of a network's play: what it expected in each stage, what came, and which tiles it made.

Until it has been compared with play, a value is an estimate of unknown error. ``py2048 weights FILE
--records`` plays games without search and keeps what it finds in a small file beside the weights;
hints correct a value by them and call it points, and give a chance, only where there are records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from py2048.board import Board
from py2048.errors import WeightsError
from py2048.game.record import write_atomically

KIND, VERSION = "py2048-records", 1
FEWEST = 100
"""With fewer games, a stage's records say nothing."""
CORRECTABLE = 0.5
"""How much of what came values may be off by and still say something when that is taken off."""
CERTAIN = 0.99
"""A tile that this share of the games make is as good as made."""
MEANS = ("predicted", "realised", "error")
START = 2
"""The tile of the stage from the start of the game up to the first tile with stages of its own."""


class StageRecord(NamedTuple):
    """What came of the boards with which games entered a stage.

    Attributes:
        tile: the largest tile of the stage.
        least: the least sum of all tiles.
        games: how many games entered it.
        predicted: the mean of the points to come, as the network valued these boards.
        realised: the mean of the points that came.
        error: the standard error of the mean of their difference.
        made: how many of the games made each larger tile.
    """

    tile: int
    least: int
    games: int
    predicted: float
    realised: float
    error: float
    made: Mapping[int, int]

    @property
    def excess(self) -> float:
        """The points that values are too high by, in the mean."""
        return self.predicted - self.realised

    @property
    def is_calibrated(self) -> bool:
        """Whether the excess is small enough for values without it to be points."""
        return abs(self.excess) <= CORRECTABLE * self.realised

    @property
    def next_tile(self) -> int:
        """The first larger tile that is in doubt; if none is, the largest that was made."""
        tile = 2 * self.tile
        while self.made.get(2 * tile) and self.made[tile] >= CERTAIN * self.games:
            tile *= 2
        return tile


@dataclass(frozen=True)
class TrackRecord:
    """The records of a network that plays without search.

    Attributes:
        games: how many games were played.
        seed: the seed of all games.
        stages: the stages that were reached, ascending.
    """

    games: int
    seed: int
    stages: tuple[StageRecord, ...]

    def of(self, board: Board) -> StageRecord | None:
        """Return the record of a board's stage, if there are enough games of it."""
        reached = [each for each in self._along(board) if each.least <= board.sum]
        return reached[-1] if reached else None

    def excess(self, board: Board) -> float:
        """Return the points that values of a board are too high by; between stages, on a line.

        Raises:
            ValueError: if its largest tile has no records.
        """
        along = self._along(board)
        return float(np.interp(board.sum, [r.least for r in along], [r.excess for r in along]))

    def scale(self, board: Board) -> float:
        """Return the points that came for each one expected; between stages, on a line.

        It is 1 where there are no records, or values say nothing.
        """
        along = [each for each in self._along(board) if each.is_calibrated and each.predicted > 0]
        if not along:
            return 1.0
        ratios = [each.realised / each.predicted for each in along]
        return float(np.interp(board.sum, [each.least for each in along], ratios))

    def _along(self, board: Board) -> list[StageRecord]:
        """Return the stages of a board's largest tile that have enough games."""
        first = min((each.tile for each in self.stages if each.tile > START), default=START)
        tile = board.max_tile if board.max_tile >= first else START
        return [each for each in self.stages if each.tile == tile and each.games >= FEWEST]

    def save(self, path: Path, weights: str) -> None:
        """Save the records of a network with the checksum `weights`.

        Raises:
            WeightsError: if the file cannot be written.
        """
        head = {"format": KIND, "version": VERSION, "weights": weights}
        head |= {"games": self.games, "seed": self.seed}
        rows = ",\n".join(f"  {json.dumps(_rounded(each))}" for each in self.stages)
        text = f'{json.dumps(head)[:-1]}, "stages": [\n{rows}\n]}}\n'
        try:
            write_atomically(path, text.encode())
        except OSError as error:
            raise WeightsError(f"{path} cannot be written: {error}") from None

    @classmethod
    def load(cls, path: Path, weights: str) -> TrackRecord | None:
        """Return the records in a file, if they are of the network with the checksum `weights`.

        Raises:
            WeightsError: if the file is missing, damaged or of another kind.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if (data["format"], data["version"]) != (KIND, VERSION):
                raise ValueError(f"no {KIND} of version {VERSION}")
            found = cls(int(data["games"]), int(data["seed"]), tuple(map(_stage, data["stages"])))
            return found if data["weights"] == weights else None
        except OSError as error:
            raise WeightsError(f"{path} cannot be read: {error}") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise WeightsError(
                f"{path} is damaged ({error}): delete it, or measure again with py2048 weights"
            ) from None


def _rounded(record: StageRecord) -> dict[str, Any]:
    means = {name: round(getattr(record, name), 1) for name in MEANS}
    return record._asdict() | means


def _stage(row: Mapping[str, Any]) -> StageRecord:
    tile, least, games = (int(row[name]) for name in ("tile", "least", "games"))
    predicted, realised, error = (float(row[name]) for name in MEANS)
    made = {int(goal): int(count) for goal, count in row["made"].items()}
    return StageRecord(tile, least, games, predicted, realised, error, made)
