"""The store: all its subjects on one open database."""

from __future__ import annotations

from os import PathLike
from typing import Self

import sqlalchemy as sa

from py2048.app.storage.accounts import Accounts, Sessions
from py2048.app.storage.battles import Battles
from py2048.app.storage.changes import Changes
from py2048.app.storage.database import Database, Subject, explained, make_engine, upsert
from py2048.app.storage.games import SavedGames
from py2048.app.storage.migration import bring_up_to_date
from py2048.app.storage.notices import Notices
from py2048.app.storage.online import OnlineGames
from py2048.app.storage.practice import Mistakes, PuzzleAnswers
from py2048.app.storage.records import Leaderboards, Records, Scores
from py2048.app.storage.reviews import Reviews
from py2048.app.storage.schema import settings


class Store(Database):
    """Games in progress, records, scores, settings and accounts, in one database.

    Screens and servers use its subjects. Each method of a subject is one transaction: it has
    happened when it returns, and not at all when it raises. Every failure is a `StorageError`
    that names the store and the way out. Threads may share a store.

    Args:
        location: see `py2048.app.storage.open_store`, and for the other two.
        durability: what a committed change outlives.
        timeout_s: seconds to wait for another process that holds the database.

    Attributes:
        name: The file's path, or the database server's URL without its password.
        games: The games in progress.
        changes: Changes of many games in one transaction.
        notices: Messages between processes.
        records: The finished games.
        scores: The best scores by owner, rules and category.
        settings: Small values to remember.
        online: What the games of a server have besides.
        battles: Games of several players with one secret.
        leaderboards: The best game of each player with a name.
        accounts: The players of a server.
        sessions: Who is signed in where.
        mistakes: What each player is to practise.
        puzzle_answers: How each player answered puzzles.
        reviews: The reviews of finished games.
    """

    def __init__(self, location: str | PathLike[str], durability: str, timeout_s: float) -> None:
        engine, name = make_engine(location, durability, timeout_s)
        try:
            with explained(name):
                bring_up_to_date(engine, name)
        except BaseException:
            engine.dispose()
            raise
        super().__init__(engine, name)
        self.games = SavedGames(self)
        self.changes = Changes(self)
        self.notices = Notices(self)
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

    def __repr__(self) -> str:
        return f"<Store {self.name}>"


class StoredSettings(Subject):
    """Settings by owner and key, each any JSON value: the theme, the last rules, the speed."""

    def get(self, key: str, default: object = None, *, owner: str = "local") -> object:
        """Return the setting's value, or `default` where it was never set."""
        query = sa.select(settings.c.value).where(settings.c.owner == owner, settings.c.key == key)
        found = self._database.values(query)
        return found[0] if found else default

    def set(self, key: str, value: object, *, owner: str = "local") -> None:
        """Remember a JSON value under `key`.

        Raises:
            StorageError: `value` cannot be written as JSON.
        """
        with self._database.write() as connection:
            row = {"owner": owner, "key": key, "value": value}
            connection.execute(upsert(connection, settings), row)

    def check_writable(self) -> None:
        """Write something as durably as a move, and leave nothing behind.

        Raises:
            StorageError: The store cannot be written.
        """
        row = {"owner": "", "key": "check", "value": None}
        with self._database.write() as connection:
            connection.execute(upsert(connection, settings), row)
            connection.execute(sa.delete(settings).where(settings.c.owner == ""))
