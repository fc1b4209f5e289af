"""Code that runs beside a submission: finds its squares, reads them, clicks on them.

The document leaves the layout free, so nothing is known of a program but what can be seen: 25
rectangles on a canvas, or 25 widgets in a grid, in five rows and five columns; numbers as texts.
"""

from __future__ import annotations

PROBE = '''
SQUARES = {}
DRAWN = {}

def _items(canvas):
    """What is drawn on a canvas, asked for once in a look."""
    if canvas not in DRAWN:
        DRAWN[canvas] = screen.items(canvas)
    return DRAWN[canvas]

def _lattice(boxes):
    """The boxes, by (row, column), that stand in five rows and columns; {} if they do not."""
    found = {}
    sizes = {}
    for box, thing in boxes:
        size = round(box[2] - box[0]), round(box[3] - box[1])
        if min(size) > 8:
            sizes.setdefault((size[0] // 4, size[1] // 4), []).append((box, thing))
    for group in sorted(sizes.values(), key=len, reverse=True):
        rows = sorted({round(box[1]) for box, _ in group})
        columns = sorted({round(box[0]) for box, _ in group})
        if len(rows) == len(columns) == 5:
            found = {}
            for box, thing in group:
                found[rows.index(round(box[1])), columns.index(round(box[0]))] = box, thing
            if len(found) == 25:
                return found
    return {}

def _canvas_squares(canvas):
    boxes = []
    for kind, coords, options in _items(canvas):
        shown = options.get('state') != 'hidden'
        if shown and kind in ('rectangle', 'polygon') and len(coords) >= 4:
            xs, ys = coords[::2], coords[1::2]
            boxes.append(((min(xs), min(ys), max(xs), max(ys)), None))
    return _lattice(boxes)

def _widget_squares():
    parents = {}
    for widget in screen.widgets():
        manager = str(widget.winfo_manager())
        if manager in ('grid', 'place') and widget.winfo_ismapped():
            where = manager, str(widget.winfo_parent()), widget.kind
            if manager == 'grid':
                info = widget.grid()
                spot = int(info['row']), int(info['column'])
            else:
                spot = int(widget.winfo_y()), int(widget.winfo_x())
            parents.setdefault(where, {})[spot] = widget
    for group in parents.values():
        rows = sorted({row for row, _ in group})
        columns = sorted({column for _, column in group})
        for above in range(len(rows) - 4):
            for left in range(len(columns) - 4):
                spots = {(r, c): group.get((rows[above + r], columns[left + c]))
                         for r in range(5) for c in range(5)}
                if all(spot is not None for spot in spots.values()):
                    return spots
    return {}

def _find():
    """Where the squares are: on which canvas, or which widgets they are."""
    DRAWN.clear()
    for canvas in screen.widgets('Canvas'):
        found = _canvas_squares(canvas)
        if found:
            return {spot: (canvas, box) for spot, (box, _) in found.items()}
    return {spot: (widget, None) for spot, widget in _widget_squares().items()}

def _inside(widget):
    yield widget
    for child in widget.children():
        yield from _inside(child)

def _shown_in(widget):
    """The text and the look of a square that is a widget."""
    text = ''
    look = []
    for part in _inside(widget):
        if part.kind == 'Canvas':
            for kind, _, options in screen.items(part):
                text = options.get('text', text)
                look.append((kind, options.get('fill'), options.get('outline')))
        elif part is widget or part.winfo_manager():
            text = part.text() or text
        names = ('bg', 'fg', 'relief', 'image', 'highlightbackground', 'font', 'bd', 'style')
        look.append(tuple(part.cget(name) for name in names))
    return text, repr(look)

def look():
    """What is to be seen: the texts and looks of the squares, and all other texts."""
    SQUARES.clear()
    SQUARES.update(_find())
    if not SQUARES:
        return {'texts': None, 'looks': None, 'others': screen.texts()}
    texts = [[''] * 5 for _ in range(5)]
    looks = [[''] * 5 for _ in range(5)]
    canvas, box = SQUARES[0, 0]
    if box is None:
        within = []
        for (row, column), (widget, _) in SQUARES.items():
            texts[row][column], looks[row][column] = _shown_in(widget)
            within.append(texts[row][column])
    else:
        within = _read(canvas, texts, looks)
    others = list(screen.texts())
    for text in within:
        if text in others:
            others.remove(text)
    return {'texts': texts, 'looks': looks, 'others': others}

def _read(canvas, texts, looks):
    """Read the squares of a canvas; return the texts that stand in them."""
    parts = [[[] for _ in range(5)] for _ in range(5)]
    within = []
    for kind, coords, options in _items(canvas):
        if not coords or options.get('state') == 'hidden':
            continue
        xs, ys = coords[::2], coords[1::2]
        left, right = min(xs), max(xs)
        x, y, width = (left + right) / 2, (min(ys) + max(ys)) / 2, right - left
        for (row, column), (_, (x1, y1, x2, y2)) in SQUARES.items():
            if x1 - 3 <= x <= x2 and y1 - 3 <= y <= y2 and width <= (x2 - x1) * 1.2 + 4:
                if kind == 'text':
                    text = options.get('text', '')
                    if texts[row][column].strip().isdigit() and not text.strip().isdigit():
                        continue  # it covers the board and does not belong to the square
                    texts[row][column] = text
                    within.append(text)
                shown = options.get('fill'), options.get('outline'), options.get('image')
                parts[row][column].append((kind, *shown))
    for row in range(5):
        for column in range(5):
            looks[row][column] = repr(parts[row][column])
    return [text for text in within if text.strip()]

def choose(word):
    """Use the button, or the drawn text, that says just `word`; else one that contains it."""
    for canvas in screen.widgets('Canvas'):
        for kind, coords, options in screen.items(canvas):
            if kind == 'text' and options.get('text', '').strip().lower() == word.lower():
                screen.click(canvas, *coords)
                return True
    for widget in screen.widgets('Button'):
        if widget.text().strip().lower() == word.lower() and widget.winfo_ismapped():
            screen.use(widget)
            return True
    return screen.push(word)

def hit(row, column):
    """Click into the middle of a square."""
    if not SQUARES:
        SQUARES.update(_find())
    widget, box = SQUARES[row, column]
    if box is None:
        screen.point(widget)
    else:
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        screen.click(widget, x, y)
'''
