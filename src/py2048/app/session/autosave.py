"""Autosave: a session hands over each change of its game, and play never waits for a disk.

`StoreAutosave` gives a change to a `BackgroundWriter`, a thread that retries until it succeeds, and
waits for it `WRITE_WAIT_S` seconds at most. So a change that is shown without a warning is on the
disk; while the store is locked, full or out of reach the game continues, `unsaved` says why, and
everything is saved as soon as possible.
"""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import attrgetter
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from py2048.app.session.tracked_game import HUMAN_CATEGORIES, TrackedGame
from py2048.app.storage import GameChange, SavedGame
from py2048.app.storage.values import utc_now, utc_text
from py2048.core.errors import StaleGameError, StorageError

if TYPE_CHECKING:
    from py2048.app.storage import Store

WRITE_WAIT_S = 0.15
"""How long a move or a setting waits for the store at most."""

READ_TIMEOUT_S = 2.0
"""How long reading may take, when a game begins or a list is asked for."""

CLOSE_TIMEOUT_S = 3.0
"""How long a player who leaves waits for what is not saved."""

RETRY_S = 0.5
"""The time between two attempts to write, unless more work comes."""

ORPHANED = timedelta(minutes=10)
"""So long after its last change a game that is over is on no screen, as far as we know."""

FORKED = (
    "this game was continued or finished in another window; here it is kept as a game of its own"
)
NO_STORE = "this session keeps no games: it was opened without a store"

T = TypeVar("T")
Job = Callable[[], object]
_updated = attrgetter("updated")


class Autosave:
    """What a session saves through. This base class keeps settings in memory and nothing else.

    Attributes:
        keeps_games: whether a game that the session leaves can be resumed later.
    """

    keeps_games = False

    def __init__(self) -> None:
        self._settings: dict[str, object] = {}

    @property
    def unsaved(self) -> str:
        """Why something is not saved yet, in one line; empty if all is saved."""
        return ""

    def settle(self) -> None:
        """Wait a moment for what is being saved."""

    def take_notices(self) -> list[str]:
        """Return each message about saving that the player should read, once."""
        return []

    def close(self) -> None:
        """Save the rest, and end."""

    def begin(self, game: TrackedGame, saved: SavedGame | None = None) -> None:
        """Keep a game from now on: a new one, or one that is `saved`."""

    def save(self, game: TrackedGame) -> None:
        """Keep the game's changes."""

    def release(self, game: TrackedGame) -> None:
        """Stop keeping the game."""

    def best_score(self, rules: str) -> int:
        """Return the best score of a person under these rules.

        Raises:
            StorageError: if it cannot be read.
        """
        bests: dict[str, int] = self.read(lambda store, owner: store.scores.bests(rules, owner), {})
        return max(bests.get(kind, 0) for kind in HUMAN_CATEGORIES)

    def note_score(self, rules: str, category: str, score: int) -> None:
        """Raise the best score."""

    def get_setting(self, key: str) -> object:
        """Return the value that `set_setting` stored, `None` if there is none.

        Raises:
            StorageError: if it cannot be read.
        """
        if key not in self._settings:
            self._settings[key] = self.read(lambda store, _: store.settings.get(key), None)
        return self._settings[key]

    def set_setting(self, key: str, value: object) -> None:
        """Store a JSON value."""
        self._settings[key] = value

    def current_game(self, rules: str | None) -> SavedGame | None:
        """Return the last unfinished game, under `rules` if they are given.

        Raises:
            StorageError: if the store cannot be read.
        """
        stored = self.read(lambda store, owner: store.games.current(owner, rules), None)
        unsaved = [game for game in self.unsaved_games() if rules in (None, game.rules)]
        return max([stored, *unsaved] if stored else unsaved, key=_updated, default=None)

    def saved_games(self) -> list[SavedGame]:
        """Return the games in progress without their turns, the last played first.

        Raises:
            StorageError: if the store cannot be read.
        """
        stored: list[SavedGame] = self.read(
            lambda store, owner: store.games.select(owner, finished=False, with_turns=False), []
        )
        games = {game.id: game for game in [*stored, *self.unsaved_games()]}
        return sorted(games.values(), key=_updated, reverse=True)

    def saved_game(self, game_id: str) -> SavedGame | None:
        """Return a game in progress as it is now, `None` if it no longer is.

        Raises:
            StorageError: if the store cannot be read.
        """
        unsaved = {game.id: game for game in self.unsaved_games()}
        found = unsaved.get(game_id) or self.read(lambda store, _: store.games.find(game_id), None)
        return None if found is None or found.is_over else found

    def unsaved_games(self) -> list[SavedGame]:
        """Return the games in progress of which the store lacks something."""
        return []

    def read(self, question: Callable[[Store, str], T], default: T) -> T:  # noqa: ARG002 - for subclasses
        """Ask the store something about its owner; return `default` where there is no store."""
        return default


class _KeptGame:
    """A game as it is here, and what of it the store lacks.

    The player's thread calls `add`, the writer's thread all else that changes something.

    Args:
        saved: the game as it began here.
        is_stored: whether the store has it like that.
    """

    def __init__(self, saved: SavedGame, *, is_stored: bool) -> None:
        self._lock = threading.Lock()
        self._latest = replace(saved, turns=(), millis=())
        self._turns = list(saved.turns)
        self._millis = list(saved.millis)
        self._changes: list[GameChange] = []
        self.id, self.revision, self.is_stored = saved.id, saved.revision, is_stored
        self.is_unsure = False
        """Whether the store may have more than it has acknowledged."""

    def add(self, change: GameChange) -> None:
        """Take over what is new; it costs as much as the turns that are new."""
        with self._lock:
            self._changes.append(change)
            if change.turns:
                first = change.turns[0][0]
                self._turns[first:] = [code for _, code, _ in change.turns]
                self._millis[first:] = [millis for _, _, millis in change.turns]
            self._latest = replace(
                self._latest, position=change.position, score=change.score, is_over=change.is_over,
                undos=change.undos, hints=change.hints, extra=change.extra, updated=utc_now(),
            )  # fmt: skip

    @property
    def has_turns(self) -> bool:
        """Whether there is a turn, undone or not."""
        return bool(self._turns)

    def as_saved(self) -> SavedGame:
        """Return the game as the store has it, or will have it."""
        with self._lock:
            turns, millis = tuple(self._turns), tuple(self._millis)
            return replace(
                self._latest, id=self.id, revision=self.revision, turns=turns, millis=millis
            )

    def beginning(self) -> SavedGame:
        """Return the game without what happened in it, to be added to the store."""
        return replace(self._latest, id=self.id)

    def pending(self) -> tuple[int, GameChange | None]:
        """Return of how many changes the store knows nothing yet, and all of them as one."""
        with self._lock:
            changes = tuple(self._changes)
        if not changes:
            return 0, None
        newest = self.revision + changes[-1].revision - changes[0].seen
        turns = tuple(turn for change in changes for turn in change.turns)
        whole = replace(changes[-1], id=self.id, seen=self.revision, revision=newest, turns=turns)
        return len(changes), whole

    def acknowledge(self, count: int, revision: int) -> None:
        """Note that the store has the first `count` changes, and which revision it has now."""
        with self._lock:
            del self._changes[:count]
            self.revision, self.is_stored, self.is_unsure = revision, True, False

    def continue_from(self, stored: SavedGame | None) -> bool:
        """Continue from what the store has if it is of this game; else become a game of its own.

        Returns:
            Whether it is of this game.
        """
        now = self.as_saved()
        is_mine = stored is not None and stored.turns == now.turns[: len(stored.turns)]
        with self._lock:
            if stored is not None and self.is_unsure and is_mine:
                self.revision, self.is_stored, self.is_unsure = stored.revision, True, False
                return True
            self.id, self.revision = secrets.token_hex(8), 0
            self.is_stored = self.is_unsure = False
            turns = zip(range(len(now.turns)), now.turns, now.millis, strict=True)
            self._changes[:] = [
                GameChange(
                    id=self.id, seen=0, revision=1, length=len(now.turns), position=now.position,
                    score=now.score, is_over=now.is_over, undos=now.undos, hints=now.hints,
                    extra=now.extra, turns=tuple((ply, code, ms or 0) for ply, code, ms in turns),
                )
            ]  # fmt: skip
        return False


class StoreAutosave(Autosave):
    """Keeps an owner's games, scores and settings in a store.

    Its methods are for one thread, the player's.

    Args:
        store: where to; closed with this object.
        owner: whose.
    """

    keeps_games = True

    def __init__(self, store: Store, owner: str = "local") -> None:
        super().__init__()
        self._store, self._owner = store, owner
        self._writer = BackgroundWriter(store.name)
        self._notices: deque[str] = deque()
        self._current: _KeptGame | None = None
        self._is_reading = False

    @property
    def unsaved(self) -> str:
        """Why something is not saved yet, in one line; empty if all is saved."""
        return self._writer.unsaved

    def settle(self) -> None:
        """Wait `CLOSE_TIMEOUT_S` seconds at most for a store that is only slow."""
        self._writer.settle(CLOSE_TIMEOUT_S)

    def take_notices(self) -> list[str]:
        """Return each message about saving that the player should read, once."""
        return [self._notices.popleft() for _ in range(len(self._notices))]

    def close(self) -> None:
        """Save the rest and close the store.

        Raises:
            StorageError: if something could not be saved in `CLOSE_TIMEOUT_S` seconds; it is lost.
        """
        try:
            self._writer.close(CLOSE_TIMEOUT_S)
        finally:
            self._store.close()

    # The current game

    def begin(self, game: TrackedGame, saved: SavedGame | None = None) -> None:
        """Keep a game from now on; a new one enters the store with its first turn.

        One that came to its end elsewhere enters it when its turns change.
        """
        if saved is not None:
            unsaved = (kept for kept in self._unsaved() if kept.id == saved.id)
            self._current = next(unsaved, None) or _KeptGame(saved, is_stored=True)
            return
        now = game.game
        saved = SavedGame(
            id=game.id, rules=str(now.rules), seed=now.seed, start=str(now.start),
            player=now.player, owner=self._owner,
            started=utc_text(datetime.fromtimestamp(now.started, UTC)),
        )  # fmt: skip
        self._current = _KeptGame(saved, is_stored=False)
        if not now.is_over:
            self.save(game)

    def save(self, game: TrackedGame) -> None:
        """Bring the store up to date, now or as soon as possible."""
        kept = self._current
        if kept is not None and game.codes and (change := game.take_change()):
            kept.add(change)
            self._put(kept, partial(self._write, kept))

    def release(self, game: TrackedGame) -> None:
        """Stop keeping a game: a finished one becomes a record, one without a turn is discarded.

        A game in progress stays in the store, to be resumed.
        """
        kept, self._current = self._current, None
        if kept is None:
            return
        if kept.has_turns and game.game.is_over:
            self._writer.put(kept, partial(self._finish, kept, game))
        elif not game.codes and kept.is_stored:
            self._writer.put(kept, partial(self._discard, kept))

    def finalize_orphans(self) -> None:
        """Make records of the games that were over when their process ended, `ORPHANED` ago.

        Those that cannot be read back stay as they are, and a notice names them.

        Raises:
            StorageError: if the store cannot be read.
        """
        before = utc_text(datetime.now(UTC) - ORPHANED)
        for saved in self._store.games.select(self._owner, finished=True):
            if saved.updated > before:  # another window may show it, and take its last move back
                continue
            try:
                game = TrackedGame.from_saved(saved)
            except StorageError as error:
                self._notices.append(skipped(error))
                continue
            kept = _KeptGame(saved, is_stored=True)
            self._writer.put(kept, partial(self._finish, kept, game))

    # Scores and settings

    def note_score(self, rules: str, category: str, score: int) -> None:
        """Raise the best score; it is saved together with the next change."""
        note = partial(self._store.scores.note, rules, self._owner, category, score)
        self._writer.put((rules, category), note)

    def set_setting(self, key: str, value: object) -> None:
        """Store a JSON value."""
        self._settings[key] = value
        self._put(key, partial(self._store.settings.set, key, value))

    def unsaved_games(self) -> list[SavedGame]:
        """Return the games in progress of which the store lacks something."""
        games = (kept.as_saved() for kept in self._unsaved())
        return [game for game in games if not game.is_over]

    def _unsaved(self) -> list[_KeptGame]:
        return [key for key in self._writer.unfinished() if isinstance(key, _KeptGame)]

    def read(self, question: Callable[[Store, str], T], default: T) -> T:  # noqa: ARG002 - it has a store
        """Ask in a thread that may hang, after the writer's jobs if those are quick.

        Raises:
            StorageError: if the store cannot be read, or does not answer in time.
        """
        answer: SimpleQueue[T | StorageError] = SimpleQueue()

        def ask() -> None:
            found: T | StorageError
            try:
                found = question(self._store, self._owner)
            except StorageError as error:
                found = error
            self._is_reading = False
            answer.put(found)

        self._writer.wait(READ_TIMEOUT_S)
        try:
            if self._is_reading:  # the read before hangs, and this one would
                raise Empty
            self._is_reading = True
            threading.Thread(target=ask, name="py2048-reader", daemon=True).start()
            found = answer.get(timeout=READ_TIMEOUT_S)
        except Empty:
            raise StorageError(f"{self._store.name} does not answer; try again later") from None
        if isinstance(found, StorageError):
            raise found
        return found

    # In the writer's thread

    def _put(self, key: Hashable, job: Job) -> None:
        self._writer.put(key, job)
        self._writer.wait(WRITE_WAIT_S)

    def _write(self, kept: _KeptGame) -> None:
        """Write what the store lacks of a game."""
        count, change = kept.pending()
        if change is None:
            return
        try:
            if not kept.is_stored:
                self._store.games.add(kept.beginning())
            is_stale = bool(self._store.changes.write([change]))
        except StorageError:
            kept.is_unsure = True
            raise
        if is_stale:
            self._settle_with_store(kept)
            self._write(kept)
        else:
            kept.acknowledge(count, change.revision)

    def _settle_with_store(self, kept: _KeptGame) -> None:
        """Settle with a store that has another revision of the game."""
        if not kept.continue_from(self._store.games.find(kept.id)):
            self._notices.append(FORKED)

    def _finish(self, kept: _KeptGame, game: TrackedGame) -> None:
        """Turn a game that is over into a finished record."""
        self._write(kept)
        now = game.game
        try:
            self._store.records.finish(
                kept.id, kept.revision, game.record().to_json(), score=now.score,
                max_tile=now.board.max_tile, plies=now.ply, outcome=now.outcome.value,
                category=game.category, counts=not game.is_continued,
            )  # fmt: skip
        except StaleGameError:
            self._settle_with_store(kept)
            self._finish(kept, game)

    def _discard(self, kept: _KeptGame) -> None:
        with suppress(StaleGameError):  # another process plays it
            self._store.games.discard(kept.id, kept.revision)


def skipped(error: StorageError) -> str:
    """Return the notice that a game which cannot be read back is left out."""
    return f"{error}; it stays in the store, and other games can be played"


class BackgroundWriter:
    """Does jobs in a thread, in their order, the latest for each key, each until it succeeds.

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
        self._timeout = 0.0
        self._thread: threading.Thread | None = None

    @property
    def unsaved(self) -> str:
        """Why a job takes longer than it should, in one line; empty if none does."""
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
            StorageError: if the writer is closed.
        """
        with self._changed:
            if self._is_closed:
                raise StorageError(f"the store {self._name} is closed; open it again")
            self._jobs.pop(key, None)  # the latest change comes last
            self._jobs[key] = job
            self._changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="py2048-writer", daemon=True)
            self._thread.start()

    def wait(self, timeout: float) -> None:
        """Wait until all is done; no longer once something takes more than `timeout` seconds."""
        with self._changed:
            self._timeout = timeout
            if not self._changed.wait_for(lambda: self._is_late or not self._jobs, timeout):
                self._is_late = True

    def settle(self, timeout: float) -> None:
        """Wait until all is done or something has failed, `timeout` seconds at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._reason or not self._jobs, timeout)

    def close(self, timeout: float) -> None:
        """Do what can be done, then end.

        Args:
            timeout: seconds to wait where something is known to be wrong with the store; one
                that is only slow, because the machine is busy, has five times as long.

        Raises:
            StorageError: if that is not all; the rest is given up.
        """
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            seconds = timeout if self._is_late else 5 * timeout
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
                is_slow = self._is_late and monotonic() - began > self._timeout
                self._is_late = bool(self._jobs) and (bool(failures) or is_slow)
                self._changed.notify_all()
                if failures:
                    self._changed.wait(RETRY_S)

    def _do(self, key: Hashable, job: Job) -> str:
        """Do a job, if no later one has replaced it; return why that failed, or an empty text."""
        with self._changed:
            if self._jobs.get(key) is not job:  # so the game that changed last is written last
                return ""
        try:
            job()
        except Exception as error:  # noqa: BLE001 - a fault of ours must not end saving unseen
            return str(error) or type(error).__name__
        with self._changed:
            if self._jobs.get(key) is job:
                del self._jobs[key]
        return ""
