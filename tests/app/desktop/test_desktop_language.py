"""The desktop game is fully translated."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Iterator
from tkinter import ttk

import pytest
from tests import pseudo
from tests.app.terminal.playing import LAST_MOVE

from py2048.app.desktop.style import text_width
from py2048.core.language import use_language
from py2048.presentation.actions import ACTIONS

pytestmark = pytest.mark.gui

FOR_FILES = "open", "save", "picture", "animated_gif"
"""Actions that open a system file dialog."""

MENU_LINES = "command", "cascade", "radiobutton", "checkbutton"


def texts_of(widget: tk.Misc) -> Iterator[str]:
    """Yield all texts of a widget and its children."""
    match widget:
        case tk.Toplevel() | tk.Tk():
            yield widget.title()
        case tk.Canvas():
            texts = [each for each in widget.find_all() if widget.type(each) == "text"]
            yield from (widget.itemcget(each, "text") for each in texts)
        case tk.Menu() if (last := widget.index("end")) is not None:
            lines = [each for each in range(last + 1) if widget.type(each) in MENU_LINES]
            yield from (widget.entrycget(each, "label") for each in lines)
        case ttk.Treeview():
            for line in widget.get_children():
                yield from (widget.item(line, "text"), *map(str, widget.item(line, "values")))
        case ttk.Combobox():
            yield from map(str, widget.cget("values"))
        case _ if "text" in widget.keys():  # noqa: SIM118 - of Tk
            yield str(widget.cget("text"))
    for child in widget.winfo_children():
        yield from texts_of(child)


def test_no_description_of_rules_is_cut_off(open_desk):
    """The longest description of rules, in Portuguese, is not cut off."""
    with use_language("pt"):
        desk = open_desk()
        desk.app.controller.do("rules")
        table = desk.dialog.table
        for line in table.get_children():
            (text,) = table.item(line, "values")
            assert text_width(table, text, "small") < table.column("detail", "width")


def test_every_text_of_the_window_is_translated(open_desk, tmp_path, monkeypatch):
    """Board, menus, hints, coach, dialogs and results contain no untranslated text."""
    with pseudo.spoken(tmp_path, monkeypatch):
        desk = open_desk()
        left: list[tuple[str, str]] = []

        def look(where: str) -> None:
            desk.root.update()
            left.extend((where, each) for each in texts_of(desk.root) if pseudo.left_out(each))

        look("start")
        desk.play(3)
        for action in ACTIONS:
            if action.name in (*FOR_FILES, "practice", "quit", "autoplay", "full_screen"):
                continue
            desk.app.controller.do(action.name)
            desk.pump(0.05)
            look(action.name)
            if desk.dialog is not None:
                desk.dialog.close()
        desk.put(LAST_MOVE)
        desk.play(1)
        assert desk.session.game.is_over
        look("over")
    assert not left, "\n".join(map(str, sorted(set(left))))
