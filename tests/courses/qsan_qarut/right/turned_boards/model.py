"""Every move is a move to the left on a turned board."""
import random

import numpy

TURNS = {"l": 0, "u": 1, "r": 2, "b": 3}


class Game:
    won = 2048

    def __init__(self, N):
        self.grid, self.score = N, 0
        self.is_finished = self.is_won = False
        self.set_board()

    def set_board(self):
        self.board = numpy.array([[0] * self.grid for _ in range(self.grid)])
        self.add_num()

    def empty(self):
        return [(i, j) for i in range(self.grid) for j in range(self.grid) if not self.board[i, j]]

    def get_random_position(self):
        return random.choice(self.empty())

    def add_num(self):
        if self.empty():
            self.board[self.get_random_position()] = 2 if random.random() < 0.5 else 4

    @staticmethod
    def shift(line):
        out, last = [], None
        for number in filter(None, line):
            if number == last:
                out[-1], last = 2 * number, None
            else:
                out.append(number)
                last = number
        return out + [0] * (len(line) - len(out))

    def after(self, move):
        board = numpy.rot90(self.board, TURNS[move])
        board = numpy.array([self.shift(line) for line in board.tolist()])
        return numpy.rot90(board, -TURNS[move])

    def stack(self, move):
        after = self.after(move)
        if (after != self.board).any():
            self.board = after.copy()
            self.add_num()

    def make_move(self, move):
        before = self.is_won
        self.stack(move)
        self.update_score()
        self.is_won = before or self.won in self.board
        self.is_finished = all((self.after(way) == self.board).all() for way in TURNS)
        print(f"score {self.score}")
        for row in self.board.tolist():
            print(*row, sep="\t")
        if self.is_won and not before:
            print("Congratulations!")
        if self.is_finished:
            print("No more moves.")

    def update_score(self):
        self.score = int(numpy.sum(self.board))

    def left_arrow(self, event=None):
        self.make_move("l")

    def right_arrow(self, event=None):
        self.make_move("r")

    def up_arrow(self, event=None):
        self.make_move("u")

    def down_arrow(self, event=None):
        self.make_move("b")


class Model:
    def __init__(self, N):
        self.game = Game(N)
