"""`RayPool`: a Ray cluster runs the jobs of a tournament.

The machines of the cluster need what the players need, too: plugins, and weights under the same
paths. Since a game depends on its seed alone, one that is played again has the same result.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from py2048.arena.jobs import Job, JobResult, try_job
from py2048.arena.pools import died
from py2048.arena.ray_cluster import RETRIES, RayCluster, check_version
from py2048.errors import PlayerError, Py2048Error, TournamentError


class RayPool(RayCluster):
    """The processors of a Ray cluster.

    Raises:
        MissingExtraError: if Ray is not installed.
        TournamentError: if there is no cluster at the address.
    """

    compiling = None
    """The progress of compilers on a cluster is unknown."""

    def __init__(self, address: str) -> None:
        super().__init__(address, TournamentError)
        self._do = self._remote(_run_there)
        self._jobs: dict[Any, Job] = {}

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
        super().close()


def _run_there(job: Job, wanted: str) -> JobResult | Py2048Error:
    """Run a job on a machine of the cluster."""
    return check_version(wanted, PlayerError) or try_job(job)
