"""What the window looked like: read before the store opens, so that the first frame comes early."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Memory:
    """A few values in a small file. A lost or damaged file only costs them.

    Args:
        path: the file; `None` remembers nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._values: dict[str, Any] = {}
        if path is not None:
            self._values = _read(path)

    def get(self, key: str, default: str = "") -> str:
        """Return what was remembered, or `default`."""
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


def _read(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}
