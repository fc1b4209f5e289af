"""Right versions of what tasks ask for, so that an error costs the marks of its own task only."""

from __future__ import annotations

CREATE = """
def _create(self, row, col):
    return [[0 for _ in range(col)] for _ in range(row)]
Grid.createGrid = _create
"""
CELLS = """
def _set(self, cell, val):
    self._grid[cell // self.col][cell % self.col] = val
def _get(self, cell):
    return self._grid[cell // self.col][cell % self.col]
Grid.setCell, Grid.getCell = _set, _get
"""
ROW = """
def _collapse(self, lst):
    tiles, out = [tile for tile in lst if tile], []
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile:
            tile += tiles.pop(0)
            self.score += tile
        out.append(tile)
    out += [0] * (len(lst) - len(out))
    return out, out != list(lst)
Grid.collapseRow = _collapse
"""
EMPTIES = """
def _empties(self):
    cells = [tile for row in self._grid for tile in row]
    self.emptiesSet = [cell for cell, tile in enumerate(cells) if not tile]
Grid.updateEmptiesSet = _empties
"""
_MOVE = """
def _move(turned, backwards):
    def move(self):
        lines = [list(line) for line in (zip(*self._grid) if turned else self._grid)]
        found = [self.collapseRow(line[::-1] if backwards else line) for line in lines]
        lines = [line[::-1] if backwards else line for line, _ in found]
        self._grid = [list(line) for line in (zip(*lines) if turned else lines)]
        return any(changed for _, changed in found)
    return move
"""
DIRECTIONS = {
    "collapseLeft": "Grid.collapseLeft = _move(False, False)\n",
    "collapseRight": "Grid.collapseRight = _move(False, True)\n",
    "collapseUp": "Grid.collapseUp = _move(True, False)\n",
    "collapseDown": "Grid.collapseDown = _move(True, True)\n",
}
COLLAPSIBLE = """
def _collapsible(self):
    lines = [list(line) for line in (*self._grid, *zip(*self._grid))]
    return any(0 in line or any(map(int.__eq__, line, line[1:])) for line in lines)
Grid.collapsible = _collapsible
"""
PARTS = {
    "createGrid": CREATE,
    "cells": CELLS,
    "collapseRow": ROW,
    "updateEmptiesSet": EMPTIES,
    "collapsible": COLLAPSIBLE,
    **{name: _MOVE + code for name, code in DIRECTIONS.items()},
}
"""Right versions by the name of the method; ``cells`` are `setCell` and `getCell`."""


def all_but(*about: str) -> tuple[str, ...]:
    """Code that puts right versions of all parts but those that a check is `about`."""
    return ("".join(code for name, code in PARTS.items() if name not in about),)
