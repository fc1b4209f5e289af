"""Tokens of programs: where a request carries one, and those that were checked a moment ago."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

_LASTS = 15.0
"""Seconds after which a token is looked up again: it may have been revoked in another process."""

_MOST_KNOWN = 10_000
_T = TypeVar("_T")


def token_in(headers: Mapping[str, str]) -> str | None:
    """Return the token that a request carries, None if it carries none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def session_of(token: str) -> str:
    """Return the id under which the store keeps the session of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


class KnownTokens(Generic[_T]):
    """Whom the tokens speak for that were checked in the last seconds; no token itself is kept.

    Args:
        clock: tells the seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, _T]] = {}

    def find(self, token: str | None) -> _T | None:
        """Return whom a token speaks for, None if it was not checked lately."""
        until, found = self._known.get(session_of(token or ""), (0.0, None))
        return found if self._clock() < until else None

    def add(self, token: str, whom: _T) -> None:
        """Note whom a token speaks for."""
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[session_of(token)] = self._clock() + _LASTS, whom

    def clear(self) -> None:
        """Look all of them up again."""
        self._known.clear()
