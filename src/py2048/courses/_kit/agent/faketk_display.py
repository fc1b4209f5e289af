"""What is on the imagined screen, and what is going to happen on it."""

from __future__ import annotations

import sys

from .faketk_events import Bindings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .clock import Clock


class TclError(Exception):
    """What Tk raises when it is misused."""


class Display:
    """Everything on the imagined screen, and what is going to happen on it.

    Attributes:
        roots: the windows made with `Tk`.
        timers: callbacks of `after`, as (due second, number, callback, name).
        dialogs: the message boxes shown, as (kind, title, message).
        answers: what the person is going to answer to the next ones.
        errors: exceptions that callbacks raised, as text.
        changes: counts whatever can be seen to change.
    """

    def __init__(self) -> None:
        self.clock: Clock
        self.roots: list[Any] = []
        self.default: Any = None
        self.default_allowed = True
        self.timers: list[tuple[float, int, Callable[[], object], str]] = []
        self.dialogs: list[tuple[str, str, str]] = []
        self.answers: list[Any] = []
        self.errors: list[str] = []
        self.variables: dict[str, Any] = {}
        self.focus: Any = None
        self.everywhere = Bindings()
        self.classes: dict[str, Bindings] = {}
        self.changes = 0
        self.seen = 0
        self.count = 0
        self.waiting = 0
        self.quitting = False

    def number(self) -> int:
        """A number not used before."""
        self.count += 1
        return self.count

    def later(self, seconds: float, callback: Callable[[], object]) -> str:
        """Call `callback` after `seconds`; return the name to cancel it by."""
        name = f"after#{self.number()}"
        self.timers.append((self.clock.now + seconds, self.count, callback, name))
        return name

    def cancel(self, name: str) -> None:
        """Forget the callback called `name`."""
        self.timers = [timer for timer in self.timers if timer[3] != name]

    def next_due(self) -> float | None:
        """When the next callback is due."""
        return min(timer[0] for timer in self.timers) if self.timers else None

    def run_due(self) -> None:
        """Call what is due now; what that adds for now waits for the next time."""
        due = sorted(timer for timer in self.timers if timer[0] <= self.clock.now + 1e-9)
        for timer in due:
            if timer in self.timers:
                self.timers.remove(timer)
                self.call(timer[2])

    def advance(self, seconds: float) -> None:
        """Let time pass, calling each timer at its time."""
        end = self.clock.now + seconds
        self.run_due()
        while (due := self.next_due()) is not None and due <= end:
            self.clock.skip(due - self.clock.now)
            self.run_due()
        self.clock.skip(end - self.clock.now)

    def call(self, callback: Callable[..., object], *arguments: object) -> object:
        """Call a program's callback; report an exception as Tk does, and go on."""
        try:
            return callback(*arguments)
        except Exception:  # noqa: BLE001 - Tk reports whatever a callback raises
            kind, error, trace = sys.exc_info()
            self.errors.append(f"{kind.__name__ if kind else ''}: {error}")
            root = self.roots[-1] if self.roots else None
            if root is not None:
                root.report_callback_exception(kind, error, trace)
            return None

    def wait_while(self, condition: Callable[[], bool]) -> None:
        """Stay in an event loop: what is due happens, then the grader has its turn."""
        self.waiting += 1
        try:
            while condition():
                self.run_due()
                if condition():
                    self.clock.give_way()
        finally:
            self.waiting -= 1


display = Display()
