"""Rules of your own: the fields of a form, and the dialog that shows it."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from tkinter import ttk

from py2048.errors import RulesError
from py2048.rules import Rules
from py2048.ui.desktop.dialogs import Dialog
from py2048.ui.shared.describe import describe_rules

SPAWNS = ("2:9+4:1", "2:1", "2:1+4:1", "2:4+4:1", "2:3+4:1", "2:6+4:3+8:1", "edge:2")
STARTS = ("1", "2", "3", "4", "1..4", "2x2:1")
TARGETS = ("none", *(str(2**rank) for rank in range(4, 18)))


NAME = "own"
MERGING = {"a tile merges once a move": "once", "merged tiles merge on": "cascade"}
SCORING = {
    "the new tile of each merge": "merges",
    "1 a move, -1 for an illegal one": "moves:1:-1",
    "the sum of the board": "sum",
}


@dataclass
class RulesForm:
    """What a person fills in; every field is a text.

    Attributes:
        name: the name under which best scores are kept.
        rows: the number of rows.
        columns: the number of columns.
        start: the number of start tiles, such as ``2`` or ``1..25``, with weights ``2x2:1``.
        spawn: the weights of new tiles such as ``2:9+4:1``, or ``edge:2``.
        merging: a value of `MERGING`, or the like from the rules' grammar.
        scoring: a value of `SCORING`, or the like.
        target: the tile that wins, or ``none``.
        ends: whether the target ends the game.
    """

    name: str
    rows: str
    columns: str
    start: str
    spawn: str
    merging: str
    scoring: str
    target: str
    ends: bool

    @classmethod
    def from_rules(cls, rules: Rules) -> RulesForm:
        """Return the form filled in with `rules`."""
        return cls(
            NAME,
            str(rules.rows),
            str(rules.columns),
            str(rules.start),
            str(rules.spawn),
            rules.merging.value,
            str(rules.scoring),
            "none" if rules.target is None else str(rules.target),
            rules.ends_at_target,
        )

    @property
    def text(self) -> str:
        """The rules in the grammar that records and the command line use."""
        changes = {
            "size": f"{self.rows.strip()}x{self.columns.strip()}",
            "start": self.start.strip(),
            "spawn": self.spawn.strip().lower(),
            "merging": self.merging,
            "scoring": self.scoring,
            "target": self.target.strip().lower() or "none",
            "end": "target" if self.ends else "stuck",
        }
        return f"{self.name.strip()}:" + ",".join(
            f"{key}={value}" for key, value in changes.items()
        )

    def rules(self) -> Rules:
        """Return the rules.

        Raises:
            RulesError: if a field makes no rules; the message names the value and the fix.
        """
        return Rules.parse(self.text)

    @property
    def fault(self) -> str:
        """What is wrong with the fields, or an empty text."""
        try:
            self.rules()
        except RulesError as error:
            return str(error)
        return ""


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
        form = RulesForm.from_rules(rules)
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
        fault = form.fault
        text = fault or describe_rules(form.rules())
        self._line.configure(text=text, style="Fault.TLabel" if fault else "Muted.TLabel")
        self.button.state(["disabled" if fault else "!disabled"])

    def accept(self) -> None:
        """Play by the rules, if they are any."""
        form = self.form
        if form.fault:
            self.check()
            return
        self.close()
        self._take(form.rules())


def _title(titles: dict[str, str], value: str) -> str:
    """Return the words for a value of the grammar; the value itself where there are none."""
    return next((title for title, each in titles.items() if each == value), value)
