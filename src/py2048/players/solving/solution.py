"""`Solution`: the exact value of every reachable position, in memory or in a file."""

from __future__ import annotations

import math
import zlib
from collections import OrderedDict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, RulesError, SolvingError, os_errors_as
from py2048.core.rules import Rules
from py2048.players.solving import _solver_kernels as kernels
from py2048.players.solving.files import (
    Array,
    Keys,
    Name,
    lookup_of,
    read_footer,
    sorted_unique,
    write_file,
)
from py2048.players.solving.goal import Goal, Problem, refusal

MAGIC = b"py2048 solution 1\n"
"""First and last bytes of a solution file.

The file contains the keys (uint64) and values (float64) of each layer, little-endian. A JSON footer
follows, in the format that `py2048.players.solving.files` describes.
"""

DEFAULT_CACHED_BYTES = 1 << 30
"""Maximum total size of the layers cached for lookups, in bytes. All layers of 3x3 fit."""


class Arrays(Protocol):
    """Source of layer arrays."""

    def get(self, name: Name, /) -> Array:
        """Return the array with this name, or an empty array if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class LayerCount:
    """The number of boards with a given tile sum.

    Attributes:
        total: Sum of the tiles on each board.
        positions: Number of boards, counting symmetric boards once.
        boards: Number of boards, counting every symmetric image.
    """

    total: int
    positions: int
    boards: int


@dataclass(frozen=True, slots=True)
class StartValue:
    """Value of a starting position.

    Attributes:
        board: A starting board, which stands for all its symmetric images.
        chance: Probability that a game starts with this board or any of its images.
        value: The value of this position under perfect play. If games are scored by the board's
            tile sum, the starting tiles count towards the value.
    """

    board: Board
    chance: float
    value: float


@dataclass(frozen=True)
class SolvingProgress:
    """Progress of a solver.

    Attributes:
        stage: ``boards`` while boards are enumerated forward, ``values`` while they are evaluated
            backward.
        total: Tile sum of the layer that was completed last.
        done: Number of boards completed in this stage.
        all: Number of boards to complete in this stage, or 0 if unknown.
        seconds: Seconds since the stage began.
    """

    stage: str
    total: int
    done: int
    all: int
    seconds: float

    def __str__(self) -> str:
        if not self.all:
            return f"finding boards: {self.done:,}, up to a sum of {self.total:,}"
        left = self.seconds * (self.all - self.done) / max(self.done, 1)
        share = self.done / self.all
        # The first layers are too small to predict the remaining time.
        time_left = f", {left:,.0f} s left" if share >= 0.01 else ""
        return f"finding values: {share:.0%} of {self.all:,} boards{time_left}"


class Solution:
    """The exact values of all positions, for one set of rules and one goal.

    A value is either the expected score of perfect play, or the probability that perfect play
    reaches a tile.

    Attributes:
        problem: The rules and the goal, encoded for the kernels.
        rules: The rules for which the values are valid.
        goal: What perfect play maximises.
        layers: Number of boards for each tile sum, in ascending order of sums.
        error: Maximum rounding error of a value.
        seconds: Solving time.
        starts: Starting positions with their values.
    """

    def __init__(
        self,
        problem: Problem,
        arrays: Arrays,
        layers: list[LayerCount],
        error: float,
        seconds: float,
        memory: int = DEFAULT_CACHED_BYTES,
    ) -> None:
        self.rules, self.goal = problem.rules, problem.goal
        self.layers, self.error, self.seconds = tuple(layers), error, seconds
        self.problem, self._arrays, self._memory = problem, arrays, memory
        self._lookups: OrderedDict[int, kernels.Lookup] = OrderedDict()
        self.starts = tuple(self._start_values())

    def _start_values(self) -> list[StartValue]:
        problem, found = self.problem, []
        by_sum = problem.for_points and problem.compiled.sum_points
        for board, chance in problem.starts().items():
            is_open = problem.stopped_value(board) is None and board.can_move()
            start = board.sum if by_sum and is_open else 0
            found.append(StartValue(board, float(chance), start + self.value_of(board)))
        return found

    @property
    def value(self) -> float:
        """Value of the game: the expected value over all starting positions."""
        return math.fsum(start.chance * start.value for start in self.starts)

    @property
    def positions(self) -> int:
        """Number of reachable boards, counting symmetric boards once."""
        return sum(layer.positions for layer in self.layers)

    # --- positions -------------------------------------------------------------------------------

    def value_of(self, board: Board) -> float:
        """Return a board's value under perfect play, in future points or as a probability.

        If games are scored by the board's tile sum, tiles already on the board do not count towards
        the value.

        Raises:
            BoardError: If the board is not reachable under the rules.
        """
        problem = self.problem
        key = np.uint64(kernels.key_of(problem.pack(board), problem.spec))
        if (stopped := problem.stopped_value(board)) is not None:
            return stopped
        known = self.layer(board.sum)
        place = int(np.searchsorted(known.keys, key))
        if place == len(known.keys) or known.keys[place] != key:
            raise refusal(self.rules, board)
        return float(known.values[place])

    def meets(self, board: Board) -> bool:
        """Return whether a board is reachable."""
        try:
            self.value_of(board)
        except BoardError:
            return False
        return True

    def layer(self, total: int) -> kernels.Lookup:
        """Return a lookup table of all boards with this tile sum. It may be empty."""
        lookups = self._lookups
        if total not in lookups:
            keys, values = (self._arrays.get((kind, total)) for kind in ("before", "values"))
            lookups[total] = lookup_of(keys, values, 4 * self.rules.cells)
            while len(lookups) > 1 and sum(map(_size_of, lookups.values())) > self._memory:
                lookups.popitem(last=False)
        lookups.move_to_end(total)
        return lookups[total]

    def move_values(self, board: Board) -> dict[Direction, float]:
        """Return the value of each legal move, including the points of the move.

        Raises:
            BoardError: If the board is not reachable under the rules.
        """
        self.value_of(board)  # raises if the board is unreachable
        word, spec = self.problem.pack(board), self.problem.spec
        if self.problem.stopped_value(board) is not None:
            return {}
        afters = self.afterstates(np.array([kernels.key_of(word, spec)], np.uint64), board.sum)
        legal = board.legal_directions()
        return {each: float(kernels.worth(word, each.value, spec, afters)) for each in legal}

    def best(self, board: Board) -> Direction | None:
        """Return the best move, or `None` at the end of a game.

        Ties go to the first direction in `Direction`.

        Raises:
            BoardError: If the board is not reachable under the rules.
        """
        values = self.move_values(board)
        return max(values, key=values.__getitem__) if values else None

    def afterstates(self, keys: Keys, total: int) -> kernels.Lookup:
        """Return a lookup table of all afterstates of boards that have this tile sum."""
        found = np.empty(4 * len(keys), np.uint64)
        afters = sorted_unique(found[: kernels.slide_all(keys, self.problem.spec, found)]).copy()
        to_come = np.empty(len(afters))
        self.problem.expect(afters, lambda tile: self.layer(total + tile), to_come)
        return lookup_of(afters, to_come, 4 * self.rules.cells)

    # --- files -----------------------------------------------------------------------------------

    def save(self, path: Path | str) -> None:
        """Save the solution to a file.

        Raises:
            SolvingError: If the file cannot be written.
        """
        write_file(path, MAGIC, self._write)

    def _write(self, file: BinaryIO) -> dict[str, Any]:
        checks = []
        for layer in self.layers:
            check = 0
            for kind in ("before", "values"):
                data = np.ascontiguousarray(self._arrays.get((kind, layer.total))).tobytes()
                check = zlib.crc32(data, check)
                file.write(data)
            checks.append(check)
        return {
            "rules": str(self.rules),
            "goal": str(self.goal),
            "layers": [asdict(layer) for layer in self.layers],
            "checks": checks,
            "error": self.error,
            "seconds": self.seconds,
        }

    @classmethod
    def load(cls, path: Path | str, *, memory: int = DEFAULT_CACHED_BYTES) -> Solution:
        """Open a solution file; its layers are read on demand.

        Args:
            path: The file.
            memory: Maximum size of the cached layers in bytes.

        Raises:
            SolvingError: If the file is missing or damaged.
        """
        file = Path(path)
        about = read_footer(file, MAGIC, _damaged(file))
        try:
            layers = [LayerCount(**layer) for layer in about["layers"]]
            problem = Problem(Rules.parse(about["rules"]), Goal.parse(about["goal"]))
            arrays = _FileArrays(file, layers, about["checks"])
            error, seconds = float(about["error"]), float(about["seconds"])
            return cls(problem, arrays, layers, error, seconds, memory)
        except (KeyError, TypeError, RulesError):
            raise _damaged(file) from None


def _size_of(known: kernels.Lookup) -> int:
    """Return the size of a lookup table in bytes."""
    return known.keys.nbytes + known.values.nbytes + known.heads.nbytes


def _damaged(path: Path) -> SolvingError:
    return SolvingError(f"{path} is damaged, or is not a solution: solve and save it again")


class _FileArrays:
    """The arrays in a solution file. Each layer is verified when it is first read."""

    def __init__(self, path: Path, layers: list[LayerCount], checks: list[int]) -> None:
        self._path = path
        self._places: dict[int, tuple[int, int, int]] = {}
        self._read: tuple[int, Array, Array] | None = None
        place = len(MAGIC)
        for layer, check in zip(layers, checks, strict=True):
            self._places[layer.total] = place, layer.positions, check
            place += 16 * layer.positions

    def get(self, name: Name, /) -> Array:
        kind, total = name
        if total not in self._places:
            return np.empty(0, np.uint64 if kind == "before" else np.float64)
        if self._read is None or self._read[0] != total:
            place, length, check = self._places[total]
            with os_errors_as(SolvingError, str(self._path)), self._path.open("rb") as file:
                file.seek(place)
                data = np.fromfile(file, "<u8", 2 * length)
            if len(data) != 2 * length or zlib.crc32(data.data) != check:
                raise _damaged(self._path)
            self._read = total, data[:length], data[length:].view("<f8")
        _, keys, values = self._read
        return keys if kind == "before" else values
