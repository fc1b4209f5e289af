"""Reviews of finished games: requests, the queue that computes reviews, and explanations of moves.

The queue is in the store. Each review runs in a separate low-priority process, so that long reviews
and kernel compilation do not delay moves. A process that hangs or crashes affects only its own
review.

Reviews cannot be used as hints, because a review needs a record, and only finished games have
records. Players can review their own daily games immediately, because an account plays a day only
once. Other players' daily games and their reviews stay hidden until the day's secret is revealed.
Reviews are only requested for games that the requester may see.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from threading import Semaphore, Thread
from typing import TYPE_CHECKING, Any

import msgspec

from py2048 import Direction, Record
from py2048.app.controller.review import badge, headline_of
from py2048.app.session import review_game
from py2048.app.session.levels import ME, find_level
from py2048.app.storage import OnlineGameInfo
from py2048.app.storage.values import ReviewClaim, StoredReview, utc_text
from py2048.core.errors import Py2048Error, StorageError
from py2048.core.language import _
from py2048.engine.jit.progress import Compiling
from py2048.players import Unit
from py2048.presentation.hints import rows_of
from py2048.presentation.plots import graph
from py2048.presentation.words import habit_text, why_text
from py2048.review import MoveReview, Review
from py2048.review.advice import PROGRESS_PERIOD_S
from py2048.review.levels import PERFECT, parse_level
from py2048.review.reasons import Habit, ReasonKind
from py2048.review.stored import loaded, stored
from py2048.server import schema
from py2048.server.admission import Caller
from py2048.server.bounds import MAX_PENDING
from py2048.server.http.limits import TokenBuckets
from py2048.server.http.monitoring import Metrics
from py2048.server.play import messages
from py2048.server.play.backend import Backend
from py2048.server.play.games import GameService, replayed
from py2048.server.schema import ActionRejected, ReviewAnswer
from py2048.server.settings import ServerSettings
from py2048.server.workers import NICENESS, Outcome, Worker, report

if TYPE_CHECKING:
    from py2048.app.storage import Store

_log = logging.getLogger("py2048.web")

VERSION = "5"
"""Version of reviews. Increase the version when the judging, the grades or the summary change, so
that the server recomputes older reviews.
"""

MAX_MOVES = 20_000  # Longer games are not reviewed.
MAX_AHEAD_S = 600.0  # Processor time limit for all waiting reviews of one address.
PRICE_S = 30.0  # Initial estimate of a review's processor time.
_LEARNING_RATE = 0.1

TIMEOUT_S = 600.0
_LEASE = timedelta(seconds=20)  # Other processes can take over claims older than this.
_POLL_S = 5.0  # How often to check for requests from other processes.
_RENEWAL_S = 0.5
_MAX_ATTEMPTS = 3
_SIGNIFICANT_DIGITS = 6
_UNFINISHED = "the server could not finish it"


# Requests


def _needed(games: GameService, game_id: str, account: str, level: str | None) -> str | None:
    """Return the version of the review to compute, or None if the review exists or is queued.

    Args:
        games: The game service.
        game_id: The game.
        account: The account that requests it.
        level: The level against which moves are judged. None selects the level of the previous
            review, or the player's own level if the game has no review.
    """
    games.check_visible(game_id, account)
    review, ended = games.store.reviews.find(game_id), ended_game(games, game_id)
    is_own = ended is not None and ended[1].owner == account
    shown = ended[0] if ended and is_own else games.finished_game(game_id)
    if level is not None and not is_own:
        raise ActionRejected("not_yours", _("only the player can choose the level"))
    if shown.plies > MAX_MOVES:
        text = f"this game has {shown.plies:,} moves: at most {MAX_MOVES:,} are reviewed"
        raise ActionRejected("length", text)
    version = version_for(level or _wanted(review))
    is_done = review and review.version == version and not review.fault
    return None if is_done or (review and review.finished is None) else version


def _enqueue(games: GameService, game_id: str, version: str, turn: float) -> bool:
    """Put a review in the store's queue; return whether it has to be computed.

    Args:
        games: The game service.
        game_id: The game.
        version: Version of the review.
        turn: Unix time that determines the review's place in the queue.
    """
    ahead_s = turn - time.time() - MAX_AHEAD_S
    if ahead_s > 0 or games.store.reviews.pending() >= MAX_PENDING:
        text = _("too many games are waiting for a review: try again later")
        raise ActionRejected("busy", text, max(1.0, ahead_s))
    asked = utc_text(datetime.fromtimestamp(turn, UTC))
    return games.store.reviews.request(game_id, version, asked)


def version_for(level: str) -> str:
    """Return the version string that is stored with reviews for a level.

    Raises:
        PlayerError: If the text names no level.
    """
    return f"{VERSION} {level if level == ME else parse_level(level) or PERFECT}"


def _wanted(review: StoredReview | None) -> str:
    """Return the level that a review was requested for."""
    return (review.version.partition(" ")[2] if review else "") or ME


def review_answer(games: GameService, game_id: str, first: int = 0, limit: int = 0) -> ReviewAnswer:
    """Return the state of a finished game's review, and some of its moves.

    Raises:
        ActionRejected: If the game does not exist (``unknown_game``).
    """
    record, review = games.finished_game(game_id), games.store.reviews.find(game_id)
    state, summary = figures(review)
    moves: Any = games.store.reviews.moves(game_id) if limit and summary else None
    ahead = games.store.reviews.pending(review.asked) if review and state == "waiting" else 0
    done, fault = (review.done, review.fault) if review else (0, None)
    part = moves[first : first + limit] if moves else []
    return ReviewAnswer(
        game_id, state, ahead, done, record.plies, fault, summary, first,
        [_move_info(summary, loaded(move)) for move in part] if summary else [],
    )  # fmt: skip


def is_outdated(games: GameService, game_id: str) -> bool:
    """Return whether a game's review is finished but comes from an older version."""
    review = games.store.reviews.find(game_id)
    return review is not None and review.finished is not None and not _is_current(review)


def ended_game(games: GameService, game_id: str) -> tuple[schema.GameRow, OnlineGameInfo] | None:
    """Return a game if it is over, even if its last move can still be undone."""
    found, info = games.find(game_id), games.store.online.info(game_id)
    return (messages.game_row(found), info) if found and found.is_over and info else None


def _is_current(review: StoredReview) -> bool:
    return review.version.split(" ")[0] == VERSION


def figures(review: StoredReview | None) -> tuple[str, schema.ReviewSummary | None]:
    """Return the state of a review and, if the review is done, its summary.

    Until the secret of a daily game is revealed, show the summary only to the game's player.
    """
    if review is None or (review.finished and not _is_current(review)):
        return "none", None
    if review.finished is None:
        return "waiting" if review.claimed is None else "running", None
    if review.fault:
        return "failed", None
    facts = review.summary | {"moments": [], "wanted": _wanted(review)}
    summary = msgspec.convert(facts, schema.ReviewSummary)
    for turn, lines, *kept_move in review.summary["moments"]:
        move = loaded(kept_move)
        facts = msgspec.structs.asdict(_move_info(summary, move))
        found = msgspec.convert(lines, dict[str, schema.LineInfo])
        summary.moments += [schema.Moment(**facts, turn=turn, board=move.board.rows, lines=found)]
    for habit in summary.habits:
        kind = ReasonKind(habit.reason)
        habit.say = habit_text(Habit(kind, habit.count, habit.cost, tuple(habit.turns)))
    return "done", summary


# The queue


Reviewer = Callable[[str, str, Callable[[int], None]], dict[str, object]]
"""Function that reviews a record for a level, and reports the number of reviewed moves."""


class ReviewQueue:
    """Accepts requests for reviews, and computes each review in a separate process.

    Args:
        settings: How the server is run.
        backend: The store.
        metrics: Counts reviews.

    Attributes:
        reviewer: Picklable function that computes a review.
        is_enabled: Whether this server reviews games.
        backlog: Number of waiting and running reviews at the last check.
    """

    def __init__(self, settings: ServerSettings, backend: Backend, metrics: Metrics) -> None:
        self.reviewer: Reviewer = computed
        self.is_enabled = settings.reviews > 0
        self.backlog = 0
        self._backend, self._metrics = backend, metrics
        self._workers = settings.reviews
        self._turns = TokenBuckets(max(1, settings.reviews), MAX_AHEAD_S, clock=time.time)
        self._price_s = PRICE_S
        metrics.gauge("py2048_review_backlog", "Reviews to be computed", lambda: self.backlog)
        self._wanted = Semaphore(0)
        self._is_closed = False
        self._threads: list[Thread] = []

    async def request(self, game_id: str, caller: Caller, level: str | None = None) -> None:
        """Request the review of a finished game, unless it exists or is already in the queue.

        Players can also request a review of their own game while its last move can still be undone.
        Until the game has a record, pages show only the review's summary.

        The queue is ordered by virtual clocks, one per address, as in `FairQueue`.

        Args:
            game_id: The game.
            caller: The client that requests the review and is charged for this request.
            level: The level against which moves are judged. None selects the level of the
                previous review, or the player's own level if the game has no review.

        Raises:
            PlayerError: If `level` names no level.
            ActionRejected: If reviews are disabled (``off``), the game does not exist
                (``unknown_game``) or is too long (``length``), somebody else chooses the level
                (``not_yours``), or too many reviews are requested or queued (``busy``).
        """
        if not self.is_enabled:
            raise ActionRejected("off", "reviews are disabled on this server")
        facts = game_id, caller.account, level
        version = await self._backend.read("review", caller, _needed, *facts)
        if version is None:
            return
        turn, price_s, is_new = self._turns.start(caller.address), self._price_s, False
        self._turns.charge(caller.address, price_s)  # before other requests read the clock
        try:
            is_new = await self._backend.do(_enqueue, game_id, version, turn)
        finally:
            self._turns.charge(caller.address, 0.0 if is_new else -price_s)
        self._wanted.release()

    def start(self, store: Store) -> None:
        """Start the threads that compute the reviews in a store's queue."""
        for thread in [Thread(target=self._run, args=(store,)) for _n in range(self._workers)]:
            thread.start()
            self._threads.append(thread)

    def close(self) -> None:
        """Stop processing. Running reviews return to the queue."""
        self._is_closed = True
        self._wanted.release(max(1, len(self._threads)))
        for thread in self._threads:
            thread.join()

    def _run(self, store: Store) -> None:
        while not self._is_closed:
            try:
                self.backlog = store.reviews.pending()
                claim = store.reviews.claim(utc_text(datetime.now(UTC) - _LEASE))
                if claim is not None:
                    self._review(store, claim)
                    continue
            except (StorageError, OSError) as error:  # the claim expires for another process
                _log.warning("cannot review games", extra={"fault": str(error)})
            self._wanted.acquire(timeout=_POLL_S)

    def _review(self, store: Store, claim: ReviewClaim) -> None:
        """Compute a claimed review, and save the review or the reason why it failed."""
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
        """Compute a review in a new process, and renew the claim in the meantime.

        Raises:
            Exception: The exception that the process raised, or an error if it was cancelled.
        """
        worker, result, done = Worker(), None, 0
        worker.start(TIMEOUT_S, _compute, self.reviewer, *_task(store, claim.game_id))
        try:
            while not isinstance(result, Outcome):
                if self._is_closed or not store.reviews.renew(claim, done):
                    raise RuntimeError("the review was cancelled")
                self.backlog, until = store.reviews.pending(), time.monotonic() + _RENEWAL_S
                while (wait_s := until - time.monotonic()) > 0 and not isinstance(result, Outcome):
                    result = worker.receive(wait_s)
                    done = result if isinstance(result, int) else done
        finally:
            worker.close()
        self._price_s += _LEARNING_RATE * (result.seconds - self._price_s)
        return result.value()


def _task(store: Store, game_id: str) -> tuple[str, str]:
    """Return the record of a claimed game, and the level for judging the game.

    The game may still be open, because its last move can be undone.
    """
    saved, info = store.games.find(game_id), store.online.info(game_id)
    if saved is None or info is None:
        text = store.records.load(game_id)
    else:
        text = replayed(saved, info).record().to_json()
    review = store.reviews.find(game_id)
    owner, rules = review.owner if review else "", Record.from_json(text).rules
    return text, str(find_level(store, owner, rules, _wanted(review)) or PERFECT)


# The process


def _compute(reviewer: Reviewer, record: str, level: str) -> dict[str, object]:
    os.nice(NICENESS)  # lower than that of short calls
    return reviewer(record, level, report)


def computed(record: str, level: str, note: Callable[[int], None]) -> dict[str, object]:
    """Review a game for a level, and return the review as data for the store.

    Raises:
        Py2048Error: If games with these rules cannot be reviewed, or the record breaks the rules.
    """
    done = 0
    for found in review_game(Record.from_json(record), parse_level(level)):
        match found:
            case Review():
                return kept(found)
            case tuple():
                done = max([done, *(move.ply for move in found)])
                note(done)
            case Compiling():
                time.sleep(PROGRESS_PERIOD_S)
    raise RuntimeError("the review ended early")


def kept(review: Review) -> dict[str, object]:
    """Convert a review for storage: all moves, and a summary that includes the costliest moves."""
    places = [place for place, (_, spawn) in enumerate(review.record.steps) if spawn is not None]
    turns = {move.ply: places[move.ply - 1] for move in review.moves}
    summary = msgspec.to_builtins(summary_of(review, turns))
    moments = ([turns[each.ply], _lines(review, each), *stored(each)] for each in review.moments)
    summary["moments"] = [*moments]
    return {"summary": summary, "moves": [*map(stored, review.moves)]}


def summary_of(review: Review, turns: Mapping[int, int]) -> schema.ReviewSummary:
    """Return the summary of a review, without the list of its costliest moves.

    Args:
        review: The review.
        turns: Index of each reviewed move in the replay.
    """
    habits = [
        schema.HabitInfo(each.kind, each.count, each.cost, [turns[ply] for ply in each.plies])
        for each in review.habits
    ]
    expected = _rounded(review.expected) if review.unit is Unit.POINTS else None
    first, phases = review.first, [schema.PhaseInfo(*astuple(each)) for each in review.phases]
    return schema.ReviewSummary(
        judge=review.judge, level=str(review.level or PERFECT), unit=review.unit.value,
        exact=review.is_exact, reviewed=len(review.moves), accuracy=review.accuracy,
        goal=review.goal.tile if review.goal else None, habits=habits, moments=[],
        first=turns[first.ply] if first else None, expected=expected, loss=_rounded(review.loss),
        luck=_rounded(review.luck), swing=_rounded(review.swing),
        counts={grade.value: count for grade, count in review.counts.items()}, phases=phases,
        graph=graph(review, is_silent=True),
    )  # fmt: skip


def _rounded(value: float) -> float:
    """Round a value to a few significant digits."""
    return float(f"{value:.{_SIGNIFICANT_DIGITS}g}")


def _lines(review: Review, move: MoveReview) -> object:
    """Return typical continuations after the best move and after the move played.

    Reviews against perfect play have none.
    """
    if review.level is None:
        return {}
    # Imported here, because only review processes need NumPy.
    from py2048.review.playouts import typical_line

    rules, fear = review.record.rules, move.reason.tile if move.reason else None
    found = {
        str(each): messages.line_info(typical_line(rules, move.board, each, review.level), fear)
        for each in (move.best, move.played)
    }
    return msgspec.to_builtins(found)


def _move_info(summary: schema.ReviewSummary, move: MoveReview) -> schema.ReviewedMove:
    """Return a reviewed move, explained in the current language."""
    rows, reason = rows_of(move, Unit(summary.unit)), move.reason
    return schema.ReviewedMove(
        ply=move.ply, played=str(move.played), best=str(move.best), grade=move.grade.value,
        loss=_rounded(move.loss), share=move.share, luck=_rounded(move.luck), source=move.source,
        goal=move.goal.tile if move.goal else None, survival=move.survival,
        values=_by_name(move.values), errors=_by_name(move.errors),
        reason=schema.ReasonInfo(reason.kind, dict(reason.numbers)) if reason else None,
        options=messages.options_info(rows), badge=badge(move),
        headline=headline_of(move.played, move.best),
        why=why_text(move) if move.grade.is_mistake else "",
    )  # fmt: skip


def _by_name(values: Mapping[Direction, float]) -> dict[str, float]:
    return {str(direction): _rounded(value) for direction, value in values.items()}
