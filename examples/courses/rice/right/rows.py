import random

UP, DOWN, LEFT, RIGHT = 1, 2, 3, 4


def merge(line):
    merged = []
    open_to_merge = False
    for tile in line:
        if tile == 0:
            continue
        if open_to_merge and merged[-1] == tile:
            merged[-1] = 2 * tile
            open_to_merge = False
        else:
            merged.append(tile)
            open_to_merge = True
    return merged + [0] * (len(line) - len(merged))


class TwentyFortyEight:
    def __init__(self, grid_height, grid_width):
        self._height = grid_height
        self._width = grid_width
        self.reset()

    def reset(self):
        self._grid = [[0] * self._width for _ in range(self._height)]
        self.new_tile()
        self.new_tile()

    def __str__(self):
        return "\n".join(str(row) for row in self._grid)

    def get_grid_height(self):
        return self._height

    def get_grid_width(self):
        return self._width

    def move(self, direction):
        before = self._grid
        rows = [list(row) for row in before]
        if direction in (UP, DOWN):
            rows = [list(column) for column in zip(*rows)]
        step = 1 if direction in (UP, LEFT) else -1
        rows = [merge(row[::step])[::step] for row in rows]
        if direction in (UP, DOWN):
            rows = [list(column) for column in zip(*rows)]
        if rows != before:
            self._grid = rows
            self.new_tile()

    def new_tile(self):
        free = [
            (row, col)
            for row in range(self._height)
            for col in range(self._width)
            if self._grid[row][col] == 0
        ]
        if free:
            row, col = random.choice(free)
            self._grid[row][col] = 4 if random.random() < 0.1 else 2

    def set_tile(self, row, col, value):
        self._grid[row][col] = value

    def get_tile(self, row, col):
        return self._grid[row][col]
