"""Small things to remember: the theme, the last rules, the speed."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from py2048.storage.access import Access
from py2048.storage.schema import settings
from py2048.storage.upsert import upsert


class Settings(Access):
    """Settings by key, each any JSON value."""

    def get_setting(self, key: str, default: Any = None, *, owner: str = "local") -> Any:
        """Return the setting's value, or `default` where it was never set."""
        query = sa.select(settings.c.value).where(settings.c.owner == owner, settings.c.key == key)
        with self._reading() as connection:
            row = connection.execute(query).one_or_none()
        return default if row is None else row.value

    def check_writable(self) -> None:
        """Write something as durably as a move, and leave nothing behind.

        Raises:
            StorageError: The store cannot be written.
        """
        row = {"owner": "", "key": "check", "value": None}
        with self._writing() as connection:
            connection.execute(upsert(connection, settings), row)
            connection.execute(sa.delete(settings).where(settings.c.owner == ""))

    def set_setting(self, key: str, value: Any, *, owner: str = "local") -> None:
        """Remember a JSON value under `key`.

        Raises:
            StorageError: `value` cannot be written as JSON.
        """
        with self._writing() as connection:
            row = {"owner": owner, "key": key, "value": value}
            connection.execute(upsert(connection, settings), row)
