from tkinter import *
from tkinter import font


class View:
    def __init__(self):
        self.window = Tk()
        self.window.title("Qsan Qarut")
        self.window.geometry("600x665+0+0")
        self.window.resizable(width=0, height=0)
        self.main_canvas = Canvas(self.window, width=600, height=665, highlightthickness=0)
        self.main_canvas.place(x=0, y=0)
        self.game_canvas = Canvas(self.main_canvas, width=560, height=560, highlightthickness=0)
        self.game_canvas.place(x=20, y=20)
        self.text = font.Font(family="Arial", size=24)
        self.score = StringVar(self.window, "Score: 0")
        self.score_label = Label(self.window, textvariable=self.score, font=self.text)
        self.score_label.place(x=20, y=610)
        self.message = StringVar(self.window)
        self.finish_label = Label(self.window, textvariable=self.message, font=self.text)
        self.new_game_button = Button(self.window, text="New game")

    def say(self, message):
        self.message.set(message)
        self.finish_label.place(x=300, y=610)
