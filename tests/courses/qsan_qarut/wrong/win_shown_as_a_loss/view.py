import tkinter as tk


class View():
    def __init__(self):
        self.window = tk.Tk()
        self.window.title('Qsan Qarut')
        self.window.geometry('600x665')
        self.window.resizable(False, False)
        self.window.configure(bg='#121212')
        self.main_canvas = tk.Canvas(self.window, width=600, height=600, bg='#121212')
        self.main_canvas.pack()
        self.game_canvas = tk.Canvas(self.main_canvas, width=540, height=540, bg='#232323')
        self.game_canvas.pack(padx=25, pady=25)
        self.score_label = tk.Label(self.window, text='Score: 0', font='Arial 35')
        self.score_label.pack(side='left')
        self.finish_label = tk.Label(self.window, text='Game Over', font='Arial 35')
        self.new_game_button = tk.Button(self.window, text='Start Again', font='Arial 25')
