import numpy as np


class Game:
    def __init__(self, N):
        self.grid = N
        # Task 1

    def set_board(self):
        """Task 1."""

    def add_num(self):
        """Task 2."""

    def get_random_position(self):
        """Task 2."""

    def stack(self, move):
        """Tasks 3 to 5."""

    def make_move(self, move):
        """Task 6."""

    def update_score(self):
        """Task 6."""

    # Task 7 needs a method of your own.

    def left_arrow(self, event):
        """Task 8."""

    def right_arrow(self, event):
        """Task 8."""

    def up_arrow(self, event):
        """Task 8."""

    def down_arrow(self, event):
        """Task 8."""


class Model:
    def __init__(self, N):
        """Task 1."""
