"""Reviews of finished games: requests, the queue that computes them, and their texts.

The queue is in the store. Each review runs in its own low-priority process, so it does not delay
moves, however long the review or the compilation of kernels takes. A process that hangs or crashes
affects only its own review.

Reviews cannot be used as hints: a review needs a record, which only finished games have. Players
can review their own daily game at once, because an account plays a day only once. Other players'
daily games, and with them their reviews, stay sealed until the secret of the day is revealed;
callers check that the game is visible.
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
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from py2048 import Board, Direction, Record, Rules
from py2048.app.controller.review import badge, headline_of
from py2048.app.session import review_game
from py2048.app.session.levels import ME, find_level
from py2048.app.storage import OnlineGameInfo, RecordSummary
from py2048.app.storage.values import ReviewClaim, StoredReview, utc_text
from py2048.core.errors import Py2048Error, StorageError
from py2048.core.language import _
from py2048.engine.jit.progress import Compiling
from py2048.players import Unit
from py2048.presentation.hints import rows_of
from py2048.presentation.plots import graph
from py2048.presentation.words import habit_text, why_text
from py2048.review import Grade, MoveReview, Review
from py2048.review.advice import PROGRESS_PERIOD_S
from py2048.review.levels import PERFECT, Goals, parse_level
from py2048.review.reasons import Habit, Line, Reason, ReasonKind
from py2048.server import schema
from py2048.server.http.limits import RateLimits
from py2048.server.http.monitoring import WORKERS_FOLDER, Metrics
from py2048.server.play import messages
from py2048.server.play.backend import Backend
from py2048.server.play.games import GameService, replayed
from py2048.server.play.messages import game_row
from py2048.server.settings import ServerSettings

if TYPE_CHECKING:
    from py2048.app.storage import Store

_log = logging.getLogger("py2048.web")

VERSION = "5"
"""Increase this when judges, grades or the summary change: older reviews are computed again."""

MAX_KEPT = 5_000  # Reviews in the store.
MAX_MOVES = 20_000  # Longer games are not reviewed.
MAX_PENDING = 200  # Length of the queue.
MAX_PENDING_EACH = 20  # Places in the queue per address.

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


def _enqueue(
    games: GameService, game_id: str, requested: set[str], account: str, level: str | None
) -> None:
    """Put a review in the store's queue.

    Args:
        games: The game service.
        game_id: The game.
        requested: Games whose reviews the client's address requested; some may be done by now.
        account: The account that requests it.
        level: The level to judge for; None for the one chosen last, or the player's own.
    """
    reviews, ended = games.store.reviews, ended_game(games, game_id)
    is_own = ended is not None and ended[1].owner == account
    shown = ended[0] if ended and is_own else _reviewable(games, game_id)
    if level is not None and not is_own:
        raise schema.ActionRejected("not_yours", _("only the player chooses the level"))
    if shown.plies > MAX_MOVES:
        text = f"this game has {shown.plies:,} moves: at most {MAX_MOVES:,} are reviewed"
        raise schema.ActionRejected("length", text)
    if reviews.pending() >= MAX_PENDING:
        raise schema.ActionRejected("busy", "too many games wait for a review: try again later")
    requested.intersection_update(reviews.waiting(requested))
    if len(requested - {game_id}) >= MAX_PENDING_EACH:
        text = "too many games from here wait for a review: try again later"
        raise schema.ActionRejected("busy", text)
    reviews.request(game_id, version_for(level or _wanted(reviews.find(game_id))))
    requested.add(game_id)


def version_for(level: str) -> str:
    """Return the version of a review for a level, as it is stored.

    Raises:
        PlayerError: If the text names no level.
    """
    return f"{VERSION} {level if level == ME else parse_level(level) or PERFECT}"


def _wanted(review: StoredReview | None) -> str:
    """Return the level for which a review was requested."""
    return (review.version.partition(" ")[2] if review else "") or ME


def review_answer(
    games: GameService, game_id: str, first: int = 0, limit: int = 0
) -> schema.ReviewAnswer:
    """Return the state of a finished game's review, with some of its moves.

    Raises:
        ActionRejected: If the game does not exist (``unknown_game``).
    """
    with games.store.snapshot():
        record, review = _reviewable(games, game_id), games.store.reviews.find(game_id)
        state, summary = figures(review)
        moves: Any = games.store.reviews.moves(game_id) if limit and summary else None
        ahead = games.store.reviews.pending(review.asked) if review and state == "waiting" else 0
    done, fault = (review.done, review.fault) if review else (0, None)
    part = moves[first : first + limit] if moves else []
    return schema.ReviewAnswer(
        game_id, state, ahead, done, record.plies, fault, summary, first,
        [_move_info(summary, _loaded(move)) for move in part] if summary else [],
    )  # fmt: skip


def is_outdated(games: GameService, game_id: str) -> bool:
    """Return whether a game has a review by an older judge only."""
    review = games.store.reviews.find(game_id)
    return review is not None and review.finished is not None and not _is_current(review)


def ended_game(games: GameService, game_id: str) -> tuple[schema.GameRow, OnlineGameInfo] | None:
    """Return a game that is over, including one whose end can still be undone."""
    found, info = games.find(game_id), games.store.online.info(game_id)
    return (game_row(found), info) if found and found.is_over and info else None


def figures_of(games: GameService, game_id: str) -> tuple[str, schema.ReviewSummary | None]:
    """Return the state of a game's review, and its summary once it is done.

    The caller must show the figures of a sealed game to its player only.
    """
    return figures(games.store.reviews.find(game_id))


def _reviewable(games: GameService, game_id: str) -> RecordSummary:
    """Return the summary of a game that was finished on this server."""
    found, info = games.store.records.summary(game_id), games.store.online.info(game_id)
    if found is None or info is None:
        raise schema.ActionRejected("unknown_game", "there is no record of this game yet")
    return found


def _is_current(review: StoredReview) -> bool:
    return review.version.split(" ")[0] == VERSION


def figures(review: StoredReview | None) -> tuple[str, schema.ReviewSummary | None]:
    """Return a review's state, and its summary if it is done."""
    if review is None or (review.finished and not _is_current(review)):
        return "none", None
    if review.finished is None:
        return "waiting" if review.claimed is None else "running", None
    if review.fault:
        return "failed", None
    facts = review.summary | {"moments": [], "wanted": _wanted(review)}
    summary = msgspec.convert(facts, schema.ReviewSummary)
    for turn, lines, *stored in review.summary["moments"]:
        move = _loaded(stored)
        facts = msgspec.structs.asdict(_move_info(summary, move))
        found = msgspec.convert(lines, dict[str, schema.LineInfo])
        summary.moments += [schema.Moment(**facts, turn=turn, board=move.board.rows, lines=found)]
    for habit in summary.habits:
        kind = ReasonKind(habit.reason)
        habit.say = habit_text(Habit(kind, habit.count, habit.cost, tuple(habit.turns)))
    return "done", summary


# The queue


Reviewer = Callable[[str, str, Callable[[int], None]], dict[str, object]]
"""Reviews a record for a level; reports the number of moves reviewed so far."""


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
        self, game_id: str, account: str, address: str, level: str | None = None
    ) -> None:
        """Request the review of a finished game, unless it exists or is already queued.

        Players may also request reviews of their own games whose end can still be undone, for the
        summary figures. Moves are shown once the game has a record.

        Args:
            game_id: The game.
            account: The account that requests the review.
            address: Network address of the client.
            level: The level to judge for; None for the one chosen last, or the player's own.

        Raises:
            PlayerError: If `level` names no level.
            ActionRejected: If reviews are disabled (``off``), the game does not exist
                (``unknown_game``) or is too long (``length``), somebody else chooses the level
                (``not_yours``), or too many reviews are requested or queued (``busy``).
        """
        if not self.is_enabled:
            raise schema.ActionRejected("off", "reviews are disabled on this server")
        self._limits.check(reviews=account, reviews_from=address)
        if len(self._requested) > _MAX_ADDRESSES:
            self._requested.clear()
        requested = self._requested.setdefault(address, set())
        await self._backend.do(_enqueue, game_id, requested, account, level)
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
        for _thread in self._threads:
            self._wanted.release()
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
        work = self._reviewer, *_task(store, claim.game_id), theirs
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


def _task(store: Store, game_id: str) -> tuple[str, str]:
    """Return the record of a game and the level to judge for.

    The end of the game may be one that can still be undone.
    """
    saved, info = store.games.find(game_id), store.online.info(game_id)
    if saved is None or info is None:
        text = store.records.load(game_id)
    else:
        text = replayed(saved, info).record().to_json()
    review = store.reviews.find(game_id)
    owner, rules = review.owner if review else "", Record.from_json(text).rules
    return text, str(find_level(store, owner, rules, _wanted(review)) or PERFECT)


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


def _compute(reviewer: Reviewer, record: str, level: str, server: Connection) -> None:
    """Run a review in this process, sending its progress and then its result or exception.

    The process exits when the server closes the pipe or after `TIMEOUT_S`.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the server's log is JSON
    faulthandler.dump_traceback_later(TIMEOUT_S, exit=True)
    os.nice(NICENESS)
    try:
        server.send(reviewer(record, level, server.send))
    except Exception as error:  # noqa: BLE001 - the server reports it
        server.send(error)
    except SystemExit as error:
        server.send(RuntimeError(repr(error)))


def computed(record: str, level: str, note: Callable[[int], None]) -> dict[str, object]:
    """Review a game for a level and return the stored form of the review.

    Raises:
        Py2048Error: If there is no judge for the rules, or the record breaks them.
    """
    done = 0
    for found in review_game(Record.from_json(record), parse_level(level)):
        match found:
            case Review():
                return kept(found)
            case tuple():
                done = max(done, *(move.ply for move in found))
                note(done)
            case Compiling():
                time.sleep(PROGRESS_PERIOD_S)
    raise RuntimeError("the review ended early")


def kept(review: Review) -> dict[str, object]:
    """Return the stored form of a review: its summary with the moments, and its moves."""
    places = [place for place, (_, spawn) in enumerate(review.record.steps) if spawn is not None]
    turns = {move.ply: places[move.ply - 1] for move in review.moves}
    summary = msgspec.to_builtins(summary_of(review, turns))
    summary["moments"] = [
        [turns[move.ply], _lines(review, move), *_stored(move)] for move in review.moments
    ]
    return {"summary": summary, "moves": [*map(_stored, review.moves)]}


def summary_of(review: Review, turns: Mapping[int, int]) -> schema.ReviewSummary:
    """Return the summary of a review without its moments.

    Args:
        review: The review.
        turns: Index of each move in the replay.
    """
    habits = [
        schema.HabitInfo(each.kind, each.count, each.cost, [turns[ply] for ply in each.plies])
        for each in review.habits
    ]
    expected = _rounded(review.expected) if review.unit is Unit.POINTS else None
    first, phases = review.first, msgspec.convert(review.phases, _Phases, from_attributes=True)
    return schema.ReviewSummary(
        judge=review.judge, level=str(review.level or PERFECT), unit=review.unit.value,
        exact=review.is_exact, reviewed=len(review.moves), accuracy=review.accuracy,
        goal=review.goal.tile if review.goal else None, habits=habits, moments=[],
        first=turns[first.ply] if first else None, expected=expected, loss=_rounded(review.loss),
        luck=_rounded(review.luck), swing=_rounded(review.swing),
        counts={grade.value: count for grade, count in review.counts.items()}, phases=phases,
        graph=graph(review, is_silent=True),
    )  # fmt: skip


_Phases = list[schema.PhaseInfo]


def _rounded(value: float) -> float:
    """Return a value rounded to significant digits."""
    return float(f"{value:.{_SIGNIFICANT_DIGITS}g}")


# Moves are stored without texts and worded when they are read, in the reader's language.


def _stored(move: MoveReview) -> list[object]:
    """Return a move's fields in stored form."""
    values = (getattr(move, field.name) for field in fields(move))
    return [msgspec.to_builtins(each, enc_hook=_plain) for each in values]


def _plain(value: Board | Mapping[Direction, float]) -> object:
    """Return the rows of a board, or a dictionary."""
    return value.rows if isinstance(value, Board) else dict(value)


def _lines(review: Review, move: MoveReview) -> object:
    """Return typical lines after a move and after the best one, for a level."""
    if review.level is None:
        return {}
    # Imports NumPy, which only the process of a review needs.
    from py2048.review.playouts import typical_line

    rules = review.record.rules
    found = {
        str(each): typical_line(rules, move.board, each, review.level, move.reason)
        for each in (move.best, move.played)
    }
    return msgspec.to_builtins({way: _line_info(rules, line) for way, line in found.items()})


def _line_info(rules: Rules, line: Line) -> schema.LineInfo:
    """Return a line with the motions of its tiles."""
    turns = []
    for direction, (before, after) in zip(line.directions, pairwise(line.boards), strict=True):
        slide = before.slide(direction, rules.merging)
        spawns = (
            schema.NewTile(tile, (row, column))
            for row, tiles in enumerate(after.rows)
            for column, tile in enumerate(tiles)
            if tile != slide.board.rows[row][column]
        )
        spawn = next(spawns, None)  # none after a move that ended the game
        motions = messages.motions_info(slide.motions)
        turns.append(schema.LineTurn(str(direction), motions, spawn, after.rows))
    return schema.LineInfo(turns, line.fear)


_Chances = dict[Direction, float]
_StoredMove = tuple[
    int, Board, int, Direction, Direction, _Chances, float, float, float, float, Grade, float, str,
    _Chances, Goals | None, dict[Direction, int], _Chances, _Chances, Reason | None, bool,
]  # fmt: skip
"""The fields of a `MoveReview`."""


def _loaded(stored: object) -> MoveReview:
    """Return a stored move."""
    return MoveReview(*msgspec.convert(stored, _StoredMove, strict=False, dec_hook=_board))


def _board(_kind: type, rows: list[list[int]]) -> Board:
    return Board(rows)


def _move_info(summary: schema.ReviewSummary, move: MoveReview) -> schema.ReviewedMove:
    """Return a move with its texts in the current language."""
    rows, reason = rows_of(move, Unit(summary.unit), played=move.played), move.reason
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
