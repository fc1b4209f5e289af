UP, DOWN, LEFT, RIGHT = 1, 2, 3, 4


def merge(line):
    pass


class TwentyFortyEight:
    def __init__(self, grid_height, grid_width):
        pass

    def reset(self):
        pass

    def __str__(self):
        return ""

    def get_grid_height(self):
        pass

    def get_grid_width(self):
        pass

    def move(self, direction):
        pass

    def new_tile(self):
        pass

    def set_tile(self, row, col, value):
        pass

    def get_tile(self, row, col):
        pass
