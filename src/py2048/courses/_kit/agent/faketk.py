"""Putting the stand-in for Tk in place of tkinter and its modules, under all their names."""

from __future__ import annotations

import sys
from types import ModuleType

from . import faketk_canvas, faketk_display, faketk_values, faketk_widgets, faketk_windows
from .faketk_core import Misc
from .faketk_display import TclError, display
from .faketk_events import Event
from .faketk_ttk import TTK, Style

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .clock import Clock

CONSTANTS: dict[str, Any] = {
    "NO": 0, "FALSE": 0, "OFF": 0, "YES": 1, "TRUE": 1, "ON": 1,
    "N": "n", "S": "s", "W": "w", "E": "e", "NW": "nw", "SW": "sw", "NE": "ne", "SE": "se",
    "NS": "ns", "EW": "ew", "NSEW": "nsew", "CENTER": "center", "NONE": "none", "X": "x",
    "Y": "y", "BOTH": "both", "LEFT": "left", "TOP": "top", "RIGHT": "right", "BOTTOM": "bottom",
    "RAISED": "raised", "SUNKEN": "sunken", "FLAT": "flat", "RIDGE": "ridge", "GROOVE": "groove",
    "SOLID": "solid", "HORIZONTAL": "horizontal", "VERTICAL": "vertical", "NUMERIC": "numeric",
    "CHAR": "char", "WORD": "word", "BASELINE": "baseline", "INSIDE": "inside",
    "OUTSIDE": "outside", "SEL": "sel", "SEL_FIRST": "sel.first", "SEL_LAST": "sel.last",
    "END": "end", "INSERT": "insert", "CURRENT": "current", "ANCHOR": "anchor", "ALL": "all",
    "NORMAL": "normal", "DISABLED": "disabled", "ACTIVE": "active", "HIDDEN": "hidden",
    "CASCADE": "cascade", "CHECKBUTTON": "checkbutton", "COMMAND": "command",
    "RADIOBUTTON": "radiobutton", "SEPARATOR": "separator", "SINGLE": "single",
    "BROWSE": "browse", "MULTIPLE": "multiple", "EXTENDED": "extended", "DOTBOX": "dotbox",
    "UNDERLINE": "underline", "PIESLICE": "pieslice", "CHORD": "chord", "ARC": "arc",
    "FIRST": "first", "LAST": "last", "BUTT": "butt", "PROJECTING": "projecting",
    "ROUND": "round", "BEVEL": "bevel", "MITER": "miter", "MOVETO": "moveto",
    "SCROLL": "scroll", "UNITS": "units", "PAGES": "pages",
}  # fmt: skip
WIDGETS = (
    "Frame LabelFrame Label Message Button Checkbutton Radiobutton Entry Spinbox Scale Listbox "
    "Scrollbar PanedWindow Text Menu Menubutton OptionMenu"
)


def _module(name: str, contents: dict[str, Any]) -> ModuleType:
    """Make a module and enter it under `name`."""
    module = ModuleType(name, "A recording stand-in; see py2048's grading kit.")
    vars(module).update(contents)
    sys.modules[name] = module
    return module


def _mainloop(n: int = 0) -> None:
    """`tkinter.mainloop`."""
    if display.default is None:
        raise RuntimeError("Too early to run the main loop: no default root window")
    display.default.mainloop(n)


def _no_default_root() -> None:
    """`tkinter.NoDefaultRoot`."""
    display.default_allowed = False
    display.default = None


def names() -> dict[str, Any]:
    """What ``import tkinter`` offers."""
    widgets = {name: getattr(faketk_widgets, name) for name in WIDGETS.split()}
    values = ("Variable", "StringVar", "IntVar", "DoubleVar", "BooleanVar", "Image", "PhotoImage")
    return {
        **CONSTANTS,
        **widgets,
        **{name: getattr(faketk_values, name) for name in values},
        "BitmapImage": faketk_values.Image,
        "Canvas": faketk_canvas.Canvas,
        "Tk": faketk_windows.Tk,
        "Toplevel": faketk_windows.Toplevel,
        "Wm": faketk_windows.Wm,
        "Widget": faketk_windows.Widget,
        "BaseWidget": faketk_windows.Widget,
        "Misc": Misc,
        "Event": Event,
        "TclError": TclError,
        "TkVersion": 8.6,
        "TclVersion": 8.6,
        "mainloop": _mainloop,
        "NoDefaultRoot": _no_default_root,
        "getint": int,
        "getdouble": float,
        "image_names": tuple,
    }


def install(clock: Clock) -> faketk_display.Display:
    """Put the stand-in in place of tkinter; return what it records."""
    display.clock = clock
    clock.due = display.run_due
    tkinter = _module("tkinter", names())
    tkinter.__path__ = []
    tkinter.__dict__["__all__"] = [name for name in vars(tkinter) if not name.startswith("_")]
    boxes = {name: faketk_values.dialog(name, v) for name, v in faketk_values.MESSAGEBOX.items()}
    asks = {name: faketk_values.dialog(name, v) for name, v in faketk_values.SIMPLEDIALOG.items()}
    files = {name: faketk_values.dialog(name, v) for name, v in faketk_values.FILEDIALOG.items()}
    colour = faketk_values.dialog("askcolor", ((0, 0, 0), "#000000"))
    fonts = {"Font": faketk_values.Font, "nametofont": faketk_values.nametofont,
             "families": faketk_values.families, "NORMAL": "normal", "ROMAN": "roman",
             "BOLD": "bold", "ITALIC": "italic"}  # fmt: skip
    parts = {
        "constants": CONSTANTS,
        "messagebox": {**boxes, "OK": "ok", "YES": "yes", "NO": "no", "CANCEL": "cancel"},
        "simpledialog": asks,
        "filedialog": files,
        "colorchooser": {"askcolor": colour},
        "font": fonts,
        "ttk": {**TTK, "Style": Style},
        "scrolledtext": {**names(), "ScrolledText": faketk_widgets.Text},
    }
    for name, contents in parts.items():
        setattr(tkinter, name, _module(f"tkinter.{name}", contents))
    old = {"Tkinter": "", "tkMessageBox": "messagebox", "tkSimpleDialog": "simpledialog",
           "tkFont": "font", "ttk": "ttk", "Tkconstants": "constants"}  # fmt: skip
    for name, part in old.items():
        sys.modules[name] = sys.modules[f"tkinter.{part}".rstrip(".")]
    _module("PIL.ImageTk", {"PhotoImage": faketk_values.PillowPhoto,
                            "BitmapImage": faketk_values.PillowPhoto})  # fmt: skip
    return display
