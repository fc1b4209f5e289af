"""Real Tk on a virtual display, and the user before it; in examples that user is `screen`.

Tk itself does everything but three things: timers (``after``) follow the virtual clock, waiting
(``mainloop``, ``wait_variable`` …) gives the grader its turn, and message boxes are
answered by the grader instead of being shown.

The user asks Tk itself and no object of the program, which may have changed those.
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

# Tcl's dialogs: what they are called in Python, and the answer without an instruction.
BOXES = {
    ("ok", "info"): ("showinfo", "ok"),
    ("ok", "warning"): ("showwarning", "ok"),
    ("ok", "error"): ("showerror", "ok"),
    ("okcancel", "question"): ("askokcancel", "ok"),
    ("yesno", "question"): ("askyesno", "yes"),
    ("retrycancel", "warning"): ("askretrycancel", "cancel"),
    ("yesnocancel", "question"): ("askyesnocancel", "yes"),
}


class TclInterpreter:
    """Tcl's interpreter as `_tkinter` makes it, but for its main loop."""

    def __init__(
        self, real: TkappType, loop: Callable[..., None], quit_: Callable[[], None]
    ) -> None:
        names = [name for name in dir(real) if not name.startswith("__")]
        vars(self).update({name: getattr(real, name) for name in names})
        self.mainloop = loop
        self.quit = quit_


class TkControl:
    """All windows of a program, and what it waits for.

    Attributes:
        interpreters: Tcl's, one for each `Tk`, oldest first.
        dialogs: the dialogs so far: kind, title, message.
        answers: what to answer to the next ones.
        errors: what callbacks raised, as text.
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
        misc.after = lambda widget, ms, *what: self._later(widget, ms, *what)  # noqa: PLW0108
        misc.update = lambda widget: self._looked(widget)  # noqa: PLW0108 - becomes a method
        misc.wait_window = lambda widget, window=None: self._wait_window(window or widget)
        misc.wait_variable = lambda widget, name="PY_VAR": self._wait_variable(widget, name)
        misc.waitvar = misc.wait_variable
        wrapper.__call__ = lambda wrapper, *words: self._called(wrapper, words)

    # -- interpreters -------------------------------------------------------------------

    def _created(self, *words: Any) -> Any:
        """Run in place of `_tkinter.create`."""
        interpreter: Any = TclInterpreter(self._create(*words), self._loop, self._quit)
        if interpreter.eval("info commands winfo"):
            interpreter.eval(self._timers)
            interpreter.createcommand("tk_messageBox", self._box)
            self.interpreters.append(interpreter)
        return interpreter

    def open(self) -> list[TkappType]:
        """Return the interpreters whose main window is still there."""
        return [interpreter for interpreter in self.interpreters if exists(interpreter)]

    # -- time ---------------------------------------------------------------------------

    def _later(self, widget: tkinter.Misc, ms: Any, *what: Any) -> str | None:
        """Run in place of `after`."""
        if not what or what[0] is None:
            self.clock.sleep(int(ms) / 1000)
            return None
        if widget.tk in self.interpreters:
            widget.tk.call("set", "::py2048::now", self.clock.now * 1000)
        return self._after(widget, ms, *what)

    def next_due(self) -> float | None:
        """Return the virtual seconds until the next timer, if there is one."""
        due = [interpreter.eval("::py2048::next") for interpreter in self.open()]
        times = [float(time) / 1000 for time in due if time]
        return max(0.0, min(times) - self.clock.now) if times else None

    def advance(self, seconds: float) -> bool:
        """Let time pass; say whether it has: a program that polls runs after the request."""
        if not self.waiting:
            self.clock.allow(seconds)
            return False
        end = self.clock.now + seconds
        self._run_timers(end)
        self.clock.now = max(end, self.clock.now)
        self.pump()
        return True

    def settle(self, seconds: float) -> bool:
        """Let time pass until no timer is set, but no longer than `seconds`; say whether it has."""
        end = self.clock.now + seconds
        while (due := self.next_due()) is not None and self.clock.now + due <= end:
            if not self.waiting:
                self.clock.allow(max(due, 0.001))
                return False
            self._run_timers(end)
            self.pump()
        return bool(self.waiting)

    def _run_timers(self, end: float) -> None:
        """Let time pass from timer to timer, up to `end`."""
        self.pump(thoroughly=False)
        while (due := self.next_due()) is not None and self.clock.now + due <= end + 1e-9:
            self.clock.now += due
            self.pump(thoroughly=False)

    # -- events -------------------------------------------------------------------------

    def pump(self, *, thoroughly: bool = True) -> None:
        """Run what is due; with `thoroughly` also the events that the display still holds."""
        for interpreter in self.open():
            interpreter.call("::py2048::release", self.clock.now * 1000)
        for interpreter in self.open()[:1]:
            if thoroughly:
                interpreter.call("update")
            while interpreter.dooneevent(_tkinter.DONT_WAIT):
                pass

    def _end_program(self) -> None:
        """Raise what a callback raised to end the program."""
        if self._raised is not None:
            error, self._raised = self._raised, None
            raise error

    def _looked(self, widget: tkinter.Misc) -> None:
        """Run in place of `update`.

        Asking the display for events takes several switches between threads and processes, and
        some programs do it after each number drawn. While they draw, drawing is all that is done:
        the user's actions come from within this process.
        """
        due = self.next_due()
        if exists(widget.tk) and (due is None or due > 0):
            widget.tk.call("update", "idletasks")
            if self._drawn():
                self._end_program()
                self.clock.poll(news=True)
                return
        self.pump()
        self._end_program()
        self.clock.poll(news=self._drawn())

    def _drawn(self) -> bool:
        """Return whether anything was drawn since the last time, by the requests to the display."""
        before = self._serial
        for interpreter in self.open()[:1]:
            interpreter.eval("event generate . <<Py2048Look>>")
            self._serial = int(interpreter.call("set", "::py2048::serial"))
        return abs(self._serial - before) > IDLE_REQUESTS

    def _called(self, wrapper: tkinter.CallWrapper, words: tuple[object, ...]) -> object:
        """Call a program's function for Tk."""
        try:
            return wrapper.func(*(wrapper.subst(*words) if wrapper.subst else words))
        except Exception as error:  # noqa: BLE001 - Tk reports whatever a callback raises
            self.errors.append(f"{type(error).__name__}: {error}")
            wrapper.widget._report_exception()
        except BaseException as error:  # noqa: BLE001 - `sys.exit` or the grader's alarm
            self._raised = error
        return ""

    # -- waiting ------------------------------------------------------------------------

    def _loop(self, threshold: int = 0) -> None:
        """Run in place of `mainloop`."""
        del threshold
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
        """Stay in an event loop: what is due happens, then the grader has its turn."""
        self.waiting += 1
        try:
            self.pump()
            while condition():
                self.pump(thoroughly=False)
                self._end_program()
                if condition():
                    self.clock.give_way()
                    self._end_program()
        finally:
            self.waiting -= 1

    # -- dialogs ------------------------------------------------------------------------

    def _box(self, *words: str) -> str:
        """Run in place of ``tk_messageBox``."""
        options = dict(zip(words[::2], words[1::2], strict=False))
        form = options.get("-type", "ok")
        kind, usual = BOXES.get((form, options.get("-icon", "info")), (f"ask{form}", "ok"))
        message = "\n".join(filter(None, [options.get("-message"), options.get("-detail")]))
        self.dialogs.append((kind, options.get("-title", ""), message))
        answer = self.answers.pop(0) if self.answers else usual
        if isinstance(answer, str):
            return answer.lower()
        if answer is None:
            return "cancel"
        agreed, refused = (
            ("yes", "no") if "yes" in form else (form.removesuffix("cancel"), "cancel")
        )
        return agreed if answer else refused


IDLE_REQUESTS = 1  # requests to the display of an `update` that draws nothing


def exists(interpreter: TkappType, path: str = ".") -> bool:
    """Return whether a window is still there."""
    try:
        return bool(int(interpreter.call("winfo", "exists", path)))
    except (TclError, ValueError):
        return False


CLICKABLE = {"Button", "TButton", "Radiobutton", "TRadiobutton", "Checkbutton", "TCheckbutton"}
SPEAKING = CLICKABLE | {"Label", "TLabel", "Message"}
SPEAKING |= {"Menubutton", "TMenubutton", "Labelframe", "TLabelframe"}
READABLE = {"Entry", "TEntry", "Spinbox", "TSpinbox", "TCombobox"}
LABELLED = {"command", "cascade", "checkbutton", "radiobutton"}  # kinds of menu entries
ITEM_OPTIONS = ("text", "fill", "outline", "image", "state", "tags")


class Widget:
    """A widget by its path; ``winfo_width()`` and the like ask ``winfo``."""

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
        """Its class, such as ``Label``."""
        return str(self.winfo_class())

    @property
    def is_window(self) -> bool:
        """Whether it is a window; Tk counts menus as windows of their own, people do not."""
        return str(self.winfo_toplevel()) == self.path and self.kind != "Menu"

    def call(self, *words: object) -> Any:
        """Give the widget's own command."""
        return self.interpreter.call(self.path, *words)

    def _split(self, found: object) -> list[str]:
        return [str(word) for word in self.interpreter.splitlist(found)]

    def cget(self, name: str) -> str:
        """Return an option; nothing where the widget has no such option."""
        try:
            return str(self.call("cget", f"-{name}"))
        except TclError:
            return ""

    def text(self) -> str:
        """Return the text that a label or a button shows."""
        variable = self.cget("textvariable")
        if variable and self.kind.startswith("T"):  # those do not follow with their text
            return str(self.interpreter.call("set", variable))
        return self.cget("text")

    def children(self) -> list[Widget]:
        """Return the widgets in it, without Tk's own copies of menus."""
        paths = self._split(self.winfo_children())
        return [Widget(self.interpreter, path) for path in paths if "#" not in path.split(".")[-1]]

    def grid(self) -> dict[str, str]:
        """Return its place in a grid."""
        words = self._split(self.interpreter.call("grid", "info", self.path))
        return {k.lstrip("-"): v for k, v in zip(words[::2], words[1::2], strict=True)}

    def items(self) -> list[tuple[str, list[float], dict[str, str]]]:
        """Return what is drawn on a canvas, the lowest first: kind, coordinates, options."""
        split = self.interpreter.splitlist
        found = []
        for item in split(self.interpreter.call("::py2048::items", self.path, ITEM_OPTIONS)):
            kind, coords, values = split(item)
            options = zip(ITEM_OPTIONS, split(values), strict=True)
            told = {name: str(value) for name, value in options if value not in {"", ()}}
            found.append((str(kind), [float(number) for number in split(coords)], told))
        return found

    def drawn_texts(self) -> list[tuple[str, list[float]]]:
        """Return the texts on a canvas that are not hidden, and where they are."""
        return [
            (options.get("text", ""), coords)
            for kind, coords, options in self.items()
            if kind == "text" and options.get("state") != "hidden"
        ]


class TkUser:
    """Presses keys and buttons, and reads what the windows show."""

    def __init__(self, windows: TkControl) -> None:
        self._windows = windows

    # -- looking ------------------------------------------------------------------------

    def windows(self) -> list[Widget]:
        """Return the open windows that are not hidden, oldest first."""
        mains = [Widget(interpreter, ".") for interpreter in self._windows.open()]
        found = [widget for main in mains for widget in _tree(main) if widget.is_window]
        return [w for w in found if str(w.interpreter.call("wm", "state", w.path)) == "normal"]

    def widgets(self, kind: str = "") -> list[Widget]:
        """Return the widgets that are shown, those of a class if one is named."""
        found = [widget for window in self.windows() for widget in _within(window, placed=True)]
        return [widget for widget in found if not kind or widget.kind in {kind, f"T{kind}"}]

    def texts(self) -> list[str]:
        """Return each text that is shown: titles, labels, buttons, canvas texts, entries, menus."""
        found: list[str] = []
        for window in self.windows():
            found.append(str(window.interpreter.call("wm", "title", window.path)))
            for widget in _within(window):
                found.extend(_texts_of(widget))
        return [text for text in found if text.strip()]

    def items(self, canvas: Widget | tkinter.Misc) -> list[tuple[str, list[float], dict[str, str]]]:
        """Return what is drawn on a canvas, in order: kind, coordinates, options."""
        return _handle(canvas).items()

    def dialogs(self) -> list[tuple[str, str, str]]:
        """Return the message boxes so far: kind, title, message."""
        return list(self._windows.dialogs)

    def errors(self) -> list[str]:
        """Return the exceptions that callbacks raised so far."""
        return list(self._windows.errors)

    # -- doing --------------------------------------------------------------------------

    def answer(self, *values: object) -> None:
        """Set the answers to the next message boxes and questions, in order."""
        self._windows.answers.extend(values)

    def press(self, key: str) -> None:
        """Press and release a key, for whatever has the focus."""
        target = self._focused()
        for event in (f"<KeyPress-{key}>", f"<KeyRelease-{key}>"):
            if exists(target.interpreter, target.path):
                target.interpreter.call("event", "generate", target.path, event)
                self._windows.pump()

    def click(self, widget: Widget | tkinter.Misc, x: float, y: float, button: int = 1) -> None:
        """Click at a place of a widget; on a canvas, where that place has been scrolled to."""
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
        """Click into the middle of a widget, on the topmost widget there."""
        x = int(widget.winfo_rootx()) + int(widget.winfo_width()) // 2
        y = int(widget.winfo_rooty()) + int(widget.winfo_height()) // 2
        seen = str(widget.interpreter.call("winfo", "containing", x, y))
        on_top = Widget(widget.interpreter, seen) if seen else widget
        self.click(on_top, x - int(on_top.winfo_rootx()), y - int(on_top.winfo_rooty()))

    def push(self, text: str) -> bool:
        """Use the first button, drawn text, menu entry or label that contains `text`, if any."""
        for label, use in self._pushable():
            if text.lower() in label.lower():
                use()
                return True
        return False

    def use(self, button: Widget, *entry: int) -> None:
        """Use a button, or an entry of a menu."""
        button.call("invoke", *entry)
        self._windows.pump()

    def _pushable(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield what can be used: the text that says so, and how."""
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
        """Give the keys to what had them last in the newest window."""
        windows = self.windows()
        if not windows:
            raise RuntimeError("no window is open")
        window = windows[-1]
        path = str(window.interpreter.call("focus", "-lastfor", window.path)) or window.path
        window.interpreter.call("focus", "-force", path)
        self._windows.pump()
        return Widget(window.interpreter, path)

    # -- waiting ------------------------------------------------------------------------

    def advance(self, ms: float) -> bool:
        """Let milliseconds pass; say whether they have: a program that polls runs afterwards."""
        return self._windows.advance(ms / 1000)

    def settle(self, seconds: float = 5.0) -> bool:
        """Let time pass until no timer is set, but no longer than `seconds`; say whether it has."""
        return self._windows.settle(seconds)


def _handle(widget: Any) -> Widget:
    """Return a widget of the program, or one of ours."""
    return widget if isinstance(widget, Widget) else Widget(widget.tk, widget._w)


def _tree(widget: Widget) -> Iterator[Widget]:
    """Yield a widget and everything in it."""
    yield widget
    for child in widget.children():
        yield from _tree(child)


def _within(window: Widget, *, placed: bool = False) -> Iterator[Widget]:
    """Yield all in a window but not in those it owns; if asked, only what has its place."""
    for child in window.children():
        if not child.is_window and (not placed or child.winfo_manager()):
            yield child
            yield from _within(child, placed=placed)


def _entries(menu: Widget) -> Iterator[tuple[int, str, str]]:
    """Yield the entries of a menu that have a label: index, kind, label."""
    last = str(menu.call("index", "end"))
    for index in range(int(last) + 1 if last.isdigit() else 0):
        kind = str(menu.call("type", index))
        if kind in LABELLED:
            yield index, kind, str(menu.call("entrycget", index, "-label"))


def _texts_of(widget: Widget) -> list[str]:
    """Return the texts that a widget shows."""
    kind = widget.kind
    if kind == "Menu":
        return [label for _, _, label in _entries(widget)]
    if not widget.winfo_ismapped():
        return []
    if kind == "Canvas":
        return [text for text, _ in widget.drawn_texts()]
    if kind in READABLE:
        return [str(widget.call("get"))]
    if kind == "Text":
        return [str(widget.call("get", "1.0", "end")).rstrip("\n")]
    if kind == "Listbox":
        return [str(line) for line in widget.interpreter.splitlist(widget.call("get", 0, "end"))]
    return [widget.text()] if kind in SPEAKING else []
