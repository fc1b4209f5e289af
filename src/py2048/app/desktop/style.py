"""The look of the window: letters, colours and faces by name, and the few widgets it needs.

Everything is a widget of ttk in a style that `Look` makes, so Tk itself lays it out, wraps it,
gives it the focus and paints it anew in another theme; only boards and graphs are drawn.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from functools import partial
from tkinter import ttk
from typing import TYPE_CHECKING, Any

from py2048.presentation.board_image import encode, glyph, rounded
from py2048.presentation.themes import RADIUS, TYPE, Theme, mixed

if TYPE_CHECKING:
    from PIL import Image

FAMILIES = ("Inter", "Segoe UI Variable Text", "Cantarell", "Noto Sans")
"""The families that texts are set in, the best first; else the system's own."""

KINDS = {name: (pixels, weight >= 600) for name, (pixels, _height, weight) in TYPE.items()} | {
    "tiny": (9, True),
    "label": (13, True),
    "lead": (16, True),
    "tools": (15, True),
}
"""The fonts by their names: pixels at the usual size, and whether they are bold."""

ROW = 28
"""The height of a line of a table."""

RING, ICON = 5, 20
"""The room around a button for the ring of the focus, 3 pixels, 2 off; the side of an icon."""

LEAST = 92
"""The least width of the card of a number, in pixels of usual size."""

INKS = {"primary": "on_accent", "danger": "danger", "ghost": "muted"}
"""The colours of the words on buttons that are not plain."""


def measured(root: tk.Misc, text: str, kind: str) -> int:
    """Return how many pixels wide `text` is in a font of `KINDS`."""
    return int(root.tk.call("font", "measure", kind, text))


def line_height(root: tk.Misc, kind: str) -> int:
    """Return how many pixels high a line is in a font of `KINDS`."""
    return int(root.tk.call("font", "metrics", kind, "-linespace"))


class Look:
    """The styles of all widgets, made when they are first asked for and painted by the theme.

    Args:
        root: the window.
        theme: the colours.
        scale: how many pixels of this screen are one of an ordinary screen.

    Attributes:
        unit: how many pixels are one of the usual size; large windows have larger letters.
    """

    def __init__(self, root: tk.Tk, theme: Theme, scale: float) -> None:
        self.root, self.theme, self.scale, self.unit = root, theme, scale, 0.0
        vars(root)["look"] = self
        self.style, self._made = ttk.Style(root), dict[str, Callable[[], object]]()
        self.style.theme_use("clam")
        call = root.tk.call
        named = (str(call("font", "actual", (each, -13), "-family")) for each in FAMILIES)
        usual = str(call("font", "actual", "TkDefaultFont", "-family"))
        family = next((each for each in named if each in FAMILIES), usual)
        for name, (_pixels, is_bold) in KINDS.items():
            weight = "bold" if is_bold else "normal"
            call("font", "create", name, "-family", family, "-weight", weight)
        for key in ("<space>", "<Return>", "<KP_Enter>"):
            call("bind", "TButton", key, "%W invoke; break")
        self.change(unit=scale)

    def px(self, pixels: float) -> int:
        """Return a distance in pixels of this screen."""
        return round(pixels * self.scale)

    def colour(self, name: str) -> str:
        """Return a colour of the theme by its name."""
        return str(getattr(self.theme, name))

    def change(self, theme: Theme | None = None, unit: float = 0) -> None:
        """Paint everything in another theme, or with larger or smaller letters."""
        if unit and unit != self.unit:
            self.unit = unit
            for name, (pixels, _is_bold) in KINDS.items():
                self.root.tk.call("font", "configure", name, "-size", -max(7, round(pixels * unit)))
        elif theme in (None, self.theme):
            return
        self.theme = theme or self.theme
        paint_widgets(self)
        for paint in self._made.values():
            paint()

    def _make(self, name: str, paint: Callable[[], object]) -> str:
        """Paint something that is new, and again whenever the theme changes; return its name."""
        if name not in self._made:
            self._made[name] = paint
            paint()
        return name

    def picture(self, name: str, draw: Callable[[], Image.Image]) -> str:
        """Return a picture of Tk, which knows it by its name, so nothing of Python's keeps it."""
        create = partial(self.root.tk.call, "image", "create", "photo", name, "-format", "png")
        return self._make(name, lambda: create("-data", encode(draw())))

    def icon(self, name: str, colour: str = "ink", ground: str = "") -> str:
        """Return an icon; on a `ground`, as faint as a button that cannot be pressed."""

        def draw() -> Image.Image:
            ink = self.colour(colour)
            ink = mixed(ink, self.colour(ground), 0.55) if ground else ink
            return glyph(name, round(ICON * self.unit), ink)

        return self.picture(f"icon.{name}.{colour}.{ground}", draw)

    def _on(self, style: str, ground: str, ink: str = "ink") -> str:
        """Return a style that stands on a ground."""

        def paint() -> None:
            self.style.configure(style, background=self.colour(ground), foreground=self.colour(ink))

        return self._make(style, paint)

    def text(self, ground: str, colour: str = "ink") -> str:
        """Return the style of words."""
        return self._on(f"{ground}.{colour}.TLabel", ground, colour)

    def frame(self, ground: str) -> str:
        """Return the style of a frame without a face."""
        return self._on(f"{ground}.TFrame", ground)

    def _element(self, name: str, size: tuple[int, int], border: int, *pictures: Any) -> str:
        """Make an element of a style from pictures, whose middle is repeated as often as needed."""
        if name not in self.style.element_names():
            room: Any = {"width": size[0], "height": size[1], "border": border, "padding": 0}
            self.style.element_create(name, "image", *pictures, sticky="nswe", **room)
        return name

    def card(self, ground: str, face: str = "panel") -> str:
        """Return the style of a frame with a rounded face that stands on a ground."""
        radius = self.px(RADIUS["button"])
        side, style = 4 * radius, f"{ground}.{face}.Card.TFrame"
        draw = lambda: rounded(side, side, radius, self.colour(face))  # noqa: E731
        element = self._element(
            f"{face}.card", (8, 8), radius + 1, self.picture(f"card.{face}", draw)
        )
        self.style.layout(style, [(element, {"sticky": "nswe"})])
        return self._on(style, ground)

    def bar(self, colour: str, track: str, ground: str, *, is_upright: bool = False) -> str:
        """Return the style of a bar that is filled in part."""
        thick = self.px(18 if is_upright else 8)
        size = (thick, 4 * thick) if is_upright else (4 * thick, thick)
        kind = "Vertical" if is_upright else "Horizontal"
        style = f"{ground}.{track}.{colour}.{kind}.TProgressbar"
        parts = []
        for name, part in ((track, "trough"), (colour, "pbar")):
            draw = partial(lambda name: rounded(*size, thick // 2, self.colour(name)), name)
            picture = self.picture(f"bar.{name}.{kind}", draw)
            parts.append(
                self._element(f"{name}.{kind}.{part}", (thick, thick), thick // 2, picture)
            )
        way = {"side": "bottom", "sticky": "we"} if is_upright else {"side": "left", "sticky": "ns"}
        layout: list[Any] = [(parts[0], {"sticky": "nswe", "children": [(parts[1], way)]})]
        self.style.layout(style, layout)
        return self._on(style, ground)

    def button(self, ground: str, kind: str) -> str:
        """Return the style of a button.

        Args:
            ground: the colour of the theme that it stands on.
            kind: "primary", "plain", "danger", or "ghost" for one without a face.
        """
        style, room, radius = f"{ground}.{kind}.TButton", self.px(RING), self.px(RADIUS["button"])
        raised = "raised" if ground == "panel" else "panel"
        face = {"primary": "accent", "ghost": ground}.get(kind, raised)
        side = 4 * radius + 2 * room

        def draw(shade: float, ring: str) -> Image.Image:
            inner = (room * 3 // 5, ""), (room, mixed(self.colour(face), self.theme.ink, shade))
            return rounded(side, side, radius + room, self.colour(ring) if ring else "", *inner)

        states = {"": (0, ""), "pressed": (0.16, ""), "focus": (0, "focus"), "active": (0.08, "")}
        plain, *others = (
            (state, self.picture(f"{style}.{state}", partial(draw, *how)))
            for state, how in states.items()
        )
        disabled = ("disabled", plain[1])
        element = self._element(f"{style}.face", (8, 8), room + radius, plain[1], disabled, *others)
        label_part: Any = ("Button.label", {"sticky": ""})
        padding: Any = ("Button.padding", {"sticky": "nswe", "children": [label_part]})
        self.style.layout(style, [(element, {"sticky": "nswe", "children": [padding]})])

        def paint() -> None:
            ink, unit = self.colour(INKS.get(kind, "ink")), self.unit
            label = max(round(ICON * unit), line_height(self.root, "button"))
            pad = round(10 * unit) + room, (round(44 * unit) - label) // 2 + room
            self.style.configure(style, background=self.colour(ground), foreground=ink, padding=pad)
            font = "tools" if ground == "page" else "button"
            self.style.configure(style, space=round(8 * unit), font=font, width=0, anchor="center")
            faint = mixed(ink, self.colour(face), 0.55)
            self.style.map(style, foreground=[("disabled", faint)], background=[])

        return self._make(style, paint)


def look_of(widget: tk.Misc) -> Look:
    """Return the look of the window that a widget is in."""
    look: Look = vars(widget.nametowidget("."))["look"]
    return look


# Widgets


class Text(ttk.Label):
    """Words.

    Args:
        parent: the widget to stand in.
        text: what they are.
        kind: their font, of `KINDS`; for a line several, of which the first that fits is taken.
        colour: theirs, by its name in the theme.
        ground: what they stand on, the same.
        fit: "wrap" in the room that there is, or a "line" that is cut to it; else the room follows.
    """

    def __init__(
        self,
        parent: tk.Misc,
        text: str = "",
        kind: str = "small",
        colour: str = "ink",
        ground: str = "raised",
        fit: str = "wrap",
        **options: Any,
    ) -> None:
        self.kinds, self._fit = kind.split(), fit
        self._offers: tuple[str, ...] = (text,)
        style = look_of(parent).text(ground, colour)
        super().__init__(parent, text=text, font=self.kinds[0], style=style, **options)
        if fit == "line":
            self.configure(width=1)
        if fit:
            self.bind("<Configure>", lambda event: self.fit(event.width))

    @property
    def text(self) -> str:
        """What is shown."""
        return str(self["text"])

    def show(self, *offers: str) -> None:
        """Show a text; of several, the first that has room."""
        if offers != self._offers:
            self._offers = offers
            self.configure(text=offers[0])
            self.fit(self.winfo_width())

    def fit(self, width: int) -> None:
        """Lie in a width."""
        if self._fit == "wrap":
            self.configure(wraplength=max(width, 60))
        elif self._fit == "line" and width > 1:
            self._fit_line(width - 4)

    def _fit_line(self, width: int) -> None:
        ways = [(kind, text) for text in self._offers for kind in self.kinds]
        least = self.kinds[-1], self._offers[-1]
        kind, text = next((way for way in ways if measured(self, way[1], way[0]) <= width), least)
        while len(text) > 1 and measured(self, text, kind) > width:
            text = f"{text[:-2].rstrip()}…"
        self.configure(font=kind, text=text)


class Lines(ttk.Frame):
    """Words with room for some lines, however many there are, so that what is around them stays.

    Attributes:
        text: what is said, all of it; the first of several lines is the larger.
    """

    def __init__(
        self, parent: tk.Misc, count: int, kind: str, colour: str = "ink", ground: str = "raised"
    ) -> None:
        super().__init__(parent, style=look_of(parent).frame(ground))
        self.pack_propagate(False)
        self.text, self._kind = "", kind
        self._lead = Text(self, "", "button", "good", ground)
        self._rest = Text(self, "", kind, colour, ground)
        self._rest.pack(side="bottom", fill="both", expand=True)
        self.reserve(count)

    def reserve(self, count: int) -> None:
        """Keep room for this many lines."""
        self.configure(height=count * line_height(self, self._kind) + 4)

    def show(self, text: str) -> None:
        """Say something."""
        self.text = text
        lead, _newline, rest = text.rpartition("\n")
        self._rest.configure(anchor="nw", text=rest)
        self._lead.configure(text=lead)
        self._lead.pack(fill="x") if lead else self._lead.pack_forget()


class Figure(ttk.Frame):
    """A number on a card, under what it is.

    Attributes:
        value: the number.
        note: words in the corner, over what it is.
    """

    def __init__(
        self,
        parent: tk.Misc,
        label: str,
        value: str = "",
        ground: str = "raised",
        fit: str = "line",
    ) -> None:
        look = look_of(parent)
        pad = look.px(9), look.px(8)
        super().__init__(parent, style=look.card(ground), padding=pad)
        Text(self, label, "caption", "muted", "panel", fit).pack(fill="x")
        self.value = Text(self, value, "title button small caption", "ink", "panel", fit)
        self.value.pack(fill="x")
        self.note = Text(self, "", "caption", "good", "panel", "")


class Figures(ttk.Frame):
    """Numbers on cards, in even rows of as many as have room.

    Args:
        parent: the widget to stand in.
        figures: what each is, and its value.
    """

    def __init__(self, parent: tk.Misc, figures: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(parent, style=look_of(parent).frame("raised"))
        self._cards: list[Figure] = []
        self.show(figures)
        self.bind("<Configure>", lambda event: self.lay_out(event.width))

    def show(self, figures: Sequence[tuple[str, str]]) -> None:
        """Show others."""
        for card in self._cards:
            card.destroy()
        self._cards = [Figure(self, *each) for each in figures]
        self.lay_out(self.winfo_width())

    def lay_out(self, width: int) -> None:
        """Put the cards into rows of a width."""
        if not self._cards:
            return
        most = max(1, min(len(self._cards), int(width / (LEAST * look_of(self).unit))))
        columns = -(-len(self._cards) // -(-len(self._cards) // most))
        for column in range(max(self.grid_size()[0], columns)):
            used = column < columns
            self.columnconfigure(column, weight=int(used), uniform="cards" * used)
        for place, card in enumerate(self._cards):
            row, column = divmod(place, columns)
            card.grid(row=row, column=column, sticky="nswe", padx=2, pady=2)


class Button(ttk.Button):
    """A button. The mouse, Space and Enter press it, Tab reaches it.

    Args:
        parent: the widget to stand in.
        text: its words; where only its icon is shown, they come when the mouse or Tab reaches it.
        command: what it does.
        kind: "primary", "plain", "danger", or "ghost" for one without a face.
        icon: a name of `py2048.presentation.board_image.LINES`.
        ground: the colour of the theme that it stands on, by its name.
        has_words: whether its words are shown, if it has an icon.
    """

    def __init__(
        self,
        parent: tk.Misc,
        text: str,
        command: Callable[[], object],
        *,
        kind: str = "plain",
        icon: str = "",
        ground: str = "raised",
        has_words: bool = True,
    ) -> None:
        self._look, self._ink, self._ground = look_of(parent), INKS.get(kind, "ink"), ground
        self._tip: ttk.Label | None = None
        style = self._look.button(ground, kind)
        super().__init__(parent, command=command, style=style)
        self.show(text, icon)
        self.show_words(is_on=has_words or not icon)
        for event in ("<Enter>", "<FocusIn>"):
            self.bind(event, lambda _: self._say_name())
        for event in ("<Leave>", "<FocusOut>", "<ButtonPress>", "<Unmap>"):
            self.bind(event, lambda _: self._forget_name())

    @property
    def text(self) -> str:
        """Its words."""
        return str(self["text"])

    def show(self, text: str, icon: str = "") -> None:
        """Change its words and its icon."""
        self.configure(text=text)
        if icon:
            faint = self._look.icon(icon, self._ink, self._ground)
            images: Any = self._look.icon(icon, self._ink), "disabled", faint
            self.configure(image=images)

    def show_words(self, *, is_on: bool) -> None:
        """Show its words, or only its icon."""
        self.configure(compound="left" if is_on else "image")

    def enable(self, *, is_on: bool) -> None:
        """Let it be pressed, or not."""
        self.state(["!disabled" if is_on else "disabled"])

    def _say_name(self) -> None:
        """Say what an icon is for, above it."""
        if str(self["compound"]) != "image" or self._tip:
            return
        top = self.winfo_toplevel()
        tip = self._tip = Text(top, self.text, "small", "page", "ink", "", padding=self._look.px(4))
        x = self.winfo_rootx() - top.winfo_rootx() + (self.winfo_width() - tip.winfo_reqwidth()) / 2
        x = max(0, min(x, top.winfo_width() - tip.winfo_reqwidth()))
        tip.place(x=x, y=self.winfo_rooty() - top.winfo_rooty(), anchor="sw")

    def _forget_name(self) -> None:
        if self._tip:
            self._tip.destroy()
            self._tip = None


class Flow(ttk.Frame):
    """Buttons side by side, in as many rows as they need; each row is filled."""

    def __init__(self, parent: tk.Misc, ground: str = "raised") -> None:
        super().__init__(parent, style=look_of(parent).frame(ground))
        self._ground, self._buttons = ground, list[Button]()
        self.bind("<Configure>", lambda event: self.lay_out(event.width))

    def add(self, text: str, command: Callable[[], object], **options: Any) -> Button:
        """Add a button, as `Button` says."""
        self._buttons.append(Button(self, text, command, ground=self._ground, **options))
        return self._buttons[-1]

    def lay_out(self, width: int) -> None:
        """Put the buttons into rows of a width."""
        rows: list[list[Button]] = [[]]
        wide = Button.winfo_reqwidth
        for each in self._buttons:
            if rows[-1] and sum(map(wide, (*rows[-1], each))) > width:
                rows.append([])
            rows[-1].append(each)
        high = max(each.winfo_reqheight() for each in self._buttons)
        for place, row in enumerate(rows):
            x, spare = 0, (width - sum(map(wide, row))) // len(row)
            for each in row:
                each.place(x=x, y=place * high, width=wide(each) + spare)
                x += wide(each) + spare
        self.configure(width=1, height=high * len(rows))


class Graph(tk.Canvas):
    """A graph: lines at 0, at its top and halfway, and bars, dots or a line before them.

    Args:
        parent: the card that it stands on.
        draw: draws what is in it, whenever there is another size or theme.
        height: its height at first.
        ground: the colour of that card, by its name.
    """

    def __init__(
        self,
        parent: tk.Misc,
        draw: Callable[[Graph], object],
        height: int = 80,
        ground: str = "panel",
    ) -> None:
        self.look, self._ground = look_of(parent), ground
        super().__init__(parent, highlightthickness=0, width=10, height=self.look.px(height))
        self._draw, self._box, self._most = draw, (0, 0, 0, 0), 1.0
        self.bind("<Configure>", lambda _: self.draw())
        self.bind("<<ThemeChanged>>", lambda _: self.draw())

    def draw(self) -> None:
        """Draw all of it."""
        self.delete("all")
        self.configure(background=self.look.colour(self._ground))
        if min(self.winfo_width(), self.winfo_height()) > 2 * self.look.px(12):
            self._draw(self)

    def begin(self, most: float, lines: dict[float, str], foot: int = 0) -> None:
        """Draw the lines behind it.

        Args:
            most: the value at its top.
            lines: the values that have a line, and what stands at their left.
            foot: the room for what stands below it.
        """
        edge = self.look.px(6)
        wide = max((measured(self, text, "caption") for text in lines.values()), default=0)
        left = wide + edge if wide else 0
        self._most = most or 1.0
        self._box = left, edge + foot // 2, self.winfo_width(), self.winfo_height() - edge - foot
        for value, text in lines.items():
            y = self.y(value)
            self.create_line(left, y, self.winfo_width(), y, fill=self.look.theme.line)
            self.write(wide, y, text, anchor="e")

    def x(self, share: float) -> float:
        """Return a share of the way from left to right."""
        return self._box[0] + share * (self._box[2] - self._box[0])

    def y(self, value: float) -> float:
        """Return the place of a value."""
        return self._box[3] - value / self._most * (self._box[3] - self._box[1])

    def write(self, x: float, y: float, text: str, colour: str = "muted", **look: Any) -> None:
        """Write something small."""
        self.create_text(x, y, text=text, fill=self.look.colour(colour), font="caption", **look)

    def bar(self, index: int, count: int, value: float, colour: str) -> tuple[float, float, float]:
        """Draw one of `count` bars; return its middle, its top, and the room for its words."""
        room = self.x(1 / count) - self.x(0)
        x, top = self.x((index + 0.5) / count), self.y(value)
        half = min(0.42 * room, 30 * self.look.unit)
        box = x - half, min(top, self._box[3] - 2), x + half, self._box[3]
        self.create_rectangle(*box, fill=colour, width=0, tags="bar")
        return x, top, room

    def dot(self, x: float, y: float, colour: str, tag: str = "dot") -> None:
        """Draw a dot, inside the graph where it is at an end."""
        radius = self.look.px(4 if tag == "tick" else 3)
        x = max(self._box[0] + radius, min(x, self._box[2] - radius))
        box = x - radius, y - radius, x + radius, y + radius
        self.create_oval(*box, fill=colour, outline=self.look.colour(self._ground), tags=tag)

    def line(self, points: list[tuple[float, float]], *, is_filled: bool = False) -> None:
        """Draw a line, and a tint below it."""
        theme = self.look.theme
        if len(points) > 1:
            if is_filled:
                foot = self.winfo_height()
                outline = [(points[0][0], foot), *points, (points[-1][0], foot)]
                self.create_polygon(outline, fill=mixed(theme.panel, theme.accent, 0.2), width=0)
            self.create_line(points, fill=theme.accent, width=2.5 * self.look.scale)


# Tk's own widgets, which stand in dialogs

COLOURS = (
    (".", "background=raised foreground=ink fieldbackground=panel troughcolor=panel"),
    (".", "bordercolor=line lightcolor=panel darkcolor=panel focuscolor=focus"),
    (".", "selectbackground=accent selectforeground=on_accent insertcolor=ink arrowcolor=ink"),
    ("TCombobox TEntry TScale", "background=panel"),
    ("Treeview", "background=raised"),
)
"""Colours of the theme by styles and their options."""

STATES = (
    (".", "disabled", "foreground=muted"),
    # What can be filled in; the focus shows as a frame in its colour.
    ("TCombobox TEntry", "focus", "bordercolor=focus lightcolor=focus darkcolor=focus"),
    ("TCombobox TEntry", "!focus", "selectbackground=panel selectforeground=ink"),
    ("TCombobox TEntry", "readonly", "fieldbackground=panel"),
    ("TCombobox TEntry TScale", "active", "background=line"),
    ("TScale", "focus", "background=focus"),
    ("TCheckbutton", "active", "background=raised"),
    ("TCheckbutton", "selected", "indicatorbackground=accent indicatorforeground=on_accent"),
    ("Treeview", "selected", "background=accent foreground=on_accent"),
)
"""The same in a state of the widget."""

OLD = {
    "Listbox": "background=panel foreground=ink selectBackground=accent selectForeground=on_accent",
    "Menu": "background=panel foreground=ink activeBackground=accent activeForeground=on_accent"
    " selectColor=accent disabledForeground=muted",
}
"""The same for widgets of the old kind: the lists that drop down, and menus."""


def _options(look: Look, text: str) -> dict[str, str]:
    """Return options with the colours that a text such as ``background=panel`` names."""
    pairs = (each.split("=") for each in text.split())
    return {option: look.colour(name) for option, name in pairs}


def paint_widgets(look: Look) -> None:
    """Give Tk's own widgets the colours of the theme."""
    style = look.style
    look.root.configure(background=look.theme.page)
    style.configure(".", font="small")
    style.configure("TEntry", padding=look.px(6))
    style.configure("TCombobox", padding=look.px(6))
    style.configure("Treeview", rowheight=round(ROW * look.unit))
    style.layout("Treeview", [("Treeview.treearea", {"sticky": "nswe"})])
    for names, text in COLOURS:
        for name in names.split():
            style.configure(name, **_options(look, text))
    for names, state, text in STATES:
        for name in names.split():
            for option, colour in _options(look, text).items():
                style.map(name, None, **{option: [(state, colour)]})
    for option, colour in {**_options(look, OLD["Listbox"]), "font": "small"}.items():
        look.root.option_add(f"*TCombobox*Listbox.{option}", colour)


def colour_menu(menu: tk.Menu) -> None:
    """Give a menu the theme's colours."""
    flat: dict[str, Any] = {"borderwidth": 1, "relief": "flat", "activeborderwidth": 0}
    menu.configure(flat | {"font": "small"})
    menu.configure(
        {key.lower(): value for key, value in _options(look_of(menu), OLD["Menu"]).items()}
    )
