"""Real Tk on a virtual display, taken hold of so that a grader can be the person before it.

Tk itself does everything but three things: timers (``after``) follow the virtual clock, waiting
(``mainloop``, ``wait_variable`` …) gives the grader its turn, and the ready-made dialogs are
answered by the grader instead of being shown.
"""

from __future__ import annotations

import _tkinter
import sys
import tkinter
import tkinter.colorchooser
import tkinter.filedialog
import tkinter.font
import tkinter.messagebox
import tkinter.scrolledtext
import tkinter.simpledialog
import tkinter.ttk
from _tkinter import TclError as TclError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .clock import Clock

OLD_NAMES = {
    "Tkinter": tkinter, "tkMessageBox": tkinter.messagebox, "tkFont": tkinter.font,
    "tkSimpleDialog": tkinter.simpledialog, "tkFileDialog": tkinter.filedialog,
    "tkColorChooser": tkinter.colorchooser, "ttk": tkinter.ttk, "Tkconstants": tkinter.constants,
    "ScrolledText": tkinter.scrolledtext,
}  # fmt: skip

# `after` with a queue of its own: its timers come due when `release` is told the time.
TIMERS = """
namespace eval ::py2048 { variable now 0; variable count 1000000; variable queue {} }
rename ::after ::py2048::after
proc ::py2048::due {} {
    variable queue
    return [lsort -real -index 1 [lmap {id timer} $queue {list $id {*}$timer}]]
}
proc ::py2048::release {time} {
    variable queue; variable now $time
    foreach timer [due] {
        if {[lindex $timer 1] > $now + 0.001} break
        dict unset queue [lindex $timer 0]
        ::py2048::after 0 [lindex $timer 2]
    }
}
proc ::py2048::next {} { lindex [due] 0 1 }
proc ::after {what args} {
    upvar ::py2048::queue queue
    if {[string is wideinteger -strict $what] && [llength $args]} {
        set id after#[incr ::py2048::count]
        dict set queue $id [list [expr {$::py2048::now + max(1, $what)}] [concat {*}$args]]
        return $id
    }
    set id [lindex $args 0]
    if {$what eq "info" && [dict exists $queue $id]} {
        return [list [lindex [dict get $queue $id] 1] timer]
    }
    if {$what eq "info" && ![llength $args]} {
        return [concat [dict keys $queue] [::py2048::after info]]
    }
    if {$what eq "cancel"} {
        foreach {known timer} $queue {
            if {$known eq $id || [lindex $timer 1] eq [concat {*}$args]} {
                dict unset queue $known
                return
            }
        }
    }
    return [uplevel 1 [list ::py2048::after $what {*}$args]]
}
bind . <<Py2048Look>> {set ::py2048::serial %#}
proc ::py2048::items {canvas options} {
    lmap item [$canvas find all] {
        list [$canvas type $item] [$canvas coords $item] [lmap name $options {
            if {[catch {$canvas itemcget $item -$name} value]} {set value ""}
            string range $value 0 end
        }]
    }
}
"""

# Tcl's dialogs: what they are called in Python, and the answer without an instruction.
BOXES = {
    ("ok", "info"): ("showinfo", "ok"), ("ok", "warning"): ("showwarning", "ok"),
    ("ok", "error"): ("showerror", "ok"), ("okcancel", "question"): ("askokcancel", "ok"),
    ("yesno", "question"): ("askyesno", "yes"),
    ("retrycancel", "warning"): ("askretrycancel", "cancel"),
    ("yesnocancel", "question"): ("askyesnocancel", "yes"),
}  # fmt: skip
CHOOSERS = {
    "tk_getOpenFile": "askopenfilename", "tk_getSaveFile": "asksaveasfilename",
    "tk_chooseDirectory": "askdirectory", "tk_chooseColor": "askcolor",
}  # fmt: skip
ASKING = ("askstring", "askinteger", "askfloat")


class Interpreter:
    """Tcl's interpreter as `_tkinter` makes it, but for its main loop."""

    def __init__(self, real: Any, loop: Callable[..., None], quit_: Callable[[], None]) -> None:
        names = [name for name in dir(real) if not name.startswith("__")]
        vars(self).update({name: getattr(real, name) for name in names})
        self.mainloop = loop
        self.quit = quit_

    def __getattr__(self, name: str) -> Any:
        """Nothing else; for type checkers."""
        raise AttributeError(name)


class Windows:
    """All windows of a program, and what it waits for.

    Attributes:
        interpreters: Tcl's, one for each `Tk`, oldest first.
        dialogs: the dialogs so far: kind, title, message.
        answers: what to answer to the next ones.
        errors: what callbacks raised, as text.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.interpreters: list[Any] = []
        self.dialogs: list[tuple[str, str, str]] = []
        self.answers: list[Any] = []
        self.errors: list[str] = []
        self.waiting = 0
        self._quitting = False
        self._raised: BaseException | None = None
        self._serial = 0
        self._create = _tkinter.create
        self._after = tkinter.Misc.after
        self._take_over()

    def _take_over(self) -> None:
        """Stand behind tkinter's functions."""
        here = self
        module: Any = tkinter
        _tkinter.create = self._created
        module.Misc.after = lambda widget, ms, func=None, *args: here._later(
            widget, ms, func, *args
        )
        module.Misc.update = lambda widget: here._looked(widget)  # noqa: PLW0108 - becomes a method
        module.Misc.wait_window = lambda widget, window=None: here._wait_window(window or widget)
        module.Misc.wait_variable = lambda widget, name="PY_VAR": here._wait_variable(widget, name)
        module.Misc.waitvar = module.Misc.wait_variable
        module.Misc.wait_visibility = lambda widget, window=None: here._wait_visible(
            window or widget
        )
        module.CallWrapper.__call__ = lambda wrapper, *words: here._called(wrapper, words)
        for name in ASKING:
            setattr(tkinter.simpledialog, name, self._asking(name))
        sys.modules.update(OLD_NAMES)

    # -- interpreters -------------------------------------------------------------------

    def _created(self, *words: Any) -> Any:
        """What `_tkinter.create` becomes."""
        interpreter = Interpreter(self._create(*words), self._loop, self._quit)
        if interpreter.eval("info commands winfo"):
            interpreter.eval(TIMERS)
            interpreter.createcommand("tk_messageBox", self._box)
            for name, kind in CHOOSERS.items():
                interpreter.createcommand(name, self._chooser(kind))
            self.interpreters.append(interpreter)
        return interpreter

    def open(self) -> list[Any]:
        """The interpreters whose main window is still there."""
        return [interpreter for interpreter in self.interpreters if exists(interpreter)]

    # -- time ---------------------------------------------------------------------------

    def _later(self, widget: Any, ms: Any, func: Any, *arguments: Any) -> Any:
        """What `after` becomes."""
        if func is None:
            return self.clock.sleep(int(ms) / 1000)
        if widget.tk in self.interpreters:
            widget.tk.setvar("::py2048::now", self.clock.now * 1000)
        return self._after(widget, ms, func, *arguments)

    def next_due(self) -> float | None:
        """Virtual seconds until the next timer, if there is one."""
        due = [interpreter.eval("::py2048::next") for interpreter in self.open()]
        times = [float(time) / 1000 for time in due if time]
        return max(0.0, min(times) - self.clock.now) if times else None

    def advance(self, seconds: float) -> None:
        """Let time pass. A program that polls goes on by itself when the request is over."""
        if not self.waiting:
            self.clock.allow(seconds)
            return
        end = self.clock.now + seconds
        self.pump(thoroughly=False)
        while (due := self.next_due()) is not None and self.clock.now + due <= end + 1e-9:
            self.clock.skip(due)
            self.pump(thoroughly=False)
        self.clock.skip(end - self.clock.now)
        self.pump()

    # -- events -------------------------------------------------------------------------

    def pump(self, *, thoroughly: bool = True) -> None:
        """Let happen what is due; `thoroughly` also what the display has yet to tell."""
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

    def _looked(self, widget: Any) -> None:
        """What `update` becomes.

        To ask the display for events takes several switches between threads and processes, and
        some programs do so after each number drawn. While they draw, drawing is all that is done:
        whatever the person does comes from within this process.
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
        """Whether anything has been drawn since the last time: requests to the display tell."""
        before = self._serial
        for interpreter in self.open()[:1]:
            interpreter.eval("event generate . <<Py2048Look>>")
            self._serial = int(interpreter.getvar("::py2048::serial"))
        return abs(self._serial - before) > IDLE_REQUESTS

    def _called(self, wrapper: Any, words: Any) -> Any:
        """What happens when Tk calls a program's function."""
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
        """What `mainloop` becomes."""
        del threshold
        self._quitting = False
        self._wait_while(lambda: bool(self.open()) and not self._quitting)
        self._quitting = False

    def _quit(self) -> None:
        self._quitting = True

    def _wait_window(self, window: Any) -> None:
        self._wait_while(lambda: exists(window.tk, window._w))

    def _wait_visible(self, window: Any) -> None:
        self._wait_while(lambda: exists(window.tk, window._w) and not window.winfo_viewable())

    def _wait_variable(self, widget: Any, variable: Any) -> None:
        written: list[Any] = []
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

    def _answer(self, kind: str, title: Any, message: Any, usual: Any) -> Any:
        self.dialogs.append((kind, str(title or ""), str(message or "")))
        return self.answers.pop(0) if self.answers else usual

    def _box(self, *words: str) -> str:
        """What ``tk_messageBox`` becomes."""
        options = dict(zip(words[::2], words[1::2], strict=False))
        form = options.get("-type", "ok")
        kind, usual = BOXES.get((form, options.get("-icon", "info")), (f"ask{form}", "ok"))
        message = "\n".join(filter(None, [options.get("-message"), options.get("-detail")]))
        answer = self._answer(kind, options.get("-title"), message, usual)
        if isinstance(answer, str):
            return answer.lower()
        if answer is None:
            return "cancel"
        agreed, refused = (
            ("yes", "no") if "yes" in form else (form.removesuffix("cancel"), "cancel")
        )
        return agreed if answer else refused

    def _chooser(self, kind: str) -> Callable[..., str]:
        def chosen(*words: str) -> str:
            options = dict(zip(words[::2], words[1::2], strict=False))
            return str(self._answer(kind, options.get("-title"), "", ""))

        return chosen

    def _asking(self, kind: str) -> Callable[..., Any]:
        def asked(title: Any = None, prompt: Any = None, **options: Any) -> Any:
            del options
            return self._answer(kind, title, prompt, None)

        return asked


IDLE_REQUESTS = 1  # requests to the display of an `update` that draws nothing


def exists(interpreter: Any, path: str = ".") -> bool:
    """Whether a window is still there."""
    try:
        return bool(int(interpreter.call("winfo", "exists", path)))
    except (TclError, ValueError):
        return False
