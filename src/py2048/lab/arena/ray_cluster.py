"""Ray clusters, which run the jobs of a tournament or the tasks of a solver.

All machines need the same version of py2048 and the same plugins. Weights files must have the same
paths on all machines. Tasks are retried if their process or machine is lost. Retries do not change
results, because a game depends only on its seed.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

from py2048.core.errors import Py2048Error, TournamentError, extra_for
from py2048.lab.arena.jobs import Job, JobResult, run_job
from py2048.lab.arena.pools import NextJob, worker_death

RETRIES = 5
"""Number of retries for a task whose process or machine was lost."""

ANSWER_TIMEOUT_S = 10.0


class RayCluster:
    """Runs tournament jobs and solver tasks on a Ray cluster (see `Pool` and `Workers`).

    Args:
        address: ``auto`` for the cluster of this machine, or the address of the head node, such as
            ``10.0.0.1:6379``.
        error: Type of the error to raise if there is no cluster at the address, or if a task is
            lost too often.

    Raises:
        MissingExtraError: If Ray is not installed.
    """

    def __init__(self, address: str, error: type[Py2048Error] = TournamentError) -> None:
        with extra_for("a cluster", "cluster"):
            import ray
        self._ray: Any = ray
        self._error = error
        self._jobs: dict[Any, Job] = {}
        self._owner = not ray.is_initialized()
        if self._owner:
            _connect(ray, address, error)
        self._do = self._ray.remote(num_cpus=1, max_retries=RETRIES)(run_there)

    @property
    def width(self) -> int:
        """Twice the current number of processors, so that a task is waiting for each processor."""
        return 2 * max(self._processors, 1)

    @property
    def place(self) -> str:
        """The current size of the cluster as text."""
        nodes = sum(bool(node["Alive"]) for node in self._ray.nodes())
        return f"on {_counted(nodes, 'node')} with {_counted(self._processors, 'processor')}"

    @property
    def _processors(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 0))

    def run_jobs(self, next_job: NextJob) -> Iterator[tuple[Job, JobResult]]:
        """Run jobs until there are none left; yield each finished job with its result."""
        while True:
            while len(self._jobs) < self.width and (job := next_job()):
                self._jobs[self._do.remote(partial(run_job, job), version("py2048"))] = job
            if not self._jobs:
                return
            (ready,), _ = self._ray.wait(list(self._jobs), num_returns=1)
            job = self._jobs.pop(ready)
            yield job, self._answer(ready, partial(worker_death, job))

    def run(self, tasks: Sequence[Callable[[], Any]]) -> list[Any]:
        """Run tasks and return their results.

        Raises:
            Py2048Error: If a task raises this error, or its process is lost too often.
        """
        waiting = [self._do.remote(task, version("py2048")) for task in tasks]
        return [self._answer(each, self._task_death) for each in waiting]

    def _task_death(self, how: str) -> Py2048Error:
        return self._error(f"a task ended its process {how}")

    def _answer(self, future: Any, death: Callable[[str], Py2048Error]) -> Any:
        try:
            answer = self._ray.get(future)
        except self._ray.exceptions.RayError as error:
            reason = str(error).partition("\n")[0]
            raise death(f"{RETRIES + 1} times; {reason}") from None
        if isinstance(answer, Py2048Error):
            raise answer
        return answer

    def close(self) -> None:
        """Cancel unfinished jobs and disconnect."""
        for future in self._jobs:
            self._ray.cancel(future, force=True)
        self._jobs.clear()
        if self._owner:
            self._ray.shutdown()


def run_there(task: Callable[[], Any], wanted: str) -> Any:
    """Run a task on a machine of the cluster, returning a `Py2048Error` instead of raising it."""
    if (present := version("py2048")) != wanted:
        return Py2048Error(
            f"a machine of the cluster has py2048 {present}, this one {wanted}: install the same "
            "version on all"
        )
    try:
        return task()
    except Py2048Error as error:
        return error


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _connect(ray: Any, address: str, kind: type[Py2048Error]) -> None:
    try:
        if address != "auto":
            _check_reachable(address)
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0].partition(". ")[0]
        raise kind(
            f"no Ray cluster at {address!r}: {reason} (ray start --head begins one)"
        ) from None


def _check_reachable(address: str) -> None:
    """Raise an error if an address does not respond, because Ray itself would retry for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not (host and port.isdecimal()):
        raise ValueError("write it as auto or host:port")
    socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_TIMEOUT_S).close()
