"""Backups in a folder, named by their time, of which the newest are kept."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from py2048.errors import StorageError

if TYPE_CHECKING:
    from py2048.storage.store import Store

_NAME = re.compile(r"py2048-\d{8}T\d{6}Z\.2048\.jsonl\.gz(?P<part>\.\w+\.part)?")
_ABANDONED = 24 * 3600
"""Seconds after which nobody works on an unfinished backup."""


def back_up_into(store: Store, folder: Path, keep: int) -> tuple[Path, int]:
    """Write a backup into a folder; then remove all but the newest backups there.

    Nothing is removed if the backup fails, and no file that has another name.

    Args:
        store: what to copy.
        folder: where the backups are.
        keep: how many to keep, this one included.

    Returns:
        The file, and its number of rows.

    Raises:
        StorageError: The folder is not there, or as `Store.back_up`.
    """
    if not folder.is_dir():
        raise StorageError(f"there is no folder {folder} for backups: make it first")
    path = folder / f"py2048-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.2048.jsonl.gz"
    rows = store.back_up(path)
    _remove_old(folder, keep)
    return path, rows


def _remove_old(folder: Path, keep: int) -> None:
    complete = []
    for path in sorted(folder.iterdir()):
        match = _NAME.fullmatch(path.name)
        if match and match["part"]:
            with suppress(FileNotFoundError):  # it is complete now
                if path.stat().st_mtime < time.time() - _ABANDONED:
                    path.unlink()
        elif match:
            complete.append(path)
    for path in complete[:-keep]:
        path.unlink(missing_ok=True)
