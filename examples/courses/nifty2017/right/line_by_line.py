from random import choice, choices


def make_board(N):
    board = []
    for _ in range(N):
        board.append(["*"] * N)
    return board


def is_on(x, y, board):
    return x in range(len(board)) and y in range(len(board))


def get_piece(x, y, board):
    return board[y][x] if is_on(x, y, board) else None


def place_piece(piece, x, y, board):
    if is_on(x, y, board):
        board[y][x] = piece
    return is_on(x, y, board)


def empty(board):
    return [(x, y) for y, row in enumerate(board) for x, piece in enumerate(row) if piece == "*"]


def place_random(board):
    if not empty(board):
        return False
    x, y = choice(empty(board))
    board[y][x] = choices(["2", "4", "8"], [60, 37, 3])[0]
    return True


def have_lost(board):
    lines = board + [list(column) for column in zip(*board)]
    equal = any(one == other for line in lines for one, other in zip(line, line[1:]))
    return not empty(board) and not equal


def packed(line):
    pieces = []
    for piece in line:
        if piece == "*":
            continue
        while pieces and pieces[-1] == piece:
            pieces.pop()
            piece = str(int(piece) * 2)
        pieces.append(piece)
    return pieces + ["*"] * (len(line) - len(pieces))


def swipe_to(board, rows):
    if rows != board:
        board[:] = rows
        end_move(board)


def swipe_left(board):
    swipe_to(board, [packed(row) for row in board])


def swipe_right(board):
    swipe_to(board, [packed(row[::-1])[::-1] for row in board])


def swipe_up(board):
    columns = [packed(column) for column in zip(*board)]
    swipe_to(board, [list(row) for row in zip(*columns)])


def swipe_down(board):
    columns = [packed(column[::-1])[::-1] for column in zip(*board)]
    swipe_to(board, [list(row) for row in zip(*columns)])


def end_move(board):
    place_random(board)
