"""Pools of workers on this machine: this process, or several."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Protocol

from py2048.core.errors import PlayerError, Py2048Error
from py2048.engine.jit import available_threads
from py2048.lab.arena.jobs import Job, JobResult, run_job

DEATHS = 3
"""After this many dead workers a job counts as failed."""


class Pool(Protocol):
    """Workers that run jobs, in any order."""

    @property
    def width(self) -> int:
        """The number of jobs that keeps all workers busy; it may change."""

    @property
    def place(self) -> str:
        """Where the games are played, such as "in 4 processes"."""

    def submit(self, job: Job) -> None:
        """Queue a job."""

    def take(self) -> tuple[Job, JobResult]:
        """Wait for a job to finish; return it and its result.

        Raises:
            Py2048Error: if the job failed.
        """

    def close(self) -> None:
        """Stop the workers at once."""


class SerialPool:
    """This process runs the jobs, one after another."""

    width = 1
    place = "in one process"

    def __init__(self) -> None:
        self._waiting: deque[Job] = deque()

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._waiting.append(job)

    def take(self) -> tuple[Job, JobResult]:
        """Run the oldest job."""
        job = self._waiting.popleft()
        return job, run_job(job)

    def close(self) -> None:
        """Drop the queued jobs."""
        self._waiting.clear()


class ProcessPool:
    """Processes on this machine. One that dies is replaced, and its job is run again.

    Args:
        width: the number of processes.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.place = f"in {width} processes"
        self._waiting: deque[Job] = deque()
        self._workers = [_Worker() for _ in range(width)]
        self._deaths: Counter[Job] = Counter()

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._waiting.append(job)
        self._give_out()

    def take(self) -> tuple[Job, JobResult]:
        """Wait for a job to finish; return it and its result."""
        while True:
            busy = [worker for worker in self._workers if worker.job]
            ready = wait([worker.pipe for worker in busy])
            worker = next(worker for worker in busy if worker.pipe in ready)
            job, worker.job = worker.job, None
            assert job is not None, "it is busy"
            try:
                answer: JobResult | Py2048Error = worker.pipe.recv()
            except (EOFError, OSError):
                self._replace(worker, job)
                continue
            self._give_out()
            if isinstance(answer, Py2048Error):
                raise answer
            return job, answer

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.end()

    def _give_out(self) -> None:
        for worker in self._workers:
            if worker.job is None and self._waiting:
                worker.give(self._waiting.popleft())

    def _replace(self, worker: _Worker, job: Job) -> None:
        """Replace a process that died, and queue its job again unless it has failed too often."""
        worker.end()
        self._workers[self._workers.index(worker)] = _Worker()
        self._deaths[job] += 1
        if self._deaths[job] >= DEATHS:
            raise died(job, f"{DEATHS} processes in turn; the last one {worker.last_words}")
        self._waiting.appendleft(job)
        self._give_out()


def died(job: Job, how: str) -> PlayerError:
    """Return the error for a job whose workers died."""
    games = ", ".join(map(str, job.games))
    return PlayerError(f"player {job.player!r} ended its process in game {games}: {how}")


class _Worker:
    """A process that runs jobs, and the pipe to it."""

    def __init__(self) -> None:
        # Not forked: that would copy the locks of threads and compiled code in use.
        context = multiprocessing.get_context("spawn")
        self.pipe, there = context.Pipe()
        self.job: Job | None = None
        self._process = context.Process(target=_work, args=(there,), daemon=True)
        with _deaf_to_ctrl_c():  # also while it imports what it needs
            self._process.start()
        there.close()

    def give(self, job: Job) -> None:
        """Send a job. `ProcessPool.take` notices a process that has died."""
        self.job = job
        with suppress(OSError):
            self.pipe.send(job)

    def end(self) -> None:
        """Kill the process and wait for its end."""
        self._process.kill()
        self._process.join()
        self.pipe.close()

    @property
    def last_words(self) -> str:
        """How the process ended."""
        code = self._process.exitcode or 0
        return f"was ended by signal {-code}" if code < 0 else f"exited with status {code}"


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Have processes that are started not hear of Ctrl-C; this one hears of it afterwards."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(pipe: Connection) -> None:
    """Run the jobs that come through the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the first process answers Ctrl-C
    with suppress(EOFError, OSError):
        while True:
            try:
                answer: JobResult | Py2048Error = run_job(pipe.recv())
            except Py2048Error as error:
                answer = error
            pipe.send(answer)


def local_pool(jobs: int | None = None) -> Pool:
    """Return a pool of `jobs` workers on this machine; by default one for each processor."""
    count = jobs or available_threads()
    return SerialPool() if count == 1 else ProcessPool(count)
