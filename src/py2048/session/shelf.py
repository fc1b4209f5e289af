"""What a session keeps besides the game on the table: listeners, settings, games and scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from py2048.errors import StorageError
from py2048.game import Record
from py2048.rules import Rules
from py2048.session.events import Event, StorageTrouble

if TYPE_CHECKING:
    from py2048.storage import RecordSummary, SavedGame, ScoreSummary, Store

Listener = Callable[[Event], None]


class Shelf:
    """A player's place in a store, and those who want to hear of what happens.

    Args:
        store: where everything is kept; `None` keeps the settings in memory and no games.
        owner: whose place it is.
    """

    def __init__(self, store: Store | None, owner: str) -> None:
        self._store = store
        self._owner = owner
        self._listeners: list[Listener] = []
        self._settings: dict[str, Any] = {}

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on; return how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _emit(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            listener(event)

    def saved_games(self) -> list[SavedGame]:
        """Return the games in progress, the last played first.

        Raises:
            StorageError: if the store cannot be read.
        """
        return self._store.list_games(self._owner, finished=False) if self._store else []

    def scores(self, rules: Rules | None = None) -> list[ScoreSummary]:
        """Return the best scores and averages by rules and category.

        Raises:
            StorageError: if the store cannot be read.
        """
        if self._store is None:
            return []
        text = None if rules is None else str(rules)
        return self._store.score_summaries(self._owner, rules=text)

    def finished(self, rules: Rules | None = None, *, limit: int = 20) -> list[RecordSummary]:
        """Return finished games, the best first.

        Raises:
            StorageError: if the store cannot be read.
        """
        if self._store is None:
            return []
        text = None if rules is None else str(rules)
        return self._store.records(rules=text, owner=self._owner, limit=limit)

    def finished_record(self, record_id: str) -> Record:
        """Return one of the `finished` games.

        Raises:
            StorageError: if there is none of that name.
            RecordError: if it is damaged.
        """
        if self._store is None:
            raise StorageError("this session keeps no games: it was opened without a store")
        return Record.from_json(self._store.load_record(record_id))

    def get_setting(self, key: str, default: Any = None) -> Any:
        """Return what `set_setting` remembered, or `default`."""
        if key not in self._settings and self._store:
            store = self._store
            self._guard(lambda: self._settings.update({key: store.get_setting(key)}))
        value = self._settings.get(key)
        return default if value is None else value

    def set_setting(self, key: str, value: Any) -> None:
        """Remember a JSON value for the next session."""
        self._settings[key] = value
        if self._store:
            store = self._store
            self._guard(lambda: store.set_setting(key, value))

    def _guard(self, action: Callable[[], Any]) -> Any:
        """Do something with the store; a failure is announced and yields `None`."""
        try:
            return action()
        except StorageError as error:
            self._emit(StorageTrouble(str(error)))
            return None
