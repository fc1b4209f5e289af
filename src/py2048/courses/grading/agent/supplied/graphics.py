"""Simple graphics with the names of John Zelle's ``graphics.py``, which CITS1401 allows.

Written anew for py2048 after the public reference of that library (*Graphics Module Reference*,
version 5), so that programs made for it run here; the library itself is under the GPL. A
submission that brings its own ``graphics.py`` gets that one.
"""

from __future__ import annotations

import copy
import os
import sys  # noqa: F401 - programs that say ``from graphics import *`` count on it
import time
import tkinter as tk
from collections.abc import Callable
from typing import Any, Self

FONT = ("helvetica", 12, "normal")
FACES = ("helvetica", "arial", "courier", "times roman")
STYLES = ("bold", "normal", "italic", "bold italic")
CLOSED = "Can't draw to closed window"

Places = list[tuple[float, float]]  # in pixels

_root = tk.Tk()
_root.withdraw()
_last_update = time.time()


class GraphicsError(Exception):
    """What is raised when the module is misused."""


def update(rate: float | None = None) -> None:
    """Show everything that was drawn; with `rate`, at most so many times a second."""
    global _last_update
    if rate:
        time.sleep(max(0.0, _last_update + 1 / rate - time.time()))
        _last_update = time.time()
    _root.update()


def color_rgb(r: int, g: int, b: int) -> str:
    """The name of a colour of red, green and blue, each 0 to 255."""
    return f"#{r:02x}{g:02x}{b:02x}"


class Transform:
    """From the coordinates of a program to pixels and back."""

    def __init__(
        self, width: int, height: int, left: float, low: float, right: float, high: float
    ) -> None:
        self.left, self.high = left, high
        self.xscale = (right - left) / (width - 1)
        self.yscale = (high - low) / (height - 1)

    def screen(self, x: float, y: float) -> tuple[float, float]:
        """The pixel of a point."""
        across, down = (x - self.left) / self.xscale, (self.high - y) / self.yscale
        return int(across + 0.5), int(down + 0.5)

    def world(self, across: float, down: float) -> tuple[float, float]:
        """The point of a pixel."""
        return across * self.xscale + self.left, self.high - down * self.yscale


class GraphWin(tk.Canvas):
    """A window to draw in."""

    def __init__(
        self,
        title: str = "Graphics Window",
        width: int = 200,
        height: int = 200,
        autoflush: bool = True,
    ) -> None:
        if not isinstance(title, str):
            raise GraphicsError("the title of a window is a text")
        window = tk.Toplevel(_root)
        window.protocol("WM_DELETE_WINDOW", self.close)
        super().__init__(window, width=width, height=height, highlightthickness=0, bd=0)
        window.title(title)
        window.resizable(False, False)
        self.pack()
        self.master: tk.Toplevel = window
        self.foreground = "black"
        self.items: list[GraphicsObject] = []
        self.width, self.height = width, height
        self.autoflush = autoflush
        self.trans: Transform | None = None
        self.closed = False
        self._key = ""
        self._click: tuple[int, int] | None = None
        self._mouseCallback: Callable[[Point], object] | None = None
        self.bind("<Button-1>", self._clicked)
        self.bind_all("<Key>", self._pressed)
        self.focus_set()
        window.lift()
        if autoflush:
            _root.update()

    def __repr__(self) -> str:
        return "<Closed GraphWin>" if self.isClosed() else f"GraphWin('{self.master.title()}')"

    def _clicked(self, event: tk.Event[tk.Misc]) -> None:
        self._click = event.x, event.y
        if self._mouseCallback:
            self._mouseCallback(Point(event.x, event.y))

    def _pressed(self, event: tk.Event[tk.Misc]) -> None:
        self._key = event.keysym

    def _check_open(self) -> None:
        if self.closed:
            raise GraphicsError("window is closed")

    def setBackground(self, color: str) -> None:
        """Fill the window with a colour."""
        self._check_open()
        self.config(bg=color)
        self.autoflushed()

    def setCoords(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Call the lower left corner (x1, y1) and the upper right one (x2, y2) from here on."""
        self.trans = Transform(self.width, self.height, x1, y1, x2, y2)
        self.redraw()

    def close(self) -> None:
        """Close the window."""
        if not self.closed:
            self.closed = True
            self.master.destroy()
            self.autoflushed()

    def isClosed(self) -> bool:
        """Whether the window has been closed."""
        return self.closed

    def isOpen(self) -> bool:
        """Whether the window is still there."""
        return not self.closed

    def autoflushed(self) -> None:
        """Show what was drawn, unless the program does that itself."""
        if self.autoflush:
            _root.update()

    def flush(self) -> None:
        """Show what was drawn."""
        self._check_open()
        self.update_idletasks()

    def plot(self, x: float, y: float, color: str = "black") -> None:
        """Colour the pixel of a point."""
        self._check_open()
        self.plotPixel(*self.toScreen(x, y), color)

    def plotPixel(self, x: float, y: float, color: str = "black") -> None:
        """Colour a pixel."""
        self._check_open()
        self.create_line(x, y, x + 1, y, fill=color)
        self.autoflushed()

    def getMouse(self) -> Point:
        """Wait for a click; return where it was."""
        self.update()
        self._click = None
        self._wait("getMouse", lambda: self._click is not None)
        return Point(*self._taken_click())

    def checkMouse(self) -> Point | None:
        """Where the last click was since the last look; None if there was none."""
        self._look("checkMouse")
        return None if self._click is None else Point(*self._taken_click())

    def _taken_click(self) -> tuple[float, float]:
        click, self._click = self._click, None
        assert click is not None
        return self.toWorld(*click)

    def getKey(self) -> str:
        """Wait for a key; return its name."""
        self._key = ""
        self._wait("getKey", lambda: self._key != "")
        return self._taken_key()

    def checkKey(self) -> str:
        """The last key since the last look; an empty text if there was none."""
        self._look("checkKey")
        return self._taken_key()

    def _taken_key(self) -> str:
        key, self._key = self._key, ""
        return key

    def _look(self, what: str) -> None:
        if self.closed:
            raise GraphicsError(f"{what} in closed window")
        self.update()

    def _wait(self, what: str, arrived: Callable[[], bool]) -> None:
        while not arrived():
            self._look(what)
            if self.closed:
                raise GraphicsError(f"{what} in closed window")
            time.sleep(0.1)

    def setMouseHandler(self, func: Callable[[Point], object] | None) -> None:
        """Call `func` with the point of every click."""
        self._mouseCallback = func

    def getHeight(self) -> int:
        """In pixels."""
        return self.height

    def getWidth(self) -> int:
        """In pixels."""
        return self.width

    def toScreen(self, x: float, y: float) -> tuple[float, float]:
        """The pixel of a point."""
        return self.trans.screen(x, y) if self.trans else (x, y)

    def toWorld(self, x: float, y: float) -> tuple[float, float]:
        """The point of a pixel."""
        return self.trans.world(x, y) if self.trans else (x, y)

    def addItem(self, item: GraphicsObject) -> None:
        """Remember what has been drawn."""
        self.items.append(item)

    def delItem(self, item: GraphicsObject) -> None:
        """Forget what has been drawn."""
        self.items.remove(item)

    def redraw(self) -> None:
        """Draw everything anew."""
        for item in self.items[:]:
            item.undraw()
            item.draw(self)
        self.update()


class GraphicsObject:
    """Something that can be drawn; `config` are the options for the canvas."""

    def __init__(self, options: tuple[str, ...], *points: Point) -> None:
        usual = {
            "fill": "", "outline": "black", "width": "1", "arrow": "none", "text": "",
            "justify": "center", "font": FONT,
        }  # fmt: skip
        self.canvas: GraphWin | None = None
        self.id: int | None = None
        self.config: dict[str, Any] = {name: usual[name] for name in options}
        self.points = [point.clone() for point in points]

    def setFill(self, color: str) -> None:
        """Fill with a colour."""
        self._reconfig("fill", color)

    def setOutline(self, color: str) -> None:
        """Outline in a colour."""
        self._reconfig("outline", color)

    def setWidth(self, width: float) -> None:
        """Draw lines of a width."""
        self._reconfig("width", width)

    def draw(self, graphwin: GraphWin) -> Self:
        """Draw in a window; return the object."""
        if self._drawn():
            raise GraphicsError("Object currently drawn")
        if graphwin.isClosed():
            raise GraphicsError(CLOSED)
        self.canvas = graphwin
        self.id = self._draw(graphwin, [graphwin.toScreen(p.x, p.y) for p in self.points])
        graphwin.addItem(self)
        graphwin.autoflushed()
        return self

    def _drawn(self) -> tuple[GraphWin, int] | None:
        """The open window in which this is drawn, and its number there."""
        if self.canvas is None or self.id is None or self.canvas.isClosed():
            return None
        return self.canvas, self.id

    def undraw(self) -> None:
        """Take away from the window; do nothing if it is not there."""
        if drawn := self._drawn():
            canvas, number = drawn
            canvas.delete(number)
            canvas.delItem(self)
            canvas.autoflushed()
        self.canvas = self.id = None

    def move(self, dx: float, dy: float) -> None:
        """Move by a distance."""
        for point in self.points:
            point.x, point.y = point.x + dx, point.y + dy
        if drawn := self._drawn():
            canvas, number = drawn
            scale = canvas.trans
            across = dx / scale.xscale if scale else dx
            down = -dy / scale.yscale if scale else dy
            canvas.move(number, across, down)
            canvas.autoflushed()

    def clone(self) -> GraphicsObject:
        """The same, not drawn."""
        drawn = self.canvas, self.id
        self.canvas = self.id = None
        other = copy.deepcopy(self)
        self.canvas, self.id = drawn
        return other

    def _reconfig(self, option: str, value: object) -> None:
        if option not in self.config:
            raise GraphicsError("Object does not support this operation")
        self.config[option] = value
        if drawn := self._drawn():
            canvas, number = drawn
            canvas.itemconfig(number, {option: value})
            canvas.autoflushed()

    def _draw(self, canvas: GraphWin, places: Places) -> int:
        raise NotImplementedError


class Point(GraphicsObject):
    """A point."""

    def __init__(self, x: float, y: float) -> None:
        super().__init__(("outline", "fill"))
        self.setFill = self.setOutline  # type: ignore[method-assign]
        self.x, self.y = float(x), float(y)
        self.points = [self]

    def __repr__(self) -> str:
        return f"Point({self.x}, {self.y})"

    def _draw(self, canvas: GraphWin, places: Places) -> int:
        ((x, y),) = places
        return canvas.create_rectangle(x, y, x + 1, y + 1, **self.config)

    def clone(self) -> Point:
        """The same point, not drawn."""
        other = Point(self.x, self.y)
        other.config = self.config.copy()
        return other

    def getX(self) -> float:
        """Across."""
        return self.x

    def getY(self) -> float:
        """Up or down."""
        return self.y


class _BBox(GraphicsObject):
    """Something between two corners."""

    def __init__(
        self, p1: Point, p2: Point, options: tuple[str, ...] = ("outline", "width", "fill")
    ) -> None:
        super().__init__(options, p1, p2)
        self.p1, self.p2 = self.points

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.p1}, {self.p2})"

    def getP1(self) -> Point:
        """The first corner."""
        return self.p1.clone()

    def getP2(self) -> Point:
        """The second corner."""
        return self.p2.clone()

    def getCenter(self) -> Point:
        """The middle."""
        return Point((self.p1.x + self.p2.x) / 2, (self.p1.y + self.p2.y) / 2)


class Rectangle(_BBox):
    """A rectangle between two corners."""

    def _draw(self, canvas: GraphWin, places: Places) -> int:
        return canvas.create_rectangle(places, **self.config)


class Oval(_BBox):
    """An oval between two corners."""

    def _draw(self, canvas: GraphWin, places: Places) -> int:
        return canvas.create_oval(places, **self.config)


class Circle(Oval):
    """A circle around a point."""

    def __init__(self, center: Point, radius: float) -> None:
        x, y = center.x, center.y
        super().__init__(Point(x - radius, y - radius), Point(x + radius, y + radius))
        self.radius = radius

    def __repr__(self) -> str:
        return f"Circle({self.getCenter()}, {self.radius})"

    def getRadius(self) -> float:
        """The radius."""
        return self.radius


class Line(_BBox):
    """A line from a point to another."""

    def __init__(self, p1: Point, p2: Point) -> None:
        super().__init__(p1, p2, ("arrow", "fill", "width"))
        self.setFill("black")
        self.setOutline = self.setFill  # type: ignore[method-assign]

    def _draw(self, canvas: GraphWin, places: Places) -> int:
        return canvas.create_line(places, **self.config)

    def setArrow(self, option: str) -> None:
        """Where it has arrows: first, last, both or none."""
        if option not in {"first", "last", "both", "none"}:
            raise GraphicsError("Illegal option value")
        self._reconfig("arrow", option)


class Polygon(GraphicsObject):
    """A polygon of points, given one by one or as a list."""

    def __init__(self, *points: Any) -> None:
        if len(points) == 1 and isinstance(points[0], list):
            points = tuple(points[0])
        super().__init__(("outline", "width", "fill"), *points)

    def __repr__(self) -> str:
        return f"Polygon{tuple(self.points)}"

    def getPoints(self) -> list[Point]:
        """The corners."""
        return [point.clone() for point in self.points]

    def _draw(self, canvas: GraphWin, places: Places) -> int:
        return canvas.create_polygon(places, **self.config)


class _Anchored(GraphicsObject):
    """Something around a point."""

    def __init__(self, options: tuple[str, ...], p: Point) -> None:
        super().__init__(options, p)
        (self.anchor,) = self.points

    def getAnchor(self) -> Point:
        """The middle."""
        return self.anchor.clone()


class _Lettering(_Anchored):
    """Something with a font."""

    def setFace(self, face: str) -> None:
        """One of helvetica, arial, courier, times roman."""
        self._font(0, face, face in FACES)

    def setSize(self, size: int) -> None:
        """5 to 36 points."""
        self._font(1, size, 5 <= size <= 36)

    def setStyle(self, style: str) -> None:
        """One of bold, normal, italic, bold italic."""
        self._font(2, style, style in STYLES)

    def _font(self, place: int, value: object, legal: bool) -> None:
        if not legal:
            raise GraphicsError("Illegal option value")
        font = list(self.config["font"])
        font[place] = value
        self._reconfig("font", tuple(font))


class Text(_Lettering):
    """A text around a point."""

    def __init__(self, p: Point, text: object) -> None:
        super().__init__(("justify", "fill", "text", "font"), p)
        self.config.update(fill="black", text=text)
        self.setOutline = self.setFill  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"Text({self.anchor}, '{self.getText()}')"

    def _draw(self, canvas: GraphWin, places: Places) -> int:
        return canvas.create_text(*places, **self.config)

    def setText(self, text: object) -> None:
        """Show another text."""
        self._reconfig("text", text)

    def getText(self) -> object:
        """The text."""
        return self.config["text"]

    def setTextColor(self, color: str) -> None:
        """Write in a colour."""
        self.setFill(color)


class Entry(_Lettering):
    """A line to type into, so many letters wide."""

    def __init__(self, p: Point, width: int) -> None:
        super().__init__(("font",), p)
        self.width = width
        self.text = tk.StringVar(_root, "")
        self.config.update(fill="gray", color="black")
        self.entry: tk.Entry | None = None

    def __repr__(self) -> str:
        return f"Entry({self.anchor}, {self.width})"

    def _draw(self, canvas: GraphWin, places: Places) -> int:
        look = {"bg": self.config["fill"], "fg": self.config["color"], "font": self.config["font"]}
        self.entry = tk.Entry(canvas, width=self.width, textvariable=self.text, **look)
        self.entry.focus_set()
        return canvas.create_window(*places, window=self.entry)

    def undraw(self) -> None:
        """Take away from the window."""
        super().undraw()
        if self.entry is not None:
            self.entry.destroy()
            self.entry = None

    def clone(self) -> Entry:
        """The same, not drawn."""
        other = Entry(self.anchor, self.width)
        other.config = self.config.copy()
        other.setText(self.getText())
        return other

    def getText(self) -> str:
        """What stands in the line."""
        _root.update()
        return self.text.get()

    def setText(self, t: str) -> None:
        """Write into the line."""
        self.text.set(t)

    def setTextColor(self, color: str) -> None:
        """The colour of the letters."""
        self._reconfig("color", color)

    def _reconfig(self, option: str, value: object) -> None:
        self.config[option] = value
        if self.entry is not None:
            self.entry.configure({{"fill": "bg", "color": "fg"}.get(option, option): value})
            _root.update()


class Image(_Anchored):
    """A picture around a point: of a file, or an empty one of a width and a height."""

    def __init__(self, p: Point, *pixmap: Any) -> None:
        super().__init__((), p)
        if len(pixmap) == 1:
            self.img = tk.PhotoImage(file=pixmap[0], master=_root)
        else:
            width, height = pixmap
            self.img = tk.PhotoImage(master=_root, width=width, height=height)

    def __repr__(self) -> str:
        return f"Image({self.anchor}, {self.getWidth()}, {self.getHeight()})"

    def _draw(self, canvas: GraphWin, places: Places) -> int:
        return canvas.create_image(*places, image=self.img)

    def clone(self) -> Image:
        """The same, not drawn."""
        other = Image(self.anchor, self.getWidth(), self.getHeight())
        other.img = self.img.copy()
        return other

    def getWidth(self) -> int:
        """In pixels."""
        return self.img.width()

    def getHeight(self) -> int:
        """In pixels."""
        return self.img.height()

    def getPixel(self, x: int, y: int) -> list[int]:
        """Red, green and blue of a pixel."""
        return list(self.img.get(x, y))

    def setPixel(self, x: int, y: int, color: str) -> None:
        """Colour a pixel."""
        self.img.put("{" + color + "}", (x, y))

    def save(self, filename: str) -> None:
        """Write the picture to a file, of the kind that its name ends with."""
        kind = os.path.splitext(filename)[1].lstrip(".") or "png"
        self.img.write(filename, format=kind)
