"""What widgets of the stand-in for Tk say about themselves, and how they are placed."""

from __future__ import annotations

from . import faketk_options as opts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Info:
    """The `winfo_` methods. Sizes are the requested ones; everything else is at the corner."""

    _w: str
    kind: str
    is_window: bool
    gone: bool
    manager: str
    master: Any
    children: dict[str, Any]
    options: dict[str, Any]
    place_options: dict[str, Any]

    def winfo_children(self) -> list[Any]:
        """The widgets in this one, oldest first."""
        return list(self.children.values())

    def winfo_toplevel(self) -> Any:
        """The window that this widget is in."""
        widget: Any = self
        while widget.master is not None and not widget.is_window:
            widget = widget.master
        return widget

    def winfo_class(self) -> str:
        """The class of the widget, as Tk calls it: a program's own class counts as its parent."""
        ours = next(c for c in type(self).__mro__ if c.__module__.startswith(__package__ or "?"))
        return self.kind or ours.__name__

    def winfo_exists(self) -> int:
        """1 unless it has been destroyed."""
        return int(not self.gone)

    def winfo_manager(self) -> str:
        """Which geometry manager shows the widget."""
        return self.manager

    def winfo_ismapped(self) -> int:
        """1 if the widget and all around it are shown."""
        shown = not self.gone and bool(self.manager)
        return int(shown and self.master is not None and bool(self.master.winfo_ismapped()))

    winfo_viewable = winfo_ismapped

    def winfo_name(self) -> str:
        """The last part of the path name."""
        return self._w.rpartition(".")[2]

    def winfo_parent(self) -> str:
        """The path name of the widget around."""
        return str(self.master or "")

    def winfo_id(self) -> int:
        """A number."""
        return id(self)

    def winfo_width(self) -> int:
        """The requested width in pixels, or that of the widgets inside."""
        return self._extent("width")

    def winfo_height(self) -> int:
        """The requested height in pixels, or that of the widgets inside."""
        return self._extent("height")

    winfo_reqwidth, winfo_reqheight = winfo_width, winfo_height

    def _extent(self, side: str) -> int:
        own = opts.pixels(self.options.get(side, 0))
        if own and self.winfo_class() in {"Label", "Button", "Entry", "Text", "Listbox"}:
            return own * (8 if side == "width" else 18)
        inner = [child._extent(side) for child in self.children.values()]
        return own or max(inner, default=0) or (60 if side == "width" else 24)

    def winfo_x(self) -> int:
        """0, or what `place` was told."""
        return opts.pixels(self.place_options.get("x", 0))

    def winfo_y(self) -> int:
        """0, or what `place` was told."""
        return opts.pixels(self.place_options.get("y", 0))

    winfo_rootx = winfo_vrootx = winfo_x
    winfo_rooty = winfo_vrooty = winfo_y

    def winfo_pointerx(self) -> int:
        """The pointer is in the corner."""
        return 0

    winfo_pointery = winfo_pointerx

    def winfo_screenwidth(self) -> int:
        """1920 pixels."""
        return 1920

    def winfo_screenheight(self) -> int:
        """1080 pixels."""
        return 1080

    def winfo_rgb(self, color: str) -> tuple[int, int, int]:
        """The parts of a colour written with #."""
        digits = str(color).lstrip("#").ljust(6, "0")[:6]
        red, green, blue = (int(digits[i : i + 2], 16) * 257 for i in (0, 2, 4))
        return red, green, blue

    def winfo_geometry(self) -> str:
        """Size and place as Tk writes it."""
        return f"{self.winfo_width()}x{self.winfo_height()}+{self.winfo_x()}+{self.winfo_y()}"
