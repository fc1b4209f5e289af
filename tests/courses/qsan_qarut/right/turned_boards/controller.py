from tkinter import Frame, Label

import numpy

from model import Model
from view import View

SIZE = 4
COLORS = ["gray20", "steelblue", "seagreen", "olive", "sienna", "firebrick", "purple", "navy"]


def color(number):
    """Eight colours, over and over."""
    return COLORS[number.bit_length() % 7 + 1] if number else COLORS[0]


class Controller:
    def __init__(self):
        self.size = SIZE
        self.model = Model(SIZE)
        self.view = View()
        self.cells = numpy.array([[self.cell(i, j) for j in range(SIZE)] for i in range(SIZE)])
        self.view.new_game_button.configure(command=self.new_game)
        self.listening = True
        for key, arrow in (("Left", "l"), ("Right", "r"), ("Up", "u"), ("Down", "b")):
            self.view.window.bind(f"<{key}>", lambda event, arrow=arrow: self.key(arrow))
        self.update_view()

    def cell(self, i, j):
        side = 560 // self.size
        frame = Frame(self.view.game_canvas, width=side - 6, height=side - 6)
        frame.place(x=j * side + 3, y=i * side + 3)
        number = Label(frame, fg="white")
        number.place(relx=0.5, rely=0.5, anchor="center")
        return {"frame": frame, "number": number}

    def key(self, arrow):
        if self.listening:
            self.model.game.make_move(arrow)
            self.update_view()

    def update_view(self, event=None):
        game = self.model.game
        self.view.score.set("Score: %d" % game.score)
        for cells, row in zip(self.cells, game.board.tolist()):
            for cell, number in zip(cells, row):
                cell["frame"].configure(bg=color(number))
                cell["number"].configure(bg=color(number), text=number or "")
        message = "You have won. " * game.is_won + "Game over" * game.is_finished
        if message:
            self.view.say(message)
        if game.is_finished:
            self.listening = False
            self.view.new_game_button.place(x=250, y=300)

    def new_game(self):
        self.model.game.__init__(self.size)
        self.view.finish_label.place_forget()
        self.view.new_game_button.place_forget()
        self.listening = True
        self.update_view()
