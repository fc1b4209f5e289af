"""The look of Tk's widgets: fonts, pictures, colours by the theme, and buttons that are drawn."""

from __future__ import annotations

import io
import tkinter as tk
from collections.abc import Callable, Hashable
from tkinter import ttk
from typing import Any

from PIL import Image

from py2048.ui.shared.board_image import face, glyph
from py2048.ui.shared.themes import RADIUS, TYPE, Theme, mixed

FAMILIES = ("Inter", "Segoe UI Variable Text", "Cantarell", "Noto Sans")
"""The families that texts are set in, the best first; else the system's own."""

_families: dict[str, str] = {}
"""The family by interpreter: asking for it takes most of a millisecond."""


def font(root: tk.Misc, pixels: float, *, bold: bool = False) -> tuple[str, int, str]:
    """Return a font of this height in pixels."""
    name = str(root.tk)
    if name not in _families:
        named = (str(root.tk.call("font", "actual", (each, -13), "-family")) for each in FAMILIES)
        usual = str(root.tk.call("font", "actual", "TkDefaultFont", "-family"))
        _families[name] = next((each for each in named if each in FAMILIES), usual)
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


def wrapped(
    root: tk.Misc, text: str, font: tuple[str, int, str], room: float, most: int
) -> list[str]:
    """Return `text` in lines of `room` pixels, `most` at most: whole words, else an ellipsis."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines.append("")
        for word in paragraph.split(" "):
            longer = f"{lines[-1]} {word}".strip()
            if lines[-1] and measured(root, longer, font) > room:
                lines.append(word)
            else:
                lines[-1] = longer
    if len(lines) > most:
        lines[most - 1 :] = [f"{lines[most - 1]} …"]
    return [cut(root, line, font, room) for line in lines]


def cut(root: tk.Misc, text: str, font: tuple[str, int, str], room: float) -> str:
    """Return `text`, or as many of its words as have room in `room` pixels, with an ellipsis.

    A single word that has no room is cut between letters.
    """
    short = text
    while text and measured(root, short, font) > room:
        text = text.removesuffix(" …").rpartition(" ")[0] or text[:-1]
        short = f"{text.rstrip()} …" if " " in text else f"{text}…" if text else ""
    return short


# Pictures

MAX_PIXELS = 12_000_000
"""How many pixels are kept, 4 bytes each, before pictures are drawn anew."""


def photo_of(image: Image.Image, master: tk.Misc) -> tk.PhotoImage:
    """Return a picture for Tk, in a format that it reads; without the bridge of Pillow."""
    if image.mode == "RGB":  # written here, the first picture waits for no plug-ins of Pillow
        kind, data = "ppm", b"P6 %d %d 255\n" % image.size + image.tobytes()
    else:
        file = io.BytesIO()
        image.save(file, "PNG", compress_level=1)
        kind, data = "png", file.getvalue()
    return tk.PhotoImage(master=master, data=data, format=kind)


class Photos:
    """Tk's pictures by name, each made once."""

    def __init__(self, master: tk.Misc) -> None:
        self._master = master
        self._photos: dict[Hashable, tk.PhotoImage] = {}
        self._pixels = 0

    def get(self, key: Hashable, draw: Callable[[], Image.Image]) -> tk.PhotoImage:
        """Return the picture called `key`; `draw` makes it where it is new."""
        if key not in self._photos:
            if self._pixels > MAX_PIXELS:
                self.clear()
            photo = self._photos[key] = photo_of(draw(), self._master)
            self._pixels += photo.width() * photo.height()
        return self._photos[key]

    def clear(self) -> None:
        """Forget all; what is on a canvas must be held by what put it there."""
        self._photos.clear()
        self._pixels = 0


class Drawn(tk.Canvas):
    """A canvas that draws itself, anew in another size or theme.

    Args:
        parent: the widget to stand in.
        theme: its colours.
    """

    def __init__(self, parent: tk.Misc, theme: Theme) -> None:
        super().__init__(parent, highlightthickness=0, borderwidth=0, background=theme.page)
        self._theme, self._photos = theme, Photos(self)
        self.bind("<Configure>", lambda _: self.draw())

    def destroy(self) -> None:
        """Close, and free the pictures at once: a thread that collects garbage waits for Tk's."""
        super().destroy()
        self._photos.clear()

    def set_theme(self, theme: Theme) -> None:
        """Change the colours."""
        self._theme = theme
        self._photos.clear()
        self.configure(background=theme.page)
        self.draw()

    def draw(self) -> None:
        """Draw all there is to see."""
        raise NotImplementedError


# Buttons

ROW = 28
"""The height of a line of a table."""

RING = 5
"""The room for the ring of the focus around a button: 3 pixels, 2 off."""


class Button(tk.Canvas):
    """A button that is drawn. The mouse, Space and Enter press it, Tab reaches it.

    Args:
        parent: the widget to stand in.
        text: its words; also its name, where only its icon has room.
        command: what it does.
        theme: its colours.
        scale: how many pixels of this screen are one of an ordinary screen.
        kind: "primary", "plain", "ghost" for one without a face, or "danger".
        icon: a name of `py2048.ui.shared.board_image.glyph`.
        ground: the colour of `theme` that it stands on, by its name.
        height: its height, without the room for its ring.

    Attributes:
        text: its words.
        is_possible: whether it can be pressed.
    """

    def __init__(
        self,
        parent: tk.Misc,
        text: str,
        command: Callable[[], object],
        theme: Theme,
        scale: float,
        *,
        kind: str = "plain",
        icon: str = "",
        ground: str = "page",
        height: int = 44,
    ) -> None:
        super().__init__(parent, highlightthickness=0, borderwidth=0, takefocus=True)
        self.text, self._command, self._icon = text, command, icon
        self._kind, self._ground, self._height = kind, ground, height
        self._theme, self._scale, self._has_words, self._letters = (
            theme,
            scale,
            True,
            TYPE["button"][0],
        )
        self.is_possible, self._is_over, self._is_down = True, False, False
        self._photos: list[tk.PhotoImage] = []
        for event, change in (
            ("<Enter>", {"_is_over": True}),
            ("<Leave>", {"_is_over": False, "_is_down": False}),
            ("<ButtonPress-1>", {"_is_down": True}),
            ("<FocusIn>", {}),
            ("<FocusOut>", {}),
            ("<Configure>", {}),
        ):
            self.bind(event, lambda _, change=change: self._change(**change))  # type: ignore[misc]
        self.bind("<ButtonRelease-1>", lambda _: self._release())
        for key in ("<space>", "<Return>", "<KP_Enter>"):
            self.bind(key, lambda _: self._press())
        self.fit()

    def destroy(self) -> None:
        """Close, and free the pictures at once: a thread that collects garbage waits for Tk's."""
        super().destroy()
        self._photos.clear()

    def invoke(self) -> None:
        """Do what the button is for, if that is possible."""
        if self.is_possible:
            self._command()

    def show(
        self,
        text: str | None = None,
        *,
        icon: str | None = None,
        is_possible: bool | None = None,
        theme: Theme | None = None,
    ) -> None:
        """Change what is given."""
        now = self.text, self._icon, self.is_possible, self._theme
        self.text, self._icon = text or self.text, icon or self._icon
        self.is_possible = self.is_possible if is_possible is None else is_possible
        self._theme = theme or self._theme
        if now != (self.text, self._icon, self.is_possible, self._theme):
            self.configure(takefocus=self.is_possible)
            self.fit()
            self._draw()

    def stand_on(self, ground: str) -> None:
        """Stand on another colour of the theme."""
        if ground != self._ground:
            self._ground = ground
            self._draw()

    # Its size

    def fit(self, scale: float = 0, *, has_words: bool | None = None, letters: int = 0) -> int:
        """Ask for the room that it needs, and return its width.

        Args:
            scale: how many pixels of this screen are one of an ordinary screen.
            has_words: whether its words are shown, if it has an icon.
            letters: the height of its words.
        """
        self._scale, self._letters = scale or self._scale, letters or self._letters
        has_words = self._has_words if has_words is None else has_words
        self._has_words, unit = has_words or not self._icon, self._scale
        height = round(self._height * unit)
        width = self._width() + round((28 if self._icon else 32) * unit)
        width = max(width, height) if self._has_words else height
        size = width + 2 * self.ring, height + 2 * self.ring
        if (int(self["width"]), int(self["height"])) != size:
            self.configure(width=size[0], height=size[1])
        return size[0]

    def _width(self) -> int:
        """Return the width of the icon and the words."""
        letters = font(self, self._letters * self._scale, bold=True)
        words = measured(self, self.text, letters) if self._has_words else 0
        return words + round((20 * bool(self._icon) + 8 * bool(self._icon and words)) * self._scale)

    @property
    def ring(self) -> int:
        """The room for the ring of the focus, in pixels."""
        return round(RING * self._scale)

    # What happens to it

    def _change(self, **changes: bool) -> None:
        vars(self).update(changes)
        self._draw()

    def _release(self) -> None:
        is_pressed, self._is_down = self._is_down, False
        self._draw()
        if is_pressed:
            self.invoke()

    def _press(self) -> str:
        self.invoke()
        return "break"

    def _draw(self) -> None:
        theme, unit = self._theme, self._scale
        width, height = self.winfo_width(), self.winfo_height()
        if min(width, height) <= 2 * self.ring:
            return
        ground = str(getattr(theme, self._ground))
        colour, ink = {
            "primary": (theme.accent, theme.on_accent),
            "plain": (theme.raised if self._ground == "panel" else theme.panel, theme.ink),
            "danger": (theme.raised if self._ground == "panel" else theme.panel, theme.danger),
            "ghost": (ground, theme.muted),
        }[self._kind]
        if not self.is_possible:
            ink = mixed(ink, colour, 0.55)
        elif self._is_over:
            colour = mixed(colour, theme.ink, 0.16 if self._is_down else 0.08)
        # By name: an open menu has the focus in a copy that Tk made, of which tkinter knows none.
        has_focus = str(self.tk.call("focus", "-displayof", self)) == str(self)
        ring = theme.focus if has_focus else ""
        radius = round(RADIUS["button"] * unit)
        image = face(width, height, radius, colour, ground, self.ring, ring)
        self.delete("all")
        self.configure(background=ground)
        letters, side = font(self, self._letters * unit, bold=True), round(20 * unit)
        left = max(self.ring + round(6 * unit), (width - self._width()) // 2)
        if self._icon:
            image.paste(ink, (left, (height - side) // 2), glyph(self._icon, side))
        self._photos[:] = [photo_of(image, self)]
        self.create_image(0, 0, image=self._photos[0], anchor="nw")
        if self._has_words:
            start = left + (round(28 * unit) if self._icon else 0)
            text = cut(self, self.text, letters, width - self.ring - start)
            place = start, height / 2
            write(self, place, text, ink, self._letters * unit, bold=True, anchor="w")


def apply(root: tk.Tk, theme: Theme, scale: float) -> None:
    """Give Tk's own widgets, which stand in dialogs, the colours of `theme` and its fonts."""
    style = ttk.Style(root)
    if style.theme_use() != "clam":
        style.theme_use("clam")
    text = font(root, TYPE["small"][0] * scale)
    root.configure(background=theme.page)
    style.configure(
        ".",
        background=theme.raised,
        foreground=theme.ink,
        fieldbackground=theme.panel,
        troughcolor=theme.panel,
        bordercolor=theme.line,
        lightcolor=theme.panel,
        darkcolor=theme.panel,
        selectbackground=theme.accent,
        selectforeground=theme.on_accent,
        insertcolor=theme.ink,
        arrowcolor=theme.ink,
        focuscolor=theme.focus,
        font=text,
    )
    style.map(".", foreground=[("disabled", theme.muted)])
    # What can be filled in; the focus shows as a frame in its colour.
    frame = [("focus", theme.focus)]
    for widget in ("TCombobox", "TEntry"):
        style.configure(widget, background=theme.panel, padding=round(6 * scale))
        style.map(
            widget,
            background=[("active", theme.line)],
            fieldbackground=[("readonly", theme.panel), ("disabled", theme.raised)],
            selectbackground=[("!focus", theme.panel)],
            selectforeground=[("!focus", theme.ink)],
            bordercolor=frame,
            lightcolor=frame,
            darkcolor=frame,
        )
    style.configure("TScale", background=theme.panel)
    style.map("TScale", background=[("focus", theme.focus), ("active", theme.line)])
    style.map(
        "TCheckbutton",
        background=[("active", theme.raised)],
        indicatorbackground=[("selected", theme.accent), ("!selected", theme.panel)],
        indicatorforeground=[("selected", theme.on_accent)],
    )
    # What is read.
    style.configure("Muted.TLabel", foreground=theme.muted)
    style.configure("Fault.TLabel", foreground=theme.danger)
    style.configure("Title.TLabel", font=font(root, TYPE["title"][0] * scale, bold=True))
    style.configure(
        "Treeview",
        background=theme.raised,
        rowheight=round(ROW * scale),
        borderwidth=0,
        relief="flat",
    )
    style.layout("Treeview", [("Treeview.treearea", {"sticky": "nswe"})])
    chosen, on_it = [("selected", theme.accent)], [("selected", theme.on_accent)]
    style.map("Treeview", background=chosen, foreground=on_it)
    # The lists that drop down are widgets of the old kind.
    for option, value in (
        ("background", theme.panel),
        ("foreground", theme.ink),
        ("selectBackground", theme.accent),
        ("selectForeground", theme.on_accent),
        ("font", text),
    ):
        root.option_add(f"*TCombobox*Listbox.{option}", value)


def colour_menu(menu: tk.Menu, theme: Theme, scale: float) -> None:
    """Give a menu the theme's colours."""
    menu.configure(
        background=theme.panel,
        foreground=theme.ink,
        activebackground=theme.accent,
        activeforeground=theme.on_accent,
        selectcolor=theme.accent,
        disabledforeground=theme.muted,
        font=font(menu, TYPE["small"][0] * scale),
        borderwidth=1,
        relief="flat",
        activeborderwidth=0,
    )
