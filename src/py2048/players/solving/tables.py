"""Endgame tables: the chance of reaching a tile from every position of a formation.

The chance of an afterstate is the average over all spawns, assuming the best move after each spawn.
Layers are computed in descending order of their sums, as in the solver. A file contains only the
chances of the afterstates, in the order that `py2048.players.solving.positions` defines.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import accumulate, combinations
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, RulesError, SolvingError, os_errors_as
from py2048.core.folders import TABLE_SUFFIX, built_tables, tables_folder
from py2048.core.rules import Rules, get_rules
from py2048.engine.jit import available_threads, shares, together
from py2048.players.solving import _table_kernels as kernels
from py2048.players.solving._table_kernels import CHANCE_ONE, Successors
from py2048.players.solving.files import LayerStore, read_footer, write_file
from py2048.players.solving.formations import SIDE, Formation, get_formation
from py2048.players.solving.positions import LARGE, Positions, large_cells
from py2048.players.solving.solution import SolvingProgress
from py2048.players.solving.solver import DEFAULT_MEMORY, LayerLoops

Stored = NDArray[np.uint16]
Chances = NDArray[np.uint32]

MAGIC = b"py2048 table 1\n"
"""First and last bytes of a table file; `docs/reference/table-format.md` describes the format."""

BLOCK = 1 << 16
"""Number of chances compressed together."""

STORED_ONE = 65535
"""Integer that represents the probability 1 in a file."""

MAX_CACHED_BLOCKS = 256

MIN_POSITIONS_PER_THREAD = 1 << 14
"""Minimum number of positions per thread; with fewer, a thread costs more time than it saves."""

MIN_CHANCE = 0.5
"""Tables are not used for worse chances of success, because leaving the formation may be better."""


class EndingTable:
    """A file with the chance of reaching a tile from every position of a formation.

    Attributes:
        formation: The formation.
        target: Tile to reach.
        rules: Rules of the game.
        path: The file.
    """

    error = 0.6 / STORED_ONE
    """Upper bound for the rounding error of a stored probability.

    Nearly all of the error comes from storing probabilities as 16-bit integers.
    """

    def __init__(self, path: Path, positions: Positions, check: int) -> None:
        self.path, self._positions = path, positions
        self.formation, self.target = positions.formation, positions.target
        self.rules = positions.rules
        counts = [-(-size // BLOCK) for size in positions.sizes[: positions.limit // 2 + 1]]
        self._first = [0, *accumulate(counts)]
        with os_errors_as(SolvingError, str(path)):
            self._data: NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
        self._places = self._read_places(check)
        self._block = lru_cache(maxsize=MAX_CACHED_BLOCKS)(self._read_block)
        self._turns = lru_cache(maxsize=1 << 12)(self._turns_of)

    @classmethod
    def load(cls, path: Path | str, rules: Rules | str | None = None) -> EndingTable:
        """Open a table file; its blocks are read on demand.

        Args:
            path: The file.
            rules: Rules of the game to play. Defaults to the table's own rules.

        Raises:
            RulesError: If `rules` are invalid.
            SolvingError: If the file is missing or damaged, or was built for different rules.
        """
        file = Path(path)
        about = read_footer(file, MAGIC, _damaged(file))
        try:
            ((name, data),) = about["formation"].items()
            formation, known = Formation.of(name, data), Rules.parse(about["rules"])
            table = cls(file, Positions(formation, about["target"], known), about["places"])
        except (KeyError, TypeError, ValueError, AttributeError, RulesError):
            raise _damaged(file) from None
        if rules is not None and not table.serves(get_rules(rules)):
            raise SolvingError(f"{file} is for {known}, not for {get_rules(rules)}: build another")
        return table

    @property
    def name(self) -> str:
        """The table's name, such as ``L3-256``: the formation, a hyphen and the target tile."""
        return self._positions.name

    @property
    def positions(self) -> int:
        """Number of positions in the table, including positions that no slide can produce."""
        return self._positions.count

    def serves(self, rules: Rules) -> bool:
        """Return whether the table's chances apply to games under the given rules."""
        return _chances_of(rules) == _chances_of(self.rules)

    # --- boards ----------------------------------------------------------------------------------

    def holds(self, board: Board) -> bool:
        """Return whether a board is in the formation and does not contain the target yet."""
        views = self._views(board)
        return bool(views) and not any(self._is_made(view) for view in views)

    def chance_of(self, board: Board) -> float:
        """Return the chance of reaching the target from a board under best play.

        Raises:
            BoardError: If the board is not in the formation, even when rotated or reflected.
            SolvingError: If the file is damaged.
        """
        if any(self._is_made(view) for view in self._checked_views(board)):
            return 1.0
        return max(self.move_chances(board).values(), default=0.0)

    def move_chances(self, board: Board) -> dict[Direction, float]:
        """Return the probability of success after each legal move.

        The probability is 0 for moves that break the formation.

        Raises:
            BoardError: If the board is not in the formation, even when rotated or reflected.
            SolvingError: If the file is damaged.
        """
        found: dict[Direction, float] = {}
        for view in self._checked_views(board):
            for direction, chance in self._afters(*view).items():
                found[direction] = max(chance, found.get(direction, 0.0))
        return found

    def best(self, board: Board) -> Direction | None:
        """Return the best move, or `None` if no move is legal.

        Ties go to the first direction in `Direction`.

        Raises:
            BoardError: If the board is not in the formation, even when rotated or reflected.
            SolvingError: If the file is damaged.
        """
        chances = self.move_chances(board)
        return max(chances, key=chances.__getitem__) if chances else None

    def _afters(self, board: int, turn: int) -> dict[Direction, float]:
        """Return the chance of success after each legal move on a packed board."""
        slid = np.empty(4, np.uint64)
        kernels.afterstates(np.uint64(board), self._positions.spec.lines, slid)
        return {
            direction: self._chance(_turned(int(after), turn))
            for direction, after in zip(Direction, slid, strict=True)
            if after != board
        }

    def _chance(self, after: int) -> float:
        """Return the chance of success from an afterstate."""
        positions = self._positions
        if not positions.holds(after):
            return 0.0
        if positions.is_made(after):
            return 1.0
        total = positions.sum_of(after)
        if total > positions.limit:
            return 0.0
        block, within = divmod(positions.place_of(after), BLOCK)
        return float(self._block(total, block)[within]) / STORED_ONE

    def _checked_views(self, board: Board) -> list[tuple[int, int]]:
        """Return the views of a board that match the formation; raise an error if none do."""
        views = self._views(board)
        if not views:
            line = " / ".join(str(board).splitlines())
            formation = self.formation
            raise BoardError(
                f"the board {line} is not in the formation {formation.name}: {formation.larges} "
                f"different tiles of {self.target} or more must stand as py2048 tables list shows"
            )
        return views

    def _views(self, board: Board) -> list[tuple[int, int]]:
        """Return packed images of a board that match the formation, and their symmetries."""
        return [
            (packed, turn)
            for packed in self._masked(board)
            for turn in self._turns(large_cells(packed))
        ]

    def _turns_of(self, larges: int) -> tuple[int, ...]:
        """Return the symmetries that make large tiles on these cells match the formation."""
        return tuple(
            turn for turn in range(8) if self._positions.holds(_turned(larges * LARGE, turn))
        )

    def _is_made(self, view: tuple[int, int]) -> bool:
        return self._positions.is_made(_turned(*view))

    def _masked(self, board: Board) -> Iterator[int]:
        """Yield packed versions of a board in which large tiles are replaced by rank 15."""
        if board.shape != (SIDE, SIDE):
            raise BoardError(f"the board is {board.shape}, tables are for 4x4")
        tiles = [tile for row in board.rows for tile in row]
        larger = [cell for cell, tile in enumerate(tiles) if tile > self.target]
        equal = [cell for cell, tile in enumerate(tiles) if tile == self.target]
        missing = self.formation.larges - len(larger)
        if len({tiles[cell] for cell in larger}) < len(larger) or missing not in (0, 1):
            return
        for chosen in combinations(equal, missing):
            yield sum(
                (LARGE if cell in (*larger, *chosen) else max(tile.bit_length() - 1, 0)) << 4 * cell
                for cell, tile in enumerate(tiles)
            )

    # --- the file --------------------------------------------------------------------------------

    def _read_places(self, check: int) -> NDArray[np.uint64]:
        """Return the file offset of each block, followed by the end of the last block."""
        length = 8 * (self._first[-1] + 1)
        footer = int.from_bytes(self._data[-len(MAGIC) - 8 : -len(MAGIC)].tobytes(), "little")
        end = len(self._data) - len(MAGIC) - 16 - footer
        data = self._data[max(0, end - length) : end].tobytes()
        if len(data) != length or zlib.crc32(data) != check:
            raise _damaged(self.path)
        return np.frombuffer(data, "<u8")

    def _read_block(self, total: int, block: int) -> Stored:
        """Read and decompress a block of chances."""
        number = self._first[total // 2] + block
        first, last = self._places[number], self._places[number + 1]
        length = min(BLOCK, self._positions.sizes[total // 2] - BLOCK * block)
        try:
            data = zlib.decompress(self._data[first:last].tobytes())
            marks = np.frombuffer(data, np.uint8, -(-length // 8))
            is_some = np.unpackbits(marks, count=length).astype(bool)
            stored = np.zeros(length, np.uint16)
            stored[is_some] = np.frombuffer(data, "<u2", offset=len(marks))
        except (zlib.error, ValueError):
            raise _damaged(self.path) from None
        return stored

    def check(self) -> None:
        """Verify the whole file.

        Raises:
            SolvingError: If the file is damaged.
        """
        for half in range(len(self._first) - 1):
            for block in range(self._first[half + 1] - self._first[half]):
                self._read_block(2 * half, block)


def _damaged(path: Path) -> SolvingError:
    return SolvingError(f"{path} is damaged, or is not a table: build it again")


def _chances_of(rules: Rules) -> tuple[object, ...]:
    """Return the rule settings that affect the probabilities of success."""
    return rules.shape, rules.spawn, rules.merging, rules.ends_at_target


def _turned(board: int, turn: int) -> int:
    return int(kernels.turned(np.uint64(board), turn))


# --- tables in the data folder -------------------------------------------------------------------


def load_table(name: str, rules: str | None = None) -> EndingTable:
    """Load a table by name from the data folder, or from a file.

    Args:
        name: The name of a table, such as ``L3-256``, or a file.
        rules: See `EndingTable.load`.

    Raises:
        SolvingError: If the table does not exist or cannot be used under the rules.
    """
    for path in (tables_folder() / f"{name}{TABLE_SUFFIX}", Path(name)):
        if path.exists():
            return EndingTable.load(path, rules)
    formation, _, target = name.rpartition("-")
    is_name = formation.isalnum() and target.isdecimal()
    fix = f"build it with py2048 tables build {f'{formation} {target}' if is_name else ''}"
    raise SolvingError(f"there is no table {name}: {fix.rstrip()}")


class Ending(NamedTuple):
    """A table's answer for a board.

    Moves that break the formation have a chance of 0, although the game may still reach the target.
    On boards whose best move has a chance of 0.9 or more, a search that played the best move and
    then continued the game reached the target 97 % of the time. After a move that breaks the
    formation, the search still reached the target 38 % of the time.

    Attributes:
        table: Name of the table, such as ``L3-256``.
        target: Tile to reach.
        chances: Chance of success after each legal move, or 0 if the move breaks the formation.
    """

    table: str
    target: int
    chances: dict[Direction, float]

    @property
    def chance(self) -> float:
        """Chance of reaching the target under best play."""
        return max(self.chances.values(), default=0.0)


def find_ending(board: Board, rules: Rules | str = "classic") -> Ending | None:
    """Look up a board in all tables of the data folder; return the best result.

    The best result has the largest target and, among equal targets, the highest chance. The result
    is `None` if no table contains the board, or if the best chance is below `MIN_CHANCE`.

    Args:
        board: Board to move on.
        rules: Rules of the game.

    Raises:
        RulesError: If `rules` are invalid.
        SolvingError: If a table is damaged.
    """
    if board.shape != (SIDE, SIDE):
        return None
    chosen = get_rules(rules)
    tables = (_loaded(path, path.stat().st_mtime_ns) for path in built_tables())
    found = (
        Ending(table.name, table.target, table.move_chances(board))
        for table in tables
        if table.serves(chosen) and table.holds(board)
    )
    likely = (ending for ending in found if ending.chance >= MIN_CHANCE)
    return max(likely, key=lambda ending: (ending.target, ending.chance), default=None)


@lru_cache(maxsize=16)
def _loaded(path: Path, _changed: int) -> EndingTable:
    return EndingTable.load(path)


# --- building ------------------------------------------------------------------------------------


def build_table(
    formation: Formation | str,
    target: int,
    path: Path | str,
    *,
    rules: Rules | str = "classic",
    memory: int = DEFAULT_MEMORY,
    threads: int | None = None,
    progress: Callable[[SolvingProgress], None] | None = None,
) -> EndingTable:
    """Build the table of a formation and write it to a file.

    Finished layers are kept in a folder next to the file until the file is complete. Repeating the
    call resumes an interrupted run.

    Args:
        formation: A formation, the name of a formation, or a TOML file that defines a single
            formation.
        target: Tile to reach.
        path: Target file.
        rules: 4x4 rules with random spawns, or a string such as ``classic``.
        memory: Approximate memory limit in bytes.
        threads: Number of threads, by default one per processor.
        progress: Called after each layer.

    Raises:
        RulesError: If `rules` are invalid.
        SolvingError: If the rules or the target are not supported, if `memory` is too small, or if
            files cannot be written or are damaged.
    """
    positions = Positions(get_formation(formation), target, get_rules(rules))
    needed = checked_memory(positions, memory)
    folder = Path(f"{path}.unfinished")
    store = LayerStore(memory - needed, folder, _description(positions))
    builder = _Builder(positions, store, threads or available_threads())
    builder.run(LayerLoops(progress))
    write_file(path, MAGIC, builder.write)
    store.remove()
    return EndingTable.load(path)


def checked_memory(positions: Positions, memory: int) -> int:
    """Return the approximate memory in bytes for building a table.

    Building the largest layer takes 20 bytes per position, for four 32-bit arrays and the
    compressed result.

    Raises:
        SolvingError: If more than `memory` is needed.
    """
    needed = 20 * max(positions.sizes) + 6 * positions.layer(0).starts.nbytes + (64 << 20)
    if needed > memory:
        raise SolvingError(
            f"{positions.name} has {positions.count:,} positions and needs {needed / 2**30:.1f}G "
            f"of memory, not {memory / 2**30:.1f}G: allow more or take a smaller target"
        )
    return needed


def _description(positions: Positions) -> dict[str, Any]:
    formation = positions.formation
    return {
        "formation": {formation.name: formation.data()},
        "target": positions.target,
        "rules": str(positions.rules),
    }


class _Builder:
    def __init__(self, positions: Positions, store: LayerStore, threads: int) -> None:
        self._positions, self._store, self._threads = positions, store, threads
        self._tiles = positions.rules.spawn_weights.pairs

    def run(self, loops: LayerLoops) -> None:
        """Compute the chances of all missing layers, in descending order of their sums."""
        sizes, totals = self._positions.sizes, range(self._positions.reach, -1, -2)
        left = [total for total in totals if ("sizes", total) not in self._store]
        for total in loops.backward(left, lambda total: sizes[total // 2]):
            self._find(total)

    def _find(self, total: int) -> None:
        positions, size = self._positions, self._positions.sizes[total // 2]
        layer, is_lost = positions.layer(total), total > positions.limit
        afters, chances = np.zeros(size, np.uint32), np.empty(size, np.uint32)
        successors = () if is_lost else tuple(self._successors(total))

        def expect(first: int, last: int) -> None:
            kernels.expect(first, last, layer, positions.spec, successors, afters)

        def choose(first: int, last: int) -> None:
            kernels.choose(first, last, layer, positions.spec, afters, chances)

        workers = max(1, min(self._threads, size // MIN_POSITIONS_PER_THREAD))
        parts = positions.parts(total, workers)
        blocks: list[bytes] = []
        if not is_lost:
            together(expect, parts)
            jobs = shares(-(-size // BLOCK), workers)
            blocks = sum(together(lambda *part: _packed(afters, *part), jobs), blocks)
        together(choose, parts)
        self._store.put(("chances", total), chances)
        self._store.put(("blocks", total), np.array(bytearray().join(blocks), np.uint8))
        # A layer is complete as soon as its array of sizes exists.
        self._store.put(("sizes", total), np.array(list(map(len, blocks)), np.uint32))
        self._store.drop(("chances", total + max(tile for tile, _ in self._tiles)))

    def _successors(self, total: int) -> Iterator[Successors]:
        """Yield the successors for each tile that can spawn."""
        for tile, share in self._tiles:
            layer, rank = self._positions.layer(total + tile), np.uint64(tile.bit_length() - 1)
            chances = self._store.get(("chances", total + tile))
            yield Successors(rank, float(share), layer.fillings, layer.starts, chances)

    def write(self, file: BinaryIO) -> dict[str, Any]:
        """Write all blocks of chances and their offsets; return the footer's data."""
        ends = [np.array([len(MAGIC)], np.uint64)]
        for total in range(0, self._positions.limit + 1, 2):
            file.write(self._store.get(("blocks", total)).data)
            ends.append(self._store.get(("sizes", total)).astype(np.uint64))
        places = np.cumsum(np.concatenate(ends), dtype="<u8").tobytes()
        file.write(places)
        return {**_description(self._positions), "places": zlib.crc32(places)}


def _packed(afters: Chances, first: int, last: int) -> list[bytes]:
    """Compress each block of chances to a bit mask and the non-zero values."""
    blocks = []
    for block in range(first, last):
        part = afters[BLOCK * block : BLOCK * (block + 1)].astype(np.uint64)
        stored = ((part * STORED_ONE + CHANCE_ONE // 2) // CHANCE_ONE).astype("<u2")
        is_some = stored != 0
        data = np.packbits(is_some).tobytes() + stored[is_some].tobytes()
        blocks.append(zlib.compress(data, 1))
    return blocks
