import numpy as np


class Game:
    def __init__(self, N):
        self.grid = N
        # Task 1

    def set_board(self):
        pass  # Task 1

    def add_num(self):
        pass  # Task 2

    def get_random_position(self):
        pass  # Task 2

    def stack(self, move):
        pass  # Tasks 3 to 5

    def make_move(self, move):
        pass  # Task 6

    def update_score(self):
        pass  # Task 6

    # Task 7 needs a method of your own.

    def left_arrow(self, event):
        pass  # Task 8

    def right_arrow(self, event):
        pass  # Task 8

    def up_arrow(self, event):
        pass  # Task 8

    def down_arrow(self, event):
        pass  # Task 8


class Model:
    def __init__(self, N):
        pass  # Task 1
