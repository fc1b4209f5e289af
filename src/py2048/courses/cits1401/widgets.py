"""The small parts of the window."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence

from py2048.courses.cits1401.board_view import FONT
from py2048.courses.cits1401.tiles import DARK, GOLD, WHITE


class Card(tk.Frame):
    """A number with its name, as on a score board.

    Attributes:
        value: the number shown.
    """

    def __init__(self, parent: tk.Misc, name: str) -> None:
        super().__init__(parent, background="#0b4bb3", padx=14, pady=6)
        self.value = 0
        tk.Label(
            self, text=name, font=(FONT, -12, "bold"), foreground=GOLD, background="#0b4bb3"
        ).pack()
        self._number = tk.Label(
            self,
            text="0",
            font=(FONT, -24, "bold"),
            foreground=WHITE,
            background="#0b4bb3",
            width=7,
        )
        self._number.pack()

    @property
    def text(self) -> str:
        """The number as it can be read."""
        return str(self._number["text"])

    def show(self, value: int) -> None:
        """Show another number."""
        self.value = value
        self._number["text"] = str(value)


def button(
    parent: tk.Misc, text: str, command: Callable[[], None], face: str, ink: str
) -> tk.Button:
    """Return a flat button that brightens under the mouse."""
    made = tk.Button(
        parent,
        text=text,
        command=command,
        font=(FONT, -18, "bold"),
        background=face,
        foreground=ink,
        activebackground=GOLD,
        activeforeground=DARK,
        relief="flat",
        borderwidth=0,
        highlightthickness=2,
        highlightbackground=face,
        padx=22,
        pady=9,
        cursor="hand2",
    )
    made.bind("<Return>", lambda _: made.invoke())
    return made


def choices(
    parent: tk.Misc,
    variable: tk.StringVar,
    values: Sequence[str],
    command: Callable[[], None] | None = None,
) -> tk.Frame:
    """Return a row of buttons of which one is down: the one that `variable` names."""
    row = tk.Frame(parent, background=str(parent["background"]))
    for value in values:
        choice = tk.Radiobutton(
            row,
            text=value,
            value=value,
            variable=variable,
            indicatoron=False,
            font=(FONT, -15),
            background="#e7e3d9",
            foreground=DARK,
            selectcolor=GOLD,
            relief="flat",
            borderwidth=0,
            padx=10,
            pady=5,
            cursor="hand2",
        )
        if command is not None:
            choice.configure(command=command)
        choice.pack(side="left", padx=(0, 4))
    return row
