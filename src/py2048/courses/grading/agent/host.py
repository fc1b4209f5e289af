"""Request server inside a submission's process: loads the program, runs code and reports results.

Values are encoded as JSON without calling any of their own methods. Values of exact built-in types
are sent as data. Instances of subclasses of built-in types are read through the methods of the
built-in type. NumPy scalars and arrays are supported, too. Any other object is sent as the name of
its type and a string for display. This module keeps a private copy of the builtins, so a submission
that replaces `len` or `isinstance` breaks only itself.

Programs are loaded statement by statement. Statements that fail or take too long are skipped. In
quiet mode, only imports, definitions and assignments run. This mode is for programs that end their
process, such as games that start when they are imported.
"""

from __future__ import annotations

import ast
import builtins
import os
import re
import site
import sys
from _signal import (  # type: ignore[import-not-found]
    ITIMER_PROF,
    ITIMER_REAL,
    SIGALRM,
    SIGKILL,
    SIGPROF,
    setitimer,
)
from _signal import signal as set_handler
from contextlib import suppress
from functools import cache
from os import _exit as os_exit
from os import fork as os_fork
from os import register_at_fork
from resource import RLIMIT_CPU, getrlimit, setrlimit
from sys import setprofile
from time import process_time
from types import ModuleType

from . import terminal

try:
    from _json import encode_basestring_ascii as string  # avoids importing the whole package
except ImportError:
    from json.encoder import encode_basestring_ascii as string

TYPE_CHECKING = False  # Importing typing takes longer than the rest of this module.
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, FrameType
    from typing import Any, TypeVar

    Value = TypeVar("Value")
    Message = dict[str, Any]  # A request or a reply.
    Names = dict[str, Any]  # A namespace.

# A private copy, so that submissions cannot replace the builtins used here.
globals()["__builtins__"] = dict(vars(builtins))
_write, _wait_for, _kill, _scan, _number = os.write, os.waitpid, os.kill, os.scandir, os.getpid
_exit_code = os.waitstatus_to_exitcode
_modules = sys.modules
import_ = builtins.__import__

# --- values as JSON ---

MAX_DEPTH = 60
MAX_NODES = 60_000
MAX_TEXT = 2_000_000
MAX_SHOWN = 160

MRO = type.__dict__["__mro__"].__get__  # The real MRO, bypassing metaclasses.
ADDRESS = re.compile(" at 0x[0-9a-fA-F]+").sub  # Addresses differ between runs.


class TooManyValues(Exception):  # noqa: N818 - only caught in `encode`
    """Raised for a value that contains more than `MAX_NODES` nested values."""


class RawJson:
    """JSON text that is inserted into a report unchanged."""

    def __init__(self, text: str) -> None:
        self.text = text


def encode(value: object) -> str:
    """Encode any value as JSON."""
    try:
        return _json(value, 0, [MAX_NODES])
    except TooManyValues:
        return _opaque(value, f"<{type(value).__name__} with more than {MAX_NODES} values>")


def _json(value: object, depth: int, left: list[int]) -> str:
    """Encode a nested value; `left` counts down the values that may still be encoded."""
    left[0] -= 1
    if left[0] < 0:
        raise TooManyValues
    if depth > MAX_DEPTH:
        return _opaque(value, "(nested too deeply)")
    for kind in MRO(type(value)):
        if kind in SCALARS:
            return SCALARS[kind](value)
        if kind in CONTAINERS:
            members = ",".join([_json(m, depth + 1, left) for m in CONTAINERS[kind](value)])
            return f"[{members}]" if kind is list else f"{{{string(kind.__name__)}:[{members}]}}"
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        plain = value.tolist()
        if type(plain) is list:
            return _mark("array", _json(plain, depth + 1, left))
        return _json(plain if type(plain) in SCALARS else None, depth, left)
    return _opaque(value, _shown(value))


def _mark(tag: str, *texts: str) -> str:
    """Encode a value of a type that JSON lacks as an object with a type tag."""
    return "{" + string(tag) + ":[" + ",".join(texts) + "]}"


def _int_json(value: int) -> str:
    number = int.__index__(value)
    if type(value) is bool:
        return "true" if number else "false"
    if -(2**63) <= number < 2**63:
        return int.__repr__(number)
    return _mark("int", string(hex(number) if number.bit_length() < 100_000 else "0x0"))


def _float_json(value: float) -> str:
    shown = float.__repr__(value)
    return _mark("float", string(shown)) if shown in {"nan", "inf", "-inf"} else shown


def _bytes_json(value: bytes | bytearray) -> str:
    return _mark("bytes", string(bytes(value)[:MAX_TEXT].hex()))


def _opaque(value: object, text: str) -> str:
    """Encode any other object by its type and a string for display."""
    return _mark("object", string(type(value).__name__), string(text))


def _shown(value: object) -> str:
    """Return a short string for any object, even if its `__repr__` fails."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - submissions may raise anything
        text = f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
    return ADDRESS("", str.__str__(text))[:MAX_SHOWN]


SCALARS: dict[type, Callable[[Any], str]] = {
    type(None): lambda value: "null",
    bool: _int_json,
    int: _int_json,
    float: _float_json,
    str: lambda value: string(str.__str__(value)[:MAX_TEXT]),
    bytes: _bytes_json,
    bytearray: _bytes_json,
}
# Members of each container type. JSON arrays represent lists; other containers have a type tag.
CONTAINERS: dict[type, Callable[[Any], Iterable[object]]] = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    dict: lambda value: [list(pair) for pair in dict.items(value)],
    set: set.__iter__,
    frozenset: frozenset.__iter__,
}


def encode_report(part: object) -> str:
    """Encode a report as JSON. It consists of dictionaries, lists and values."""
    if type(part) is dict:
        members = [string(name) + ":" + encode_report(value) for name, value in part.items()]
        return "{" + ",".join(members) + "}"
    if type(part) is list:
        return "[" + ",".join(map(encode_report, part)) + "]"
    return part.text if type(part) is RawJson else encode(part)


# --- loading a program ---

QUIET = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


@cache
def parsed(text: str | CodeType) -> tuple[CodeType, CodeType | None]:
    """Compile code into its statements and its final expression, or None without one.

    Code objects are returned unchanged.

    Raises:
        SyntaxError: If the code is not valid Python.
    """
    if not isinstance(text, str):
        return text, None
    tree = ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    lines = compile(tree, "<grader>", "exec")
    if not isinstance(last, ast.Expr):
        return lines, None
    return lines, compile(ast.Expression(last.value), "<grader>", "eval")


def message_of(error: object) -> str:
    """Return an error's message, even if its `__str__` fails."""
    try:
        return str(error)[:500]
    except Exception as other:  # noqa: BLE001 - submissions may raise anything
        return f"(its message raised {type(other).__name__})"


def place_of(error: BaseException, file: str, folder: str) -> tuple[str, int]:
    """Return the last file and line of the submission in a traceback, or ("", 0)."""
    place = "", 0
    trace = error.__traceback__
    for _ in range(5000):
        if trace is None:
            break
        name = trace.tb_frame.f_code.co_filename
        if name == file or name.startswith(folder):
            place = name.removeprefix(folder).lstrip("/"), trace.tb_lineno
        trace = trace.tb_next
    return place


# --- the agent ---

# Modules that Python itself imports to show a warning, to report an error or to exit.
IMPLICIT_MODULES = """
    ast encodings.cp1252 encodings.latin_1 linecache random re tokenize traceback tracemalloc types
    warnings weakref
"""
# Modules that are loaded before any program starts, so submissions cannot shadow them.
STARTUP_MODULES = "abc codecs encodings genericpath io ntpath os posixpath site stat zipimport"
LOOPS = ast.For, ast.While
OUR_FILES = os.path.dirname(__file__), "<grader>"
MAX_ALARMS = 5
IDLE_TICKS = 10  # Number of consecutive ticks without work after which a process counts as asleep.
IDLE_FACTOR = 3  # Maximum sleep during a call, relative to its CPU time limit.
IDLE_CPU_S = 0.001  # Maximum CPU time of a sleeping process between two ticks.


class OutOfTime(BaseException):
    """Raised in the submission when a call exceeds its time limit, or sleeps."""


class NotTried(OutOfTime):
    """Raised instead of calling a function whose earlier call did not return."""


class LeftAlone(BaseException):
    """Raised in a program that waits for user input while it is being loaded."""


class Agent:
    """A submission loaded in this process.

    Args:
        requests: File descriptor from which requests are read.
        replies: File descriptor to which replies are written.
        config: The first request.
    """

    def __init__(self, requests: int, replies: int, config: Message) -> None:
        from .boot import read_request

        self.read: Callable[[], Message] = lambda: read_request(requests)
        self.replies = replies
        self.process = _number()
        self.is_forking = False
        register_at_fork(after_in_child=self._end_unasked_fork)
        self.config = config
        self.shadowed: set[str] = set()
        self.modules: Names = {}
        self.file = config["file"]
        self.names: Names = {}
        self.helpers: Names = {}
        self.copied: Names = {}
        self.module: ModuleType | None = None
        self.pending: Message | None = None
        self.running = False
        self.alarms = self.idle_ticks = 0
        self.used_s = 0.0
        self.overrun: Message = {}
        self.spent: set[str] = set()
        self.requests = self.open_request = 0
        for add in (site.setquit, site.setcopyright, site.sethelper):
            add()  # The `site` module usually adds these builtins, but it is disabled here.
        self.builtins = dict(vars(builtins))
        self.depth = sys.getrecursionlimit()
        self.output = terminal.CapturedOutput(config["output"])
        self.errors = terminal.CapturedOutput(config["output"])
        self.keyboard = terminal.ScriptedInput()
        self.random = terminal.take_over_random()
        self.clock = terminal.VirtualClock(self.wait)
        for name in IMPLICIT_MODULES.split():
            __import__(name)

    def take_over(self) -> None:
        """Replace the terminal and the clock, and control the program's windows."""
        if self.config["gui"]:
            from .tk import TkControl, TkUser

            self.helpers["screen"] = TkUser(TkControl(self.clock))
        sys.stdout = sys.__stdout__ = self.output  # type: ignore[assignment,misc]
        sys.stderr = sys.__stderr__ = self.errors  # type: ignore[assignment,misc]
        sys.stdin = sys.__stdin__ = self.keyboard  # type: ignore[assignment,misc]
        builtins.input = self.builtins["input"] = self.keyboard.input
        if not self.config["trusted"]:
            sys.meta_path.insert(0, _ImportBlocker)
        terminal.clear_without_shell()
        self.clock.take_over()

    def forget_shadowed_modules(self) -> None:
        """Unload standard modules that have the same names as files of the submission.

        The submission's files then shadow standard modules, as with ``python game.py``. Libraries
        and the course's files need the standard modules, so they are imported first.
        """
        entries = {entry.name.partition(".")[0] for entry in _scan(".")}
        loaded = {*STARTUP_MODULES.split(), *sys.builtin_module_names}
        self.shadowed = (entries & sys.stdlib_module_names) - loaded
        given = [entry.name for folder in self.config["support"] for entry in _scan(folder)]
        course_modules = [*self.config["libraries"], *(name.partition(".")[0] for name in given)]
        for name in course_modules if self.shadowed else ():
            with suppress(Exception):  # The submission's import raises it again.
                __import__(name)
        self.modules = {name: _modules.pop(name, None) for name in self.shadowed}
        if self.shadowed:
            self.builtins["__import__"] = self._import
            vars(builtins).update(self.builtins)

    def _import(self, name: str, globals_: Names | None = None, *words: Any, **options: Any) -> Any:
        """Replace ``import``, so that only the submission can import its own files."""
        spec = (globals_ or {}).get("__spec__", sys.__spec__)  # absent outside modules
        origin = getattr(spec, "origin", None)
        if origin and not origin.startswith(self.config["scratch"]) and self.modules.get(name):
            return self.modules[name]
        return import_(name, globals_, *words, **options)

    # -- the protocol -------------------------------------------------------------------

    def serve(self) -> None:
        """Serve requests until the grader closes the pipe."""
        while True:
            self.answer_next()

    def answer_next(self) -> None:
        """Wait for a request and handle it."""
        try:
            request = self.read()
        except EOFError:
            os_exit(0)
        self.spent = {*request.get("spent", ())}
        getattr(self, f"do_{request['op']}")(request)

    def wait(self) -> None:
        """Let the grader act as the user while the program waits for input."""
        if not self.running:
            raise LeftAlone("the program waits for its user")
        if self.pending is not None:
            self._reply({**self.pending, "state": "waiting"})
        elif self.open_request:  # The request opened a dialog, which is waiting for input.
            self._reply({"value": True, "error": None, "state": "waiting"})
        self.pending, self.open_request = None, 0
        self._set_alarm(0)
        self.answer_next()

    def _reply(self, facts: Message) -> None:
        """Send a reply, including all output printed and all input read since the previous reply.

        If the submission has forked, its child processes exit here without a reply.
        """
        if _number() != self.process:
            os_exit(0)
        builtins.__dict__.update(self.builtins)
        sys.setrecursionlimit(self.depth)
        self.errors.take()
        common = {"state": "done", "output": self.output.take(), "asked": self.keyboard.asked}
        data = encode_report({**common, **facts}).encode("ascii")
        data = len(data).to_bytes(4, "big") + data
        while data:
            data = data[_write(self.replies, data) :]

    # -- time ---------------------------------------------------------------------------

    def _set_alarm(self, seconds: float) -> None:
        """Set an alarm that fires after `seconds` of CPU time, or when the process sleeps too long.

        The alarm repeats at short intervals, in case the submission catches the exception. If the
        process cannot handle the alarm, for example during a long computation in C, the kernel ends
        the process.

        A process counts as asleep if it uses no CPU time for several ticks in a row. Even on a busy
        machine, a process with work to do gets some CPU time between ticks.
        """
        self.alarms = self.idle_ticks = 0
        self.used_s = process_time()
        for number in (SIGPROF, SIGALRM):
            set_handler(number, self._on_alarm)
        tick = IDLE_FACTOR * seconds / IDLE_TICKS
        setitimer(ITIMER_PROF, seconds, 0.1 if seconds else 0)
        setitimer(ITIMER_REAL, tick, tick)
        most = getrlimit(RLIMIT_CPU)[1]
        soft = int(self.used_s + 2 * seconds) + 2 if seconds else most
        setrlimit(RLIMIT_CPU, (soft if most < 0 else min(soft, most), most))
        setprofile(self._refuse if seconds and self.spent else None)

    def _on_alarm(self, number: int, frame: FrameType | None) -> None:
        if number == SIGALRM:
            before, self.used_s = self.used_s, process_time()
            self.idle_ticks = self.idle_ticks + 1 if self.used_s - before < IDLE_CPU_S else 0
            if self.idle_ticks < IDLE_TICKS:
                return
        self.alarms += 1
        if self.alarms == 1:
            self.overrun = self._overrun(frame)
        if self.alarms > MAX_ALARMS:  # the submission catches the exception
            self._reply({"error": self.describe(OutOfTime())})
            os_exit(0)
        raise OutOfTime

    def _overrun(self, frame: FrameType | None) -> Message:
        """Return the function that does not end, and the line of its loop.

        Reports the outermost function and loop, because the inner ones depend on when the alarm
        goes off.
        """
        frames: list[FrameType] = []
        while frame is not None:
            if self._own_file(frame.f_code):
                frames.insert(0, frame)
            elif frames and frame.f_code.co_filename.startswith(OUR_FILES):
                break
            frame = frame.f_back
        if not frames:
            return {}
        first = frames[0].f_code
        overrun = {"function": self._key(first), "line": first.co_firstlineno}
        overrun["file"] = self._own_file(first)
        for one in frames:
            code, loops = one.f_code, []
            with suppress(OSError, SyntaxError, ValueError), open(code.co_filename, "rb") as file:
                loops = [n for n in ast.walk(ast.parse(file.read())) if isinstance(n, LOOPS)]
            around = [n for n in loops if n.lineno <= one.f_lineno <= (n.end_lineno or 0)]
            if inside := [n.lineno for n in around if n.lineno >= code.co_firstlineno]:
                return {**overrun, "file": self._own_file(code), "line": min(inside)}
        return overrun

    def _own_file(self, code: CodeType) -> str:
        """Return the file of the submission that contains a code object, or ""."""
        name, scratch = code.co_filename, self.config["scratch"]
        own = name == self.file or name.startswith(scratch)
        return name.removeprefix(scratch).lstrip("/") if own else ""

    def _key(self, code: CodeType) -> str:
        return f"{code.co_qualname} ({self._own_file(code)}, line {code.co_firstlineno})"

    def _refuse(self, frame: FrameType, event: str, argument: object) -> None:
        """Reject the grader's calls to functions that have failed to return before."""
        caller = frame.f_back
        if event == "call" and caller and caller.f_code.co_filename == "<grader>":
            key = self._key(frame.f_code)
            if key in self.spent:
                self.overrun = {"function": key}
                raise NotTried

    def guard(
        self, seconds: float, action: Callable[[], Value]
    ) -> tuple[Value | None, BaseException | None]:
        """Run `action` for at most `seconds`; return (result, None) or (None, exception)."""
        try:
            try:
                self._set_alarm(seconds)
                return action(), None
            finally:
                self._set_alarm(0)
        except BaseException as error:  # noqa: BLE001 - submissions may raise anything
            return None, error

    # -- the requests -------------------------------------------------------------------

    def do_fork(self, request: Message) -> None:
        """Fork the process. The child handles requests until it ends."""
        before = _snapshot(".")
        self.is_forking = True
        number = os_fork()
        self.is_forking = False
        if number == 0:
            self.process = _number()
            self._reply({"state": "forked"})
            return
        code = _exit_code(_wait_for(number, 0)[1])
        if self.config["own_processes"]:  # kill all other processes of the submission
            with suppress(OSError):
                _kill(-1, SIGKILL)
                while _wait_for(-1, os.WNOHANG) != (0, 0):
                    pass
        self._reply({"state": "ended", "exit_code": code, "changed": _snapshot(".") != before})

    def _end_unasked_fork(self) -> None:
        """End a child process that the submission has forked, before it uses CPU time."""
        if not self.is_forking:
            os_exit(0)

    def do_leave(self, request: Message) -> None:
        """End this fork."""
        os_exit(0)

    def do_load(self, request: Message) -> None:
        """Load the student's file as a module."""
        self.module = self._new_module(self.config["module"])
        found, error = self.guard(request["seconds"], lambda: self._load(request))
        self._reply({"left_out": found or [], "error": self.describe(error)})

    def _new_module(self, name: str) -> ModuleType:
        """Create the module in which the student's file runs."""
        module = _modules[name] = ModuleType(name)
        module.__file__ = self.file
        vars(module)["__builtins__"] = builtins
        return module

    def _load(self, request: Message) -> list[Message]:
        """Run the file except for the lines to skip, and describe the statements that failed."""
        with open(f"{self.config['scratch']}/{self.file}", "rb") as source:
            tree = ast.parse(source.read(), self.file)
        vars(self.module)["__doc__"] = ast.get_docstring(tree, clean=False)
        futures: list[ast.stmt] = []
        found: list[Message | None] = []
        for statement in tree.body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                futures.append(statement)
            if statement.lineno not in request["skip"]:
                found.append(self._load_statement(statement, futures, request))
        return [note for note in found if note]

    def _load_statement(
        self, statement: ast.stmt, futures: list[ast.stmt], request: Message
    ) -> Message | None:
        """Run a statement. If it is skipped or fails, return a note with its line and the error."""
        left_out = {"statement": statement.lineno, "line": statement.lineno}
        if request["quiet"] and not isinstance(statement, QUIET):
            is_if = isinstance(statement, ast.If)
            return None if is_if else {**left_out, "error": "", "message": ""}

        def run() -> None:
            tree = ast.Module([*futures, statement], [])
            exec(compile(tree, self.file, "exec"), vars(self.module))

        error = self.guard(request["seconds"], run)[1]
        if error is None:
            return None
        file, line = place_of(error, self.file, self.config["scratch"])
        if file == self.file and line:
            left_out["line"] = line
        return {**left_out, "error": type(error).__name__, "message": message_of(error)}

    def do_begin(self, request: Message) -> None:
        """Create the namespace of an example, and run the course's prelude in it."""
        self.names = {**self.helpers, "__name__": "__console__"}
        if self.shadowed:
            self.names["__builtins__"] = self.builtins
        self.copied = {}
        self._refresh_names()
        self._reply(self._run(request["prelude"], request["seconds"]))

    def _refresh_names(self) -> None:
        """Update the example's copies of the module's variables, unless it has reassigned them."""
        module = _modules["__main__"] if self.running else self.module
        current = {**vars(module), self.config["module"]: module}
        for name, value in current.items():
            untouched = name not in self.names or self.names[name] is self.copied.get(name, self)
            if untouched and not name.startswith("__") and name not in self.helpers:
                self.names[name] = self.copied[name] = value

    def do_run(self, request: Message) -> None:
        """Run code and report the value of a final expression."""
        self._prepare(request)
        before = self.running
        self.requests += 1
        number = self.open_request = self.requests
        facts = self._run(request["code"], request["seconds"])
        if before:
            if self.open_request == number:
                self.pending = facts  # `wait` sends the reply when the program waits for input.
            self._set_alarm(request["seconds"])
        else:
            self._reply(facts)

    def _run(self, code: str | CodeType, seconds: float) -> Message:
        """Run code; return either the encoded value of its last expression or the error."""
        value, error = self.guard(seconds, lambda: self._evaluate(code))
        text = None
        if error is None:
            text, error = self.guard(seconds, lambda: encode(value))
        return {"value": text and RawJson(text), "error": self.describe(error)}

    def _prepare(self, request: Message) -> None:
        self.keyboard.type(request["typed"])
        if (seed := request["seed"]) is not None:
            self.random.seed(seed)
            if (numpy := _modules.get("numpy")) is not None:
                numpy.random.seed(seed % 2**32)
        self.clock.allow()
        if self.names:
            self._refresh_names()

    def _evaluate(self, code: str | CodeType) -> object:
        first, last = parsed(code)
        exec(first, self.names)
        return None if last is None else eval(last, self.names)

    def do_program(self, request: Message) -> None:
        """Run the student's file as a program, until it ends or waits for its user."""
        self._prepare(request)
        sys.argv[:] = [self.file]
        main = self._new_module("__main__")
        with open(self.file, "rb") as source:
            code = compile(source.read(), self.file, "exec")
        self.running = True
        self.pending = {"error": None}
        error = self.guard(request["seconds"], lambda: exec(code, main.__dict__))[1]
        self.running = False
        self.module = main
        facts = self.pending or {"error": None}
        if error is not None:
            facts["error"] = self.describe(error)
        self._reply(facts)

    def describe(self, error: BaseException | None) -> Message | None:
        """Convert an exception to plain data."""
        if error is None:
            return None
        file, line = place_of(error, self.file, self.config["scratch"])
        message: object = error
        if isinstance(error, SyntaxError):
            message = error.msg or ""
            if not line:
                file, line = self.file, error.lineno if type(error.lineno) is int else 0
        return {
            "type": type(error).__name__,
            "bases": [kind.__name__ for kind in MRO(type(error))],
            "message": message_of(message),
            "file": file,
            "line": line or 0,
            **(self.overrun if isinstance(error, OutOfTime) else {}),
        }


def _snapshot(folder: str) -> list[tuple[str, int, int]]:
    """Return the sizes and modification times of all files in a folder, to detect changes."""
    found = []
    for entry in _scan(folder):
        facts = entry.stat(follow_symlinks=False)
        found.append((entry.path, facts.st_size, facts.st_mtime_ns))
        if entry.is_dir(follow_symlinks=False):
            found.extend(_snapshot(entry.path))
    return sorted(found)


class _ImportBlocker:
    """An import hook that hides py2048 from submissions."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse to import py2048."""
        if name.partition(".")[0] == "py2048":
            raise ImportError("py2048 cannot be imported by a submission", name=name)
