"""`RayPool`: a Ray cluster runs the jobs of a tournament.

The machines of the cluster need the same py2048 as this one, and what the players need: plugins,
and weights under the same paths. A job whose process or machine is lost is run again elsewhere;
since a game depends on its seed alone, the results are the same.
"""

from __future__ import annotations

import socket
from importlib.metadata import version
from typing import Any

from py2048.arena.jobs import Job, JobResult, try_job
from py2048.arena.pools import died
from py2048.errors import MissingExtraError, PlayerError, Py2048Error, TournamentError

RETRIES = 5
"""How often a job is run again after its process or machine was lost."""

ANSWER_SECONDS = 10.0
"""How long the head of a cluster may take to answer."""


class RayPool:
    """The processors of a Ray cluster.

    Args:
        address: ``auto`` for the cluster that this machine belongs to, or the address of its head,
            such as ``10.0.0.1:6379``.

    Raises:
        MissingExtraError: if Ray is not installed.
        TournamentError: if there is no cluster at the address.
    """

    compiling = None
    """The progress of compilers on a cluster is unknown."""

    def __init__(self, address: str) -> None:
        self._ray = ray = _ray()
        self._owner = not ray.is_initialized()
        if self._owner:
            _connect(ray, address)
        self._do = ray.remote(num_cpus=1, max_retries=RETRIES)(_run_there)
        self._jobs: dict[Any, Job] = {}

    @property
    def width(self) -> int:
        """Two jobs for each processor of the cluster, as it is now: one runs, one waits."""
        return 2 * max(self._processors, 1)

    @property
    def place(self) -> str:
        """The present size of the cluster."""
        nodes = sum(bool(node["Alive"]) for node in self._ray.nodes())
        return f"on {_counted(nodes, 'node')} with {_counted(self._processors, 'processor')}"

    @property
    def _processors(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 0))

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._jobs[self._do.remote(job, version("py2048"))] = job

    def take(self) -> tuple[Job, JobResult]:
        """Wait for a job to finish; return it and its result."""
        (ready,), _ = self._ray.wait(list(self._jobs), num_returns=1)
        job = self._jobs.pop(ready)
        try:
            answer: JobResult | Py2048Error = self._ray.get(ready)
        except self._ray.exceptions.RayError as error:
            reason = str(error).partition("\n")[0]
            raise died(job, f"{RETRIES + 1} times; {reason}") from None
        if isinstance(answer, Py2048Error):
            raise answer
        return job, answer

    def close(self) -> None:
        """Cancel unfinished jobs, and leave the cluster."""
        for future in self._jobs:
            self._ray.cancel(future, force=True)
        self._jobs.clear()
        if self._owner:
            self._ray.shutdown()


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtraError("clusters are run by Ray: pip install 'py2048[cluster]'") from None
    return ray


def _connect(ray: Any, address: str) -> None:
    try:
        if address != "auto":
            _check_reachable(address)
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0].partition(". ")[0]
        raise TournamentError(
            f"no Ray cluster at {address!r}: {reason} (ray start --head begins one)"
        ) from None


def _check_reachable(address: str) -> None:
    """Raise an error if an address does not answer; Ray itself would try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not (host and port.isdecimal()):
        raise ValueError("write it as auto or host:port")
    socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_SECONDS).close()


def _run_there(job: Job, wanted: str) -> JobResult | Py2048Error:
    """Run a job on a machine of the cluster."""
    if version("py2048") != wanted:
        return PlayerError(
            f"a machine of the cluster has py2048 {version('py2048')}, this one {wanted}: "
            "install the same on all"
        )
    return try_job(job)
