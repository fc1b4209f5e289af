"""Asking for a file with the system's dialogs."""

from __future__ import annotations

import tkinter as tk
from pathlib import Path
from typing import NamedTuple


class FileKind(NamedTuple):
    """A kind of file: how people call it, and how its name ends."""

    title: str
    ending: str


RECORDS = FileKind("Records of games", ".2048.json")
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
