"""Tables of endings: the chance to make a tile from every position of a formation on 4x4.

The chance of an afterstate is the mean over the tiles that can appear of the best move's; layers of
equal sums are computed downwards, as the solver does. A file has a chance for each afterstate, in
the order of `py2048.solving.positions`, so that boards stand nowhere in it.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from py2048.errors import RulesError, SolvingError, os_errors_as
from py2048.folders import TABLE_SUFFIX, tables_folder
from py2048.rules import Rules, get_rules
from py2048.solving import _table_kernels as kernels
from py2048.solving.distilled import shipped_tables
from py2048.solving.ending_table import EndingTable
from py2048.solving.files import read_footer
from py2048.solving.formations import CELLS, Formation
from py2048.solving.positions import Positions

Stored = NDArray[np.uint16]

MAGIC = b"py2048 table 1\n"
"""The first and the last bytes of a file; `docs/reference/table-format.md` says what is between."""

BLOCK = 1 << 16
"""So many chances are compressed together."""

SCALE = 65535
"""What stands for 1 in a file."""

BLOCKS_HELD = 256


class Table(EndingTable):
    """The chance to make a tile from every position of a formation, in a file.

    Attributes:
        formation: the formation.
        target: the tile to be made.
        rules: the rules.
        path: the file.
    """

    error = 0.6 / SCALE
    """No chance differs from the exact one by more.

    Half a unit of the file, and for each layer half a unit of `CERTAIN`.
    """

    def __init__(self, path: Path, positions: Positions, check: int) -> None:
        super().__init__(positions)
        self.path = path
        counts = [-(-size // BLOCK) for size in positions.sizes[: positions.limit // 2 + 1]]
        self._first = [0, *accumulate(counts)]
        with os_errors_as(SolvingError, str(path)):
            self._data: NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
        self._places = self._read_places(check)
        self._block = lru_cache(maxsize=BLOCKS_HELD)(self._read_block)

    def _read_places(self, check: int) -> NDArray[np.uint64]:
        """Return where the blocks begin, and where the last ends."""
        length = 8 * (self._first[-1] + 1)
        footer = int.from_bytes(self._data[-len(MAGIC) - 8 : -len(MAGIC)].tobytes(), "little")
        end = len(self._data) - len(MAGIC) - 16 - footer
        data = self._data[max(0, end - length) : end].tobytes()
        if len(data) != length or zlib.crc32(data) != check:
            raise _damaged(self.path)
        return np.frombuffer(data, "<u8")

    @classmethod
    def load(cls, path: Path | str, rules: Rules | str | None = None) -> Table:
        """Return the table in a file, which is read where it is needed.

        Args:
            path: the file.
            rules: the rules of the game in which it is to be used; by default those of the table.

        Raises:
            RulesError: if `rules` are none.
            SolvingError: if there is no table, it is damaged, or for rules with other chances.
        """
        file = Path(path)
        if (about := read_footer(file, MAGIC)) is None:
            raise _damaged(file)
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
    def positions(self) -> int:
        """The number of positions, those that no slide makes among them."""
        return self._positions.count

    # --- the file --------------------------------------------------------------------------------

    def _stored(self, total: int, place: int) -> float:
        block, within = divmod(place, BLOCK)
        return float(self._block(total, block)[within]) / SCALE

    def _read_block(self, total: int, block: int) -> Stored:
        """Return the chances of a block of a layer, in units of the file."""
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

    def check(self, samples: int = 200, seed: int = 0) -> float:
        """Read the whole file, and find the chances of some afterstates from those that follow.

        Args:
            samples: how many afterstates.
            seed: decides which.

        Returns:
            the largest difference that was found.

        Raises:
            SolvingError: if the file is damaged, or a chance is not that of its successors.
        """
        blocks = [
            (2 * half, block)
            for half in range(len(self._first) - 1)
            for block in range(self._first[half + 1] - self._first[half])
        ]
        for each in blocks:
            self._read_block(*each)
        draws = np.random.default_rng(seed)
        largest = max((self._difference(blocks, draws) for _ in range(samples)), default=0.0)
        if largest > 2 * self.error:
            raise SolvingError(
                f"{self.path} is wrong: a chance differs by {largest:.6f} from what follows; "
                "build it again"
            )
        return largest

    def _difference(self, blocks: list[tuple[int, int]], draws: np.random.Generator) -> float:
        """Return how far some chance is from that of what follows."""
        while True:
            total, block = blocks[draws.integers(len(blocks))]
            place = BLOCK * block + int(draws.integers(len(self._block(total, block))))
            board, stored = self._positions.board_at(total, place), self._stored(total, place)
            if self._is_afterstate(board):
                return abs(stored - self._mean(board))
            if stored:
                return stored

    def _is_afterstate(self, board: int) -> bool:
        """Return whether a slide can have made a board, and play goes on."""
        return bool(kernels.is_settled(np.uint64(board))) and not self._positions.is_made(board)

    def _mean(self, after: int) -> float:
        """Return the chance of an afterstate by those of the afterstates that follow."""
        free = [cell for cell in range(CELLS) if not after >> 4 * cell & 15]
        total = 0.0
        for tile, share in self.rules.spawn_weights.pairs:
            rank = tile.bit_length() - 1
            for cell in free:
                following = self._afters(after | rank << 4 * cell, 0).values()
                total += float(share) / len(free) * max(following, default=0.0)
        return total


def load_table(name: str, rules: str | None = None) -> Table:
    """Return the table with a name, in the data folder, or in a file.

    Args:
        name: a name such as ``L3-256``, or a file.
        rules: as for `Table.load`.

    Raises:
        SolvingError: if there is none, or it cannot be used under the rules.
    """
    known, file = tables_folder() / f"{name}{TABLE_SUFFIX}", Path(name)
    if not known.exists() and not file.exists():
        raise _missing(name)
    return Table.load(known if known.exists() else file, rules)


def _missing(name: str) -> SolvingError:
    formation, _, target = name.rpartition("-")
    is_name = formation.isalnum() and target.isdecimal()
    fix = f"build it with py2048 tables build {f'{formation} {target}' if is_name else ''}".rstrip()
    if name in (path.stem for path in shipped_tables()):
        return SolvingError(
            f"of {name} there is only the distilled table here, not the whole: {fix}"
        )
    return SolvingError(f"there is no table {name}: {fix}")


def _damaged(path: Path) -> SolvingError:
    return SolvingError(f"{path} is not a table, or is damaged: build it again")
