"""Computing the reviews that are asked for: a few at a time, beside the server.

Each review is computed in a process of its own at low priority, `review_process`, so no move of a
player waits for one, whatever the game and however long kernels take to compile.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from py2048.errors import StorageError
from py2048.server.http.metrics import Metrics
from py2048.server.site.reviews import VERSION
from py2048.storage import ReviewClaim
from py2048.storage.values import utc_text

if TYPE_CHECKING:
    from py2048.storage import Store

_log = logging.getLogger("py2048.web")
COMMAND = (sys.executable, "-P", "-m", "py2048.server.site.review_process")
"""Computes a review; ``-P`` imports nothing from the current folder."""

_LEASE = timedelta(seconds=20)
"""A process that says nothing for so long has died, and another one begins its review anew."""

_POLL = 5.0
"""Seconds between two looks for requests that came to other processes."""

_MOST_ATTEMPTS = 3
_PATIENCE = 600.0
"""Seconds that a review may take."""

_UNFINISHED = "the server could not finish it"
_MOST_SAID = 2000


class ReviewWorkers:
    """The threads that work through the queue, each with a process for the review at hand.

    Args:
        workers: how many reviews at a time; none are computed here if that is 0.
        metrics: counts them.

    Attributes:
        backlog: how many reviews wait or are being computed, as last seen.
        asked: the games whose reviews each address asked for.
    """

    def __init__(self, workers: int, metrics: Metrics) -> None:
        self._workers = workers
        self._metrics = metrics
        self.backlog = 0
        self.asked: dict[str, set[str]] = {}
        self._wanted = threading.Semaphore(0)
        self._is_closed = False
        self._processes: set[subprocess.Popen[str]] = set()
        self._threads: list[threading.Thread] = []

    def start(self, store: Store) -> None:
        """Begin to work through the queue of a store."""
        for number in range(self._workers):
            name = f"py2048-review-{number}"
            thread = threading.Thread(target=self._run, args=(store,), name=name, daemon=True)
            thread.start()
            self._threads.append(thread)

    def wake(self) -> None:
        """Look for a request now."""
        self._wanted.release()

    def close(self) -> None:
        """Stop; what is being computed goes back to the queue."""
        self._is_closed = True
        for _ in self._threads:
            self._wanted.release()
        for process in tuple(self._processes):
            process.kill()
        for thread in self._threads:
            thread.join()

    def _run(self, store: Store) -> None:
        while not self._is_closed:
            try:
                self.backlog = store.reviews.pending()
                claim = store.reviews.claim(VERSION, utc_text(datetime.now(UTC) - _LEASE))
                if claim is not None:
                    self._review(store, claim)
                    continue
            except (StorageError, OSError) as error:  # the claim ends, and others may try
                _log.warning("cannot review games", extra={"fault": str(error)})
            self._wanted.acquire(timeout=_POLL)

    def _review(self, store: Store, claim: ReviewClaim) -> None:
        """Compute a claimed review and keep it, or why there is none."""
        last: dict[str, Any] = {}
        if claim.attempt <= _MOST_ATTEMPTS:
            last = self._computed(store, claim)
        if self._is_closed:
            store.reviews.release(claim)
            return
        fault = last.get("fault") or (None if "summary" in last else _UNFINISHED)
        if not store.reviews.finish(claim, last.get("summary"), last.get("moves"), fault):
            return  # another process has taken it over
        if fault:
            _log.warning("no review", extra={"game": claim.game_id, "fault": fault})
            self._metrics.failed_reviews.inc()
        else:
            self._metrics.reviews.inc()

    def _computed(self, store: Store, claim: ReviewClaim) -> dict[str, Any]:
        """Return what the process says last, renewing the claim while it computes."""
        last: dict[str, Any] = {}
        record = json.dumps(store.records.load(claim.game_id))
        with TemporaryFile() as errors:
            try:
                with self._process(errors) as (stdin, stdout):
                    # Its input stays open: when this process dies, the other one notices.
                    print(record, file=stdin, flush=True)
                    for line in stdout:
                        last = json.loads(line)
                        self.backlog = store.reviews.pending()
                        if not store.reviews.renew(claim, last.get("done", 0)) or self._is_closed:
                            break
            except (BrokenPipeError, json.JSONDecodeError):
                pass  # it was killed in the middle of a word
            errors.seek(0)
            if said := errors.read().decode(errors="replace")[-_MOST_SAID:]:
                _log.warning("a review said", extra={"game": claim.game_id, "text": said})
        return last

    @contextmanager
    def _process(self, errors: IO[bytes]) -> Iterator[tuple[IO[str], IO[str]]]:
        """Start a process for a review, and end it with the block or when it takes too long."""
        with subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            text=True, encoding="utf-8",
        ) as process:  # fmt: skip
            self._processes.add(process)
            watchdog = threading.Timer(_PATIENCE, process.kill)
            watchdog.start()
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                yield process.stdin, process.stdout
            finally:
                watchdog.cancel()
                process.kill()
                self._processes.discard(process)
