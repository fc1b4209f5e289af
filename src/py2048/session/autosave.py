"""`Autosave`: keeps a session's games, scores and settings in a store, and never lets play wait.

A change is handed to a `Saver`, the thread that writes, and waited for: for `PATIENCE` at most. So
what is shown without a warning is on the disk; and where the store is locked, full or out of reach
the game goes on, `unsaved` says why, and all is saved as soon as that is possible.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from py2048.errors import StaleGameError, StorageError
from py2048.game import Record
from py2048.game.spawning import Draws
from py2048.session.keeper import PERSON, Keeper, finish, restore
from py2048.session.play import Play
from py2048.session.saver import Job, Saver
from py2048.storage import GameChange, RecordSummary, SavedGame, ScoreSummary
from py2048.storage.values import utc_now

if TYPE_CHECKING:
    from py2048.storage import Store

PATIENCE = 0.15
"""Seconds that a move or a setting waits for the store at most."""

READING = 2.0
"""Seconds that reading may take, when a game begins or a list is asked for."""

LEAVING = 3.0
"""Seconds that `Autosave.close` waits for what is not saved."""

FORKED = "this game went on in another window; here it is kept as a game of its own"

T = TypeVar("T")


@dataclass(eq=False)
class _TrackedGame:
    """A game as it is, and how much of that the store has.

    Attributes:
        saved: the facts; `codes` and `millis` are newer than its turns.
        revision: the revision that the store has; `None` if it does not have the game.
        clean: how many of `codes` the store has.
        is_dirty: whether the store lacks something.
        is_unsure: whether the store may have what it did not acknowledge.
    """

    saved: SavedGame
    revision: int | None = None
    clean: int = 0
    codes: list[str] = field(default_factory=list)
    millis: list[int] = field(default_factory=list)
    is_dirty: bool = False
    is_unsure: bool = False

    @classmethod
    def stored(cls, saved: SavedGame) -> _TrackedGame:
        """Track a game that the store has."""
        millis = [each or 0 for each in saved.millis]
        return cls(saved, saved.revision, len(saved.turns), list(saved.turns), millis)

    def update(self, play: Play) -> None:
        """Take over how the game stands now."""
        self.codes[play.clean :] = play.codes[play.clean :]
        self.millis[play.clean :] = play.millis[play.clean :]
        self.clean = min(self.clean, play.clean)
        play.clean = len(play.codes)
        undos, hints, computer = play.facts
        self.saved = replace(
            self.saved, position=play.position, score=play.game.score, is_over=play.game.is_over,
            undos=undos, hints=hints, updated=utc_now(),
            extra={"computer": computer, "player": play.game.player},
        )  # fmt: skip
        self.is_dirty = True

    def change(self) -> GameChange:
        """Return all that the store lacks."""
        now, seen = self.saved, self.revision or 0
        plies = range(self.clean, len(self.codes))
        return GameChange(
            now.id, seen, seen + self.is_dirty, len(self.codes), now.position, now.score,
            now.is_over, now.undos, now.hints, now.extra,
            tuple((ply, self.codes[ply], self.millis[ply]) for ply in plies),
        )  # fmt: skip

    def head(self) -> SavedGame:
        """Return the game before its first turn."""
        return replace(self.saved, revision=0, turns=(), position=0, score=0, is_over=False)

    def as_saved(self) -> SavedGame:
        """Return the game as the store has it, or will."""
        return replace(self.saved, turns=tuple(self.codes), millis=tuple(self.millis))

    def take_up(self, stored: SavedGame | None) -> bool:
        """Go on from what the store turns out to have; return whether it is this game's."""
        if not (self.is_unsure and stored):
            return False
        shared = len(stored.turns)
        if list(stored.turns) != self.codes[:shared]:
            return False
        self.revision, self.clean, self.is_dirty, self.is_unsure = (
            stored.revision, min(self.clean, shared), True, False,
        )  # fmt: skip
        return True

    def fork(self) -> None:
        """Become a game of its own, of which the store has nothing."""
        self.saved = replace(self.saved, id=secrets.token_hex(8))
        self.revision, self.clean, self.is_dirty, self.is_unsure = None, 0, True, False


class Autosave(Keeper):
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
        self._saver = Saver(store.name)
        self._lock = threading.Lock()  # for the tracked games and the notices
        self._notices: list[str] = []
        self._current: _TrackedGame | None = None
        self._is_reading = False

    @property
    def unsaved(self) -> str:
        """Why something is not saved yet, in one line; empty if all is saved."""
        return self._saver.trouble

    def take_notices(self) -> list[str]:
        """Return what the player should know of what was saved, once."""
        with self._lock:
            notices, self._notices = self._notices, []
        return notices

    def close(self) -> None:
        """Save what is to be saved and close the store.

        Raises:
            StorageError: if something could not be saved for `LEAVING` seconds; it is lost.
        """
        try:
            self._saver.close(LEAVING)
        finally:
            self._store.close()

    # The game on the table

    def begin(self, play: Play) -> None:
        """Keep a new game from now on; it enters the store with its first turn."""
        game = play.game
        saved = SavedGame.new(
            rules=str(game.rules), seed=game.seed, start=str(game.start), player=game.player,
            owner=self._owner,
        )  # fmt: skip
        self._current = _TrackedGame(saved)
        play.clean = 0
        self.save(play)

    def load(self, saved: SavedGame, draws: Draws | None = None) -> Play:
        """Return a saved game as it was left, and keep it from now on.

        Raises:
            StorageError: if the saved game cannot be read back.
        """
        play = restore(saved, draws)
        unsaved = (game for game in self._unsaved_games() if game.saved.id == saved.id)
        self._current = next(unsaved, None) or _TrackedGame.stored(saved)
        return play

    def save(self, play: Play) -> None:
        """Bring the store up to date, now or as soon as that is possible."""
        game = self._current
        if game is None or not play.codes:
            return
        with self._lock:
            game.update(play)
        self._put(game, partial(self._write, game))

    def leave(self, play: Play) -> None:
        """Let go of a game: a finished one becomes a record, one without a turn is discarded.

        A game in between stays in the store, to be resumed.
        """
        game, self._current = self._current, None
        if game is None:
            return
        if play.codes and play.game.is_over:
            self._saver.put(game, partial(self._finish, game, play))
        elif not play.codes and game.revision is not None:
            self._saver.put(game, partial(self._discard, game))

    def finish_left_behind(self) -> None:
        """Finish the games that were over when their process ended.

        Raises:
            StorageError: if the store cannot be read.
        """
        for saved in self._store.games.select(self._owner, finished=True):
            game = _TrackedGame.stored(saved)
            self._saver.put(game, partial(self._finish, game, restore(saved)))

    # Scores and settings

    def best_score(self, rules: str) -> int:
        """Return the best score of a person under these rules.

        Raises:
            StorageError: if it cannot be read.
        """
        store, owner = self._store, self._owner
        return self._read(lambda: max(store.scores.best(rules, owner, kind) for kind in PERSON))

    def note_score(self, rules: str, category: str, score: int) -> None:
        """Raise the best score; what is saved next is saved together with it."""
        note = partial(self._store.scores.note, rules, self._owner, category, score)
        self._saver.put((rules, category), note)

    def get_setting(self, key: str) -> Any:
        """Return what `set_setting` remembered.

        Raises:
            StorageError: if it cannot be read.
        """
        if key not in self._settings:
            self._settings[key] = self._read(lambda: self._store.settings.get(key))
        return self._settings[key]

    def set_setting(self, key: str, value: Any) -> None:
        """Remember a JSON value."""
        self._settings[key] = value
        self._put(key, partial(self._store.settings.set, key, value))

    # Lists

    def current_game(self, rules: str | None) -> SavedGame | None:
        """Return the last unfinished game, under `rules` if they are given.

        Raises:
            StorageError: if the store cannot be read.
        """
        stored = self._read(lambda: self._store.games.current(self._owner, rules))
        unsaved = [g for g in self._unsaved_going_on() if rules in (None, g.rules)]
        return max([stored, *unsaved] if stored else unsaved, key=_AGE, default=None)

    def saved_games(self) -> list[SavedGame]:
        """Return the games in progress, the last played first.

        Raises:
            StorageError: if the store cannot be read.
        """
        stored = self._read(lambda: self._store.games.select(self._owner, finished=False))
        games = {game.id: game for game in [*stored, *self._unsaved_going_on()]}
        return sorted(games.values(), key=_AGE, reverse=True)

    def scores(self, rules: str | None) -> list[ScoreSummary]:
        """Return the best scores and averages by rules and category.

        Raises:
            StorageError: if the store cannot be read.
        """
        return self._read(lambda: self._store.scores.summaries(self._owner, rules=rules))

    def finished(self, rules: str | None, limit: int) -> list[RecordSummary]:
        """Return finished games, the best first.

        Raises:
            StorageError: if the store cannot be read.
        """
        store, owner = self._store, self._owner
        return self._read(lambda: store.records.select(rules=rules, owner=owner, limit=limit))

    def finished_record(self, record_id: str) -> Record:
        """Return one of the `finished` games.

        Raises:
            StorageError: if there is none of that name, or the store cannot be read.
            RecordError: if it is damaged.
        """
        return Record.from_json(self._read(lambda: self._store.records.load(record_id)))

    def _unsaved_games(self) -> list[_TrackedGame]:
        return [key for key in self._saver.unfinished() if isinstance(key, _TrackedGame)]

    def _unsaved_going_on(self) -> list[SavedGame]:
        games = self._unsaved_games()
        with self._lock:
            return [game.as_saved() for game in games if not game.saved.is_over]

    def _read(self, job: Callable[[], T]) -> T:
        """Read the store, after what was handed over if that is quick, in a thread that may hang.

        Raises:
            StorageError: if the store cannot be read, or does not answer in time.
        """
        answer: SimpleQueue[T | StorageError] = SimpleQueue()

        def read() -> None:
            found: T | StorageError
            try:
                found = job()
            except StorageError as error:
                found = error
            self._is_reading = False
            answer.put(found)

        self._saver.wait(READING)
        try:
            if self._is_reading:  # the one before hangs, and this one would
                raise Empty
            self._is_reading = True
            threading.Thread(target=read, name="py2048-reader", daemon=True).start()
            found = answer.get(timeout=READING)
        except Empty:
            raise StorageError(f"{self._store.name} does not answer; try again later") from None
        if isinstance(found, StorageError):
            raise found
        return found

    # In the saver's thread

    def _put(self, key: Hashable, job: Job) -> None:
        self._saver.put(key, job)
        self._saver.wait(PATIENCE)

    def _write(self, game: _TrackedGame) -> None:
        """Write what the store lacks of a game."""
        with self._lock:
            head, change, clean = game.head(), game.change(), game.clean
            is_new, is_dirty = game.revision is None, game.is_dirty
            game.clean, game.is_dirty = len(game.codes), False
        try:
            if is_new:
                self._store.games.add(head)
            is_stale = is_dirty and bool(self._store.changes.write([change]))
        except StorageError:
            with self._lock:
                game.clean, game.is_dirty = min(game.clean, clean), True
                game.is_unsure = True
            raise
        if is_stale:
            self._part(game)
            self._write(game)
        else:
            with self._lock:
                game.revision, game.is_unsure = change.revision, False

    def _part(self, game: _TrackedGame) -> None:
        """Keep a game of which the store has another course as a game of its own."""
        stored = self._store.games.find(game.saved.id)
        with self._lock:
            if not game.take_up(stored):
                game.fork()
                self._notices.append(FORKED)

    def _finish(self, game: _TrackedGame, play: Play) -> None:
        self._write(game)
        assert game.revision is not None  # it has just been written
        try:
            finish(self._store, game.saved.id, game.revision, play)
        except StaleGameError:
            self._part(game)
            self._finish(game, play)

    def _discard(self, game: _TrackedGame) -> None:
        assert game.revision is not None  # only what is in the store can be discarded
        with suppress(StaleGameError):  # somebody plays it
            self._store.games.discard(game.saved.id, game.revision)


_AGE = attrgetter("updated")
