"""The store: all its parts on one open database."""

from __future__ import annotations

from os import PathLike
from types import TracebackType
from typing import Self

from py2048.storage import PATIENCE
from py2048.storage.accounts import Accounts
from py2048.storage.backup import Backups
from py2048.storage.batches import Batches
from py2048.storage.boards import Boards
from py2048.storage.engine import make_engine
from py2048.storage.faults import explained
from py2048.storage.leaderboards import Leaderboards
from py2048.storage.location import default_location
from py2048.storage.migration import bring_up_to_date
from py2048.storage.notices import Notices
from py2048.storage.records import Records
from py2048.storage.scores import Scores
from py2048.storage.sessions import Sessions
from py2048.storage.settings import Settings


class Store(
    Records,
    Leaderboards,
    Scores,
    Settings,
    Accounts,
    Sessions,
    Boards,
    Batches,
    Notices,
    Backups,
):
    """Games in progress, records, scores, settings and accounts, in one database.

    Each method is one transaction: it has happened when it returns, and not at all when it
    raises. Every failure is a `StorageError` that names the store and the way out.
    """

    @classmethod
    def open(
        cls,
        location: str | PathLike[str] | None = None,
        *,
        durability: str = "disk",
        patience: float = PATIENCE,
    ) -> Self:
        """Open the store; see `py2048.storage.open_store`."""
        place = default_location() if location is None else location
        engine, name = make_engine(place, durability, patience)
        try:
            with explained(name):
                bring_up_to_date(engine, name)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store {self.name}>"
