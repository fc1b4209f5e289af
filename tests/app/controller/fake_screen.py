"""A front end without a display, which records what it was asked to show."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from py2048.app.controller.controller import ScreenController
from py2048.app.session import Hint, Session
from py2048.core.board import Board
from py2048.core.rules import Rules
from py2048.presentation.describe import describe
from py2048.presentation.motion import BoardTransition
from py2048.presentation.result import Result
from py2048.presentation.screen import CoachStatus, ListRequest, Status
from py2048.presentation.themes import DEFAULT_THEME, Theme

TIMEOUT_S = 60.0


class FakeScreen:
    """Records the last value of everything shown, and runs timers on demand."""

    def __init__(self) -> None:
        self.said = self.unsaved = self.question = ""
        self.warnings: list[str] = []
        self.board: Board | None = None
        self.status = Status()
        self.gains: list[int] = []
        self.hint: Hint | None = None
        self.banner: Result | None = None
        self.coach: CoachStatus | None = None
        self.theme = DEFAULT_THEME
        self.review: Any = None
        self.practice: Any = None
        self.leave: Callable[[str], object] | None = None
        self.list: ListRequest | None = None
        self.file: Path | None = None
        self.is_closed = False
        self._yes: Callable[[], object] = lambda: None
        self._due: list[Callable[[], None]] = []

    def show_board(self, transition: BoardTransition, pace: float) -> None:
        self.board, self.hint = transition.board, None

    def share(self) -> None: ...

    def show_help(self) -> None: ...

    def show_status(self, status: Status) -> None:
        self.status = status

    def show_gain(self, points: int) -> None:
        self.gains.append(points)

    def show_hint(self, hint: Hint) -> None:
        self.hint = hint

    def cover(self, banner: Result | None) -> None:
        self.banner = banner

    def say(self, text: str) -> None:
        self.said = text

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def show_unsaved(self, reason: str) -> None:
        self.unsaved = reason

    def show_coach(self, status: CoachStatus | None) -> None:
        self.coach = status

    def show_review(self, review: Any, leave: Callable[[str], object]) -> None:
        self.review, self.leave = review, leave

    def show_practice(self, run: Any, answer: Callable[[str], object]) -> None:
        self.practice = run

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme

    def ask(self, text: str, yes: str, no: str, action: Callable[[], object]) -> None:
        self.question, self._yes = text, action

    def agree(self) -> None:
        """Answer the question with yes."""
        self.question = ""
        self._yes()

    def choose(self, request: ListRequest) -> None:
        self.list = request

    def ask_to_save(self, title: str, kind: Any, name: str, take: Callable[[Path], object]) -> None:
        assert self.file is not None
        take(self.file)

    def ask_to_open(self, title: str, kind: Any, take: Callable[[Path], object]) -> None:
        assert self.file is not None
        take(self.file)

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        self._due.append(action)

    def quit(self) -> None:
        self.is_closed = True

    def wait(self) -> None:
        """Run all due timers."""
        due, self._due = self._due, []
        for action in due:
            action()
        time.sleep(0.001)

    def until(self, condition: Callable[[], object]) -> None:
        """Run timers until a condition holds."""
        end = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            self.wait()


def controlled(
    session: Session | None = None, board: str = "", rules: str = "classic", **options: Any
) -> tuple[ScreenController, Any]:
    """Return a controller and its screen; by default with an in-memory game from seed 7."""
    if session is None:
        session = Session()
        session.start(Rules.parse(rules), seed=7, board=Board.parse(board) if board else None)
    screen = FakeScreen()
    controller = ScreenController(
        session, screen, DEFAULT_THEME, **{"text_of": describe, **options}
    )
    controller.begin()
    return controller, screen
