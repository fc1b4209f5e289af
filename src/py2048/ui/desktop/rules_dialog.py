"""The form in which a player makes rules of their own."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from tkinter import ttk

from py2048.rules import Rules
from py2048.ui.desktop.dialogs import Dialog
from py2048.ui.desktop.rules_form import MERGING, SCORING, RulesForm
from py2048.ui.shared.describe import describe_rules

SPAWNS = ("2:9+4:1", "2:1", "2:1+4:1", "2:4+4:1", "2:3+4:1", "2:6+4:3+8:1", "edge:2")
STARTS = ("1", "2", "3", "4", "1..4", "2x2:1")
TARGETS = ("none", *(str(2**rank) for rank in range(4, 18)))


class RulesDialog(Dialog):
    """A form for rules that says at once what is wrong with them.

    Args:
        root: the main window.
        scale: how many pixels of this screen are one of an ordinary screen.
        rules: the rules to start from.
        take: called with the rules when they are accepted.
    """

    def __init__(
        self, root: tk.Tk, scale: float, rules: Rules, take: Callable[[Rules], object]
    ) -> None:
        super().__init__(root, "Rules of your own", scale)
        self._take = take
        form = RulesForm.of(rules)
        self.add_title("Rules of your own")
        self._line = ttk.Label(self.body, wraplength=round(400 * scale))
        (self.button, _) = self.add_buttons(("Play", self.accept), ("Cancel", self.close))
        self._line.pack(side="bottom", anchor="w", pady=(round(8 * scale), 0))
        self._grid = ttk.Frame(self.body)
        self._grid.pack(fill="x")
        self._grid.columnconfigure(1, weight=1)
        sides = [str(side) for side in range(1, 11)]
        name = self._add("Name", form.name)
        self.fields = {
            "name": name,
            "rows": self._add("Rows", form.rows, sides, is_free=True),
            "columns": self._add("Columns", form.columns, sides, is_free=True),
            "start": self._add("Start tiles", form.start, STARTS, is_free=True),
            "spawn": self._add("New tiles (tile:weight)", form.spawn, SPAWNS, is_free=True),
            "merging": self._add("Merging", _title(MERGING, form.merging), list(MERGING)),
            "scoring": self._add("Points for", _title(SCORING, form.scoring), list(SCORING)),
            "target": self._add("Target", form.target, TARGETS, is_free=True),
        }
        self.ends = tk.BooleanVar(self, value=form.ends)
        check = ttk.Checkbutton(
            self._grid, text="The target ends the game", variable=self.ends, command=self.check
        )
        check.grid(column=1, sticky="w")
        self.check()
        self.open(name)

    def _add(
        self, label: str, value: str, values: Sequence[str] = (), *, is_free: bool = False
    ) -> ttk.Entry:
        row = self._grid.grid_size()[1]
        ttk.Label(self._grid, text=label).grid(row=row, column=0, sticky="w", pady=2)
        field: ttk.Entry
        if values:
            state = "normal" if is_free else "readonly"
            field = ttk.Combobox(self._grid, values=list(values), width=30)
            field.set(value)
            field.configure(state=state)
            field.bind("<<ComboboxSelected>>", lambda _: self.check())
        else:
            field = ttk.Entry(self._grid, width=32)
            field.insert(0, value)
        field.bind("<KeyRelease>", lambda _: self.check())
        field.grid(row=row, column=1, sticky="ew", padx=(round(10 * self.scale), 0), pady=2)
        return field

    @property
    def form(self) -> RulesForm:
        """The form as it is filled in now."""
        texts = {name: field.get() for name, field in self.fields.items()}
        texts["merging"] = MERGING.get(texts["merging"], texts["merging"])
        texts["scoring"] = SCORING.get(texts["scoring"], texts["scoring"])
        return RulesForm(**texts, ends=self.ends.get())

    @property
    def said(self) -> str:
        """The line below the fields: what the rules are, or what is wrong with them."""
        return str(self._line.cget("text"))

    def check(self) -> None:
        """Say what the rules are, or what is wrong with them."""
        form = self.form
        trouble = form.trouble
        text = trouble or describe_rules(form.rules())
        self._line.configure(text=text, style="Trouble.TLabel" if trouble else "Muted.TLabel")
        self.button.state(["disabled" if trouble else "!disabled"])

    def accept(self) -> None:
        """Play by the rules, if they are any."""
        form = self.form
        if form.trouble:
            self.check()
            return
        self.close()
        self._take(form.rules())


def _title(titles: dict[str, str], value: str) -> str:
    """Return the words for a value of the grammar; the value itself where there are none."""
    return next((title for title, each in titles.items() if each == value), value)
