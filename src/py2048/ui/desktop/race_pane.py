"""The window's view of a race: the rival's board and the splits, beside the game."""

from __future__ import annotations

from tkinter import ttk

from py2048.ui.desktop.board_view import CanvasBoard
from py2048.ui.desktop.style import font, measured
from py2048.ui.desktop.window import MainWindow
from py2048.ui.shared.motion import BoardTransition
from py2048.ui.shared.race import RaceView
from py2048.ui.shared.themes import Theme

SIDE = 240
"""The side of the rival's board, in pixels of an ordinary screen."""
LABEL = "move 10,000"
"""The widest label of a split."""
COLUMNS = (
    ("you", "You", "1:00:00 100,000"),
    ("theirs", "Rival", "1:00:00 100,000"),
    ("ahead", "Ahead", "+100,000, +1000 s"),
)
"""The columns beside it: name, title and the widest text."""
MARGIN, INDENT = 10, 20
"""What a column has beside its text, and the first one before it, in pixels likewise."""


class RacePane(ttk.Frame):
    """A rival's game and the splits, right of the game.

    The window grows by its width, and shrinks again when it is closed.

    Args:
        window: the window of the game.
    """

    def __init__(self, window: MainWindow) -> None:
        scale = window.scale
        super().__init__(window.root, padding=round(8 * scale))
        self._owner = window.root
        self._title = ttk.Label(self, style="Title.TLabel")
        self._board = CanvasBoard(self, window.theme, lambda _: None)
        self._board.configure(
            width=round(SIDE * scale), height=round(SIDE * scale), takefocus=False
        )
        self._lines = ttk.Label(self, justify="left")
        self.splits = ttk.Treeview(
            self, columns=[name for name, _, _ in COLUMNS], selectmode="none", height=4
        )
        letters = font(self, 13 * scale)

        def width(text: str) -> int:
            return measured(self, text, letters) + round(MARGIN * scale)

        self.splits.column("#0", width=width(LABEL) + round(INDENT * scale), stretch=False)
        for name, title, text in COLUMNS:
            self.splits.heading(name, text=title)
            self.splits.column(name, width=width(text), anchor="e")
        self._title.pack(anchor="w")
        self._board.pack()
        self._lines.pack(anchor="w", pady=round(4 * scale))
        self.splits.pack(fill="both", expand=True)
        self.pack(side="right", fill="y", before=window.header)
        self.update_idletasks()
        room = self._owner.winfo_screenwidth() - self._owner.winfo_width()
        self._grown = max(0, min(self.winfo_reqwidth(), room))  # the screen may allow less
        self._set_width(self._owner.winfo_width() + self._grown)

    @property
    def width_without(self) -> int:
        """The width of the window without it, also if a person has made both narrower."""
        return max(self._owner.winfo_width() - self._grown, self._owner.minsize()[0])

    def _set_width(self, pixels: int) -> None:
        self._owner.geometry(f"{pixels}x{self._owner.winfo_height()}")

    def set_theme(self, theme: Theme) -> None:
        """Change the colours."""
        self._board.set_theme(theme)

    def show(self, view: RaceView) -> None:
        """Show a race."""
        self._title.configure(text=view.name)
        self._board.show(BoardTransition((), view.board), 0)
        self._lines.configure(text="\n".join(view.lines))
        self.splits.delete(*self.splits.get_children())
        for split in view.splits:
            cells = (str(split.mine or ""), str(split.theirs or ""), split.ahead)
            row = self.splits.insert("", "end", text=split.label, values=cells)
            self.splits.see(row)

    def close(self) -> None:
        """Give the room back to the screen."""
        self.destroy()
        self._set_width(self.width_without)
