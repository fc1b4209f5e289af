"""Setting up a board by hand, with the mouse or the keys."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from tkinter import ttk

from py2048.board import Board, Cell
from py2048.direction import Direction
from py2048.errors import BoardError
from py2048.ui.desktop.board_view import CanvasBoard
from py2048.ui.desktop.dialogs import Dialog
from py2048.ui.shared import motion
from py2048.ui.shared.themes import Theme

_STEPS = {
    Direction.UP: (-1, 0),
    Direction.DOWN: (1, 0),
    Direction.LEFT: (0, -1),
    Direction.RIGHT: (0, 1),
}
MOST_RANK = 60


class BoardEditor:
    """A board that is being set up, and the cell that the keys act on; without Tk.

    Attributes:
        board: the board as it is now.
        cursor: the cell that the keys act on.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        self.cursor: Cell = (0, 0)

    def step(self, direction: Direction) -> None:
        """Move the cursor, round and round."""
        down, across = _STEPS[direction]
        rows, columns = self.board.shape
        self.cursor = (self.cursor[0] + down) % rows, (self.cursor[1] + across) % columns

    def change(self, ranks: int) -> None:
        """Make the tile at the cursor larger or smaller; below 2 is empty."""
        value = self.board[self.cursor]
        self.put(max(0, (value.bit_length() - 1 if value else 0) + ranks))

    def put(self, rank: int) -> None:
        """Put the tile 2 to the power of `rank` at the cursor; 0 clears the cell."""
        tile = 1 << min(rank, MOST_RANK) if rank else 0
        self.board = self.board.with_tile(self.cursor, tile)

    def clear(self) -> None:
        """Take all tiles away."""
        self.board = Board.empty(*self.board.shape)

    def resize(self, rows: int, columns: int) -> None:
        """Cut the board, or add empty cells at the right and below.

        Raises:
            BoardError: if no board has this size.
        """
        if rows < 1 or columns < 1:
            raise BoardError("a board needs at least one row and one column")
        old, (height, width) = self.board, self.board.shape
        self.board = Board.from_rows(
            [old[r, c] if r < height and c < width else 0 for c in range(columns)]
            for r in range(rows)
        )
        self.cursor = min(self.cursor[0], rows - 1), min(self.cursor[1], columns - 1)

    @property
    def fault(self) -> str:
        """Why no game can start from this board, or an empty text."""
        if not self.board.max_tile:
            return "Put a tile on the board first."
        return "" if self.board.can_move() else "No move is possible on this board."


class EditorDialog(Dialog):
    """A board to set up.

    Args:
        root: the main window.
        scale: how many pixels of this screen are one of an ordinary screen.
        theme: the colours.
        board: the position to start from.
        take: called with the board to play from.
    """

    def __init__(
        self,
        root: tk.Tk,
        scale: float,
        theme: Theme,
        board: Board,
        take: Callable[[Board], object],
    ) -> None:
        super().__init__(root, "Set up a board", scale)
        self._take = take
        self._theme = theme
        self.editing = BoardEditor(board)
        self.add_title("Set up a board")
        help_ = "Click: larger. Right click: smaller. Keys: arrows, + and -, 1 to 9, Delete."
        ttk.Label(self.body, text=help_, style="Muted.TLabel").pack(anchor="w")
        self._line = ttk.Label(self.body, style="Fault.TLabel")
        self.add_buttons(("Play", self.accept), ("Clear", self._clear), ("Cancel", self.close))
        self._line.pack(side="bottom", anchor="w")
        self._add_size()
        self.view = CanvasBoard(self.body, theme, lambda _: None)
        self.view.configure(width=round(380 * scale), height=round(380 * scale))
        self.view.pack(fill="both", expand=True, pady=round(6 * scale))
        self._bind_events()
        self._draw()
        self.open(self.view)

    def _add_size(self) -> None:
        row = ttk.Frame(self.body)
        row.pack(fill="x", pady=(4, 0))
        rows, columns = self.editing.board.shape
        self.sides = []
        for text, side in (("Rows", rows), ("Columns", columns)):
            ttk.Label(row, text=text).pack(side="left", padx=(0, 4))
            box = ttk.Spinbox(row, from_=1, to=10, width=4, command=self._resize)
            box.set(side)
            box.bind("<KeyRelease>", lambda _: self._resize())
            box.pack(side="left", padx=(0, 10))
            self.sides.append(box)

    def _bind_events(self) -> None:
        view = self.view
        view.bind("<ButtonPress-1>", lambda event: self._click(event, 1))
        view.bind("<ButtonRelease-1>", lambda _: None)
        for button in ("<ButtonPress-2>", "<ButtonPress-3>"):
            view.bind(button, lambda event: self._click(event, -1))
        view.bind("<Configure>", lambda _: self._draw(), add=True)
        view.bind("<Key>", self._press)

    def _press(self, event: tk.Event[tk.Misc]) -> str | None:
        key, editing = event.keysym, self.editing
        arrows = {"Up": "up", "Down": "down", "Left": "left", "Right": "right"}
        if key in arrows:
            editing.step(Direction.parse(arrows[key]))
        elif key in ("plus", "equal", "KP_Add", "space"):
            editing.change(1)
        elif key in ("minus", "KP_Subtract"):
            editing.change(-1)
        elif key in ("Delete", "BackSpace", "0", "period"):
            editing.put(0)
        elif key.isdigit():
            editing.put(int(key))
        else:
            return None
        self._draw()
        return "break"

    def _click(self, event: tk.Event[tk.Misc], ranks: int) -> None:
        self.view.focus_set()
        cell = self.view.cells and self.view.cells.cell_at(event.x, event.y)
        if cell:
            self.editing.cursor = cell
            self.editing.change(ranks)
            self._draw()

    def _clear(self) -> None:
        self.editing.clear()
        self._draw()

    def _resize(self) -> None:
        try:
            rows, columns = (int(box.get()) for box in self.sides)
            self.editing.resize(min(rows, 64), min(columns, 64))
        except ValueError as error:
            self._line.configure(text=str(error))
            return
        self._draw()

    def _draw(self) -> None:
        self._line.configure(text="")
        view = self.view
        view.show(motion.BoardTransition((), self.editing.board), 0)
        view.finish()
        view.delete("cursor")
        if view.cells:
            x, y = view.cells.middle(*self.editing.cursor)
            half = view.cells.cell / 2
            view.create_rectangle(
                x - half,
                y - half,
                x + half,
                y + half,
                outline=self._theme.accent,
                width=3,
                tags="cursor",
            )

    def accept(self) -> None:
        """Play from the board, if a game can start there."""
        fault = self.editing.fault
        if fault:
            self._line.configure(text=fault)
            return
        self.close()
        self._take(self.editing.board)
