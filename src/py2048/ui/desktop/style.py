"""A theme for Tk's widgets: colours, fonts, and a visible focus."""

from __future__ import annotations

import tkinter as tk
from tkinter import ttk
from typing import Any

from py2048.ui.shared.themes import Theme, mixed

_families: dict[str, str] = {}
"""The system's family by interpreter: asking for it takes most of a millisecond."""


def font(root: tk.Misc, pixels: float, *, bold: bool = False) -> tuple[str, int, str]:
    """Return a font of this height in pixels, of the system's family."""
    name = str(root.tk)
    if name not in _families:
        _families[name] = str(root.tk.call("font", "actual", "TkDefaultFont", "-family"))
    return _families[name], -max(7, round(pixels)), "bold" if bold else "normal"


def write(
    canvas: tk.Canvas,
    place: tuple[float, float],
    text: str,
    colour: str,
    pixels: float,
    *,
    bold: bool = False,
    **options: Any,
) -> None:
    """Write on a canvas; `options` are further ones of its text items."""
    letters = font(canvas, pixels, bold=bold)
    canvas.create_text(*place, text=text, fill=colour, font=letters, **options)


def measured(root: tk.Misc, text: str, font: tuple[str, int, str]) -> int:
    """Return how many pixels wide `text` is."""
    return int(root.tk.call("font", "measure", font, text))


def cut(root: tk.Misc, text: str, font: tuple[str, int, str], room: float) -> str:
    """Return `text`, or as much of it as has room in `room` pixels, with an ellipsis."""
    short = text
    while text and measured(root, short, font) > room:
        text = text[:-1]
        short = f"{text.rstrip()}…" if text else ""
    return short


def apply(root: tk.Tk, theme: Theme, scale: float) -> None:
    """Give all widgets the colours of `theme` and fonts for a screen of this scale."""
    style = ttk.Style(root)
    if style.theme_use() != "clam":
        style.theme_use("clam")
    text, bold = font(root, 13 * scale), font(root, 13 * scale, bold=True)
    root.configure(background=theme.page)
    style.configure(
        ".",
        background=theme.page,
        foreground=theme.ink,
        fieldbackground=theme.panel,
        troughcolor=theme.panel,
        bordercolor=mixed(theme.panel, theme.ink, 0.2),
        lightcolor=theme.panel,
        darkcolor=theme.panel,
        selectbackground=theme.accent,
        selectforeground=theme.page,
        insertcolor=theme.ink,
        arrowcolor=theme.ink,
        focuscolor=theme.accent,
        font=text,
    )
    style.map(".", foreground=[("disabled", theme.muted)])
    # What can be pressed or filled in; the focus shows as a frame in the accent's colour.
    raised, pressed = mixed(theme.panel, theme.ink, 0.08), mixed(theme.panel, theme.ink, 0.2)
    frame = [("focus", theme.accent)]
    for widget in ("TButton", "TCombobox", "TEntry"):
        style.configure(widget, background=raised)
        style.map(
            widget,
            background=[("disabled", theme.page), ("pressed", pressed), ("active", pressed)],
            fieldbackground=[("readonly", theme.panel), ("disabled", theme.page)],
            selectbackground=[("!focus", theme.panel)],
            selectforeground=[("!focus", theme.ink)],
            bordercolor=frame,
            lightcolor=frame,
            darkcolor=frame,
        )
    wide, narrow = round(5 * scale), round(3 * scale)
    style.configure("TButton", padding=(wide, narrow), anchor="center", width=0)
    style.configure("Tool.TButton", padding=(narrow, narrow))
    style.configure("TScale", background=raised)
    style.map("TScale", background=[("focus", theme.accent), ("active", pressed)])
    style.configure("TProgressbar", background=theme.accent)
    style.map(
        "TCheckbutton",
        background=[("active", theme.page)],
        indicatorbackground=[("selected", theme.accent), ("!selected", theme.panel)],
        indicatorforeground=[("selected", theme.page)],
    )
    # What is read.
    style.configure("Muted.TLabel", foreground=theme.muted)
    style.configure("Fault.TLabel", foreground=theme.accent)
    style.configure("Title.TLabel", font=font(root, 17 * scale, bold=True))
    style.configure("Warning.TFrame", background=theme.panel)
    style.configure("Warning.TLabel", background=theme.panel, foreground=theme.accent, font=bold)
    style.configure("Treeview", background=theme.panel, rowheight=round(24 * scale))
    chosen, on_it = [("selected", theme.accent)], [("selected", theme.page)]
    style.map("Treeview", background=chosen, foreground=on_it)
    # The lists that drop down are widgets of the old kind.
    for option, value in (
        ("background", theme.panel),
        ("foreground", theme.ink),
        ("selectBackground", theme.accent),
        ("selectForeground", theme.page),
        ("font", text),
    ):
        root.option_add(f"*TCombobox*Listbox.{option}", value)


def colour_menu(menu: tk.Menu, theme: Theme, scale: float) -> None:
    """Give a menu the theme's colours."""
    menu.configure(
        background=theme.panel,
        foreground=theme.ink,
        activebackground=theme.accent,
        activeforeground=theme.page,
        selectcolor=theme.accent,
        disabledforeground=theme.muted,
        font=font(menu, 13 * scale),
        borderwidth=1,
        relief="flat",
        activeborderwidth=0,
    )
