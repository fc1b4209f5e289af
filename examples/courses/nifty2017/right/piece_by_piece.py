import random

STEPS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


def make_board(N):
    return [["*"] * N for _ in range(N)]


def get_piece(x, y, board):
    if 0 <= x < len(board) and 0 <= y < len(board):
        return board[y][x]
    return None


def place_piece(piece, x, y, board):
    if get_piece(x, y, board) is None:
        return False
    board[y][x] = piece
    return True


def place_random(board):
    N = len(board)
    if not any("*" in row for row in board):
        return False
    chance = random.random() * 100
    piece = "2" if chance < 60 else "4" if chance < 97 else "8"
    while True:
        x, y = random.randrange(N), random.randrange(N)
        if get_piece(x, y, board) == "*":
            return place_piece(piece, x, y, board)


def have_lost(board):
    for y, row in enumerate(board):
        for x, piece in enumerate(row):
            if piece in ("*", get_piece(x + 1, y, board), get_piece(x, y + 1, board)):
                return False
    return True


def move(x, y, direction, board):
    piece = get_piece(x, y, board)
    dx, dy = STEPS[direction]
    beside = get_piece(x + dx, y + dy, board)
    if piece == "*" or beside not in (piece, "*"):
        return False
    if beside == piece:
        piece = str(2 * int(piece))
    place_piece("*", x, y, board)
    place_piece(piece, x + dx, y + dy, board)
    move(x + dx, y + dy, direction, board)
    return True


def swipe(direction, board):
    order = range(len(board))
    if direction in ("right", "down"):
        order = order[::-1]
    moved = [move(x, y, direction, board) for y in order for x in order]
    if any(moved):
        end_move(board)


def swipe_left(board):
    swipe("left", board)


def swipe_right(board):
    swipe("right", board)


def swipe_up(board):
    swipe("up", board)


def swipe_down(board):
    swipe("down", board)


def print_board(board):
    for row in board:
        print(*row)


def end_move(board):
    place_random(board)
    print_board(board)
