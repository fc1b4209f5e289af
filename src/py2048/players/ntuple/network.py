"""n-tuple networks: the points still to come as a sum of weights, looked up by the board's cells.

A network [1] looks at a few groups of cells, its *tuples*. Each has a table with a weight for
every combination of tiles on its cells, and the value of an afterstate is the sum of the weights
that its tuples, applied to all symmetric images of the board, find there. This is linear in the
weights and takes a few dozen memory accesses, so it learns well and plays fast.

[1] Szubert & Jaśkowski, "Temporal difference learning of n-tuple networks for the game 2048", 2014.
"""

from __future__ import annotations

import mmap
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.core.board import Board
from py2048.core.errors import BoardError, WeightsError
from py2048.core.rules import Rules
from py2048.engine.boards import tiles_of
from py2048.engine.jit import IS_PLAIN
from py2048.engine.rules import CompiledRules
from py2048.players.ntuple import _network_kernels as kernels
from py2048.players.ntuple.layout import NetworkLayout, downgraded, parts_of

Weights = NDArray[np.float32]
Quantized = NDArray[np.int16]
Bytes = NDArray[np.uint8]
BoardSpec = kernels.BoardSpec
Boards = kernels.Boards

NEVER = np.int64(2**62)
"""More points than any slide gains."""

NEAR = 512
"""A band is unpacked in the background once the sum of a board is so near: 230 moves before."""

MAX_RANK = 31
"""The largest rank on a board that a network rates."""


IDLE_S = 30.0
"""Seconds for which a part is kept that no search asks for: games in progress come back to it."""
UNPACKING = "py2048-unpacking"
"""The name of threads that unpack in the background."""
PAGE = 1 << 21
"""Memory is given back in such pages."""
MIN_GAMES = 100
"""With fewer games, a stage's records say nothing."""
CORRECTABLE = 0.5
"""The share of the real points by which values may be off and still be worth correcting."""
CERTAIN = 0.99
"""A tile that this share of the games make is as good as made."""
START = 2
"""The tile of the stage from the start of the game up to the first tile with stages of its own."""


# --- weights that are unpacked when they are needed ----------------------------------------------


class PackedWeights(NamedTuple):
    """16-bit weights of which most are zero, as files hold them (``weights.py``).

    Attributes:
        used: a bit for each weight, the first one highest: whether it is not zero.
        low: the low bytes of those, as zigzag numbers.
        high: their high bytes.
    """

    used: Bytes
    low: Bytes
    high: Bytes

    def add_to(self, steps: Quantized) -> None:
        """Add the weights to others, which wrap around."""
        (add_changes if IS_PLAIN else kernels.add_changes)(*self, steps)


def add_changes(used: Bytes, low: Bytes, high: Bytes, steps: Quantized) -> None:
    """Do the same as the kernel in NumPy, for use where kernels are not compiled."""
    zigzag = low.astype(np.uint16) | high.astype(np.uint16) << 8
    bits = np.unpackbits(used, count=steps.size).view(np.bool_)
    steps[bits] += ((zigzag >> 1) ^ (0 - (zigzag & 1))).view(np.int16)


class LazyTable:
    """A table of equally large parts, of which those that are in use are unpacked.

    Args:
        packed: for each part a function that returns its weights.
        size: the number of weights of a part.

    Attributes:
        table: the weights, int16 `[parts * size]`; zeros where a part is not unpacked.
        loaded: the numbers of the parts that are, with the time when each was last asked for.
    """

    def __init__(self, packed: Sequence[Callable[[], PackedWeights]], size: int) -> None:
        self._packed = packed
        self._size = size
        self._memory = _zeros(2 * size * len(packed))
        self.table: Quantized = np.frombuffer(self._memory, np.int16)
        self.loaded: dict[int, float] = {}
        self._holders = [0] * len(packed)
        self._lock = threading.Lock()
        self._unpacking = [threading.Lock() for _ in packed]

    @contextmanager
    def holding(self, numbers: Iterable[int]) -> Iterator[None]:
        """Have some parts unpacked for a while."""
        held = list(numbers)
        self._take(held)
        try:
            yield
        finally:
            with self._lock:
                for number in held:
                    self._holders[number] -= 1

    def hold_all(self) -> Quantized:
        """Unpack all parts for good; return the table."""
        self._take(range(len(self._packed)))
        return self.table

    def check(self) -> None:
        """Read all parts, one after the other, and keep none.

        Raises:
            WeightsError: if one is damaged.
        """
        for read in self._packed:
            read()

    def expect(self, numbers: Iterable[int]) -> None:
        """Unpack some parts in the background, for those who ask for them soon."""
        for number in numbers:
            if number not in self.loaded and not self._holders[number]:
                thread = threading.Thread(target=self._visit, args=[number], name=UNPACKING)
                thread.start()

    def _visit(self, number: int) -> None:
        with suppress(WeightsError), self.holding([number]):  # the search that needs it says so
            pass

    def _take(self, numbers: Sequence[int]) -> None:
        with self._lock:
            for number in numbers:  # from now on they are not given back
                self._holders[number] += 1
        for number in numbers:
            with self._unpacking[number]:
                if number not in self.loaded:
                    self._packed[number]().add_to(self._part(number))
                self.loaded[number] = time.monotonic()
        with self._lock:
            for number, asked in list(self.loaded.items()):
                if asked < time.monotonic() - IDLE_S and not self._holders[number]:
                    self._give_back(number)

    def _part(self, number: int) -> Quantized:
        return self.table[number * self._size :][: self._size]

    def _give_back(self, number: int) -> None:
        del self.loaded[number]
        start, length = 2 * self._size * number, 2 * self._size
        if sys.platform == "linux" and start % PAGE == length % PAGE == 0:
            self._memory.madvise(mmap.MADV_DONTNEED, start, length)  # there it is all zeros then
        else:
            self._part(number)[:] = 0


def _zeros(size: int) -> mmap.mmap:
    """Return memory that is taken when it is written, in large pages where there are such."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size)
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # this kernel has none
            memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


# --- bands ---------------------------------------------------------------------------------------


class Band(NamedTuple):
    """The boards of one part of a game, and how they are valued.

    Attributes:
        tile: the largest tile of its boards.
        least: the least sum of their tiles.
        level: what the value below is too high by where the sum is `least`, with a margin.
        slope: how much more it is too high by for each point of the sum.
        goal: the value of a board on which the tile to make has been made.
        makes: the tile to make, which its boards do not have; 0 for twice the largest.
    """

    tile: int
    least: int
    level: float = 0.0
    slope: float = 0.0
    goal: float = 0.0
    makes: int = 0

    @property
    def ending(self) -> int:
        """The tile that ends the band when it is made."""
        return self.makes or 2 * self.tile

    @property
    def end(self) -> int:
        """The least sum of the boards with that tile."""
        return self.ending + (self.tile if self.ending <= self.tile else 0)

    def covers(self, board: Board) -> bool:
        """Return whether a board is of this band, unless it is of a later one."""
        return (
            board.max_tile == self.tile
            and board.sum >= self.least
            and not any(self.ending in row for row in board.rows)
        )

    def excess(self, total: int) -> float:
        """Return what the value below is reduced by on boards of this sum."""
        return self.level + self.slope * (total - self.least)


def _largest_and_sum(ranks: Sequence[int]) -> tuple[int, int]:
    """Return the largest tile and the sum of the tiles of a board."""
    tiles = [1 << rank for rank in ranks if rank]
    return max(tiles, default=0), sum(tiles)


@dataclass(frozen=True)
class Bands:
    """What a network adds to its value late in a game, in each band by weights of its own.

    Attributes:
        layout: the tuples and ranks of all bands; it has no stages.
        bands: the bands, ascending.
        table: the weights, int16 `[bands * layout.size]` in units of `step`, band after band.
        step: the points that one unit of the table is worth.
        lazy: what has the table, if bands are unpacked when they are needed.

    Raises:
        WeightsError: if these do not fit together.
    """

    layout: NetworkLayout
    bands: tuple[Band, ...]
    table: Quantized
    step: float
    lazy: LazyTable | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_bands(self.layout, self.bands)
        shape = (len(self.bands) * self.layout.size,)
        if self.table.shape != shape or self.table.dtype != np.int16:
            raise WeightsError(f"bands have int16 weights {shape}")

    def of_ranks(self, ranks: Sequence[int]) -> list[int]:
        """Return the numbers of all bands that may value a board with these ranks, or a later one.

        Others come when the sum of the tiles reaches `next_least`.
        """
        largest, total = _largest_and_sum(ranks)
        found: list[int] = []
        for number, band in enumerate(self.bands):
            if band.least <= total and band.tile >= largest:
                if band.ending > band.tile:  # no board has left it
                    found = [each for each in found if self.bands[each].tile != band.tile]
                found.append(number)
        return found

    def of_roots(self, boards: Bytes) -> list[int]:
        """Return the numbers of the bands of boards of ranks, uint8 `[n, cells]`, or more."""
        if 1 << int(boards.max(initial=0)) < self.bands[0].tile:
            return []
        tiles = tiles_of(boards)
        largest, totals = tiles.max(axis=1), tiles.sum(axis=1)
        return [
            number
            for number, band in enumerate(self.bands)
            if ((largest == band.tile) & (totals >= band.least)).any()
        ]

    def next_least(self, ranks: Sequence[int]) -> int:
        """Return the least sum of the next band of a board with these ranks."""
        _, total = _largest_and_sum(ranks)
        return min((band.least for band in self.bands if band.least > total), default=int(NEVER))

    def expect(self, ranks: Sequence[int]) -> None:
        """Have the weights of the next bands unpacked, if a board with these ranks is near."""
        largest, total = _largest_and_sum(ranks)
        if self.lazy:
            self.lazy.expect(
                number
                for number, band in enumerate(self.bands)
                if total < band.least <= total + NEAR and band.tile >= largest
            )

    def holding(self, numbers: Sequence[int]) -> AbstractContextManager[None]:
        """Have the weights of some bands in the table for a while."""
        return self.lazy.holding(numbers) if self.lazy else nullcontext()

    @property
    def unpacked(self) -> Quantized:
        """The table with the weights of all bands."""
        return self.lazy.hold_all() if self.lazy else self.table

    def with_band(self, band: Band, table: Quantized) -> Bands:
        """Return these bands and another one, or one replaced, by weights in the same step."""
        kept = {each: row for each, row in self._parts() if each[:2] != band[:2]}
        return self._of({**kept, band: table})

    def beyond(self, band: Band) -> Bands | None:
        """Return these bands without those of its tile up to its sum; None if none is left."""
        kept = {
            each: row
            for each, row in self._parts()
            if each.tile != band.tile or each.least > band.least
        }
        return self._of(kept) if kept else None

    def _parts(self) -> Iterator[tuple[Band, Quantized]]:
        yield from zip(self.bands, self.unpacked.reshape(len(self.bands), -1), strict=True)

    def _of(self, parts: Mapping[Band, Quantized]) -> Bands:
        """Return bands with these weights, in the same tuples, ranks and step."""
        whole = np.zeros((len(parts), self.layout.size), np.int16)
        for row, band in zip(whole, sorted(parts), strict=True):
            used = np.flatnonzero(parts[band])  # pages of zeros stay unused
            row[used] = parts[band][used]
        return Bands(self.layout, tuple(sorted(parts)), whole.reshape(-1), self.step)


# --- records -------------------------------------------------------------------------------------


class StageRecord(NamedTuple):
    """The outcome of the boards with which games entered a stage.

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
        """The points that values are too high by, on average."""
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
        return [each for each in self.stages if each.tile == tile and each.games >= MIN_GAMES]


# --- networks ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Network:
    """An n-tuple network, trained for some rules.

    Attributes:
        layout: its tuples and stages.
        rules: the rules whose points it estimates.
        table: the weights, `[layout.weights]`, float32 or int16 in units of `step`: stage by stage,
            tuple by tuple, and within a tuple the rank of the first cell varies fastest.
        history: one mapping for each training, in plain JSON values.
        step: the points that one unit of the table is worth.
        bands: what is added late in a game.
        records: how its values compare with its play, if that has been measured.

    Raises:
        WeightsError: if layout, rules and weights do not fit together.
    """

    layout: NetworkLayout
    rules: Rules
    table: Weights | Quantized
    history: tuple[Mapping[str, Any], ...] = field(default=())
    step: float = 1.0
    bands: Bands | None = None
    records: TrackRecord | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_rules(self.layout, self.rules)
        if self.bands:
            check_banded(self.rules)
        table = self.table
        if table.shape != (self.layout.weights,) or table.dtype not in (np.float32, np.int16):
            raise WeightsError(
                f"the layout has {self.layout.weights} weights, float32 or int16, "
                f"not {table.dtype} {table.shape}"
            )

    @classmethod
    def zeros(cls, layout: NetworkLayout, rules: Rules) -> Network:
        """Return an untrained network."""
        return cls(layout, rules, np.zeros(layout.weights, np.float32))

    @property
    def weights(self) -> Weights:
        """The weights in points, float32 `[layout.weights]`; a copy if they are quantized."""
        return in_points(self.table, self.step)

    @cached_property
    def spec(self) -> BoardSpec:
        """The board and the tuples as kernels take them."""
        return board_spec(self.layout, self.rules)

    def compatible_with(self, rules: Rules) -> bool:
        """Return whether the network estimates the points of these rules."""
        return objective_key(rules) == objective_key(self.rules)

    def band_of(self, board: Board) -> Band | None:
        """Return the band by which all values of a search from a board are computed.

        A search compares values, so these are all of one band: that of its root. Without search
        that is the board to move on.
        """
        found = None
        for band in self.bands.bands if self.bands else ():
            if band.covers(board):
                found = band
        return found

    def value(self, afterstate: Board, band: Band | None = None) -> float:
        """Return the points still to come after a slide, before its spawn.

        This is the reference of the compiled evaluations.

        Args:
            afterstate: the board.
            band: the band of the root, if it has one.

        Raises:
            BoardError: if the board has another shape.
        """
        stage = self.layout.stage_of(tile for row in afterstate.rows for tile in row)
        value = _sum_of(self.layout, self.table, stage, afterstate) * self.step
        if band is None or self.bands is None:
            return value
        number = self.bands.bands.index(band)
        added = _sum_of(self.bands.layout, self.bands.unpacked, number, afterstate)
        return value - band.excess(afterstate.sum) + added * self.bands.step


def _sum_of(layout: NetworkLayout, table: Weights | Quantized, number: int, board: Board) -> float:
    """Return the sum of the weights that a board selects in table `number` of several."""
    ranks = np.array(downgraded(ranks_of(layout, board), layout.known))
    factors, offsets = _indexing(layout)
    return float(table[factors @ ranks + offsets + number * layout.size].sum(dtype=np.float32))


@cache
def _indexing(layout: NetworkLayout) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each tuple and image, each cell's factor of its rank, and the offset."""
    radix = 16 if layout.is_packed else layout.ranks
    factors = np.zeros((layout.active, layout.rows * layout.columns), np.int64)
    for number, (cells, image) in enumerate(
        (cells, image) for cells in layout.tuples for image in layout.images
    ):
        for place, cell in enumerate(cells):
            factors[number, image[cell]] = radix**place
    return factors, np.repeat(np.array(layout.offsets[:-1]), layout.symmetries)


def objective_key(rules: Rules) -> tuple[object, ...]:
    """Return what decides the points still to come: not names, starts or mere targets."""
    end = rules.target if rules.ends_at_target else None
    return rules.shape, rules.spawn, rules.merging, rules.scoring, end


def check_rules(layout: NetworkLayout, rules: Rules) -> None:
    """Refuse rules that a network of this layout cannot play.

    Raises:
        WeightsError: if the board has another shape, or spawns are not random or too large.
        RulesError: if a tile that appears ends the game.
    """
    if rules.shape != (layout.rows, layout.columns):
        raise WeightsError(
            f"a {layout.rows}x{layout.columns} network does not fit the {rules.rows}x"
            f"{rules.columns} board of the rules {rules.name}"
        )
    if rules.is_deterministic:
        raise WeightsError(f"the spawns of {rules.name} are not random: plan, do not learn")
    appearing = max(*rules.spawn_weights.tiles, *rules.start_weights.tiles)
    if appearing > 1 << MAX_RANK:
        raise WeightsError(
            f"tile {appearing}, which appears under these rules, is too big for a network: "
            f"at most {1 << MAX_RANK}"
        )
    given = CompiledRules.of(rules)
    given.check_end(given.spawn, given.start)
    largest = max(rules.spawn_weights.tiles)
    unit = _lowest_tile(layout.stages)
    if unit is not None and largest >= unit:
        raise WeightsError(f"the spawn of a {largest} could begin the stage {unit} by itself")


def check_bands(layout: NetworkLayout, bands: Sequence[Band]) -> None:
    """Refuse bands in an order, or of a layout, in which no network has them.

    Raises:
        WeightsError: if there are none, or they do not ascend, or are not for 4x4 boards.
    """
    if layout.kind != "4x4" or layout.stages:
        raise WeightsError("bands are for 4x4 boards, and have no stages")
    if not bands or list(bands) != sorted(bands):
        raise WeightsError("bands must ascend by tile and sum")


def check_banded(rules: Rules) -> None:
    """Refuse rules for which no network has bands.

    Raises:
        WeightsError: if the board is not 4x4, or a target ends the game.
    """
    if rules.shape != (4, 4) or rules.ends_at_target:
        raise WeightsError("bands are for 4x4 boards and games without an end at a target")


def in_points(table: Weights | Quantized, step: float) -> Weights:
    """Return weights in units of `step` points as points, float32 of the same shape."""
    if table.dtype == np.float32 and step == 1.0:
        return table  # type: ignore[return-value]
    points = np.empty(table.shape, np.float32)
    if IS_PLAIN or table.dtype != np.int16:
        np.multiply(table, np.float32(step), out=points)
    else:
        quantized: Any = table.reshape(-1)
        kernels.write_points(quantized, np.float32(step), points.reshape(-1))
    return points


def value_params(layout: NetworkLayout, rules: Rules) -> kernels.ValueParams:
    """Return what kernels need to compute values under the rules."""
    given = CompiledRules.of(rules)
    units = [tile for tile in (_lowest_tile(layout.stages), given.ending_tile) if tile]
    return kernels.ValueParams(
        float(given.merge_points),
        given.points_per_move,
        np.uint64(given.ending_tile),
        np.array(layout.stages, np.uint64),
        np.int64(min([*units, int(NEVER)])),
        np.uint64(layout.size),
    )


def _lowest_tile(stages: Sequence[int]) -> int | None:
    """Return the smallest tile that decides between stages."""
    return min(stage & -stage for stage in stages) if stages else None


# --- for kernels ---------------------------------------------------------------------------------


def board_spec(layout: NetworkLayout, rules: Rules) -> BoardSpec:
    """Return a layout and the slides of the rules as kernels take them."""
    given = CompiledRules.of(rules)
    if not layout.is_packed:
        places, offsets = _places(layout)
        rows, columns = np.int64(layout.rows), np.int64(layout.columns)
        ranks = np.uint64(layout.ranks)
        return kernels.CellBoardSpec(rows, columns, given.cascade, ranks, places, offsets)
    shifts, masks = _shifts_and_masks(layout)
    return kernels.PackedBoardSpec(
        np.uint64(layout.rows),
        np.uint64(layout.columns),
        given.mask,
        given.cascade,
        given.across,
        given.down,
        shifts,
        masks,
        np.array(layout.offsets[:-1], np.uint64),
        np.uint64(layout.known),
    )


def _shifts_and_masks(layout: NetworkLayout) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    parts = [parts_of(cells) for cells in layout.tuples]
    shape = len(parts), max(map(len, parts))
    shifts, masks = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
    for number, pairs in enumerate(parts):
        for part, (shift, mask) in enumerate(pairs):
            shifts[number, part], masks[number, part] = shift, mask
    return shifts, masks


def _places(layout: NetworkLayout) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the cells of each tuple in each image, and where its weights begin."""
    longest = max(map(len, layout.tuples))
    rows, offsets = [], []
    for cells, offset in zip(layout.tuples, layout.offsets[:-1], strict=True):
        for image in layout.images:
            rows.append([image[cell] for cell in cells] + [-1] * (longest - len(cells)))
            offsets.append(offset)
    return np.array(rows, np.int64), np.array(offsets, np.uint64)


def empty_boards(layout: NetworkLayout, count: int) -> Boards:
    """Return empty boards as kernels hold them: uint64 `[count, 2]` or uint8 `[count, cells]`."""
    if layout.is_packed:
        return np.zeros((count, 2), np.uint64)
    return np.zeros((count, layout.rows * layout.columns), np.uint8)


def put_board(layout: NetworkLayout, boards: Boards, slot: int, board: Board) -> None:
    """Write a board to a row of `boards`.

    Raises:
        BoardError: if it has another shape, or a tile above 2**31.
    """
    ranks = ranks_of(layout, board)
    if layout.is_packed:
        boards[slot, 0] = sum((rank & 15) << 4 * cell for cell, rank in enumerate(ranks))
        boards[slot, 1] = sum((rank >> 4) << 4 * cell for cell, rank in enumerate(ranks))
    else:
        boards[slot] = ranks


def ranks_of(layout: NetworkLayout, board: Board) -> list[int]:
    """Return the ranks of a board, row by row.

    Raises:
        BoardError: if it has another shape, or a tile above 2**31.
    """
    if board.shape != (layout.rows, layout.columns):
        raise BoardError(
            f"the network plays on {layout.rows}x{layout.columns}, not on "
            f"{board.shape[0]}x{board.shape[1]}"
        )
    if board.max_tile > 1 << MAX_RANK:
        raise BoardError(f"tile {board.max_tile} is too big for a network: at most {2**MAX_RANK}")
    return [max(tile.bit_length() - 1, 0) for row in board.rows for tile in row]
