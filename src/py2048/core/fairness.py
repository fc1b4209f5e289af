"""Provably fair games: all tiles are drawn from a secret that the server commits to in advance.

The commitment is the SHA-256 hash of the secret (32 random bytes). The random number for a
`counter` is the first 8 bytes of HMAC-SHA256(secret, counter as 8 bytes), read as a big-endian
number. `py2048.core.rng` defines the counters and how random numbers select tiles. Nobody can
predict a tile without the secret, and the secret cannot be replaced without breaking the
commitment. Once the secret is revealed at the end of the game, anyone can verify every tile with
`check_fair`.

All players of a daily challenge or a battle share one secret, which starts with ``daily-`` or
``battle-``. The HMAC message for a shared secret is the counter followed by the tiles on the board,
8 bytes per cell, row-major. Players who make the same moves get the same tiles. Nobody can find out
upcoming tiles by watching a player who makes different moves. The secret of a daily challenge is
revealed one day after the day ends, and the secret of a battle when the battle is over.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from py2048.core.board import Board
from py2048.core.errors import RecordError
from py2048.core.game import Record, Turn
from py2048.core.game.turn import Draws, draw_spawn, start_from
from py2048.core.rules import Rules

_SECRET_BYTES = 32
DAILY, BATTLE = "daily-", "battle-"
"""Prefixes of the secrets that all players of a daily challenge or a battle share."""


def new_secret(prefix: str = "") -> str:
    """Return `prefix` followed by a new random secret in hexadecimal."""
    return prefix + secrets.token_hex(_SECRET_BYTES)


def commitment_of(secret: str) -> str:
    """Return the SHA-256 hash of a secret in hexadecimal.

    Raises:
        RecordError: If the secret is not hexadecimal.
    """
    return hashlib.sha256(_bytes_of(secret)).hexdigest()


def derived_secret(secret: str, number: int) -> str:
    """Derive the secret of game `number` in a series.

    A derived secret reveals nothing about the other secrets of the series.

    Raises:
        RecordError: If the secret is not hexadecimal.
    """
    return hmac.digest(_bytes_of(secret), f"game {number}".encode(), "sha256").hex()


def draws_of(secret: str) -> Draws:
    """Return the function that draws random numbers with this secret.

    Raises:
        RecordError: If the secret is not hexadecimal.
    """
    keyed = hmac.new(_bytes_of(secret), digestmod="sha256")
    by_board = secret.startswith((DAILY, BATTLE))

    def draw(counter: int, board: Board) -> int:
        message = counter.to_bytes(8)
        if by_board:
            message += b"".join(tile.to_bytes(8) for row in board.rows for tile in row)
        # Copying the keyed HMAC does not release the GIL, unlike `hmac.digest`. On a busy server,
        # reacquiring the GIL is slow.
        drawn = keyed.copy()
        drawn.update(message)
        return int.from_bytes(drawn.digest()[:8])

    return draw


def check_fair(record: Record, secret: str, commitment: str | None = None) -> None:
    """Verify that every tile in a record was drawn with the game's secret.

    Args:
        record: Record of the game.
        secret: The secret, revealed at the end of the game.
        commitment: The commitment published at the start of the game, or None to skip this check.

    Raises:
        RecordError: If the secret does not match the commitment, the record breaks its rules, or a
            tile was not drawn from the secret. The message names the turn.
    """
    if commitment is not None and not hmac.compare_digest(commitment_of(secret), commitment):
        raise RecordError(
            f"the secret's SHA-256 is {commitment_of(secret)}, not the commitment {commitment}"
        )
    record.verify()
    check_draws(secret, record.rules, record.start, (turn for _, turn, _ in record.replay()))


def check_draws(secret: str, rules: Rules, start: Board | None, turns: Iterable[Turn]) -> None:
    """Verify that the start position and all spawns were drawn from a secret.

    Args:
        secret: The revealed secret.
        rules: The rules of the game.
        start: The start position, or None if it was set up by hand and cannot be checked.
        turns: The turns of the game.

    Raises:
        RecordError: If a tile was not drawn from the secret.
    """
    draws, ply = draws_of(secret), 0
    if start is not None and start_from(rules, draws) != start:
        raise RecordError("the start differs from the secret's draw")
    for number, turn in enumerate(turns, 1):
        if turn.spawn is None:
            continue
        slid = turn.slide.board
        if turn.spawn != draw_spawn(rules, slid, turn.direction, draws(ply, slid)):
            raise RecordError(f"turn {number}: the tile differs from the secret's draw")
        ply += 1


def revelation_of(day: str) -> datetime:
    """Return the time at which a daily challenge's secret is revealed.

    The secret is kept for one day after the challenge ends, so that players can finish games that
    they began in its last minute.
    """
    return datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days=2)


def sealed_until(day: str | None) -> date | None:
    """Return the date a daily challenge's games become public, or None if they already are."""
    if not day:
        return None
    revealed = revelation_of(day)
    return revealed.date() if datetime.now(UTC) < revealed else None


def public_secret(secret: str, day: str | None, *, is_over: bool) -> str | None:
    """Return a game's secret if it is public, otherwise None.

    The secret of a battle is never returned; the battle's page reveals it after the last game.
    """
    is_public = is_over and not secret.startswith(BATTLE) and not sealed_until(day)
    return secret if is_public else None


def _bytes_of(secret: str) -> bytes:
    try:
        return bytes.fromhex(secret.removeprefix(DAILY).removeprefix(BATTLE))
    except ValueError:
        raise RecordError(
            f"{secret!r} is not a secret: it contains characters that are not hexadecimal digits"
        ) from None
