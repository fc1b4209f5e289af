import tkinter as tk
import numpy as np
import model as m
import view as v

N = 4


def color(number):
    if number == 0:
        return '#333333'
    k = int(number).bit_length()
    return '#%02x%02x%02x' % (40 + 97 * k % 160, 40 + 57 * k % 160, 40 + 31 * k % 160)


class Controller():
    def __init__(self):
        self.model = m.Model(N)
        self.view = v.View()
        side = 540 / N
        self.cells = np.empty((N, N), dtype=dict)
        for i in range(N):
            for j in range(N):
                frame = tk.Frame(self.view.game_canvas, width=side - 20, height=side - 20)
                frame.grid(row=i, column=j, padx=10, pady=10)
                number = tk.Label(self.view.game_canvas, fg='white', font='Arial %d' % (160 / N))
                number.grid(row=i, column=j)
                self.cells[i][j] = {'frame': frame, 'number': number}
        self.bind_keys()
        self.update_view(None)

    def bind_keys(self):
        game = self.model.game
        self.view.window.bind('<Left>', game.left_arrow)
        self.view.window.bind('<Left>', self.update_view, add='+')
        self.view.window.bind('<Right>', game.right_arrow)
        self.view.window.bind('<Right>', self.update_view, add='+')
        self.view.window.bind('<Up>', game.up_arrow)
        self.view.window.bind('<Up>', self.update_view, add='+')
        self.view.window.bind('<Down>', game.down_arrow)
        self.view.window.bind('<Down>', self.update_view, add='+')

    def update_view(self, event):
        game = self.model.game
        self.view.score_label['text'] = 'Score: ' + str(game.score)
        for i in range(N):
            for j in range(N):
                cell = self.cells[i][j]
                cell['frame']['bg'] = cell['number']['bg'] = color(game.board[i][j])
                cell['number']['text'] = str(game.board[i][j])
        if game.is_finished:
            self.finish_game()
        if game.is_won:
            self.win_game()

    def finish_game(self):
        self.view.finish_label['text'] = 'Game Over'
        self.view.finish_label.pack(side='right')
        self.view.new_game_button['command'] = self.new_game
        self.view.new_game_button.place(relx=0.5, rely=0.5, anchor='center')
        for key in ('<Left>', '<Right>', '<Up>', '<Down>'):
            self.view.window.unbind(key)

    def win_game(self):
        self.view.finish_label['text'] = 'You Won!'
        self.view.finish_label.pack(side='right')

    def new_game(self):
        game = self.model.game
        game.is_finished = game.is_won = False
        game.score = 0
        game.set_board()
        self.view.finish_label.pack_forget()
        self.view.new_game_button.place_forget()
        self.bind_keys()
        self.update_view(None)
