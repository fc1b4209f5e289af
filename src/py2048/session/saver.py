"""`Saver`: a thread that does what has to be written, again and again until it succeeds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from time import monotonic

from py2048.errors import StorageError

RETRY = 0.5
"""Seconds between two attempts, unless more work comes."""

Job = Callable[[], object]


class Saver:
    """Does jobs in the order in which they came, the latest for each key, each until it succeeds.

    The thread is a daemon: quitting never waits for a store that does not answer.

    Args:
        name: the store's name, for the player.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: dict[Hashable, Job] = {}
        self._changed = threading.Condition()
        self._reason = ""
        self._is_late = self._is_closed = False
        self._patience = 0.0
        self._thread: threading.Thread | None = None

    @property
    def trouble(self) -> str:
        """Why something waits longer than anybody would for it, in one line; empty if nothing."""
        with self._changed:
            if not (self._jobs and self._is_late):
                return ""
            return self._reason or f"{self._name} does not answer yet"

    def unfinished(self) -> list[Hashable]:
        """Return the keys of the jobs that are not done."""
        with self._changed:
            return list(self._jobs)

    def put(self, key: Hashable, job: Job) -> None:
        """Do `job` soon, instead of the one with the same key that is not done.

        Raises:
            StorageError: if the saver is closed.
        """
        with self._changed:
            if self._is_closed:
                raise StorageError(f"the store {self._name} is closed; open it again")
            self._jobs.pop(key, None)  # the latest change comes last
            self._jobs[key] = job
            self._changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="py2048-saver", daemon=True)
            self._thread.start()

    def wait(self, patience: float) -> None:
        """Wait until all is done; no longer once something takes more than `patience` seconds."""
        with self._changed:
            self._patience = patience
            if not self._changed.wait_for(lambda: self._is_late or not self._jobs, patience):
                self._is_late = True

    def close(self, patience: float) -> None:
        """Do what can be done, then end.

        Args:
            patience: seconds to wait where something is known to be wrong with the store; one
                that is only slow, because the machine is busy, has five times as long.

        Raises:
            StorageError: if that is not all; what is left is given up.
        """
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            seconds = patience if self._is_late else 5 * patience
            is_done = self._changed.wait_for(lambda: not self._jobs, seconds)
            self._jobs.clear()
        if not is_done:
            reason = self._reason or f"{self._name} does not answer"
            raise StorageError(f"the last changes are not saved: {reason}")

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._jobs or self._is_closed)
                jobs = list(self._jobs.items())
            if not jobs:
                return
            began = monotonic()
            failures = [reason for key, job in jobs if (reason := self._do(key, job))]
            with self._changed:
                self._reason = failures[0] if failures else ""
                # Jobs that came meanwhile are not late if the store is quick again.
                is_slow = self._is_late and monotonic() - began > self._patience
                self._is_late = bool(self._jobs) and (bool(failures) or is_slow)
                self._changed.notify_all()
                if failures:
                    self._changed.wait(RETRY)

    def _do(self, key: Hashable, job: Job) -> str:
        """Do a job; return why that failed, or an empty text."""
        try:
            job()
        except Exception as error:  # noqa: BLE001 - a fault of ours must not end saving unseen
            return str(error) or type(error).__name__
        with self._changed:
            if self._jobs.get(key) is job:
                del self._jobs[key]
        return ""
