"""Fair games verify against their secrets, and secrets stay sealed until nobody plays them."""

from __future__ import annotations

import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048 import Board, Game, Spawn, list_rules
from py2048.core import fairness
from py2048.core.errors import RecordError
from py2048.core.fairness import (
    BATTLE,
    DAILY,
    check_draws,
    check_fair,
    commitment_of,
    draws_of,
    new_secret,
    public_secret,
    revelation_of,
    sealed_until,
)

prefixes = st.sampled_from(["", DAILY, BATTLE])
secrets = st.builds(str.__add__, prefixes, st.binary(min_size=32, max_size=32).map(bytes.hex))


def played(secret: str, rules: str = "classic", moves: int = 20) -> Game:
    game = Game(rules, draws=draws_of(secret))
    for turn in range(moves):
        if legal := game.legal_directions():
            game.play(legal[turn % len(legal)])
    return game


@given(secrets, st.sampled_from([rules.name for rules in list_rules()]), st.integers(0, 60))
def test_a_fair_game_proves_itself(secret, rules, moves):
    """The record of any game verifies against its secret and commitment."""
    record = played(secret, rules, moves).record()
    check_fair(record, secret, commitment_of(secret))
    assert record.seed is None


@given(secrets, secrets)
def test_another_secret_is_rejected(secret, other):
    """A secret with another commitment or other draws is rejected."""
    record = played(secret).record()
    if commitment_of(secret) != commitment_of(other):
        with pytest.raises(RecordError):
            check_fair(record, other)
        with pytest.raises(RecordError, match="not the commitment"):
            check_fair(record, secret, commitment_of(other))


@given(secrets, st.integers(0, 19))
def test_a_chosen_tile_is_detected(secret, place):
    """A single tile that the secret did not draw fails the verification at its turn."""
    fair = played(secret)
    forged = Game(fair.rules, board=fair.start)
    for turn in fair.turns[:place]:
        forged.play(turn.direction, spawn=turn.spawn)
    turn = fair.turns[place]
    assert turn.spawn is not None
    forged.play(turn.direction, spawn=Spawn(6 - turn.spawn.tile, turn.spawn.cell))
    with pytest.raises(RecordError, match=f"turn {place + 1}:"):
        check_fair(forged.record(), secret)


def test_a_chosen_start_is_detected():
    """Only a start that the secret draws verifies; None skips the comparison."""
    game, secret = Game(board="2 2 . . / . . . . / . . . . / . . . ."), "2a" * 32
    with pytest.raises(RecordError, match="the start differs"):
        check_fair(game.record(), secret)
    check_draws(secret, game.rules, None, ())


def test_attempts_that_spawn_nothing_draw_nothing():
    """After a penalised illegal attempt, the next tile is drawn as if it had not happened."""
    rules, secret = "cits1401:size=4x4,start=2x2:1,spawn=2:9+4:1", "2a" * 32
    game = Game(rules, draws=draws_of(secret))
    for direction in 20 * "LLUURD":
        game.attempt(direction)
    assert any(turn.spawn is None for turn in game.turns)
    check_fair(game.record(), secret)


@pytest.mark.parametrize("prefix", ["", DAILY, BATTLE])
def test_draws_are_as_documented(prefix):
    """A draw is the first 8 bytes of HMAC-SHA256(secret, message), big-endian.

    The message is the counter, followed by the tiles if the secret is shared.
    """
    secret, board = prefix + "00" * 31 + "2a", Board.parse("2 . 131072 / . 4 8")
    for counter in (0, 1, 2**63, 2**63 + 5):
        numbers = (counter, 2, 0, 131072, 0, 4, 8) if prefix else (counter,)
        message = b"".join(number.to_bytes(8) for number in numbers)
        digest = hmac.digest(bytes(31) + b"*", message, hashlib.sha256)
        assert draws_of(secret)(counter, board) == int.from_bytes(digest[:8])


@given(prefixes)
def test_a_new_secret_has_256_random_bits(prefix):
    """New secrets differ, and consist of their prefix and 32 bytes in hexadecimal."""
    one, two = new_secret(prefix), new_secret(prefix)
    assert one != two
    assert one.startswith(prefix)
    assert len(bytes.fromhex(one.removeprefix(prefix))) == 32


def test_a_secret_that_is_not_hexadecimal_is_refused():
    """The error names the secret."""
    with pytest.raises(RecordError, match="'daily-xyz' is not a secret"):
        draws_of("daily-xyz")


def test_a_daily_secret_is_sealed_until_one_day_after_its_day(monkeypatch):
    """The secret becomes public at the moment of its revelation, once the game is over."""
    day, moment = "2026-03-01", datetime(2026, 3, 3, tzinfo=UTC)
    assert revelation_of(day) == moment

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return now.astimezone(tz)

    monkeypatch.setattr(fairness, "datetime", Clock)
    secret = DAILY + "2a"
    now = moment - timedelta(microseconds=1)
    assert sealed_until(day) == moment.date()
    assert public_secret(secret, day, is_over=True) is None
    now = moment
    assert sealed_until(day) is sealed_until(None) is None
    assert public_secret(secret, day, is_over=True) == secret
    assert public_secret(secret, day, is_over=False) is None
    assert public_secret(BATTLE + "2a", None, is_over=True) is None
