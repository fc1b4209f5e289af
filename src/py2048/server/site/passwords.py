"""Passwords: how many guesses one must withstand, and how its hash is made.

A password is kept as an argon2id hash of 19 MiB and two rounds, the cheaper of the settings that
OWASP's *Password Storage Cheat Sheet* recommends; older hashes keep theirs. Few are made at a time,
a queue of bounded length waits for them, and browsers in which an account was logged in before have
a queue of their own, which strangers cannot fill.

How easily a new one is guessed is estimated by zxcvbn (D. L. Wheeler, *zxcvbn: Low-Budget Password
Strength Estimation*, USENIX Security 2016): common passwords, words, names, dates, rows of keys,
repetitions, and what the account is called.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from py2048.server.http.limits import Queue
from py2048.server.site.forms import FormError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST, LONGEST = 8, 128
FEWEST_GUESSES = 10**8
"""What a password must withstand: zxcvbn's third step of four."""
_LOOKED_AT = 24
"""So many characters are judged. The time grows exponentially with digits and signs that stand for
letters: 32 can take a second."""
_OURS = ("2048", "py2048")
_estimating = threading.Lock()  # zxcvbn keeps the words of one call where the next one finds them


def check_password(password: str, name: str) -> None:
    """Reject a password that does not protect an account. It may take a tenth of a second.

    Args:
        password: the password.
        name: what the account is called.

    Raises:
        FormError: if it is too short or too long, or easily guessed; it says what is better.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise FormError(f"A password has {SHORTEST} to {LONGEST} characters.")
    words = [*_OURS, name, *name.split()]
    found = _estimated(password[:_LOOKED_AT], words)
    if found["guesses"] < FEWEST_GUESSES:
        is_own = any(word.casefold() in password.casefold() for word in words)
        own = ["It has the name of the account or of the game in it."] if is_own else []
        raise FormError(" ".join(["This password is easily guessed.", *own, *_advice(found)]))


def _estimated(password: str, words: list[str]) -> dict[str, Any]:
    from zxcvbn import zxcvbn

    with _estimating:
        found: dict[str, Any] = zxcvbn(password, words)
    return found


def _advice(found: dict[str, Any]) -> list[str]:
    """Return why a password is weak and what is better, in sentences."""
    feedback = found["feedback"]
    better = feedback["suggestions"] or ["Take three or four words, or let your browser make one."]
    return [*filter(None, [feedback["warning"]]), *better]


class Passwords:
    """Makes and compares hashes, a few at a time."""

    def __init__(self) -> None:
        self._strangers = PasswordQueue(2, 40, 160)  # a class signs in together
        self._known = PasswordQueue(1, 20, 40)

    async def new(self, password: str, name: str, who: str) -> str:
        """Return the hash of a new password.

        Args:
            password: the password.
            name: what the account is called.
            who: where the request comes from.

        Raises:
            FormError: as `check_password`, and if too many wait already.
        """
        return await self._strangers.do(who, _new_hash, password, name)

    async def verify(self, hashed: str | None, password: str, who: str, device: str | None) -> bool:
        """Say whether a password is the right one; without one to compare, work as long.

        Args:
            hashed: the hash.
            password: the password.
            who: where the request comes from.
            device: the name of a browser in which the account was logged in before.

        Raises:
            FormError: if too many wait already.
        """
        queue = self._strangers if device is None else self._known
        return await queue.do(device or who, _verify, hashed, password[:LONGEST])


class PasswordQueue(Queue):
    """Passwords that wait for the processor."""

    def full(self) -> FormError:
        """Return what is raised when too many wait."""
        return FormError("Too many people log in just now: try again in a moment.", 503)


def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def _new_hash(password: str, name: str) -> str:
    check_password(password, name)
    return _hasher().hash(password)


def _verify(hashed: str | None, password: str) -> bool:
    from argon2.exceptions import Argon2Error, InvalidHashError

    if hashed is None:
        _hasher().hash(password)
        return False
    try:
        return _hasher().verify(hashed, password)
    except (Argon2Error, InvalidHashError):
        return False
