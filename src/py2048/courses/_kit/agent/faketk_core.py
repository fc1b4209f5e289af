"""A recording stand-in for tkinter: windows, widgets, bindings, timers, without a display.

It keeps what a program builds and lets a grader play the person in front of it. What real Tk
refuses (an unknown option, a widget that is gone) is refused here too. There is no layout:
sizes are the requested ones. `faketk.install` puts the modules in place of tkinter's.
"""

from __future__ import annotations

import sys
import traceback

from . import faketk_options as opts
from .faketk_display import TclError, display
from .faketk_events import Bindings, Event, parse
from .faketk_info import Info

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Misc(Info):
    """What all windows and widgets can do."""

    kind = ""
    is_window = False
    _w = "."

    def _setup(self, master: Misc | None, options: dict[str, Any]) -> None:
        self.master = master
        self.children: dict[str, Misc] = {}
        self.bindings = Bindings()
        self.options: dict[str, Any] = {}
        self.manager = ""
        self.place_options: dict[str, Any] = {}
        self.gone = False
        self.tk: Interpreter = master.tk if master is not None else Interpreter()
        if master is not None:
            name = str(options.pop("name", "") or self._free_name(master))
            self._w = f"{master._w.rstrip('.')}.{name}"
            self._name = name
            master.children[name] = self
        options.pop("class_", None)
        self.configure(**options)

    def _free_name(self, master: Misc) -> str:
        base = f"!{type(self).__name__.lower()}"
        used = sum(1 for name in master.children if name.rstrip("0123456789") == base)
        return base if not used else f"{base}{used + 1}"

    def __str__(self) -> str:
        return self._w

    def __repr__(self) -> str:
        return f"<tkinter.{type(self).__name__} object {self._w}>"

    def _alive(self) -> None:
        if self.gone:
            raise TclError(f'invalid command name "{self._w}"')

    # -- options ------------------------------------------------------------------------

    def configure(self, cnf: Any = None, **options: Any) -> Any:
        """Set options; without any, all of them; with a name, that one."""
        self._alive()
        if isinstance(cnf, str):
            return cnf, cnf, cnf.title(), "", self.options.get(cnf, "")
        merged = {**(cnf or {}), **options}
        if not merged and cnf is None:
            return {name: (name, name, name.title(), "", v) for name, v in self.options.items()}
        for name, value in merged.items():
            self._set_option(opts.full_name(name), value)
        return None

    config = configure

    def _set_option(self, name: str, value: Any) -> None:
        problem = opts.problem(name, value)
        if problem:
            raise TclError(problem)
        if self.options.get(name) != value:
            display.changes += 1
        self.options[name] = value

    def cget(self, key: str) -> Any:
        """The value of an option; a text variable's value for the text."""
        self._alive()
        key = opts.full_name(key)
        if key not in opts.KNOWN:
            raise TclError(f'unknown option "-{key}"')
        variable = self.options.get("textvariable")
        if key == "text" and variable is not None:
            return str(display.variables.get(str(variable), ""))
        value = self.options.get(key, opts.DEFAULTS.get(key, ""))
        return value if isinstance(value, int | float | str) else str(value)

    def __getitem__(self, key: str) -> Any:
        return self.cget(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self.configure({key: value})

    def keys(self) -> list[str]:
        """The names of the options that were set."""
        return list(self.options)

    # -- bindings and events ------------------------------------------------------------

    def bind(self, sequence: Any = None, func: Any = None, add: Any = None) -> Any:
        """Call `func` with the event when it happens here."""
        self._alive()
        return self.bindings.bind(sequence, func, add, TclError)

    def unbind(self, sequence: str, funcid: Any = None) -> None:
        """Forget what was bound."""
        self._alive()
        self.bindings.unbind(sequence, TclError)

    def bind_all(self, sequence: Any = None, func: Any = None, add: Any = None) -> Any:
        """Call `func` wherever the event happens."""
        return display.everywhere.bind(sequence, func, add, TclError)

    def unbind_all(self, sequence: str) -> None:
        """Forget what was bound everywhere."""
        display.everywhere.unbind(sequence, TclError)

    def bind_class(self, name: str, sequence: Any = None, func: Any = None, add: Any = None) -> Any:
        """Call `func` when the event happens on a widget of a class."""
        table = display.classes.setdefault(name, Bindings())
        return table.bind(sequence, func, add, TclError)

    def unbind_class(self, name: str, sequence: str) -> None:
        """Forget what was bound to a class."""
        display.classes.setdefault(name, Bindings()).unbind(sequence, TclError)

    def bindtags(self, tags: Any = None) -> Any:
        """Whose bindings are asked, in order."""
        return self._w, self.winfo_class(), str(self.winfo_toplevel()), "all"

    def event_generate(self, sequence: str, **fields: Any) -> None:
        """Make an event happen; keys go to the widget with the focus, as in Tk."""
        self._alive()
        pattern = parse(sequence, TclError)
        target: Misc = self
        focus = display.focus
        if pattern.type.startswith("Key") and focus is not None and not focus.gone:
            target = focus
        target._dispatch(Event(target, pattern, fields))

    def _dispatch(self, event: Event) -> None:
        top = self.winfo_toplevel()
        tables = [self.bindings, display.classes.get(self.winfo_class())]
        tables += [top.bindings] if top is not self else []
        self._class_binding(event)
        for table in [*tables, display.everywhere]:
            if table is None or self.gone:
                continue
            for callback in table.matching(event):
                if display.call(callback, event) == "break":
                    return

    def _class_binding(self, event: Event) -> None:
        """What a widget of this class does by itself."""

    def event_add(self, virtual: str, *sequences: str) -> None:
        """Not recorded: virtual events are made by `event_generate` only."""

    def report_callback_exception(self, kind: Any, error: Any, trace: Any) -> None:
        """Print an exception of a callback."""
        print("Exception in Tkinter callback", file=sys.stderr)
        traceback.print_exception(kind, error, trace)

    # -- time and the event loop --------------------------------------------------------

    def after(self, ms: Any, func: Any = None, *arguments: Any) -> Any:
        """Call `func` after `ms` milliseconds; without it, sleep."""
        self._alive()
        seconds = 0.0 if ms == "idle" else max(0.0, float(ms)) / 1000
        if func is None:
            return display.clock.sleep(seconds)
        return display.later(seconds, lambda: func(*arguments))

    def after_idle(self, func: Any, *arguments: Any) -> str:
        """Call `func` as soon as nothing else is to be done."""
        return display.later(0.0, lambda: func(*arguments))

    def after_cancel(self, name: Any) -> None:
        """Forget a callback of `after`."""
        if not name:
            raise ValueError("id must be a valid identifier returned from after or after_idle")
        display.cancel(str(name))

    def update(self) -> None:
        """Let happen what is due."""
        self._alive()
        display.run_due()
        news = display.changes != display.seen
        display.seen = display.changes
        display.clock.poll(news=news)

    def update_idletasks(self) -> None:
        """Nothing to draw."""
        self._alive()

    def mainloop(self, n: int = 0) -> None:
        """Wait for events until the last window is gone or `quit` is called."""
        display.quitting = False
        display.wait_while(lambda: bool(display.roots) and not display.quitting)
        display.quitting = False

    def quit(self) -> None:
        """Leave the main loop."""
        display.quitting = True

    def wait_window(self, window: Misc | None = None) -> None:
        """Wait until a window is gone."""
        waited = window or self
        display.wait_while(lambda: not waited.gone)

    def wait_variable(self, name: Any = "PY_VAR") -> None:
        """Wait until a variable is set."""
        before = name.writes
        display.wait_while(lambda: bool(name.writes == before))

    waitvar = wait_variable

    def wait_visibility(self, window: Any = None) -> None:
        """Windows are visible at once."""

    def destroy(self) -> None:
        """End this widget and those in it."""
        for child in list(self.children.values()):
            child.destroy()
        if self.master is not None:
            self.master.children.pop(self._name, None)
        if not self.gone:
            display.changes += 1
            if parse("<Destroy>", TclError).type in self.bindings.types():
                self._dispatch(Event(self, parse("<Destroy>", TclError), {}))
        self.gone = True
        if display.focus is self:
            display.focus = None

    # -- focus and order ----------------------------------------------------------------

    def focus_set(self) -> None:
        """Give this widget the keys."""
        self._alive()
        display.focus = self

    focus = focus_force = focus_set

    def focus_get(self) -> Any:
        """The widget that gets the keys."""
        return display.focus

    focus_displayof = focus_lastfor = focus_get

    def grab_set(self) -> None:
        """Windows are not locked here."""

    grab_release = grab_set_global = grab_set

    def lift(self, *_: Any) -> None:
        """The order of windows is not kept."""
        display.changes += 1

    tkraise = lower = lift

    def bell(self, displayof: Any = 0) -> None:
        """Silent."""

    # -- names, variables, information --------------------------------------------------

    def _root(self) -> Misc:
        widget = self
        while widget.master is not None:
            widget = widget.master
        return widget

    def nametowidget(self, name: Any) -> Misc:
        """The widget with a path name."""
        widget = self._root()
        for part in [part for part in str(name).split(".") if part]:
            widget = widget.children[part]
        return widget

    def register(self, func: Any, *_: Any) -> str:
        """A name for a function; validation is not carried out."""
        return f"{id(func)}{getattr(func, '__name__', 'function')}"

    def getvar(self, name: str = "PY_VAR") -> Any:
        """A variable's value by its name."""
        return display.variables.get(str(name), "")

    def setvar(self, name: str = "PY_VAR", value: Any = "1") -> None:
        """Set a variable by its name."""
        display.variables[str(name)] = value

    def option_add(self, *_: Any) -> None:
        """The option database is not kept."""

    def clipboard_clear(self, **_: Any) -> None:
        """There is no clipboard."""

    def clipboard_append(self, text: str, **_: Any) -> None:
        """There is no clipboard."""


class Interpreter:
    """What programs find as `widget.tk`: enough for libraries that look at it."""

    def call(self, *_: Any) -> str:
        """Tcl is not spoken."""
        return ""

    eval = createcommand = call

    def getint(self, text: Any) -> int:
        """A number from a text."""
        return int(text)

    def splitlist(self, text: Any) -> tuple[str, ...]:
        """The words of a text."""
        return tuple(str(text).split()) if isinstance(text, str) else tuple(text)
