"""Autosave: writes a session's changes in the background, so that play never waits for a disk.

`StoreAutosave` passes each change to the thread of a `BackgroundWriter`, which retries every write
until it succeeds. A move blocks for at most `WRITE_WAIT_S` seconds before it is reported as
unsaved. All other changes are on disk. While the store is locked, full or unreachable, the game
continues and `unsaved` gives the reason. All changes are saved when the store works again.
"""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain, starmap
from operator import attrgetter
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from py2048.app.session.tracked_game import HUMAN_CATEGORIES, TrackedGame
from py2048.app.storage import GameChange, SavedGame
from py2048.app.storage.values import utc_now, utc_text
from py2048.core.errors import StaleGameError, StorageError

if TYPE_CHECKING:
    from py2048.app.storage import Store

WRITE_WAIT_S = 0.15  # The player waits at most this long for a move or a setting to be saved.
READ_TIMEOUT_S = 2.0
CLOSE_TIMEOUT_S = 3.0
RETRY_S = 0.5

# Finished games that changed more recently may still be open in another window.
ORPHAN_MIN_AGE = timedelta(minutes=10)

FORKED = (
    "this game was continued or finished in another window; this version is saved as a separate"
    " game"
)
NO_STORE = "this session keeps no games: it was opened without a store"

T = TypeVar("T")
Job = Callable[[], object]
_last_update = attrgetter("updated")


class _BufferedGame:
    """Holds a game's latest state, and queues changes until the store has acknowledged them.

    Call `add` only in the player's thread, and the other modifying methods only in the writer
    thread.

    Args:
        saved: The game's initial state.
        is_stored: Whether `saved` is already in the store.

    Attributes:
        id: Id in the store.
        revision: Revision in the store.
        turns: Code of each turn, including undone turns at the end.
        is_write_uncertain: Whether a failed write may still have reached the store.
    """

    def __init__(self, saved: SavedGame, *, is_stored: bool) -> None:
        self._lock = threading.RLock()
        self._latest = replace(saved, turns=(), millis=())
        self.turns, self._millis = list(saved.turns), list(saved.millis)
        self._changes: list[GameChange] = []
        self.id, self.revision, self.is_stored = saved.id, saved.revision, is_stored
        self.is_write_uncertain = False

    def add(self, change: GameChange) -> None:
        """Apply a change and queue it, in time proportional to the number of new turns."""
        with self._lock:
            self._changes.append(change)
            if change.turns:
                plies, codes, millis = zip(*change.turns, strict=True)
                self.turns[plies[0] :], self._millis[plies[0] :] = codes, millis
            self._latest = replace(
                self._latest, position=change.position, score=change.score, is_over=change.is_over,
                undos=change.undos, hints=change.hints, extra=change.extra, updated=utc_now(),
            )  # fmt: skip

    def snapshot(self) -> SavedGame:
        """Return the game as the store will contain it after all pending writes.

        The snapshot has the revision of the last pending change. A game resumed from it therefore
        continues with the next revision.
        """
        with self._lock:
            turns, millis, saved = tuple(self.turns), tuple(self._millis), self._latest
            revision = self._changes[-1].revision if self._changes else self.revision
            return replace(saved, id=self.id, revision=revision, turns=turns, millis=millis)

    def pending(self, until: int) -> tuple[int, GameChange] | None:
        """Merge the pending changes, if any, and return their number and the merged change.

        Args:
            until: Last revision to include.
        """
        with self._lock:
            changes = tuple(each for each in self._changes if each.revision <= until)
        if not changes:
            return None
        newest = self.revision + changes[-1].revision - changes[0].seen
        turns = tuple(chain.from_iterable(map(attrgetter("turns"), changes)))
        reached = tuple(chain.from_iterable(map(attrgetter("reached"), changes)))
        facts = {"id": self.id, "seen": self.revision, "revision": newest}
        whole = replace(changes[-1], **facts, turns=turns, reached=reached)  # type: ignore[arg-type]
        return len(changes), whole

    def acknowledge(self, count: int, revision: int) -> None:
        """Record that the store has written the first `count` changes, up to `revision`."""
        with self._lock:
            del self._changes[:count]
            self.revision, self.is_stored, self.is_write_uncertain = revision, True, False

    def reconcile(self, stored: SavedGame | None) -> bool:
        """Adopt the stored revision if this session wrote it, otherwise fork the game.

        A forked game gets a new id and is written to the store as a whole.

        Returns:
            False if the game was forked.
        """
        with self._lock:
            now, was_uncertain = self.snapshot(), self.is_write_uncertain
            self.is_write_uncertain = False
            if stored and was_uncertain and stored.turns == now.turns[: len(stored.turns)]:
                self.revision, self.is_stored = stored.revision, True
                return True
            self.id, self.revision, self.is_stored = secrets.token_hex(8), 0, False
            turns = zip(range(len(now.turns)), now.turns, now.millis, strict=True)
            whole = GameChange(
                id=self.id, seen=0, revision=1, length=len(now.turns), position=now.position,
                score=now.score, is_over=now.is_over, undos=now.undos, hints=now.hints,
                extra=now.extra, turns=tuple((ply, code, ms or 0) for ply, code, ms in turns),
            )  # fmt: skip
            self._changes = [whole]
        return False


class StoreAutosave:
    """Saves an owner's games, scores and settings in a store.

    Only the player's thread may call the methods of this class.

    Args:
        store: The store to write to, which is closed together with this object.
        owner: Owner of the games.

    Attributes:
        notices: Messages about saving, oldest first, which the session has not shown yet.
        writer: Runs the writes.
    """

    def __init__(self, store: Store, owner: str = "local") -> None:
        self.notices: deque[str] = deque()
        self._store, self._owner = store, owner
        self.writer = BackgroundWriter(store.name)
        self._current: _BufferedGame | None = None
        self._last_read: Future[Any] | None = None

    def close(self) -> None:
        """Save pending changes and close the store.

        Raises:
            StorageError: If changes could not be saved within `CLOSE_TIMEOUT_S`. These changes are
                lost.
        """
        try:
            self.writer.close(CLOSE_TIMEOUT_S)
        finally:
            self._store.close()

    # The current game

    def begin(self, game: TrackedGame, saved: SavedGame | None = None) -> None:
        """Start saving a game. A new game is stored with its first turn.

        A game that is already over, such as a copy of a record, is not stored until the player
        changes it.
        """
        if saved is not None:
            unsaved = (buffer for buffer in self._unsaved() if buffer.id == saved.id)
            self._current = next(unsaved, None) or _BufferedGame(saved, is_stored=True)
            return
        now = game.game
        saved = SavedGame(
            id=game.id, rules=str(now.rules), seed=now.seed, start=str(now.start),
            player=now.player, owner=self._owner,
            started=utc_text(datetime.fromtimestamp(now.started, UTC)),
        )  # fmt: skip
        self._current = _BufferedGame(saved, is_stored=False)
        if not now.is_over:
            self.save(game)

    def save(self, game: TrackedGame) -> None:
        """Save the game's changes, retrying later if the store is unavailable.

        A finished game becomes a record immediately. Undoing the game's last move deletes the
        record.
        """
        buffer = self._current
        if buffer is not None and game.codes and (change := game.take_change()):
            buffer.add(change)
            write: Job = partial(self._write, buffer, change.revision)
            if change.is_over:
                write = partial(self._finish, buffer, game.copy(), can_undo=True)
            self.writer.put(buffer, write)
            self.writer.wait(WRITE_WAIT_S)

    def release(self, game: TrackedGame) -> None:
        """Stop saving a game. After this call, the last move of a finished game cannot be undone.

        A game in progress stays in the store and can be resumed.
        """
        buffer, self._current = self._current, None
        if buffer is not None and buffer.turns and game.game.is_over:
            self.writer.put(buffer, partial(self._finish, buffer, game))

    def finalize_orphans(self) -> None:
        """Convert finished games to records if the process that played them has exited.

        Games that changed during the last `ORPHAN_MIN_AGE` are skipped. Unreadable games stay in
        the store and are reported in a notice.

        Raises:
            StorageError: If the store cannot be read.
        """
        before = utc_text(datetime.now(UTC) - ORPHAN_MIN_AGE)
        for saved in self._store.games.select(self._owner, finished=True):
            if saved.updated > before:  # Another window may still undo the last move.
                continue
            try:
                game = TrackedGame.from_saved(saved)
            except StorageError as error:
                self.notices.append(unreadable_notice(error))
                continue
            buffer = _BufferedGame(saved, is_stored=True)
            self.writer.put(buffer, partial(self._finish, buffer, game))

    def current_game(self, rules: str | None) -> SavedGame | None:
        """Return the last unfinished game, by default under any rules.

        Raises:
            StorageError: If the store cannot be read.
        """
        stored = self.read(lambda store, owner: store.games.current(owner, rules))
        unsaved = [game for game in self._unsaved_games() if rules in (None, game.rules)]
        return max([stored, *unsaved] if stored else unsaved, key=_last_update, default=None)

    def saved_games(self) -> list[SavedGame]:
        """Return the games in progress without their turns, most recently played first.

        Raises:
            StorageError: If the store cannot be read.
        """
        stored = self.read(
            lambda store, owner: store.games.select(owner, finished=False, with_turns=False)
        )
        games = {game.id: game for game in [*stored, *self._unsaved_games()]}
        return sorted(games.values(), key=_last_update, reverse=True)

    def saved_game(self, game_id: str) -> SavedGame | None:
        """Return the latest state of a game in progress, or `None` if there is no such game.

        Raises:
            StorageError: If the store cannot be read.
        """
        unsaved = {game.id: game for game in self._unsaved_games()}
        found = unsaved.get(game_id) or self.read(lambda store, _: store.games.find(game_id))
        return None if found is None or found.is_over else found

    def _unsaved_games(self) -> list[SavedGame]:
        games = (buffer.snapshot() for buffer in self._unsaved())
        return [game for game in games if not game.is_over]

    def _unsaved(self) -> list[_BufferedGame]:
        return [key for key in self.writer.unfinished() if isinstance(key, _BufferedGame)]

    # Scores and settings

    def best_score(self, rules: str) -> int:
        """Return the best score under these rules, without games that a computer played.

        The result includes unfinished and unsaved games, but not the current game.

        Raises:
            StorageError: If the store cannot be read.
        """

        def best(store: Store, owner: str) -> int:
            bests = store.scores.bests(rules, owner)
            played = store.games.select(owner, finished=False, rules=rules, with_turns=False)
            played += [game for game in unsaved if game.rules == rules]
            # Skip games that a computer played or that continue another record.
            own = (each for each in played if not {"computer", "continued"} & each.extra.keys())
            scores = (each.score for each in own if each.id != self.current_id)
            return max(0, *scores, *(bests.get(kind, 0) for kind in HUMAN_CATEGORIES))

        unsaved = [buffer.snapshot() for buffer in self._unsaved()]
        return self.read(best)

    @property
    def current_id(self) -> str:
        """Id of the current game, or "" without a game. Forking the game changes its id."""
        return self._current.id if self._current else ""

    def set_setting(self, key: str, value: object) -> None:
        """Store a JSON value."""
        self.writer.put(key, partial(self._store.settings.set, key, value))
        self.writer.wait(WRITE_WAIT_S)

    def read(self, query: Callable[[Store, str], T]) -> T:
        """Wait for pending writes, then return ``query(store, owner)``.

        The query runs in a separate thread, so that a store that hangs does not block the game.

        Raises:
            StorageError: If the store cannot be read or does not answer in time.
        """
        answer = Future[T]()

        def run() -> None:
            try:
                answer.set_result(query(self._store, self._owner))
            except BaseException as error:  # noqa: BLE001 - raised in the player's thread
                answer.set_exception(error)

        self.writer.wait(READ_TIMEOUT_S)
        try:
            if self._last_read and not self._last_read.done():  # the previous read is still running
                raise TimeoutError
            self._last_read = answer
            threading.Thread(target=run, name="py2048-reader", daemon=True).start()
            return answer.result(READ_TIMEOUT_S)
        except TimeoutError:
            raise StorageError(f"{self._store.name} does not answer; try again later") from None

    # Writer thread

    def _write(self, buffer: _BufferedGame, until: int) -> None:
        """Write a game's pending changes up to a revision."""
        if (pending := buffer.pending(until)) is None:
            return
        count, change = pending
        try:
            if not buffer.is_stored:
                self._store.games.add(buffer.snapshot())
            is_stale = bool(self._store.changes.write([change]))
        except StorageError:
            buffer.is_write_uncertain = True
            raise
        if is_stale:
            self._reconcile(buffer)
            self._write(buffer, until)
        else:
            buffer.acknowledge(count, change.revision)

    def _reconcile(self, buffer: _BufferedGame) -> None:
        """Resolve a revision conflict between the buffer and the store."""
        if not buffer.reconcile(self._store.games.find(buffer.id)):
            self.notices.append(FORKED)

    def _finish(self, buffer: _BufferedGame, game: TrackedGame, *, can_undo: bool = False) -> None:
        """Convert a finished game to a record."""
        self._write(buffer, game.revision)
        now = game.game
        try:
            self._store.records.finish(
                buffer.id, buffer.revision, game.record().to_json(), score=now.score,
                max_tile=now.board.max_tile, plies=now.ply, outcome=now.outcome.value,
                category=game.category, counts=not game.is_continued, can_undo=can_undo,
            )  # fmt: skip
        except StaleGameError:
            self._reconcile(buffer)
            self._finish(buffer, game, can_undo=can_undo)


def unreadable_notice(error: StorageError) -> str:
    """Return the message to show when an unreadable game is skipped."""
    return f"{error}; it stays in the store, and other games can be played"


class BackgroundWriter:
    """Runs jobs in a thread, in order, and retries each job until it succeeds.

    A new job replaces a pending job with the same key. The thread is a daemon, so the program can
    exit even if the store hangs.

    Args:
        name: Name of the store, for messages.

    Attributes:
        unsaved: The reason why a job is late, as one line, or an empty string if no job is late.
    """

    def __init__(self, name: str) -> None:
        self.unsaved = ""
        self._name, self._no_answer = name, f"{name} does not answer yet"
        self._jobs: dict[Hashable, Job] = {}
        self._changed = threading.Condition()
        self._is_closed = False
        self._timeout_s = 0.0
        self._thread: threading.Thread | None = None

    def unfinished(self) -> list[Hashable]:
        """Return the keys of the pending jobs."""
        with self._changed:
            return list(self._jobs)

    def put(self, key: Hashable, job: Job) -> None:
        """Queue `job`, which replaces a pending job with the same key.

        Raises:
            StorageError: If the writer is closed.
        """
        with self._changed:
            if self._is_closed:
                raise StorageError(f"the store {self._name} is closed; open it again")
            self._jobs.pop(key, None)  # move the key to the end
            self._jobs[key] = job
            self._changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="py2048-writer", daemon=True)
            self._thread.start()

    def wait(self, timeout_s: float) -> None:
        """Wait until all jobs are done, unless a job is already late."""
        with self._changed:
            self._timeout_s = timeout_s
            if not self._changed.wait_for(lambda: self.unsaved or not self._jobs, timeout_s):
                self.unsaved = self._no_answer

    def flush(self) -> None:
        """Wait until all jobs are done or a job has failed, for at most `CLOSE_TIMEOUT_S`."""
        hopeful = "", self._no_answer
        with self._changed:
            self._changed.wait_for(
                lambda: self.unsaved not in hopeful or not self._jobs, CLOSE_TIMEOUT_S
            )

    def close(self, timeout_s: float) -> None:
        """Finish the pending jobs and stop.

        Args:
            timeout_s: Maximum wait in seconds if a job is already late. If no job is late, `close`
                waits up to five times as long, because the machine may only be busy.

        Raises:
            StorageError: If jobs are still unfinished after the time limit. These jobs are dropped.
        """
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            limit_s = timeout_s if self.unsaved else 5 * timeout_s
            is_done = self._changed.wait_for(lambda: not self._jobs, limit_s)
            self._jobs.clear()
            reason, self.unsaved = self.unsaved or self._no_answer, ""
        if not is_done:
            raise StorageError(f"the last changes are not saved: {reason}")

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (self._jobs or self._is_closed):
                    self._changed.wait()
                jobs = list(self._jobs.items())
            if not jobs:
                return
            start = monotonic()
            errors = [*filter(None, starmap(self._run_job, jobs))]
            with self._changed:
                # After a fast batch, the store no longer counts as slow, so do not report other
                # jobs as late.
                is_slow = self.unsaved and monotonic() - start > self._timeout_s
                reason = errors[0] if errors else self._no_answer if is_slow else ""
                self.unsaved = reason if self._jobs else ""
                self._changed.notify_all()
                if errors:
                    self._changed.wait(RETRY_S)

    def _run_job(self, key: Hashable, job: Job) -> str:
        """Run a job, unless a later job has replaced it. Return an error message or ``""``."""
        with self._changed:
            if self._jobs.get(key) is not job:
                return ""
        try:
            job()
        except Exception as error:  # noqa: BLE001 - a bug must not stop saving silently
            return str(error) or type(error).__name__
        with self._changed:
            if self._jobs.get(key) is job:
                del self._jobs[key]
        return ""
