"""A real display, taken hold of so that a grader can be the person before it."""

from __future__ import annotations

import time
import tkinter
import tkinter.messagebox
import tkinter.simpledialog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .clock import Clock

DEFAULTS = {
    "showinfo": "ok", "showwarning": "ok", "showerror": "ok", "askquestion": "yes",
    "askokcancel": True, "askyesno": True, "askretrycancel": False, "askyesnocancel": True,
    "askstring": None, "askinteger": None, "askfloat": None,
}  # fmt: skip


class Real:
    """Roots, dialogs and time of real Tk windows; the same methods as `stage.Imagined`."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.answers: list[Any] = []
        self.dialogs: list[tuple[str, str, str]] = []
        self.errors: list[str] = []
        self._roots: list[tkinter.Tk] = []
        self._seen: list[Any] = []
        self._update = tkinter.Misc.update
        self._sleep = time.sleep
        self._take_over()

    def _take_over(self) -> None:
        stage, began = self, tkinter.Tk.__init__
        reported: Any = tkinter.Tk.report_callback_exception

        def begin(root: tkinter.Tk, *words: Any, **options: Any) -> None:
            began(root, *words, **options)
            stage._roots.append(root)

        def report(root: tkinter.Tk, kind: Any, error: Any, trace: Any) -> None:
            stage.errors.append(f"{kind.__name__}: {error}")
            reported(root, kind, error, trace)

        def look(widget: tkinter.Misc) -> None:
            stage._update(widget)
            stage.clock.poll(news=stage.changed())

        windows: Any = tkinter
        windows.Tk.__init__ = begin
        windows.Tk.report_callback_exception = report
        windows.Misc.update = look
        windows.Misc.mainloop = lambda widget, n=0: stage._loop()
        windows.Misc.quit = lambda widget: setattr(stage, "quitting", True)
        windows.mainloop = lambda n=0: stage._loop()
        for module in (tkinter.messagebox, tkinter.simpledialog):
            for name, default in DEFAULTS.items():
                if hasattr(module, name):
                    setattr(module, name, self._dialog(name, default))

    def changed(self) -> bool:
        """Whether anything that can be read has changed since the last time."""
        before, self._seen = self._seen, [_looks(root) for root in self.roots()]
        return before != self._seen

    def take_focus(self, window: Any) -> Any:
        """Give the keys to the widget of `window` that had them last."""
        widget = window.focus_lastfor() or window
        widget.focus_force()
        self.refresh()
        return widget

    def _dialog(self, kind: str, default: Any) -> Any:
        def show(title: Any = None, message: Any = None, **options: Any) -> Any:
            self.dialogs.append((kind, str(title or ""), str(message or options.get("prompt", ""))))
            return self.answers.pop(0) if self.answers else default

        return show

    def _loop(self) -> None:
        """What `mainloop` becomes: the grader has its turn after every round of events."""
        self.quitting = False
        while self.roots() and not self.quitting:
            self.refresh()
            self.clock.give_way()

    def roots(self) -> list[Any]:
        """The main windows that are still open."""
        return [root for root in self._roots if _exists(root)]

    def refresh(self) -> None:
        """Let happen what is due."""
        for root in self.roots():
            self._update(root)

    def advance(self, seconds: float) -> None:
        """Let real time pass."""
        end = time.monotonic() + seconds
        self.refresh()
        while time.monotonic() < end:
            self._sleep(0.005)
            self.refresh()

    def next_due(self) -> float | None:
        """Timers of real Tk cannot be asked for: say that one is due soon while any is set."""
        for root in self.roots():
            if root.tk.splitlist(root.tk.call("after", "info")):
                return 0.02
        return None


def _exists(root: tkinter.Tk) -> bool:
    try:
        return bool(root.winfo_exists())
    except tkinter.TclError:
        return False


def _looks(widget: Any) -> Any:
    """What can be read of a widget and those in it, for comparing."""
    drawn: list[Any] = []
    if widget.winfo_class() == "Canvas":
        drawn = [(n, widget.coords(n), widget.itemconfigure(n)) for n in widget.find_all()]
    options = widget.configure()
    return options, drawn, [_looks(child) for child in widget.winfo_children()]
