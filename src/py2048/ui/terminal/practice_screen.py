"""The terminal's practice: a board, your move, and what each direction was worth."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.markup import escape
from textual.binding import BindingType

from py2048.ui.shared.actions import PRACTICE_ACTIONS
from py2048.ui.shared.motion import BoardTransition
from py2048.ui.shared.practice import PracticeRun
from py2048.ui.shared.themes import Theme
from py2048.ui.terminal.board import TerminalBoard
from py2048.ui.terminal.board_screen import LEAST_MARKED, BoardScreen, bindings_of, row_text


class PracticeScreen(BoardScreen[None]):
    """Asks for moves until nothing more is asked; Enter goes to the next position.

    Args:
        run: what is asked.
        answer: does an action of `PRACTICE_ACTIONS`.
        theme: the colours, as the terminal can show them.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(PRACTICE_ACTIONS)
    keys = ("↑↓←→ your move", "⏎ next", "q close")

    def __init__(self, run: PracticeRun, answer: Callable[[str], object], theme: Theme) -> None:
        super().__init__(theme)
        self._run, self._answer = run, answer

    @property
    def heading(self) -> str:
        """What is practised, and where this is."""
        return self._run.title

    @property
    def shape(self) -> tuple[int, int]:
        """The size of the board; any, where there is none."""
        return self._run.board.shape if self._run.board else (1, 1)

    def action_go(self, name: str) -> None:
        """Do what a key of `PRACTICE_ACTIONS` says."""
        if name == "close" or (name == "next" and self._run.is_over):
            self.action_close()
            return
        self._answer(name)
        self.share_room(self.app.size)
        self.refresh_facts()

    def on_terminal_board_pushed(self, event: TerminalBoard.Pushed) -> None:
        """Answer with the direction where the mouse went."""
        event.stop()
        self.action_go(str(event.direction))

    def refresh_facts(self) -> None:
        """Show the position, and what each direction was worth once a move is made."""
        run = self._run
        self.board.display = run.board is not None
        if run.board is not None:
            self.board.show(BoardTransition((), run.board), 0)
        move = run.answer.move if run.answer else None
        self.board.point(move.best if move else None, move.played if move else None)
        is_marked = self.app.size.width >= LEAST_MARKED
        rows = [row_text(row, is_marked=is_marked) for row in run.rows]
        verdict = f"[bold $accent]{escape(run.verdict)}[/]" if run.verdict else ""
        self.facts.update("\n".join(filter(None, [verdict, *rows, escape(run.sentences)])))
