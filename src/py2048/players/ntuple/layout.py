"""`NetworkLayout`: the tuples of an n-tuple network and the order of its weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product

import numpy as np

from py2048.core.errors import WeightsError, did_you_mean, shown

Tuple = tuple[int, ...]
"""The cells of a tuple in ascending order, numbered row by row."""

Code = tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
"""For each tuple, the offset of its weights, and the shifts and masks that extract its cells."""

PACKED_RANKS = 16
MAX_WEIGHTS = 2**32
"""Maximum number of weights per stage, 16 GiB as float32."""
MAX_STAGE = 2**62
"""Upper bound for stage thresholds, which exceeds every sum of distinct tiles."""

# The eight symmetric images of a tuple are equivalent, but their weights have different orders in
# memory. These images keep frequently used weights on a few memory pages, so training a network
# with six tuples is 40 % faster than with the images printed in the papers.
YEH_4X6 = "abcdef 4567ab 9abdef 569ade"
"""Tuples from Yeh et al., "Multistage temporal difference learning for 2048-like games", 2016."""

MATSUZAKI_8X6 = "9abdef 4567ab abcdef 69abcd 56adef 489abf 89abdf 567bef"
"""The best eight tuples of Matsuzaki, "Systematic selection of n-tuple networks for 2048", 2016."""

NAMED = {"4x6": YEH_4X6, "8x6": MATSUZAKI_8X6}
PLACED = ("lines", "squares", "rectangles")
"""Shapes that `parse_tuples` places everywhere: lines, 2x2 squares and 2x3 rectangles."""


@dataclass(frozen=True)
class NetworkLayout:
    """The structure of an n-tuple network.

    Each tuple has one weight for every combination of ranks on its cells. Each tuple is applied to
    all symmetric images of a board: eight if the board is square, otherwise four.

    Attributes:
        rows: Number of rows.
        columns: Number of columns.
        tuples: Cells of each tuple, numbered in row-major order. The cells of a tuple are sorted on
            creation.
        stages: Thresholds of the later stages, ascending. A board belongs to the last stage whose
            threshold does not exceed the sum of the board's *distinct* tiles. For example, the
            threshold 24576 is reached with the tiles 16384 and 8192 together, or with any larger
            tile.
        ranks: Number of ranks that have their own weights, including the empty cell. Larger tiles
            are downgraded (see `downgraded`). The maximum number of ranks is 16 on boards of up to
            4x4 cells, and 64 on larger boards.

    Raises:
        WeightsError: If the layout is not valid.
    """

    rows: int
    columns: int
    tuples: tuple[Tuple, ...]
    stages: tuple[int, ...] = ()
    ranks: int = PACKED_RANKS

    def __post_init__(self) -> None:
        object.__setattr__(self, "tuples", tuple(tuple(sorted(cells)) for cells in self.tuples))
        self._check_tuples()
        self._check_stages()
        most = PACKED_RANKS if self.is_packed else 64
        if not 2 <= self.ranks <= most:
            raise WeightsError(
                f"a {self.rows}x{self.columns} network distinguishes 2 to {most} ranks, "
                f"not {self.ranks}"
            )
        if self.size > MAX_WEIGHTS:
            raise WeightsError(
                f"the weights of a stage are more than {MAX_WEIGHTS}: take smaller "
                "tuples, such as squares"
            )

    def _check_tuples(self) -> None:
        if not self.tuples:
            raise WeightsError("a network needs at least one tuple")
        for cells in self.tuples:
            if not cells or len(set(cells)) != len(cells):
                raise WeightsError(f"the tuple {cells} is empty or names a cell twice")
            if not 0 <= cells[0] <= cells[-1] < self.rows * self.columns:
                raise WeightsError(f"the tuple {cells} leaves the {self.rows}x{self.columns} board")

    def _check_stages(self) -> None:
        if any(stage % 2 or not 4 <= stage < MAX_STAGE for stage in self.stages):
            raise WeightsError(
                f"stages {shown(self.stages)}: each is a sum of different tiles, from 4 to 2**62"
            )
        if list(self.stages) != sorted(set(self.stages)):
            raise WeightsError(f"stages {self.stages} must ascend")

    @property
    def is_packed(self) -> bool:
        """Whether boards are packed into words and slide by table lookup."""
        return self.kind != "cells"

    @property
    def kind(self) -> str:
        """The kind of board, which determines the kernels to use."""
        return board_kind(self.rows, self.columns)

    @property
    def known(self) -> int:
        """Largest rank that has weights."""
        return self.ranks - 1

    @property
    def active(self) -> int:
        """Number of weights added up to evaluate a board."""
        return len(self.tuples) * len(self.images)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Offset of each tuple's weights within a stage, followed by the size of a stage."""
        offsets, radix = [0], PACKED_RANKS if self.is_packed else self.ranks
        for cells in self.tuples:
            offsets.append(offsets[-1] + int(radix ** len(cells)))
        return tuple(offsets)

    @property
    def size(self) -> int:
        """Number of weights per stage."""
        return self.offsets[-1]

    @property
    def weights(self) -> int:
        """Number of weights in all stages."""
        return self.size * (len(self.stages) + 1)

    @cached_property
    def images(self) -> tuple[Tuple, ...]:
        """The symmetries of the board, as permutations of its cells (see `images`)."""
        return tuple(images(self.rows, self.columns))

    @cached_property
    def code(self) -> Code:
        """The tuples, encoded for `make_indices_kernel`; empty unless the board is 4x4."""
        if self.kind != "4x4":
            return ()
        return tuple(zip(self.offsets, map(parts_of, self.tuples), strict=False))

    def stage_of(self, tiles: Iterable[int]) -> int:
        """Return the stage of a board, given its tiles."""
        seen = sum(set(tiles))
        return sum(seen >= least for least in self.stages)


def board_kind(rows: int, columns: int) -> str:
    """Return the kind of board: ``4x4``, ``small`` (packed) or ``cells``."""
    if max(rows, columns) > 4:
        return "cells"
    return "4x4" if (rows, columns) == (4, 4) else "small"


def images(rows: int, columns: int) -> Iterator[Tuple]:
    """Yield a board's symmetries as permutations; entry `i` is the cell that moves to `i`."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    for is_turned in (False, True) if rows == columns else (False,):
        for flip, mirror in product((1, -1), repeat=2):
            image = cells[::flip, ::mirror]
            yield tuple((image.T if is_turned else image).ravel().tolist())


def parse_tuples(text: str, rows: int, columns: int) -> tuple[Tuple, ...]:
    """Parse a tuple specification.

    The words of a specification are separated by spaces or ``+``. A word is one of:

    - a named set for 4x4 boards (``4x6`` or ``8x6``)
    - a shape placed everywhere (``lines``, ``squares``, ``rectangles``), one tuple for each class
      of symmetric placements
    - the cells of one tuple as hexadecimal digits (``012456``), or as numbers for larger boards
      (``0-1-2-5-6-7``)

    Raises:
        WeightsError: If the specification contains an unknown word.
    """
    found: dict[Tuple, None] = {}
    for word in text.replace("+", " ").split():
        found |= dict.fromkeys(_tuples_of(word, rows, columns))
    return tuple(found)


def _tuples_of(word: str, rows: int, columns: int) -> list[Tuple]:
    if word in PLACED:
        return placed(word, rows, columns)
    if word in NAMED:
        if (rows, columns) != (4, 4):
            raise WeightsError(f"the tuples {word} are for 4x4 boards, not {rows}x{columns}")
        return [_cells_of(digits) for digits in NAMED[word].split()]
    return [_cells_of(word)]


def _cells_of(word: str) -> Tuple:
    try:
        if "-" in word:
            return tuple(sorted(int(number) for number in word.split("-") if number))
        return tuple(sorted(int(digit, 16) for digit in word))
    except ValueError:
        raise WeightsError(
            f"{word!r} names no tuples{did_you_mean(word, [*NAMED, *PLACED])}, or write cells such "
            "as 012456 or 0-1-2-5-6-7"
        ) from None


def cells_text(cells: Tuple) -> str:
    """Format a tuple as a word that `parse_tuples` accepts."""
    if max(cells) < 16:
        return "".join(f"{cell:x}" for cell in cells)
    return "-".join(map(str, cells)) + ("-" if len(cells) == 1 else "")


def placed(shape: str, rows: int, columns: int) -> list[Tuple]:
    """Return all placements of a shape on the board, without symmetric duplicates."""
    sides = {
        "lines": [(1, columns), (rows, 1)],
        "squares": [(2, 2)],
        "rectangles": [(2, 3), (3, 2)],
    }[shape]
    moves, found = list(images(rows, columns)), dict[Tuple, None]()
    for height, width in sides:
        for top in range(rows - height + 1):
            for left in range(columns - width + 1):
                cells = [
                    (top + row) * columns + left + column
                    for row in range(height)
                    for column in range(width)
                ]
                seen = {tuple(sorted(move[cell] for cell in cells)) for move in moves}
                found[min(seen)] = None
    return list(found)


def default_tuples(rows: int, columns: int) -> str:
    """Return the default tuple specification for a board shape."""
    if (rows, columns) == (4, 4):
        return "4x6"
    has_room = min(rows, columns) > 1 and 6 <= rows * columns <= 16
    return "lines+rectangles" if has_room else "lines+squares"


def parts_of(cells: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the shifts and masks that extract a tuple's weight index from a packed board."""
    breaks = [at + 1 for at, (a, b) in enumerate(pairwise(cells)) if b != a + 1]
    parts, done = [], 0
    for start, end in pairwise([0, *breaks, len(cells)]):
        length = end - start
        parts.append((4 * (cells[start] - done), ((1 << 4 * length) - 1) << 4 * done))
        done += length
    return tuple(parts)


def downgraded(ranks: Sequence[int], known: int) -> list[int]:
    """Lower the ranks of large tiles until no rank exceeds `known` [1].

    Each step looks below the board's largest rank for the largest missing rank, and lowers all
    ranks above it by one. Lowering ranks preserves their order, so the board resembles an earlier
    position with the same best moves. Once no rank below the maximum is missing, all ranks above
    `known` become `known`.

    [1] Guei, Chen & Wu, "Optimistic temporal difference learning for 2048", IEEE Transactions on
        Games, 2021 ("tile-downgrading").
    """
    ranks = list(ranks)
    while max(ranks) > known:
        missing = [rank for rank in range(1, max(ranks)) if rank not in ranks]
        if not missing:
            return [min(rank, known) for rank in ranks]
        ranks = [rank - (rank > missing[-1]) for rank in ranks]
    return ranks
