"""The head of the window: the name, who plays, the scores, and points rising from them."""

from __future__ import annotations

import time
import tkinter as tk
from dataclasses import dataclass

from py2048.ui.desktop import motion
from py2048.ui.desktop.photos import Photos
from py2048.ui.desktop.pictures import rounded
from py2048.ui.desktop.style import cut, font, mixed
from py2048.ui.shared.themes import Theme

FRAME = 16
"""Milliseconds from one picture to the next."""

HEIGHT = 58
"""The height of the head, in pixels of an ordinary screen."""

LINE = 12
"""The height of the small line's font, in pixels of an ordinary screen."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the head of the window says.

    Attributes:
        rules: the name of the rules.
        score: the score, in points.
        best: the best score under these rules.
        moves: how many turns were played.
        note: who thinks or plays, or an empty text.
    """

    rules: str = ""
    score: int = 0
    best: int = 0
    moves: int = 0
    note: str = ""


class Header(tk.Canvas):
    """The name at the left, the scores at the right."""

    def __init__(self, parent: tk.Misc, theme: Theme, scale: float) -> None:
        super().__init__(parent, highlightthickness=0, borderwidth=0, height=round(HEIGHT * scale))
        self._scale = scale
        self._theme = theme
        self._photos = Photos(self)
        self._boxes: dict[str, int] = {}
        self._room = 0.0
        self._rose = 0.0
        self._timer = ""
        self.status = Status()
        self.bind("<Configure>", lambda _: self._draw())
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Change the colours."""
        self._theme = theme
        self._photos.clear()
        self.configure(background=theme.page)
        self._draw()

    def show(self, status: Status) -> None:
        """Show the scores."""
        if status == self.status:
            return
        before, self.status = self.status, status
        if _widths(before) != _widths(status):
            self._draw()
            return
        self.itemconfigure("Score", text=f"{status.score:,}")
        self.itemconfigure("Best", text=f"{status.best:,}")
        self._show_line()

    def rise(self, points: int, *, is_animated: bool) -> None:
        """Let points rise from the score, over 600 ms; they take the place of those before."""
        self.delete("rise")
        if not points or not is_animated or "Score" not in self._boxes:
            return
        self.create_text(
            self._boxes["Score"],
            self.winfo_height() * 0.8,
            text=f"{points:+,}",
            fill=self._theme.accent,
            font=font(self, 17 * self._scale, bold=True),
            tags="rise",
        )
        self._rose = time.perf_counter()
        if not self._timer:
            self._timer = self.after(FRAME, self._lift)

    def _lift(self) -> None:
        self._timer = ""
        progress = (time.perf_counter() - self._rose) / motion.RISE
        if progress >= 1:
            self.delete("rise")
            return
        way = motion.ease_in(progress)
        self.coords("rise", self._boxes["Score"], self.winfo_height() * (0.8 - 0.85 * way))
        self.itemconfigure("rise", fill=mixed(self._theme.accent, self._theme.panel, way))
        self._timer = self.after(FRAME, self._lift)

    def _draw(self) -> None:
        width, height = self.winfo_width(), self.winfo_height()
        if width < 20:
            return
        self.delete("head")
        scale = self._scale
        left = self._draw_box("Best", self.status.best, width - round(6 * scale), height)
        left = self._draw_box("Score", self.status.score, left - round(6 * scale), height)
        room = left - 12 * scale
        title = "2048" if room > 70 * scale else ""
        self.create_text(
            8 * scale,
            height * 0.36,
            text=title,
            anchor="w",
            fill=self._theme.ink,
            font=font(self, min(34 * scale, room / 3), bold=True),
            tags="head",
        )
        self.create_text(
            9 * scale,
            height * 0.8,
            anchor="w",
            font=font(self, LINE * scale),
            tags=("head", "line"),
        )
        self._room = room
        self._show_line()
        self.tag_raise("rise")

    def _show_line(self) -> None:
        """Show the small line, cut to the room there is."""
        status, theme = self.status, self._theme
        moves = f"{status.moves:,} move{'' if status.moves == 1 else 's'}"
        text = status.note or (f"{status.rules} · {moves}" if status.rules else "")
        text = cut(self, text, font(self, LINE * self._scale), self._room)
        self.itemconfigure("line", text=text, fill=theme.accent if status.note else theme.muted)

    def _draw_box(self, label: str, value: int, right: int, height: int) -> int:
        scale = self._scale
        text = f"{value:,}"
        size = 19 if self.winfo_width() > 400 * scale else 15
        width = round(max(58.0, len(text) * size * 0.66 + 20) * scale)
        box_height = height - round(8 * scale)
        photo = self._photos.get(
            (width, box_height),
            lambda: rounded(width, box_height, round(5 * scale), self._theme.panel),
        )
        self.create_image(right, height / 2, image=photo, anchor="e", tags="head")
        x = right - width // 2
        self.create_text(
            x,
            height * 0.29,
            text=label,
            fill=self._theme.muted,
            font=font(self, 12 * scale),
            tags="head",
        )
        self.create_text(
            x,
            height * 0.64,
            text=text,
            fill=self._theme.ink,
            font=font(self, size * scale, bold=True),
            tags=("head", label),
        )
        self._boxes[label] = x
        return right - width


def _widths(status: Status) -> tuple[int, int]:
    """Return how many characters the scores take, on which the layout depends."""
    return len(f"{status.score:,}"), len(f"{status.best:,}")
