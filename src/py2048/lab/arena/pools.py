"""Worker pools on this machine: the current process, or several processes."""

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

MAX_DEATHS = 3
"""Number of dead workers after which a job fails."""


class Pool(Protocol):
    """Workers that run jobs in any order."""

    @property
    def width(self) -> int:
        """Number of jobs that keeps all workers busy, which may change."""

    @property
    def place(self) -> str:
        """Where games are played, such as "in 4 processes"."""

    def submit(self, job: Job) -> None:
        """Queue a job."""

    def take(self) -> tuple[Job, JobResult]:
        """Wait for a job to finish; return it with its result.

        Raises:
            Py2048Error: If the job failed.
        """

    def close(self) -> None:
        """Stop all workers immediately."""


class SerialPool:
    """Runs jobs one after the other in the current process."""

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
        """Drop queued jobs."""
        self._waiting.clear()


class ProcessPool:
    """Processes on this machine. A process that dies is replaced and its job is retried.

    Args:
        width: Number of processes.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.place = f"in {width} processes"
        self._waiting: deque[Job] = deque()
        self._workers = [_JobProcess() for _ in range(width)]
        self._deaths: Counter[Job] = Counter()

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._waiting.append(job)
        self._dispatch()

    def take(self) -> tuple[Job, JobResult]:
        """Wait for a job to finish; return it with its result."""
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
            self._dispatch()
            if isinstance(answer, Py2048Error):
                raise answer
            return job, answer

    def close(self) -> None:
        """Kill the processes."""
        for worker in self._workers:
            worker.kill()

    def _dispatch(self) -> None:
        for worker in self._workers:
            if worker.job is None and self._waiting:
                worker.send(self._waiting.popleft())

    def _replace(self, worker: _JobProcess, job: Job) -> None:
        """Replace a dead process and requeue its job, unless it failed too often."""
        worker.kill()
        self._workers[self._workers.index(worker)] = _JobProcess()
        self._deaths[job] += 1
        if self._deaths[job] >= MAX_DEATHS:
            raise worker_death(
                job, f"{MAX_DEATHS} processes in turn; the last one {worker.exit_reason}"
            )
        self._waiting.appendleft(job)
        self._dispatch()


def worker_death(job: Job, how: str) -> PlayerError:
    """Return the error for a job whose workers died."""
    games = ", ".join(map(str, job.games))
    return PlayerError(f"player {job.player!r} ended its process in game {games}: {how}")


class _JobProcess:
    """A process that runs jobs, with a pipe to it."""

    def __init__(self) -> None:
        # Forking would copy locks held by other threads.
        context = multiprocessing.get_context("spawn")
        self.pipe, there = context.Pipe()
        self.job: Job | None = None
        self._process = context.Process(target=_work, args=(there,), daemon=True)
        with _interrupts_blocked():  # also during its imports
            self._process.start()
        there.close()

    def send(self, job: Job) -> None:
        """Send a job. If the process is dead, `ProcessPool.take` will notice."""
        self.job = job
        with suppress(OSError):
            self.pipe.send(job)

    def kill(self) -> None:
        """Kill the process and wait for its end."""
        self._process.kill()
        self._process.join()
        self.pipe.close()

    @property
    def exit_reason(self) -> str:
        """How the process ended."""
        code = self._process.exitcode or 0
        return f"was ended by signal {-code}" if code < 0 else f"exited with status {code}"


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C in processes started within the block."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(pipe: Connection) -> None:
    """Run jobs from the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    with suppress(EOFError, OSError):
        while True:
            try:
                answer: JobResult | Py2048Error = run_job(pipe.recv())
            except Py2048Error as error:
                answer = error
            pipe.send(answer)


def local_pool(jobs: int | None = None) -> Pool:
    """Create a pool with `jobs` workers, by default one per processor."""
    count = jobs or available_threads()
    return SerialPool() if count == 1 else ProcessPool(count)
