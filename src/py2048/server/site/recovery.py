"""Recovery codes: each replaces a lost password once, for there is no e-mail address to ask.

The store has their SHA-256: with 80 random bits each there is nothing to guess, so they need no
slow hash.
"""

from __future__ import annotations

import hashlib
import secrets

HOW_MANY = 8
_SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: none is taken for another
_PARTS, _PART = 4, 4
_AS_READ = str.maketrans("OIL", "011", "- \t")


def new_codes() -> list[str]:
    """Return a set of codes that a person can write down."""
    return [_new_code() for _ in range(HOW_MANY)]


def _new_code() -> str:
    parts = ("".join(secrets.choice(_SYMBOLS) for _ in range(_PART)) for _ in range(_PARTS))
    return "-".join(parts)


def code_hash(code: str) -> str:
    """Return what is kept of a recovery code, however a person writes it."""
    return hashlib.sha256(code.upper().translate(_AS_READ).encode()).hexdigest()
