"""Where a player's data are kept."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

from py2048.core.errors import StorageError

HOME_VARIABLE = "PY2048_HOME"
TABLE_SUFFIX = ".table"


def data_folder() -> Path:
    """Return the folder for a player's data: ``PY2048_HOME``, else the platform's own place.

    The folder need not exist yet.

    Raises:
        StorageError: if ``PY2048_HOME`` is in the home of an unknown user.
    """
    if home := os.environ.get(HOME_VARIABLE):
        folder = expanded(home)
        if str(folder).startswith("~"):
            raise StorageError(f"{HOME_VARIABLE}={home}: there is no such home, give a whole path")
        return folder.absolute()
    import platformdirs

    return platformdirs.user_data_path("py2048", appauthor=False)


def expanded(path: str | PathLike[str]) -> Path:
    """Return a path with a home for ``~`` or ``~user``; as it is where the home is unknown."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def tables_folder() -> Path:
    """Return the folder for tables of endings, in that of the player's data."""
    return data_folder() / "tables"


def built_tables() -> list[Path]:
    """Return the tables of endings in that folder."""
    return sorted(tables_folder().glob(f"*{TABLE_SUFFIX}"))
