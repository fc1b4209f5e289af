"""n-tuple networks, which estimate future points as a sum of weights from lookup tables.

A network [1] looks at several groups of cells, called *tuples*. Each tuple has a weight for every
combination of tiles on its cells. On every symmetric image of an afterstate, each tuple selects one
weight, and the sum of these weights is the value of the afterstate. Networks are fast to train and
to evaluate, because the value is linear in the weights and takes only a few dozen memory accesses.

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
from py2048.core.errors import BoardError, RulesError, WeightsError
from py2048.core.rules import Rules
from py2048.engine.boards import tiles_of
from py2048.engine.jit import IS_PLAIN
from py2048.engine.rules import CompiledRules
from py2048.players.ntuple import _network_kernels as kernels
from py2048.players.ntuple.archive import Count, Points
from py2048.players.ntuple.layout import NetworkLayout, downgraded, parts_of

Weights = NDArray[np.float32]
Quantized = NDArray[np.int16]
Bytes = NDArray[np.uint8]
BoardSpec = kernels.BoardSpec
Boards = kernels.Boards

NEVER = np.int64(2**62)
"""A number larger than the points of any slide and the tile sum of any board."""

PREFETCH_SUM = 512
"""Unpacking starts this far below a band's minimum tile sum, about 230 moves in advance."""

MAX_RANK = 31
"""Largest rank that networks accept on a board."""


IDLE_S = 30.0
"""How long idle bands stay unpacked, in seconds, in case another game needs them."""
UNPACKING = "py2048-unpacking"
"""Name of the background threads that unpack parts."""
HUGE_PAGE_BYTES = 1 << 21
"""Page size for releasing unused memory."""
MIN_GAMES = 100
"""Minimum number of games for a stage record; records of fewer games are ignored."""
MAX_RELATIVE_OVERESTIMATE = 0.5
"""Values are calibrated if their mean error is at most this share of the actual points."""
CERTAIN_SHARE = 0.99
"""Minimum share of games that must reach a tile for the tile to count as certain."""
START = 2
"""Value of `StageRecord.tile` for stages before the first large tile."""


# --- weights that are unpacked when they are needed ----------------------------------------------


class PackedWeights(NamedTuple):
    """Sparse 16-bit weights in the encoding of weights files (``weights.py``).

    Attributes:
        used: Bitmap of the non-zero weights, most significant bit first.
        low: Low bytes of the zigzag-encoded non-zero weights.
        high: High bytes of the zigzag-encoded non-zero weights.
    """

    used: Bytes
    low: Bytes
    high: Bytes

    def add_to(self, steps: Quantized) -> None:
        """Add the weights to an int16 array; overflows wrap around."""
        (add_changes if IS_PLAIN else kernels.add_changes)(*self, steps)


def add_changes(used: Bytes, low: Bytes, high: Bytes, steps: Quantized) -> None:
    """Decode differences and add them to an array, without compiled kernels."""
    zigzag = low.astype(np.uint16) | high.astype(np.uint16) << 8
    bits = np.unpackbits(used, count=steps.size).view(np.bool_)
    steps[bits] += ((zigzag >> 1) ^ (0 - (zigzag & 1))).view(np.int16)


class LazyTable:
    """A thread-safe table of equally sized parts that are unpacked on demand.

    Args:
        packed: For each part, a function that reads the part's packed weights.
        size: Number of weights per part.

    Attributes:
        table: Weights of all parts, int16 `[parts * size]`. Packed parts are filled with zeros.
        loaded: Maps the number of each unpacked part to the time of its last use.
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
        """Keep parts unpacked within a ``with`` block."""
        held = list(numbers)
        self._unpack(held)
        try:
            yield
        finally:
            with self._lock:
                for number in held:
                    self._holders[number] -= 1

    def hold_all(self) -> Quantized:
        """Unpack all parts and keep them in memory; return the table."""
        self._unpack(range(len(self._packed)))
        return self.table

    def check(self) -> None:
        """Read every part to verify it, without keeping it in memory.

        Raises:
            WeightsError: If a part is damaged.
        """
        for read in self._packed:
            read()

    def expect(self, numbers: Iterable[int]) -> None:
        """Start to unpack parts in the background, before they are needed."""
        for number in numbers:
            if number not in self.loaded and not self._holders[number]:
                threading.Thread(target=self._unpack_briefly, args=[number], name=UNPACKING).start()

    def _unpack_briefly(self, number: int) -> None:
        # Errors are ignored here, because a search that uses a damaged part raises them again.
        with suppress(WeightsError), self.holding([number]):
            pass

    def _unpack(self, numbers: Sequence[int]) -> None:
        """Unpack parts that are about to be used; release parts that have been idle."""
        with self._lock:
            for number in numbers:  # Parts in use are not released.
                self._holders[number] += 1
        for number in numbers:
            with self._unpacking[number]:
                if number not in self.loaded:
                    self._packed[number]().add_to(self._part(number))
                self.loaded[number] = time.monotonic()
        with self._lock:
            for number, asked in list(self.loaded.items()):
                if asked < time.monotonic() - IDLE_S and not self._holders[number]:
                    self._release(number)

    def _part(self, number: int) -> Quantized:
        return self.table[number * self._size :][: self._size]

    def _release(self, number: int) -> None:
        del self.loaded[number]
        start, length = 2 * self._size * number, 2 * self._size
        if sys.platform == "linux" and start % HUGE_PAGE_BYTES == length % HUGE_PAGE_BYTES == 0:
            self._memory.madvise(mmap.MADV_DONTNEED, start, length)  # reads as zeros afterwards
        else:
            self._part(number)[:] = 0


def _zeros(size: int) -> mmap.mmap:
    """Map zeroed memory that the OS allocates on first access, with huge pages if supported."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size)
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # not supported by this kernel
            memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


# --- bands ---------------------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class Band:
    """A range of late-game boards, with a correction of the network's values for them.

    Attributes:
        tile: Largest tile on the boards of this band.
        least: Minimum tile sum of the boards of this band.
        level: How much the base network overestimates boards with the tile sum `least`, in points,
            plus a safety margin.
        slope: Increase of the overestimate per unit of the board's sum.
        goal: Value of a board on which the target tile has just been created.
        makes: The target tile, or 0 for the default target, which is twice `tile`. No board in the
            band contains the target tile.
    """

    tile: Count
    least: Count
    level: Points = 0.0
    slope: Points = 0.0
    goal: Points = 0.0
    makes: Count = 0

    @property
    def ending(self) -> int:
        """The target tile; the band ends when this tile is reached."""
        return self.makes or 2 * self.tile

    @property
    def end(self) -> int:
        """Minimum sum of the boards that contain the target tile."""
        return self.ending + (self.tile if self.ending <= self.tile else 0)

    def covers(self, board: Board) -> bool:
        """Return whether a board belongs to this band; a board may belong to several bands."""
        return (
            board.max_tile == self.tile
            and board.sum >= self.least
            and not any(self.ending in row for row in board.rows)
        )

    def excess(self, total: int) -> float:
        """Return how much the base network overestimates boards with a tile sum, in points."""
        return self.level + self.slope * (total - self.least)


def _largest_and_sum(ranks: Sequence[int]) -> tuple[int, int]:
    """Return a board's largest tile and its tile sum."""
    tiles = [1 << rank for rank in ranks if rank]
    return max(tiles, default=0), sum(tiles)


@dataclass(frozen=True)
class Bands:
    """Corrects a network's values for late-game boards, with separate weights for each band.

    Attributes:
        layout: Tuples and ranks of all bands, without stages.
        bands: Bands in ascending order.
        table: Weights of all bands in units of `step`, int16 `[bands * layout.size]`.
        step: Value of one unit of an integer weight, in points.
        lazy: Unpacks bands into `table` on demand; None if all bands are unpacked.

    Raises:
        WeightsError: If the arguments are inconsistent.
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

    def reachable_bands(self, ranks: Sequence[int]) -> list[int]:
        """Return the indices of all bands to which the next boards of a game may belong.

        The result is valid until the tile sum reaches `next_min_sum`.
        """
        largest, total = _largest_and_sum(ranks)
        found: list[int] = []
        for number, band in enumerate(self.bands):
            if band.least <= total and band.tile >= largest:
                if band.ending > band.tile:  # its tile's earlier bands are over
                    found = [each for each in found if self.bands[each].tile != band.tile]
                found.append(number)
        return found

    def bands_of_boards(self, boards: Bytes) -> list[int]:
        """Return the indices of all bands that the boards (uint8 `[n, cells]`) may need."""
        if 1 << int(boards.max(initial=0)) < self.bands[0].tile:
            return []
        tiles = tiles_of(boards)
        largest, totals = tiles.max(axis=1), tiles.sum(axis=1)
        return [
            number
            for number, band in enumerate(self.bands)
            if ((largest == band.tile) & (totals >= band.least)).any()
        ]

    def next_min_sum(self, ranks: Sequence[int]) -> int:
        """Return the next larger tile sum at which a band begins, or `NEVER`."""
        _, total = _largest_and_sum(ranks)
        return min((band.least for band in self.bands if band.least > total), default=int(NEVER))

    def expect(self, ranks: Sequence[int]) -> None:
        """Start to unpack, in the background, the bands that a game will soon reach."""
        largest, total = _largest_and_sum(ranks)
        if self.lazy:
            self.lazy.expect(
                number
                for number, band in enumerate(self.bands)
                if total < band.least <= total + PREFETCH_SUM and band.tile >= largest
            )

    def holding(self, numbers: Sequence[int]) -> AbstractContextManager[None]:
        """Keep the weights of bands unpacked within a ``with`` block."""
        return self.lazy.holding(numbers) if self.lazy else nullcontext()

    @property
    def unpacked(self) -> Quantized:
        """The table, with all bands unpacked."""
        return self.lazy.hold_all() if self.lazy else self.table

    def with_band(self, band: Band, table: Quantized) -> Bands:
        """Return a copy with a new band, or with a new version of an existing band.

        The weights in `table` must be in units of `step`.
        """
        place = band.tile, band.least
        kept = {each: row for each, row in self._parts() if (each.tile, each.least) != place}
        return self._of({**kept, band: table})

    def beyond(self, band: Band) -> Bands | None:
        """Return a copy without `band` and the earlier bands of the same tile.

        Returns `None` if no bands remain.
        """
        tile, least = band.tile, band.least
        kept = {each: row for each, row in self._parts() if each.tile != tile or each.least > least}
        return self._of(kept) if kept else None

    def _parts(self) -> Iterator[tuple[Band, Quantized]]:
        yield from zip(self.bands, self.unpacked.reshape(len(self.bands), -1), strict=True)

    def _of(self, parts: Mapping[Band, Quantized]) -> Bands:
        """Build bands from their weights, with this object's layout and step."""
        whole = np.zeros((len(parts), self.layout.size), np.int16)
        for row, band in zip(whole, sorted(parts), strict=True):
            used = np.flatnonzero(parts[band])  # pages that contain only zeros stay unallocated
            row[used] = parts[band][used]
        return Bands(self.layout, tuple(sorted(parts)), whole.reshape(-1), self.step)


# --- records -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StageRecord:
    """Compares actual with predicted points, counted from the start of a stage.

    Attributes:
        tile: Largest tile of the stage.
        least: Minimum sum of all tiles.
        games: Number of games that reached the stage.
        predicted: Mean number of points that the network predicted for the first board in the
            stage.
        realised: Mean number of points that games gained between reaching the stage and ending.
        error: Standard error of ``predicted - realised``.
        made: Number of games that reached each larger tile.
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
        """Mean overestimate in points."""
        return self.predicted - self.realised

    @property
    def is_calibrated(self) -> bool:
        """Whether the corrected values are reliable enough to be shown as points."""
        return abs(self.excess) <= MAX_RELATIVE_OVERESTIMATE * self.realised

    @property
    def next_tile(self) -> int:
        """The next large tile that some games fail to reach.

        Tiles that nearly all games reach (see `CERTAIN_SHARE`) are skipped, unless no game reached
        a larger tile.
        """
        tile = 2 * self.tile
        while self.made.get(2 * tile) and self.made[tile] >= CERTAIN_SHARE * self.games:
            tile *= 2
        return tile


@dataclass(frozen=True)
class TrackRecord:
    """Statistics from games that a network played without search.

    Attributes:
        games: Number of games played.
        seed: Seed of the games.
        stages: Stages that were reached, ascending.
    """

    games: int
    seed: int
    stages: tuple[StageRecord, ...]

    def of(self, board: Board) -> StageRecord | None:
        """Return the record of a board's stage, or `None` if too few games reached it."""
        reached = [each for each in self._along(board) if each.least <= board.sum]
        return reached[-1] if reached else None

    def excess(self, board: Board) -> float:
        """Return the overestimate of a board's value, in points, interpolated between stages.

        Raises:
            ValueError: If there are no records for the board's largest tile.
        """
        along = self._along(board)
        return float(np.interp(board.sum, [r.least for r in along], [r.excess for r in along]))

    def scale(self, board: Board) -> float:
        """Return the ratio of actual to predicted points, interpolated between stages.

        The ratio is 1 if there are no reliable records for the board's largest tile.
        """
        along = [each for each in self._along(board) if each.is_calibrated and each.predicted > 0]
        if not along:
            return 1.0
        ratios = [each.realised / each.predicted for each in along]
        return float(np.interp(board.sum, [each.least for each in along], ratios))

    def _along(self, board: Board) -> list[StageRecord]:
        """Return the records for a board's largest tile that cover at least `MIN_GAMES` games."""
        first = min((each.tile for each in self.stages if each.tile > START), default=START)
        tile = board.max_tile if board.max_tile >= first else START
        return [each for each in self.stages if each.tile == tile and each.games >= MIN_GAMES]


# --- networks ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Network:
    """An n-tuple network for one set of rules.

    Attributes:
        layout: Tuples and stages.
        rules: Rules under which the network estimates points.
        table: The weights `[layout.weights]`, as float32, or as int16 in units of `step`. The
            weights are ordered by stage, then by tuple. Within a tuple, the rank of the first cell
            varies fastest.
        history: One JSON object for each training run.
        step: Value of one unit of an integer weight, in points.
        bands: Late-game corrections.
        records: Measured accuracy of the network's values, if available.

    Raises:
        WeightsError: If layout, rules and weights do not match.
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
        """Weights in points, float32 `[layout.weights]`; a copy if the table is quantised."""
        return in_points(self.table, self.step)

    @cached_property
    def spec(self) -> BoardSpec:
        """The board shape and the tuples, encoded for the kernels."""
        return board_spec(self.layout, self.rules)

    def compatible_with(self, rules: Rules) -> bool:
        """Return whether the network is valid under the given rules."""
        return rules.objective == self.rules.objective

    def band_of(self, board: Board) -> Band | None:
        """Return the band for a search that starts from this board, or None.

        A search evaluates all boards with the band of its root, so that their values are
        comparable. Play without search uses the band of the current board.
        """
        found = None
        for band in self.bands.bands if self.bands else ():
            if band.covers(board):
                found = band
        return found

    def value(self, afterstate: Board, band: Band | None = None) -> float:
        """Return the expected future points of an afterstate.

        This method is the reference implementation of the compiled evaluations.

        Args:
            afterstate: Board after the slide.
            band: Band of the search's root, or None.

        Raises:
            BoardError: If the board has the wrong shape.
        """
        stage = self.layout.stage_of(tile for row in afterstate.rows for tile in row)
        value = _sum_of(self.layout, self.table, stage, afterstate) * self.step
        if band is None or self.bands is None:
            return value
        number = self.bands.bands.index(band)
        added = _sum_of(self.bands.layout, self.bands.unpacked, number, afterstate)
        return value - band.excess(afterstate.sum) + added * self.bands.step


def _sum_of(layout: NetworkLayout, table: Weights | Quantized, number: int, board: Board) -> float:
    """Return the sum of a board's weights in one stage or band."""
    ranks = np.array(downgraded(ranks_of(layout, board), layout.known))
    factors, offsets = _indexing(layout)
    return float(table[factors @ ranks + offsets + number * layout.size].sum(dtype=np.float32))


@cache
def _indexing(layout: NetworkLayout) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the factors and offsets that turn a board's ranks into weight indices."""
    (places, offsets), radix = _places(layout), 16 if layout.is_packed else layout.ranks
    factors = np.zeros((layout.active, layout.rows * layout.columns), np.int64)
    for factor, cells in zip(factors, places, strict=True):
        used = cells[cells >= 0]
        factor[used] = radix ** np.arange(len(used))
    return factors, offsets.astype(np.int64)


def check_rules(layout: NetworkLayout, rules: Rules) -> None:
    """Raise an error if a network with this layout cannot be used under the rules.

    Raises:
        WeightsError: If the board shape differs, spawns are deterministic, or a spawned tile could
            start a stage.
        RulesError: See `check_spawned`.
    """
    if rules.shape != (layout.rows, layout.columns):
        raise WeightsError(
            f"a {layout.rows}x{layout.columns} network does not fit the {rules.rows}x"
            f"{rules.columns} board of the rules {rules.name}"
        )
    if rules.is_deterministic:
        raise WeightsError(
            f"the spawns of {rules.name} are not random: plan games with the player beam"
        )
    check_spawned(rules)
    largest = max(rules.spawn_weights.tiles)
    unit = _lowest_tile(layout.stages)
    if unit is not None and largest >= unit:
        raise WeightsError(
            f"a spawned {largest} could start a stage: use stages with tiles above {largest}"
        )


def check_spawned(rules: Rules) -> None:
    """Raise an error if networks and searches do not support the spawned tiles.

    Raises:
        RulesError: If a spawned tile is too large, or ends the game.
    """
    largest = max(*rules.spawn_weights.tiles, *rules.start_weights.tiles)
    if largest > 1 << MAX_RANK:
        raise RulesError(
            f"tile {largest}, which spawns under these rules, is too big: "
            f"at most {1 << MAX_RANK} is supported"
        )
    given = CompiledRules.of(rules)
    given.check_end(given.spawn, given.start)


def check_bands(layout: NetworkLayout, bands: Sequence[Band]) -> None:
    """Raise an error if late-game bands or their layout are not valid.

    Raises:
        WeightsError: If the layout is not 4x4 or has stages, or the bands are not in ascending
            order.
    """
    if layout.kind != "4x4" or layout.stages:
        raise WeightsError("bands need a 4x4 layout without stages")
    if not bands or list(bands) != sorted(bands):
        raise WeightsError("bands must ascend by tile and sum")


def check_banded(rules: Rules) -> None:
    """Check that networks for these rules can have late-game bands.

    Raises:
        WeightsError: If the board is not 4x4, or a target ends the game.
    """
    if rules.shape != (4, 4) or rules.ends_at_target:
        raise WeightsError("bands need a 4x4 board and games that continue after the target")


def in_points(table: Weights | Quantized, step: float) -> Weights:
    """Convert weights in units of `step` to points, as float32."""
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
    """Return the parameters that kernels need to evaluate boards under the rules."""
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
    """Return the smallest tile in any stage threshold, or None if there are no stages."""
    return min(stage & -stage for stage in stages) if stages else None


# --- for kernels ---------------------------------------------------------------------------------


def board_spec(layout: NetworkLayout, rules: Rules) -> BoardSpec:
    """Encode the network layout and the slides of lines as arrays for the kernels."""
    given = CompiledRules.of(rules)
    if not layout.is_packed:
        places, offsets = _places(layout)
        rows, columns = np.int64(layout.rows), np.int64(layout.columns)
        ranks = np.uint64(layout.ranks)
        return kernels.CellBoardSpec(rows, columns, given.cascade, ranks, places, offsets)
    parts = [parts_of(cells) for cells in layout.tuples]
    longest = max(map(len, parts))
    padded = [[*pairs, *[(0, 0)] * (longest - len(pairs))] for pairs in parts]
    shifts, masks = np.array(padded, np.uint64).transpose(2, 0, 1).copy()
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


def _places(layout: NetworkLayout) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the cells of each tuple in each symmetric image, and the index of its first weight."""
    longest = max(map(len, layout.tuples))
    rows, offsets = [], []
    for cells, offset in zip(layout.tuples, layout.offsets[:-1], strict=True):
        for image in layout.images:
            rows.append([image[cell] for cell in cells] + [-1] * (longest - len(cells)))
            offsets.append(offset)
    return np.array(rows, np.int64), np.array(offsets, np.uint64)


def empty_boards(layout: NetworkLayout, count: int) -> Boards:
    """Allocate empty board slots: uint64 `[count, 2]` or uint8 `[count, cells]`."""
    if layout.is_packed:
        return np.zeros((count, 2), np.uint64)
    return np.zeros((count, layout.rows * layout.columns), np.uint8)


def ranks_of(layout: NetworkLayout, board: Board) -> list[int]:
    """Return the ranks of a board, row by row.

    Raises:
        BoardError: If the board has the wrong shape or a tile above 2**31.
    """
    if board.shape != (layout.rows, layout.columns):
        raise BoardError(
            f"the network plays on {layout.rows}x{layout.columns}, not on "
            f"{board.shape[0]}x{board.shape[1]}"
        )
    if board.max_tile > 1 << MAX_RANK:
        raise BoardError(f"tile {board.max_tile} is too big for a network: at most {2**MAX_RANK}")
    return [max(tile.bit_length() - 1, 0) for row in board.rows for tile in row]
