"""The person in front of the windows: presses, clicks, reads. In examples it is `screen`.

Everything here goes through tkinter's public methods, so it works the same on the recording
stand-in and on a real display.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .clock import Clock

CLICKABLE = {"Button", "TButton", "Radiobutton", "TRadiobutton", "Checkbutton", "TCheckbutton"}
LABELLED = {"command", "cascade", "checkbutton", "radiobutton"}  # kinds of menu entries
READABLE = {"Entry", "TEntry", "Spinbox", "TSpinbox", "TCombobox"}


class Person:
    """Presses keys and buttons, and sees what the windows show."""

    def __init__(self, clock: Clock, stage: Any) -> None:
        self._clock = clock
        self._stage = stage

    # -- looking ------------------------------------------------------------------------

    def windows(self) -> list[Any]:
        """The open windows that are not hidden, oldest first."""
        found = [widget for root in self._stage.roots() for widget in _tree(root)]
        tops = [widget for widget in found if _is_window(widget)]
        return [window for window in tops if window.state() == "normal"]

    def title(self) -> str:
        """The title of the first window."""
        return str(self.windows()[0].title())

    def widgets(self, kind: str = "") -> list[Any]:
        """The widgets that are shown, those of a class if one is named."""
        found = [widget for window in self.windows() for widget in _within(window)]
        names = {kind, f"T{kind}"}
        return [w for w in found if (not kind or w.winfo_class() in names) and w.winfo_manager()]

    def texts(self) -> list[str]:
        """Every text that is shown: titles, labels, buttons, canvas texts, entries, menus."""
        found: list[str] = []
        for window in self.windows():
            found.append(str(window.title()))
            for widget in _within(window):
                found.extend(_texts_of(widget))
        return [text for text in found if text.strip()]

    def shows(self, text: str) -> bool:
        """Whether a text that contains `text` is shown, in any case."""
        return any(text.lower() in shown.lower() for shown in self.texts())

    def items(self, canvas: Any) -> list[tuple[str, list[float], dict[str, str]]]:
        """What is drawn on a canvas, in order: kind, coordinates, options."""
        options = ("text", "fill", "outline", "image", "state", "tags")
        return [
            (
                canvas.type(number),
                [float(value) for value in canvas.coords(number)],
                {name: str(value) for name in options if (value := _option(canvas, number, name))},
            )
            for number in canvas.find_all()
        ]

    def dialogs(self) -> list[tuple[str, str, str]]:
        """The message boxes so far: kind, title, message."""
        return list(self._stage.dialogs)

    def errors(self) -> list[str]:
        """Exceptions that callbacks raised so far."""
        return list(self._stage.errors)

    # -- doing --------------------------------------------------------------------------

    def answer(self, *values: Any) -> None:
        """What to answer to the next message boxes and questions, in order."""
        self._stage.answers.extend(values)

    def press(self, key: str) -> None:
        """Press and release a key, for whatever has the focus."""
        target = self._focused()
        target.event_generate(f"<KeyPress-{key}>")
        self._stage.refresh()
        if target.winfo_exists():
            target.event_generate(f"<KeyRelease-{key}>")
            self._stage.refresh()

    def click(self, widget: Any, x: float, y: float, button: int = 1) -> None:
        """Click at a place of a widget."""
        place = {"x": round(x), "y": round(y)}
        presses = (f"<ButtonPress-{button}>", f"<ButtonRelease-{button}>")
        for event in ("<Enter>", "<Motion>", *presses):
            if widget.winfo_exists():
                widget.event_generate(event, **place)
                self._stage.refresh()

    def push(self, text: str) -> bool:
        """Use the first button, menu entry or drawn text that contains `text`, if there is one."""
        for widget in self.widgets():
            if widget.winfo_class() in CLICKABLE and _says(widget.cget("text"), text):
                widget.invoke()
                self._stage.refresh()
                return True
        return self._push_drawn(text) or self._push_menu(text) or self._push_label(text)

    def _push_drawn(self, text: str) -> bool:
        for canvas in self.widgets("Canvas"):
            for number in canvas.find_all():
                if canvas.type(number) == "text" and _says(canvas.itemcget(number, "text"), text):
                    x, y = canvas.coords(number)
                    self.click(canvas, x, y)
                    return True
        return False

    def _push_menu(self, text: str) -> bool:
        for window in self.windows():
            for menu in [w for w in _within(window) if w.winfo_class() == "Menu"]:
                last = menu.index("end")
                for index in range(0 if last is None else last + 1):
                    is_command = menu.type(index) == "command"
                    if is_command and _says(menu.entrycget(index, "label"), text):
                        menu.invoke(index)
                        self._stage.refresh()
                        return True
        return False

    def _push_label(self, text: str) -> bool:
        for label in self.widgets("Label"):
            if _says(label.cget("text"), text) and label.bind():
                self.click(label, 2, 2)
                return True
        return False

    def _focused(self) -> Any:
        windows = self.windows()
        if not windows:
            raise RuntimeError("no window is open")
        return self._stage.take_focus(windows[-1])

    # -- waiting ------------------------------------------------------------------------

    def advance(self, ms: float) -> None:
        """Let milliseconds pass."""
        self._stage.advance(ms / 1000)

    def settle(self, seconds: float = 5.0) -> None:
        """Let time pass until no timer is set, but no longer than `seconds`."""
        left = seconds
        while left > 0 and (due := self._stage.next_due()) is not None and due <= left:
            step = max(due, 0.001)
            self._stage.advance(step)
            left -= step


def _tree(widget: Any) -> Iterator[Any]:
    """A widget and everything in it."""
    yield widget
    for child in widget.winfo_children():
        yield from _tree(child)


def _within(window: Any) -> Iterator[Any]:
    """Everything in a window but not in the windows it owns."""
    for child in window.winfo_children():
        if not _is_window(child):
            yield child
            yield from _within(child)


def _is_window(widget: Any) -> bool:
    """Whether a widget is a window; Tk counts menus as windows of their own, people do not."""
    return hasattr(widget, "wm_title")


def _says(text: Any, wanted: str) -> bool:
    return wanted.lower() in str(text).lower()


def _option(canvas: Any, number: int, name: str) -> str:
    """An option of a canvas item; not every kind has every option."""
    try:
        return str(canvas.itemcget(number, name))
    except Exception:  # noqa: BLE001 - tkinter's own error class is not importable in both worlds
        return ""


def _texts_of(widget: Any) -> list[str]:
    """The texts that a widget shows."""
    kind = widget.winfo_class()
    if kind == "Menu":
        last = widget.index("end")
        entries = range(0 if last is None else last + 1)
        return [str(widget.entrycget(i, "label")) for i in entries if widget.type(i) in LABELLED]
    if not widget.winfo_ismapped():
        return []
    if kind == "Canvas":
        texts = [n for n in widget.find_all() if widget.type(n) == "text"]
        shown = [n for n in texts if widget.itemcget(n, "state") != "hidden"]
        return [str(widget.itemcget(number, "text")) for number in shown]
    if kind in READABLE:
        return [str(widget.get())]
    if kind == "Text":
        return [str(widget.get("1.0", "end")).rstrip("\n")]
    if kind == "Listbox":
        return [str(line) for line in widget.get(0, "end")]
    return [str(widget.cget("text"))] if kind in SPEAKING else []


SPEAKING = CLICKABLE | {
    "Label", "TLabel", "Message", "Menubutton", "TMenubutton", "Labelframe", "TLabelframe",
    "TLabelFrame",
}  # fmt: skip
