"""Building tables of endings, layer by layer of the sum of the tiles that are not large."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from py2048.compiled.threads import available_threads, shares, together
from py2048.errors import SolvingError
from py2048.rules import Rules, get_rules
from py2048.solving import _table_kernels as kernels
from py2048.solving._table_kernels import CERTAIN, Following
from py2048.solving.files import write_file
from py2048.solving.formations import Formation, get_formation
from py2048.solving.layers import KEPT, LayerStore
from py2048.solving.positions import Positions
from py2048.solving.solution import Progress
from py2048.solving.solver import DEFAULT_MEMORY
from py2048.solving.tables import BLOCK, MAGIC, SCALE, Table

Chances = NDArray[np.uint32]

FEW = 1 << 14
"""So many positions are not worth a second thread."""


def build_table(
    formation: Formation | str,
    target: int,
    path: Path | str,
    *,
    rules: Rules | str = "classic",
    memory: int = DEFAULT_MEMORY,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Table:
    """Write the table of a formation to a file and return it.

    What is done is kept beside the file in a folder until it is complete, so that building that
    was ended goes on.

    Args:
        formation: a formation, its name, or a TOML file with one.
        target: the tile to be made.
        path: the file.
        rules: rules of 4x4 whose tiles appear at random, or their text.
        memory: how many bytes may be used, about.
        threads: by default one for each processor.
        progress: called after each layer.

    Raises:
        RulesError: if `rules` are none.
        SolvingError: if there can be no such table, it needs more memory, or files cannot be
            written or are damaged.
    """
    positions = Positions(get_formation(formation), target, get_rules(rules))
    needed = checked_memory(positions, memory)
    folder = Path(f"{path}.unfinished")
    store = LayerStore(memory - needed, folder, _about(positions))
    builder = _Builder(positions, store, threads or available_threads(), progress)
    builder.run()
    try:
        write_file(path, MAGIC, builder.write)
    except SolvingError as error:
        raise SolvingError(f"{error}{KEPT}") from None
    store.remove()
    return Table.load(path)


def checked_memory(positions: Positions, memory: int) -> int:
    """Return how many bytes building a table takes, about.

    Raises:
        SolvingError: if so many may not be used.
    """
    needed = memory_needed(positions)
    if needed > memory:
        raise SolvingError(
            f"{positions.name} has {positions.count:,} positions and needs {needed / 2**30:.1f}G "
            f"of memory, not {memory / 2**30:.1f}G: allow more or take a smaller target"
        )
    return needed


def memory_needed(positions: Positions) -> int:
    """Return how many bytes building a table takes, about.

    Four arrays of 32 bits for the largest layer, what of it is compressed, and look-up tables.
    """
    return 20 * max(positions.sizes) + 6 * positions.layer(0).starts.nbytes + (64 << 20)


def _about(positions: Positions) -> dict[str, Any]:
    formation = positions.formation
    return {
        "formation": {formation.name: formation.data()},
        "target": positions.target,
        "rules": str(positions.rules),
    }


class _Builder:
    def __init__(
        self,
        positions: Positions,
        store: LayerStore,
        threads: int,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._positions, self._store, self._threads = positions, store, threads
        self._progress = progress
        self._tiles = positions.rules.spawn_weights.pairs

    def run(self) -> None:
        """Find the chances of all layers, those of the largest sums first."""
        began, done = time.perf_counter(), 0
        sizes, left = self._positions.sizes, self._left()
        all_ = sum(sizes[total // 2] for total in left)
        for total in left:
            self._find(total)
            done += sizes[total // 2]
            if self._progress is not None:
                seconds = time.perf_counter() - began
                self._progress(Progress("values", total, done, all_, seconds))

    def _left(self) -> list[int]:
        """Return the layers that are still to be found."""
        totals = range(self._positions.reach, -1, -2)
        left = [total for total in totals if ("sizes", total) not in self._store]
        if not left or self._is_held(left[0]):
            return left
        return list(totals)

    def _is_held(self, total: int) -> bool:
        """Return whether what follows the positions of a sum is still there."""
        if total > self._positions.limit:
            return True
        return all(("chances", total + tile) in self._store for tile, _ in self._tiles)

    def _find(self, total: int) -> None:
        positions, size = self._positions, self._positions.sizes[total // 2]
        layer, is_lost = positions.layer(total), total > positions.limit
        afters, chances = np.zeros(size, np.uint32), np.empty(size, np.uint32)
        following = () if is_lost else tuple(self._following(total))

        def expect(first: int, last: int) -> None:
            kernels.expect(first, last, layer, positions.spec, following, afters)

        def choose(first: int, last: int) -> None:
            kernels.choose(first, last, layer, positions.spec, afters, chances)

        workers = max(1, min(self._threads, size // FEW))
        parts = positions.parts(total, workers)
        blocks: list[bytes] = []
        if not is_lost:
            together(expect, parts)
            jobs = shares(-(-size // BLOCK), workers)
            blocks = sum(together(lambda *part: _packed(afters, *part), jobs), blocks)
        together(choose, parts)
        self._put(total, chances, blocks)

    def _put(self, total: int, chances: Chances, blocks: list[bytes]) -> None:
        """Keep a layer; that it has sizes says that it is complete."""
        data = np.array(bytearray().join(blocks), np.uint8)
        self._store.put(("chances", total), chances)
        self._store.put(("blocks", total), data)
        self._store.put(("sizes", total), np.array(list(map(len, blocks)), np.uint32))
        self._store.drop(("chances", total + max(tile for tile, _ in self._tiles)))

    def _following(self, total: int) -> Iterator[Following]:
        """Yield the positions that follow those of a sum, for each tile that can appear."""
        for tile, share in self._tiles:
            layer, rank = self._positions.layer(total + tile), np.uint64(tile.bit_length() - 1)
            chances = self._store.get(("chances", total + tile))
            yield Following(rank, float(share), layer.fillings, layer.starts, chances)

    def write(self, file: BinaryIO) -> dict[str, Any]:
        """Write the blocks of all layers, and where they begin; return what the footer says."""
        ends = [np.array([len(MAGIC)], np.uint64)]
        for total in range(0, self._positions.limit + 1, 2):
            file.write(self._store.get(("blocks", total)).data)
            ends.append(self._store.get(("sizes", total)).astype(np.uint64))
        places = np.cumsum(np.concatenate(ends), dtype="<u8").tobytes()
        file.write(places)
        return {**_about(self._positions), "places": zlib.crc32(places)}


def _packed(afters: Chances, first: int, last: int) -> list[bytes]:
    """Return blocks of chances, compressed: a bit for each that is not 0, then those."""
    blocks = []
    for block in range(first, last):
        part = afters[BLOCK * block : BLOCK * (block + 1)].astype(np.uint64)
        stored = ((part * SCALE + CERTAIN // 2) // CERTAIN).astype("<u2")
        is_some = stored != 0
        data = np.packbits(is_some).tobytes() + stored[is_some].tobytes()
        blocks.append(zlib.compress(data, 1))
    return blocks
