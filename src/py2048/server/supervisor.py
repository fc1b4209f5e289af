"""Several workers: started, watched, replaced and stopped together.

They are forked from a process that has loaded everything and does nothing else, so a new one
serves at once.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from py2048.server.worker import Mailbox, Worker, WorkerStatus

_log = logging.getLogger("py2048.web")
_TICK = 1.0
_GRACE = 55.0
"""Seconds that workers have to stop: longer than they need to write what waits."""

_SHORT_LIFE = 5.0
"""A worker that dies sooner is replaced with a delay, which grows."""

_LONGEST_DELAY = 10.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)

Serve = Callable[[socket.socket, Worker], None]
"""Serves in a worker's process until SIGTERM."""


@dataclass
class _Child:
    pid: int
    started: float


class Supervisor:
    """Starts workers and keeps them running until SIGINT or SIGTERM.

    Args:
        listen: returns the listening socket of a worker.
        serve: what a worker does.
        workers: how many there are.
        patience: seconds after which a worker without a sign of life is killed.
    """

    def __init__(
        self, listen: Callable[[int], socket.socket], serve: Serve, workers: int, patience: float
    ) -> None:
        self._listen = listen
        self._serve = serve
        self._patience = patience
        self._statuses = {number: WorkerStatus() for number in range(workers)}
        self._mailboxes = {number: Mailbox.make() for number in self._statuses}
        self._children: dict[int, _Child] = {}
        self._due = dict.fromkeys(self._statuses, 0.0)  # when to start those that do not run
        self._delay = dict.fromkeys(self._statuses, 0.0)
        self._is_stopping = False
        self._woken, self._wake = os.pipe()

    def start(self) -> None:
        """Start the workers; when this returns all of them listen."""
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)
        for number in _SIGNALS:
            signal.signal(number, self._on_signal)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        self._start_due()

    def run(self) -> None:
        """Supervise until asked to stop, then stop all workers."""
        while not self._is_stopping:
            self._sleep()
            self._reap()
            self._check_beats()
            self._start_due()
        self._stop()

    def _on_signal(self, number: int, _frame: object) -> None:
        if number != signal.SIGCHLD:
            self._is_stopping = True

    def _sleep(self) -> None:
        """Wait until something happens, for a second at the most."""
        select.select([self._woken], [], [], _TICK)
        with suppress(BlockingIOError):
            os.read(self._woken, 4096)

    # Starting

    def _start_due(self) -> None:
        now = time.monotonic()
        for number, due in tuple(self._due.items()):
            if due <= now and not self._is_stopping:
                try:
                    self._start(number)
                    del self._due[number]
                except OSError as error:  # no more memory, or files
                    self._due[number] = now + _LONGEST_DELAY
                    _log.error("a worker cannot be started", extra={"fault": str(error)})

    def _start(self, number: int) -> None:
        supervisor = os.getpid()
        self._statuses[number].write(b"")
        with self._listen(number) as listener:
            # A signal that comes now waits until the worker knows what it means.
            signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
            try:
                pid = os.fork()
                if pid == 0:
                    worker = Worker(number, supervisor, self._statuses, self._mailboxes)
                    self._become(worker, listener)
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        self._children[number] = _Child(pid, time.monotonic())

    def _become(self, worker: Worker, listener: socket.socket) -> None:
        """Be a worker, in its process, until it ends."""
        status = 1
        try:
            os.setpgid(0, 0)  # Ctrl+C goes to the supervisor alone
            signal.set_wakeup_fd(-1)
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            self._serve(listener, worker)
            status = 0
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else 1
        except Exception:  # noqa: BLE001 - whatever it is, this process ends here
            _log.exception("a worker failed")
        finally:
            os._exit(status)

    # Watching

    def _reap(self) -> None:
        """Note which workers have ended, and when to start them again."""
        for number, child in tuple(self._children.items()):
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if pid:
                del self._children[number]
                self._note_end(number, child, os.waitstatus_to_exitcode(status))

    def _note_end(self, number: int, child: _Child, status: int) -> None:
        if self._is_stopping:
            return
        now = time.monotonic()
        is_short = now - child.started < _SHORT_LIFE
        delay = min(2 * self._delay[number] or 0.5, _LONGEST_DELAY) if is_short else 0.0
        self._due[number], self._delay[number] = now + delay, delay
        what = {"number": number, "pid": child.pid, "status": status, "delay": delay}
        _log.error("a worker has ended and is replaced", extra=what)

    def _check_beats(self) -> None:
        """Kill the workers that give no sign of life: the rest of their players wait for them."""
        for number, child in self._children.items():
            if self._statuses[number].silence > self._patience:
                _log.error("a worker hangs and is killed", extra={"number": number})
                os.kill(child.pid, signal.SIGKILL)

    # Stopping

    def _stop(self) -> None:
        self._tell(signal.SIGTERM)
        until = time.monotonic() + _GRACE
        while self._children and time.monotonic() < until:
            self._sleep()
            self._reap()
        self._tell(signal.SIGKILL)

    def _tell(self, number: signal.Signals) -> None:
        for child in self._children.values():
            os.kill(child.pid, number)
