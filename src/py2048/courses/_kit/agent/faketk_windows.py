"""The windows of the stand-in for Tk, and what all widgets in them can do."""

from __future__ import annotations

from .faketk_core import Misc
from .faketk_display import TclError, display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Wm:
    """What windows can do with the window manager."""

    is_window = True

    def _window(self) -> None:
        self.settings: dict[str, Any] = {"title": "tk", "state": "normal", "geometry": ""}
        self.protocols: dict[str, Any] = {}

    def _setting(self, name: str, *values: Any) -> Any:
        if not values or values[0] is None:
            return self.settings.get(name, "")
        self.settings[name] = values[0] if len(values) == 1 else values
        display.changes += 1
        return ""

    def title(self, string: Any = None) -> Any:
        """The title."""
        return self._setting("title", None if string is None else str(string))

    def geometry(self, newGeometry: Any = None) -> Any:
        """The size and place, as ``600x665+0+0``."""
        return self._setting("geometry", newGeometry)

    def resizable(self, width: Any = None, height: Any = None) -> Any:
        """Whether the size can be changed."""
        given = () if width is None and height is None else (width, height)
        return self._setting("resizable", *given)

    def minsize(self, *size: Any) -> Any:
        """The smallest size."""
        return self._setting("minsize", *size)

    def maxsize(self, *size: Any) -> Any:
        """The largest size."""
        return self._setting("maxsize", *size)

    def attributes(self, *words: Any, **options: Any) -> Any:
        """Attributes of the window."""
        return self._setting("attributes", *words)

    def iconphoto(self, *words: Any) -> None:
        """The icon is not kept."""

    iconbitmap = iconname = iconmask = overrideredirect = transient = aspect = group = iconphoto
    positionfrom = sizefrom = client = command = focusmodel = iconphoto

    def protocol(self, name: Any = None, func: Any = None) -> Any:
        """What is called when the person closes the window."""
        if func is not None:
            self.protocols[name] = func
        return ""

    def state(self, newstate: Any = None) -> Any:
        """``normal``, ``withdrawn`` or ``iconic``."""
        return self._setting("state", newstate)

    def withdraw(self) -> None:
        """Hide."""
        self._setting("state", "withdrawn")

    def deiconify(self) -> None:
        """Show."""
        self._setting("state", "normal")

    def iconify(self) -> None:
        """Make small."""
        self._setting("state", "iconic")

    def winfo_ismapped(self) -> int:
        """1 while the window is shown."""
        return int(not self.gone and self.settings["state"] == "normal")  # type: ignore[attr-defined]

    winfo_viewable = winfo_ismapped

    def _extent(self, side: str) -> int:
        size = str(self.settings["geometry"]).partition("+")[0].partition("x")
        written = size[0] if side == "width" else size[2]
        return int(written) if written.isdigit() else super()._extent(side)  # type: ignore[misc]

    wm_title, wm_geometry, wm_resizable = title, geometry, resizable
    wm_minsize, wm_maxsize, wm_attributes, wm_protocol = minsize, maxsize, attributes, protocol
    wm_state, wm_withdraw, wm_deiconify, wm_iconify = state, withdraw, deiconify, iconify
    wm_iconphoto = wm_iconbitmap = wm_overrideredirect = wm_transient = iconphoto


class Tk(Wm, Misc):
    """A main window."""

    kind = "Tk"

    def __init__(self, screenName: Any = None, *words: Any, **options: Any) -> None:
        self._window()
        self._setup(None, {})
        self._w = "." if not display.roots else f".root{len(display.roots)}"
        display.roots.append(self)
        if display.default is None and display.default_allowed:
            display.default = self
        display.changes += 1

    def destroy(self) -> None:
        """Close the window and everything in it."""
        self._alive()
        super().destroy()
        if self in display.roots:
            display.roots.remove(self)
        if display.default is self:
            display.default = None
        if not display.roots:
            display.timers.clear()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "tk" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.tk, name)


def master_of(master: Any) -> Misc:
    """The given master, or the default window, made if there is none."""
    if master is not None:
        if not isinstance(master, Misc):
            raise AttributeError(f"{type(master).__name__!r} object has no attribute 'tk'")
        if master.gone:
            raise TclError("can't invoke command: application has been destroyed")
        return master
    if not display.default_allowed:
        raise RuntimeError("No master specified and tkinter is configured to not support default")
    return display.default or Tk()


class Widget(Misc):
    """A widget inside a window."""

    def __init__(self, master: Any = None, cnf: Any = None, **options: Any) -> None:
        if isinstance(master, dict):
            master, cnf = None, master
        self._setup(master_of(master), {**(cnf or {}), **options})
        display.changes += 1

    def _manage(self, manager: str, cnf: Any, options: dict[str, Any]) -> None:
        self._alive()
        merged = {**(cnf or {}), **options}
        for other in ("in_", "in", "before", "after"):
            merged.pop(other, None)
        self.manager = manager
        self.place_options = {**(self.place_options if manager else {}), **merged}
        display.changes += 1

    def pack(self, cnf: Any = None, **options: Any) -> None:
        """Show the widget."""
        self._manage("pack", cnf, options)

    def place(self, cnf: Any = None, **options: Any) -> None:
        """Show the widget at a place."""
        self._manage("place", cnf, options)

    def grid(self, cnf: Any = None, **options: Any) -> None:
        """Show the widget in a cell."""
        row = 1 + max((r for r, _ in self._cells()), default=-1)
        self._manage("grid", {"row": row, "column": 0, **(cnf or {})}, options)

    def _cells(self) -> list[tuple[int, int]]:
        around = self.master.children.values() if self.master else ()
        shown = [w.place_options for w in around if w.manager == "grid" and w is not self]
        return [(int(o.get("row", 0)), int(o.get("column", 0))) for o in shown]

    def pack_forget(self) -> None:
        """Hide the widget."""
        self._manage("", None, {})

    forget = grid_forget = place_forget = grid_remove = pack_forget
    pack_configure, grid_configure, place_configure = pack, grid, place

    def pack_info(self) -> dict[str, Any]:
        """How the widget is shown."""
        return {"in": self.master, **self.place_options}

    grid_info = place_info = info = pack_info


def _container_methods() -> dict[str, Any]:
    """Methods that every window and widget has for what is inside it."""

    def ignore(self: Misc, *words: Any, **options: Any) -> None:
        """Layout is not computed."""

    def slaves(self: Misc, row: Any = None, column: Any = None) -> list[Misc]:
        """The widgets shown inside, those of a cell if one is given."""
        shown = [w for w in self.winfo_children() if w.manager not in {"", "wm"}]
        for name, value in (("row", row), ("column", column)):
            if value is not None:
                shown = [w for w in shown if w.place_options.get(name) == value]
        return shown[::-1]

    def size(self: Misc) -> tuple[int, int]:
        """Columns and rows in use."""
        inside = [w.place_options for w in self.winfo_children() if w.manager == "grid"]
        columns = [int(o.get("column", 0)) + int(o.get("columnspan", 1)) for o in inside]
        rows = [int(o.get("row", 0)) + int(o.get("rowspan", 1)) for o in inside]
        return max(columns, default=0), max(rows, default=0)

    ignored = (
        "propagate pack_propagate grid_propagate grid_rowconfigure grid_columnconfigure "
        "rowconfigure columnconfigure grid_anchor grid_bbox"
    )
    found: dict[str, Any] = dict.fromkeys(ignored.split(), ignore)
    return found | {"grid_slaves": slaves, "pack_slaves": slaves, "slaves": slaves,
                    "place_slaves": slaves, "grid_size": size}  # fmt: skip


for _name, _method in _container_methods().items():
    setattr(Misc, _name, _method)


class Toplevel(Wm, Widget):
    """A further window."""

    kind = "Toplevel"

    def __init__(self, master: Any = None, cnf: Any = None, **options: Any) -> None:
        self._window()
        Widget.__init__(self, master, cnf, **options)
        self.manager = "wm"
