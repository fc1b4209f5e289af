"""Autosave: a session hands over each change of its game, and play never waits for a disk.

`StoreAutosave` gives a change to a `BackgroundWriter`, a thread that retries until it succeeds, and
waits for it `WRITE_WAIT` seconds at most. So a change that is shown without a warning is on the
disk; while the store is locked, full or out of reach the game continues, `unsaved` says why, and
everything is saved as soon as possible.
"""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import attrgetter
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from py2048.errors import StaleGameError, StorageError
from py2048.session.tracked_game import HUMAN_CATEGORIES, TrackedGame
from py2048.storage import GameChange, SavedGame
from py2048.storage.values import utc_now, utc_text

if TYPE_CHECKING:
    from py2048.storage import Store

WRITE_WAIT = 0.15
"""Seconds that a move or a setting waits for the store at most."""

READ_TIMEOUT = 2.0
"""Seconds that reading may take, when a game begins or a list is asked for."""

CLOSE_TIMEOUT = 3.0
"""Seconds that a player who leaves waits for what is not saved."""

RETRY = 0.5
"""Seconds between two attempts to write, unless more work comes."""

ORPHANED = timedelta(minutes=10)
"""So long after its last change a game that is over is on nobody's screen, as far as we know."""

FORKED = (
    "this game was continued or finished in another window; here it is kept as a game of its own"
)
NO_STORE = "this session keeps no games: it was opened without a store"

RIVALS = "rivals"
"""The setting with the rivals of all games by the games' ids, in stores of earlier versions."""

T = TypeVar("T")
RivalData = Mapping[str, Any]
"""What `Rival.to_json` returns."""

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

    @property
    def game_id(self) -> str:
        """The store's name for the current game; empty if there is none."""
        return ""

    def begin(
        self, game: TrackedGame, saved: SavedGame | None = None, rival: RivalData | None = None
    ) -> None:
        """Keep a game from now on: a new one, or one that is `saved`; and its rival with it."""

    def save(self, game: TrackedGame) -> None:
        """Keep the game's changes."""

    def release(self, game: TrackedGame) -> None:
        """Stop keeping the game."""

    def best_score(self, rules: str) -> int:  # noqa: ARG002 - for subclasses
        """Return the best score of a person under these rules."""
        return 0

    def note_score(self, rules: str, category: str, score: int) -> None:
        """Raise the best score."""

    def get_setting(self, key: str) -> object:
        """Return the value that `set_setting` stored, `None` if there is none."""
        return self._settings.get(key)

    def set_setting(self, key: str, value: object) -> None:
        """Store a JSON value."""
        self._settings[key] = value

    def current_game(self, rules: str | None) -> SavedGame | None:  # noqa: ARG002 - for subclasses
        """Return the last unfinished game, under `rules` if they are given."""
        return None

    def saved_games(self) -> list[SavedGame]:
        """Return the games in progress without their turns, the last played first."""
        return []

    def saved_game(self, game_id: str) -> SavedGame | None:  # noqa: ARG002 - for subclasses
        """Return a game in progress as it is now, `None` if it is no longer."""
        return None

    def rival_of(self, game_id: str) -> RivalData | None:  # noqa: ARG002 - for subclasses
        """Return what describes the rival of a saved game, `None` if it has none."""
        return None

    def read(self, question: Callable[[Store, str], T], default: T) -> T:  # noqa: ARG002 - for subclasses
        """Ask the store something about its owner; return `default` where there is no store."""
        return default


@dataclass(eq=False)
class _SaveState:
    """The newest state of a game, and how much of it the store has.

    The player's thread sets `latest`, the writer's thread all else, each in one assignment.

    Attributes:
        id: the store's name for the game.
        latest: the newest state; its id and revision do not count.
        acknowledged: the last state that the store has; `None` if it does not have the game.
        revision: the revision of `acknowledged`.
        is_unsure: whether the store may have more than it acknowledged.
        rival: what describes the game's rival, if it has one.
    """

    id: str
    latest: SavedGame
    acknowledged: SavedGame | None = None
    revision: int = 0
    is_unsure: bool = False
    rival: RivalData | None = None

    @property
    def as_saved(self) -> SavedGame:
        """The game as the store has it, or will have it."""
        return replace(self.latest, id=self.id)

    def update(self, game: TrackedGame) -> None:
        """Take over a change of the game."""
        self.latest = replace(
            self.latest, turns=tuple(game.codes), millis=tuple(game.think_ms),
            position=game.position, score=game.game.score, is_over=game.game.is_over,
            undos=game.undos, hints=game.hints, updated=utc_now(),
            extra={
                "computer": game.computer,
                "player": game.game.player,
                "continued": game.is_continued,
            },
        )  # fmt: skip

    def change_to(self, now: SavedGame) -> GameChange:
        """Return what the store lacks of this state."""
        seen, known = self.acknowledged, 0
        if seen:
            known = min(_shared(seen.turns, now.turns), _shared(seen.millis, now.millis))
        plies = range(known, len(now.turns))
        return GameChange(
            self.id, self.revision, self.revision + 1, len(now.turns), now.position, now.score,
            now.is_over, now.undos, now.hints, now.extra,
            tuple((ply, now.turns[ply], now.millis[ply] or 0) for ply in plies),
        )  # fmt: skip

    def resolve(self, stored: SavedGame | None) -> bool:
        """Continue from what the store has if it is of this game; else become a game of its own."""
        if stored and self.is_unsure and stored.turns == self.latest.turns[: len(stored.turns)]:
            self.acknowledged, self.revision, self.is_unsure = stored, stored.revision, False
            return True
        self.id, self.acknowledged, self.revision = secrets.token_hex(8), None, 0
        self.is_unsure = False
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
        self._current: _SaveState | None = None
        self._is_reading = False

    @property
    def unsaved(self) -> str:
        """Why something is not saved yet, in one line; empty if all is saved."""
        return self._writer.unsaved

    def settle(self) -> None:
        """Wait `CLOSE_TIMEOUT` seconds at most for a store that is only slow."""
        self._writer.settle(CLOSE_TIMEOUT)

    def take_notices(self) -> list[str]:
        """Return each message about saving that the player should read, once."""
        return [self._notices.popleft() for _ in range(len(self._notices))]

    def close(self) -> None:
        """Save the rest and close the store.

        Raises:
            StorageError: if something could not be saved for `CLOSE_TIMEOUT` seconds; it is lost.
        """
        try:
            self._writer.close(CLOSE_TIMEOUT)
        finally:
            self._store.close()

    # The current game

    @property
    def game_id(self) -> str:
        """The store's name for the current game; empty if there is none."""
        return self._current.id if self._current else ""

    def begin(
        self, game: TrackedGame, saved: SavedGame | None = None, rival: RivalData | None = None
    ) -> None:
        """Keep a game from now on; a new one enters the store with its first turn and its rival.

        One that came to its end elsewhere enters it when its turns change.
        """
        if saved is not None:
            unsaved = (state for state in self._unsaved_states() if state.id == saved.id)
            self._current = next(unsaved, None) or _SaveState(
                saved.id, saved, saved, saved.revision, rival=rival
            )
            return
        now = game.game
        saved = SavedGame(
            rules=str(now.rules), seed=now.seed, start=str(now.start), player=now.player,
            owner=self._owner, started=utc_text(datetime.fromtimestamp(now.started, UTC)),
        )  # fmt: skip
        self._current = _SaveState(saved.id, saved, rival=rival)
        if not now.is_over:
            self.save(game)

    def save(self, game: TrackedGame) -> None:
        """Bring the store up to date, now or as soon as possible."""
        state = self._current
        if state is not None and game.codes:
            state.update(game)
            self._put(state, partial(self._write, state))

    def release(self, game: TrackedGame) -> None:
        """Stop keeping a game: a finished one becomes a record, one without a turn is discarded.

        A game in progress stays in the store, to be resumed.
        """
        state, self._current = self._current, None
        if state is None:
            return
        if state.latest.turns and game.game.is_over:
            self._writer.put(state, partial(self._finish, state, game))
        elif not game.codes and state.acknowledged:
            self._writer.put(state, partial(self._discard, state))

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
            state = _SaveState(saved.id, saved, saved, saved.revision)
            self._writer.put(state, partial(self._finish, state, game))

    # Scores and settings

    def best_score(self, rules: str) -> int:
        """Return the best score of a person under these rules.

        Raises:
            StorageError: if it cannot be read.
        """
        bests: dict[str, int] = self.read(lambda store, owner: store.scores.bests(rules, owner), {})
        return max(bests.get(kind, 0) for kind in HUMAN_CATEGORIES)

    def note_score(self, rules: str, category: str, score: int) -> None:
        """Raise the best score; it is saved together with the next change."""
        note = partial(self._store.scores.note, rules, self._owner, category, score)
        self._writer.put((rules, category), note)

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
        self._put(key, partial(self._store.settings.set, key, value))

    # Lists

    def current_game(self, rules: str | None) -> SavedGame | None:
        """Return the last unfinished game, under `rules` if they are given.

        Raises:
            StorageError: if the store cannot be read.
        """
        stored = self.read(lambda store, owner: store.games.current(owner, rules), None)
        unsaved = [game for game in self._unsaved_games() if rules in (None, game.rules)]
        return max([stored, *unsaved] if stored else unsaved, key=_updated, default=None)

    def saved_games(self) -> list[SavedGame]:
        """Return the games in progress without their turns, the last played first.

        Raises:
            StorageError: if the store cannot be read.
        """
        stored: list[SavedGame] = self.read(
            lambda store, owner: store.games.select(owner, finished=False, with_turns=False), []
        )
        games = {game.id: game for game in [*stored, *self._unsaved_games()]}
        return sorted(games.values(), key=_updated, reverse=True)

    def saved_game(self, game_id: str) -> SavedGame | None:
        """Return a game in progress as it is now, `None` if it is no longer.

        Raises:
            StorageError: if the store cannot be read.
        """
        unsaved = {game.id: game for game in self._unsaved_games()}
        found = unsaved.get(game_id) or self.read(lambda store, _: store.games.find(game_id), None)
        return None if found is None or found.is_over else found

    def rival_of(self, game_id: str) -> RivalData | None:
        """Return what describes the rival of a saved game, `None` if it has none.

        Raises:
            StorageError: if it cannot be read.
        """

        def ask(store: Store, _: str) -> Any:
            earlier: Any = store.settings.get(RIVALS, {})
            return store.settings.get(_rival_key(game_id)) or earlier.get(game_id)

        unsaved = {state.id: state.rival for state in self._unsaved_states()}
        return unsaved.get(game_id) or self.read(ask, None)

    def _unsaved_states(self) -> list[_SaveState]:
        return [key for key in self._writer.unfinished() if isinstance(key, _SaveState)]

    def _unsaved_games(self) -> list[SavedGame]:
        """The games in progress of which the store lacks something."""
        return [state.as_saved for state in self._unsaved_states() if not state.latest.is_over]

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

        self._writer.wait(READ_TIMEOUT)
        try:
            if self._is_reading:  # the read before hangs, and this one would
                raise Empty
            self._is_reading = True
            threading.Thread(target=ask, name="py2048-reader", daemon=True).start()
            found = answer.get(timeout=READ_TIMEOUT)
        except Empty:
            raise StorageError(f"{self._store.name} does not answer; try again later") from None
        if isinstance(found, StorageError):
            raise found
        return found

    # In the writer's thread

    def _put(self, key: Hashable, job: Job) -> None:
        self._writer.put(key, job)
        self._writer.wait(WRITE_WAIT)

    def _write(self, state: _SaveState) -> None:
        """Write what the store lacks of a game."""
        latest = state.latest
        if latest is state.acknowledged:
            return
        change = state.change_to(latest)
        try:
            if state.acknowledged is None:
                self._store.games.add(state.as_saved)
                if state.rival is not None:
                    self._store.settings.set(_rival_key(state.id), state.rival)
            is_stale = bool(self._store.changes.write([change]))
        except StorageError:
            state.is_unsure = True
            raise
        if is_stale:
            self._resolve(state)
            self._write(state)
        else:
            state.acknowledged, state.revision = latest, change.revision
            state.is_unsure = False

    def _resolve(self, state: _SaveState) -> None:
        """Settle with a store that has another revision of the game."""
        if not state.resolve(self._store.games.find(state.id)):
            self._notices.append(FORKED)

    def _finish(self, state: _SaveState, game: TrackedGame) -> None:
        """Turn a game that is over into a finished record."""
        self._write(state)
        now = game.game
        try:
            self._store.records.finish(
                state.id, state.revision, game.record().to_json(), score=now.score,
                max_tile=now.board.max_tile, plies=now.ply, outcome=now.outcome.value,
                category=game.category, counts=not game.is_continued,
            )  # fmt: skip
        except StaleGameError:
            self._resolve(state)
            self._finish(state, game)
        else:
            self._store.settings.remove(_rival_key(state.id))

    def _discard(self, state: _SaveState) -> None:
        with suppress(StaleGameError):  # another process plays it
            self._store.games.discard(state.id, state.revision)
            self._store.settings.remove(_rival_key(state.id))


def _rival_key(game_id: str) -> str:
    """Return the setting with a game's rival; programs overwrite one that all games share."""
    return f"rival {game_id}"


def skipped(error: StorageError) -> str:
    """Return the notice that a game which cannot be read back is left out."""
    return f"{error}; it stays in the store, and other games can be played"


def _shared(old: tuple[object, ...], new: tuple[object, ...]) -> int:
    """Return how many of the first items are equal."""
    shorter = min(len(old), len(new))
    if old[:shorter] == new[:shorter]:  # the common case, at the speed of C
        return shorter
    return next(index for index in range(shorter) if old[index] != new[index])


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
                    self._changed.wait(RETRY)

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
