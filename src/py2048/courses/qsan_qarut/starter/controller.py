import tkinter as tk

import numpy as np

import model as m
import view as v

N = 4


class Controller:
    def __init__(self):
        self.model = m.Model(N)
        self.view = v.View()
        # Task 9

    def update_view(self, event):
        """Task 9."""

    def finish_game(self):
        """Task 10."""

    def win_game(self):
        """Task 10."""

    def new_game(self):
        """Task 10."""
