"""A few tests. Take the comment sign away from those at the end that you want to run."""

import game


def report(name, passed):
    print(f"{name}: {'passed' if passed else 'FAILED'}")


def new_grid(rows):
    grid = game.Grid()
    grid._grid = [list(row) for row in rows]
    return grid


def testCreateGrid():
    grid = game.Grid(4, 4, 0)
    report("createGrid, 4 x 4", grid._grid == [[0, 0, 0, 0] for _ in range(4)])
    report("createGrid, 2 x 3", grid.createGrid(2, 3) == [[0, 0, 0], [0, 0, 0]])


def testCells():
    grid = game.Grid(4, 4, 0)
    grid.setCell(6, 8)
    report("setCell", grid._grid[1][2] == 8)
    report("getCell", grid.getCell(6) == 8)


def testCollapsible():
    grid = new_grid([[0, 0, 0, 0], [0, 0, 0, 4], [2, 0, 2, 16], [2, 4, 4, 2]])
    report("collapsible with empty cells", grid.collapsible() is True)
    grid = new_grid([[2, 8, 2, 4], [4, 4, 8, 2], [2, 8, 2, 4], [4, 2, 4, 2]])
    grid.emptiesSet = []
    report("collapsible, full, with two 4s side by side", grid.collapsible() is True)
    grid = new_grid([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]])
    grid.emptiesSet = []
    report("collapsible, full, no neighbours equal", grid.collapsible() is False)


def testCollapseRow():
    grid = game.Grid()
    for row, expected in (
        ([2, 0, 0, 0], ([2, 0, 0, 0], False)),
        ([2, 0, 2, 0], ([4, 0, 0, 0], True)),
        ([2, 2, 2, 0], ([4, 2, 0, 0], True)),
        ([2, 0, 2, 2], ([4, 2, 0, 0], True)),
        ([8, 8, 16, 8], ([16, 16, 8, 0], True)),
        ([2, 0, 2, 4], ([4, 4, 0, 0], True)),
        ([2, 8, 4, 4], ([2, 8, 8, 0], True)),
    ):
        report(f"collapseRow({row})", grid.collapseRow(list(row)) == expected)


def testCollapseLeft():
    grid = new_grid([[0, 0, 0, 0], [0, 0, 0, 4], [2, 0, 2, 16], [2, 4, 4, 2]])
    changed = grid.collapseLeft()
    expected = [[0, 0, 0, 0], [4, 0, 0, 0], [4, 16, 0, 0], [2, 8, 2, 0]]
    report("collapseLeft", grid._grid == expected and changed is True)


def testCollapseDown():
    grid = new_grid([[2, 8, 2, 4], [8, 4, 8, 2], [2, 4, 2, 4], [4, 2, 4, 2]])
    changed = grid.collapseDown()
    expected = [[2, 0, 2, 4], [8, 8, 8, 2], [2, 8, 2, 4], [4, 2, 4, 2]]
    report("collapseDown", grid._grid == expected and changed is True)


def testEmpties():
    grid = new_grid([[0, 0, 0, 0], [0, 0, 0, 4], [2, 0, 2, 16], [2, 4, 4, 0]])
    grid.updateEmptiesSet()
    report("updateEmptiesSet", grid.emptiesSet == [0, 1, 2, 3, 4, 5, 6, 9, 15])


# testCreateGrid()
# testCells()
# testCollapsible()
# testCollapseRow()
# testCollapseLeft()
# testCollapseDown()
# testEmpties()
