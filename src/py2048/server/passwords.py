"""Passwords and recovery codes: which are good, how they are kept, and how much work that may be.

A password is kept as an argon2id hash of 19 MiB and two rounds, the cheaper of the settings that
OWASP's *Password Storage Cheat Sheet* recommends; older hashes keep theirs. Few are made at a time,
a line of bounded length waits for them, and browsers in which an account was logged in before have
a line of their own, in which strangers cannot stand.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from py2048.errors import Py2048Error
from py2048.server.limits import Seats

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST, LONGEST = 8, 128
_FEWEST_KINDS, _SHORTEST_NUMBER, _LEAST_BESIDE = 4, 12, 5
_TRIMMINGS = "0123456789!?.,-_#$*@ "
_ROWS = ("abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm",
         "qwertzuiop", "azertyuiop", "1q2w3e4r5t6y7u8i9o0p", "1qaz2wsx3edc4rfv5tgb")  # fmt: skip
_COMMON = (
    " password passwort passwd motdepasse contrasena senha geheim letmein iloveyou welcome monkey"
    " dragon sunshine princess football baseball basketball superman batman starwars trustno"
    " master shadow michael jennifer jordan hunter charlie computer internet whatever freedom"
    " changeme default secret login admin administrator access guest test hello hallo py game"
    " minecraft pokemon naruto cheese summer winter spring autumn liverpool chelsea arsenal "
)
_LEET = str.maketrans("0134578@$!", "oleastbasi")
_SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: none is taken for another
_CODE_PARTS, _PART = 5, 4
_T = TypeVar("_T")


class FormError(Py2048Error):
    """A form that cannot be granted.

    Attributes:
        status: the HTTP status that says so.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def checked_password(text: str | None, name: str = "") -> str:
    """Return a password of a length that protects, and not one that is tried first.

    Raises:
        FormError: if it is too short or too long, or easily guessed.
    """
    password = text or ""
    if not SHORTEST <= len(password) <= LONGEST:
        raise FormError(f"A password has {SHORTEST} to {LONGEST} characters.")
    if is_common(password, name):
        raise FormError(
            "This password is among the first that anybody would try: take several words, or let"
            " your browser make one."
        )
    return password


def is_common(password: str, name: str = "") -> bool:
    """Say whether a password is a common one, a row of keys, or little more than the name."""
    plain, own = password.casefold(), name.casefold()
    word = "".join(filter(str.isalpha, plain.strip(_TRIMMINGS).translate(_LEET)))
    return (
        f" {word} " in _COMMON
        or len(set(plain)) < _FEWEST_KINDS
        or (plain.isdecimal() and len(plain) < _SHORTEST_NUMBER)
        or any(plain in row * 2 or plain[::-1] in row * 2 for row in _ROWS)
        or (bool(own) and own in plain and len(plain) < len(own) + _LEAST_BESIDE)
    )


def new_code() -> str:
    """Return a recovery code: 100 random bits that a person can write down."""
    parts = ("".join(secrets.choice(_SYMBOLS) for _ in range(_PART)) for _ in range(_CODE_PARTS))
    return "-".join(parts)


def code_hash(code: str) -> str:
    """Return what is kept of a recovery code, however a person writes it."""
    plain = code.upper().translate(str.maketrans("OIL", "011", "- \t"))
    return hashlib.sha256(plain.encode()).hexdigest()


def is_code(hashed: str | None, code: str) -> bool:
    """Say whether a code is the one that is kept."""
    return hmac.compare_digest(hashed or "", code_hash(code))


class Passwords:
    """Makes and compares hashes, a few at a time."""

    def __init__(self) -> None:
        self._strangers = Line(2, 40, 160)  # a class signs in together
        self._known = Line(1, 20, 40)

    async def hash(self, password: str, who: str) -> str:
        """Return the hash of a new password.

        Args:
            password: the password.
            who: where the request comes from.

        Raises:
            FormError: if too many wait already.
        """
        return await self._strangers.do(who, _hash, password)

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
        line = self._strangers if device is None else self._known
        return await line.do(device or who, _verify, hashed, password[:LONGEST])


class Line:
    """Those who wait for the processor.

    Args:
        at_once: so many are served at the same time.
        most_each: so many of one address may be in the line.
        most: and so many in all.
    """

    def __init__(self, at_once: int, most_each: int, most: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._seats = Seats(most_each, most)

    async def do(self, who: str, call: Callable[..., _T], *args: object) -> _T:
        """Do something in a thread when it is `who`'s turn.

        Raises:
            FormError: if there is no place in the line.
        """
        with self._seats.held(who) as is_free:
            if not is_free:
                raise FormError("Too many people log in just now: try again in a moment.", 503)
            async with self._free:
                return await asyncio.to_thread(call, *args)


def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def _hash(password: str) -> str:
    return _hasher().hash(password)


def _verify(hashed: str | None, password: str) -> bool:
    from argon2.exceptions import Argon2Error, InvalidHashError

    if hashed is None:
        _hash(password)
        return False
    try:
        return _hasher().verify(hashed, password)
    except (Argon2Error, InvalidHashError):
        return False
