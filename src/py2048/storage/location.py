"""Where the store lies: the data folder, or the database that the environment names."""

from __future__ import annotations

import os
from pathlib import Path

HOME_VARIABLE = "PY2048_HOME"
URL_VARIABLE = "PY2048_DATABASE_URL"
FILE_NAME = "py2048.sqlite3"


def data_folder() -> Path:
    """Return the folder for a player's data: ``PY2048_HOME``, else the platform's own place.

    The folder need not exist yet; `open_store` creates it.
    """
    if home := os.environ.get(HOME_VARIABLE):
        return Path(home).expanduser().absolute()
    import platformdirs

    return platformdirs.user_data_path("py2048", appauthor=False)


def default_location() -> str | Path:
    """Return the URL in ``PY2048_DATABASE_URL``, else the SQLite file in the data folder."""
    return os.environ.get(URL_VARIABLE, "").strip() or data_folder() / FILE_NAME
