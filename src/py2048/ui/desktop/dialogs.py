"""The desktop's dialogs: a question, a line of text, a list, a text to read, and files.

Our own do not wait: they are given what to do afterwards.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tkinter import ttk

from py2048.ui.desktop.style import font
from py2048.ui.shared.screen import Choice, FileKind, ListRequest, no_fault


class Dialog(tk.Toplevel):
    """A window over the game. Escape closes it; the keyboard stays in it until then.

    Attributes:
        body: the frame for its content.

    Args:
        root: the main window.
        title: its title.
        scale: how many pixels of this screen are one of an ordinary screen.
        modal: whether the game waits for it.
    """

    def __init__(self, root: tk.Tk, title: str, scale: float, *, modal: bool = True) -> None:
        super().__init__(root)
        self.withdraw()
        self.scale = scale
        self.title(f"{title} - 2048")
        self.transient(root)
        self.configure(background=str(root.cget("background")))
        self.body = ttk.Frame(self, padding=round(12 * scale))
        self.body.pack(fill="both", expand=True)
        self.bind("<Escape>", lambda _: self.close())
        self.protocol("WM_DELETE_WINDOW", self.close)
        self._owner = root
        self._is_modal = modal
        self._on_close: list[Callable[[], object]] = []

    def when_closed(self, action: Callable[[], object]) -> None:
        """Do something after the dialog has closed, however it was closed."""
        self._on_close.append(action)

    def open(self, focus: tk.Misc | None = None) -> None:
        """Show the dialog over the middle of the game."""
        self.update_idletasks()
        root, width, height = self._owner, self.winfo_reqwidth(), self.winfo_reqheight()
        x = root.winfo_rootx() + (root.winfo_width() - width) // 2
        y = root.winfo_rooty() + (root.winfo_height() - height) // 3
        x = max(0, min(x, root.winfo_screenwidth() - width))
        y = max(0, min(y, root.winfo_screenheight() - height))
        self.geometry(f"+{x}+{y}")
        self.deiconify()
        self.lift()
        (focus or self).focus_set()
        if self._is_modal:
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
            for action in self._on_close:
                action()

    def add_title(self, text: str) -> None:
        """Put a large line at the top."""
        label = ttk.Label(self.body, text=text, style="Title.TLabel")
        label.pack(anchor="w", pady=(0, round(8 * self.scale)))

    def add_buttons(self, *buttons: tuple[str, Callable[[], object]]) -> list[ttk.Button]:
        """Put a row of buttons at the bottom, the first one for the Enter key."""
        row = ttk.Frame(self.body)
        row.pack(side="bottom", fill="x", pady=(round(10 * self.scale), 0))
        made: list[ttk.Button] = []
        for text, command in reversed(buttons):
            button = ttk.Button(row, text=text, command=command)
            button.pack(side="right", padx=(round(6 * self.scale), 0))
            button.bind("<Return>", lambda _, command=command: _and_stop(command))  # type: ignore[misc]
            made.insert(0, button)
        for button in made:
            button.lift()  # the order of Tab is that of reading
        self.bind("<Return>", lambda _: buttons[0][1]())
        return made


def _and_stop(command: Callable[[], object]) -> str:
    command()
    return "break"


def ask(
    root: tk.Tk, scale: float, text: str, yes: str, no: str, action: Callable[[], object]
) -> Dialog:
    """Ask a question; Enter and Y say yes, Escape and N say no."""
    dialog = Dialog(root, "Question", scale)
    ttk.Label(dialog.body, text=text, wraplength=round(360 * scale)).pack(anchor="w")

    def agree() -> None:
        dialog.close()
        action()

    buttons = dialog.add_buttons((yes, agree), (no, dialog.close))
    for key in "yY":
        dialog.bind(key, lambda _: agree())
    for key in "nN":
        dialog.bind(key, lambda _: dialog.close())
    dialog.open(buttons[0])
    return dialog


def prompt(
    root: tk.Tk,
    scale: float,
    title: str,
    text: str,
    take: Callable[[str], object],
    *,
    value: str = "",
    check: Callable[[str], str] = no_fault,
) -> Dialog:
    """Ask for a line of text; `check` returns what is wrong with it, `take` uses it."""
    dialog = Dialog(root, title, scale)
    dialog.add_title(title)
    ttk.Label(dialog.body, text=text, wraplength=round(360 * scale)).pack(anchor="w")
    entry = ttk.Entry(dialog.body, width=34)
    entry.insert(0, value)
    entry.select_range(0, "end")
    entry.pack(fill="x", pady=round(6 * scale))
    line = ttk.Label(dialog.body, style="Fault.TLabel", wraplength=round(360 * scale))
    line.pack(anchor="w")

    def accept() -> None:
        answer = entry.get().strip()
        fault = check(answer)
        if fault:
            line.configure(text=fault)
        else:
            dialog.close()
            take(answer)

    dialog.add_buttons(("OK", accept), ("Cancel", dialog.close))
    dialog.open(entry)
    return dialog


class ListDialog(Dialog):
    """A list to choose from, with a line for a text that is not in it."""

    def __init__(self, root: tk.Tk, scale: float, request: ListRequest) -> None:
        super().__init__(root, request.title, scale)
        self.add_title(request.title)
        self._request = request
        self.fault = ttk.Label(self.body, style="Fault.TLabel", wraplength=round(440 * scale))
        buttons: list[tuple[str, Callable[[], object]]] = [("Choose", self.accept)]
        buttons += [(text, partial(self._instead, action)) for text, action in request.more]
        self.add_buttons(*buttons, ("Cancel", self.close))
        self.fault.pack(side="bottom", anchor="w")
        self.entry: ttk.Entry | None = self._add_entry(request.own) if request.own else None
        self.table = self._add_table(request.choices)
        values = [choice.value for choice in request.choices]
        if values:
            chosen = request.current if request.current in values else values[0]
            self.table.selection_set(chosen)
            self.table.focus(chosen)
            self.table.see(chosen)
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
        table.column("#0", width=round(130 * scale), stretch=False)
        table.column("detail", width=round(530 * scale))
        for choice in choices:
            table.insert("", "end", iid=choice.value, text=choice.title, values=(choice.detail,))
        table.pack(fill="both", expand=True, pady=(0, round(6 * scale)))
        table.bind("<Double-1>", lambda _: self.accept())
        for key, step in (("j", 1), ("k", -1)):
            table.bind(key, lambda _, step=step: self._step(step))  # type: ignore[misc]
        return table

    def _step(self, step: int) -> None:
        lines = self.table.get_children()
        place = lines.index(self.table.focus()) + step
        line = lines[min(max(place, 0), len(lines) - 1)]
        self.table.selection_set(line)
        self.table.focus(line)
        self.table.see(line)

    def _instead(self, action: Callable[[], object]) -> None:
        self.close()
        action()

    def accept(self) -> None:
        """Take the text if there is one, else the line that is chosen."""
        own = self.entry.get().strip() if self.entry else ""
        chosen = own or "".join(self.table.selection()[:1])
        fault = self._request.check(chosen) if chosen else "Choose a line."
        if fault:
            self.fault.configure(text=fault)
        else:
            self.close()
            self._request.take(chosen)


_SCROLLING = (
    *((key, 1, "units") for key in ("<Down>", "j")),
    *((key, -1, "units") for key in ("<Up>", "k")),
    ("<Next>", 1, "pages"),
    ("<Prior>", -1, "pages"),
    ("<End>", 999, "pages"),
    ("<Home>", -999, "pages"),
)


def _lines_on(root: tk.Tk, scale: float) -> int:
    """Return how many lines of text a dialog can have on this screen."""
    return max(5, int((root.winfo_screenheight() - 200 * scale) / (20 * scale)))


def read(root: tk.Tk, scale: float, title: str, lines: Sequence[tuple[str, str]]) -> Dialog:
    """Show lines of two columns to read; they scroll where they must."""
    dialog = Dialog(root, title, scale)
    dialog.add_title(title)
    buttons = dialog.add_buttons(("Close", dialog.close))
    background, foreground = (
        str(root.cget("background")),
        str(ttk.Style(root).lookup(".", "foreground")),
    )
    text = tk.Text(
        dialog.body,
        width=62,
        height=min(len(lines) + 4, _lines_on(root, scale)),  # there is some space between lines
        wrap="word",
        relief="flat",
        borderwidth=0,
        highlightthickness=0,
        background=background,
        foreground=foreground,
        font=font(root, 13 * scale),
        tabs=(round(96 * scale),),
    )
    text.tag_configure("line", lmargin2=round(96 * scale), spacing1=2)
    text.tag_configure("key", font=font(root, 13 * scale, bold=True))
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
    """Return the file to write that the player chooses, `None` if the dialog is closed."""
    from tkinter import filedialog

    chosen = filedialog.asksaveasfilename(
        parent=root,
        title=title,
        filetypes=_types(kind),
        initialfile=name + kind.ending,
    )
    if not chosen:
        return None
    path = Path(chosen)
    return path if path.suffix else path.with_name(path.name + kind.ending)


def _types(kind: FileKind) -> list[tuple[str, str]]:
    return [(kind.title, f"*{kind.ending}"), ANY]
