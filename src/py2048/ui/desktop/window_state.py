"""What the window looked like the last time, remembered in a small file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class WindowState:
    """A few values in a file that is read before the store opens, so that the first frame is early.

    A lost or damaged file only costs these values.

    Args:
        path: the file; `None` remembers nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._values: dict[str, Any] = {}
        if path is not None:
            self._values = _read_state(path)

    def get(self, key: str, default: str = "") -> str:
        """Return a remembered value, or `default`."""
        return str(self._values.get(key, default))

    def set(self, **values: str) -> None:
        """Remember values; one that cannot be written is forgotten with the process."""
        if self._path is None or values.items() <= self._values.items():
            return
        self._values |= values
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(self._values), encoding="utf-8")
        except OSError:
            self._path = None  # a read-only folder: do not try again


def _read_state(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}
