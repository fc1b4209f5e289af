"""The desktop's dialogs: a question, a line of text, a list, a text to read, and files.

Our own do not wait: they are given what to do afterwards.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tkinter import ttk
from typing import TYPE_CHECKING

from py2048.direction import Direction
from py2048.ui.desktop.board_view import CanvasBoard, Marks
from py2048.ui.desktop.style import font, measured
from py2048.ui.desktop.window import MainWindow
from py2048.ui.shared.screen import Choice, FileKind, ListRequest

if TYPE_CHECKING:
    from py2048.ui.shared.review import DirectionRow


class Dialog(tk.Toplevel):
    """A window over the game. Escape closes it; the keyboard stays in it until then.

    Attributes:
        body: the frame for its content.
        on_close: called after the dialog has closed, however it was closed.

    Args:
        window: the main window.
        title: its title.
    """

    def __init__(self, window: MainWindow, title: str) -> None:
        super().__init__(window.root)
        self.withdraw()
        self.scale, self.theme, self._owner = window.scale, window.theme, window.root
        self.title(f"{title} - 2048")
        self.transient(self._owner)
        self.configure(background=self.theme.page)
        self.body = ttk.Frame(self, padding=round(12 * self.scale))
        self.body.pack(fill="both", expand=True)
        self.bind("<Escape>", lambda _: self.close())
        self.protocol("WM_DELETE_WINDOW", self.close)
        self.on_close: Callable[[], object] = lambda: None

    def open(self, focus: tk.Misc | None = None) -> None:
        """Show the dialog over the middle of the game."""
        self.tk.call("tk::PlaceWindow", self, "widget", self._owner)
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

    def add_title(self, text: str) -> None:
        """Put a large line at the top."""
        label = ttk.Label(self.body, text=text, style="Title.TLabel")
        label.pack(anchor="w", pady=(0, round(8 * self.scale)))

    def add_text(self, text: str = "", style: str = "TLabel", *, below: bool = False) -> ttk.Label:
        """Put a text under what is there, or above what is at the bottom."""
        label = ttk.Label(self.body, text=text, style=style, wraplength=round(400 * self.scale))
        label.pack(side="bottom" if below else "top", anchor="w")
        return label

    def add_lines(self, count: int) -> tk.Label:
        """Put words at the bottom, always as many lines, so that what is above them stays."""
        letters = font(self, 13 * self.scale)
        line = tk.Label(self.body, anchor="nw", justify="left", height=count, font=letters)
        line.configure(background=self.theme.page, foreground=self.theme.ink)
        line.pack(side="bottom", fill="x", pady=round(4 * self.scale))
        return line

    def wrap(self, *labels: tk.Label | ttk.Label) -> None:
        """Wrap labels at the width of the dialog."""
        width = max(100, self.body.winfo_width() - round(28 * self.scale))
        for label in labels:
            label.configure(wraplength=width)

    def add_board(
        self, side: int, push: Callable[[Direction], object] = lambda _: None
    ) -> CanvasBoard:
        """Put a board under what is there.

        Args:
            side: its size at first, in pixels of an ordinary screen.
            push: called with the direction in which the mouse drags or clicks.
        """
        view = CanvasBoard(self.body, self.theme, push)
        view.configure(width=round(side * self.scale), height=round(side * self.scale))
        view.pack(fill="both", expand=True, pady=round(6 * self.scale))
        return view

    def add_buttons(self, *buttons: tuple[str, Callable[[], object]]) -> list[ttk.Button]:
        """Put a row of buttons at the bottom, the first one for the Enter key."""
        row = ttk.Frame(self.body)
        row.pack(side="bottom", fill="x", pady=(round(10 * self.scale), 0))
        made = [ttk.Button(row, text=text, command=command) for text, command in buttons]
        for button in reversed(made):  # the order of Tab is that in which they were made
            button.pack(side="right", padx=(round(6 * self.scale), 0))
            button.bind("<Return>", _press)
        self.bind("<Return>", lambda _: buttons[0][1]())
        return made


def marks_of(rows: Sequence[DirectionRow]) -> Marks:
    """Return the marks for what the directions were worth."""
    labels: dict[Direction, str] = {}
    chosen: dict[str, Direction] = {}
    for row in rows:
        words = [("best", row.is_best), ("played", row.is_played)]
        marks = [word for word, holds in words if holds]
        labels[row.direction] = " ".join([*marks[:1], row.loss or row.value])
        chosen |= dict.fromkeys(marks, row.direction)
    return Marks(chosen["best"], labels, chosen["played"])


def _press(event: tk.Event[ttk.Button]) -> str:
    event.widget.invoke()
    return "break"


def ask(window: MainWindow, text: str, yes: str, no: str, action: Callable[[], object]) -> Dialog:
    """Ask a question; Enter and Y say yes, Escape and N say no."""
    dialog = Dialog(window, "Question")
    dialog.add_text(text)
    agree = partial(dialog.close_and, action)
    buttons = dialog.add_buttons((yes, agree), (no, dialog.close))
    for key, answer in (("y", agree), ("Y", agree), ("n", dialog.close), ("N", dialog.close)):
        dialog.bind(key, lambda _, answer=answer: answer())  # type: ignore[misc]
    dialog.open(buttons[0])
    return dialog


def prompt(
    window: MainWindow,
    title: str,
    text: str,
    value: str,
    take: Callable[[str], object],
    check: Callable[[str], str],
) -> Dialog:
    """Ask for a line of text; `check` returns what is wrong with it, `take` uses it."""
    dialog = Dialog(window, title)
    dialog.add_title(title)
    dialog.add_text(text)
    entry = ttk.Entry(dialog.body, width=34)
    entry.insert(0, value)
    entry.select_range(0, "end")
    entry.pack(fill="x", pady=round(6 * dialog.scale))
    line = dialog.add_text(style="Fault.TLabel")

    def accept() -> None:
        answer = entry.get().strip()
        fault = check(answer)
        if fault:
            line.configure(text=fault)
        else:
            dialog.close_and(lambda: take(answer))

    dialog.add_buttons(("OK", accept), ("Cancel", dialog.close))
    dialog.open(entry)
    return dialog


class ListDialog(Dialog):
    """A list to choose from, with a line for a text that is not in it."""

    def __init__(self, window: MainWindow, request: ListRequest) -> None:
        super().__init__(window, request.title)
        self.add_title(request.title)
        self.request = request
        more = [(text, partial(self.close_and, action)) for text, action in request.more]
        self.add_buttons(("Choose", self.accept), *more, ("Cancel", self.close))
        self.fault = self.add_text(style="Fault.TLabel", below=True)
        self.entry: ttk.Entry | None = self._add_entry(request.own) if request.own else None
        self.table = self._add_table(request.choices)
        values = [choice.value for choice in request.choices]
        if values:
            self._select(request.current if request.current in values else values[0])
        self.open(self.table)

    def _add_entry(self, own: str) -> ttk.Entry:
        entry = ttk.Entry(self.body)
        entry.pack(side="bottom", fill="x", pady=(2, round(6 * self.scale)))
        ttk.Label(self.body, text=own, style="Muted.TLabel").pack(side="bottom", anchor="w")
        return entry

    def _add_table(self, choices: Sequence[Choice]) -> ttk.Treeview:
        scale = self.scale
        table = ttk.Treeview(
            self.body,
            columns=("detail",),
            show="tree",
            selectmode="browse",
            height=min(max(len(choices), 3), 13),
        )
        letters = font(self, 13 * scale)
        widest = max((measured(self, choice.title, letters) for choice in choices), default=0)
        width = max(round(130 * scale), widest + round(40 * scale))  # beside the indentation
        table.column("#0", width=width, stretch=False)
        table.column("detail", width=round(530 * scale))
        for choice in choices:
            table.insert("", "end", iid=choice.value, text=choice.title, values=(choice.detail,))
        table.pack(fill="both", expand=True, pady=(0, round(6 * scale)))
        table.bind("<Double-1>", lambda _: self.accept())
        for key, step in (("j", 1), ("J", 1), ("k", -1), ("K", -1)):
            table.bind(key, lambda _, step=step: self._step(step))  # type: ignore[misc]
        return table

    def _step(self, step: int) -> None:
        lines = self.table.get_children()
        place = lines.index(self.table.focus()) + step
        self._select(lines[min(max(place, 0), len(lines) - 1)])

    def _select(self, line: str) -> None:
        self.table.selection_set(line)
        self.table.focus(line)
        self.table.see(line)

    def accept(self) -> None:
        """Take the text if there is one, else the line that is chosen."""
        own = self.entry.get().strip() if self.entry else ""
        chosen = own or "".join(self.table.selection()[:1])
        fault = self.request.check(chosen) if chosen else "Choose a line."
        if fault:
            self.fault.configure(text=fault)
        else:
            self.close_and(lambda: self.request.take(chosen))


_SCROLLING = (
    *((key, 1, "units") for key in ("<Down>", "j", "J")),
    *((key, -1, "units") for key in ("<Up>", "k", "K")),
    ("<Next>", 1, "pages"),
    ("<Prior>", -1, "pages"),
    ("<End>", 999, "pages"),
    ("<Home>", -999, "pages"),
)


def read(window: MainWindow, title: str, lines: Sequence[tuple[str, str]]) -> Dialog:
    """Show lines of two columns to read; they scroll where they must."""
    dialog = Dialog(window, title)
    dialog.add_title(title)
    buttons = dialog.add_buttons(("Close", dialog.close))
    scale, theme = window.scale, window.theme
    room = max(5, int((dialog.winfo_screenheight() - 200 * scale) / (20 * scale)))
    height = min(len(lines) + 4, room)  # there is some space between lines
    text = tk.Text(
        dialog.body,
        width=62,
        height=height,
        wrap="word",
        tabs=(round(96 * scale),),
        relief="flat",
        borderwidth=0,
        highlightthickness=0,
        background=theme.page,
        foreground=theme.ink,
        font=font(dialog, 13 * scale),
    )
    text.tag_configure("line", lmargin2=round(96 * scale), spacing1=2)
    text.tag_configure("key", font=font(dialog, 13 * scale, bold=True))
    for left, right in lines:
        text.insert("end", left, ("line", "key"), f"\t{right}\n", "line")
    text.configure(state="disabled")
    bar = ttk.Scrollbar(dialog.body, command=text.yview)
    text.configure(yscrollcommand=bar.set)
    bar.pack(side="right", fill="y")
    text.pack(fill="both", expand=True)
    for key, amount, unit in _SCROLLING:
        dialog.bind(key, lambda _, amount=amount, unit=unit: text.yview_scroll(amount, unit))  # type: ignore[misc]
    dialog.open(buttons[0])
    return dialog


# The system's dialogs

ANY = ("All files", "*")


def ask_to_open(root: tk.Tk, title: str, kind: FileKind) -> Path | None:
    """Return the file that the player chooses, `None` if the dialog is closed."""
    from tkinter import filedialog

    chosen = filedialog.askopenfilename(parent=root, title=title, filetypes=_types(kind))
    return Path(chosen) if chosen else None


def ask_to_save(root: tk.Tk, title: str, kind: FileKind, name: str) -> Path | None:
    """Return the file to write that the player chooses, `None` if the dialog is closed.

    It has asked before the file is replaced, by the name as it was typed.
    """
    from tkinter import filedialog

    chosen = filedialog.asksaveasfilename(
        parent=root, title=title, filetypes=_types(kind), initialfile=name + kind.ending
    )
    return Path(chosen) if chosen else None


def _types(kind: FileKind) -> list[tuple[str, str]]:
    return [(kind.title, f"*{kind.ending}"), ANY]
