import tkinter as tk


class View:
    def __init__(self):
        self.window = tk.Tk()
        # Task 9
