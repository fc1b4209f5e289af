"""The server inside a submission's process: loads it, runs the lines it is sent, reports facts.

A file is loaded in one of three modes, each more forgiving than the one before: ``whole`` runs it
as Python would; ``each`` runs it statement by statement and leaves out those that fail or take too
long; ``quiet`` runs only imports, definitions and assignments, for files that start a game or end
the process when they are imported.
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

from . import serialize, terminal

TYPE_CHECKING = False  # importing the real one costs more time than all the rest here
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType, FrameType
    from typing import Any, TypeVar

    from .tk import TkControl

    Value = TypeVar("Value")
    Facts = dict[str, Any]  # of a request or an answer
    Guard = Callable[[float, Callable[[], object]], tuple[object, BaseException | None]]

QUIET = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
STATEMENT = 0.25  # of the time for a call, for one statement in the mode ``each``

# What Python itself imports when it warns, shows an error or ends.
NEEDED = """
    ast encodings.cp1252 encodings.latin_1 linecache random re tokenize traceback tracemalloc types
    warnings weakref
"""
# What is there before the first line of any program.
AT_START = "abc codecs encodings genericpath io ntpath os posixpath site stat zipimport"
FLOODED = 85  # the exit code of a process that printed too much
DEAF = 86  # the exit code of a process that ignores its alarms
RINGS = 5  # alarms before that


@cache
def parsed(text: str | CodeType) -> tuple[CodeType, CodeType | None]:
    """Lines as code; their last expression, if they end with one, as separate code.

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


class Loader:
    """Loads `file` of `folder` as the module `name`.

    `guard` runs a function for at most some seconds and gives its result and its error.
    """

    def __init__(self, name: str, folder: str, file: str, guard: Guard) -> None:
        self.folder = folder
        self.file = file
        self.guard = guard
        self.module = ModuleType(name)
        self.module.__file__ = file
        sys.modules[name] = self.module

    def load(self, load_mode: str, skip: Sequence[int], seconds: float) -> list[Facts]:
        """Run the file; return what was left out beside the statements at the lines `skip`."""
        with open(f"{self.folder}/{self.file}", "rb") as source:
            tree = ast.parse(source.read(), self.file)
        if load_mode == "whole":
            error = self.guard(seconds, lambda: self.run(tree.body))[1]
            return [] if error is None else [self.note(error, tree.body[0])]
        futures: list[ast.stmt] = [s for s in tree.body if is_future(s)]
        self.run(futures)
        wanted = [s for s in tree.body if s not in futures and s.lineno not in skip]
        part_s = STATEMENT * seconds
        found = [self.part(statement, futures, load_mode, part_s) for statement in wanted]
        return [note for note in found if note]

    def part(
        self, statement: ast.stmt, futures: list[ast.stmt], load_mode: str, seconds: float
    ) -> Facts | None:
        """Run one statement, or say why it is left out."""
        if load_mode == "quiet" and not isinstance(statement, QUIET):
            harmless = isinstance(statement, ast.If) or is_docstring(statement)
            return None if harmless else left_out(statement, statement.lineno, "", "")
        error = self.guard(seconds, lambda: self.run([*futures, statement]))[1]
        return self.note(error, statement) if error is not None else None

    def run(self, statements: list[ast.stmt]) -> None:
        """Run `statements` in the module."""
        exec(compile(ast.Module(statements, []), self.file, "exec"), self.module.__dict__)

    def note(self, error: BaseException, statement: ast.stmt) -> Facts:
        """What went wrong in a statement, and on which line of the student's file."""
        file, line = place_of(error, self.file, self.folder)
        line = line if file == self.file and line else statement.lineno
        return left_out(statement, line, type(error).__name__, words_of(error))


def is_future(statement: ast.stmt) -> bool:
    """Whether a statement imports from ``__future__``."""
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is only a string."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def left_out(statement: ast.stmt, line: int, error: str, message: str) -> Facts:
    """A statement that was left out: where it begins, where it failed, and how."""
    return {"statement": statement.lineno, "line": line, "error": error, "message": message}


def words_of(error: object) -> str:
    """The message of an error, whatever its `__str__` does."""
    try:
        return str(error)[:500]
    except Exception as other:  # noqa: BLE001 - a submission's own exception may do anything
        return f"(its message raised {type(other).__name__})"


def place_of(error: BaseException, file: str, folder: str) -> tuple[str, int]:
    """The last file and line of the submission that the error passed through, or ("", 0)."""
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


# What the functions below use, whatever a submission puts into the builtins later. Those above run
# its code, which gets the real ones.
globals()["__builtins__"] = dict(vars(builtins))

_write, _wait_for, _kill, _scan, _number = os.write, os.waitpid, os.kill, os.scandir, os.getpid
_modules = sys.modules
import_ = builtins.__import__


class OutOfTime(BaseException):
    """Raised in the submission when its time for one call is over."""


class LeftAlone(BaseException):
    """Raised in a program that waits for its user while it is only being imported."""


class Agent:
    """One submission loaded into this process.

    `requests` and `replies` are file descriptors; `config` is the first request.
    """

    def __init__(self, requests: int, replies: int, config: Facts) -> None:
        from .boot import read_request

        self.read: Callable[[], Facts] = lambda: read_request(requests)
        self.replies = replies
        self.process = _number()
        self.config = config
        self.slack = 1.0  # how much longer a call may wait than work; each request says it
        self.shadowed: set[str] = set()
        self.modules: Facts = {}
        self.file = config["file"]
        self.names: Facts = {}
        self.helpers: Facts = {}
        self.copied: Facts = {}
        self.module: ModuleType | None = None
        self.pending: Facts | None = None
        self.running = False
        self.rings = 0
        self.requests = self.open_request = 0
        for add in (site.setquit, site.setcopyright, site.sethelper):
            add()  # what Python itself adds at its start, which is without `site` here
        self.builtins = dict(vars(builtins))
        self.depth = sys.getrecursionlimit()
        self.output = terminal.CapturedOutput(config["output"], self._too_much)
        self.errors = terminal.CapturedOutput(config["output"], self._too_much)
        self.keyboard = terminal.ScriptedInput()
        self.random = terminal.take_over_random()
        self.clock = terminal.VirtualClock(self.wait)
        self.windows: TkControl | None = None
        self.is_copy = False
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
        builtins.input = self.keyboard.input
        self.builtins["input"] = self.keyboard.input
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

    def _import(self, name: str, globals_: Facts | None = None, *words: Any, **options: Any) -> Any:
        """What ``import`` becomes: only the submission sees the submission's files."""
        spec = (globals_ or {}).get("__spec__", sys.__spec__)  # code of no module has none
        origin = getattr(spec, "origin", None)
        if origin and not origin.startswith(self.config["scratch"]) and self.modules.get(name):
            return self.modules[name]
        return import_(name, globals_, *words, **options)

    def _too_much(self) -> None:
        os_exit(FLOODED)

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
        """Called when a program waits for its user: let the grader be that user for a request."""
        if not self.running:
            raise LeftAlone("the program waits for a person")
        if self.pending is not None:
            self._reply({**self.pending, "state": "waiting"})
        elif self.open_request:  # what it asked for has opened a dialog, and waits in there
            self._reply({"value": True, "error": None, "state": "waiting"})
        self.pending, self.open_request = None, 0
        self._time(0)
        self.answer_next()

    def _send(self, text: str) -> None:
        data = text.encode("ascii")
        data = len(data).to_bytes(4, "big") + data
        while data:
            data = data[_write(self.replies, data) :]

    def _reply(self, facts: Facts) -> None:
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
            "output": self.output.take(),
            "asked": self.keyboard.asked,
            "can_be_copied": not opened and not threads_started(),
        }
        self._send(serialize.encode_report({**meanwhile, **facts}))

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
        if self.rings > RINGS:
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

    def do_hello(self, request: Facts) -> None:
        """Say that the process is up."""
        del request
        self._reply({"state": "done"})

    def do_fork(self, request: Facts) -> None:
        """Let a copy of this process answer from here on, until it leaves or dies."""
        del request
        before = _picture(".")
        number = os_fork()
        if number == 0:
            self.process = _number()
            self.is_copy = True
            self._reply({"state": "forked"})
            return
        status = _wait_for(number, 0)[1]
        self._tidy()
        self._reply({"state": "ended", "status": status, "changed": _picture(".") != before})

    def _tidy(self) -> None:
        """End the processes that the submission has left running, where only they are met."""
        if self.config["own_processes"] and _number() == self.process:
            _kill_others()

    def do_leave(self, request: Facts) -> None:
        """End this copy."""
        del request
        os_exit(0)

    def do_load(self, request: Facts) -> None:
        """Load the student's file as a module."""
        config = self.config
        result, error = self.guard(
            request["seconds"] + 30,
            lambda: Loader(config["module"], config["scratch"], self.file, self.guard).load(
                request["load_mode"], request["skip"], request["seconds"]
            ),
        )
        if not self.is_copy:
            self._tidy()
        self.module = _modules.get(config["module"])
        described = None if error is None else self.describe(error)
        self._reply({"state": "done", "left_out": result or [], "error": described})

    def do_begin(self, request: Facts) -> None:
        """Make the names fresh: those of the module, the module, the helpers."""
        error = self._begin(request)
        self._reply({"state": "done", "error": error})

    def _begin(self, request: Facts) -> Facts | None:
        """Fresh names and the prelude; return its error."""
        self.names = {**self.helpers, "__name__": "__console__"}
        if self.shadowed:
            self.names["__builtins__"] = self.builtins
        self.copied = {}
        self._follow()
        if not request["prelude"]:
            return None
        error = self.guard(request["seconds"], lambda: self._evaluate(request["prelude"]))[1]
        return None if error is None else self.describe(error)

    def do_example(self, request: Facts) -> None:
        """Prepare, run, and look afterwards, with fresh names."""
        seconds = request["seconds"]
        early = self._begin(request)
        if early is None and request["given"]:
            self._prepare({**request, "typed": []})
            early = self._run(request["given"], seconds)["error"]
        self.output.take()
        facts: Facts = {"value": None, "error": None, "then": [], "early": early}
        if early is None:
            self._prepare(request)
            facts |= self._run(request["code"], seconds)
            facts["output"] = self.output.take()
            if not facts["error"] or facts["error"]["type"] != "OutOfTime":
                self._follow()
                facts["then"] = [self._run(expression, seconds) for expression in request["then"]]
        self._reply({**facts, "state": "done"})

    def _follow(self) -> None:
        """Bring the names up to date with the module's, but for those that were assigned."""
        module = _modules["__main__"] if self.running else self.module
        current = {**vars(module), self.config["module"]: module}
        for name, value in current.items():
            untouched = name not in self.names or self.names[name] is self.copied.get(name, self)
            if untouched and not name.startswith("__") and name not in self.helpers:
                self.names[name] = self.copied[name] = value

    def do_run(self, request: Facts) -> None:
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
            self._reply({**facts, "state": "done"})

    def _run(self, code: str | CodeType, seconds: float) -> Facts:
        """Run lines: the value of a last expression, or the error."""
        value, error = self.guard(seconds, lambda: self._evaluate(code))
        text = None
        if error is None:
            text, error = self.guard(seconds, lambda: serialize.encode(value))
        return {
            "value": None if text is None else serialize.Raw(text),
            "error": None if error is None else self.describe(error),
        }

    def _prepare(self, request: Facts) -> None:
        self.keyboard.type(request["typed"])
        if request["seed"] is not None:
            terminal.reseed(self.random, request["seed"])
        self.clock.allow()
        if self.names:
            self._follow()

    def _evaluate(self, code: str | CodeType) -> object:
        first, last = parsed(code)
        exec(first, self.names)
        return None if last is None else eval(last, self.names)

    def do_program(self, request: Facts) -> None:
        """Run the student's file as a program, until it ends or waits for its user."""
        self._prepare(request)
        sys.argv[:] = [self.file]
        main = ModuleType("__main__")
        main.__file__ = self.file
        vars(main)["__builtins__"] = builtins
        _modules["__main__"] = main
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
        self._reply({**facts, "state": "done"})

    def describe(self, error: BaseException) -> Facts:
        """What is known of an exception, as data."""
        file, line = place_of(error, self.file, self.config["scratch"])
        if not line and isinstance(error, SyntaxError):
            file, line = self.file, error.lineno if type(error.lineno) is int else 0
        return {
            "type": type(error).__name__,
            "bases": [kind.__name__ for kind in serialize.BASES(type(error))],
            "message": words_of((error.msg or "") if isinstance(error, SyntaxError) else error),
            "file": file,
            "line": line or 0,
        }


def _picture(folder: str) -> list[tuple[str, int, int]]:
    """The files of a folder with size and time of change, to see whether any has changed."""
    found = []
    for entry in _scan(folder):
        facts = entry.stat(follow_symlinks=False)
        found.append((entry.path, facts.st_size, facts.st_mtime_ns))
        if entry.is_dir(follow_symlinks=False):
            found.extend(_picture(entry.path))
    return sorted(found)


def _kill_others() -> None:
    """End every process that a copy left running; this sandbox holds nothing else."""
    try:
        _kill(-1, SIGKILL)
    except OSError:
        return
    try:
        while _wait_for(-1, os.WNOHANG) != (0, 0):
            pass
    except OSError:
        return


class _Hidden:
    """An import hook that keeps the grader's own package away from submissions."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse py2048."""
        if name.partition(".")[0] == "py2048":
            raise ImportError("py2048 cannot be imported by a submission", name=name)
