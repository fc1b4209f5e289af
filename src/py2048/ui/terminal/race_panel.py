"""The terminal's view of a race: the rival's board and the splits, beside the game or below it."""

from __future__ import annotations

from rich.markup import escape
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Size
from textual.widgets import Static

from py2048.ui.shared.motion import BoardTransition
from py2048.ui.shared.race import RaceView
from py2048.ui.shared.themes import Theme
from py2048.ui.terminal.board import TerminalBoard, fit

COLUMNS = 38
"""The width of the panel, as in the style sheet."""
LEAST_GAME = 40
"""The columns that the game itself keeps; a narrower screen has the panel in two lines below."""
MOST_BOARD_ROWS = 13
LINES = 5
"""The rows of the panel that neither the board nor a split takes."""


class RacePanel(Vertical):
    """A rival's game and the splits; hidden while there is no race."""

    def __init__(self) -> None:
        super().__init__(id="race")
        self._title = Static(classes="title", markup=False)
        self._board = TerminalBoard()
        self._lines = Static(markup=False)
        self._splits = Static(classes="splits")
        self._view: RaceView | None = None
        self.display = False

    def compose(self) -> ComposeResult:
        """Lay out the rival's name over its board, its score and the splits."""
        yield self._title
        yield self._board
        yield self._lines
        yield self._splits

    def set_theme(self, theme: Theme) -> None:
        """Draw the board with the colours of `theme`."""
        self._board.set_theme(theme)

    def show(self, view: RaceView | None) -> None:
        """Show a race, or none."""
        self._view = view
        self.display = view is not None
        self.fit_to(self.app.size)

    def fit_to(self, size: Size) -> None:
        """Stand beside the game if the screen is wide enough, else below it."""
        view = self._view
        if view is None:
            return
        is_narrow = size.width < COLUMNS + LEAST_GAME
        self.set_class(is_narrow, "-narrow")
        rows = 0 if is_narrow else min(MOST_BOARD_ROWS, size.height - LINES - 3)
        grid = fit(COLUMNS - 4, rows, *view.board.shape) if rows > 0 else None
        self._board.set_grid(grid)
        if grid:
            self._board.show(BoardTransition((), view.board), 0)
        score, standing = view.lines
        if is_narrow:
            self._title.update(f"{view.name}: {score}")
            self._lines.update(standing)
        else:
            self._title.update(view.name)
            self._lines.update(f"{score}\n{standing}")
        room = size.height - LINES - (grid.height_rows if grid else 0)
        self._splits.display = not is_narrow and room > 1
        self._splits.update(_table(view, max(room - 1, 1)))


def _table(view: RaceView, rows: int) -> str:
    """Return the last splits as markup, a line each under a head."""
    head = f"[$text-muted]{'':<10}{'you':>12}{'rival':>12}[/]"
    lines = [
        f"{split.label:<10}{split.mine or '-':>12}{split.theirs or '-':>12}"
        + (f"\n{'':<10}[$accent]{escape(split.ahead):>24}[/]" if split.ahead else "")
        for split in view.splits[-rows:]
    ]
    return "\n".join([head, *"\n".join(lines).splitlines()[-rows:]])
