"""Low-priority worker processes, so that computations do not delay moves."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import time
from collections.abc import Callable
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, cast

from py2048.core.language import language, use_language
from py2048.server.bounds import MAX_WORKER_BYTES

NICENESS = 5
TIMEOUT_S = 60.0


class Outcome(NamedTuple):
    """The result or exception of a call, with the processor time and the memory of its process."""

    result: Any
    error: Exception | None
    seconds: float
    peak_bytes: int = 0

    def value(self) -> Any:
        """Return the result, or raise the error."""
        if self.error:
            raise self.error
        return self.result


def timed(call: Callable[..., Any], *args: object) -> Outcome:
    """Run a call and measure its processor time."""
    began, result, error = time.thread_time(), None, None
    try:
        result = call(*args)
    except Exception as raised:  # noqa: BLE001 - the caller reports it
        error = raised
    except SystemExit as raised:
        error = RuntimeError(repr(raised))
    return Outcome(result, error, time.thread_time() - began)


class Worker:
    """A process that runs one call at a time. Its methods block.

    If a process dies or exceeds its time limit, only its current call fails, and the next call
    starts a new process. A process that has exceeded its memory limit is replaced after its call.
    """

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._pipe: Connection[Any, Any] | None = None
        self._is_closed = False
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload(["py2048.server.app", "py2048.app.storage.store"])
        forkserver.ensure_running()  # started early, because the server's imports take seconds

    def run(self, call: Callable[..., object], *args: object) -> Outcome:
        """Run a call that reports no progress.

        Raises:
            EOFError, OSError: If the process died.
        """
        self.start(TIMEOUT_S, call, *args)
        return cast("Outcome", self.receive())

    def start(self, timeout_s: float, call: Callable[..., Any], *args: object) -> None:
        """Send a call to the process.

        Raises:
            EOFError: If the worker has been closed.
        """
        if not (self._is_closed or (self._process and self._process.is_alive())):
            self.stop()
            self._pipe, theirs = self._context.Pipe()
            process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            self._process = process
            theirs.close()
        if self._is_closed:  # perhaps while the process started
            self.stop()
            raise EOFError
        assert self._pipe is not None
        self._pipe.send((language(), timeout_s, call, args))

    def receive(self, wait_s: float | None = None) -> Outcome | int | None:
        """Return the outcome, a progress value, or None if neither arrives within `wait_s` seconds.

        Raises:
            EOFError, OSError: If the process died.
        """
        assert self._pipe is not None
        try:
            found = self._pipe.recv() if self._pipe.poll(wait_s) else None
        except (EOFError, OSError):
            self.stop()
            raise
        if isinstance(found, Outcome) and found.peak_bytes > MAX_WORKER_BYTES:
            self.stop()
        return found

    def stop(self) -> None:
        """End the process, even if it is running a call."""
        if self._process is not None:
            self._process.kill()
            self._process.join()

    def close(self) -> None:
        """End the process permanently."""
        self._is_closed = True
        self.stop()


# In the worker

_servers: list[Connection[Any, Any]] = []


def report(progress: int) -> None:
    """Send the progress of the current call to the server."""
    _servers[0].send(progress)


def _serve(server: Connection[Any, Any]) -> None:
    _servers.append(server)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the server's log is JSON
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    while True:  # until the server ends
        spoken, timeout_s, call, args = server.recv()
        faulthandler.dump_traceback_later(timeout_s, exit=True)
        with use_language(spoken):
            outcome = timed(call, *args)
        faulthandler.cancel_dump_traceback_later()
        peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        try:
            server.send(outcome._replace(peak_bytes=peak_bytes))
        except Exception as error:  # noqa: BLE001 - the outcome cannot be pickled
            server.send(Outcome(None, RuntimeError(repr(error)), outcome.seconds, peak_bytes))
