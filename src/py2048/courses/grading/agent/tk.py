"""Tk on a virtual display, and a simulated user that examples access as `screen`.

Tk is modified in three ways: timers (``after``) follow the virtual clock, waiting (``mainloop``,
``wait_variable`` …) yields to the grader, and the grader answers message boxes instead of showing
them.

The simulated user calls Tk directly, because the program may have changed its own Tk objects.
"""

from __future__ import annotations

import _tkinter
import os
import tkinter
import tkinter.font
import tkinter.messagebox
import tkinter.ttk
from _tkinter import TclError
from functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _tkinter import TkappType
    from collections.abc import Callable, Iterator
    from typing import Any

    from .terminal import VirtualClock

# Tcl's dialogs, with their Python names and default answers.
DIALOG_TYPES = {
    ("ok", "info"): ("showinfo", "ok"),
    ("ok", "warning"): ("showwarning", "ok"),
    ("ok", "error"): ("showerror", "ok"),
    ("okcancel", "question"): ("askokcancel", "ok"),
    ("yesno", "question"): ("askyesno", "yes"),
    ("retrycancel", "warning"): ("askretrycancel", "cancel"),
    ("yesnocancel", "question"): ("askyesnocancel", "yes"),
}


class TclInterpreter:
    """A Tcl interpreter like those of `_tkinter`, but with a different main loop."""

    def __init__(
        self, real: TkappType, loop: Callable[..., None], quit_: Callable[[], None]
    ) -> None:
        names = [name for name in dir(real) if not name.startswith("__")]
        vars(self).update({name: getattr(real, name) for name in names})
        self.mainloop = loop
        self.quit = quit_


class TkControl:
    """Controls a program's windows, timers and dialogs.

    Attributes:
        interpreters: Tcl interpreters, one per `Tk` object, oldest first.
        dialogs: All dialogs opened so far as (kind, title, message).
        answers: Answers to the next dialogs.
        errors: Descriptions of the exceptions that callbacks have raised.
    """

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.interpreters: list[TkappType] = []
        self.dialogs: list[tuple[str, str, str]] = []
        self.answers: list[object] = []
        self.errors: list[str] = []
        self.waiting = 0
        self._quitting = False
        self._raised: BaseException | None = None
        self._serial = 0
        with open(f"{os.path.dirname(__file__)}/timers.tcl", encoding="utf-8") as timers:
            self._timers = timers.read()
        self._create = _tkinter.create
        self._after = tkinter.Misc.after
        self._take_over()

    def _take_over(self) -> None:
        """Replace tkinter's functions."""
        misc: Any = tkinter.Misc
        wrapper: Any = tkinter.CallWrapper
        _tkinter.create = self._created
        misc.after = lambda widget, ms, *what: self._after_virtual(widget, ms, *what)  # noqa: PLW0108
        misc.update = lambda widget: self._update(widget)  # noqa: PLW0108 - becomes a method
        misc.wait_window = lambda widget, window=None: self._wait_window(window or widget)
        misc.wait_variable = lambda widget, name="PY_VAR": self._wait_variable(widget, name)
        misc.waitvar = misc.wait_variable
        wrapper.__call__ = lambda wrapper, *words: self._call_back(wrapper, words)

    # -- interpreters -------------------------------------------------------------------

    def _created(self, *words: Any) -> Any:
        """Replace `_tkinter.create`."""
        interpreter: Any = TclInterpreter(self._create(*words), self._loop, self._quit)
        if interpreter.eval("info commands winfo"):
            interpreter.eval(self._timers)
            interpreter.createcommand("tk_messageBox", self._message_box)
            self.interpreters.append(interpreter)
        return interpreter

    def open(self) -> list[TkappType]:
        """Return the interpreters whose main windows are open."""
        return [interpreter for interpreter in self.interpreters if exists(interpreter)]

    # -- time ---------------------------------------------------------------------------

    def _after_virtual(self, widget: tkinter.Misc, ms: Any, *what: Any) -> str | None:
        """Replace `after`."""
        if not what or what[0] is None:
            self.clock.sleep(int(ms) / 1000)
            return None
        if widget.tk in self.interpreters:
            widget.tk.call("set", "::py2048::now", self.clock.now * 1000)
        return self._after(widget, ms, *what)

    def next_due(self) -> float | None:
        """Return the virtual seconds until the next timer, or None if there are no timers."""
        due = [interpreter.eval("::py2048::next") for interpreter in self.open()]
        times = [float(time) / 1000 for time in due if time]
        return max(0.0, min(times) - self.clock.now) if times else None

    def advance(self, seconds: float) -> bool:
        """Advance the clock.

        Returns False if the program is not waiting in an event loop. A program that polls for
        events advances the clock itself, after this request.
        """
        if not self.waiting:
            self.clock.allow(seconds)
            return False
        end = self.clock.now + seconds
        self._run_timers(end)
        self.clock.now = max(end, self.clock.now)
        self.pump()
        return True

    def settle(self, seconds: float) -> bool:
        """Advance the clock until there are no timers, but at most by `seconds`.

        Returns False while the program is running, because only the program can then advance the
        clock (see `advance`).
        """
        end = self.clock.now + seconds
        while (due := self.next_due()) is not None and self.clock.now + due <= end:
            if not self.waiting:
                self.clock.allow(max(due, 0.001))
                return False
            self._run_timers(end)
            self.pump()
        return bool(self.waiting)

    def _run_timers(self, end: float) -> None:
        """Run all timers up to the time `end`, in order."""
        self.pump(thoroughly=False)
        while (due := self.next_due()) is not None and self.clock.now + due <= end + 1e-9:
            self.clock.now += due
            self.pump(thoroughly=False)

    # -- events -------------------------------------------------------------------------

    def pump(self, *, thoroughly: bool = True) -> None:
        """Run due timers and pending events.

        If `thoroughly` is false, do not wait for events that the X server has not delivered yet.
        """
        for interpreter in self.open():
            interpreter.call("::py2048::release", self.clock.now * 1000)
        for interpreter in self.open()[:1]:
            if thoroughly:
                interpreter.call("update")
            while interpreter.dooneevent(_tkinter.DONT_WAIT):
                pass

    def _end_program(self) -> None:
        """Raise the exception of a callback that ended the program, if there is one."""
        if self._raised is not None:
            error, self._raised = self._raised, None
            raise error

    def _update(self, widget: tkinter.Misc) -> None:
        """Replace `update`.

        Fetching events from the display takes several context switches, and some programs call
        `update` after drawing each number. If the program has drawn anything, this method therefore
        redraws the window without fetching events. The simulated user needs no events from the
        display, because it acts within this process.
        """
        due = self.next_due()
        if exists(widget.tk) and (due is None or due > 0):
            widget.tk.call("update", "idletasks")
            if self._has_drawn():
                self._end_program()
                self.clock.poll(news=True)
                return
        self.pump()
        self._end_program()
        self.clock.poll(news=self._has_drawn())

    def _has_drawn(self) -> bool:
        """Return whether anything was drawn since the last call, based on Tk's X request count."""
        before = self._serial
        for interpreter in self.open()[:1]:
            interpreter.eval("event generate . <<Py2048Look>>")
            self._serial = int(interpreter.call("set", "::py2048::serial"))
        return abs(self._serial - before) > IDLE_REQUESTS

    def _call_back(self, wrapper: tkinter.CallWrapper, words: tuple[object, ...]) -> object:
        """Run a callback and record its exceptions, in place of `CallWrapper.__call__`."""
        try:
            return wrapper.func(*(wrapper.subst(*words) if wrapper.subst else words))
        except Exception as error:  # noqa: BLE001 - callbacks may raise anything
            self.errors.append(f"{type(error).__name__}: {error}")
            wrapper.widget._report_exception()
        except BaseException as error:  # noqa: BLE001 - `sys.exit` or the grader's alarm
            self._raised = error
        return ""

    # -- waiting ------------------------------------------------------------------------

    def _loop(self, threshold: int = 0) -> None:
        """Replace `mainloop`."""
        self._quitting = False
        self._wait_while(lambda: bool(self.open()) and not self._quitting)
        self._quitting = False

    def _quit(self) -> None:
        self._quitting = True

    def _wait_window(self, window: tkinter.Misc) -> None:
        handle = _handle(window)
        self._wait_while(lambda: exists(handle.interpreter, handle.path))

    def _wait_variable(self, widget: tkinter.Misc, variable: object) -> None:
        written: list[object] = []
        name = f"::py2048::written{id(written)}"
        widget.tk.createcommand(name, lambda *words: written.append(words))
        trace = ("variable", str(variable), "write", name)
        widget.tk.call("trace", "add", *trace)
        try:
            self._wait_while(lambda: not written and exists(widget.tk))
        finally:
            widget.tk.call("trace", "remove", *trace)
            widget.tk.deletecommand(name)

    def _wait_while(self, condition: Callable[[], bool]) -> None:
        """Run an event loop that yields control to the grader when nothing is due."""
        self.waiting += 1
        try:
            self.pump()
            while condition():
                self.pump(thoroughly=False)
                self._end_program()
                if condition():
                    self.clock.yield_to_grader()
                    self._end_program()
        finally:
            self.waiting -= 1

    # -- dialogs ------------------------------------------------------------------------

    def _message_box(self, *words: str) -> str:
        """Replace ``tk_messageBox``."""
        options = dict(zip(words[::2], words[1::2], strict=False))
        form = options.get("-type", "ok")
        kind, usual = DIALOG_TYPES.get((form, options.get("-icon", "info")), (f"ask{form}", "ok"))
        message = "\n".join(filter(None, [options.get("-message"), options.get("-detail")]))
        self.dialogs.append((kind, options.get("-title", ""), message))
        answer = self.answers.pop(0) if self.answers else usual
        if isinstance(answer, str):
            return answer.lower()
        if answer is None:
            return "cancel"
        if "yes" in form:
            return "yes" if answer else "no"
        return form.removesuffix("cancel") if answer else "cancel"


IDLE_REQUESTS = 1  # Number of display requests that `update` sends if nothing was drawn.


def exists(interpreter: TkappType, path: str = ".") -> bool:
    """Return whether a widget still exists."""
    try:
        return bool(int(interpreter.call("winfo", "exists", path)))
    except (TclError, ValueError):
        return False


CLICKABLE = {"Button", "TButton", "Radiobutton", "TRadiobutton", "Checkbutton", "TCheckbutton"}
TEXT_WIDGETS = CLICKABLE | {"Label", "TLabel", "Message"}
TEXT_WIDGETS |= {"Menubutton", "TMenubutton", "Labelframe", "TLabelframe"}
INPUT_WIDGETS = {"Entry", "TEntry", "Spinbox", "TSpinbox", "TCombobox"}
LABELLED_ENTRIES = {"command", "cascade", "checkbutton", "radiobutton"}
ITEM_OPTIONS = ("text", "fill", "outline", "image", "state", "tags")


class Widget:
    """A widget identified by its path; methods such as ``winfo_width()`` call ``winfo``."""

    def __init__(self, interpreter: TkappType, path: object) -> None:
        self.interpreter = interpreter
        self.path = str(path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Widget) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((id(self.interpreter), self.path))

    def __repr__(self) -> str:
        return f"<{self.kind} {self.path}>"

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("winfo_"):
            raise AttributeError(name)
        return partial(self.interpreter.call, "winfo", name.removeprefix("winfo_"), self.path)

    @property
    def kind(self) -> str:
        """Widget class, such as ``Label``."""
        return str(self.winfo_class())

    @property
    def is_window(self) -> bool:
        """Whether the widget is a window. Menus, which Tk counts as windows, are excluded."""
        return str(self.winfo_toplevel()) == self.path and self.kind != "Menu"

    def call(self, *words: object) -> Any:
        """Call the widget's Tcl command."""
        return self.interpreter.call(self.path, *words)

    def _split(self, found: object) -> list[str]:
        return [str(word) for word in self.interpreter.splitlist(found)]

    def cget(self, name: str) -> str:
        """Return the value of an option, or "" if the widget lacks this option."""
        try:
            return str(self.call("cget", f"-{name}"))
        except TclError:
            return ""

    def text(self) -> str:
        """Return the text that a label or button displays."""
        variable = self.cget("textvariable")
        if variable and self.kind.startswith("T"):  # ttk leaves the option "text" unchanged
            return str(self.interpreter.call("set", variable))
        return self.cget("text")

    def children(self) -> list[Widget]:
        """Return the child widgets, without the clones that Tk makes of menus."""
        paths = self._split(self.winfo_children())
        return [Widget(self.interpreter, path) for path in paths if "#" not in path.split(".")[-1]]

    def tree(self) -> Iterator[Widget]:
        """Yield the widget and all its descendants."""
        yield self
        for child in self.children():
            yield from child.tree()

    def grid(self) -> dict[str, str]:
        """Return the widget's grid options."""
        words = self._split(self.interpreter.call("grid", "info", self.path))
        return {k.lstrip("-"): v for k, v in zip(words[::2], words[1::2], strict=True)}

    def items(self) -> list[tuple[str, list[float], dict[str, str]]]:
        """Return the items of a canvas from bottom to top, as (kind, coordinates, options)."""
        split = self.interpreter.splitlist
        found = []
        for item in split(self.interpreter.call("::py2048::items", self.path, ITEM_OPTIONS)):
            kind, coords, values = split(item)
            options = zip(ITEM_OPTIONS, split(values), strict=True)
            given = {name: str(value) for name, value in options if value not in {"", ()}}
            found.append((str(kind), [float(number) for number in split(coords)], given))
        return found

    def drawn_texts(self) -> list[tuple[str, list[float]]]:
        """Return the visible strings on a canvas, with their coordinates."""
        return [
            (options.get("text", ""), coords)
            for kind, coords, options in self.items()
            if kind == "text" and options.get("state") != "hidden"
        ]


class TkUser:
    """A simulated user, who presses keys and buttons, and reads the contents of windows."""

    def __init__(self, windows: TkControl) -> None:
        self._windows = windows

    # -- reading ------------------------------------------------------------------------

    def windows(self) -> list[Widget]:
        """Return the visible windows, oldest first."""
        mains = [Widget(interpreter, ".") for interpreter in self._windows.open()]
        found = [widget for main in mains for widget in main.tree() if widget.is_window]
        return [w for w in found if str(w.interpreter.call("wm", "state", w.path)) == "normal"]

    def widgets(self, kind: str = "") -> list[Widget]:
        """Return the displayed widgets, optionally only the widgets of one class."""
        found = [widget for window in self.windows() for widget in _within(window, placed=True)]
        return [widget for widget in found if not kind or widget.kind in {kind, f"T{kind}"}]

    def texts(self) -> list[str]:
        """Return all visible strings: titles, labels, buttons, canvas text, entries and menus."""
        found: list[str] = []
        for window in self.windows():
            found.append(str(window.interpreter.call("wm", "title", window.path)))
            for widget in _within(window):
                found.extend(_texts_of(widget))
        return [text for text in found if text.strip()]

    def items(self, canvas: Widget | tkinter.Misc) -> list[tuple[str, list[float], dict[str, str]]]:
        """Return the items of a canvas in drawing order, as (kind, coordinates, options)."""
        return _handle(canvas).items()

    def dialogs(self) -> list[tuple[str, str, str]]:
        """Return all message boxes opened so far, as (kind, title, message)."""
        return list(self._windows.dialogs)

    def errors(self) -> list[str]:
        """Return descriptions of all exceptions that callbacks have raised so far."""
        return list(self._windows.errors)

    # -- acting -------------------------------------------------------------------------

    def answer(self, *values: object) -> None:
        """Set the answers to the next message boxes, in order."""
        self._windows.answers.extend(values)

    def press(self, key: str) -> None:
        """Press and release a key, in the widget that has the focus."""
        target = self._focused()
        for event in (f"<KeyPress-{key}>", f"<KeyRelease-{key}>"):
            if exists(target.interpreter, target.path):
                target.interpreter.call("event", "generate", target.path, event)
                self._windows.pump()

    def click(self, widget: Widget | tkinter.Misc, x: float, y: float, button: int = 1) -> None:
        """Click at a position in a widget. On a canvas, use canvas coordinates."""
        target = _handle(widget)
        if target.kind == "Canvas":
            x, y = x - float(target.call("canvasx", 0)), y - float(target.call("canvasy", 0))
        place = ("-x", round(x), "-y", round(y))
        presses = (f"<ButtonPress-{button}>", f"<ButtonRelease-{button}>")
        for event in ("<Enter>", "<Motion>", *presses):
            if exists(target.interpreter, target.path):
                target.interpreter.call("event", "generate", target.path, event, *place)
        self._windows.pump()

    def point(self, widget: Widget) -> None:
        """Click at the middle of a widget, or on another widget that covers this point."""
        x = int(widget.winfo_rootx()) + int(widget.winfo_width()) // 2
        y = int(widget.winfo_rooty()) + int(widget.winfo_height()) // 2
        seen = str(widget.interpreter.call("winfo", "containing", x, y))
        on_top = Widget(widget.interpreter, seen) if seen else widget
        self.click(on_top, x - int(on_top.winfo_rootx()), y - int(on_top.winfo_rooty()))

    def push(self, text: str, *, exactly: bool = False) -> bool:
        """Click on the first button, drawn text, menu entry or label that contains `text`.

        With `exactly`, the item's whole text must equal `text`. Returns whether a match was found.
        """
        for label, use in self._pushable():
            found = label.strip().lower()
            if text.lower() == found if exactly else text.lower() in found:
                use()
                return True
        return False

    def use(self, button: Widget, *entry: int) -> None:
        """Press a button, or choose an entry of a menu."""
        button.call("invoke", *entry)
        self._windows.pump()

    def _pushable(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield the text of each control, with a function that activates the control."""
        for button in self.widgets():
            if button.kind in CLICKABLE:
                yield button.text(), partial(self.use, button)
        for canvas in self.widgets("Canvas"):
            for text, place in canvas.drawn_texts():
                yield text, partial(self.click, canvas, place[0], place[1])
        parts = [part for window in self.windows() for part in _within(window)]
        menus = [(menu, entry) for menu in parts if menu.kind == "Menu" for entry in _entries(menu)]
        for menu, (index, kind, label) in menus:
            if kind == "command":
                yield label, partial(self.use, menu, index)
        for shown in self.widgets("Label"):
            if shown.interpreter.call("bind", shown.path):
                yield shown.text(), partial(self.click, shown, 2, 2)

    def _focused(self) -> Widget:
        """Give the keyboard focus to the newest window, and return its focused widget."""
        windows = self.windows()
        if not windows:
            raise RuntimeError("no window is open")
        window = windows[-1]
        path = str(window.interpreter.call("focus", "-lastfor", window.path)) or window.path
        window.interpreter.call("focus", "-force", path)
        self._windows.pump()
        return Widget(window.interpreter, path)

    # -- waiting ------------------------------------------------------------------------

    def seconds(self) -> float:
        """Return the time on the program's clock."""
        return self._windows.clock.now

    def advance(self, ms: float) -> bool:
        """Advance the clock by milliseconds. For the result, see `TkControl.advance`."""
        return self._windows.advance(ms / 1000)

    def settle(self, seconds: float = 5.0) -> bool:
        """Advance the clock until there are no timers. For the result, see `TkControl.settle`."""
        return self._windows.settle(seconds)


def _handle(widget: Any) -> Widget:
    """Return a handle for a widget of the program. Handles are returned unchanged."""
    return widget if isinstance(widget, Widget) else Widget(widget.tk, widget._w)


def _within(window: Widget, *, placed: bool = False) -> Iterator[Widget]:
    """Yield a window's widgets, but not those of child windows.

    With `placed`, yield only managed widgets.
    """
    for child in window.children():
        if not child.is_window and (not placed or child.winfo_manager()):
            yield child
            yield from _within(child, placed=placed)


def _entries(menu: Widget) -> Iterator[tuple[int, str, str]]:
    """Yield the labelled entries of a menu as (index, kind, label)."""
    last = str(menu.call("index", "end"))
    for index in range(int(last) + 1 if last.isdigit() else 0):
        kind = str(menu.call("type", index))
        if kind in LABELLED_ENTRIES:
            yield index, kind, str(menu.call("entrycget", index, "-label"))


def _texts_of(widget: Widget) -> list[str]:
    """Return the strings that a widget displays."""
    kind = widget.kind
    if kind == "Menu":
        return [label for _, _, label in _entries(widget)]
    if not widget.winfo_ismapped():
        return []
    if kind == "Canvas":
        return [text for text, _ in widget.drawn_texts()]
    if kind in INPUT_WIDGETS:
        return [str(widget.call("get"))]
    if kind == "Text":
        return [str(widget.call("get", "1.0", "end")).rstrip("\n")]
    if kind == "Listbox":
        return [str(line) for line in widget.interpreter.splitlist(widget.call("get", 0, "end"))]
    return [widget.text()] if kind in TEXT_WIDGETS else []
