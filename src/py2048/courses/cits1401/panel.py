"""The question for a new game: who plays, on what board, how fast."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable

from py2048.courses.cits1401.board_view import FONT
from py2048.courses.cits1401.presenter import PACES, SIDES, Mover, Settings, checked_side
from py2048.courses.cits1401.tiles import DARK, WHITE
from py2048.courses.cits1401.widgets import button, choices
from py2048.errors import CourseError

BLUE = "#003087"
SKILLS = {"random": Mover.RANDOM, "intelligent": Mover.INTELLIGENT}


class NewGamePanel(tk.Frame):
    """A panel over the board with the two answers, Human and Computer, and the options.

    Args:
        parent: the board that it covers.
        on_answer: called with the settings that were chosen.
    """

    def __init__(self, parent: tk.Misc, on_answer: Callable[[Settings], None]) -> None:
        super().__init__(parent, background=WHITE, padx=30, pady=24)
        self.configure(highlightthickness=2, highlightbackground=BLUE)
        self._on_answer = on_answer
        self.rows = tk.StringVar(self)
        self.columns = tk.StringVar(self)
        self.skill = tk.StringVar(self, "random")
        self.pace = tk.StringVar(self)
        self._build()

    @property
    def is_open(self) -> bool:
        """Whether the question is on the screen."""
        return bool(self.place_info())

    def open(self, settings: Settings) -> None:
        """Ask, with the answers of the last time filled in."""
        self.rows.set(str(settings.rows))
        self.columns.set(str(settings.columns))
        self.pace.set(settings.pace.name)
        self.complaint["text"] = ""
        self.place(relx=0.5, rely=0.5, anchor="center")
        self.human.focus_set()

    def close(self) -> None:
        """Take the question away."""
        self.place_forget()

    def _build(self) -> None:
        heading = tk.Label(self, text="New game", font=(FONT, -30, "bold"))
        heading.configure(foreground=BLUE, background=WHITE)
        heading.grid(row=0, column=0, columnspan=2, pady=(0, 14))
        self._build_size()
        self._label("Computer", 2)
        self._choices(self.skill, tuple(SKILLS), 2)
        self._label("Speed", 3)
        self._choices(self.pace, tuple(pace.name for pace in PACES), 3)
        question = tk.Label(self, text="Who plays?", font=(FONT, -20, "bold"))
        question.configure(foreground=DARK, background=WHITE)
        question.grid(row=4, column=0, columnspan=2, pady=(16, 8))
        answers = tk.Frame(self, background=WHITE)
        answers.grid(row=5, column=0, columnspan=2)
        self.human = button(answers, "Human", self._human, BLUE, WHITE)
        self.human.pack(side="left", padx=8)
        self.computer = button(answers, "Computer", self._computer, BLUE, WHITE)
        self.computer.pack(side="left", padx=8)
        self.complaint = tk.Label(self, font=(FONT, -14), foreground="#b3261e", background=WHITE)
        self.complaint.configure(wraplength=380)
        self.complaint.grid(row=6, column=0, columnspan=2, pady=(10, 0))

    def _build_size(self) -> None:
        self._label("Board", 1)
        line = tk.Frame(self, background=WHITE)
        line.grid(row=1, column=1, sticky="w", pady=4)
        for text, side in (("rows", self.rows), ("columns", self.columns)):
            box = tk.Spinbox(
                line, from_=SIDES[0], to=SIDES[-1], textvariable=side, width=4, font=(FONT, -16)
            )
            box.pack(side="left")
            label = tk.Label(line, text=text, font=(FONT, -16), background=WHITE)
            label.configure(foreground=DARK)
            label.pack(side="left", padx=(4, 14))

    def _label(self, text: str, row: int) -> None:
        label = tk.Label(self, text=text, font=(FONT, -16, "bold"), background=WHITE)
        label.configure(foreground=DARK)
        label.grid(row=row, column=0, sticky="e", padx=(0, 14), pady=4)

    def _choices(self, variable: tk.StringVar, values: tuple[str, ...], row: int) -> None:
        choices(self, variable, values).grid(row=row, column=1, sticky="w", pady=4)

    def _human(self) -> None:
        self._answer(Mover.HUMAN)

    def _computer(self) -> None:
        self._answer(SKILLS[self.skill.get()])

    def _answer(self, mover: Mover) -> None:
        pace = next(pace for pace in PACES if pace.name == self.pace.get())
        try:
            sides = checked_side(self.rows.get()), checked_side(self.columns.get())
        except CourseError as error:
            self.complaint["text"] = str(error)
            return
        self._on_answer(Settings(mover, *sides, pace))
