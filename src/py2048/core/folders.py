"""Where py2048 keeps a player's data."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

from py2048.core.errors import StorageError

HOME_VARIABLE = "PY2048_HOME"
TABLE_SUFFIX = ".table"


def data_folder() -> Path:
    """Return the player's data folder: ``PY2048_HOME`` or the platform's standard location.

    The folder may not exist yet.

    Raises:
        StorageError: If ``PY2048_HOME`` refers to the home of an unknown user.
    """
    if home := os.environ.get(HOME_VARIABLE):
        folder = expanded(home)
        if str(folder).startswith("~"):
            raise StorageError(f"{HOME_VARIABLE}={home}: unknown home folder, give a full path")
        return folder.absolute()
    import platformdirs

    return platformdirs.user_data_path("py2048", appauthor=False)


def expanded(path: str | PathLike[str]) -> Path:
    """Expand ``~`` and ``~user``; return the path unchanged if the home folder is unknown."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def tables_folder() -> Path:
    """Return the folder of endgame tables inside the data folder."""
    return data_folder() / "tables"


def built_tables() -> list[Path]:
    """Return the paths of the endgame tables built so far."""
    return sorted(tables_folder().glob(f"*{TABLE_SUFFIX}"))
