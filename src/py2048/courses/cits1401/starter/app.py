import random
import tkinter as tk

SIZE = 5


def slide_line(line):
    """Return the numbers of a line (0 for an empty square) after sliding to its front."""
    pass  # Tasks 4 to 7


def move(board, direction):
    """Return the board after a move, without the new tile.

    The board is a list of rows; the direction is "up", "down", "left" or "right".
    """
    pass  # Tasks 4 to 7


def add_tile(board, direction):
    """Add the new 2 after a move in the given direction."""
    pass  # Tasks 4 to 7


def new_board():
    """Return a board with 1 to 25 tiles."""
    pass  # Task 10


class Window:
    def __init__(self):
        self.root = tk.Tk()
        # Task 1: squares, score board, status panel, New game, Quit

    def show(self):
        """Show the board, the score and the status."""
        pass  # Tasks 2, 8 and 9

    def click(self, event):
        """Make the move of the clicked square."""
        pass  # Task 3

    def new_game(self):
        """Ask who plays, and begin."""
        pass  # Task 10


if __name__ == "__main__":
    Window().root.mainloop()
