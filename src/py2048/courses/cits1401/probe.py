"""Functions that find, read and click the squares of a submission's window.

The assignment does not prescribe the layout, so squares are recognised by their appearance. The
numbers are shown on 25 rectangles of a canvas, or on 25 widgets in a 5x5 grid.

This code runs in the submission's process, where `screen` simulates the user and py2048 cannot be
imported.
"""

from __future__ import annotations

import gc
from collections import Counter
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from py2048.courses.grading.agent.tk import TkUser, Widget

    Spot = tuple[int, int]
    Box = tuple[float, float, float, float]

screen: TkUser = globals()["screen"]
SQUARES: dict[Spot, tuple[Widget, Box | None]] = {}
DRAWN: dict[Widget, list[tuple[str, list[float], dict[str, str]]]] = {}
SIDE = range(5)


def items(canvas: Widget) -> list[tuple[str, list[float], dict[str, str]]]:
    """Return the items of a canvas. They are cached until the squares are located again."""
    if canvas not in DRAWN:
        DRAWN[canvas] = screen.items(canvas)
    return DRAWN[canvas]


def grid_of_boxes(boxes: list[Box]) -> dict[Spot, Box]:
    """Find 25 boxes of equal size in a 5x5 grid; return them by (row, column), or {}."""
    sizes: dict[Spot, list[Box]] = {}
    for box in boxes:
        size = round(box[2] - box[0]), round(box[3] - box[1])
        if min(size) > 8:
            sizes.setdefault((size[0] // 4, size[1] // 4), []).append(box)
    for group in sorted(sizes.values(), key=len, reverse=True):
        rows = sorted({round(box[1]) for box in group})
        columns = sorted({round(box[0]) for box in group})
        found = {(rows.index(round(b[1])), columns.index(round(b[0]))): b for b in group}
        if len(rows) == len(columns) == 5 and len(found) == 25:
            return found
    return {}


def canvas_squares(canvas: Widget) -> dict[Spot, Box]:
    """Return the squares that are drawn on a canvas, keyed by (row, column)."""
    boxes = []
    for kind, coords, options in items(canvas):
        shown = options.get("state") != "hidden"
        if shown and kind in ("rectangle", "polygon") and len(coords) >= 4:
            xs, ys = coords[::2], coords[1::2]
            boxes.append((min(xs), min(ys), max(xs), max(ys)))
    return grid_of_boxes(boxes)


def widget_squares() -> dict[Spot, Widget]:
    """Return the squares that are separate widgets, keyed by (row, column)."""
    parents: dict[tuple[str, ...], dict[Spot, Widget]] = {}
    for widget in screen.widgets():
        manager = str(widget.winfo_manager())
        if manager in ("grid", "place") and widget.winfo_ismapped():
            where = manager, str(widget.winfo_parent()), widget.kind
            if manager == "grid":
                info = widget.grid()
                spot = int(info["row"]), int(info["column"])
            else:
                spot = int(widget.winfo_y()), int(widget.winfo_x())
            parents.setdefault(where, {})[spot] = widget
    for group in parents.values():
        rows = sorted({row for row, _ in group})
        columns = sorted({column for _, column in group})
        for above in range(len(rows) - 4):
            for left in range(len(columns) - 4):
                spots = {
                    (r, c): group.get((rows[above + r], columns[left + c]))
                    for r in SIDE
                    for c in SIDE
                }
                found = {spot: widget for spot, widget in spots.items() if widget is not None}
                if len(found) == 25:
                    return found
    return {}


def find() -> dict[Spot, tuple[Widget, Box | None]]:
    """Locate the squares. They are boxes on a canvas or separate widgets."""
    DRAWN.clear()
    for canvas in screen.widgets("Canvas"):
        found = canvas_squares(canvas)
        if found:
            return {spot: (canvas, box) for spot, box in found.items()}
    return {spot: (widget, None) for spot, widget in widget_squares().items()}


def in_sight() -> bool:
    """Return whether the centres of all squares on a canvas are visible."""
    for canvas, box in SQUARES.values():
        if box is not None:
            x = (box[0] + box[2]) / 2 - float(canvas.call("canvasx", 0))
            y = (box[1] + box[3]) / 2 - float(canvas.call("canvasy", 0))
            if not (0 <= x <= int(canvas.winfo_width()) and 0 <= y <= int(canvas.winfo_height())):
                return False
    return True


def misplaced() -> list[str]:
    """Return the numbers that are drawn across the edge of a square."""
    canvas, box = SQUARES[0, 0]
    found, split = [], canvas.interpreter.splitlist
    drawn = zip(split(canvas.call("find", "all")), items(canvas), strict=True) if box else ()
    for item, (kind, _, options) in drawn:
        text = options.get("text", "").strip() if kind == "text" else ""
        edges = [int(edge) for edge in split(canvas.call("bbox", item))]
        if text.isdigit() and edges:  # hidden items have no edges
            x, y = (edges[0] + edges[2]) / 2, (edges[1] + edges[3]) / 2
            if spot_of([x - 4, y - 4]) != spot_of([x + 4, y + 4]):
                found.append(text)
    return found


def text_and_look(widget: Widget) -> tuple[str, str]:
    """Return the text and a description of the appearance of a square's widget."""
    text = ""
    look: list[object] = []
    for part in widget.tree():
        if part.kind == "Canvas":
            for kind, _, options in screen.items(part):
                text = options.get("text", text)
                look.append((kind, options.get("fill"), options.get("outline")))
        elif part is widget or part.winfo_manager():
            text = part.text() or text
        names = ("bg", "fg", "relief", "image", "highlightbackground", "font", "bd", "style")
        look.append(tuple(part.cget(name) for name in names))
    return text, repr(look)


def look() -> dict[str, Any]:
    """Return the visible state: the string and appearance of each square, and all other strings."""
    SQUARES.clear()
    SQUARES.update(find())
    if not SQUARES:
        return {"texts": None, "looks": None, "others": screen.texts()}
    texts = [[""] * 5 for _ in SIDE]
    looks = [[""] * 5 for _ in SIDE]
    canvas, box = SQUARES[0, 0]
    if box is None:
        within = []
        for (row, column), (widget, _) in SQUARES.items():
            texts[row][column], looks[row][column] = text_and_look(widget)
            within.append(texts[row][column])
    else:
        within = read(canvas, texts, looks)
    others = Counter(screen.texts()) - Counter(within)
    return {"texts": texts, "looks": looks, "others": list(others.elements())}


def read(canvas: Widget, texts: list[list[str]], looks: list[list[str]]) -> list[str]:
    """Read each square's text and appearance into `texts` and `looks`, and return all strings."""
    parts: list[list[list[object]]] = [[[] for _ in SIDE] for _ in SIDE]
    within = []
    for kind, coords, options in items(canvas):
        spot = spot_of(coords) if options.get("state") != "hidden" else None
        if spot is None:
            continue
        row, column = spot
        if kind == "text":
            text = options.get("text", "")
            if texts[row][column].strip().isdigit() and not text.strip().isdigit():
                continue  # Keep the tile's number if a message is drawn over the board.
            texts[row][column] = text
            within.append(text)
        parts[row][column].append((kind, *map(options.get, ("fill", "outline", "image"))))
    for row, column in SQUARES:
        looks[row][column] = repr(parts[row][column])
    return [text for text in within if text.strip()]


def spot_of(coords: list[float]) -> Spot | None:
    """Return the square that contains a canvas item, or None for items larger than a square."""
    if not coords:
        return None
    xs, ys = coords[::2], coords[1::2]
    left, right = min(xs), max(xs)
    x, y, width = (left + right) / 2, (min(ys) + max(ys)) / 2, right - left
    for spot, (_, box) in SQUARES.items():
        x1, y1, x2, y2 = box or (0, 0, 0, 0)
        if x1 - 3 <= x <= x2 and y1 - 3 <= y <= y2 and width <= (x2 - x1) * 1.2 + 4:
            return spot
    return None


def choose(word: str, *, exactly: bool = False) -> bool:
    """Click the control whose text equals `word` or, if there is none, contains `word`."""
    return screen.push(word, exactly=True) or (not exactly and screen.push(word))


def hit(row: int, column: int) -> None:
    """Click on the centre of a square."""
    if not SQUARES:
        SQUARES.update(find())
    widget, box = SQUARES[row, column]
    if box is None:
        screen.point(widget)
    else:
        screen.click(widget, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2)


def changes(steps: int, enough: int) -> tuple[int, int]:
    """Advance the clock in steps of 40 ms, and count changes of the visible text.

    Stops after `enough` changes.

    Returns:
        The number of changes and the number of steps. Both are 0 for a program that polls for
        events, because its clock cannot advance during this call.
    """
    found, step, before = 0, 0, screen.texts()
    while found < enough and step < steps and screen.advance(40):
        now = screen.texts()
        found, step, before = found + (now != before), step + 1, now
    return found, step


def write_tiles(rows: tuple[tuple[int, ...], ...], new: tuple[tuple[int, ...], ...]) -> None:
    """Overwrite every list and dictionary that holds the numbers of the current board."""
    old, wanted = ([number for row in board for number in row] for board in (rows, new))
    found: list[list[tuple[Any, Any]]] = []
    for thing in gc.get_objects():
        if isinstance(thing, dict) and len(thing) == 25:
            with suppress(TypeError):  # keys of different types cannot be sorted
                found.append([(thing, key) for key in sorted(thing)])
        elif isinstance(thing, list) and len(thing) in (5, 25):
            lines = thing if all(isinstance(row, list) for row in thing) else [thing]
            found.append([(line, place) for line in lines for place in range(len(line))])
    for cells in found:
        if [n if type(n) is int else None for n in (line[place] for line, place in cells)] == old:
            for (line, place), number in zip(cells, wanted, strict=True):
                line[place] = number
