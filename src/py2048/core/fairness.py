"""Fair games: their tiles come from a secret that is committed to before the first move.

The commitment is the SHA-256 of the secret (32 random bytes). Draw `counter` of the game is the
first 8 bytes of HMAC-SHA256(secret, counter as 8 bytes), read as a big-endian number; the
counters and what a draw decides are those of `py2048.core.rng`. A draw cannot be foreseen
without the secret, and the secret cannot be changed without breaking the commitment; so when it
is revealed with the end of the game, anyone can check every tile with `check_fair`.

The daily challenge has one secret for all, written ``daily-`` before its digits. Its draws depend
on the board too: the message is the counter and then each cell's tile as 8 bytes, row-major, of the
board on which the tile appears. So who plays the same meets the same tiles, and what one game shows
says nothing about a game that is played in another way. It is revealed a day after the day's end.
A battle's secret, written ``battle-``, is drawn from in the same way, and revealed when the battle
is over.
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
_COUNTER_MASK = 2**64 - 1
DAILY, BATTLE = "daily-", "battle-"
"""How the secrets begin that many games share: their draws depend on the board."""


def new_secret(prefix: str = "") -> str:
    """Return a fresh secret, in hexadecimal digits after the prefix of its kind."""
    return prefix + secrets.token_hex(_SECRET_BYTES)


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
    by_board = secret.startswith((DAILY, BATTLE))

    def draw(counter: int, board: Board) -> int:
        message = (counter & _COUNTER_MASK).to_bytes(8)
        if by_board:
            message += b"".join(tile.to_bytes(8) for row in board.rows for tile in row)
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
    check_draws(secret, record.rules, record.start, (turn for _, turn, _ in record.replay()))


def check_draws(secret: str, rules: Rules, start: Board | None, turns: Iterable[Turn]) -> None:
    """Check that a secret draws the start, unless it was not drawn, and the tiles of turns.

    Raises:
        RecordError: at the first that is another one.
    """
    draws, ply = draws_of(secret), 0
    if start is not None and start_from(rules, draws) != start:
        raise RecordError("the start is not the one that the secret draws")
    for number, turn in enumerate(turns, 1):
        if turn.spawn is None:
            continue
        slid = turn.slide.board
        if turn.spawn != draw_spawn(rules, slid, turn.direction, draws(ply, slid)):
            raise RecordError(f"turn {number}: the tile is not the one that the secret draws")
        ply += 1


def revelation_of(day: str) -> datetime:
    """Return when the secret of a day becomes known: a day after the day has ended.

    So a game that was begun in the last minute can be finished.
    """
    return datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days=2)


def sealed_until(day: str | None) -> date | None:
    """Return the first date on which games of a daily challenge are public; None if they are."""
    if not day:
        return None
    known = revelation_of(day)
    return known.date() if datetime.now(UTC) < known else None


def known_secret(secret: str, day: str | None, *, is_over: bool) -> str | None:
    """Return a game's secret if it is public, else None.

    The battle's page reveals the secret of a battle once all its games are over.
    """
    is_known = is_over and not secret.startswith(BATTLE) and not sealed_until(day)
    return secret if is_known else None


def _bytes_of(secret: str) -> bytes:
    try:
        return bytes.fromhex(secret.removeprefix(DAILY).removeprefix(BATTLE))
    except ValueError:
        raise RecordError(
            f"{secret!r} is not a secret: it has other than hexadecimal digits"
        ) from None
