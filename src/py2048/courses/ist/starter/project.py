# Group 00: names and numbers of the students of the group
#
# Internal representation
#   coordinate: describe here how you represent a coordinate
#   board: describe here how you represent a board
#
# This file may only contain ASCII characters, also in comments and strings.


# Coordinate ADT


def create_coordinate(r, c):
    """Return the coordinate of row r and column c, integers from 1 to 4."""


def coordinate_row(c):
    """Return the row of the coordinate c."""


def coordinate_col(c):
    """Return the column of the coordinate c."""


def is_coordinate(universal):
    """Return True if the argument is a coordinate and False otherwise."""


def coordinates_equal(c1, c2):
    """Return True if both coordinates are the same position and False otherwise."""


# Board ADT


def create_board():
    """Return an empty board with score 0."""


def board_position(b, c):
    """Return the value of board b at coordinate c, 0 if it is empty."""


def board_score(b):
    """Return the score of board b."""


def board_empty_positions(b):
    """Return the list of the coordinates of the empty positions, row by row."""


def board_fill_position(b, c, v):
    """Put the integer v at coordinate c of board b; return b."""


def board_update_score(b, v):
    """Add v points, a multiple of 4 and not negative, to the score of b; return b."""


def board_reduce(b, d):
    """Reduce board b in direction d, one of 'N', 'S', 'W', 'E'; return b."""


def is_board(universal):
    """Return True if the argument is a board and False otherwise."""


def board_finished(b):
    """Return True if board b is full and has no move left and False otherwise."""


def boards_equal(b1, b2):
    """Return True if both boards have the same values and score and False otherwise."""


def print_board(b):
    """Print the four rows of board b and its score."""


# Additional functions


def request_move():
    """Ask the player for a move until it is one of N, S, E, W; return it."""


def game_2048():
    """Play a whole game of 2048."""


# Suggested helpers (optional)


def copy_board(b):
    """Return a copy of board b."""


def fill_random_position(b):
    """Put a 2 or a 4 at a random empty position of board b; return b."""
