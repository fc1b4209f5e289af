"""The themed widgets of the stand-in for Tk: the plain ones, with a style."""

from __future__ import annotations

from . import faketk_widgets as plain
from .faketk_display import display
from .faketk_windows import Widget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Style:
    """Styles are kept and not drawn."""

    def __init__(self, master: Any = None) -> None:
        self.master = master
        self.options: dict[str, dict[str, Any]] = {}

    def configure(self, style: str, query_opt: Any = None, **options: Any) -> None:
        """Change a style."""
        self.options.setdefault(style, {}).update(options)

    map = layout = configure

    def theme_use(self, themename: Any = None) -> str:
        """The one theme."""
        return "default"

    def theme_names(self) -> tuple[str, ...]:
        """The themes."""
        return "default", "clam", "alt", "classic"

    def lookup(self, style: str, option: str, state: Any = None, default: Any = "") -> Any:
        """An option of a style."""
        return self.options.get(style, {}).get(option, default)


class Stateful:
    """What themed widgets add: states as flags."""

    def state(self, statespec: Any = None) -> tuple[str, ...]:
        """Set or ask the state flags; of these only ``disabled`` matters."""
        for flag in statespec or ():
            if flag.lstrip("!") == "disabled":
                new = "normal" if flag.startswith("!") else "disabled"
                self.configure(state=new)  # type: ignore[attr-defined]
        disabled = self.cget("state") == "disabled"  # type: ignore[attr-defined]
        return ("disabled",) if disabled else ()

    def instate(self, statespec: Any, callback: Any = None) -> bool:
        """Whether the flags hold."""
        return all((flag in self.state()) != flag.startswith("!") for flag in statespec)


class Combobox(Stateful, plain.Spinbox):
    """A line with a list of values."""

    kind = "TCombobox"

    def get(self) -> str:
        """What is in it."""
        return plain.Entry.get(self)

    def set(self, value: Any) -> None:
        """Choose a value."""
        self._put(str(value))

    def current(self, newindex: Any = None) -> int:
        """The number of the value, or choose by number."""
        values = [str(value) for value in self.options.get("values", ())]
        if newindex is None:
            return values.index(self.get()) if self.get() in values else -1
        self.set(values[int(newindex)])
        return int(newindex)


class Progressbar(Stateful, Widget):
    """How far something is."""

    kind = "TProgressbar"

    def step(self, amount: float = 1.0) -> None:
        """Go on."""
        self.configure(value=float(self.options.get("value", 0)) + amount)

    def start(self, interval: Any = None) -> None:
        """Move."""

    stop = start


class Notebook(Stateful, Widget):
    """Pages with tabs."""

    kind = "TNotebook"

    def add(self, child: Widget, **options: Any) -> None:
        """Add a page."""
        child.manager = "notebook"
        display.changes += 1

    def select(self, tab_id: Any = None) -> str:
        """Choose a page."""
        return str(tab_id or "")


class Treeview(Stateful, Widget):
    """Rows of values."""

    kind = "Treeview"

    def __init__(self, master: Any = None, **options: Any) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        super().__init__(master, **options)

    def insert(self, parent: str, index: Any, iid: Any = None, **options: Any) -> str:
        """Add a row."""
        name = str(iid or f"I{display.number():03}")
        self.rows[name] = options
        display.changes += 1
        return name

    def get_children(self, item: Any = None) -> tuple[str, ...]:
        """The names of the rows."""
        return tuple(self.rows)

    def delete(self, *items: str) -> None:
        """Remove rows."""
        for item in items:
            self.rows.pop(item, None)

    def item(self, item: str, option: Any = None, **options: Any) -> Any:
        """A row."""
        self.rows[item].update(options)
        return self.rows[item].get(option) if option else self.rows[item]

    def heading(self, column: Any, option: Any = None, **options: Any) -> None:
        """Headings are not kept."""

    column = tag_configure = yview = heading


def themed(base: type[Widget]) -> type[Widget]:
    """A themed widget like a plain one."""
    return type(base.__name__, (Stateful, base), {"kind": f"T{base.__name__}"})


NAMES = "Frame Label Button Checkbutton Radiobutton Entry Spinbox Scale Scrollbar Menubutton"
TTK: dict[str, Any] = {
    **{name: themed(getattr(plain, name)) for name in NAMES.split()},
    "LabelFrame": themed(plain.LabelFrame),
    "Labelframe": themed(plain.LabelFrame),
    "OptionMenu": themed(plain.OptionMenu),
    "PanedWindow": themed(plain.PanedWindow),
    "Panedwindow": themed(plain.PanedWindow),
    "Separator": type("Separator", (Stateful, Widget), {"kind": "TSeparator"}),
    "Sizegrip": type("Sizegrip", (Stateful, Widget), {"kind": "TSizegrip"}),
    "Combobox": Combobox,
    "Progressbar": Progressbar,
    "Notebook": Notebook,
    "Treeview": Treeview,
    "Widget": Widget,
}
