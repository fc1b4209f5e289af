"""Where a player's data are kept."""

from __future__ import annotations

import os
from pathlib import Path

HOME_VARIABLE = "PY2048_HOME"
TABLE_SUFFIX = ".table"


def data_folder() -> Path:
    """Return the folder for a player's data: ``PY2048_HOME``, else the platform's own place.

    The folder need not exist yet.
    """
    if home := os.environ.get(HOME_VARIABLE):
        return Path(home).expanduser().absolute()
    import platformdirs

    return platformdirs.user_data_path("py2048", appauthor=False)


def tables_folder() -> Path:
    """Return the folder for tables of endings, in that of the player's data."""
    return data_folder() / "tables"


def built_tables() -> list[Path]:
    """Return the tables of endings in that folder."""
    return sorted(tables_folder().glob(f"*{TABLE_SUFFIX}"))
