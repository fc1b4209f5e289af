import random


def make_board(N):
    pass


def get_piece(x, y, board):
    pass


def place_piece(piece, x, y, board):
    pass


def place_random(board):
    pass


def have_lost(board):
    pass


def swipe_left(board):
    pass


def swipe_right(board):
    pass


def swipe_up(board):
    pass


def swipe_down(board):
    pass


def print_board(board):
    for row in board:
        print(" ".join(piece.rjust(5) for piece in row))
    print()


def end_move(board):
    place_random(board)
    print_board(board)


def main():
    swipes = {"a": swipe_left, "d": swipe_right, "w": swipe_up, "s": swipe_down}
    board = make_board(4)
    end_move(board)
    while not have_lost(board):
        key = input("a, d, w, s or q: ")
        if key == "q":
            return
        if key in swipes:
            swipes[key](board)
    print("You lost!")


if __name__ == "__main__":
    main()
