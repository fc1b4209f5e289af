"""The canvas of the stand-in for Tk: items with coordinates, options, tags and bindings."""

from __future__ import annotations

from . import faketk_options as opts
from .faketk_display import TclError, display
from .faketk_events import Bindings, Event
from .faketk_windows import Widget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

KINDS = ("arc", "bitmap", "image", "line", "oval", "polygon", "rectangle", "text", "window")


class Item:
    """One thing drawn on a canvas."""

    def __init__(self, kind: str, coords: list[float], options: dict[str, Any]) -> None:
        self.kind = kind
        self.coords = coords
        self.tags: list[str] = []
        self.options: dict[str, Any] = {}
        self.set(options)

    def set(self, options: dict[str, Any]) -> None:
        """Change options."""
        for name, value in options.items():
            full = opts.full_name(name)
            problem = opts.problem(full, value)
            if problem:
                raise TclError(problem)
            if full == "tags":
                self.tags = [value] if isinstance(value, str) else [str(tag) for tag in value]
            else:
                self.options[full] = value
                if full == "window" and value:
                    value.manager = "canvas"

    def box(self) -> tuple[float, float, float, float]:
        """What it covers; for texts and images about as large as they would be."""
        xs, ys = self.coords[0::2] or [0.0], self.coords[1::2] or [0.0]
        if self.kind not in {"text", "image", "window", "bitmap"}:
            return min(xs), min(ys), max(xs), max(ys)
        width, height = self._size()
        anchor = str(self.options.get("anchor", "center"))
        left = xs[0] - (0 if "w" in anchor else width if "e" in anchor[-1:] else width / 2)
        if anchor == "center":
            left = xs[0] - width / 2
        top = ys[0] - (0 if anchor[0] == "n" else height if anchor[0] == "s" else height / 2)
        return left, top, left + width, top + height

    def _size(self) -> tuple[float, float]:
        image, window = self.options.get("image"), self.options.get("window")
        if image is not None and hasattr(image, "height"):
            return float(image.width()), float(image.height())
        if window:
            return float(window.winfo_width()), float(window.winfo_height())
        lines = str(self.options.get("text", "")).split("\n")
        return 10.0 * max(map(len, lines)), 16.0 * len(lines)

    def covers(self, x: float, y: float, halo: float = 0) -> bool:
        """Whether the point lies in its box."""
        left, top, right, bottom = self.box()
        return left - halo <= x <= right + halo and top - halo <= y <= bottom + halo


def flat(values: Iterable[Any]) -> Iterator[float]:
    """Coordinates, however they are nested."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from flat(value)
        else:
            try:
                yield float(value)
            except (TypeError, ValueError):
                raise TclError(f'bad screen distance "{value}"') from None


class Canvas(Widget):
    """A place to draw on."""

    def __init__(self, master: Any = None, cnf: Any = None, **options: Any) -> None:
        self.items: dict[int, Item] = {}
        self.order: list[int] = []
        self.last = 0
        self.tag_bindings: dict[Any, Bindings] = {}
        self.current = 0
        super().__init__(master, cnf, **options)

    # -- making items -------------------------------------------------------------------

    def _create(self, kind: str, words: tuple[Any, ...], options: dict[str, Any]) -> int:
        self._alive()
        coords = list(words)
        if coords and isinstance(coords[-1], dict):
            options = {**coords.pop(), **options}
        numbers = list(flat(coords))
        least = {"text": 2, "image": 2, "window": 2, "bitmap": 2, "polygon": 0}.get(kind, 4)
        if len(numbers) < least or len(numbers) % 2:
            raise TclError(f"wrong # coordinates: expected {least}, got {len(numbers)}")
        self.last += 1
        self.items[self.last] = Item(kind, numbers, options)
        self.order.append(self.last)
        display.changes += 1
        return self.last

    # -- finding them -------------------------------------------------------------------

    def _found(self, tag: Any) -> list[int]:
        """The items meant by a number or a tag, in drawing order."""
        self._alive()
        if isinstance(tag, int) or (isinstance(tag, str) and tag.isdigit()):
            return [int(tag)] if int(tag) in self.items else []
        if tag == "all":
            return list(self.order)
        if tag == "current":
            return [self.current] if self.current in self.items else []
        return [number for number in self.order if str(tag) in self.items[number].tags]

    def find_all(self) -> tuple[int, ...]:
        """All items in drawing order."""
        return tuple(self._found("all"))

    def find_withtag(self, tagOrId: Any) -> tuple[int, ...]:
        """The items with a tag."""
        return tuple(self._found(tagOrId))

    def find(self, *words: Any) -> tuple[int, ...]:
        """The items with a tag."""
        return self.find_withtag(words[-1] if words else "all")

    def find_overlapping(self, x1: float, y1: float, x2: float, y2: float) -> tuple[int, ...]:
        """The items that touch a rectangle."""
        found = []
        for number in self.order:
            left, top, right, bottom = self.items[number].box()
            if left <= x2 and right >= x1 and top <= y2 and bottom >= y1:
                found.append(number)
        return tuple(found)

    def find_enclosed(self, x1: float, y1: float, x2: float, y2: float) -> tuple[int, ...]:
        """The items inside a rectangle."""
        found = []
        for number in self.order:
            left, top, right, bottom = self.items[number].box()
            if x1 <= left and right <= x2 and y1 <= top and bottom <= y2:
                found.append(number)
        return tuple(found)

    def find_closest(self, x: float, y: float, halo: Any = 0, start: Any = None) -> tuple[int, ...]:
        """The topmost of the items nearest to a point."""

        def distance(number: int) -> float:
            left, top, right, bottom = self.items[number].box()
            dx = max(left - x, 0, x - right)
            dy = max(top - y, 0, y - bottom)
            return float(max(0.0, (dx * dx + dy * dy) ** 0.5 - float(halo or 0)))

        nearest = min((distance(number) for number in self.order), default=None)
        found = [number for number in self.order if distance(number) == nearest]
        return (found[-1],) if found else ()

    def find_above(self, tagOrId: Any) -> tuple[int, ...]:
        """The item drawn after."""
        found = self._found(tagOrId)
        place = self.order.index(found[-1]) + 1 if found else len(self.order)
        return tuple(self.order[place : place + 1])

    def find_below(self, tagOrId: Any) -> tuple[int, ...]:
        """The item drawn before."""
        found = self._found(tagOrId)
        place = self.order.index(found[0]) if found else 0
        return tuple(self.order[place - 1 : place]) if place else ()

    # -- looking at and changing them ---------------------------------------------------

    def coords(self, tagOrId: Any = None, *values: Any) -> Any:
        """The coordinates of an item; with values, move it there."""
        found = self._found(tagOrId)
        if not values:
            return list(self.items[found[0]].coords) if found else []
        for number in found[:1]:
            self.items[number].coords = list(flat(values))
            display.changes += 1
        return []

    def move(self, tagOrId: Any, dx: Any, dy: Any) -> None:
        """Shift items."""
        shift = list(flat([dx, dy]))
        for number in self._found(tagOrId):
            item = self.items[number]
            item.coords = [value + shift[i % 2] for i, value in enumerate(item.coords)]
            display.changes += 1

    def moveto(self, tagOrId: Any, x: Any = "", y: Any = "") -> None:
        """Put the upper left corner of items somewhere."""
        for number in self._found(tagOrId):
            left, top, _, _ = self.items[number].box()
            self.move(number, float(x) - left if x != "" else 0, float(y) - top if y != "" else 0)

    def scale(self, tagOrId: Any, x0: float, y0: float, sx: float, sy: float) -> None:
        """Stretch items away from a point."""
        for number in self._found(tagOrId):
            item = self.items[number]
            pairs = ((x0, sx), (y0, sy))
            item.coords = [
                pairs[i % 2][0] + (value - pairs[i % 2][0]) * pairs[i % 2][1]
                for i, value in enumerate(item.coords)
            ]
            display.changes += 1

    def itemconfigure(self, tagOrId: Any, cnf: Any = None, **options: Any) -> Any:
        """Change options of items."""
        found = self._found(tagOrId)
        if cnf is None and not options:
            shown = self.items[found[0]].options if found else {}
            return {name: (name, "", "", "", value) for name, value in shown.items()}
        for number in found:
            self.items[number].set({**(cnf or {}), **options})
            display.changes += 1
        return None

    itemconfig = itemconfigure

    def itemcget(self, tagOrId: Any, option: str) -> Any:
        """An option of an item, as text."""
        found = self._found(tagOrId)
        if not found:
            return ""
        item = self.items[found[0]]
        name = opts.full_name(option)
        value = " ".join(item.tags) if name == "tags" else item.options.get(name, "")
        return str(value) if value is not None else ""

    def delete(self, *tags: Any) -> None:
        """Take items away."""
        for tag in tags:
            for number in self._found(tag):
                window = self.items[number].options.get("window")
                if window:
                    window.manager = ""
                del self.items[number]
                self.order.remove(number)
                display.changes += 1

    def type(self, tagOrId: Any) -> str | None:
        """The kind of an item."""
        found = self._found(tagOrId)
        return self.items[found[0]].kind if found else None

    def bbox(self, *tags: Any) -> tuple[int, int, int, int] | None:
        """What the items cover."""
        boxes = [self.items[number].box() for tag in tags for number in self._found(tag)]
        if not boxes:
            return None
        left, top, right, bottom = zip(*boxes, strict=True)
        return int(min(left)), int(min(top)), int(max(right)), int(max(bottom))

    # -- tags and order -----------------------------------------------------------------

    def gettags(self, tagOrId: Any) -> tuple[str, ...]:
        """The tags of an item."""
        found = self._found(tagOrId)
        return tuple(self.items[found[0]].tags) if found else ()

    def addtag_withtag(self, newtag: str, tagOrId: Any) -> None:
        """Give items a further tag."""
        for number in self._found(tagOrId):
            if newtag not in self.items[number].tags:
                self.items[number].tags.append(newtag)

    def addtag(self, newtag: str, *words: Any) -> None:
        """Give items a further tag."""
        self.addtag_withtag(newtag, words[-1])

    def dtag(self, tagOrId: Any, tag: Any = None) -> None:
        """Take a tag away."""
        for number in self._found(tagOrId):
            tags = self.items[number].tags
            tags[:] = [t for t in tags if t != (tag or tagOrId)]

    def tag_raise(self, tagOrId: Any, above: Any = None) -> None:
        """Draw items last."""
        found = self._found(tagOrId)
        self.order = [number for number in self.order if number not in found] + found
        display.changes += 1

    def tag_lower(self, tagOrId: Any, below: Any = None) -> None:
        """Draw items first."""
        found = self._found(tagOrId)
        self.order = found + [number for number in self.order if number not in found]
        display.changes += 1

    lift = tkraise = tag_raise
    lower = tag_lower

    # -- events -------------------------------------------------------------------------

    def tag_bind(
        self, tagOrId: Any, sequence: Any = None, func: Any = None, add: Any = None
    ) -> Any:
        """Call `func` when the event happens on an item."""
        table = self.tag_bindings.setdefault(str(tagOrId), Bindings())
        return table.bind(sequence, func, add, TclError)

    def tag_unbind(self, tagOrId: Any, sequence: Any, funcid: Any = None) -> None:
        """Forget what was bound to an item."""
        if str(tagOrId) in self.tag_bindings:
            self.tag_bindings[str(tagOrId)].unbind(sequence, TclError)

    def _class_binding(self, event: Event) -> None:
        """Events on the topmost item under the pointer go to its bindings first."""
        if event.type not in {"ButtonPress", "ButtonRelease", "Motion", "Enter", "Leave"}:
            return
        under = [
            number
            for number in self.order
            if self.items[number].options.get("state") not in {"hidden", "disabled"}
            and self.items[number].covers(event.x, event.y, 1)
        ]
        self.current = under[-1] if under else 0
        if under:
            for name in (str(self.current), *self.items[self.current].tags, "all", "current"):
                for callback in self.tag_bindings.get(name, Bindings()).matching(event):
                    display.call(callback, event)

    # -- the rest -----------------------------------------------------------------------

    def canvasx(self, screenx: float, gridspacing: Any = None) -> float:
        """Nothing is scrolled."""
        return float(screenx)

    canvasy = canvasx

    def xview(self, *words: Any) -> None:
        """Nothing scrolls."""

    yview = xview_moveto = yview_moveto = scan_mark = scan_dragto = postscript = xview


def _creator(kind: str) -> Any:
    def create(self: Canvas, *words: Any, **options: Any) -> int:
        return self._create(kind, words, options)

    create.__doc__ = f"Draw: {kind}."
    return create


for _kind in KINDS:
    setattr(Canvas, f"create_{_kind}", _creator(_kind))
