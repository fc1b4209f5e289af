# loses: 1
# all rows are one and the same list
import os
import random as rnd
import sys


class Grid():
    def __init__(self, row=4, col=4, initial=2):
        self.row = row
        self.col = col
        self.initial = initial
        self.score = 0
        self._grid = self.createGrid(row, col)
        self.emptiesSet = list(range(row * col))
        for _ in range(self.initial):
            self.assignRandCell(init=True)

    def createGrid(self, row, col):
        return [[0] * col] * row

    def setCell(self, cell, val):
        i, j = divmod(cell, len(self._grid[0]))
        self._grid[i][j] = val

    def getCell(self, cell):
        return sum(self._grid, [])[cell]

    def assignRandCell(self, init=False):
        if len(self.emptiesSet):
            cell = rnd.choice(self.emptiesSet)
            value = 2
            if not init and rnd.random() > 0.75:
                value = 4
            self.setCell(cell, value)
            self.emptiesSet.remove(cell)

    def drawGrid(self):
        for i in range(self.row):
            line = '\t|'
            for j in range(self.col):
                value = self.getCell(i * self.col + j)
                line += (str(value) if value else ' ').center(5) + '|'
            print(line)
        print()

    def updateEmptiesSet(self):
        cells = [value for row in self._grid for value in row]
        self.emptiesSet = [cell for cell, value in enumerate(cells) if not value]

    def collapsible(self):
        other = Grid(self.row, self.col, 0)
        for move in (other.collapseUp, other.collapseDown, other.collapseLeft, other.collapseRight):
            other._grid = [row[:] for row in self._grid]
            if move():
                return True
        return False

    def collapseRow(self, lst):
        tiles = [value for value in lst if value]
        for i in range(len(tiles) - 1):
            if tiles[i] and tiles[i] == tiles[i + 1]:
                tiles[i], tiles[i + 1] = tiles[i] * 2, 0
                self.score += tiles[i]
        tiles = [value for value in tiles if value]
        result = tiles + (len(lst) - len(tiles)) * [0]
        return (result, result != lst)

    def turn(self):
        """Turn the grid by a quarter, so that what was up is left."""
        self._grid = [list(line) for line in zip(*self._grid)][::-1]

    def collapseTurned(self, times):
        for _ in range(times):
            self.turn()
        found = [self.collapseRow(row) for row in self._grid]
        self._grid = [row for row, _ in found]
        for _ in range((4 - times) % 4):
            self.turn()
        self.updateEmptiesSet()
        return True in [changed for _, changed in found]

    def collapseLeft(self):
        return self.collapseTurned(0)

    def collapseUp(self):
        return self.collapseTurned(1)

    def collapseRight(self):
        return self.collapseTurned(2)

    def collapseDown(self):
        return self.collapseTurned(3)


class Game():
    def __init__(self, row=4, col=4, initial=2):
        self.game = Grid(row, col, initial)
        self.play()

    def printPrompt(self):
        if sys.platform == 'win32':
            os.system("cls")
        else:
            os.system("clear")
        print('Press "w", "a", "s", or "d" to move Up, Left, Down or Right respectively.')
        print('Enter "p" to quit.\n')
        self.game.drawGrid()
        print('\nScore: ' + str(self.game.score))

    def play(self):
        moves = {'w': 'Up', 'a': 'Left', 's': 'Down', 'd': 'Right'}
        stop = False
        collapsible = True
        while not stop and collapsible:
            self.printPrompt()
            key = input('\nEnter a move: ')
            while key not in list(moves.keys()) + ['p']:
                self.printPrompt()
                key = input('\nEnter a move: ')
            if key == 'p':
                stop = True
            else:
                collapsed = getattr(self.game, 'collapse' + moves[key])()
                if collapsed:
                    self.game.assignRandCell()
                collapsible = self.game.collapsible()
        if not collapsible:
            print()
            self.game.drawGrid()
            print('\nScore: ' + str(self.game.score))
            print('No more legal moves.')


def main():
    game = Game()


#main()
