"""`DistilledTable`: the chances of the endings that games meet, in a small file.

A table has every position of a formation; the games of a good player meet few of them. Stored are
the chances after each move on those, but no board: a `Retrieval` has them by the place of the
afterstate in the table, with bits to check it by. An afterstate that was not stored passes the
check by accident once in ``2 ** CHECK`` times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from py2048.board import Board
from py2048.compiled.boards import mix64
from py2048.errors import BoardError, RulesError, SolvingError
from py2048.rules import Rules
from py2048.solving.ending_table import EndingTable
from py2048.solving.files import read_arrays, write_arrays
from py2048.solving.formations import Formation
from py2048.solving.positions import Positions
from py2048.solving.retrieval import Retrieval
from py2048.solving.tables import SCALE, Table

Words = NDArray[np.uint64]

MAGIC = b"py2048 endings 1\n"
"""The first bytes of a file."""

CHECK, VALUE = 8, 16
"""How many bits of the check, and of the chance in units of `SCALE`, are stored."""

ROOM = 5
"""The bits of a key that number these."""


class DistilledTable(EndingTable):
    """The chance to make a tile from the positions of a formation that games meet.

    Attributes:
        formation: the formation.
        target: the tile to be made.
        rules: the rules.
        count: the number of afterstates.
    """

    error = Table.error

    def __init__(self, positions: Positions, chances: Retrieval, count: int) -> None:
        super().__init__(positions)
        self.count, self._chances = count, chances

    def _stored(self, total: int, place: int) -> float:
        keys = np.array([_key(total, place)], np.uint64)
        code = int(self._chances.get(_bit_keys(keys)) @ _POWERS)
        if code >> VALUE != int(_checks(keys)[0]):
            raise BoardError(
                f"the distilled {self.name} has not this board: "
                f"py2048 tables build {self.formation.name} {self.target} makes the whole table"
            )
        return (code & SCALE) / SCALE

    @classmethod
    def of(
        cls,
        table: Table,
        boards: Iterable[Board],
        progress: Callable[[int], None] = lambda _: None,
    ) -> DistilledTable:
        """Return the chances after all moves on boards.

        Args:
            table: the whole table.
            boards: the boards; those that are not in the formation are left out.
            progress: called with the number of boards that are done, from time to time.

        Raises:
            SolvingError: if the table is damaged.
        """
        recorder = _Recorder(table)
        # Neighbours in a file are read together.
        for done, board in enumerate(sorted(boards, key=lambda board: board.sum)):
            if recorder.holds(board):
                recorder.move_chances(board)
            progress(done)
        keys = np.array(list(recorder.found), np.uint64)
        values = np.rint(np.array(list(recorder.found.values())) * SCALE).astype(np.uint64)
        codes = _checks(keys) << np.uint64(VALUE) | values
        bits = (codes[:, None] >> _NUMBERS & np.uint64(1)).astype(np.bool_)
        chances = Retrieval.of(_bit_keys(keys), bits.reshape(-1))
        return cls(recorder._positions, chances, len(keys))

    def save(self, path: Path | str) -> None:
        """Write the chances to a file.

        Raises:
            SolvingError: if it cannot be written.
        """
        about = {
            "formation": {self.formation.name: self.formation.data()},
            "target": self.target,
            "rules": str(self.rules),
            "count": self.count,
        }
        write_arrays(path, MAGIC, about, self._chances.arrays())

    @classmethod
    def load(cls, path: Path | str) -> DistilledTable:
        """Return the chances in a file.

        Raises:
            SolvingError: if there are none, or it is damaged.
        """
        damaged = SolvingError(f"{path} holds no distilled table, or is damaged: make it again")
        if (found := read_arrays(path, MAGIC)) is None:
            raise damaged
        about, arrays = found
        try:
            ((name, data),) = about["formation"].items()
            formation, rules = Formation.of(name, data), Rules.parse(about["rules"])
            positions = Positions(formation, about["target"], rules)
            return cls(positions, Retrieval.from_arrays(arrays), about["count"])
        except (KeyError, TypeError, ValueError, RulesError):
            raise damaged from None


class _Recorder(EndingTable):
    """A table that keeps in mind what it was asked for."""

    error = Table.error

    def __init__(self, table: Table) -> None:
        super().__init__(table._positions)
        self._table = table
        self.found: dict[int, float] = {}

    def _stored(self, total: int, place: int) -> float:
        chance = self.found[_key(total, place)] = self._table._stored(total, place)
        return chance


_NUMBERS = np.arange(CHECK + VALUE, dtype=np.uint64)
_POWERS = 1 << np.arange(CHECK + VALUE)


def _key(total: int, place: int) -> int:
    """Return the key of the afterstate at a place of a layer."""
    return place << 16 | total


def _checks(keys: Words) -> Words:
    """Return what tells the keys from most others."""
    return mix64(~keys) >> np.uint64(64 - CHECK)


def _bit_keys(keys: Words) -> Words:
    """Return the keys of all bits of each key, one key after the other."""
    found: Words = (keys[:, None] << np.uint64(ROOM) | _NUMBERS).reshape(-1)
    return found
