# loses: 4
# collapseRow says True for a row that did not change
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
        grid = []
        for i in range(row):
            line = []
            for j in range(col):
                line.append(0)
            grid.append(line)
        return grid

    def setCell(self, cell, val):
        self._grid[cell // self.col][cell % self.col] = val

    def getCell(self, cell):
        return self._grid[cell // self.col][cell % self.col]

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
        self.emptiesSet = []
        for cell in range(self.row * self.col):
            if self.getCell(cell) == 0:
                self.emptiesSet.append(cell)

    def collapsible(self):
        for i in range(self.row):
            for j in range(self.col):
                value = self._grid[i][j]
                if value == 0:
                    return True
                if j + 1 < self.col and self._grid[i][j + 1] == value:
                    return True
                if i + 1 < self.row and self._grid[i + 1][j] == value:
                    return True
        return False

    def collapseRow(self, lst):
        new = []
        merged = False
        for value in lst:
            if value == 0:
                continue
            if new and new[-1] == value and not merged:
                new[-1] = 2 * value
                self.score += 2 * value
                merged = True
            else:
                new.append(value)
                merged = False
        while len(new) < len(lst):
            new.append(0)
        return new, True

    def collapseLeft(self):
        moved = False
        for i in range(self.row):
            new, changed = self.collapseRow(self._grid[i])
            self._grid[i] = new
            moved = moved or changed
        return moved

    def collapseRight(self):
        moved = False
        for i in range(self.row):
            new, changed = self.collapseRow(self._grid[i][::-1])
            self._grid[i] = new[::-1]
            moved = moved or changed
        return moved

    def collapseUp(self):
        moved = False
        for j in range(self.col):
            column = [self._grid[i][j] for i in range(self.row)]
            new, changed = self.collapseRow(column)
            for i in range(self.row):
                self._grid[i][j] = new[i]
            moved = moved or changed
        return moved

    def collapseDown(self):
        moved = False
        for j in range(self.col):
            column = [self._grid[i][j] for i in range(self.row - 1, -1, -1)]
            new, changed = self.collapseRow(column)
            new.reverse()
            for i in range(self.row):
                self._grid[i][j] = new[i]
            moved = moved or changed
        return moved


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
                    self.game.updateEmptiesSet()
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
