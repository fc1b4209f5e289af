"""What a session offers besides the game on the table: listeners, settings, games and scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from py2048.errors import StorageError
from py2048.game import Record
from py2048.rules import Rules
from py2048.session.events import Event, SavingChanged, StorageTrouble
from py2048.session.keeper import Keeper

if TYPE_CHECKING:
    from py2048.storage import RecordSummary, SavedGame, ScoreSummary

Listener = Callable[[Event], None]
T = TypeVar("T")


class Shelf:
    """A player's place in a store, and those who want to hear of what happens.

    Args:
        keeper: keeps everything.
    """

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._listeners: list[Listener] = []
        self._unsaved = ""

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on; return how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _emit(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            listener(event)

    @property
    def unsaved(self) -> str:
        """Why something is not saved yet, in one line; empty if all is saved."""
        return self._keeper.unsaved

    @property
    def keeps_games(self) -> bool:
        """Whether a game that is left can be taken up again."""
        return self._keeper.keeps_games

    def look_after_saving(self) -> None:
        """Announce what has become of saving since the last look.

        Every change does this; a screen does it from time to time while something is unsaved.
        """
        for notice in self._keeper.take_notices():
            self._emit(StorageTrouble(notice))
        unsaved = self.unsaved
        if unsaved != self._unsaved:
            self._unsaved = unsaved
            self._emit(SavingChanged(unsaved))

    def saved_games(self) -> list[SavedGame]:
        """Return the games in progress, the last played first.

        Raises:
            StorageError: if the store cannot be read.
        """
        return self._keeper.saved_games()

    def scores(self, rules: Rules | None = None) -> list[ScoreSummary]:
        """Return the best scores and averages by rules and category.

        Raises:
            StorageError: if the store cannot be read.
        """
        return self._keeper.scores(None if rules is None else str(rules))

    def finished(self, rules: Rules | None = None, *, limit: int = 20) -> list[RecordSummary]:
        """Return finished games, the best first.

        Raises:
            StorageError: if the store cannot be read.
        """
        return self._keeper.finished(None if rules is None else str(rules), limit)

    def finished_record(self, record_id: str) -> Record:
        """Return one of the `finished` games.

        Raises:
            StorageError: if there is none of that name.
            RecordError: if it is damaged.
        """
        return self._keeper.finished_record(record_id)

    def get_setting(self, key: str, default: Any = None) -> Any:
        """Return what `set_setting` remembered, or `default`."""
        value = self._guard(lambda: self._keeper.get_setting(key))
        return default if value is None else value

    def set_setting(self, key: str, value: Any) -> None:
        """Remember a JSON value for the next session."""
        self._keeper.set_setting(key, value)
        self.look_after_saving()

    def _guard(self, read: Callable[[], T]) -> T | None:
        """Read from the store; a failure is announced and yields `None`."""
        try:
            return read()
        except StorageError as error:
            self._emit(StorageTrouble(str(error)))
            return None
