"""The desktop's dialogs: questions, lists, texts to read, files, rules and boards to set up.

Our own do not wait: they are given what to do afterwards.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tkinter import ttk
from typing import TYPE_CHECKING

from py2048.app.controller.presenter import fault_of
from py2048.app.desktop.board_view import CanvasBoard
from py2048.app.desktop.style import ROW, Button, Text, measured
from py2048.app.desktop.window import MainWindow, tk_keys
from py2048.core.board import Board, Cell
from py2048.core.direction import Direction
from py2048.core.errors import BoardError
from py2048.core.language import N_, _
from py2048.core.rules import Rules
from py2048.presentation import motion
from py2048.presentation.actions import UserAction
from py2048.presentation.describe import describe_rules
from py2048.presentation.screen import Choice, FileKind, ListRequest

if TYPE_CHECKING:
    from py2048.presentation.hints import DirectionRow


WRAP = 400
"""Texts wrap at this width at first, in pixels of usual size."""


class Dialog(tk.Toplevel):
    """A window over the game. Escape closes it; the keyboard stays in it until then.

    Args:
        window: the main window.
        title: its title.
        size: its width and height at first, in pixels of usual size; by default as its content
            needs, under its title in large letters.

    Attributes:
        body: the frame for its content.
        on_close: called after the dialog has closed, however it was closed.
    """

    def __init__(self, window: MainWindow, title: str, size: tuple[int, int] | None = None) -> None:
        super().__init__(window.root)
        self.withdraw()
        self.look, self._owner, self._size = window.look, window.root, size
        self.title(title)
        self.transient(self._owner)
        self.configure(background=self.look.theme.raised)
        self.body = ttk.Frame(self, padding=self.look.px(16))
        self.body.pack(fill="both", expand=True)
        self.bind("<Escape>", lambda _: self.close())
        self.protocol("WM_DELETE_WINDOW", self.close)
        self.on_close: Callable[[], object] = lambda: None
        if size is None:
            Text(self.body, title, "title").pack(fill="x", pady=(0, self.look.px(8)))

    def open(self, focus: tk.Misc | None = None) -> None:
        """Show the dialog over the middle of the game, no larger than the screen."""
        self.update_idletasks()
        wanted = [round(side * self.look.unit) for side in self._size or ()]
        most = self.winfo_screenwidth() * 96 // 100, self.winfo_screenheight() * 90 // 100
        needed = wanted or [self.winfo_reqwidth(), self.winfo_reqheight()]
        width, height = map(min, needed, most)
        x = self._owner.winfo_rootx() + (self._owner.winfo_width() - width) // 2
        y = self._owner.winfo_rooty() + (self._owner.winfo_height() - height) // 2
        x = max(0, min(x, self.winfo_screenwidth() - width))
        y = max(0, min(y, self.winfo_screenheight() - height - self.look.px(30)))
        is_set = wanted or [width, height] != needed
        self.geometry(f"{width}x{height}+{x}+{y}" if is_set else f"+{x}+{y}")
        self.deiconify()
        self.lift()
        (focus or self).focus_set()
        self.after_idle(self._grab)

    def _grab(self) -> None:
        if self.winfo_viewable():
            self.grab_set()
        else:
            self.after(20, self._grab)

    def close(self) -> None:
        """Close the dialog."""
        if self.winfo_exists():
            self.destroy()
            self.on_close()

    def close_and(self, action: Callable[[], object]) -> None:
        """Close the dialog, then do something."""
        self.close()
        action()

    def add_text(self, text: str = "", colour: str = "ink", *, below: bool = False) -> Text:
        """Put a text under what is there, or above what is at the bottom."""
        label = Text(self.body, text, "small", colour, wraplength=round(WRAP * self.look.unit))
        label.pack(side="bottom" if below else "top", fill="x")
        return label

    def add_field(
        self, label: str, value: str, changed: Callable[[], object], values: Sequence[str] = ()
    ) -> ttk.Entry:
        """Put a field with its label under what is there.

        Args:
            label: what it is called.
            value: what it holds at first.
            changed: called when it has been changed.
            values: what it offers, besides what may be typed.
        """
        row = ttk.Frame(self.body)
        row.pack(fill="x", pady=2)
        ttk.Label(row, text=label, width=18).pack(side="left")
        field = ttk.Combobox(row, values=list(values), width=30) if values else ttk.Entry(row)
        field.insert(0, value)
        field.bind("<<ComboboxSelected>>", lambda _: changed())
        field.bind("<KeyRelease>", lambda _: changed())
        field.pack(side="left", fill="x", expand=True)
        return field

    def add_board(
        self, side: int, push: Callable[[Direction], object] = lambda _: None
    ) -> CanvasBoard:
        """Put a board under what is there.

        Args:
            side: its size at first, in pixels of an ordinary screen.
            push: called with the direction in which the mouse drags or clicks.
        """
        view = CanvasBoard(self.body, push, "raised")
        view.configure(width=self.look.px(side), height=self.look.px(side))
        view.pack(fill="both", expand=True, pady=self.look.px(6))
        return view

    def add_table(self, lines: Sequence[Choice], most: int) -> ttk.Treeview:
        """Put a table under what is there, on whose lines the usual keys go up and down.

        Args:
            lines: its lines.
            most: how many are seen at once.
        """
        table = ttk.Treeview(
            self.body,
            columns=("detail",),
            show="tree",
            selectmode="browse",
            height=min(max(len(lines), 3), most),
        )
        titles, details = (
            max(measured(self, line[place], "small") for line in lines) for place in (1, 2)
        )
        width = max(self.look.px(130), titles + self.look.px(40))  # beside the indentation
        table.column("#0", width=width, stretch=False)
        table.column("detail", width=details + self.look.px(24))
        for line in lines:
            table.insert(
                "", "end", iid=line.value or UNNAMED, text=line.title, values=(line.detail,)
            )
        table.pack(fill="both", expand=True, pady=(0, self.look.px(6)))
        far = len(lines)
        for keys, step in (("jJ", 1), ("kK", -1), (("<Home>",), -far), (("<End>",), far)):
            for key in keys:
                table.bind(key, lambda _, step=step: _step(table, step))  # type: ignore[misc]
        _select(table, lines[0].value or UNNAMED)
        return table

    def bind_actions(
        self, actions: Sequence[UserAction], do: Callable[[str], object], view: CanvasBoard
    ) -> None:
        """Bind the keys of actions; Enter and Space belong to the button that has the focus."""

        def press(name: str) -> str:
            do(name)
            return "break"

        for action in actions:
            for key in tk_keys(action):
                target = view if key in ("Return", "space") else self
                target.bind(f"<{key}>", lambda _, name=action.name: press(name))  # type: ignore[misc]

    def add_buttons(self, *buttons: tuple[str, Callable[[], object]]) -> list[Button]:
        """Put a row of buttons at the bottom, the first one for the Enter key."""
        row = ttk.Frame(self.body)
        row.pack(side="bottom", fill="x", pady=(self.look.px(8), 0))
        made = [
            Button(row, text, command, kind="plain" if place else "primary")
            for place, (text, command) in enumerate(buttons)
        ]
        for button in reversed(made):  # the order of Tab is that in which they were made
            button.pack(side="right")
        self.bind("<Return>", lambda _: buttons[0][1]())
        return made


UNNAMED = " "
"""Stands for an empty value in a table, whose lines need names."""


def _step(table: ttk.Treeview, step: int) -> None:
    lines = table.get_children()
    place = lines.index(table.focus()) + step
    _select(table, lines[min(max(place, 0), len(lines) - 1)])


def _select(table: ttk.Treeview, line: str) -> None:
    table.selection_set(line)
    table.focus(line)
    table.see(line)


def marks_of(rows: Sequence[DirectionRow]) -> tuple[Direction, Direction]:
    """Return the best direction and the one that was played."""
    best = next(row.direction for row in rows if row.is_best)
    return best, next(row.direction for row in rows if row.is_played)


def ask(window: MainWindow, text: str, yes: str, no: str, action: Callable[[], object]) -> Dialog:
    """Ask a question; Enter and Y say yes, Escape and N say no."""
    dialog = Dialog(window, text)
    agree = partial(dialog.close_and, action)
    buttons = dialog.add_buttons((yes, agree), (no, dialog.close))
    for key, answer in (("y", agree), ("Y", agree), ("n", dialog.close), ("N", dialog.close)):
        dialog.bind(key, lambda _, answer=answer: answer())  # type: ignore[misc]
    dialog.open(buttons[0])
    return dialog


class ListDialog(Dialog):
    """A list to choose from, with a line for a text that is not in it, or one of them alone."""

    def __init__(self, window: MainWindow, request: ListRequest) -> None:
        super().__init__(window, request.title)
        self.request = request
        more = [(text, partial(self.close_and, action)) for text, action in request.more]
        self.add_buttons((_("Choose"), self.accept), *more, (_("Cancel"), self.close))
        self.fault = self.add_text(colour="danger", below=True)
        self.entry = self._add_entry(request) if request.own else None
        self.table = self.add_table(request.choices, 13) if request.choices else None
        current = request.current or UNNAMED
        if self.table is not None:
            self.table.bind("<Double-1>", lambda _: self.accept())
            if self.table.exists(current):
                _select(self.table, current)
        self.open(self.table or self.entry)

    def _add_entry(self, request: ListRequest) -> ttk.Entry:
        entry = ttk.Entry(self.body)
        if not request.choices:
            entry.insert(0, request.current)
            entry.select_range(0, "end")
        entry.pack(side="bottom", fill="x", pady=(2, self.look.px(6)))
        self.add_text(request.own, "muted", below=True)
        return entry

    def accept(self) -> None:
        """Take the text if there is one, else the line that is chosen."""
        own = self.entry.get().strip() if self.entry else ""
        chosen = own or "".join(self.table.selection()[:1] if self.table else ())
        is_none, chosen = not chosen, "" if chosen == UNNAMED else chosen
        fault = _("Choose a line, or type a text.") if is_none else self.request.check(chosen)
        if fault:
            self.fault.show(fault)
        else:
            self.close_and(lambda: self.request.take(chosen))


def read(window: MainWindow, title: str, lines: Sequence[tuple[str, str]]) -> Dialog:
    """Show lines of two columns to read; they scroll where they must."""
    dialog = Dialog(window, title)
    dialog.add_buttons((_("Close"), dialog.close))
    room = int((dialog.winfo_screenheight() / dialog.look.unit - 220) / ROW)
    choices = [Choice(f"{place}", *line) for place, line in enumerate(lines)]
    dialog.open(dialog.add_table(choices, max(5, room)))
    return dialog


# The system's dialogs


def ask_file(root: tk.Tk, title: str, kind: FileKind, name: str | None = None) -> Path | None:
    """Return the file that the player chooses, `None` if the dialog is closed.

    Args:
        root: the window.
        title: what is asked.
        kind: the kind of file.
        name: what a file that is to be written is called by default. The dialog asks before such
            a file is replaced, by the name as it was typed.
    """
    from tkinter import filedialog

    types = [(_(kind.title), f"*{kind.ending}"), (_("All files"), "*")]
    if name is None:
        chosen = filedialog.askopenfilename(parent=root, title=title, filetypes=types)
    else:
        file = name + kind.ending
        chosen = filedialog.asksaveasfilename(
            parent=root, title=title, filetypes=types, initialfile=file
        )
    return Path(chosen) if chosen else None


# Rules of your own

NAME = "own"
TITLES = {
    "merging": {N_("a tile merges once a move"): "once", N_("merged tiles merge on"): "cascade"},
    "scoring": {
        N_("the new tile of each merge"): "merges",
        N_("1 a move, -1 for an illegal one"): "moves:1:-1",
        N_("the sum of the board"): "sum",
    },
}
"""What the form calls values of these fields."""

ENDS = {True: "target", False: "stuck"}

_SIDES = [str(side) for side in range(1, 11)]
_FIELDS: dict[str, tuple[str, Sequence[str]]] = {
    "name": (N_("Name"), ()),
    "rows": (N_("Rows"), _SIDES),
    "columns": (N_("Columns"), _SIDES),
    "start": (N_("Start tiles"), ("1", "2", "3", "4", "1..4", "2x2:1")),
    "spawn": (
        N_("New tiles (tile:weight)"),
        ("2:9+4:1", "2:1", "2:1+4:1", "2:4+4:1", "2:3+4:1", "2:6+4:3+8:1", "edge:2"),
    ),
    "merging": (N_("Merging"), ()),
    "scoring": (N_("Points for"), ()),
    "target": (N_("Target"), ("none", *(str(2**rank) for rank in range(4, 18)))),
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


def _titles(name: str) -> dict[str, str]:
    """Return the values of a field by what the form calls them."""
    return {_(title): value for title, value in TITLES.get(name, {}).items()}


class RulesDialog(Dialog):
    """A form for rules that says at once what is wrong with them.

    Args:
        window: the main window.
        rules: the rules to start from.
        take: called with the rules when they are accepted.
    """

    def __init__(self, window: MainWindow, rules: Rules, take: Callable[[Rules], object]) -> None:
        super().__init__(window, _("Rules of your own"))
        self._take = take
        (self.button, _cancel) = self.add_buttons(
            (_("Play"), self.accept), (_("Cancel"), self.close)
        )
        self._line = self.add_text(below=True)
        values = fields_of(rules)
        self.fields: dict[str, ttk.Entry] = {}
        for name, (label, offers) in _FIELDS.items():
            titles = {value: title for title, value in _titles(name).items()}
            value, lines = titles.get(values[name], values[name]), [*titles.values(), *offers]
            self.fields[name] = self.add_field(_(label), value, self.check, lines)
            self.fields[name].configure(state="readonly" if titles else "normal")
        # Its state is asked for: a variable of Tk's could be collected by another thread, which
        # then waits for this one.
        self.ends = ttk.Checkbutton(
            self.body, text=_("The target ends the game"), command=self.check
        )
        is_on = values["end"] == ENDS[True]
        self.ends.state(["!alternate", "selected" if is_on else "!selected"])
        self.ends.pack(anchor="w")
        self.check()
        self.open(self.fields["name"])

    def rules(self) -> Rules:
        """Return the rules of the form as it is filled in now.

        Raises:
            RulesError: if it describes none.
        """
        texts = {
            name: _titles(name).get(field.get(), field.get()) for name, field in self.fields.items()
        }
        return rules_of(texts | {"end": ENDS[self.ends.instate(["selected"])]})

    @property
    def said(self) -> str:
        """The line below the fields: what the rules are, or what is wrong with them."""
        return str(self._line.cget("text"))

    def check(self) -> bool:
        """Say what the rules are, or what is wrong with them; return whether they are right."""
        fault = fault_of(self.rules)
        text = fault or describe_rules(self.rules())
        style = self.look.text("raised", "danger" if fault else "muted")
        self._line.configure(text=text, style=style)
        self.button.enable(is_on=not fault)
        return not fault

    def accept(self) -> None:
        """Play by the rules, if they are any."""
        if self.check():
            rules = self.rules()
            self.close_and(lambda: self._take(rules))


# Boards

MAX_RANK = 60
LARGER, SMALLER = ("plus", "equal", "KP_Add", "space"), ("minus", "KP_Subtract")
EMPTY = ("Delete", "BackSpace", "period")
"""The keys that change the tile at the cursor, besides the digits."""


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
            return _("Put a tile on the board first.")
        return "" if self.board.can_move() else _("No move is possible on this board.")


class EditorDialog(Dialog):
    """A board to set up.

    Args:
        window: the main window.
        board: the position to start from.
        take: called with the board to play from.
    """

    def __init__(self, window: MainWindow, board: Board, take: Callable[[Board], object]) -> None:
        super().__init__(window, _("Set up a board"))
        self._take = take
        self.editing = BoardEditor(board)
        help_ = _("Click: larger. Right click: smaller. Keys: arrows, + and -, 1 to 9, Delete.")
        self.add_text(help_, "muted")
        self.add_buttons(
            (_("Play"), self.accept), (_("Clear"), self.clear), (_("Cancel"), self.close)
        )
        self.line = self.add_text(colour="danger", below=True)
        self.sides = [
            self.add_field(_(name), str(side), self.resize, _SIDES)
            for name, side in zip((N_("Rows"), N_("Columns")), board.shape, strict=True)
        ]
        self.view = self.add_board(380)
        self._bind_events()
        self._draw()
        self.open(self.view)

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
        elif key in LARGER + SMALLER:
            editing.change(1 if key in LARGER else -1)
        elif key.isdigit() or key in EMPTY:
            editing.put(int(key) if key.isdigit() else 0)
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
        texts = [box.get().strip() for box in self.sides]
        if not all(map(str.isdecimal, texts)):
            self.line.show(_("Rows and columns are whole numbers, such as 4."))
            return
        fault = fault_of(lambda: self.editing.resize(*(min(int(text), 64) for text in texts)))
        self.line.show(fault) if fault else self._draw()

    def _draw(self) -> None:
        self.line.show("")
        view = self.view
        view.put(self.editing.board)
        view.finish()
        view.delete("cursor")
        if view.cells:
            x, y = view.cells.middle(*self.editing.cursor)
            half = view.cells.cell / 2
            corners = x - half, y - half, x + half, y + half
            view.create_rectangle(*corners, outline=self.look.theme.accent, width=3, tags="cursor")

    def accept(self) -> None:
        """Play from the board, if a game can start there."""
        if fault := self.editing.fault:
            self.line.show(fault)
        else:
            self.close_and(lambda: self._take(self.editing.board))
