"""A few examples for the tasks that need no window: python tests.py"""

import numpy as np

from model import Model

MOVES = [
    # the move, the board before, the board after (without the new number)
    ("l", [[2, 2], [4, 0]], [[4, 0], [4, 0]]),
    ("r", [[2, 2], [4, 0]], [[0, 4], [0, 4]]),
    ("u", [[0, 2], [2, 2]], [[2, 4], [0, 0]]),
    ("b", [[2, 2], [0, 2]], [[0, 0], [2, 4]]),
    ("l", [[2, 2, 4], [4, 2, 2], [2, 2, 2]], [[4, 4, 0], [4, 4, 0], [4, 2, 0]]),
]


def test_start():
    game = Model(4).game
    assert game.score == 0, "a fresh game has no points"
    assert game.board.shape == (4, 4), "the board has N rows and N columns"
    assert np.count_nonzero(game.board) == 1, "there is one number at first"


def test_moves():
    for move, before, after in MOVES:
        game = Model(len(before)).game
        game.board = np.array(before)
        game.add_num = lambda: None
        game.stack(move)
        assert game.board.tolist() == after, f"{move}: {before} -> {game.board.tolist()}"


def test_score():
    game = Model(2).game
    game.board = np.array([[2, 4], [8, 16]])
    game.make_move("l")
    assert game.score == 30, f"the score is {game.score} and not 30"


if __name__ == "__main__":
    for test in (test_start, test_moves, test_score):
        try:
            test()
            print("passed:", test.__name__)
        except Exception as error:
            print("FAILED:", test.__name__, type(error).__name__, error)
