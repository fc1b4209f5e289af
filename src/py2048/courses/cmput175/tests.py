"""The five tests of the CMPUT 175 assignment.

The tests import the `game` module in the same folder, and print one line per test. This file is
handed out to students.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

game: Any = import_module(f"{__package__}.game" if __package__ else "game")

_ROWS = {
    "a": ([2, 0, 0, 0], ([2, 0, 0, 0], False)),
    "b": ([2, 0, 2, 0], ([4, 0, 0, 0], True)),
    "c": ([2, 2, 2, 0], ([4, 2, 0, 0], True)),
    "d": ([2, 0, 2, 2], ([4, 2, 0, 0], True)),
    "e": ([8, 8, 16, 8], ([16, 16, 8, 0], True)),
    "f": ([2, 0, 2, 4], ([4, 4, 0, 0], True)),
    "g": ([2, 8, 4, 4], ([2, 8, 8, 0], True)),
}

# The lists of empty cells in test (a) are wrong on purpose, because `collapsible` must look at the
# grid.
_GRIDS = {
    "a": ([0, 1, 2, 3, 4, 5, 6, 8], [[0, 0, 0, 0], [0, 0, 0, 4], [2, 0, 2, 16], [2, 4, 4, 2]]),
    "b": ([], [[2, 8, 2, 4], [4, 4, 8, 2], [2, 8, 2, 4], [4, 2, 4, 2]]),
    "c": ([], [[2, 8, 2, 4], [8, 4, 8, 2], [2, 4, 2, 4], [4, 2, 4, 2]]),
    "d": ([], [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]]),
}
_STUCK = "d"


def testCollapseRow() -> None:
    """Test `collapseRow` on seven rows."""
    print("Running tests for collapseRow()")
    grid = game.Grid()
    for name, (row, expected) in _ROWS.items():
        passed = grid.collapseRow(row) == expected
        print(f"Test ({name}) passed." if passed else f"Test ({name}) failed")


def testCollapseLeft() -> None:
    """Test `collapseLeft` on one grid."""
    print("Running test for collapseLeft()")
    grid = game.Grid()
    grid._grid = [[0, 0, 0, 0], [0, 0, 0, 4], [2, 0, 2, 16], [2, 4, 4, 2]]
    grid.collapseLeft()
    expected = [[0, 0, 0, 0], [4, 0, 0, 0], [4, 16, 0, 0], [2, 8, 2, 0]]
    print("Left collapse test passed." if grid._grid == expected else "Test case failed.")


def testCollapseDown() -> None:
    """Test `collapseDown` on one grid."""
    print("Running test for collapseDown()")
    grid = game.Grid()
    grid._grid = [[2, 8, 2, 4], [8, 4, 8, 2], [2, 4, 2, 4], [4, 2, 4, 2]]
    grid.collapseDown()
    expected = [[2, 0, 2, 4], [8, 8, 8, 2], [2, 8, 2, 4], [4, 2, 4, 2]]
    print("Down collapse test passed." if grid._grid == expected else "Test case failed.")


def testCollapsible() -> None:
    """Test `collapsible` on four grids. The last grid has no possible move."""
    print("Running test for collapsible()")
    grid = game.Grid()
    for name, (empties, rows) in _GRIDS.items():
        grid.emptiesSet = empties
        grid._grid = rows
        passed = bool(grid.collapsible()) is (name != _STUCK)
        print(f"Test ({name}) passed." if passed else f"Test ({name}) failed.")


def testEmpties() -> None:
    """Test `updateEmptiesSet` on one grid."""
    print("Running test for updateEmptiesSet()")
    grid = game.Grid()
    grid._grid = [[0, 0, 0, 0], [0, 0, 0, 4], [2, 0, 2, 16], [2, 4, 4, 0]]
    grid.updateEmptiesSet()
    passed = grid.emptiesSet == [0, 1, 2, 3, 4, 5, 6, 9, 15]
    print("Empties set test passed." if passed else "Empties set test failed.")


# Uncomment the tests for the functions you want to check.
# testCollapseRow()
# testCollapseLeft()
# testCollapseDown()
# testCollapsible()
# testEmpties()
