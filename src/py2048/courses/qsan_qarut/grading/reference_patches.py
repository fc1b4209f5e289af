"""Right versions of the methods of `Game`, to be put into a submission that is checked.

A task may be right although a method that it builds on is wrong. Then it is tried again with
these in place of the student's, but for those that the task asks for.
"""

from __future__ import annotations

_START = """
def _mend_start():
    made = Game.__init__
    def __init__(self, N):
        try:
            made(self, N)
        except Exception:
            pass
        self.grid = N
        self.score = 0
        self.is_finished = self.is_won = False
        self.set_board()
    Game.__init__ = __init__

    def model(self, N):
        self.game = Game(N)
    Model.__init__ = model
_mend_start()
"""

_BOARD = """
def _mend_board():
    def set_board(self):
        self.board = np.zeros((self.grid, self.grid), dtype=int)
        self.add_num()
    Game.set_board = set_board
_mend_board()
"""

_NUMBER = """
def _mend_number():
    def get_random_position(self):
        cells = np.argwhere(self.board == 0)
        row, column = cells[np.random.randint(len(cells))]
        return int(row), int(column)

    def add_num(self):
        if 0 in self.board:
            i, j = self.get_random_position()
            self.board[i][j] = np.random.choice([2, 4])
    Game.get_random_position, Game.add_num = get_random_position, add_num
_mend_number()
"""

_STACK = """
def _mend_stack():
    def slid(line):
        tiles = [n for n in line if n]
        out = []
        while tiles:
            n = tiles.pop(0)
            if tiles and tiles[0] == n:
                n += tiles.pop(0)
            out.append(n)
        return out + [0] * (len(line) - len(out))

    def stack(self, move):
        rows = self.board.tolist()
        lines = [list(line) for line in zip(*rows)] if move in 'ub' else rows
        turn = -1 if move in 'rb' else 1
        after = [slid(line[::turn])[::turn] for line in lines]
        if after != lines:
            self.board[:] = [list(line) for line in zip(*after)] if move in 'ub' else after
            self.add_num()
    Game.stack = stack
_mend_stack()
"""

_SCORE = """
def _mend_score():
    def update_score(self):
        self.score = int(self.board.sum())
    Game.update_score = update_score
_mend_score()
"""

_MOVE = """
def _mend_move():
    def make_move(self, move):
        self.stack(move)
        self.update_score()
    Game.make_move = make_move
_mend_move()
"""

_ARROWS = """
def _mend_arrows():
    def is_stuck(board):
        beside, below = board[:, 1:] == board[:, :-1], board[1:] == board[:-1]
        return 0 not in board and not beside.any() and not below.any()

    def arrow(move):
        def handler(self, event=None):
            self.make_move(move)
            if 2048 in self.board:
                self.is_won = True
            if is_stuck(self.board):
                self.is_finished = True
        return handler
    Game.left_arrow, Game.right_arrow = arrow('l'), arrow('r')
    Game.up_arrow, Game.down_arrow = arrow('u'), arrow('b')
_mend_arrows()
"""

PARTS = {
    "start": _START,
    "board": _BOARD,
    "number": _NUMBER,
    "stack": _STACK,
    "score": _SCORE,
    "move": _MOVE,
    "arrows": _ARROWS,
}


def all_but(*about: str) -> tuple[str, ...]:
    """Code that puts right versions of all parts but those that a check is `about`."""
    parts = "".join(code for name, code in PARTS.items() if name not in about)
    return (f"import numpy as np\n{parts}",)
