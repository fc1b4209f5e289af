import numpy as np


class Game():
    def __init__(self, N):
        self.grid = N
        self.score = 0
        self.is_finished = False
        self.is_won = False
        self.set_board()

    def set_board(self):
        self.board = np.zeros((self.grid, self.grid), dtype=int)
        self.add_num()

    def add_num(self):
        if 0 in self.board:
            i, j = self.get_random_position()
            self.board[i][j] = np.random.choice([2, 4])

    def get_random_position(self):
        rows, columns = np.where(self.board == 0)
        k = np.random.randint(len(rows))
        return rows[k], columns[k]

    def merge(self, line):
        line = line[line != 0]
        p = 0
        while p < len(line) - 1:
            if line[p] == line[p + 1]:
                line[p] *= 2
                line[p + 1] = 0
            p += 1
        line = line[line != 0]
        return np.append(line, np.zeros(self.grid - len(line), dtype=int))

    def stack(self, move):
        is_moved = False
        if move == 'l':
            for i, line in enumerate(self.board):
                line = self.merge(line)
                if not np.array_equal(self.board[i], line):
                    self.board[i] = line
                    is_moved = True
        elif move == 'r':
            for i, line in enumerate(self.board):
                line = self.merge(line[::-1])[::-1]
                if not np.array_equal(self.board[i], line):
                    self.board[i] = line
                    is_moved = True
        elif move == 'u':
            for j in range(self.grid):
                line = self.merge(self.board[:, j])
                if not np.array_equal(self.board[:, j], line):
                    self.board[:, j] = line
                    is_moved = True
        elif move == 'b':
            for j in range(self.grid):
                line = self.merge(self.board[::-1, j])[::-1]
                if not np.array_equal(self.board[:, j], line):
                    self.board[:, j] = line
                    is_moved = True
        if is_moved:
            self.add_num()

    def make_move(self, move):
        self.stack(move)
        self.update_score()

    def update_score(self):
        self.score = self.board.sum()

    def check_finish(self):
        if 2048 in self.board and not self.is_won:
            self.is_won = True
            print('You won!')
        if 0 not in self.board:
            rows = (self.board[:, 1:] == self.board[:, :-1]).any()
            columns = (self.board[1:] == self.board[:-1]).any()
            if not rows and not columns:
                self.is_finished = True
                print('GAME OVER')

    def show_model(self):
        print('Score:', self.score)
        print(self.board)

    def left_arrow(self, event):
        self.make_move('l')
        self.show_model()
        self.check_finish()

    def right_arrow(self, event):
        self.make_move('r')
        self.show_model()
        self.check_finish()

    def up_arrow(self, event):
        self.make_move('b')
        self.show_model()
        self.check_finish()

    def down_arrow(self, event):
        self.make_move('u')
        self.show_model()
        self.check_finish()


class Model():
    def __init__(self, N):
        self.game = Game(N)
