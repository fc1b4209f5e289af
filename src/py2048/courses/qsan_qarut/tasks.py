"""What qsan_qarut asks, in ten tasks, and how they are graded."""

from __future__ import annotations

from py2048.courses.grading import Check, Example, Grading, Task
from py2048.courses.qsan_qarut import checks

_START = """
def _patch_start():
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
_patch_start()
"""

_BOARD = """
def _patch_board():
    def set_board(self):
        self.board = np.zeros((self.grid, self.grid), dtype=int)
        self.add_num()
    Game.set_board = set_board
_patch_board()
"""

_NUMBER = """
def _patch_number():
    def get_random_position(self):
        cells = np.argwhere(self.board == 0)
        row, column = cells[np.random.randint(len(cells))]
        return int(row), int(column)

    def add_num(self):
        if 0 in self.board:
            i, j = self.get_random_position()
            self.board[i][j] = np.random.choice([2, 4])
    Game.get_random_position, Game.add_num = get_random_position, add_num
_patch_number()
"""

_STACK = """
def _patch_stack():
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
_patch_stack()
"""

_SCORE = """
def _patch_score():
    def update_score(self):
        self.score = int(self.board.sum())
    Game.update_score = update_score
_patch_score()
"""

_MOVE = """
def _patch_move():
    def make_move(self, move):
        self.stack(move)
        self.update_score()
    Game.make_move = make_move
_patch_move()
"""

_ARROWS = """
def _patch_arrows():
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
_patch_arrows()
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


MARKS = 10


def _task(id: str, title: str, asked: str, *checks: Check, about: tuple[str, ...] = ()) -> Task:
    """A task, patched with right versions of all but what it is `about`."""
    return Task(id, title, asked, MARKS, checks, all_but(*about))


def _stack(number: str, title: str, moves: str) -> Task:
    words = [checks.ARROWS[move] for move in moves]
    return _task(
        number,
        title,
        f"`stack` shifts all numbers {' or '.join(words)} as far as they go; equal "
        "neighbours merge, those at the wall first, each number once a move.",
        *tuple(
            Check(f"everything goes {word}", checks.stacked(move))
            for move, word in zip(moves, words, strict=True)
        ),
        about=("stack",),
    )


TASKS = (
    _task(
        "1",
        "Model, Game and set_board",
        "`Model(N).game` is a `Game(N)` with `grid`, `score` 0, `is_finished` and `is_won` "
        "False; `set_board` makes an empty board of N by N and adds one number.",
        Check(
            "a fresh game",
            (
                Example("type(Model(4).game).__name__", "Game"),
                Example("game = Model(3).game\ngame.grid", 3),
                Example(
                    "game = Game(5)\ngame.grid, game.score, game.is_finished, game.is_won",
                    (5, 0, False, False),
                ),
            ),
        ),
        Check("a board of N by N with one number", tuple(checks.fresh_boards())),
        Check("set_board clears the board", (checks.FULL_BOARD_CLEARED,)),
        about=(
            "start",
            "board",
        ),
    ),
    _task(
        "2",
        "add_num and get_random_position",
        "`get_random_position` returns row and column of a random empty cell; `add_num` puts "
        "2 or 4 there, half of the time each, and does nothing on a full board.",
        Check("any empty cell, and no other", run=checks.draws_every_free_cell),
        Check("2 or 4, equally often", run=checks.adds_2_or_4),
        Check("a full board stays as it is", checks.FULL_STAYS),
        about=("number",),
    ),
    _stack("3", "stack, left and right", "lr"),
    _stack("4", "stack, up and down", "ub"),
    _task(
        "5",
        "stack adds a number",
        "A move that changed the board is followed by one new number; one that did not, by none.",
        Check("one number after a move", run=checks.adds_after_each_move),
        Check("none after a move that moved nothing", run=checks.adds_nothing_else),
        about=("stack",),
    ),
    _task(
        "6",
        "make_move and update_score",
        "`make_move` stacks and then lets `update_score` make the score the sum of all numbers "
        "on the board, the new one included.",
        Check(
            "update_score sums the board",
            (
                Example(
                    "game.update_score()",
                    given=checks.laid("[[2, 4], [8, 16]]"),
                    then={"int(game.score)": 30},
                ),
            ),
        ),
        Check("make_move moves", tuple(checks.made(move) for move in checks.DIRECTIONS)),
        Check(
            "the score is right after each move",
            tuple(example for move in checks.DIRECTIONS for example in checks.scored(move)),
        ),
        about=(
            "score",
            "move",
        ),
    ),
    _task(
        "7",
        "The end and the win",
        "After each arrow `is_finished` says whether the board is full and nothing can merge, "
        "and `is_won` whether 2048 has been reached; both are announced on the command line, the "
        "win once, and play goes on after it.",
        Check("finished when full and stuck", checks.FINISHED),
        Check("the new number counts", checks.FILLED_BY_THE_LAST_NUMBER),
        Check("not finished while a move is left", checks.GOES_ON),
        Check("won with 2048", checks.WON),
        Check("play goes on after a win", checks.PLAYS_ON),
        Check("announced, the win once", run=checks.announces),
        about=(
            "move",
            "arrows",
        ),
    ),
    _task(
        "8",
        "The arrows and the command line",
        "`left_arrow(event)` and the other three make their move and write the score and the "
        "board to the command line.",
        Check(
            "each arrow makes its move",
            tuple(
                checks.arrow(move, twice=twice) for move in checks.ARROWS for twice in (False, True)
            ),
        ),
        Check("score and board are written", run=checks.writes_score_and_board),
        about=("arrows",),
    ),
    _task(
        "9",
        "The window",
        'The window "Qsan Qarut" of 600 by 665 pixels shows the score and the board: for each '
        "cell a frame and a label in `controller.cells`, in a colour for every number, for any N.",
        Check("title, size, score", run=checks.has_the_documents_window),
        Check("the cells show the board", run=checks.shows_the_board),
        Check("colours for numbers beyond 2048", run=checks.has_every_colour),
        Check("colours up to 131072", run=checks.has_colours_to_the_end, weight=0),
        Check("any N", run=checks.fits_any_size, seconds=5),
    ),
    _task(
        "10",
        "Keys, the end, a new game",
        "The arrow keys move and the view follows; at the end the window says Game Over, the "
        "keys do nothing, and a button starts a new game. A win is shown and play goes on.",
        Check("the arrow keys move", run=checks.keys_move),
        Check("the end stops the keys", run=checks.stops_at_the_end),
        Check("the button begins anew", run=checks.begins_anew),
        Check("a win is shown", run=checks.shows_the_win),
    ),
)

GRADING = Grading(
    course="qsan_qarut",
    module="model",
    files=("model.py",),
    expects=("Model", "Game"),
    tasks=TASKS,
    gui=True,
    libraries=("numpy", "PIL"),
    prelude=checks.PRELUDE,
    opening="import numpy as np; from {module} import *",
    not_graded="how the window looks, beyond its parts, texts and colours",
)
