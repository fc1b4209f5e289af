"""The server inside a submission's process: loads it, runs the lines it is sent, reports facts.

Values become JSON text, and none of their methods is trusted: exact built-in types, their
subclasses read through the built-in's own methods, and NumPy's scalars and arrays are carried as
data. Everything else becomes its type's name and a text that is for reading only. This module keeps
its own copy of the built-ins, so a submission that replaces `len` or `isinstance` breaks only
itself.

A file is loaded statement by statement. Those that fail or take too long are left out. Of a file
that ends the process, such as a game that starts when it is imported, only imports, definitions and
assignments are run, which is called quiet.
"""

from __future__ import annotations

import ast
import builtins
import os
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
from _thread import _count as threads_started
from contextlib import suppress
from functools import cache
from os import _exit as os_exit
from os import fork as os_fork
from types import ModuleType

from . import terminal

try:
    from _json import encode_basestring_ascii as string  # spares the import of the whole package
except ImportError:
    from json.encoder import encode_basestring_ascii as string

TYPE_CHECKING = False  # importing the real one costs more time than all the rest here
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, FrameType
    from typing import Any, TypeVar

    from .tk import TkControl

    Value = TypeVar("Value")
    Message = dict[str, Any]  # a request or an answer
    Names = dict[str, Any]  # in a module

# What the functions below use, whatever a submission puts into the builtins later.
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

BASES = type.__dict__["__mro__"].__get__  # the real order of bases, past any metaclass


class TooMuch(Exception):  # noqa: N818 - only ever caught here
    """More values than are worth looking at."""


class Raw:
    """JSON text to be put into a report as it is."""

    def __init__(self, text: str) -> None:
        self.text = text


def encode(value: object) -> str:
    """Return the JSON text of any value."""
    try:
        return _json(value, 0, [MAX_NODES])
    except TooMuch:
        return _opaque(value, f"<{type(value).__name__} with more than {MAX_NODES} values>")


def _json(value: object, depth: int, left: list[int]) -> str:
    """Return the text of a value `depth` levels down, while values are `left` to look at."""
    left[0] -= 1
    if left[0] < 0:
        raise TooMuch
    if depth > MAX_DEPTH:
        return _opaque(value, "(nested too deeply to show)")
    for kind in BASES(type(value)):
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
    """Return the JSON text ``{tag: [texts]}``, for what JSON lacks."""
    return "{" + string(tag) + ":[" + ",".join(texts) + "]}"


def _whole(value: int) -> str:
    number = int.__index__(value)
    if type(value) is bool:
        return "true" if number else "false"
    if -(2**63) <= number < 2**63:
        return int.__repr__(number)
    return _mark("int", string(hex(number) if number.bit_length() < 100_000 else "0x0"))


def _real(value: float) -> str:
    shown = float.__repr__(value)
    return _mark("float", string(shown)) if shown in {"nan", "inf", "-inf"} else shown


def _bytes(value: bytes | bytearray) -> str:
    return _mark("bytes", string(bytes(value)[:MAX_TEXT].hex()))


def _opaque(value: object, text: str) -> str:
    """Encode a value that is not carried: its type and a text."""
    return _mark("object", string(type(value).__name__), string(text))


def _shown(value: object) -> str:
    """Return a short text of any object, whatever its `__repr__` does."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a submission's own method may raise anything
        text = f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
    return str.__str__(text)[:MAX_SHOWN]


SCALARS: dict[type, Callable[[Any], str]] = {
    type(None): lambda value: "null",
    bool: _whole,
    int: _whole,
    float: _real,
    str: lambda value: string(str.__str__(value)[:MAX_TEXT]),
    bytes: _bytes,
    bytearray: _bytes,
}
# The members of each container; a list is a plain JSON array, the others are marked.
CONTAINERS: dict[type, Callable[[Any], Iterable[object]]] = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    dict: lambda value: [list(pair) for pair in dict.items(value)],
    set: set.__iter__,
    frozenset: frozenset.__iter__,
}


def encode_report(part: object) -> str:
    """Return what the agent reports as JSON: dictionaries, lists, and values in them."""
    if type(part) is dict:
        members = [string(name) + ":" + encode_report(value) for name, value in part.items()]
        return "{" + ",".join(members) + "}"
    if type(part) is list:
        return "[" + ",".join(map(encode_report, part)) + "]"
    return part.text if type(part) is Raw else encode(part)


# --- loading a program ---

QUIET = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


@cache
def parsed(text: str | CodeType) -> tuple[CodeType, CodeType | None]:
    """Return lines as code; their last expression, if they end with one, as separate code.

    What is code already stays as it is.

    Raises:
        SyntaxError: if they are not Python.
    """
    if not isinstance(text, str):
        return text, None
    tree = ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    lines = compile(tree, "<grader>", "exec")
    if not isinstance(last, ast.Expr):
        return lines, None
    return lines, compile(ast.Expression(last.value), "<grader>", "eval")


def words_of(error: object) -> str:
    """Return the message of an error, whatever its `__str__` does."""
    try:
        return str(error)[:500]
    except Exception as other:  # noqa: BLE001 - a submission's own exception may do anything
        return f"(its message raised {type(other).__name__})"


def place_of(error: BaseException, file: str, folder: str) -> tuple[str, int]:
    """Return the last file and line of the submission that the error passed through, or ("", 0)."""
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

# What Python itself imports when it warns, shows an error or ends.
NEEDED = """
    ast encodings.cp1252 encodings.latin_1 linecache random re tokenize traceback tracemalloc types
    warnings weakref
"""
# What is there before the first line of any program.
AT_START = "abc codecs encodings genericpath io ntpath os posixpath site stat zipimport"
DEAF = 86  # the exit code of a process that ignores its alarms
MAX_RINGS = 5  # alarms before that


class OutOfTime(BaseException):
    """Raised in the submission when its time for one call is over."""


class LeftAlone(BaseException):
    """Raised in a program that waits for its user while it is only being imported."""


class Agent:
    """One submission loaded into this process.

    `requests` and `replies` are file descriptors; `config` is the first request.
    """

    def __init__(self, requests: int, replies: int, config: Message) -> None:
        from .boot import read_request

        self.read: Callable[[], Message] = lambda: read_request(requests)
        self.replies = replies
        self.process = _number()
        self.config = config
        self.slack = 1.0  # how much longer a call may wait than work; each request says it
        self.shadowed: set[str] = set()
        self.modules: Names = {}
        self.file = config["file"]
        self.names: Names = {}
        self.helpers: Names = {}
        self.copied: Names = {}
        self.module: ModuleType | None = None
        self.pending: Message | None = None
        self.running = False
        self.rings = 0
        self.requests = self.open_request = 0
        for add in (site.setquit, site.setcopyright, site.sethelper):
            add()  # what Python itself adds at its start, which is without `site` here
        self.builtins = dict(vars(builtins))
        self.depth = sys.getrecursionlimit()
        self.output = terminal.CapturedOutput(config["output"])
        self.errors = terminal.CapturedOutput(config["output"])
        self.keyboard = terminal.ScriptedInput()
        self.random = terminal.take_over_random()
        self.clock = terminal.VirtualClock(self.wait)
        self.windows: TkControl | None = None
        for name in NEEDED.split():
            __import__(name)

    def take_over(self) -> None:
        """Replace the terminal and the clock, and take control of the windows."""
        if self.config["gui"]:
            from .tk import TkControl, TkUser

            self.windows = TkControl(self.clock)
            self.helpers["screen"] = TkUser(self.windows)
        sys.stdout = sys.__stdout__ = self.output  # type: ignore[assignment,misc]
        sys.stderr = sys.__stderr__ = self.errors  # type: ignore[assignment,misc]
        sys.stdin = sys.__stdin__ = self.keyboard  # type: ignore[assignment,misc]
        builtins.input = self.builtins["input"] = self.keyboard.input
        if not self.config["trusted"]:
            sys.meta_path.insert(0, _Hidden)
        terminal.clear_without_shell()
        self.clock.take_over()

    def make_way(self) -> None:
        """Forget modules that the submission replaces by its own, as ``python game.py`` would.

        Libraries and the files of the course need the standard ones and are imported before that.
        """
        entries = {entry.name.partition(".")[0] for entry in _scan(".")}
        loaded = {*AT_START.split(), *sys.builtin_module_names}
        self.shadowed = (entries & sys.stdlib_module_names) - loaded
        given = [entry.name for folder in self.config["support"] for entry in _scan(folder)]
        of_the_course = [*self.config["libraries"], *(name.partition(".")[0] for name in given)]
        for name in of_the_course if self.shadowed else ():
            with suppress(Exception):  # the submission finds out what is wrong with it
                __import__(name)
        self.modules = {name: _modules.pop(name, None) for name in self.shadowed}
        if self.shadowed:
            self.builtins["__import__"] = self._import
            vars(builtins).update(self.builtins)

    def _import(self, name: str, globals_: Names | None = None, *words: Any, **options: Any) -> Any:
        """Run in place of ``import``: only the submission sees the submission's files."""
        spec = (globals_ or {}).get("__spec__", sys.__spec__)  # code of no module has none
        origin = getattr(spec, "origin", None)
        if origin and not origin.startswith(self.config["scratch"]) and self.modules.get(name):
            return self.modules[name]
        return import_(name, globals_, *words, **options)

    # -- the protocol -------------------------------------------------------------------

    def serve(self) -> None:
        """Answer requests until the grader hangs up."""
        while True:
            self.answer_next()

    def answer_next(self) -> None:
        """Wait for one request and answer it."""
        try:
            request = self.read()
        except EOFError:
            os_exit(0)
        self.slack = request.get("slack", self.slack)
        getattr(self, f"do_{request['op']}")(request)

    def wait(self) -> None:
        """Let the grader be the user, for a request, for whom a program waits."""
        if not self.running:
            raise LeftAlone("the program waits for a person")
        if self.pending is not None:
            self._reply({**self.pending, "state": "waiting"})
        elif self.open_request:  # what it asked for has opened a dialog, and waits in there
            self._reply({"value": True, "error": None, "state": "waiting"})
        self.pending, self.open_request = None, 0
        self._time(0)
        self.answer_next()

    def _reply(self, facts: Message) -> None:
        """Send `facts` with what was printed and read meanwhile.

        A process that the submission forked off arrives here too, and is ended.
        """
        if _number() != self.process:
            os_exit(0)
        builtins.__dict__.update(self.builtins)
        sys.setrecursionlimit(self.depth)
        self.errors.take()
        opened = self.windows is not None and self.windows.interpreters
        meanwhile = {
            "state": "done",
            "output": self.output.take(),
            "asked": self.keyboard.asked,
            "can_be_copied": not opened and not threads_started(),
        }
        data = encode_report({**meanwhile, **facts}).encode("ascii")
        data = len(data).to_bytes(4, "big") + data
        while data:
            data = data[_write(self.replies, data) :]

    # -- time ---------------------------------------------------------------------------

    def _time(self, seconds: float) -> None:
        """Let an alarm go off after `seconds` of work, or `slack` times as long of waiting.

        It goes off again soon, in case it is swallowed. Work is what counts, so that a busy
        machine costs no marks.
        """
        self.rings = 0
        again = 0.1 if seconds else 0
        set_handler(SIGPROF, self._ring)
        set_handler(SIGALRM, self._ring)
        setitimer(ITIMER_PROF, seconds, again)
        setitimer(ITIMER_REAL, self.slack * seconds, again)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        self.rings += 1
        if self.rings > MAX_RINGS:
            os_exit(DEAF)
        raise OutOfTime("still running when the time was over")

    def guard(
        self, seconds: float, action: Callable[[], Value]
    ) -> tuple[Value | None, BaseException | None]:
        """Run `action` for at most `seconds`; return its result and the error that ended it."""
        try:
            try:
                self._time(seconds)
                return action(), None
            finally:
                self._time(0)
        except BaseException as error:  # noqa: BLE001 - whatever a submission raises is a fact
            return None, error

    # -- the requests -------------------------------------------------------------------

    def do_hello(self, request: Message) -> None:
        """Say that the process is up."""
        del request
        self._reply({})

    def do_fork(self, request: Message) -> None:
        """Let a copy of this process answer from here on, until it leaves or dies."""
        del request
        before = _picture(".")
        number = os_fork()
        if number == 0:
            self.process = _number()
            self.config["own_processes"] = False  # only the original tidies up
            self._reply({"state": "forked"})
            return
        code = _exit_code(_wait_for(number, 0)[1])
        self._tidy()
        self._reply({"state": "ended", "exit_code": code, "changed": _picture(".") != before})

    def _tidy(self) -> None:
        """End the processes that the submission has left running, where only they are met."""
        if self.config["own_processes"] and _number() == self.process:
            with suppress(OSError):
                _kill(-1, SIGKILL)
                while _wait_for(-1, os.WNOHANG) != (0, 0):
                    pass

    def do_leave(self, request: Message) -> None:
        """End this copy."""
        del request
        os_exit(0)

    def do_load(self, request: Message) -> None:
        """Load the student's file as a module."""
        self.module = self._new_module(self.config["module"])
        found, error = self.guard(request["seconds"], lambda: self._load(request))
        self._tidy()
        self._reply({"left_out": found or [], "error": self.describe(error)})

    def _new_module(self, name: str) -> ModuleType:
        """Return the module as which the student's file is run."""
        module = _modules[name] = ModuleType(name)
        module.__file__ = self.file
        vars(module)["__builtins__"] = builtins
        return module

    def _load(self, request: Message) -> list[Message]:
        """Run the file; return what was left out beside the statements at the lines `skip`."""
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
                found.append(self._load_part(statement, futures, request))
        return [note for note in found if note]

    def _load_part(
        self, statement: ast.stmt, futures: list[ast.stmt], request: Message
    ) -> Message | None:
        """Run one statement, or say why it is left out, on which line of the student's file."""
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
        return {**left_out, "error": type(error).__name__, "message": words_of(error)}

    def do_begin(self, request: Message) -> None:
        """Make the names fresh: those of the module, the module, the helpers."""
        self._reply({"error": self._begin(request)})

    def _begin(self, request: Message) -> Message | None:
        """Begin with fresh names, and run the prelude; return its error."""
        self.names = {**self.helpers, "__name__": "__console__"}
        if self.shadowed:
            self.names["__builtins__"] = self.builtins
        self.copied = {}
        self._follow()
        if not request["prelude"]:
            return None
        error = self.guard(request["seconds"], lambda: self._evaluate(request["prelude"]))[1]
        return self.describe(error)

    def do_example(self, request: Message) -> None:
        """Prepare, run, and look afterwards, with fresh names."""
        seconds = request["seconds"]
        early = self._begin(request)
        if early is None and request["given"]:
            self._prepare({**request, "typed": []})
            early = self._run(request["given"], seconds)["error"]
        self.output.take()
        facts: Message = {"early": early}
        if early is None:
            self._prepare(request)
            facts |= self._run(request["code"], seconds)
            facts["output"] = self.output.take()
            if not facts["error"] or facts["error"]["type"] != "OutOfTime":
                self._follow()
                facts["then"] = [self._run(expression, seconds) for expression in request["then"]]
        self._reply(facts)

    def _follow(self) -> None:
        """Bring the names up to date with the module's, but for those that were assigned."""
        module = _modules["__main__"] if self.running else self.module
        current = {**vars(module), self.config["module"]: module}
        for name, value in current.items():
            untouched = name not in self.names or self.names[name] is self.copied.get(name, self)
            if untouched and not name.startswith("__") and name not in self.helpers:
                self.names[name] = self.copied[name] = value

    def do_run(self, request: Message) -> None:
        """Run some lines; the value of a last expression is the value of them all."""
        self._prepare(request)
        before = self.running
        self.requests += 1
        number = self.open_request = self.requests
        facts = self._run(request["code"], request["seconds"])
        if before:
            if self.open_request == number:
                self.pending = facts  # the program continues first; see `wait`
            self._time(request["seconds"])
        else:
            self._reply(facts)

    def _run(self, code: str | CodeType, seconds: float) -> Message:
        """Run lines: the value of a last expression, or the error."""
        value, error = self.guard(seconds, lambda: self._evaluate(code))
        text = None
        if error is None:
            text, error = self.guard(seconds, lambda: encode(value))
        return {"value": text and Raw(text), "error": self.describe(error)}

    def _prepare(self, request: Message) -> None:
        self.keyboard.type(request["typed"])
        if (seed := request["seed"]) is not None:
            self.random.seed(seed)
            if (numpy := _modules.get("numpy")) is not None:
                numpy.random.seed(seed % 2**32)
        self.clock.allow()
        if self.names:
            self._follow()

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
        """Describe an exception, if there was one, as data."""
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
            "bases": [kind.__name__ for kind in BASES(type(error))],
            "message": words_of(message),
            "file": file,
            "line": line or 0,
        }


def _picture(folder: str) -> list[tuple[str, int, int]]:
    """Return the files of a folder with size and time of change, to see whether any has changed."""
    found = []
    for entry in _scan(folder):
        facts = entry.stat(follow_symlinks=False)
        found.append((entry.path, facts.st_size, facts.st_mtime_ns))
        if entry.is_dir(follow_symlinks=False):
            found.extend(_picture(entry.path))
    return sorted(found)


class _Hidden:
    """An import hook that keeps the grader's own package away from submissions."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse py2048."""
        if name.partition(".")[0] == "py2048":
            raise ImportError("py2048 cannot be imported by a submission", name=name)
