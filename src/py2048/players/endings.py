"""`EndingSearcher`: a search that plays by tables of endings where they know the board."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048.board import Board
from py2048.compiled._board_kernels import Cells
from py2048.ntuple.heuristic import Heuristic
from py2048.ntuple.network import Network
from py2048.rules import Rules
from py2048.search._expectimax_kernels import Points, SearchParams, Values
from py2048.search.limits import SearchLimits
from py2048.search.searcher import Searcher
from py2048.solving.endings import Ending, Endings, endings_for
from py2048.solving.formations import SIDE


class EndingSearcher(Searcher):
    """Searches, and plays by tables where they know the board.

    A table knows the chance to make a tile, not the points that follow. So the best move keeps the
    value that the search gives it, and the others have the share of it that their chance is of the
    best one.

    Args:
        rules: the rules.
        evaluation: the evaluation of leaves.
        limits: how far to look.
        threads: how many threads search a move.
        endings: the tables; by default all that there are.
    """

    def __init__(
        self,
        rules: Rules,
        evaluation: Network | Heuristic,
        limits: SearchLimits,
        *,
        threads: int = 1,
        endings: Endings | None = None,
    ) -> None:
        super().__init__(rules, evaluation, limits, threads=threads)
        self._endings = endings

    @property
    def endings(self) -> Endings:
        """The tables."""
        return endings_for(self.rules) if self._endings is None else self._endings

    @property
    def plays_out(self) -> bool:
        """Whether the kernel plays whole games itself: it knows no tables."""
        return False

    def rate_cells(self, cells: Cells) -> tuple[Points, Values]:
        """Return the points of each slide, -1 for an illegal one, and the value of each move."""
        points, values = super().rate_cells(cells)
        if (ending := self._ending(cells)) is not None:
            most = max(ending.chances.values())
            value = max(values[d.value] for d, chance in ending.chances.items() if chance == most)
            for direction, chance in ending.chances.items():
                values[direction.value] = value - abs(value) * (1 - chance / most)
        return points, values

    def play_on(
        self, cells: Cells, state: NDArray[np.int64], key: int, room: int
    ) -> NDArray[np.uint8]:
        """Continue a game; return the moves made, at most `room`."""
        before = self.endings.least_sum - int((1 << cells[cells > 0].astype(np.int64)).sum())
        if before > 0:
            far = before // max(self.rules.spawn_weights.tiles)
            return super().play_on(cells, state, key, min(room, max(far, 1)))
        if (ending := self._ending(cells)) is None:
            return super().play_on(cells, state, key, min(room, 1))
        only = SearchParams(ending.best.value, 1, 0)
        with self._lock:
            return self._call(self.workers[0], cells, only, state, key, 1).moves

    def _ending(self, cells: Cells) -> Ending | None:
        """Return what decides on a board."""
        if self.rules.shape != (SIDE, SIDE):
            return None
        tiles = [1 << rank if rank else 0 for rank in cells.tolist()]
        board = Board([tiles[SIDE * row : SIDE * (row + 1)] for row in range(SIDE)])
        return self.endings.find(board)
