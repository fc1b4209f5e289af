"""The person in front of the windows: presses, clicks, reads. In examples it is `screen`.

Everything here asks Tk itself and no object of the program, which may have changed those.
"""

from __future__ import annotations

from functools import partial

from .windows import TclError, exists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .windows import Windows

CLICKABLE = {"Button", "TButton", "Radiobutton", "TRadiobutton", "Checkbutton", "TCheckbutton"}
SPEAKING = CLICKABLE | {
    "Label", "TLabel", "Message", "Menubutton", "TMenubutton", "Labelframe", "TLabelframe",
}  # fmt: skip
READABLE = {"Entry", "TEntry", "Spinbox", "TSpinbox", "TCombobox"}
LABELLED = {"command", "cascade", "checkbutton", "radiobutton"}  # kinds of menu entries
ITEM_OPTIONS = ("text", "fill", "outline", "image", "state", "tags")


class Widget:
    """A widget by its path; ``winfo_width()`` and the like ask ``winfo``."""

    def __init__(self, interpreter: Any, path: Any) -> None:
        self.interpreter = interpreter
        self.path = str(path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Widget) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.path}>"

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("winfo_"):
            raise AttributeError(name)
        return partial(self.interpreter.call, "winfo", name.removeprefix("winfo_"), self.path)

    @property
    def key(self) -> tuple[int, str]:
        """What makes two of them the same widget."""
        return id(self.interpreter), self.path

    @property
    def kind(self) -> str:
        """Its class, such as ``Label``."""
        return str(self.winfo_class())

    @property
    def exists(self) -> bool:
        """Whether it is still there."""
        return exists(self.interpreter, self.path)

    @property
    def is_window(self) -> bool:
        """Whether it is a window; Tk counts menus as windows of their own, people do not."""
        return str(self.winfo_toplevel()) == self.path and self.kind != "Menu"

    def call(self, *words: Any) -> Any:
        """Give the widget's own command."""
        return self.interpreter.call(self.path, *words)

    def words(self, *words: Any) -> list[str]:
        """What the widget's own command gives, as a list."""
        return [str(word) for word in self.interpreter.splitlist(self.call(*words))]

    def cget(self, name: str) -> str:
        """An option; nothing where the widget has no such option."""
        try:
            return str(self.call("cget", f"-{name}"))
        except TclError:
            return ""

    def text(self) -> str:
        """The text that a label or a button shows."""
        variable = self.cget("textvariable")
        if variable and self.kind.startswith("T"):  # those do not follow with their text
            return str(self.interpreter.getvar(variable))
        return self.cget("text")

    def children(self) -> list[Widget]:
        """What lies in it, without Tk's own copies of menus."""
        paths = self.interpreter.splitlist(self.winfo_children())
        found = [str(path) for path in paths]
        return [Widget(self.interpreter, path) for path in found if "#" not in path.split(".")[-1]]

    def bound(self) -> list[str]:
        """The events that something is bound to."""
        return [
            str(word)
            for word in self.interpreter.splitlist(self.interpreter.call("bind", self.path))
        ]

    def grid(self) -> dict[str, str]:
        """How it lies in a grid."""
        words = self.interpreter.splitlist(self.interpreter.call("grid", "info", self.path))
        return {str(k).lstrip("-"): str(v) for k, v in zip(words[::2], words[1::2], strict=True)}

    # -- canvases -----------------------------------------------------------------------

    def find_all(self) -> list[str]:
        """The items of a canvas, the lowest first."""
        return self.words("find", "all")

    def item(self, number: Any, name: str) -> str:
        """An option of an item; not every kind has every option."""
        try:
            return str(self.call("itemcget", number, f"-{name}"))
        except TclError:
            return ""

    def coords(self, number: Any) -> list[float]:
        """Where an item is."""
        return [float(word) for word in self.words("coords", number)]

    def drawn_texts(self) -> list[tuple[str, str]]:
        """The texts on a canvas that are not hidden, with their numbers."""
        texts = [n for n in self.find_all() if str(self.call("type", n)) == "text"]
        return [(n, self.item(n, "text")) for n in texts if self.item(n, "state") != "hidden"]


class Person:
    """Presses keys and buttons, and sees what the windows show."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows

    # -- looking ------------------------------------------------------------------------

    def windows(self) -> list[Widget]:
        """The open windows that are not hidden, oldest first."""
        mains = [Widget(interpreter, ".") for interpreter in self._windows.open()]
        found = [widget for main in mains for widget in _tree(main) if widget.is_window]
        return [w for w in found if str(w.interpreter.call("wm", "state", w.path)) == "normal"]

    def title(self) -> str:
        """The title of the first window."""
        return _title(self.windows()[0])

    def widgets(self, kind: str = "") -> list[Widget]:
        """The widgets that are shown, those of a class if one is named."""
        found = [widget for window in self.windows() for widget in _within(window)]
        names = {kind, f"T{kind}"}
        return [w for w in found if (not kind or w.kind in names) and w.winfo_manager()]

    def texts(self) -> list[str]:
        """Every text that is shown: titles, labels, buttons, canvas texts, entries, menus."""
        found: list[str] = []
        for window in self.windows():
            found.append(_title(window))
            for widget in _within(window):
                found.extend(_texts_of(widget))
        return [text for text in found if text.strip()]

    def shows(self, text: str) -> bool:
        """Whether a text that contains `text` is shown, in any case."""
        return any(text.lower() in shown.lower() for shown in self.texts())

    def items(self, canvas: Any) -> list[tuple[str, list[float], dict[str, str]]]:
        """What is drawn on a canvas, in order: kind, coordinates, options."""
        seen = _handle(canvas)
        split = seen.interpreter.splitlist
        found = []
        for item in split(seen.interpreter.call("::py2048::items", seen.path, ITEM_OPTIONS)):
            kind, coords, values = split(item)
            options = zip(ITEM_OPTIONS, split(values), strict=True)
            told = {name: str(value) for name, value in options if value not in {"", ()}}
            found.append((str(kind), [float(number) for number in split(coords)], told))
        return found

    def dialogs(self) -> list[tuple[str, str, str]]:
        """The message boxes so far: kind, title, message."""
        return list(self._windows.dialogs)

    def errors(self) -> list[str]:
        """Exceptions that callbacks raised so far."""
        return list(self._windows.errors)

    # -- doing --------------------------------------------------------------------------

    def answer(self, *values: Any) -> None:
        """What to answer to the next message boxes and questions, in order."""
        self._windows.answers.extend(values)

    def press(self, key: str) -> None:
        """Press and release a key, for whatever has the focus."""
        target = self._focused()
        for event in (f"<KeyPress-{key}>", f"<KeyRelease-{key}>"):
            if target.exists:
                target.interpreter.call("event", "generate", target.path, event)
                self._windows.pump()

    def click(self, widget: Any, x: float, y: float, button: int = 1) -> None:
        """Click at a place of a widget; on a canvas, where that place has been scrolled to."""
        target = _handle(widget)
        if target.kind == "Canvas":
            x, y = x - float(target.call("canvasx", 0)), y - float(target.call("canvasy", 0))
        place = ("-x", round(x), "-y", round(y))
        presses = (f"<ButtonPress-{button}>", f"<ButtonRelease-{button}>")
        for event in ("<Enter>", "<Motion>", *presses):
            if target.exists:
                target.interpreter.call("event", "generate", target.path, event, *place)
        self._windows.pump()

    def point(self, widget: Widget) -> None:
        """Click into the middle of a widget, on whatever lies on top there."""
        x = int(widget.winfo_rootx()) + int(widget.winfo_width()) // 2
        y = int(widget.winfo_rooty()) + int(widget.winfo_height()) // 2
        seen = str(widget.interpreter.call("winfo", "containing", x, y))
        on_top = Widget(widget.interpreter, seen) if seen else widget
        self.click(on_top, x - int(on_top.winfo_rootx()), y - int(on_top.winfo_rooty()))

    def push(self, text: str) -> bool:
        """Use the first button, menu entry or drawn text that contains `text`, if there is one."""
        for widget in self.widgets():
            if widget.kind in CLICKABLE and _says(widget.text(), text):
                self.use(widget)
                return True
        return self._push_drawn(text) or self._push_menu(text) or self._push_label(text)

    def use(self, button: Widget) -> None:
        """Use a button."""
        button.call("invoke")
        self._windows.pump()

    def _push_drawn(self, text: str) -> bool:
        for canvas in self.widgets("Canvas"):
            for number, drawn in canvas.drawn_texts():
                if _says(drawn, text):
                    x, y = canvas.coords(number)
                    self.click(canvas, x, y)
                    return True
        return False

    def _push_menu(self, text: str) -> bool:
        for window in self.windows():
            for menu in [widget for widget in _within(window) if widget.kind == "Menu"]:
                for index, kind, label in _entries(menu):
                    if kind == "command" and _says(label, text):
                        menu.call("invoke", index)
                        self._windows.pump()
                        return True
        return False

    def _push_label(self, text: str) -> bool:
        for label in self.widgets("Label"):
            if _says(label.text(), text) and label.bound():
                self.click(label, 2, 2)
                return True
        return False

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

    def advance(self, ms: float) -> None:
        """Let milliseconds pass."""
        self._windows.advance(ms / 1000)

    def settle(self, seconds: float = 5.0) -> None:
        """Let time pass until no timer is set, but no longer than `seconds`."""
        left = seconds
        while left > 0 and (due := self._windows.next_due()) is not None and due <= left:
            step = max(due, 0.001)
            self._windows.advance(step)
            left -= step


def _handle(widget: Any) -> Widget:
    """A widget of the program, or one of ours."""
    return widget if isinstance(widget, Widget) else Widget(widget.tk, widget._w)


def _tree(widget: Widget) -> Iterator[Widget]:
    """A widget and everything in it."""
    yield widget
    for child in widget.children():
        yield from _tree(child)


def _within(window: Widget) -> Iterator[Widget]:
    """Everything in a window but not in the windows it owns."""
    for child in window.children():
        if not child.is_window:
            yield child
            yield from _within(child)


def _says(text: str, wanted: str) -> bool:
    return wanted.lower() in text.lower()


def _title(window: Widget) -> str:
    return str(window.interpreter.call("wm", "title", window.path))


def _entries(menu: Widget) -> list[tuple[int, str, str]]:
    """The entries of a menu that have a label: index, kind, label."""
    last = str(menu.call("index", "end"))
    kinds = [(n, str(menu.call("type", n))) for n in range(int(last) + 1 if last.isdigit() else 0)]
    return [
        (index, kind, str(menu.call("entrycget", index, "-label")))
        for index, kind in kinds
        if kind in LABELLED
    ]


def _texts_of(widget: Widget) -> list[str]:
    """The texts that a widget shows."""
    kind = widget.kind
    if kind == "Menu":
        return [label for _, _, label in _entries(widget)]
    if not widget.winfo_ismapped():
        return []
    if kind == "Canvas":
        return [text for _, text in widget.drawn_texts()]
    if kind in READABLE:
        return [str(widget.call("get"))]
    if kind == "Text":
        return [str(widget.call("get", "1.0", "end")).rstrip("\n")]
    if kind == "Listbox":
        return widget.words("get", 0, "end")
    return [widget.text()] if kind in SPEAKING else []
