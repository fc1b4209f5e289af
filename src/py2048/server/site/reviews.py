"""Reviews of finished games: who may ask for one, how it is computed, and what it says.

The queue of requests is in the store. Each review is computed in a process of its own at low
priority, so no move of a player waits for one, whatever the game and however long kernels take to
compile; a process that hangs or crashes spoils nothing but its review.

A review does not help in a game: it needs a record, which only finished games have, and that of a
daily challenge opens when the secret of the day is known, even to its player, who could play the
day again as a guest.
"""

from __future__ import annotations

import faulthandler
import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import msgspec

from py2048.app.controller.review import badge_of, headline_of, why_better
from py2048.app.storage import OnlineGameInfo, RecordSummary
from py2048.app.storage.values import ReviewClaim, StoredReview, utc_text
from py2048.core import fairness
from py2048.core.direction import Direction
from py2048.core.errors import Py2048Error, StorageError
from py2048.core.game import Record
from py2048.players import Unit
from py2048.presentation.plots import graph
from py2048.review import Grade, MoveReview, Review, judge_for, reviewing
from py2048.review.mistakes import MistakeKind, mistake_kind
from py2048.server import schema
from py2048.server.http.monitoring import Metrics
from py2048.server.play.games import GameService, replayed
from py2048.server.play.messages import game_row
from py2048.server.schema import ActionRejected

if TYPE_CHECKING:
    from py2048.app.storage import Store
    from py2048.server.services import Services

_log = logging.getLogger("py2048.web")

VERSION = "3"
"""Reviews of another version count as none: raise it when judges, grades or a summary change."""

MAX_KEPT = 5_000
"""The number of reviews that are kept, the latest."""

MAX_MOVES = 20_000
"""The longest game that is reviewed."""

MAX_PENDING = 200
"""The longest queue."""

MAX_PENDING_EACH = 20
"""The most places in the queue for one address."""

MAX_MISTAKES = 40
"""The mistakes that are shown with their boards, the worst."""

NICENESS = 10
TIMEOUT_S = 600.0
"""How long a review may take."""

_LEASE = timedelta(seconds=20)
"""A process that renews no claim for this long has died, and another one begins its review anew."""

_POLL_S = 5.0
"""Between two looks for requests that came to other processes."""

_RENEWAL_S = 0.5
_MAX_ATTEMPTS = 3
_MAX_ADDRESSES = 10_000
_DIGITS = 6
_UNFINISHED = "the server could not finish it"


# What is asked for


async def request_review(
    services: Services, game_id: str, account: str, address: str, *, for_figures: bool = False
) -> None:
    """Ask for the review of a finished game, unless it is there or on its way.

    For the figures alone, which help with no move, a player may ask for that of a game that is
    sealed, or that an undo could still take up again.

    Raises:
        ActionRejected: if reviews are switched off (``off``), there is no such game
            (``unknown_game``), it is sealed (``sealed``) or too long (``length``), or too many are
            asked for or wait (``busy``).
    """
    if not services.settings.reviews:
        raise ActionRejected("off", "games are not reviewed on this server")
    services.limits.check(reviews=account, reviews_from=address)
    owner = account if for_figures else ""
    await services.do(_request, game_id, services.reviews.asked_from(address), owner)
    services.reviews.wake()


def _request(games: GameService, game_id: str, asked: set[str], owner: str) -> None:
    reviews, own = games.store.reviews, owner and ended_game(games, game_id)
    is_own = own and own[1].owner == owner
    plies = own[0].plies if own and is_own else _record(games, game_id).plies
    if plies > MAX_MOVES:
        raise ActionRejected(
            "length", f"this game has {plies:,} moves: at most {MAX_MOVES:,} are reviewed"
        )
    if reviews.pending() >= MAX_PENDING:
        raise ActionRejected("busy", "too many games wait for a review: try again later")
    asked.intersection_update(reviews.waiting(asked))
    if len(asked - {game_id}) >= MAX_PENDING_EACH:
        raise ActionRejected("busy", "too many games from here wait for a review: try again later")
    reviews.request(game_id, VERSION)
    asked.add(game_id)


def review_answer(
    games: GameService, game_id: str, first: int = 0, limit: int = 0
) -> schema.ReviewAnswer:
    """Return the review of a finished game as far as it is, with some of its moves.

    Raises:
        ActionRejected: if there is no such game (``unknown_game``), or it is ``sealed``.
    """
    with games.store.snapshot():
        record, review = _record(games, game_id), games.store.reviews.find(game_id)
        state = _state(review)
        done = review if state == "done" else None
        moves: Any = games.store.reviews.moves(game_id) if limit and done else None
        return schema.ReviewAnswer(
            game=game_id,
            state=state,
            ahead=games.store.reviews.pending(review.asked) if review and state == "waiting" else 0,
            done=review.done if review else 0,
            total=record.plies,
            fault=review.fault if review else None,
            summary=_told(msgspec.convert(done.summary, schema.ReviewSummary)) if done else None,
            first=first,
            moves=[*map(_in_words, moves[first : first + limit])] if moves else [],
        )


def ended_game(games: GameService, game_id: str) -> tuple[schema.GameRow, OnlineGameInfo] | None:
    """Return a game that is over, also one without a record, which an undo could take up again."""
    found, info = games.find(game_id), games.store.online.info(game_id)
    return (game_row(found), info) if found and found.is_over and info else None


def figures_of(games: GameService, game_id: str) -> tuple[str, schema.ReviewSummary | None]:
    """Return how far the review of a game is, and what it says.

    Of a game that is sealed only its player may be told, and no move.
    """
    review = games.store.reviews.find(game_id)
    if review is None or (state := _state(review)) != "done":
        return _state(review), None
    return state, msgspec.convert(review.summary, schema.ReviewSummary)


def _record(games: GameService, game_id: str) -> RecordSummary:
    """Return the summary of a game that was finished on this server and may be reviewed."""
    found, info = games.store.records.summary(game_id), games.store.online.info(game_id)
    if found is None or info is None:
        raise ActionRejected("unknown_game", "there is no record of such a game yet")
    if opens := fairness.sealed_until(info.day):
        raise ActionRejected("sealed", f"the review of this game opens on {opens} (UTC)")
    return found


def _state(review: StoredReview | None) -> str:
    if review is None or (review.finished and review.version != VERSION):
        return "none"
    if review.finished is None:
        return "waiting" if review.claimed is None else "running"
    return "failed" if review.fault else "done"


# The queue


Reviewer = Callable[[str, Callable[[int], None]], dict[str, object]]
"""Returns the summary and the moves of a record's review, and notes how many moves are done."""


class ReviewQueue:
    """The threads that work through the queue, each with a process for the review at hand.

    Args:
        workers: how many reviews at a time; none are computed here if that is 0.
        metrics: counts them.
        reviewer: computes one; it is sent to the process.

    Attributes:
        backlog: how many reviews wait or are being computed, as last seen.
    """

    def __init__(self, workers: int, metrics: Metrics, reviewer: Reviewer | None = None) -> None:
        self._metrics = metrics
        self._reviewer: Reviewer = reviewer or computed
        self.backlog = 0
        self._asked: dict[str, set[str]] = {}
        self._wanted = threading.Semaphore(0)
        self._is_closed = False
        self._workers = workers
        self._threads: list[threading.Thread] = []

    def start(self, store: Store) -> None:
        """Begin to work through the queue of a store."""
        for number in range(self._workers):
            name = f"py2048-review-{number}"
            thread = threading.Thread(target=self._run, args=(store,), name=name, daemon=True)
            thread.start()
            self._threads.append(thread)

    def asked_from(self, address: str) -> set[str]:
        """Return the games whose reviews an address asked for; some may be there by now."""
        if len(self._asked) > _MAX_ADDRESSES:
            self._asked.clear()
        return self._asked.setdefault(address, set())

    def wake(self) -> None:
        """Look for a request now."""
        self._wanted.release()

    def close(self) -> None:
        """Stop; what is being computed goes back to the queue."""
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
            except (StorageError, OSError) as error:  # the claim ends, and others may try
                _log.warning("cannot review games", extra={"fault": str(error)})
            self._wanted.acquire(timeout=_POLL_S)

    def _review(self, store: Store, claim: ReviewClaim) -> None:
        """Compute a claimed review and keep it, or why there is none."""
        found: dict[str, Any] = {}
        fault = None
        try:
            if claim.attempt > _MAX_ATTEMPTS:
                raise RuntimeError("earlier processes died of it")
            found = self._computed(store, claim)
        except Py2048Error as error:
            fault = str(error)
        except Exception:  # noqa: BLE001 - whatever is wrong with one, others follow
            fault = _UNFINISHED
            if not self._is_closed:
                _log.warning("a review failed", exc_info=True, extra={"game": claim.game_id})
        if self._is_closed:
            store.reviews.release(claim)
        elif store.reviews.finish(claim, found.get("summary"), found.get("moves"), fault):
            (self._metrics.failed_reviews if fault else self._metrics.reviews).inc()

    def _computed(self, store: Store, claim: ReviewClaim) -> Any:
        """Return a review from a new process, renewing the claim while it computes.

        Raises:
            Exception: what was raised there, or that it has ended or is no longer wanted.
        """
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        work = self._reviewer, _record_text(store, claim.game_id), theirs
        process = context.Process(target=_compute, args=work)
        process.start()
        theirs.close()
        told: object = 0
        try:
            while isinstance(told, int):
                if self._is_closed or not store.reviews.renew(claim, told):
                    raise RuntimeError("it is not wanted any more")
                self.backlog, until = store.reviews.pending(), time.monotonic() + _RENEWAL_S
                while isinstance(told, int) and ours.poll(max(0.0, until - time.monotonic())):
                    told = ours.recv()
        finally:
            process.kill()
            process.join()
            ours.close()
        if isinstance(told, Exception):
            raise told
        return told


def _record_text(store: Store, game_id: str) -> str:
    """Return the record of a game, also of one that an undo could still take up again."""
    saved, info = store.games.find(game_id), store.online.info(game_id)
    if saved is None or info is None:
        return store.records.load(game_id)
    return replayed(saved, info).record().to_json()


# The process


def _compute(reviewer: Reviewer, record: str, server: Connection) -> None:
    """Tell the server how many moves are done, again and again, and in the end the review.

    The process ends when no one listens any more, or when it takes too long.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the server's log is JSON
    faulthandler.dump_traceback_later(TIMEOUT_S, exit=True)
    os.nice(NICENESS)
    try:
        server.send(reviewer(record, server.send))
    except Exception as error:  # noqa: BLE001 - the server tells it
        server.send(error)
    except SystemExit as error:
        server.send(RuntimeError(repr(error)))


def computed(record: str, note: Callable[[int], None]) -> dict[str, object]:
    """Return the summary and the moves of a game's review, as they are kept.

    Raises:
        Py2048Error: if there is no judge for the rules, or the record breaks them.
    """
    game = Record.from_json(record)
    judge, moves = judge_for(game.rules), list[MoveReview]()
    for move in reviewing(game, judge):
        moves.append(move)
        note(len(moves))
    return kept(Review.of(game, judge, moves))


def kept(review: Review) -> dict[str, object]:
    """Return a review as it is kept: its summary and its moves."""
    return {"summary": msgspec.to_builtins(summary_of(review)), "moves": _kept_moves(review)}


def summary_of(review: Review) -> schema.ReviewSummary:
    """Return what is said of a game as a whole, and of its worst moves."""
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
    """Return the worst mistakes, in order."""
    worst = sorted(review.mistakes, key=lambda move: -move.share)[:MAX_MISTAKES]
    critical = {move.ply for move in review.critical}
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
            say=_theme(review, move),  # the words come when it is read, in the reader's language
        )
        for move in review.moves
        if move.ply in shown
    ]


def _by_name(values: Mapping[Direction, float]) -> dict[str, float]:
    return {str(direction): _rounded(value) for direction, value in values.items()}


def _rounded(value: float) -> float:
    """Return a value with as many digits as mean something."""
    return float(f"{value:.{_DIGITS}g}")


def _told(summary: schema.ReviewSummary) -> schema.ReviewSummary:
    """Return a summary that is kept with its mistakes in words."""
    for each in summary.mistakes:
        each.say = " ".join(_words(each, each.say))
    return summary


def _words(move: schema.ReviewedMove | schema.Mistake, theme: str) -> tuple[str, str, str]:
    """Return the badge of a move, what was best, and why; that is empty without a theme."""
    headline = headline_of(Direction.parse(move.played), Direction.parse(move.best))
    why = why_better(MistakeKind.parse(theme)) if theme else ""
    return badge_of(Grade(move.grade), move.share), headline, why


def _theme(review: Review, move: MoveReview) -> str:
    rules, is_mistake = review.record.rules, move.grade.is_mistake
    return str(mistake_kind(rules, move.board, move.played, move.best)) if is_mistake else ""


def _kept_moves(review: Review) -> list[object]:
    """Return moves as they are kept: the fields of `schema.ReviewedMove`, of `why` the theme."""
    moves: list[object] = []
    for move in review.moves:
        way, best, top = str(move.played), str(move.best), move.values[move.best]
        losses = _by_name({each: top - value for each, value in move.values.items()})
        # A move that loses next to nothing is as good as the best one.
        loss = losses[way] if way != best else 0.0
        facts = move.ply, way, best, loss, move.grade.value, _rounded(top), losses
        moves.append([*facts, _rounded(move.share), "", "", _theme(review, move)])
    return moves


def _in_words(kept: list[Any]) -> schema.ReviewedMove:
    """Return a move that was kept, in the reader's language."""
    move = schema.ReviewedMove(*kept)
    move.badge, move.headline, move.why = _words(move, move.why)
    return move
