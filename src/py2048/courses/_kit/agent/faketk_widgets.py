"""The widgets of the stand-in for Tk, but for the canvas."""

from __future__ import annotations

from . import faketk_options as opts
from .faketk_display import display
from .faketk_windows import Widget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .faketk_events import Event


class Frame(Widget):
    """A box for other widgets."""


class LabelFrame(Widget):
    """A box with a title."""

    kind = "Labelframe"


class Label(Widget):
    """A text or an image."""


class Message(Widget):
    """A text of several lines."""


class Button(Widget):
    """A button: `invoke` is what a click does."""

    def invoke(self) -> Any:
        """Press the button, unless it is disabled."""
        self._alive()
        command = self.options.get("command")
        if str(self.options.get("state", "normal")) == "disabled" or not command:
            return ""
        return command()

    def flash(self) -> None:
        """Nothing to see."""

    def _class_binding(self, event: Event) -> None:
        if event.type == "ButtonRelease" and event.num == 1:
            display.call(self.invoke)


class Checkbutton(Button):
    """A box to tick."""

    def _set(self, name: str, default: int) -> None:
        variable = self.options.get("variable")
        if variable is not None:
            variable.set(self.options.get(name, default))

    def select(self) -> None:
        """Tick."""
        self._set("onvalue", 1)

    def deselect(self) -> None:
        """Take the tick away."""
        self._set("offvalue", 0)

    def toggle(self) -> None:
        """Change the tick."""
        variable = self.options.get("variable")
        on = self.options.get("onvalue", 1)
        ticked = variable is not None and str(variable.get()) == str(on)
        self.deselect() if ticked else self.select()

    def invoke(self) -> Any:
        """Change the tick and call the command."""
        self.toggle()
        return super().invoke()


class Radiobutton(Checkbutton):
    """One of several choices."""

    def select(self) -> None:
        """Choose this one."""
        self._set("value", 1)

    def invoke(self) -> Any:
        """Choose this one and call the command."""
        self.select()
        return Button.invoke(self)


class Entry(Widget):
    """A line to type into."""

    def __init__(self, master: Any = None, cnf: Any = None, **options: Any) -> None:
        self.content = ""
        super().__init__(master, cnf, **options)

    def get(self) -> str:
        """What is in it."""
        variable = self.options.get("textvariable")
        return self.content if variable is None else str(variable.get())

    def _put(self, text: str) -> None:
        self.content = text
        variable = self.options.get("textvariable")
        if variable is not None:
            variable.set(text)
        display.changes += 1

    def insert(self, index: Any, string: Any) -> None:
        """Put text in."""
        text = self.get()
        place = len(text) if index in {"end", "insert"} else int(index)
        self._put(text[:place] + str(string) + text[place:])

    def delete(self, first: Any, last: Any = None) -> None:
        """Take text out."""
        text = self.get()
        start = len(text) if first == "end" else int(first)
        stop = start + 1 if last is None else len(text) if last == "end" else int(last)
        self._put(text[:start] + text[stop:])

    def icursor(self, index: Any) -> None:
        """The cursor is not kept."""

    xview = select_range = selection_range = selection_clear = icursor


class Spinbox(Entry):
    """A number to choose."""

    def get(self) -> str:
        """What is in it: the first value until something was typed."""
        values = self.options.get("values") or (self.options.get("from", ""),)
        return super().get() or str(values[0])


class Scale(Widget):
    """A slider."""

    position: float = 0

    def get(self) -> float:
        """Where it stands."""
        variable = self.options.get("variable")
        low = float(self.options.get("from", 0))
        value = float(variable.get()) if variable is not None else max(low, self.position)
        whole = float(self.options.get("resolution", 1)).is_integer() and value.is_integer()
        return int(value) if whole else value

    def set(self, value: Any) -> None:
        """Move it."""
        self.position = float(value)
        variable = self.options.get("variable")
        if variable is not None:
            variable.set(value)
        display.changes += 1


class Listbox(Widget):
    """Lines to choose from."""

    def __init__(self, master: Any = None, cnf: Any = None, **options: Any) -> None:
        self.lines: list[Any] = []
        self.chosen: tuple[int, ...] = ()
        super().__init__(master, cnf, **options)

    def insert(self, index: Any, *lines: Any) -> None:
        """Add lines."""
        place = len(self.lines) if index == "end" else int(index)
        self.lines[place:place] = lines
        display.changes += 1

    def delete(self, first: Any, last: Any = None) -> None:
        """Remove lines."""
        start = int(first)
        stop = start if last is None else len(self.lines) if last == "end" else int(last)
        del self.lines[start : stop + 1]
        display.changes += 1

    def get(self, first: Any, last: Any = None) -> Any:
        """One line, or some."""
        if last is None:
            return self.lines[-1 if first == "end" else int(first)]
        stop = len(self.lines) if last == "end" else int(last) + 1
        return tuple(self.lines[int(first) : stop])

    def size(self) -> int:
        """How many lines."""
        return len(self.lines)

    def selection_set(self, first: Any, last: Any = None) -> None:
        """Choose a line."""
        self.chosen = (len(self.lines) - 1 if first == "end" else int(first),)

    select_set = activate = selection_set

    def curselection(self) -> tuple[int, ...]:
        """The chosen lines."""
        return self.chosen

    def see(self, index: Any) -> None:
        """Nothing scrolls."""

    yview = selection_clear = see


class Scrollbar(Widget):
    """A scroll bar."""

    def set(self, *places: Any) -> None:
        """Nothing scrolls."""


class PanedWindow(Widget):
    """Boxes side by side."""

    kind = "Panedwindow"

    def add(self, child: Any, **options: Any) -> None:
        """Show a widget."""
        child.manager = "panedwindow"


class Text(Widget):
    """A text to write in."""

    def __init__(self, master: Any = None, cnf: Any = None, **options: Any) -> None:
        self.content = ""
        super().__init__(master, cnf, **options)

    def _index(self, index: Any) -> int:
        words = str(index)
        if words.startswith(("end", "insert", "current")):
            return len(self.content)
        row, _, column = words.partition(".")
        lines = self.content.split("\n")
        before = sum(len(line) + 1 for line in lines[: int(row) - 1])
        length = len(lines[int(row) - 1]) if int(row) <= len(lines) else 0
        return before + (length if column == "end" else min(int(column or 0), length))

    def insert(self, index: Any, chars: Any, *tags: Any) -> None:
        """Put text in."""
        place = self._index(index)
        self.content = self.content[:place] + str(chars) + self.content[place:]
        display.changes += 1

    def delete(self, first: Any, last: Any = None) -> None:
        """Take text out."""
        start = self._index(first)
        stop = start + 1 if last is None else self._index(last)
        self.content = self.content[:start] + self.content[stop:]
        display.changes += 1

    def get(self, first: Any, last: Any = None) -> str:
        """The text between two places; Tk ends every text with a new line."""
        start = self._index(first)
        text = self.content[start : start + 1 if last is None else self._index(last)]
        return text + "\n" if str(last) == "end" else text

    def see(self, index: Any) -> None:
        """Nothing scrolls."""

    yview = tag_configure = tag_config = tag_add = tag_remove = mark_set = edit_modified = see


class Menu(Widget):
    """A menu: entries with commands."""

    def __init__(self, master: Any = None, cnf: Any = None, **options: Any) -> None:
        self.entries: list[tuple[str, dict[str, Any]]] = []
        super().__init__(master, cnf, **options)
        if str(self.options.get("tearoff", 1)).lower() not in {"0", "false", "no"}:
            self.entries.append(("tearoff", {}))

    def add(self, itemType: str, cnf: Any = None, **options: Any) -> None:
        """Add an entry."""
        self.entries.append((itemType, {**(cnf or {}), **options}))
        display.changes += 1

    def add_command(self, cnf: Any = None, **options: Any) -> None:
        """Add an entry with a command."""
        self.add("command", cnf, **options)

    def add_cascade(self, cnf: Any = None, **options: Any) -> None:
        """Add a menu."""
        self.add("cascade", cnf, **options)

    def add_separator(self, cnf: Any = None, **options: Any) -> None:
        """Add a line."""
        self.add("separator", cnf, **options)

    def add_checkbutton(self, cnf: Any = None, **options: Any) -> None:
        """Add a box to tick."""
        self.add("checkbutton", cnf, **options)

    def add_radiobutton(self, cnf: Any = None, **options: Any) -> None:
        """Add a choice."""
        self.add("radiobutton", cnf, **options)

    def index(self, index: Any) -> int | None:
        """The number of an entry, by number, label or ``end``."""
        labels = [str(options.get("label", "")) for _, options in self.entries]
        if index == "end":
            return len(labels) - 1 if labels else None
        return labels.index(index) if index in labels else int(index)

    def type(self, index: Any) -> str:
        """The kind of an entry."""
        return self.entries[self.index(index) or 0][0]

    def entrycget(self, index: Any, option: str) -> Any:
        """An option of an entry."""
        return self.entries[self.index(index) or 0][1].get(opts.full_name(option), "")

    def entryconfigure(self, index: Any, cnf: Any = None, **options: Any) -> None:
        """Change an entry."""
        self.entries[self.index(index) or 0][1].update({**(cnf or {}), **options})

    entryconfig = entryconfigure

    def invoke(self, index: Any) -> Any:
        """Choose an entry."""
        options = self.entries[self.index(index) or 0][1]
        disabled = options.get("state") == "disabled"
        command = None if disabled else options.get("command")
        return command() if command else ""

    def delete(self, first: Any, last: Any = None) -> None:
        """Remove entries."""
        start = self.index(first) or 0
        stop = start if last is None else self.index(last) or 0
        del self.entries[start : stop + 1]

    def tk_popup(self, x: int, y: int, entry: Any = "") -> None:
        """Menus do not pop up."""

    post = tk_popup


class Menubutton(Button):
    """A button with a menu."""


class OptionMenu(Menubutton):
    """A button that shows the chosen one of several values."""

    kind = "Menubutton"

    def __init__(
        self, master: Any, variable: Any, value: Any, *values: Any, **options: Any
    ) -> None:
        command = options.pop("command", None)
        super().__init__(master, textvariable=variable)
        menu = Menu(self, tearoff=0)
        for choice in (value, *values):
            menu.add_command(label=choice, command=_choose(variable, choice, command))
        self.options["menu"] = menu
        self.menu = menu

    def __getitem__(self, key: str) -> Any:
        return self.menu if key == "menu" else super().__getitem__(key)


def _choose(variable: Any, choice: Any, command: Any) -> Any:
    def choose() -> None:
        variable.set(choice)
        if command:
            command(choice)

    return choose
