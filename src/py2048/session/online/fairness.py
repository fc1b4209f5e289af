"""Fair games: their tiles come from a secret that is committed to before the first move.

The commitment is the SHA-256 of the secret (32 random bytes). Draw `counter` of the game is the
first 8 bytes of HMAC-SHA256(secret, counter as 8 bytes), read as a big-endian number; the
counters and what a draw decides are those of `py2048.engine.rng`. Nobody can foresee a draw
without the secret, and nobody can change the secret without breaking the commitment; so when it
is revealed with the end of the game, anyone can check every tile with `check_fair`.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import date

from py2048.errors import RecordError
from py2048.game import Game, Record
from py2048.game.spawning import Draws

_SECRET_BYTES = 32
_COUNTER_MASK = 2**64 - 1


def new_secret() -> str:
    """Return a fresh secret, in hexadecimal digits."""
    return secrets.token_hex(_SECRET_BYTES)


def commitment_of(secret: str) -> str:
    """Return what is shown of a secret from the start: its SHA-256, in hexadecimal digits.

    Raises:
        RecordError: if the secret is not written in hexadecimal digits.
    """
    return hashlib.sha256(_bytes_of(secret)).hexdigest()


def draws_of(secret: str) -> Draws:
    """Return the draws of a game with this secret.

    Raises:
        RecordError: if the secret is not written in hexadecimal digits.
    """
    keyed = hmac.new(_bytes_of(secret), digestmod="sha256")

    def draw(counter: int) -> int:
        message = (counter & _COUNTER_MASK).to_bytes(8)
        # A copy of the keyed state, unlike `hmac.digest`, keeps the GIL: on a busy server it
        # would take long to come back.
        drawn = keyed.copy()
        drawn.update(message)
        return int.from_bytes(drawn.digest()[:8])

    return draw


def check_fair(record: Record, secret: str, commitment: str | None = None) -> None:
    """Check that every tile of a record is the one that the secret draws.

    Args:
        record: the game.
        secret: what was revealed at its end.
        commitment: what was shown at its start; None leaves that comparison to the caller.

    Raises:
        RecordError: at the first tile that is another one, or if the secret is not the one
            committed to, or if the record breaks its rules.
    """
    if commitment is not None and not hmac.compare_digest(commitment_of(secret), commitment):
        raise RecordError(
            f"the secret's SHA-256 is {commitment_of(secret)}, not the commitment {commitment}"
        )
    record.verify()
    game = Game(record.rules, draws=draws_of(secret))
    if game.start != record.start:
        raise RecordError("the start is not the one that the secret draws")
    for ply, (_, turn, _) in enumerate(record.replay(), 1):
        game.attempt(turn.direction)
        if game.board != turn.board:
            raise RecordError(f"turn {ply}: the tile is not the one that the secret draws")


def daily_seed(day: date) -> int:
    """Return the seed of a day's challenge, known to all: its date as in 20480131."""
    return int(day.strftime("%Y%m%d"))


def _bytes_of(secret: str) -> bytes:
    try:
        return bytes.fromhex(secret)
    except ValueError:
        raise RecordError(
            f"{secret!r} is no secret: it has other than hexadecimal digits"
        ) from None
