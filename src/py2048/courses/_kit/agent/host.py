"""The server inside a submission's process: runs the lines it is told to and reports facts."""

from __future__ import annotations

import builtins
import os
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
from functools import partial
from os import _exit as os_exit
from os import fork as os_fork
from types import ModuleType

from . import lines, loading, terminal, wire
from .clock import Clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

# What the functions below use, whatever a submission puts into the builtins later.
globals()["__builtins__"] = dict(vars(builtins))

_write, _wait_for, _kill, _scan, _number = os.write, os.waitpid, os.kill, os.scandir, os.getpid
_modules = sys.modules
import_ = builtins.__import__


# What Python itself imports when it warns, shows an error or ends.
NEEDED = """
    ast encodings.cp1252 encodings.latin_1 linecache random re tokenize traceback tracemalloc types
    warnings weakref
"""
# What is there before the first line of any program.
AT_START = "abc codecs encodings genericpath io ntpath os posixpath site stat zipimport"
LIBRARY = 20.0  # seconds to import a library
SLACK = 3  # how much longer a call may wait than work
FLOODED = 85  # the exit code of a process that printed too much
DEAF = 86  # the exit code of a process that does not end when it is told to
RINGS = 5  # times that it is told


class OutOfTime(BaseException):
    """Raised in the submission when its time for one call is over."""


class LeftAlone(BaseException):
    """Raised in a program that waits for a person while it is only being imported."""


class Host:
    """One submission loaded into this process.

    `requests` and `replies` are file descriptors; `config` is the first request. `held` are the
    limits that could be set.
    """

    def __init__(self, requests: int, replies: int, config: dict[str, Any]) -> None:
        from .boot import read_request

        self.read: Callable[[], dict[str, Any]] = lambda: read_request(requests)
        self.replies = replies
        self.process = _number()
        self.config = config
        self.held: list[str] = []
        self.shadowed: set[str] = set()
        self.modules: dict[str, Any] = {}
        self.file = config["file"]
        self.names: dict[str, Any] = {}
        self.helpers: dict[str, Any] = {}
        self.copied: dict[str, Any] = {}
        self.prelude: tuple[str, Any] = "", None
        self.module: Any = None
        self.pending: dict[str, Any] | None = None
        self.running = False
        self.rings = 0
        self.requests = self.open_request = 0
        self.builtins = dict(vars(builtins))
        self.depth = sys.getrecursionlimit()
        self.screen = terminal.Screen(config["output"], self._too_much)
        self.complaints = terminal.Screen(config["output"], self._too_much)
        self.keyboard = terminal.Keyboard()
        self.chance = terminal.take_over_random()
        self.clock = Clock(self.wait)
        self.windows: Any = None
        self.is_copy = False
        for name in NEEDED.split():
            __import__(name)

    def take_over(self) -> None:
        """Stand in for the terminal and the clock, and take hold of the windows."""
        if self.config["gui"]:
            from .person import Person
            from .windows import Windows

            self.windows = Windows(self.clock)
            self.helpers["screen"] = Person(self.windows)
        sys.stdout = sys.__stdout__ = self.screen  # type: ignore[assignment,misc]
        sys.stderr = sys.__stderr__ = self.complaints  # type: ignore[assignment,misc]
        sys.stdin = sys.__stdin__ = self.keyboard  # type: ignore[assignment,misc]
        builtins.input = self.keyboard.input
        self.builtins["input"] = self.keyboard.input
        if not self.config["trusted"]:
            sys.meta_path.insert(0, _Hidden)
        terminal.clear_without_shell()
        self.clock.take_over()

    def make_way(self) -> None:
        """Forget modules of which the submission has its own, as for ``python game.py``.

        The libraries and the files of the course are imported before that: they need the standard
        ones.
        """
        entries = {entry.name.partition(".")[0] for entry in _scan(".")}
        loaded = {*AT_START.split(), *sys.builtin_module_names}
        self.shadowed = (entries & sys.stdlib_module_names) - loaded
        given = [entry.name for folder in self.config["support"] for entry in _scan(folder)]
        of_the_course = [*self.config["libraries"], *(name.partition(".")[0] for name in given)]
        for name in of_the_course if self.shadowed else ():
            self.guard(LIBRARY, partial(__import__, name))
        self.modules = {name: _modules.pop(name, None) for name in self.shadowed}
        if self.shadowed:
            self.builtins["__import__"] = self._import
            vars(builtins).update(self.builtins)

    def _import(
        self, name: str, globals_: dict[str, Any] | None = None, *words: Any, **options: Any
    ) -> Any:
        """What ``import`` becomes: only the submission sees the submission's files."""
        spec = (globals_ or {}).get("__spec__", sys.__spec__)  # code of no module has none
        origin = getattr(spec, "origin", None)
        if origin and not origin.startswith(self.config["scratch"]) and self.modules.get(name):
            return self.modules[name]
        return import_(name, globals_, *words, **options)

    def _too_much(self) -> None:
        os_exit(FLOODED)

    # -- the conversation ---------------------------------------------------------------

    def serve(self) -> None:
        """Answer requests until the grader hangs up."""
        while True:
            try:
                request = self.read()
            except EOFError:
                os_exit(0)
            self.answer(request)

    def answer(self, request: dict[str, Any]) -> None:
        """Do what one request says and reply."""
        getattr(self, f"do_{request['op']}")(request)

    def wait(self) -> None:
        """Called when a program waits for a person: let the grader be that person once."""
        if not self.running:
            raise LeftAlone("the program waits for a person")
        if self.pending is not None:
            self._reply({**self.pending, "state": "waiting"})
        elif self.open_request:  # what it asked for has opened a dialog, and waits in there
            self._reply({"value": True, "error": None, "state": "waiting"})
        self.pending, self.open_request = None, 0
        self._time(0)
        try:
            request = self.read()
        except EOFError:
            os_exit(0)
        self.answer(request)

    def _send(self, text: str) -> None:
        data = text.encode("ascii")
        data = len(data).to_bytes(4, "big") + data
        while data:
            data = data[_write(self.replies, data) :]

    def _reply(self, facts: dict[str, Any]) -> None:
        """Send `facts` with what was printed and asked for meanwhile.

        A process that the submission forked off comes here too, and has no say.
        """
        if _number() != self.process:
            os_exit(0)
        builtins.__dict__.update(self.builtins)
        sys.setrecursionlimit(self.depth)
        facts["output"] = self.screen.take()
        facts["complaints"] = self.complaints.take()
        facts["asked"] = self.keyboard.asked
        opened = self.windows is not None and self.windows.interpreters
        facts["can_be_copied"] = not opened and not threads_started()
        self._send(wire.encode(facts))

    # -- time ---------------------------------------------------------------------------

    def _time(self, seconds: float) -> None:
        """Let an alarm go off after `seconds` of work, or a multiple of them of waiting.

        It goes off again soon, in case it is swallowed. Work is what counts, so that a busy
        machine does not cost marks.
        """
        self.rings = 0
        again = 0.1 if seconds else 0
        set_handler(SIGPROF, self._ring)
        set_handler(SIGALRM, self._ring)
        setitimer(ITIMER_PROF, seconds, again)
        setitimer(ITIMER_REAL, SLACK * seconds, again)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        self.rings += 1
        if self.rings > RINGS:
            os_exit(DEAF)
        raise OutOfTime("still running when the time was over")

    def guard(self, seconds: float, action: Callable[[], Any]) -> tuple[Any, BaseException | None]:
        """Run `action` for at most `seconds`: its result, or the error that ended it."""
        try:
            try:
                self._time(seconds)
                return action(), None
            finally:
                self._time(0)
        except BaseException as error:  # noqa: BLE001 - whatever a submission raises is a fact
            return None, error

    # -- the requests -------------------------------------------------------------------

    def do_hello(self, request: dict[str, Any]) -> None:
        """Say that the process is up, and which limits hold."""
        del request
        self._reply({"state": "done", "held": self.held})

    def do_fork(self, request: dict[str, Any]) -> None:
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

    def do_leave(self, request: dict[str, Any]) -> None:
        """End this copy."""
        del request
        os_exit(0)

    def do_load(self, request: dict[str, Any]) -> None:
        """Load the student's file as a module."""
        config = self.config
        result, error = self.guard(
            request["seconds"] + 30,
            lambda: loading.Loader(config["module"], config["scratch"], self.file, self.guard).load(
                request["way"], request["skip"], request["seconds"]
            ),
        )
        if not self.is_copy:
            self._tidy()
        self.module = _modules.get(config["module"])
        described = None if error is None else self.describe(error)
        self._reply({"state": "done", "left_out": result or [], "error": described})

    def do_begin(self, request: dict[str, Any]) -> None:
        """Make the names fresh: those of the module, the module, the helpers."""
        error = self._begin(request)
        self._reply({"state": "done", "error": error})

    def _begin(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Fresh names and the prelude; return its error."""
        self.names = {**self.helpers, "__name__": "__console__"}
        if self.shadowed:
            self.names["__builtins__"] = self.builtins
        self.copied = {}
        self._follow()
        if not request["prelude"]:
            return None
        code = self._compiled(request["prelude"])
        error = self.guard(request["seconds"], lambda: exec(code, self.names))[1]
        return None if error is None else self.describe(error)

    def _compiled(self, prelude: str) -> Any:
        if self.prelude[0] != prelude:
            self.prelude = prelude, compile(prelude, "<grader>", "exec")
        return self.prelude[1]

    def do_examples(self, request: dict[str, Any]) -> None:
        """Run examples one after the other, each with fresh names; stop when one overruns."""
        found = []
        for example in request["examples"]:
            facts = self._example(example, request)
            found.append(facts)
            if facts["over"]:
                break
        self._reply({"state": "done", "found": found})

    def _example(self, example: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        """Prepare, run, and look afterwards."""
        seconds = request["seconds"]
        early = self._begin(request)
        nothing: dict[str, Any] = {
            "value": None,
            "error": None,
            "output": "",
            "then": [],
            "over": False,
        }
        if early is None and example["given"]:
            self._prepare({**example, "typed": [], "draws": []})
            early = self._run(example["given"], seconds)["error"]
        if early is not None:
            return {**nothing, "early": early, "over": early["type"] == "OutOfTime"}
        self.screen.take()
        self._prepare(example)
        facts = {**nothing, "early": None, **self._run(example["code"], seconds)}
        facts["output"] = self.screen.take()
        facts["over"] = bool(facts["error"]) and facts["error"]["type"] == "OutOfTime"
        if not facts["over"]:
            self._follow()
            facts["then"] = [self._run(expression, seconds) for expression in example["then"]]
        self.screen.take()
        return facts

    def _follow(self) -> None:
        """Bring the names up to date with the module's, but for those that were assigned."""
        module = _modules["__main__"] if self.running else self.module
        current = {**vars(module), self.config["module"]: module}
        for name, value in current.items():
            untouched = name not in self.names or self.names[name] is self.copied.get(name, self)
            if untouched and not name.startswith("__") and name not in self.helpers:
                self.names[name] = self.copied[name] = value

    def do_run(self, request: dict[str, Any]) -> None:
        """Run some lines; the value of a last expression is the value of them all."""
        self._prepare(request)
        before = self.running
        self.requests += 1
        number = self.open_request = self.requests
        facts = self._run(request["code"], request["seconds"])
        if before:
            if self.open_request == number:
                self.pending = facts  # the program goes on first; see `wait`
            self._time(request["seconds"])
        else:
            self._reply({**facts, "state": "done"})

    def _run(self, code: str, seconds: float) -> dict[str, Any]:
        """Run lines: the value of a last expression, or the error."""
        value, error = self.guard(seconds, lambda: self._evaluate(code))
        text = None
        if error is None:
            text, error = self.guard(seconds, lambda: wire.encode(value))
        return {
            "value": None if text is None else wire.Raw(text),
            "error": None if error is None else self.describe(error),
        }

    def _prepare(self, request: dict[str, Any]) -> None:
        self.keyboard.type(request["typed"])
        if request["seed"] is not None or request["draws"]:
            terminal.reseed(self.chance, request["seed"] or 0, request["draws"])
        self.clock.allow()
        if self.names:
            self._follow()

    def _evaluate(self, code: str) -> Any:
        first, last = lines.parsed(code)
        exec(first, self.names)
        return None if last is None else eval(last, self.names)

    def do_program(self, request: dict[str, Any]) -> None:
        """Run the student's file as a program, until it ends or waits for a person."""
        self._prepare(request)
        sys.argv[:] = [self.file, *request["arguments"]]
        main = ModuleType("__main__")
        main.__file__ = self.file
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

    def describe(self, error: BaseException) -> dict[str, Any]:
        """What is known of an exception, as data."""
        file, line = loading.place_of(error, self.file, self.config["scratch"])
        if not line and isinstance(error, SyntaxError):
            file, line = self.file, error.lineno or 0
        return {
            "type": type(error).__name__,
            "bases": [kind.__name__ for kind in wire.BASES(type(error))],
            "message": error.msg if isinstance(error, SyntaxError) else loading.words_of(error),
            "file": file,
            "line": line,
        }


def _picture(folder: str) -> list[tuple[str, int, int]]:
    """The files of a folder with size and time of change, to see whether anything changed."""
    found = []
    for entry in _scan(folder):
        facts = entry.stat(follow_symlinks=False)
        found.append((entry.path, facts.st_size, facts.st_mtime_ns))
        if entry.is_dir(follow_symlinks=False):
            found.extend(_picture(entry.path))
    return sorted(found)


def _kill_others() -> None:
    """End every process that a copy has left behind; this sandbox holds nothing else."""
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
