"""Rules of your own in a form, and a board set up by hand, with the mouse or the keys."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Mapping, Sequence
from tkinter import ttk

from py2048.board import Board, Cell
from py2048.direction import Direction
from py2048.errors import BoardError
from py2048.rules import Rules
from py2048.ui.desktop.dialogs import Dialog
from py2048.ui.desktop.window import MainWindow
from py2048.ui.shared import motion
from py2048.ui.shared.describe import describe_rules
from py2048.ui.shared.presenter import fault_of

NAME = "own"
MERGING = {"a tile merges once a move": "once", "merged tiles merge on": "cascade"}
SCORING = {
    "the new tile of each merge": "merges",
    "1 a move, -1 for an illegal one": "moves:1:-1",
    "the sum of the board": "sum",
}
ENDS = {True: "target", False: "stuck"}

_SIDES = [str(side) for side in range(1, 11)]
_FIELDS: dict[str, tuple[str, Sequence[str]]] = {
    "name": ("Name", ()),
    "rows": ("Rows", _SIDES),
    "columns": ("Columns", _SIDES),
    "start": ("Start tiles", ("1", "2", "3", "4", "1..4", "2x2:1")),
    "spawn": (
        "New tiles (tile:weight)",
        ("2:9+4:1", "2:1", "2:1+4:1", "2:4+4:1", "2:3+4:1", "2:6+4:3+8:1", "edge:2"),
    ),
    "merging": ("Merging", list(MERGING)),
    "scoring": ("Points for", list(SCORING)),
    "target": ("Target", ("none", *(str(2**rank) for rank in range(4, 18)))),
}
"""What the fields of the form are called, and what they offer."""


def fields_of(rules: Rules) -> dict[str, str]:
    """Return the fields of the form for `rules`, in the grammar of rules."""
    changes = dict(part.split("=") for part in str(rules).partition(":")[2].split(","))
    rows, columns = changes.pop("size").split("x")
    return {"name": NAME, "rows": rows, "columns": columns} | changes


def rules_of(fields: Mapping[str, str]) -> Rules:
    """Return the rules that the fields of the form describe.

    Raises:
        RulesError: if a field makes no rules; the message names the value and the fix.
    """
    changes = {key: value.strip().lower() for key, value in fields.items() if key != "name"}
    changes["target"] = changes["target"] or "none"
    texts = ",".join(f"{key}={value}" for key, value in changes.items())
    return Rules.parse(f"{fields['name'].strip()}:{texts}")


class RulesDialog(Dialog):
    """A form for rules that says at once what is wrong with them.

    Args:
        window: the main window.
        rules: the rules to start from.
        take: called with the rules when they are accepted.
    """

    def __init__(self, window: MainWindow, rules: Rules, take: Callable[[Rules], object]) -> None:
        super().__init__(window, "Rules of your own")
        self._take = take
        self.add_title("Rules of your own")
        (self.button, _) = self.add_buttons(("Play", self.accept), ("Cancel", self.close))
        self._line = self.add_text(below=True)
        self._grid = ttk.Frame(self.body)
        self._grid.pack(fill="x")
        self._grid.columnconfigure(1, weight=1)
        values = fields_of(rules)
        for name, titles in (("merging", MERGING), ("scoring", SCORING)):
            words = {value: title for title, value in titles.items()}
            values[name] = words.get(values[name], values[name])
        self.fields = {name: self._add(name, values[name]) for name in _FIELDS}
        # Its state is asked for: a variable of Tk's could be collected by another thread, which
        # then waits for this one.
        self.ends = ttk.Checkbutton(self._grid, text="The target ends the game", command=self.check)
        is_on = values["end"] == ENDS[True]
        self.ends.state(["!alternate", "selected" if is_on else "!selected"])
        self.ends.grid(column=1, sticky="w")
        self.check()
        self.open(self.fields["name"])

    def _add(self, name: str, value: str) -> ttk.Entry:
        label, values = _FIELDS[name]
        row = self._grid.grid_size()[1]
        ttk.Label(self._grid, text=label).grid(row=row, column=0, sticky="w", pady=2)
        field: ttk.Entry = (
            ttk.Combobox(self._grid, values=list(values), width=30)
            if values
            else ttk.Entry(self._grid, width=32)
        )
        field.insert(0, value)
        field.configure(state="readonly" if name in ("merging", "scoring") else "normal")
        field.bind("<<ComboboxSelected>>", lambda _: self.check())
        field.bind("<KeyRelease>", lambda _: self.check())
        field.grid(row=row, column=1, sticky="ew", padx=(round(10 * self.scale), 0), pady=2)
        return field

    def rules(self) -> Rules:
        """Return the rules of the form as it is filled in now.

        Raises:
            RulesError: if it describes none.
        """
        texts = {name: field.get() for name, field in self.fields.items()}
        texts["merging"] = MERGING.get(texts["merging"], texts["merging"])
        texts["scoring"] = SCORING.get(texts["scoring"], texts["scoring"])
        return rules_of(texts | {"end": ENDS[self.ends.instate(["selected"])]})

    @property
    def said(self) -> str:
        """The line below the fields: what the rules are, or what is wrong with them."""
        return str(self._line.cget("text"))

    def check(self) -> bool:
        """Say what the rules are, or what is wrong with them; return whether they are right."""
        fault = fault_of(self.rules)
        text = fault or describe_rules(self.rules())
        self._line.configure(text=text, style="Fault.TLabel" if fault else "Muted.TLabel")
        self.button.state(["disabled" if fault else "!disabled"])
        return not fault

    def accept(self) -> None:
        """Play by the rules, if they are any."""
        if self.check():
            rules = self.rules()
            self.close_and(lambda: self._take(rules))


# Boards

MAX_RANK = 60


class BoardEditor:
    """A board that is being set up, and the cell that the keys act on; without Tk.

    Attributes:
        board: the board as it is now.
        cursor: the cell that the keys act on.
    """

    def __init__(self, board: Board) -> None:
        self.board = self._whole = board
        self.cursor: Cell = (0, 0)

    def step(self, direction: Direction) -> None:
        """Move the cursor, round and round."""
        down, across = motion.STEPS[direction]
        rows, columns = self.board.shape
        self.cursor = (self.cursor[0] + down) % rows, (self.cursor[1] + across) % columns

    def change(self, ranks: int) -> None:
        """Make the tile at the cursor larger or smaller; below 2 is empty."""
        value = self.board[self.cursor]
        self.put(max(0, (value.bit_length() - 1 if value else 0) + ranks))

    def put(self, rank: int) -> None:
        """Put the tile 2 to the power of `rank` at the cursor; 0 clears the cell."""
        tile = 1 << min(rank, MAX_RANK) if rank else 0
        self.board = self._whole = self.board.with_tile(self.cursor, tile)

    def clear(self) -> None:
        """Take all tiles away."""
        self.board = self._whole = Board.empty(*self.board.shape)

    def resize(self, rows: int, columns: int) -> None:
        """Cut the board, or add empty cells at the right and below.

        Until a tile is changed, what one size cuts another brings back: ``1`` may become ``10``.

        Raises:
            BoardError: if no board has this size.
        """
        if rows < 1 or columns < 1:
            raise BoardError("a board needs at least one row and one column")
        old, (height, width) = self._whole, self._whole.shape
        self.board = Board.from_rows(
            [old[r, c] if r < height and c < width else 0 for c in range(columns)]
            for r in range(rows)
        )
        self.cursor = min(self.cursor[0], rows - 1), min(self.cursor[1], columns - 1)

    @property
    def fault(self) -> str:
        """Why no game can start from this board, or an empty text."""
        if not self.board.max_tile:
            return "Put a tile on the board first."
        return "" if self.board.can_move() else "No move is possible on this board."


class EditorDialog(Dialog):
    """A board to set up.

    Args:
        window: the main window.
        board: the position to start from.
        take: called with the board to play from.
    """

    def __init__(self, window: MainWindow, board: Board, take: Callable[[Board], object]) -> None:
        super().__init__(window, "Set up a board")
        self._take = take
        self.editing = BoardEditor(board)
        self.add_title("Set up a board")
        help_ = "Click: larger. Right click: smaller. Keys: arrows, + and -, 1 to 9, Delete."
        self.add_text(help_, "Muted.TLabel")
        self.add_buttons(("Play", self.accept), ("Clear", self.clear), ("Cancel", self.close))
        self.line = self.add_text(style="Fault.TLabel", below=True)
        self._add_size()
        self.view = self.add_board(380)
        self._bind_events()
        self._draw()
        self.open(self.view)

    def _add_size(self) -> None:
        row = ttk.Frame(self.body)
        row.pack(fill="x", pady=(4, 0))
        rows, columns = self.editing.board.shape
        self.sides = []
        for text, side in (("Rows", rows), ("Columns", columns)):
            ttk.Label(row, text=text).pack(side="left", padx=(0, 4))
            box = ttk.Spinbox(row, from_=1, to=10, width=4, command=self.resize)
            box.set(side)
            box.bind("<KeyRelease>", lambda _: self.resize())
            box.pack(side="left", padx=(0, 10))
            self.sides.append(box)

    def _bind_events(self) -> None:
        view = self.view
        view.bind("<ButtonPress-1>", lambda event: self._click(event, 1))
        view.bind("<ButtonRelease-1>", lambda _: None)
        for button in ("<ButtonPress-2>", "<ButtonPress-3>"):
            view.bind(button, lambda event: self._click(event, -1))
        view.bind("<Configure>", lambda _: self._draw(), add=True)
        view.bind("<Key>", self._press)

    def _press(self, event: tk.Event[tk.Misc]) -> str | None:
        key, editing = event.keysym, self.editing
        if key in ("Up", "Down", "Left", "Right"):
            editing.step(Direction.parse(key))
        elif key in ("plus", "equal", "KP_Add", "space"):
            editing.change(1)
        elif key in ("minus", "KP_Subtract"):
            editing.change(-1)
        elif key in ("Delete", "BackSpace", "0", "period"):
            editing.put(0)
        elif key.isdigit():
            editing.put(int(key))
        else:
            return None
        self._draw()
        return "break"

    def _click(self, event: tk.Event[tk.Misc], ranks: int) -> None:
        self.view.focus_set()
        cell = self.view.cells and self.view.cells.cell_at(event.x, event.y)
        if cell:
            self.editing.cursor = cell
            self.editing.change(ranks)
            self._draw()

    def clear(self) -> None:
        """Take all tiles away."""
        self.editing.clear()
        self._draw()

    def resize(self) -> None:
        """Give the board the size that is entered, or say why there is no such board."""
        try:
            rows, columns = (int(box.get()) for box in self.sides)
            self.editing.resize(min(rows, 64), min(columns, 64))
        except BoardError as error:
            self.line.configure(text=str(error))
        except ValueError:
            self.line.configure(text="Rows and columns are whole numbers, such as 4.")
        else:
            self._draw()

    def _draw(self) -> None:
        self.line.configure(text="")
        view = self.view
        view.show(motion.BoardTransition((), self.editing.board), 0)
        view.finish()
        view.delete("cursor")
        if view.cells:
            x, y = view.cells.middle(*self.editing.cursor)
            half = view.cells.cell / 2
            corners = x - half, y - half, x + half, y + half
            view.create_rectangle(*corners, outline=self.theme.accent, width=3, tags="cursor")

    def accept(self) -> None:
        """Play from the board, if a game can start there."""
        fault = self.editing.fault
        if fault:
            self.line.configure(text=fault)
        else:
            self.close_and(lambda: self._take(self.editing.board))
