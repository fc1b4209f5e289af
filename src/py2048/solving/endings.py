"""`find_ending`: the chance of each move to finish an ending, by the best table there is.

Tables are those in the folder `py2048.folders.tables_folder`, where ``py2048 tables build`` puts
them, and distilled ones, which come with py2048.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from py2048.board import Board
from py2048.direction import Direction
from py2048.errors import BoardError
from py2048.folders import built_tables, tables_folder
from py2048.rules import Rules, get_rules
from py2048.solving.distilled import shipped_tables
from py2048.solving.distilled_table import DistilledTable
from py2048.solving.ending_table import EndingTable
from py2048.solving.formations import SIDE
from py2048.solving.tables import Table

LEAST = 0.5
"""The least chance of an ending: below it, leaving the formation may well be better."""


class Ending(NamedTuple):
    """What a table knows of a board.

    A move that breaks the formation has no chance there. In play it is not quite lost: where the
    best move had 0.9 or more, a search made the tile after 97 % of these, and after 38 % of those.

    Attributes:
        table: its name, such as ``L3-256``.
        target: the tile that is to be made.
        chances: the chance to make it after each legal move, 0 where that breaks the formation.
    """

    table: str
    target: int
    chances: dict[Direction, float]

    @property
    def chance(self) -> float:
        """The chance to make the target."""
        return max(self.chances.values(), default=0.0)

    @property
    def best(self) -> Direction:
        """The best move, the first of several."""
        return max(self.chances, key=self.chances.__getitem__)


class Endings:
    """Tables of endings, of which the best is asked.

    It is that of the largest target, and of several that of the greatest chance.

    Attributes:
        least_sum: no table has a board with a smaller sum.
    """

    def __init__(self, tables: Sequence[EndingTable]) -> None:
        self._tables = tables
        sums = (table.target * ((1 << table.formation.larges) - 1) for table in tables)
        self.least_sum = min(sums, default=1 << 62)

    def find(self, board: Board) -> Ending | None:
        """Return what the best table knows of a 4x4 board, as `find_ending`.

        Raises:
            SolvingError: if a table is damaged.
        """
        known = (self._ask(table, board) for table in self._tables if table.holds(board))
        found = [ending for ending in known if ending is not None and ending.chance >= LEAST]
        return max(found, key=lambda ending: (ending.target, ending.chance), default=None)

    @staticmethod
    def _ask(table: EndingTable, board: Board) -> Ending | None:
        try:
            return Ending(table.name, table.target, table.move_chances(board))
        except BoardError:  # a distilled table has not every board
            return None


def find_ending(board: Board, rules: Rules | str = "classic") -> Ending | None:
    """Return what the best table knows of a board.

    It is `None` where no table knows the board, or all give less than `LEAST`.

    Args:
        board: the board to move on.
        rules: the rules of the game.

    Raises:
        RulesError: if `rules` are none.
        SolvingError: if a table is damaged.
    """
    return endings_for(rules).find(board) if board.shape == (SIDE, SIDE) else None


def endings_for(rules: Rules | str) -> Endings:
    """Return the tables there are for rules; one that was built replaces the distilled one.

    Raises:
        RulesError: if `rules` are none.
        SolvingError: if a table is damaged.
    """
    folder = tables_folder()
    try:
        changed = folder.stat().st_mtime_ns
    except OSError:
        changed = 0
    return _endings_in(folder, changed, get_rules(rules))


@lru_cache(maxsize=16)
def _endings_in(_folder: Path, _changed: int, rules: Rules) -> Endings:
    if rules.shape != (SIDE, SIDE):
        return Endings([])
    every = [_loaded(path, path.stat().st_mtime_ns) for path in built_tables()]
    built = [table for table in every if table.serves(rules)]
    names = {table.name for table in built}
    rest = (table for table in _shipped() if table.name not in names and table.serves(rules))
    return Endings([*built, *rest])


@lru_cache(maxsize=16)
def _loaded(path: Path, _changed: int) -> Table:
    return Table.load(path)


@cache
def _shipped() -> list[DistilledTable]:
    """Return the tables that come with py2048."""
    return [DistilledTable.load(path) for path in shipped_tables()]
