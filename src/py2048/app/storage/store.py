"""The store, which combines all repositories on one open database."""

from __future__ import annotations

from os import PathLike
from typing import Self

import sqlalchemy as sa

from py2048.app.storage.accounts import Accounts, Sessions
from py2048.app.storage.battles import Battles
from py2048.app.storage.changes import Changes
from py2048.app.storage.database import Database, Repository, make_engine, storage_errors, upsert
from py2048.app.storage.games import SavedGames
from py2048.app.storage.migration import bring_up_to_date
from py2048.app.storage.notices import Notifications
from py2048.app.storage.online import OnlineGames
from py2048.app.storage.practice import Mistakes, PuzzleAnswers
from py2048.app.storage.records import Leaderboards, Records
from py2048.app.storage.reviews import Reviews
from py2048.app.storage.schema import settings
from py2048.app.storage.summaries import Scores


class Store(Database):
    """Games in progress, records, scores, settings and accounts in one database.

    Every repository method runs in its own transaction, which is rolled back on an exception.
    Failures raise a `StorageError` that names the store and says what to do. Threads may share a
    store.

    Args:
        location: Database URL or path; see `py2048.app.storage.open_store`.
        durability: Kind of failure that commits must survive; see `open_store`.
        timeout_s: Seconds to wait for another process to release its lock.

    Attributes:
        name: File path, or server URL without the password.
        games: Games in progress.
        changes: Batched changes to games in progress.
        notices: Messages between processes.
        records: Finished games.
        scores: Best scores and summaries by owner, rules and category.
        settings: Small JSON values.
        online: Server data of games.
        battles: Battles between players.
        leaderboards: Best game of each named player.
        accounts: Accounts of a server's players.
        sessions: Login sessions.
        mistakes: Mistakes to practise.
        puzzle_answers: Answers to puzzles.
        reviews: Reviews of finished games.
    """

    def __init__(self, location: str | PathLike[str], durability: str, timeout_s: float) -> None:
        engine, name = make_engine(location, durability, timeout_s)
        try:
            with storage_errors(name):
                bring_up_to_date(engine, name)
        except BaseException:
            engine.dispose()
            raise
        super().__init__(engine, name)
        self.games = SavedGames(self)
        self.changes = Changes(self)
        self.notices = Notifications(self)
        self.records = Records(self)
        self.scores = Scores(self)
        self.settings = StoredSettings(self)
        self.online = OnlineGames(self)
        self.battles = Battles(self)
        self.leaderboards = Leaderboards(self)
        self.accounts = Accounts(self)
        self.sessions = Sessions(self)
        self.mistakes = Mistakes(self)
        self.puzzle_answers = PuzzleAnswers(self)
        self.reviews = Reviews(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class StoredSettings(Repository):
    """Settings such as the theme or the autoplay speed, stored as JSON by owner and key."""

    def get(self, key: str, default: object = None, *, owner: str = "local") -> object:
        """Return a setting, or `default` if the setting does not exist."""
        query = sa.select(settings.c.value).where(settings.c.owner == owner, settings.c.key == key)
        found = self._database.values(query)
        return found[0] if found else default

    def set(self, key: str, value: object, *, owner: str = "local") -> None:
        """Save a JSON value under `key`.

        Raises:
            StorageError: If `value` is not JSON.
        """
        with self._database.write() as connection:
            row = {"owner": owner, "key": key, "value": value}
            connection.execute(upsert(connection.dialect, settings), row)

    def check_writable(self) -> None:
        """Check that the store is writable by writing and deleting a row.

        Raises:
            StorageError: If the store cannot be written.
        """
        row = {"owner": "", "key": "check", "value": None}
        with self._database.write() as connection:
            connection.execute(upsert(connection.dialect, settings), row)
            connection.execute(sa.delete(settings).where(settings.c.owner == ""))
