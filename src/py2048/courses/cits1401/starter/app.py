import random
import tkinter as tk

SIZE = 5


def slide_line(line):
    """Tasks 4 to 7: return the numbers of a line after sliding to its front.

    An empty square is 0.
    """


def move(board, direction):
    """Tasks 4 to 7: return the board after a move, without the new tile.

    The board is a list of rows; the direction is "up", "down", "left" or "right".
    """


def add_tile(board, direction):
    """Tasks 4 to 7: add the new 2 after a move in the given direction."""


def new_board():
    """Task 10: return a board with 1 to 25 tiles."""


class Window:
    def __init__(self):
        self.root = tk.Tk()
        # Task 1: squares, score board, status panel, New game, Quit

    def show(self):
        """Tasks 2, 8 and 9: show the board, the score and the status."""

    def click(self, event):
        """Task 3: make the move of the clicked square."""

    def new_game(self):
        """Task 10: ask who plays, and begin."""


if __name__ == "__main__":
    Window().root.mainloop()
