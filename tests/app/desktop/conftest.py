"""Fixtures that open the desktop game and simulate its player."""

from __future__ import annotations

import time
import tkinter as tk
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from py2048.app.desktop import board_view
from py2048.app.desktop.launch import GameWindow
from py2048.app.session import Session
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.rules import get_rules
from py2048.presentation.events import Event

TIMEOUT_S = 120.0  # enough to compile kernels on a busy machine


class Desk:
    """A running window with simulated keys and mouse events."""

    def __init__(self, running: GameWindow) -> None:
        self.running = running
        running.first_frame()
        running.finish_opening()
        assert running.app is not None
        self.app = running.app
        self.root, self.window = running.root, running.window
        self.board = running.window.board
        self.session = running.app.session
        self.errors: list[BaseException] = []
        self.root.report_callback_exception = lambda _kind, error, _trace: self.errors.append(error)
        self.until(lambda: self.board.cells and self.root.winfo_viewable())
        self.until(lambda: int(self.board.place_info()["height"]) == self.board.winfo_height())
        self.focus(self.board)

    def pump(self, seconds: float = 0.0) -> None:
        """Handle events for a while; fail if a callback raised an error."""
        end = time.monotonic() + seconds
        self.root.update()
        while time.monotonic() < end:
            time.sleep(0.004)
            self.root.update()
        assert not self.errors, self.errors

    def until(self, condition: Callable[[], Any]) -> Any:
        """Handle events until the condition is true; return its value."""
        end = time.monotonic() + TIMEOUT_S
        while True:
            self.root.update()
            found = condition()
            if found:
                return found
            assert time.monotonic() < end, f"the condition is still false after {TIMEOUT_S} s"
            time.sleep(0.004)

    def focus(self, widget: tk.Misc) -> None:
        """Focus a widget and wait until the X server confirms it."""
        widget.focus_force()
        self.until(lambda: self.root.focus_get() is widget)

    def settle(self) -> None:
        """Wait for the end of the animation."""
        self.until(lambda: not self.board.is_moving)
        assert not self.errors, self.errors

    def key(self, *keysyms: str, widget: tk.Misc | None = None) -> None:
        """Press keys one after the other."""
        for keysym in keysyms:
            target = widget or self.root.focus_get() or self.board
            target.event_generate(f"<{keysym}>" if "-" in keysym else f"<KeyPress-{keysym}>")
        self.root.update()

    def type(self, entry: tk.Misc, text: str) -> None:
        """Replace the text of a field."""
        self.focus(entry)
        entry.delete(0, "end")
        entry.insert(0, text)
        entry.event_generate("<KeyRelease>", keysym="End")
        self.root.update()

    def click(self, x: float, y: float, widget: tk.Misc | None = None, button: int = 1) -> None:
        """Click a mouse button."""
        self.drag((x, y), (x, y), widget, button)

    def drag(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        widget: tk.Misc | None = None,
        button: int = 1,
    ) -> None:
        """Drag the mouse with a button held."""
        target = widget or self.board
        x, y = map(round, start)
        target.event_generate(f"<ButtonPress-{button}>", x=x, y=y)
        x, y = map(round, end)
        target.event_generate(f"<ButtonRelease-{button}>", x=x, y=y)
        self.root.update()

    @property
    def message(self) -> str:
        """The displayed notice or message."""
        return self.window.message

    @property
    def dialog(self) -> Any:
        """The open dialog, if any."""
        return self.app.dialog

    def show(self, happened: Iterable[Event]) -> None:
        """Show events."""
        self.app.controller.presenter.show(happened)

    def put(self, rows: str, **changes: Any) -> None:
        """Start a game from a position, without animation."""
        board = Board.parse(rows)
        rules = get_rules("classic", rows=board.shape[0], columns=board.shape[1], **changes)
        self.show(self.session.start(rules, seed=1, board=board))
        self.board.finish()
        self.root.update()

    def play(self, moves: int) -> None:
        """Play a number of legal moves, or until the game is over."""
        for _ in range(moves):
            legal = self.session.game.legal_directions()
            if not legal:
                return
            order = (Direction.DOWN, Direction.LEFT, Direction.RIGHT, Direction.UP)
            self.app.controller.do(str(next(d for d in order if d in legal)))


class Clock:
    """A manual clock that replaces the `time` module.

    Attributes:
        now: The time in seconds.
        perf_counter: Returns the time; tests may replace it.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.perf_counter: Callable[[], float] = lambda: self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Stop the clock of animations, so that a slow machine cannot skip frames."""
    stopped = Clock()
    monkeypatch.setattr(board_view, "time", stopped)
    return stopped


OpenDesk = Callable[..., Desk]


@pytest.fixture
def open_desk(display: str) -> Iterator[OpenDesk]:
    """Return a function that opens a window, by default with a new game in memory."""
    opened: list[Desk] = []

    def open_(session: Session | None = None, **options: Any) -> Desk:
        if session is None:
            session = Session()
            session.start(seed=1)
        desk = Desk(GameWindow(lambda: session, **options))
        opened.append(desk)
        return desk

    yield open_
    for desk in opened:
        desk.running.close()
        assert not desk.errors, desk.errors


@pytest.fixture
def desk(open_desk: OpenDesk) -> Desk:
    """Return a window with a game in memory, started from seed 1."""
    return open_desk()
