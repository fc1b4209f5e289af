"""Variables, images, fonts and dialogs of the stand-in for Tk."""

from __future__ import annotations

from .faketk_display import TclError, display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Variable:
    """A value that widgets show."""

    default: Any = ""

    def __init__(self, master: Any = None, value: Any = None, name: Any = None) -> None:
        if master is None and display.default is None and not display.roots:
            raise RuntimeError("Too early to create variable: no default root window")
        self._name = name or f"PY_VAR{display.number()}"
        self._master = master
        self.watchers: list[Callable[..., object]] = []
        self.writes = 0
        if value is not None or self._name not in display.variables:
            display.variables[self._name] = self.default if value is None else value

    def __str__(self) -> str:
        return str(self._name)

    def set(self, value: Any) -> None:
        """Give it a value."""
        display.variables[self._name] = value
        display.changes += 1
        self.writes += 1
        for watcher in list(self.watchers):
            display.call(watcher, self._name, "", "write")

    initialize = set  # noqa: A003 - the method above is meant

    def get(self) -> Any:
        """Its value."""
        return display.variables[self._name]

    def trace_add(self, mode: Any, callback: Any) -> str:
        """Call `callback` when it is written."""
        if "read" not in str(mode):
            self.watchers.append(callback)
        return f"{id(callback)}"

    trace = trace_variable = trace_add

    def trace_remove(self, mode: Any, name: str) -> None:
        """Forget a callback."""
        self.watchers = [watcher for watcher in self.watchers if f"{id(watcher)}" != name]

    trace_vdelete = trace_remove


class StringVar(Variable):
    """A text."""

    def get(self) -> str:
        """Its value."""
        return str(super().get())


class IntVar(Variable):
    """A whole number."""

    default = 0

    def get(self) -> int:
        """Its value."""
        return int(float(_number(super().get())))


class DoubleVar(Variable):
    """A number."""

    default = 0.0

    def get(self) -> float:
        """Its value."""
        return float(_number(super().get()))


class BooleanVar(Variable):
    """True or False."""

    default = False

    def get(self) -> bool:
        """Its value."""
        return str(super().get()).lower() in {"1", "true", "yes", "on"}


def _number(value: Any) -> Any:
    try:
        float(value)
    except (TypeError, ValueError):
        raise TclError(f'expected floating-point number but got "{value}"') from None
    return value


class Image:
    """A picture: its name, size and where it came from."""

    def __init__(
        self, name: Any = None, cnf: Any = None, master: Any = None, **options: Any
    ) -> None:
        if master is None and not display.roots:
            raise RuntimeError("Too early to create image: no default root window")
        self.options = {**(cnf or {}), **options}
        self.name = str(name or f"pyimage{display.number()}")
        self.source = str(self.options.get("file", ""))
        if self.source:
            with open(self.source, "rb"):
                pass
        self._size = int(self.options.get("width", 0)), int(self.options.get("height", 0))

    def __str__(self) -> str:
        return self.name

    def __getitem__(self, key: str) -> Any:
        return self.options.get(key, "")

    def __setitem__(self, key: str, value: Any) -> None:
        self.options[key] = value

    def configure(self, **options: Any) -> None:
        """Change options."""
        self.options.update(options)

    config = configure

    def width(self) -> int:
        """Pixels across."""
        return self._size[0]

    def height(self) -> int:
        """Pixels down."""
        return self._size[1]


class PhotoImage(Image):
    """A picture that can be changed; its pixels are not kept."""

    def copy(self) -> PhotoImage:
        """Another of the same size."""
        return PhotoImage(width=self.width(), height=self.height())

    def subsample(self, x: int, y: int = 0) -> PhotoImage:
        """A smaller one."""
        return PhotoImage(width=self.width() // x, height=self.height() // (y or x))

    def zoom(self, x: int, y: int = 0) -> PhotoImage:
        """A larger one."""
        return PhotoImage(width=self.width() * x, height=self.height() * (y or x))

    def put(self, *words: Any, **options: Any) -> None:
        """Pixels are not kept."""
        display.changes += 1

    blank = paste = write = put

    def get(self, x: int, y: int) -> tuple[int, int, int]:
        """Black."""
        return 0, 0, 0


class PillowPhoto(PhotoImage):
    """What ``PIL.ImageTk.PhotoImage`` becomes: the size of a Pillow image, and the image."""

    def __init__(self, image: Any = None, size: Any = None, **options: Any) -> None:
        master, file = options.pop("master", None), options.pop("file", None)
        super().__init__(master=master)
        self.source = str(file or getattr(image, "filename", ""))
        self.image = image
        self._size = tuple(size or getattr(image, "size", (0, 0)))


class Font:
    """A font; texts are taken to be ten pixels wide a letter."""

    def __init__(
        self, root: Any = None, font: Any = None, name: Any = None, **options: Any
    ) -> None:
        self.options = dict(options)
        self.name = name or f"font{display.number()}"

    def __str__(self) -> str:
        return self.name

    def configure(self, **options: Any) -> None:
        """Change options."""
        self.options.update(options)

    config = configure

    def actual(self, option: Any = None, displayof: Any = None) -> Any:
        """Its options."""
        return self.options.get(option, "") if option else dict(self.options)

    cget = __getitem__ = actual

    def copy(self) -> Font:
        """Another like it."""
        return Font(**self.options)

    def measure(self, text: str, displayof: Any = None) -> int:
        """How wide a text is."""
        return 10 * len(text)

    def metrics(self, *options: Any, **words: Any) -> Any:
        """How high a line is."""
        found = {"ascent": 12, "descent": 4, "linespace": 16, "fixed": 0}
        return found[options[0]] if options else found


def nametofont(name: Any, root: Any = None) -> Font:
    """A font by its name."""
    return Font(name=str(name))


def families(root: Any = None, displayof: Any = None) -> tuple[str, ...]:
    """Some families."""
    return "Arial", "Courier", "Helvetica", "Times"


def dialog(kind: str, default: Any) -> Any:
    """A function that shows a dialog: recorded, and answered as the grader said or `default`."""

    def show(title: Any = None, message: Any = None, **options: Any) -> Any:
        display.dialogs.append((kind, str(title or ""), str(message or options.get("prompt", ""))))
        display.changes += 1
        return display.answers.pop(0) if display.answers else default

    return show


MESSAGEBOX = {
    "showinfo": "ok", "showwarning": "ok", "showerror": "ok", "askquestion": "yes",
    "askokcancel": True, "askyesno": True, "askretrycancel": False, "askyesnocancel": True,
}  # fmt: skip
SIMPLEDIALOG = {"askstring": None, "askinteger": None, "askfloat": None}
FILEDIALOG = {"askopenfilename": "", "asksaveasfilename": "", "askdirectory": ""}
