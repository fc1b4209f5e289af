"""A few examples for slide_line and move: python tests.py"""

from app import move, slide_line

LINES = [
    ([0, 2, 0, 0, 2], [4, 0, 0, 0, 0]),
    ([2, 2, 4, 0, 0], [4, 4, 0, 0, 0]),
    ([2, 2, 2, 0, 0], [4, 2, 0, 0, 0]),
    ([2, 2, 2, 2, 2], [4, 4, 2, 0, 0]),
    ([2, 4, 2, 4, 2], [2, 4, 2, 4, 2]),
]

BOARD = [
    [2, 0, 0, 0, 2],
    [2, 0, 0, 0, 0],
    [4, 0, 8, 0, 0],
    [0, 0, 8, 0, 0],
    [4, 0, 0, 0, 0],
]
UP = [
    [4, 0, 16, 0, 2],
    [8, 0, 0, 0, 0],
    [0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0],
]


def test_slide_line():
    for before, after in LINES:
        found = slide_line(before[:])
        assert found == after, f"{before} -> {found}, but it should be {after}"


def test_move():
    found = move([row[:] for row in BOARD], "up")
    assert found == UP, f"up: {found}"


if __name__ == "__main__":
    for test in (test_slide_line, test_move):
        try:
            test()
            print("passed:", test.__name__)
        except Exception as error:
            print("FAILED:", test.__name__, type(error).__name__, error)
