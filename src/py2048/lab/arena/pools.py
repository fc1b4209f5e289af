"""Pools of workers on this machine, in the current process or in several processes."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from py2048.core.errors import PlayerError, Py2048Error
from py2048.engine.jit import available_threads
from py2048.lab.arena.jobs import Job, JobResult, run_job

MAX_DEATHS = 3
"""A job fails after this many of its worker processes have died."""


NextJob = Callable[[], Job | None]
"""A function that returns the next job to run, or None if there is no job at the moment."""


class Pool(Protocol):
    """Workers that run jobs in any order."""

    @property
    def width(self) -> int:
        """Number of jobs that keep all workers busy. The number may change."""

    @property
    def place(self) -> str:
        """Description of where games are played, such as "in 4 processes"."""

    def run_jobs(self, next_job: NextJob) -> Iterator[tuple[Job, JobResult]]:
        """Run jobs until there are none left; yield each finished job with its result.

        Raises:
            Py2048Error: If a job fails. The error is raised immediately.
        """

    def close(self) -> None:
        """Stop all workers immediately."""


class SerialPool:
    """Runs jobs one after the other in the current process."""

    width = 1
    place = "in one process"

    def run_jobs(self, next_job: NextJob) -> Iterator[tuple[Job, JobResult]]:
        """Run jobs until there are none left."""
        while job := next_job():
            yield job, run_job(job)

    def close(self) -> None:
        """Do nothing, because all jobs run in the calling thread."""


class ProcessPool:
    """Processes on this machine. A process that dies is replaced, and its job is retried.

    Args:
        width: Number of processes.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.place = f"in {width} processes"
        self._workers = [_JobProcess() for _ in range(width)]
        self._deaths: Counter[Job] = Counter()

    def run_jobs(self, next_job: NextJob) -> Iterator[tuple[Job, JobResult]]:
        """Run jobs until there are none left."""
        while True:
            for worker in self._workers:
                if worker.job is None and (job := next_job()):
                    worker.send(job)
            busy: dict[Any, _JobProcess] = {
                worker.pipe: worker for worker in self._workers if worker.job
            }
            if not busy:
                return
            worker = busy[wait(busy)[0]]
            assert worker.job is not None, "it is busy"
            try:
                answer: JobResult | Py2048Error = worker.pipe.recv()
            except (EOFError, OSError):
                self._replace(worker, worker.job)
                continue
            job, worker.job = worker.job, None
            if isinstance(answer, Py2048Error):
                raise answer
            yield job, answer

    def close(self) -> None:
        """Kill the processes."""
        for worker in self._workers:
            worker.kill()

    def _replace(self, worker: _JobProcess, job: Job) -> None:
        """Replace a dead process and retry its job, unless the job has failed too often."""
        worker.kill()
        self._deaths[job] += 1
        if self._deaths[job] >= MAX_DEATHS:
            raise worker_death(
                job, f"{MAX_DEATHS} processes in turn; the last one {worker.exit_reason}"
            )
        new = self._workers[self._workers.index(worker)] = _JobProcess()
        new.send(job)


def worker_death(job: Job, how: str) -> PlayerError:
    """Return the error for a job whose worker processes died."""
    games = ", ".join(map(str, job.games))
    return PlayerError(f"player {job.player!r} ended its process in game {games}: {how}")


class _JobProcess:
    """A process that runs jobs, and the pipe to the process."""

    def __init__(self) -> None:
        # A fork would copy locks that other threads hold.
        context = multiprocessing.get_context("spawn")
        self.pipe, there = context.Pipe()
        self.job: Job | None = None
        self._process = context.Process(target=_work, args=(there,), daemon=True)
        with _interrupts_blocked():  # also during its imports
            self._process.start()
        there.close()

    def send(self, job: Job) -> None:
        """Send a job. If the process is dead, the next attempt to read a result raises an error."""
        self.job = job
        with suppress(OSError):
            self.pipe.send(job)

    def kill(self) -> None:
        """Kill the process and wait until it has ended."""
        self._process.kill()
        self._process.join()
        self.pipe.close()

    @property
    def exit_reason(self) -> str:
        """Description of how the process ended."""
        code = self._process.exitcode or 0
        return f"was ended by signal {-code}" if code < 0 else f"exited with status {code}"


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C in processes that are started within the ``with`` block."""
    if sys.platform == "win32":
        yield
        return
    # Starting the first process would also start the resource tracker, which unblocks Ctrl-C.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(pipe: Connection) -> None:
    """Run jobs from the pipe, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    with suppress(EOFError, OSError):
        while True:
            try:
                answer: JobResult | Py2048Error = run_job(pipe.recv())
            except Py2048Error as error:
                answer = error
            pipe.send(answer)


def local_pool(jobs: int | None = None) -> Pool:
    """Create a pool of `jobs` workers, by default one per processor."""
    count = jobs or available_threads()
    return SerialPool() if count == 1 else ProcessPool(count)
