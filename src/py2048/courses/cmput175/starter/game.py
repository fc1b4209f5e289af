import os
import random as rnd
import sys


class Grid():
    def __init__(self, row=4, col=4, initial=2):
        self.row = row  # number of rows
        self.col = col  # number of columns
        self.initial = initial  # number of tiles at the start
        self.score = 0
        self._grid = self.createGrid(row, col)
        self.emptiesSet = list(range(row * col))  # the numbers of the empty cells

        # Task 2: uncomment the next two lines when setCell works.
        # for _ in range(self.initial):
        #     self.assignRandCell(init=True)

    def createGrid(self, row, col):
        """Task 1: return a list of `row` lists of `col` zeros."""
        pass

    def setCell(self, cell, val):
        """Task 2: set the cell with the number `cell` to `val`."""
        pass

    def getCell(self, cell):
        """Task 2: return the value of the cell with the number `cell`."""
        pass

    def assignRandCell(self, init=False):
        """Given: put a tile into a random empty cell.

        It is a 2, or a 4 with probability 1/4; at the start (`init`) it is always a 2.
        """
        if self.emptiesSet:
            cell = rnd.sample(self.emptiesSet, 1)[0]
            four = not init and rnd.random() > 0.75
            self.setCell(cell, 4 if four else 2)
            self.emptiesSet.remove(cell)

    def drawGrid(self):
        """Given: print the grid."""
        for i in range(self.row):
            line = "\t|"
            for j in range(self.col):
                value = self.getCell(i * self.col + j)
                line += str(value or "").center(5) + "|"
            print(line)
        print()

    def updateEmptiesSet(self):
        """Task 6: set emptiesSet to the list of the numbers of all empty cells."""
        pass

    def collapsible(self):
        """Task 3: return True if the grid can be collapsed in some direction, otherwise False."""
        pass

    def collapseRow(self, lst):
        """Task 4: return the list collapsed to the left, and whether that changed it."""
        pass

    def collapseLeft(self):
        """Task 5: collapse every row to the left; return whether any changed."""
        pass

    def collapseRight(self):
        """Task 5: collapse every row to the right; return whether any changed."""
        pass

    def collapseUp(self):
        """Task 5: collapse every column upwards; return whether any changed."""
        pass

    def collapseDown(self):
        """Task 5: collapse every column downwards; return whether any changed."""
        pass


class Game:
    """Given, except for one line in `play` that belongs to Task 6."""

    def __init__(self, row=4, col=4, initial=2):
        self.game = Grid(row, col, initial)
        self.play()

    def clearScreen(self):
        os.system("cls" if sys.platform == "win32" else "clear")

    def printPrompt(self):
        self.clearScreen()
        print('Press "w", "a", "s", or "d" to move Up, Left, Down or Right respectively.')
        print('Enter "p" to quit.')
        self.game.drawGrid()
        print(" Score: " + str(self.game.score))

    def play(self):
        moves = {"w": "Up", "a": "Left", "s": "Down", "d": "Right"}
        stop = False
        collapsible = True

        while not stop and collapsible:
            self.printPrompt()
            key = input(" Enter a move: ")
            while key not in [*moves, "p"]:
                self.printPrompt()
                key = input(" Enter a move: ")

            if key == "p":
                stop = True
            else:
                collapsed = getattr(self.game, "collapse" + moves[key])()
                if collapsed:
                    # Task 6: update the list of empty cells here.
                    self.game.assignRandCell()
                collapsible = self.game.collapsible()

        if not collapsible:
            self.clearScreen()
            print()
            self.game.drawGrid()
            print(" Score: " + str(self.game.score))
            print("No more legal moves.")


def main():
    game = Game()


# if __name__ == "__main__":
#     main()
