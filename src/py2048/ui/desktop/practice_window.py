"""Practice in a window: a board, your move, and what each direction was worth."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from py2048.ui.desktop.dialogs import Dialog, marks_of
from py2048.ui.desktop.keys import tk_keys
from py2048.ui.desktop.window import MainWindow
from py2048.ui.shared.actions import PRACTICE_ACTIONS
from py2048.ui.shared.motion import BoardTransition
from py2048.ui.shared.practice import PracticeRun

BOARD_SIDE, TEXT_LINES = 380, 6
"""The size of the board in pixels of an ordinary screen; the lines of words."""


class PracticeWindow(Dialog):
    """Asks for moves until nothing more is asked; Enter goes to the next position.

    Args:
        window: the main window.
        run: what is asked.
        answer: does an action of `PRACTICE_ACTIONS`.
    """

    def __init__(
        self, window: MainWindow, run: PracticeRun, answer: Callable[[str], object]
    ) -> None:
        super().__init__(window, "Practice")
        self.practice, self._answer = run, answer
        self.line = self.add_text(style="Muted.TLabel")
        self.next, _ = self.add_buttons(("Next", partial(self.go, "next")), ("Close", self.close))
        self.words = self.add_lines(TEXT_LINES)
        self.view = self.add_board(BOARD_SIDE, lambda direction: self.go(str(direction)))
        for action in PRACTICE_ACTIONS:
            for key in tk_keys(action):
                # Enter and Space belong to the button that has the focus, wherever that is.
                target = self.view if key in ("Return", "space") else self
                target.bind(f"<{key}>", lambda _, name=action.name: self._press(name))  # type: ignore[misc]
        self.bind("<Configure>", lambda _: self.wrap(self.line, self.words))
        self._show()
        self.open(self.view)

    def _press(self, name: str) -> str:
        self.go(name)
        return "break"

    def go(self, name: str) -> None:
        """Do what an action of `PRACTICE_ACTIONS` says."""
        if name == "close" or (name == "next" and self.practice.is_over):
            self.close()
            return
        self._answer(name)
        if self.winfo_exists():
            self._show()

    def _show(self) -> None:
        run = self.practice
        self.line.configure(text=run.title)
        self.words.configure(text="\n".join(filter(None, [run.verdict, run.sentences])))
        self.next.configure(text="Close" if run.is_over else "Next")
        if run.board is not None:
            self.view.show(BoardTransition((), run.board), 0)
        if run.rows:
            self.view.mark(marks_of(run.rows))
