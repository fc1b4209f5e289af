"""Reviews of finished games: requests, the queue that computes them, and their texts.

The queue is in the store. Each review runs in its own low-priority process, so it does not delay
moves, however long the review or the compilation of kernels takes. A process that hangs or crashes
affects only its own review.

Reviews cannot be used as hints: a review needs a record, which only finished games have. Reviews of
a daily game are sealed until the secret of the day is revealed, even for its player, who could
otherwise use them to play the day again as a guest.
"""

from __future__ import annotations

import faulthandler
import fcntl
import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from py2048 import Direction, Record
from py2048.app.controller.review import badge_of, headline_of, why_better
from py2048.app.storage import OnlineGameInfo, RecordSummary
from py2048.app.storage.values import ReviewClaim, StoredReview, utc_text
from py2048.core import fairness
from py2048.core.errors import Py2048Error, StorageError
from py2048.players import Unit
from py2048.presentation.plots import graph
from py2048.review import Grade, MoveReview, Review, judge_for, reviewing
from py2048.review.mistakes import MistakeKind, mistake_kind
from py2048.server import schema
from py2048.server.http.limits import RateLimits
from py2048.server.http.monitoring import WORKERS_FOLDER, Metrics
from py2048.server.play.backend import Backend
from py2048.server.play.games import GameService, replayed
from py2048.server.play.messages import game_row
from py2048.server.settings import ServerSettings

if TYPE_CHECKING:
    from py2048.app.storage import Store

_log = logging.getLogger("py2048.web")

VERSION = "3"
"""Increase this when judges, grades or the summary change: older reviews are discarded."""

MAX_KEPT = 5_000  # Reviews in the store.
MAX_MOVES = 20_000  # Longer games are not reviewed.
MAX_PENDING = 200  # Length of the queue.
MAX_PENDING_EACH = 20  # Places in the queue per address.
MAX_MISTAKES = 40  # Mistakes listed with their boards.

NICENESS = 10
TIMEOUT_S = 600.0
_LEASE = timedelta(seconds=20)  # Others take over a claim that is older.
_POLL_S = 5.0  # Interval of polling for requests to other processes.
_RENEWAL_S = 0.5
_MAX_ATTEMPTS = 3
_MAX_ADDRESSES = 10_000
_SIGNIFICANT_DIGITS = 6
_UNFINISHED = "the server could not finish it"


# Requests


def _enqueue(games: GameService, game_id: str, requested: set[str], owner: str) -> None:
    """Put a review in the store's queue.

    Args:
        games: The game service.
        game_id: The game.
        requested: Games whose reviews the client's address requested; some may be done by now.
        owner: The player's account if only summary figures are requested; otherwise empty.
    """
    reviews, own = games.store.reviews, owner and ended_game(games, game_id)
    is_own = own and own[1].owner == owner
    plies = own[0].plies if own and is_own else _reviewable(games, game_id).plies
    if plies > MAX_MOVES:
        text = f"this game has {plies:,} moves: at most {MAX_MOVES:,} are reviewed"
        raise schema.ActionRejected("length", text)
    if reviews.pending() >= MAX_PENDING:
        raise schema.ActionRejected("busy", "too many games wait for a review: try again later")
    requested.intersection_update(reviews.waiting(requested))
    if len(requested - {game_id}) >= MAX_PENDING_EACH:
        text = "too many games from here wait for a review: try again later"
        raise schema.ActionRejected("busy", text)
    reviews.request(game_id, VERSION)
    requested.add(game_id)


def review_answer(
    games: GameService, game_id: str, first: int = 0, limit: int = 0
) -> schema.ReviewAnswer:
    """Return the state of a finished game's review, with some of its moves.

    Raises:
        ActionRejected: If the game does not exist (``unknown_game``) or is sealed (``sealed``).
    """
    with games.store.snapshot():
        record, review = _reviewable(games, game_id), games.store.reviews.find(game_id)
        state, summary = _figures(review)
        moves: Any = games.store.reviews.moves(game_id) if limit and summary else None
        ahead = games.store.reviews.pending(review.asked) if review and state == "waiting" else 0
    for each in summary.mistakes if summary else ():
        each.say = " ".join(_words(each, each.say))
    done, fault = (review.done, review.fault) if review else (0, None)
    return schema.ReviewAnswer(
        game_id, state, ahead, done, record.plies, fault, summary, first,
        [*map(_in_words, moves[first : first + limit])] if moves else [],
    )  # fmt: skip


def ended_game(games: GameService, game_id: str) -> tuple[schema.GameRow, OnlineGameInfo] | None:
    """Return a game that is over, including one whose end can still be undone."""
    found, info = games.find(game_id), games.store.online.info(game_id)
    return (game_row(found), info) if found and found.is_over and info else None


def figures_of(games: GameService, game_id: str) -> tuple[str, schema.ReviewSummary | None]:
    """Return the state of a game's review, and its summary once it is done.

    The caller must show the figures of a sealed game to its player only.
    """
    return _figures(games.store.reviews.find(game_id))


def _reviewable(games: GameService, game_id: str) -> RecordSummary:
    """Return the summary of a game that was finished on this server and is not sealed."""
    found, info = games.store.records.summary(game_id), games.store.online.info(game_id)
    if found is None or info is None:
        raise schema.ActionRejected("unknown_game", "there is no record of this game yet")
    if opens := fairness.sealed_until(info.day):
        raise schema.ActionRejected("sealed", f"the review of this game opens on {opens} (UTC)")
    return found


def _figures(review: StoredReview | None) -> tuple[str, schema.ReviewSummary | None]:
    """Return a review's state, and its summary if it is done."""
    if review is None or (review.finished and review.version != VERSION):
        return "none", None
    if review.finished is None:
        return "waiting" if review.claimed is None else "running", None
    if review.fault:
        return "failed", None
    return "done", msgspec.convert(review.summary, schema.ReviewSummary)


# The queue


Reviewer = Callable[[str, Callable[[int], None]], dict[str, object]]
"""Reviews the record; calls the second argument with the number of moves reviewed so far."""


class ReviewQueue:
    """Accepts requests for reviews, and computes them in threads with a process each.

    Args:
        settings: How the server is run.
        backend: The store.
        limits: Rate limits.
        metrics: Counts reviews.
        reviewer: Computes a review; must be picklable.

    Attributes:
        is_enabled: Whether this server reviews games.
        backlog: Reviews waiting or running when last checked.
    """

    def __init__(
        self, settings: ServerSettings, backend: Backend, limits: RateLimits, metrics: Metrics,
        reviewer: Reviewer | None = None,
    ) -> None:  # fmt: skip
        self.is_enabled = settings.reviews > 0
        self.backlog = 0
        self._backend, self._limits, self._metrics = backend, limits, metrics
        self._reviewer: Reviewer = reviewer or computed
        self._workers = settings.reviews if _claim_reviewing() else 0
        self._requested: dict[str, set[str]] = {}
        self._wanted = threading.Semaphore(0)
        self._is_closed = False
        self._threads: list[threading.Thread] = []

    async def request(
        self, game_id: str, account: str, address: str, *, for_figures: bool = False
    ) -> None:
        """Request the review of a finished game, unless it exists or is already queued.

        With `for_figures`, players may also request reviews of their own games that are sealed or
        can still be undone, because the summary figures reveal no moves.

        Raises:
            ActionRejected: If reviews are disabled (``off``), the game does not exist
                (``unknown_game``), is sealed (``sealed``) or too long (``length``), or too many
                reviews are requested or queued (``busy``).
        """
        if not self.is_enabled:
            raise schema.ActionRejected("off", "reviews are disabled on this server")
        self._limits.check(reviews=account, reviews_from=address)
        if len(self._requested) > _MAX_ADDRESSES:
            self._requested.clear()
        requested = self._requested.setdefault(address, set())
        await self._backend.do(_enqueue, game_id, requested, account if for_figures else "")
        self._wanted.release()

    def start(self, store: Store) -> None:
        """Start processing the queue of a store."""
        for number in range(self._workers):
            name = f"py2048-review-{number}"
            thread = threading.Thread(target=self._run, args=(store,), name=name, daemon=True)
            thread.start()
            self._threads.append(thread)

    def close(self) -> None:
        """Stop; running reviews return to the queue."""
        self._is_closed = True
        for _ in self._threads:
            self._wanted.release()
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
            except (StorageError, OSError) as error:  # the claim expires for another process
                _log.warning("cannot review games", extra={"fault": str(error)})
            self._wanted.acquire(timeout=_POLL_S)

    def _review(self, store: Store, claim: ReviewClaim) -> None:
        """Compute a claimed review and save it, or the reason why it failed."""
        found: dict[str, Any] = {}
        fault = None
        try:
            if claim.attempt > _MAX_ATTEMPTS:
                raise RuntimeError("the review crashed too often")
            found = self._run_reviewer(store, claim)
        except Py2048Error as error:
            fault = str(error)
        except Exception:  # noqa: BLE001 - other reviews must still run
            fault = _UNFINISHED
            if not self._is_closed:
                _log.warning("a review failed", exc_info=True, extra={"game": claim.game_id})
        if self._is_closed:
            store.reviews.release(claim)
        elif store.reviews.finish(claim, found.get("summary"), found.get("moves"), fault):
            (self._metrics.failed_reviews if fault else self._metrics.reviews).inc()

    def _run_reviewer(self, store: Store, claim: ReviewClaim) -> Any:
        """Run a review in a new process and renew the claim while it runs.

        Raises:
            Exception: The process's exception, or an error if it was cancelled.
        """
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        work = self._reviewer, _record_text(store, claim.game_id), theirs
        process = context.Process(target=_compute, args=work)
        process.start()
        theirs.close()
        result: object = 0  # progress, then the review or an exception
        try:
            while isinstance(result, int):
                if self._is_closed or not store.reviews.renew(claim, result):
                    raise RuntimeError("the review was cancelled")
                self.backlog, until = store.reviews.pending(), time.monotonic() + _RENEWAL_S
                while isinstance(result, int) and ours.poll(max(0.0, until - time.monotonic())):
                    result = ours.recv()
        finally:
            process.kill()
            process.join()
            ours.close()
        if isinstance(result, Exception):
            raise result
        return result


def _record_text(store: Store, game_id: str) -> str:
    """Return the record of a game, including one whose end can still be undone."""
    saved, info = store.games.find(game_id), store.online.info(game_id)
    if saved is None or info is None:
        return store.records.load(game_id)
    return replayed(saved, info).record().to_json()


def _claim_reviewing() -> bool:
    """Whether this process computes reviews; with several workers, only one does at a time."""
    if folder := os.environ.get(WORKERS_FOLDER):
        lock = os.open(Path(folder) / "reviewer", os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return False
    return True


# The process


def _compute(reviewer: Reviewer, record: str, server: Connection) -> None:
    """Run a review in this process, sending its progress and then its result or exception.

    The process exits when the server closes the pipe or after `TIMEOUT_S`.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the server's log is JSON
    faulthandler.dump_traceback_later(TIMEOUT_S, exit=True)
    os.nice(NICENESS)
    try:
        server.send(reviewer(record, server.send))
    except Exception as error:  # noqa: BLE001 - the server reports it
        server.send(error)
    except SystemExit as error:
        server.send(RuntimeError(repr(error)))


def computed(record: str, note: Callable[[int], None]) -> dict[str, object]:
    """Review a game and return the stored form of the review.

    Raises:
        Py2048Error: If there is no judge for the rules, or the record breaks them.
    """
    game = Record.from_json(record)
    judge, moves = judge_for(game.rules), list[MoveReview]()
    for move in reviewing(game, judge):
        moves.append(move)
        note(len(moves))
    return kept(Review.of(game, judge, moves))


def kept(review: Review) -> dict[str, object]:
    """Return the stored form of a review: its summary and its moves."""
    return {"summary": msgspec.to_builtins(summary_of(review)), "moves": _stored_moves(review)}


def summary_of(review: Review) -> schema.ReviewSummary:
    """Return the summary of a review with its worst moves."""
    return schema.ReviewSummary(
        judge=review.judge,
        unit=review.unit.value,
        exact=review.is_exact,
        reviewed=len(review.moves),
        accuracy=review.accuracy,
        expected=_rounded(review.expected) if review.unit is Unit.POINTS else None,
        most=_rounded(max((move.values[move.best] for move in review.moves), default=0.0)),
        loss=_rounded(review.loss),
        luck=_rounded(review.luck),
        counts={grade.value: count for grade, count in review.counts.items()},
        phases=msgspec.convert(review.phases, list[schema.PhaseInfo], from_attributes=True),
        mistakes=_mistakes(review),
        graph=graph(review, is_silent=True),
        swing=_rounded(review.swing),
    )


def _mistakes(review: Review) -> list[schema.Mistake]:
    """Return the worst mistakes and the critical moves, in game order."""
    worst = sorted(review.mistakes, key=lambda move: -move.share)[:MAX_MISTAKES]
    critical = {move.ply for move in review.moments}
    shown = critical.union(move.ply for move in worst)
    places = [place for place, (_, spawn) in enumerate(review.record.steps) if spawn is not None]
    return [
        schema.Mistake(
            ply=move.ply,
            turn=places[move.ply - 1],
            score=move.score,
            board=move.board.rows,
            played=str(move.played),
            best=str(move.best),
            values=_by_name(move.values),
            chances=_by_name(move.chances),
            loss=_rounded(move.loss),
            share=move.share,
            grade=move.grade.value,
            luck=_rounded(move.luck),
            source=move.source,
            critical=move.ply in critical,
            say=_theme(review, move),  # worded when it is read, in the reader's language
        )
        for move in review.moves
        if move.ply in shown
    ]


def _by_name(values: Mapping[Direction, float]) -> dict[str, float]:
    return {str(direction): _rounded(value) for direction, value in values.items()}


def _rounded(value: float) -> float:
    """Return a value rounded to significant digits."""
    return float(f"{value:.{_SIGNIFICANT_DIGITS}g}")


def _words(move: schema.ReviewedMove | schema.Mistake, theme: str) -> tuple[str, str, str]:
    """Return a move's badge, its headline and, if it has a theme, an explanation."""
    headline = headline_of(Direction.parse(move.played), Direction.parse(move.best))
    why = why_better(MistakeKind.parse(theme)) if theme else ""
    return badge_of(Grade(move.grade), move.share), headline, why


def _theme(review: Review, move: MoveReview) -> str:
    rules, is_mistake = review.record.rules, move.grade.is_mistake
    return str(mistake_kind(rules, move.board, move.played, move.best)) if is_mistake else ""


def _stored_moves(review: Review) -> list[object]:
    """Return moves in stored form: the fields of `schema.ReviewedMove`, with the theme in `why`."""
    moves: list[object] = []
    for move in review.moves:
        way, best, top = str(move.played), str(move.best), move.values[move.best]
        losses = _by_name({each: top - value for each, value in move.values.items()})
        # `review` counts moves with a negligible loss as best.
        loss = losses[way] if way != best else 0.0
        facts = move.ply, way, best, loss, move.grade.value, _rounded(top), losses
        moves.append([*facts, _rounded(move.share), "", "", _theme(review, move)])
    return moves


def _in_words(kept: list[Any]) -> schema.ReviewedMove:
    """Return a stored move with its texts in the current language."""
    move = schema.ReviewedMove(*kept)
    move.badge, move.headline, move.why = _words(move, move.why)
    return move
