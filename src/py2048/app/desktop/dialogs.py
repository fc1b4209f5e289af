"""Desktop dialogs for questions, lists, tables, files, custom rules and the board editor.

Functions that open a dialog return immediately, and the dialog passes the player's answer to a
callback. Only the system's file dialogs block.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tkinter import ttk
from typing import Any

from py2048.app.controller.controller import fault_of
from py2048.app.desktop.board_view import CanvasBoard
from py2048.app.desktop.style import ROW_HEIGHT, Button, Text, text_width
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

WRAP_WIDTH = 400
"""Initial width of wrapped text in unscaled pixels."""

EMPTY_ID = " "
"""Row ID for an empty value. Tk would replace an empty ID with a generated ID."""


class Dialog(tk.Toplevel):
    """A modal window over the game, closed by Escape.

    Args:
        window: The main window.
        title: The title.
        size: Initial width and height in unscaled pixels. By default, the dialog is as large as its
            content and shows the title as a heading.

    Attributes:
        body: Frame for the content.
        on_close: Function to call after the dialog has closed.
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
        """Show the dialog centred over the game, limited to the screen's size."""
        self.update_idletasks()
        wanted = [round(side * self.look.unit) for side in self._size or ()]
        available = self.winfo_screenwidth() * 96 // 100, self.winfo_screenheight() * 90 // 100
        needed = wanted or [self.winfo_reqwidth(), self.winfo_reqheight()]
        width, height = map(min, needed, available)
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
        """Close the dialog, then run `action`."""
        self.close()
        action()

    def add_text(self, text: str = "", colour: str = "ink", *, below: bool = False) -> Text:
        """Append a label, or place it at the bottom of the dialog if `below` is true."""
        wrap = round(WRAP_WIDTH * self.look.unit)
        label = Text(self.body, text, "small", colour, wraplength=wrap)
        label.pack(side="bottom" if below else "top", fill="x")
        return label

    def add_field(
        self, label: str, value: str, changed: Callable[[], object], values: Sequence[str] = ()
    ) -> ttk.Entry:
        """Append a labelled text field.

        Args:
            label: The label.
            value: The initial value.
            changed: Called after every change.
            values: Values offered in a drop-down list.
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
        self, side: int, on_gesture: Callable[[Direction], object] = lambda _: None
    ) -> CanvasBoard:
        """Append a board of `side` unscaled pixels."""
        view = CanvasBoard(self.body, on_gesture, "raised")
        view.configure(width=self.look.px(side), height=self.look.px(side))
        view.pack(fill="both", expand=True, pady=self.look.px(6))
        return view

    def add_table(self, lines: Sequence[Choice], max_rows: int) -> ttk.Treeview:
        """Append a scrollable table with at most `max_rows` visible rows."""
        table = ttk.Treeview(
            self.body,
            columns=("detail",),
            show="tree",
            selectmode="browse",
            height=min(max(len(lines), 3), max_rows),
        )
        titles = max(text_width(self, line.title, "small") for line in lines)
        details = max(text_width(self, line.detail, "small") for line in lines)
        width = max(self.look.px(130), titles + self.look.px(40))  # includes Tk's indentation
        table.column("#0", width=width, stretch=False)
        table.column("detail", width=details + self.look.px(24))
        for line in lines:
            table.insert("", "end", line.value or EMPTY_ID, text=line.title, values=(line.detail,))
        table.pack(fill="both", expand=True, pady=(0, self.look.px(6)))
        count = len(lines)
        for keys, step in (("jJ", 1), ("kK", -1), (("<Home>",), -count), (("<End>",), count)):
            for key in keys:
                table.bind(key, lambda _, step=step: _step(table, step))  # type: ignore[misc]
        _select(table, lines[0].value or EMPTY_ID)
        return table

    def bind_actions(
        self, actions: Sequence[UserAction], do: Callable[[str], object], view: CanvasBoard
    ) -> None:
        """Bind the keys of actions. Enter and Space only work when the board has the focus."""

        def press(name: str) -> str:
            do(name)
            return "break"

        for action in actions:
            for key in tk_keys(action):
                target = view if key in ("Return", "space") else self
                target.bind(f"<{key}>", lambda _, name=action.name: press(name))  # type: ignore[misc]

    def add_buttons(self, *buttons: tuple[str, Callable[[], object]]) -> list[Button]:
        """Add a row of buttons at the bottom. Enter presses the first button."""
        row = ttk.Frame(self.body)
        row.pack(side="bottom", fill="x", pady=(self.look.px(8), 0))
        widgets = [
            Button(row, text, command, kind="plain" if index else "primary")
            for index, (text, command) in enumerate(buttons)
        ]
        for button in reversed(widgets):  # Tab follows the order of creation
            button.pack(side="right")
        self.bind("<Return>", lambda _: buttons[0][1]())
        return widgets


def _step(table: ttk.Treeview, step: int) -> None:
    lines = table.get_children()
    index = lines.index(table.focus()) + step
    _select(table, lines[min(max(index, 0), len(lines) - 1)])


def _select(table: ttk.Treeview, line: str) -> None:
    table.selection_set(line)
    table.focus(line)
    table.see(line)


def ask(window: MainWindow, text: str, yes: str, no: str, action: Callable[[], object]) -> Dialog:
    """Ask a yes-no question. Enter and Y mean yes. Escape and N mean no."""
    dialog = Dialog(window, text)
    accept = partial(dialog.close_and, action)
    buttons = dialog.add_buttons((yes, accept), (no, dialog.close))
    for key, answer in (("y", accept), ("Y", accept), ("n", dialog.close), ("N", dialog.close)):
        dialog.bind(key, lambda _, answer=answer: answer())  # type: ignore[misc]
    dialog.open(buttons[0])
    return dialog


class ListDialog(Dialog):
    """A dialog with a list, a text field for other values, or both."""

    def __init__(self, window: MainWindow, request: ListRequest) -> None:
        super().__init__(window, request.title)
        self.request = request
        more = [(text, partial(self.close_and, action)) for text, action in request.more]
        self.add_buttons((_("Choose"), self.accept), *more, (_("Cancel"), self.close))
        self.fault = self.add_text(colour="danger", below=True)
        self.entry = self._add_entry(request) if request.own else None
        self.table = self.add_table(request.choices, 13) if request.choices else None
        current = request.current or EMPTY_ID
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
        """Close the dialog with the text or the selected line, or show why the text is invalid."""
        typed = self.entry.get().strip() if self.entry else ""
        chosen = typed or "".join(self.table.selection()[:1] if self.table else ())
        is_none, chosen = not chosen, "" if chosen == EMPTY_ID else chosen
        fault = _("Choose a line or type your own.") if is_none else self.request.check(chosen)
        if fault:
            self.fault.show(fault)
        else:
            self.close_and(lambda: self.request.take(chosen))


def show_table(window: MainWindow, title: str, lines: Sequence[tuple[str, str]]) -> Dialog:
    """Show a read-only table with two columns."""
    dialog = Dialog(window, title)
    dialog.add_buttons((_("Close"), dialog.close))
    max_rows = int((dialog.winfo_screenheight() / dialog.look.unit - 220) / ROW_HEIGHT)
    choices = [Choice(f"{index}", *line) for index, line in enumerate(lines)]
    dialog.open(dialog.add_table(choices, max(5, max_rows)))
    return dialog


def ask_file(root: tk.Tk, title: str, kind: FileKind, name: str | None = None) -> Path | None:
    """Open the system's dialog to choose a file. Return `None` if the player cancels.

    Args:
        root: The main window.
        title: Title of the dialog.
        kind: The file type.
        name: Suggested name for a file to write, or `None` to choose a file to read. The system
            asks before replacing a file, but only if the typed name includes the extension.
    """
    from tkinter import filedialog

    types = [(_(kind.title), f"*{kind.ending}"), (_("All files"), "*")]
    how: dict[str, Any] = {"parent": root, "title": title, "filetypes": types}
    if name is None:
        chosen = filedialog.askopenfilename(**how)
    else:
        chosen = filedialog.asksaveasfilename(**how, initialfile=name + kind.ending)
    return Path(chosen) if chosen else None


# Custom rules

DEFAULT_NAME = "own"
VALUE_LABELS = {
    "merging": {N_("tiles merge once per move"): "once", N_("merged tiles merge again"): "cascade"},
    "scoring": {
        N_("each merged tile"): "merges",
        N_("1 per move, -1 for an illegal one"): "moves:1:-1",
        N_("the sum of all tiles"): "sum",
    },
}
"""Labels and values of the options in drop-down fields."""

END_VALUES = {True: "target", False: "stuck"}

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
"""Labels and suggested values of the form's text fields."""


def fields_of(rules: Rules) -> dict[str, str]:
    """Return the values of the form's fields for `rules`, in the syntax of custom rules."""
    changes = dict(part.split("=") for part in str(rules).partition(":")[2].split(","))
    rows, columns = changes.pop("size").split("x")
    return {"name": DEFAULT_NAME, "rows": rows, "columns": columns} | changes


def rules_of(fields: Mapping[str, str]) -> Rules:
    """Return the rules described by the form's fields.

    Raises:
        RulesError: If a field is invalid.
    """
    changes = {key: value.strip().lower() for key, value in fields.items() if key != "name"}
    changes["target"] = changes["target"] or "none"
    texts = ",".join(f"{key}={value}" for key, value in changes.items())
    return Rules.parse(f"{fields['name'].strip()}:{texts}")


def _value_labels(name: str) -> dict[str, str]:
    """Map the values of a field to their translated labels."""
    return {_(label): value for label, value in VALUE_LABELS.get(name, {}).items()}


class RulesDialog(Dialog):
    """A form for custom rules, which are validated after every change.

    Args:
        window: The main window.
        rules: Initial rules.
        take: Called with the accepted rules.

    Attributes:
        message: Label that shows a description of the rules or the error.
    """

    def __init__(self, window: MainWindow, rules: Rules, take: Callable[[Rules], object]) -> None:
        super().__init__(window, _("Custom rules"))
        self._take = take
        self.button, _cancel = self.add_buttons((_("Play"), self.accept), (_("Cancel"), self.close))
        self.message = self.add_text(below=True)
        values = fields_of(rules)
        self.fields: dict[str, ttk.Entry] = {}
        for name, (label, suggestions) in _FIELDS.items():
            labels = {value: label for label, value in _value_labels(name).items()}
            value = labels.get(values[name], values[name])
            offered = [*labels.values(), *suggestions]
            field = self.fields[name] = self.add_field(_(label), value, self.check, offered)
            field.configure(state="readonly" if labels else "normal")
        # No Tk variables are used. If the garbage collector freed a Tk variable in a worker thread,
        # that thread would block until Tk's thread responds.
        text = _("The target ends the game")
        self.ends = ttk.Checkbutton(self.body, text=text, command=self.check)
        is_on = values["end"] == END_VALUES[True]
        self.ends.state(["!alternate", "selected" if is_on else "!selected"])
        self.ends.pack(anchor="w")
        self.check()
        self.open(self.fields["name"])

    def rules(self) -> Rules:
        """Return the rules in the form.

        Raises:
            RulesError: If they are invalid.
        """
        texts = {name: field.get() for name, field in self.fields.items()}
        values = {name: _value_labels(name).get(text, text) for name, text in texts.items()}
        return rules_of(values | {"end": END_VALUES[self.ends.instate(["selected"])]})

    def check(self) -> bool:
        """Show a description of the rules or an error, and return whether the rules are valid."""
        fault = fault_of(self.rules)
        text = fault or describe_rules(self.rules())
        style = self.look.text("raised", "danger" if fault else "muted")
        self.message.configure(text=text, style=style)
        self.button.enable(is_on=not fault)
        return not fault

    def accept(self) -> None:
        """Start a game with the entered rules if they are valid."""
        if self.check():
            rules = self.rules()
            self.close_and(lambda: self._take(rules))


# Board editor

MAX_RANK = 60
LARGER_KEYS, SMALLER_KEYS = ("plus", "equal", "KP_Add", "space"), ("minus", "KP_Subtract")
CLEAR_KEYS = ("Delete", "BackSpace", "period")


class BoardEditor:
    """A board that the player edits with a cursor. This class does not use Tk.

    Attributes:
        board: The board.
        cursor: The selected cell.
    """

    def __init__(self, board: Board) -> None:
        self.board = self._uncropped = board
        self.cursor: Cell = (0, 0)

    def step(self, direction: Direction) -> None:
        """Move the cursor, wrapping around at the edges."""
        down, across = motion.STEPS[direction]
        rows, columns = self.board.shape
        self.cursor = (self.cursor[0] + down) % rows, (self.cursor[1] + across) % columns

    def change(self, ranks: int) -> None:
        """Change the rank of the tile at the cursor. Ranks below 1 empty the cell."""
        value = self.board[self.cursor]
        self.put(max(0, (value.bit_length() - 1 if value else 0) + ranks))

    def put(self, rank: int) -> None:
        """Place the tile 2**`rank` at the cursor. A rank of 0 clears the cell."""
        tile = 1 << min(rank, MAX_RANK) if rank else 0
        self.board = self._uncropped = self.board.with_tile(self.cursor, tile)

    def clear(self) -> None:
        """Remove all tiles."""
        self.board = self._uncropped = Board.empty(*self.board.shape)

    def resize(self, rows: int, columns: int) -> None:
        """Crop or extend the board at its right and bottom edges.

        If the board grows again before the next edit, cropped tiles are restored. Otherwise, typing
        the size ``10`` would lose tiles as soon as ``1`` is entered.

        Raises:
            BoardError: If the size is invalid.
        """
        if rows < 1 or columns < 1:
            raise BoardError("a board needs at least one row and one column")
        old, (height, width) = self._uncropped, self._uncropped.shape
        self.board = Board.from_rows(
            [old[r, c] if r < height and c < width else 0 for c in range(columns)]
            for r in range(rows)
        )
        self.cursor = min(self.cursor[0], rows - 1), min(self.cursor[1], columns - 1)

    @property
    def fault(self) -> str:
        """The reason why no game can start from this board, or "" if a game can start."""
        if not self.board.max_tile:
            return _("Put a tile on the board first.")
        return "" if self.board.can_move() else _("No move is possible on this board.")


class EditorDialog(Dialog):
    """The board editor.

    Args:
        window: The main window.
        board: The initial board.
        take: Called with the finished board.
    """

    def __init__(self, window: MainWindow, board: Board, take: Callable[[Board], object]) -> None:
        super().__init__(window, _("Set up a board"))
        self._take = take
        self.editor = BoardEditor(board)
        help_ = _("Click: larger. Right click: smaller. Keys: arrows, + and -, 1 to 9, Delete.")
        self.add_text(help_, "muted")
        self.add_buttons(
            (_("Play"), self.accept), (_("Clear"), self.clear), (_("Cancel"), self.close)
        )
        self.fault = self.add_text(colour="danger", below=True)
        self.sides = [
            self.add_field(_(name), str(side), self.resize, _SIDES)
            for name, side in zip((N_("Rows"), N_("Columns")), board.shape, strict=True)
        ]
        self.view = self.add_board(380)
        self._draw()
        view = self.view
        view.bind("<ButtonPress-1>", lambda event: self._click(event, 1))
        view.bind("<ButtonRelease-1>", lambda _: None)
        for button in ("<ButtonPress-2>", "<ButtonPress-3>"):
            view.bind(button, lambda event: self._click(event, -1))
        view.bind("<Configure>", lambda _: self._draw(), add=True)
        view.bind("<Key>", self._press)
        self.open(view)

    def _press(self, event: tk.Event[tk.Misc]) -> str | None:
        key, editor = event.keysym, self.editor
        if key in ("Up", "Down", "Left", "Right"):
            editor.step(Direction.parse(key))
        elif key in LARGER_KEYS + SMALLER_KEYS:
            editor.change(1 if key in LARGER_KEYS else -1)
        elif key.isdigit() or key in CLEAR_KEYS:
            editor.put(int(key) if key.isdigit() else 0)
        else:
            return None
        self._draw()
        return "break"

    def _click(self, event: tk.Event[tk.Misc], ranks: int) -> None:
        self.view.focus_set()
        cell = self.view.cells and self.view.cells.cell_at(event.x, event.y)
        if cell:
            self.editor.cursor = cell
            self.editor.change(ranks)
            self._draw()

    def clear(self) -> None:
        """Remove all tiles."""
        self.editor.clear()
        self._draw()

    def resize(self) -> None:
        """Resize the board to the entered size, or show why the size is invalid."""
        texts = [field.get().strip() for field in self.sides]
        if not all(map(str.isdecimal, texts)):
            self.fault.show(_("Rows and columns are whole numbers, such as 4."))
            return
        fault = fault_of(lambda: self.editor.resize(*(min(int(text), 64) for text in texts)))
        self.fault.show(fault) if fault else self._draw()

    def _draw(self) -> None:
        self.fault.show("")
        view = self.view
        view.put(self.editor.board)
        view.finish()
        view.delete("cursor")
        if view.cells:
            x, y = view.cells.middle(*self.editor.cursor)
            half = view.cells.cell / 2
            corners = x - half, y - half, x + half, y + half
            view.create_rectangle(*corners, outline=self.look.theme.accent, width=3, tags="cursor")

    def accept(self) -> None:
        """Start a game from the board, or show the reason why no game can start."""
        if fault := self.editor.fault:
            self.fault.show(fault)
        else:
            self.close_and(lambda: self._take(self.editor.board))
