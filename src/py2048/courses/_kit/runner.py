"""The processes of one submission: every check begins in one that nothing has touched.

A process loads the program once. For each check it makes a copy of itself (a fork), and the
copy is what the check talks to. When the copy crashes, exits or has its state spoiled, the
original makes another; when the original is lost, a new one is started.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py2048.courses._kit.display import ON_SCREEN, Display
from py2048.courses._kit.process import Process, ProcessDied, cause, clear, next_user
from py2048.courses._kit.protection import Limits, Protection, Setup, strongest
from py2048.courses._kit.sources import Workspace
from py2048.courses._kit.tasks import Grading
from py2048.errors import CourseError

LOADED, BLANK = "loaded", "blank"  # with the program as a module; with nothing
SUBMISSION_SECONDS = 60.0
SLOWEST = 4.0  # how much more time a submission gets at most on a busy machine
PARTING = 1.0  # seconds for a copy to end and be cleared up


@dataclass(frozen=True)
class SandboxConfig:
    """How processes are started, and with which protection.

    `seconds` is the time that one submission may take in all. `trusted` lets the code import
    py2048; it is for our own reference solutions only. `live` are the runners under way, which
    `end` stops.
    """

    protection: Protection
    trusted: bool = False
    seconds: float = SUBMISSION_SECONDS
    live: set[Runner] = field(default_factory=set, compare=False)
    over: threading.Event = field(default_factory=threading.Event, compare=False)

    def check(self, grading: Grading) -> None:
        """Start one process, to find out before the work whether that can be done here.

        Raises:
            StartError: if it cannot.
        """
        with tempfile.TemporaryDirectory(prefix="py2048-grade-") as place:
            Path(place).chmod(0o711)
            folder = Path(place, "submission")
            folder.mkdir(mode=0o700)
            runner = Runner(grading, Workspace(folder, f"{grading.module}.py", grading), self)
            try:
                runner.begin(BLANK)
            finally:
                runner.end()

    @classmethod
    def usual(cls) -> SandboxConfig:
        """The strongest protection that works here."""
        return cls(strongest())

    def end(self) -> None:
        """Stop everything that is under way: the run is over or was broken off."""
        self.over.set()
        for runner in list(self.live):
            runner.kill()


class RunBrokenOffError(CourseError):
    """The run ends, and with it what is under way."""


class Runner:
    """Starts, copies and ends the processes of one submission, and its virtual display."""

    def __init__(self, grading: Grading, work: Workspace, sandbox: SandboxConfig) -> None:
        self.grading = grading
        self.work = work
        self.sandbox = sandbox
        self._user = next_user()
        self._display: Display | None = None
        self._bases: dict[str, Process] = {}
        self._folders: dict[Process, Path] = {}
        self._copies: set[Process] = set()  # those that can make copies of themselves
        self._loads_late = False
        self._current: Process | None = None
        self._waited = 0.0
        sandbox.live.add(self)

    @property
    def out_of_time(self) -> bool:
        """Whether the time for the whole submission is over."""
        return self._waited >= self.sandbox.seconds * _slowness()

    @property
    def ready(self) -> bool:
        """Whether there is a process to ask."""
        return self._current is not None

    def begin(self, kind: str = LOADED) -> None:
        """Get an untouched process of a kind; raise `ProcessDied` if the program does not load."""
        self.leave()
        self._check_display()
        if kind == LOADED and self._loads_late:
            self.begin(BLANK)
            assert self._current is not None
            facts = self._load(self._current, self.work.way)
            if facts["state"] == "ended":
                self._after(self._current, facts)
                raise ProcessDied(cause(_code(facts["status"])))
            return
        base = self._bases.get(kind)
        if base is not None and not self._copied(base):
            base = None
        if base is None:
            base = self._start(kind)
            if kind == LOADED:
                self._load(base, self.work.way)
                if self._loads_late:
                    self.begin(kind)
                    return
            if not self._copied(base):
                raise ProcessDied("the process does not answer once the program is loaded")
        self._current = base

    def _answer(self, process: Process, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Ask, and count how long the answer takes towards the time of the submission."""
        left = self.sandbox.seconds * _slowness() - self._waited
        began = time.monotonic()
        try:
            return process.ask(request, seconds, began + left)
        finally:
            self._waited += time.monotonic() - began

    def _copied(self, base: Process) -> bool:
        """Have a copy made, where that is possible; say whether `base` is still of use."""
        if base not in self._copies:
            return True
        try:
            base.ask({"op": "fork"}, PARTING)
        except ProcessDied:
            self._drop(base)
            return False
        return True

    def load(self, way: str) -> dict[str, Any]:
        """Load the program in a new process; give back what had to be left out."""
        self.close()
        self._loads_late = False
        return self._load(self._start(LOADED), way)

    def _load(self, process: Process, way: str) -> dict[str, Any]:
        """Load the program.

        A process with windows or threads cannot be copied: then it is loaded again and again, in
        copies of a process that has loaded nothing.
        """
        seconds = self.grading.seconds
        request = {"op": "load", "way": way, "skip": list(self.work.skip), "seconds": seconds}
        try:
            facts = self._answer(process, request, seconds * (1 if way == "whole" else 6))
        except ProcessDied:
            self._drop(process)
            raise
        if not facts["can_be_copied"] and not self._loads_late:
            self._drop(process)
            self._loads_late = True
        return facts

    def _check_display(self) -> None:
        """A display that a submission has ended takes its processes with it."""
        if self._display is not None and not self._display.alive:
            self.close()
            self._close_display()

    def _close_display(self) -> None:
        if self._display is not None:
            self._display.close()
            self._display = None

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """One request to the current process; raise `ProcessDied` if that ends it."""
        assert self._current is not None
        try:
            facts = self._answer(self._current, request, seconds)
        except ProcessDied:
            self._drop(self._current)
            raise
        if facts["state"] == "ended":
            self._after(self._current, facts)
            raise ProcessDied(cause(_code(facts["status"])))
        return facts

    def leave(self) -> None:
        """End the current copy, if there is one; what it changed is gone with it."""
        current = self._current
        if current is None:
            return
        if current not in self._copies:
            self._drop(current)
            return
        try:
            self._after(current, current.ask({"op": "leave"}, PARTING))
        except ProcessDied:
            self._drop(current)

    def _after(self, base: Process, facts: dict[str, Any]) -> None:
        """A copy has ended: keep the original if its folder is as it was."""
        self._current = None
        if facts["state"] != "ended" or facts["changed"]:
            self._drop(base)

    def _start(self, kind: str) -> Process:
        """A new process with nothing loaded."""
        grading, sandbox = self.grading, self.sandbox
        if sandbox.over.is_set():
            raise RunBrokenOffError("the run was broken off")
        folder = None
        if not sandbox.protection.own_root:
            folder = _scratch(self.work.folder)
        if grading.gui and self._display is None and not ON_SCREEN:
            self._display = Display(sandbox.protection, self._user, next_user())
        display = self._display
        setup = Setup(
            self.work.folder,
            _given_folder(grading, self.work),
            folder or self.work.folder,
            Limits(memory_mib=grading.memory_mib),
            libraries=bool(grading.libraries) or grading.gui,
            trusted=sandbox.trusted,
            sockets=display.sockets if display else None,
            authority=display.authority if display else None,
        )
        config = {"file": self.work.file, "module": grading.module, "gui": grading.gui}
        config["libraries"] = list(grading.libraries)
        name = display.name if display else ""
        process = Process(setup, sandbox.protection, config, self._user, name)
        if folder is not None:
            self._folders[process] = folder
        process.wait_until_up()
        self._bases[kind] = process
        if hasattr(os, "fork"):
            self._copies.add(process)
        return process

    def _drop(self, process: Process) -> None:
        """End a process for good."""
        process.close()
        self._bases = {kind: base for kind, base in self._bases.items() if base is not process}
        self._copies.discard(process)
        if self._current is process:
            self._current = None
        folder = self._folders.pop(process, None)
        if folder is not None:
            clear(folder)

    def kill(self) -> None:
        """End everything from another thread; who waits for an answer is told that it died."""
        for process in list(self._bases.values()):
            process.kill()

    def close(self) -> None:
        """End all processes of the program and remove their folders."""
        for process in list(self._bases.values()):
            self._drop(process)

    def end(self) -> None:
        """Close, for the last time, the display too."""
        self.close()
        self._close_display()
        self.sandbox.live.discard(self)


def _slowness() -> float:
    """How many programs share a processor here: on a busy machine everything takes longer."""
    return min(SLOWEST, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


def _code(status: int) -> int:
    """A wait status as an exit code, negative for a signal."""
    try:
        return os.waitstatus_to_exitcode(status)
    except ValueError:
        return -int(signal.SIGKILL)


def _scratch(folder: Path) -> Path:
    """A scratch copy of a prepared submission, on this machine's disk."""
    scratch = Path(tempfile.mkdtemp(prefix="py2048-scratch-"))
    shutil.copytree(folder, scratch, dirs_exist_ok=True)
    return scratch


def _given_folder(grading: Grading, work: Workspace) -> Path | None:
    """The folder of given files beside the prepared submission, made once."""
    if not grading.given_files:
        return None
    folder = work.folder.with_name(work.folder.name + "-given")
    if not folder.exists():
        folder.mkdir()
        folder.chmod(0o755)
        for path in grading.given_files:
            (folder / path.name).write_bytes(path.read_bytes())
    return folder
