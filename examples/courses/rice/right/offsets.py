from random import randrange

UP, DOWN, LEFT, RIGHT = 1, 2, 3, 4
OFFSETS = {UP: (1, 0), DOWN: (-1, 0), LEFT: (0, 1), RIGHT: (0, -1)}


def packed(line):
    tiles = [tile for tile in line if tile]
    return tiles + [0] * (len(line) - len(tiles))


def merge(line):
    result = packed(line)
    for place in range(len(result) - 1):
        if result[place] == result[place + 1]:
            result[place] += result[place + 1]
            result[place + 1] = 0
    return packed(result)


class TwentyFortyEight(object):
    def __init__(self, grid_height, grid_width):
        self.height = grid_height
        self.width = grid_width
        self.tiles = {}
        self.reset()

    def reset(self):
        for row in range(self.get_grid_height()):
            for col in range(self.get_grid_width()):
                self.set_tile(row, col, 0)
        for _ in range(2):
            self.new_tile()

    def __str__(self):
        text = ""
        for row in range(self.get_grid_height()):
            for col in range(self.get_grid_width()):
                text += "%6d" % self.get_tile(row, col)
            text += "\n"
        return text

    def get_grid_height(self):
        return self.height

    def get_grid_width(self):
        return self.width

    def squares(self, direction):
        height, width = self.get_grid_height(), self.get_grid_width()
        down, right = OFFSETS[direction]
        if down:
            starts = [(0 if down > 0 else height - 1, col) for col in range(width)]
        else:
            starts = [(row, 0 if right > 0 else width - 1) for row in range(height)]
        for row, col in starts:
            yield [(row + n * down, col + n * right) for n in range(height if down else width)]

    def move(self, direction):
        changed = False
        for line in self.squares(direction):
            values = [self.get_tile(row, col) for row, col in line]
            for (row, col), old, new in zip(line, values, merge(values)):
                self.set_tile(row, col, new)
                changed = changed or old != new
        if changed:
            self.new_tile()

    def new_tile(self):
        while True:
            row, col = randrange(self.get_grid_height()), randrange(self.get_grid_width())
            if self.get_tile(row, col) == 0:
                break
        self.set_tile(row, col, 2 if randrange(10) else 4)

    def set_tile(self, row, col, value):
        self.tiles[row, col] = value

    def get_tile(self, row, col):
        return self.tiles[row, col]
