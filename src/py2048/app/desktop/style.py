"""Fonts, ttk styles and widgets of the desktop application.

Widgets are ttk widgets with styles created by `Look`, so that Tk handles layout, focus and theme
changes. Only boards and graphs are canvases.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from tkinter import ttk
from typing import Any

from PIL import Image

from py2048.presentation.board_image import encode, glyph, rounded
from py2048.presentation.themes import RADIUS, TYPE, Theme, mixed

FAMILIES = ("Inter", "Segoe UI Variable Text", "Cantarell", "Noto Sans")
"""Font families in order of preference. The fallback is Tk's default font."""

FONTS = {name: (pixels, weight >= 600) for name, (pixels, _height, weight) in TYPE.items()} | {
    "tiny": (9, True),
    "label": (13, True),
    "lead": (16, True),
    "tools": (15, True),
}
"""Height in unscaled pixels of each named font, and whether the font is bold."""

# Unscaled pixels.
ROW_HEIGHT, ICON_SIDE, MIN_CARD_WIDTH = 28, 20, 92

BUTTON_INKS = {"primary": "on_accent", "danger": "danger", "ghost": "muted"}


def text_width(root: tk.Misc, text: str, font: str) -> int:
    """Return the width of a string in pixels."""
    return int(root.tk.call("font", "measure", font, text))


def line_height(root: tk.Misc, font: str) -> int:
    """Return the line height of a font in pixels."""
    return int(root.tk.call("font", "metrics", font, "-linespace"))


class Look:
    """The ttk styles, created on demand and repainted when the theme or scale changes.

    Args:
        root: The main window.
        theme: The initial theme.
        scale: Scale factor of the screen, relative to 96 dpi.

    Attributes:
        unit: Scale factor for text, which grows with the window's size.
    """

    def __init__(self, root: tk.Tk, theme: Theme, scale: float) -> None:
        self.root, self.theme, self.scale, self.unit = root, theme, scale, 0.0
        vars(root)["look"] = self
        self.style, self._paint_functions = ttk.Style(root), dict[str, Callable[[], object]]()
        self.style.theme_use("clam")
        call = root.tk.call
        actual = (str(call("font", "actual", (name, -13), "-family")) for name in FAMILIES)
        default = str(call("font", "actual", "TkDefaultFont", "-family"))
        family = next((name for name in actual if name in FAMILIES), default)
        for name, (_pixels, is_bold) in FONTS.items():
            weight = "bold" if is_bold else "normal"
            call("font", "create", name, "-family", family, "-weight", weight)
        for key in ("<space>", "<Return>", "<KP_Enter>"):
            call("bind", "TButton", key, "%W invoke; break")
        self.change(unit=scale)

    def px(self, pixels: float) -> int:
        """Convert unscaled pixels to physical pixels of this screen."""
        return round(pixels * self.scale)

    def colour(self, name: str) -> str:
        """Return a theme colour by name."""
        return str(getattr(self.theme, name))

    def change(self, theme: Theme | None = None, unit: float = 0) -> None:
        """Change the theme or the scale factor of text, and repaint all styles."""
        if unit and unit != self.unit:
            self.unit = unit
            for name, (pixels, _is_bold) in FONTS.items():
                self.root.tk.call("font", "configure", name, "-size", -max(7, round(pixels * unit)))
        elif theme in (None, self.theme):
            return
        self.theme = theme or self.theme
        paint_widgets(self)
        for paint in self._paint_functions.values():
            paint()

    def _register(self, name: str, paint: Callable[[], object]) -> str:
        """Run `paint` now and after each theme change, unless `name` is already registered."""
        if name not in self._paint_functions:
            self._paint_functions[name] = paint
            paint()
        return name

    def picture(self, name: str, draw: Callable[[], Image.Image]) -> str:
        """Register a named Tk image, which Tk keeps even without a Python object."""
        create = partial(self.root.tk.call, "image", "create", "photo", name, "-format", "png")
        return self._register(name, lambda: create("-data", encode(draw())))

    def icon(self, name: str, colour: str = "ink", background: str = "") -> str:
        """Return an icon's image, faded into `background` if one is given."""

        def draw() -> Image.Image:
            ink = self.colour(colour)
            ink = mixed(ink, self.colour(background), 0.55) if background else ink
            return glyph(name, round(ICON_SIDE * self.unit), ink)

        return self.picture(f"icon.{name}.{colour}.{background}", draw)

    def _with_colours(self, style: str, background: str, ink: str = "ink") -> str:
        def paint() -> None:
            colours = {"background": self.colour(background), "foreground": self.colour(ink)}
            self.style.configure(style, **colours)

        return self._register(style, paint)

    def text(self, background: str, colour: str = "ink") -> str:
        """Return the style of a label."""
        return self._with_colours(f"{background}.{colour}.TLabel", background, colour)

    def frame(self, background: str) -> str:
        """Return the style of a plain frame."""
        return self._with_colours(f"{background}.TFrame", background)

    def _element(self, name: str, size: tuple[int, int], border: int, *pictures: Any) -> str:
        """Create a style element from images, without stretching their borders."""
        if name not in self.style.element_names():
            options: Any = {"width": size[0], "height": size[1], "border": border, "padding": 0}
            self.style.element_create(name, "image", *pictures, sticky="nswe", **options)
        return name

    def card(self, background: str, face: str = "panel") -> str:
        """Return the style of a frame with rounded corners."""
        radius = self.px(RADIUS["button"])
        side, style = 4 * radius, f"{background}.{face}.Card.TFrame"
        draw = lambda: rounded(side, side, radius, self.colour(face))  # noqa: E731
        picture = self.picture(f"card.{face}", draw)
        element = self._element(f"{face}.card", (8, 8), radius + 1, picture)
        self.style.layout(style, [(element, {"sticky": "nswe"})])
        return self._with_colours(style, background)

    def bar(self, colour: str, track: str, background: str, *, is_upright: bool = False) -> str:
        """Return the style of a progress bar."""
        thick = self.px(18 if is_upright else 8)
        size = (thick, 4 * thick) if is_upright else (4 * thick, thick)
        kind = "Vertical" if is_upright else "Horizontal"
        style = f"{background}.{track}.{colour}.{kind}.TProgressbar"
        parts = []
        for name, part in ((track, "trough"), (colour, "pbar")):
            draw = partial(lambda name: rounded(*size, thick // 2, self.colour(name)), name)
            picture = self.picture(f"bar.{name}.{kind}", draw)
            element = f"{name}.{kind}.{part}"
            parts.append(self._element(element, (thick, thick), thick // 2, picture))
        side, sticky = ("bottom", "we") if is_upright else ("left", "ns")
        filled: Any = (parts[1], {"side": side, "sticky": sticky})
        self.style.layout(style, [(parts[0], {"sticky": "nswe", "children": [filled]})])
        return self._with_colours(style, background)

    def button(self, background: str, kind: str) -> str:
        """Return the style of a button.

        Args:
            background: Name of the theme colour behind the button.
            kind: "primary", "plain", "danger" or "ghost". A ghost button has no background colour.
        """
        room, radius = self.px(Button.RING_PADDING), self.px(RADIUS["button"])
        style = f"{background}.{kind}.TButton"
        default = "panel" if background != "panel" else "raised"
        face = {"primary": "accent", "ghost": background}.get(kind, default)
        side = 4 * radius + 2 * room

        def draw(shade: float, ring: str) -> Image.Image:
            inner = (room * 3 // 5, ""), (room, mixed(self.colour(face), self.theme.ink, shade))
            return rounded(side, side, radius + room, self.colour(ring) if ring else "", *inner)

        states = {"": (0, ""), "pressed": (0.16, ""), "focus": (0, "focus"), "active": (0.08, "")}
        plain, *others = (
            (state, self.picture(f"{style}.{state}", partial(draw, *colours)))
            for state, colours in states.items()
        )
        disabled = ("disabled", plain[1])
        element = self._element(f"{style}.face", (8, 8), room + radius, plain[1], disabled, *others)
        label_part: Any = ("Button.label", {"sticky": ""})
        padding: Any = ("Button.padding", {"sticky": "nswe", "children": [label_part]})
        self.style.layout(style, [(element, {"sticky": "nswe", "children": [padding]})])

        def paint() -> None:
            ink, unit = self.colour(BUTTON_INKS.get(kind, "ink")), self.unit
            label = max(round(ICON_SIDE * unit), line_height(self.root, "button"))
            pad = round(10 * unit) + room, (round(44 * unit) - label) // 2 + room
            font = "tools" if background == "page" else "button"
            self.style.configure(style, background=self.colour(background), foreground=ink)
            self.style.configure(style, padding=pad, space=round(8 * unit), width=0)
            self.style.configure(style, font=font, anchor="center")
            faint = mixed(ink, self.colour(face), 0.55)
            self.style.map(style, foreground=[("disabled", faint)], background=[])

        return self._register(style, paint)


def look_of(widget: tk.Misc) -> Look:
    """Return the `Look` of a widget's window."""
    look: Look = vars(widget.nametowidget("."))["look"]
    return look


# Widgets


class Text(ttk.Label):
    """A label that adapts its text to the available width.

    Args:
        parent: The parent widget.
        text: The text.
        kind: Name of a font in `FONTS`. If `fit` is "line", several names separated by spaces are
            tried in order until the text fits.
        colour: Name of the text colour in the theme.
        background: Name of the background colour in the theme.
        fit: "wrap" to wrap lines, "line" to truncate to one line, or "" to keep the natural size.
    """

    def __init__(
        self,
        parent: tk.Misc,
        text: str = "",
        kind: str = "small",
        colour: str = "ink",
        background: str = "raised",
        fit: str = "wrap",
        **options: Any,
    ) -> None:
        self._fonts, self._fit = kind.split(), fit
        self._versions: tuple[str, ...] = (text,)
        style = look_of(parent).text(background, colour)
        super().__init__(parent, text=text, font=self._fonts[0], style=style, **options)
        if fit == "line":
            self.configure(width=1)
        if fit:
            self.bind("<Configure>", lambda event: self.fit(event.width))

    @property
    def text(self) -> str:
        """The displayed text."""
        return str(self["text"])

    def show(self, *versions: str) -> None:
        """Show the first version of a text that fits into the label."""
        if versions != self._versions:
            self._versions = versions
            self.configure(text=versions[0])
            self.fit(self.winfo_width())

    def fit(self, width: int) -> None:
        """Fit the text to a label width in pixels."""
        if self._fit == "wrap":
            self.configure(wraplength=max(width - 4, 60))
        elif self._fit == "line" and width > 1:
            self._fit_line(width - 4)

    def _fit_line(self, width: int) -> None:
        for text, font in product(self._versions, self._fonts):
            if text_width(self, text, font) <= width:
                break
        while len(text) > 1 and text_width(self, text, font) > width:
            text = f"{text[:-2].rstrip()}…"
        self.configure(font=font, text=text)


class TextArea(ttk.Frame):
    """A text area with a fixed number of lines, so that the widgets around it never move.

    If the text has two lines, the first line has a larger font.

    Attributes:
        text: The whole text.
    """

    def __init__(
        self, parent: tk.Misc, rows: int, kind: str, colour: str = "ink", background: str = "raised"
    ) -> None:
        super().__init__(parent, style=look_of(parent).frame(background))
        self.pack_propagate(False)
        self.text, self._kind = "", kind
        self._lead = Text(self, "", "button", "good", background)
        self._rest = Text(self, "", kind, colour, background)
        self._rest.pack(fill="both", expand=True)
        self.reserve(rows)

    def reserve(self, rows: int) -> None:
        """Set the height in rows of text. The first row may have a larger font than the others."""
        first = max(line_height(self, kind) for kind in ("button", self._kind))
        self.configure(height=first + (rows - 1) * line_height(self, self._kind) + 8)

    def show(self, text: str) -> None:
        """Show a text."""
        self.text = text
        lead, _newline, rest = text.rpartition("\n")
        self._rest.configure(anchor="nw", text=rest)
        self._lead.configure(text=lead)
        self._lead.pack(fill="x", before=self._rest) if lead else self._lead.pack_forget()


class NumberCard(ttk.Frame):
    """A card that shows a label and, below it, a number.

    Attributes:
        value: The number.
        note: Text in the top right corner of the card.
    """

    def __init__(
        self,
        parent: tk.Misc,
        label: str,
        value: str = "",
        background: str = "raised",
        fit: str = "line",
    ) -> None:
        look = look_of(parent)
        pad = look.px(9), look.px(8)
        super().__init__(parent, style=look.card(background), padding=pad)
        Text(self, label, "caption", "muted", "panel", fit).pack(fill="x")
        self.value = Text(self, value, "title button small caption", "ink", "panel", fit)
        self.value.pack(fill="x")
        self.note = Text(self, "", "caption", "good", "panel", "")


class NumberCards(ttk.Frame):
    """A grid of number cards, with rows of equal length.

    Args:
        parent: The parent widget.
        figures: Labels and values.
    """

    def __init__(self, parent: tk.Misc, figures: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(parent, style=look_of(parent).frame("raised"))
        self._cards: list[NumberCard] = []
        self.show(figures)
        self.bind("<Configure>", lambda event: self.lay_out(event.width))

    def show(self, figures: Sequence[tuple[str, str]]) -> None:
        """Replace the cards."""
        for card in self._cards:
            card.destroy()
        self._cards = [NumberCard(self, *each) for each in figures]
        self.lay_out(self.winfo_width())

    def lay_out(self, width: int) -> None:
        """Arrange the cards in rows that fit into a width in pixels."""
        if not self._cards:
            return
        count, min_width = len(self._cards), MIN_CARD_WIDTH * look_of(self).unit
        rows = -(-count // max(1, min(count, int(width / min_width))))
        columns = -(-count // rows)
        for column in range(max(self.grid_size()[0], columns)):
            is_used = column < columns
            self.columnconfigure(column, weight=int(is_used), uniform="cards" * is_used)
        for index, card in enumerate(self._cards):
            row, column = divmod(index, columns)
            card.grid(row=row, column=column, sticky="nswe", padx=2, pady=2)


class Button(ttk.Button):
    """A button with text, an icon or both. Hidden text is shown as a tooltip.

    Args:
        parent: The parent widget.
        text: The text or tooltip.
        command: Called when the button is pressed.
        kind: "primary", "plain", "danger" or "ghost". A ghost button has no background colour.
        icon: Name of an icon in `py2048.presentation.board_image.LINES`.
        background: Name of the theme colour behind the button.
        has_text: Whether the text is shown beside the icon.
    """

    RING_PADDING = 5  # Space for the focus ring around a button, in unscaled pixels.

    def __init__(
        self,
        parent: tk.Misc,
        text: str,
        command: Callable[[], object],
        *,
        kind: str = "plain",
        icon: str = "",
        background: str = "raised",
        has_text: bool = True,
    ) -> None:
        self._look, self._ink = look_of(parent), BUTTON_INKS.get(kind, "ink")
        self._background = background
        self._tip: ttk.Label | None = None
        style = self._look.button(background, kind)
        super().__init__(parent, command=command, style=style)
        self.show(text, icon)
        self.configure(compound="left" if has_text or not icon else "image")
        for event in ("<Enter>", "<FocusIn>"):
            self.bind(event, lambda _: self._show_tooltip())
        for event in ("<Leave>", "<FocusOut>", "<ButtonPress>", "<Unmap>"):
            self.bind(event, lambda _: self._hide_tooltip())

    @property
    def text(self) -> str:
        """The text or tooltip."""
        return str(self["text"])

    def show(self, text: str, icon: str = "") -> None:
        """Change the button's text and, if given, its icon."""
        self.configure(text=text)
        if icon:
            faint = self._look.icon(icon, self._ink, self._background)
            images: Any = self._look.icon(icon, self._ink), "disabled", faint
            self.configure(image=images)

    def enable(self, *, is_on: bool) -> None:
        """Enable or disable the button."""
        self.state(["!disabled" if is_on else "disabled"])

    def _show_tooltip(self) -> None:
        if str(self["compound"]) != "image" or self._tip:
            return
        top = self.winfo_toplevel()
        tip = self._tip = Text(top, self.text, "small", "page", "ink", "", padding=self._look.px(4))
        x = self.winfo_rootx() - top.winfo_rootx() + (self.winfo_width() - tip.winfo_reqwidth()) / 2
        x = max(0, min(x, top.winfo_width() - tip.winfo_reqwidth()))
        tip.place(x=x, y=self.winfo_rooty() - top.winfo_rooty(), anchor="sw")

    def _hide_tooltip(self) -> None:
        if self._tip:
            self._tip.destroy()
            self._tip = None


class Flow(ttk.Frame):
    """Rows of buttons that wrap at the available width and fill each row."""

    def __init__(self, parent: tk.Misc, background: str = "raised") -> None:
        super().__init__(parent, style=look_of(parent).frame(background))
        self._background, self._buttons = background, list[Button]()
        self.bind("<Configure>", lambda event: self.lay_out(event.width))

    def add(self, text: str, command: Callable[[], object], **options: Any) -> Button:
        """Add a button, and pass `options` to `Button`."""
        self._buttons.append(Button(self, text, command, background=self._background, **options))
        return self._buttons[-1]

    def lay_out(self, width: int) -> None:
        """Arrange the buttons in rows that fit into a width in pixels."""
        rows: list[list[Button]] = [[]]
        width_of = Button.winfo_reqwidth
        for button in self._buttons:
            if rows[-1] and sum(map(width_of, (*rows[-1], button))) > width:
                rows.append([])
            rows[-1].append(button)
        height = max(button.winfo_reqheight() for button in self._buttons)
        for index, row in enumerate(rows):
            x, extra = 0, (width - sum(map(width_of, row))) // len(row)
            for button in row:
                button.place(x=x, y=index * height, width=width_of(button) + extra, height=height)
                x += width_of(button) + extra
        self.configure(width=1, height=height * len(rows))


class Graph(tk.Canvas):
    """A graph with horizontal grid lines and bars, dots or a line.

    Args:
        parent: The parent widget.
        draw: Function that draws the graph, called after every change of size or theme.
        height: Initial height in unscaled pixels.
        background: Name of the background colour in the theme.
    """

    def __init__(
        self,
        parent: tk.Misc,
        draw: Callable[[Graph], object],
        height: int = 80,
        background: str = "panel",
    ) -> None:
        self.look, self._background = look_of(parent), background
        super().__init__(parent, highlightthickness=0, width=10, height=self.look.px(height))
        self._draw, self._box, self._max = draw, (0, 0, 0, 0), 1.0
        self.bind("<Configure>", lambda _: self.draw())
        self.bind("<<ThemeChanged>>", lambda _: self.draw())

    def draw(self) -> None:
        """Redraw the graph."""
        self.delete("all")
        self.configure(background=self.look.colour(self._background))
        if min(self.winfo_width(), self.winfo_height()) > 2 * self.look.px(12):
            self._draw(self)

    def begin(self, top: float, lines: dict[float, str], footer: int = 0) -> None:
        """Set the vertical scale of the graph and draw the grid lines.

        Args:
            top: Value at the top of the graph.
            lines: Labels of the grid lines by value.
            footer: Height in pixels reserved below the graph.
        """
        edge = self.look.px(6)
        label_width = max((text_width(self, text, "caption") for text in lines.values()), default=0)
        left, right = label_width + edge if label_width else 0, self.winfo_width()
        self._max = top or 1.0
        self._box = left, edge + footer // 2, right, self.winfo_height() - edge - footer
        for value, text in lines.items():
            y = self.y(value)
            self.create_line(left, y, right, y, fill=self.look.theme.line)
            self.write(label_width, y, text, anchor="e")

    def x(self, share: float) -> float:
        """Convert a position from 0 (left) to 1 (right) to an x coordinate."""
        return self._box[0] + share * (self._box[2] - self._box[0])

    def y(self, value: float) -> float:
        """Return the y coordinate of a value."""
        return self._box[3] - value / self._max * (self._box[3] - self._box[1])

    def write(self, x: float, y: float, text: str, colour: str = "muted", **options: Any) -> None:
        """Write a small text."""
        self.create_text(x, y, text=text, fill=self.look.colour(colour), font="caption", **options)

    def bar(self, index: int, count: int, value: float, colour: str) -> tuple[float, float, float]:
        """Draw a bar, and return its x coordinate, its top and the width for its label."""
        width = self.x(1 / count) - self.x(0)
        x, top = self.x((index + 0.5) / count), self.y(value)
        half = min(0.42 * width, 30 * self.look.unit)
        box = x - half, min(top, self._box[3] - 2), x + half, self._box[3]
        self.create_rectangle(*box, fill=colour, width=0, tags="bar")
        return x, top, width

    def dot(self, x: float, y: float, colour: str, tag: str = "dot") -> None:
        """Draw a dot, moved inwards if the edge of the graph would cut it off."""
        radius = self.look.px(4 if tag == "tick" else 3)
        x = max(self._box[0] + radius, min(x, self._box[2] - radius))
        box = x - radius, y - radius, x + radius, y + radius
        self.create_oval(*box, fill=colour, outline=self.look.colour(self._background), tags=tag)

    def line(
        self,
        points: list[tuple[float, float]],
        colour: str = "accent",
        *,
        is_filled: bool = False,
    ) -> None:
        """Draw a line, optionally with a tinted area below the line."""
        theme = self.look.theme
        if len(points) > 1:
            if is_filled:
                bottom = self.winfo_height()
                outline = [(points[0][0], bottom), *points, (points[-1][0], bottom)]
                self.create_polygon(outline, fill=mixed(theme.panel, theme.accent, 0.2), width=0)
            self.create_line(points, fill=self.look.colour(colour), width=2.5 * self.look.scale)


# Standard ttk and Tk widgets

COLOURS = (
    (".", "background=raised foreground=ink fieldbackground=panel troughcolor=panel"),
    (".", "bordercolor=line lightcolor=panel darkcolor=panel focuscolor=focus"),
    (".", "selectbackground=accent selectforeground=on_accent insertcolor=ink arrowcolor=ink"),
    ("TCombobox TEntry TScale", "background=panel"),
    ("Treeview", "background=raised"),
)
"""Theme colours of ttk options, by style name."""

STATES = (
    (".", "disabled", "foreground=muted"),
    ("TCombobox TEntry", "focus", "bordercolor=focus lightcolor=focus darkcolor=focus"),
    ("TCombobox TEntry", "!focus", "selectbackground=panel selectforeground=ink"),
    ("TCombobox TEntry", "readonly", "fieldbackground=panel"),
    ("TCombobox TEntry TScale", "active", "background=line"),
    ("TScale", "focus", "background=focus"),
    ("TCheckbutton", "active", "background=raised"),
    ("TCheckbutton", "selected", "indicatorbackground=accent indicatorforeground=on_accent"),
    ("Treeview", "selected", "background=accent foreground=on_accent"),
)
"""Theme colours of ttk widgets. Each row has a style name, a widget state and its options."""

CLASSIC_WIDGETS = {
    "Listbox": "background=panel foreground=ink selectBackground=accent selectForeground=on_accent",
    "Menu": "background=panel foreground=ink activeBackground=accent activeForeground=on_accent"
    " selectColor=accent disabledForeground=muted",
}
"""Tk colour options for drop-down lists and menus, because ttk styles do not apply to them."""


def _options(look: Look, text: str) -> dict[str, str]:
    """Parse options such as ``background=panel``, and look up each theme colour."""
    pairs = (each.split("=") for each in text.split())
    return {option: look.colour(name) for option, name in pairs}


def paint_widgets(look: Look) -> None:
    """Apply the theme to standard widgets."""
    style = look.style
    look.root.configure(background=look.theme.page)
    style.configure(".", font="small")
    style.configure("TEntry", padding=look.px(6))
    style.configure("TCombobox", padding=look.px(6))
    style.configure("Treeview", rowheight=round(ROW_HEIGHT * look.unit))
    style.layout("Treeview", [("Treeview.treearea", {"sticky": "nswe"})])
    for names, text in COLOURS:
        for name in names.split():
            style.configure(name, **_options(look, text))
    for names, state, text in STATES:
        for name in names.split():
            for option, colour in _options(look, text).items():
                style.map(name, None, **{option: [(state, colour)]})
    listbox = {**_options(look, CLASSIC_WIDGETS["Listbox"]), "font": "small"}
    for option, colour in listbox.items():
        look.root.option_add(f"*TCombobox*Listbox.{option}", colour)


def colour_menu(menu: tk.Menu) -> None:
    """Apply the theme to a menu."""
    flat: dict[str, Any] = {"borderwidth": 1, "relief": "flat", "activeborderwidth": 0}
    colours = _options(look_of(menu), CLASSIC_WIDGETS["Menu"])
    menu.configure(flat | {"font": "small"} | {key.lower(): colours[key] for key in colours})


def open_below(button: tk.Misc, menu: tk.Menu) -> None:
    """Open a menu below a button."""
    menu.tk_popup(button.winfo_rootx(), button.winfo_rooty() + button.winfo_height())
