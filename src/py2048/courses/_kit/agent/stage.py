"""The imagined screen, as the person before it needs it; `realtk` has the same for a real one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .faketk_display import Display


class Imagined:
    """Roots, dialogs and time of the stand-in for Tk."""

    def __init__(self, display: Display) -> None:
        self.display = display
        self.answers = display.answers
        self.dialogs = display.dialogs
        self.errors = display.errors

    def roots(self) -> list[Any]:
        """The main windows."""
        return list(self.display.roots)

    def take_focus(self, window: Any) -> Any:
        """The widget that gets the keys: without `focus_set`, the window itself."""
        return self.display.focus or window

    def refresh(self) -> None:
        """Let happen what is due."""
        self.display.run_due()

    def advance(self, seconds: float) -> None:
        """Let time pass. A program that polls goes on by itself when the request is over."""
        if self.display.waiting or not self.display.clock.running():
            self.display.advance(seconds)
        else:
            self.display.clock.allow(seconds)

    def next_due(self) -> float | None:
        """Seconds until the next timer, if there is one."""
        due = self.display.next_due()
        return None if due is None else max(0.0, due - self.display.clock.now)
