"""What the page tells the server, read strictly: nothing that a browser says is believed."""

from __future__ import annotations

import json
from typing import Any, TypeGuard

from py2048.direction import Direction
from py2048.server.table import RefusedError

MOST_CHARACTERS = 4096
_DIRECTIONS = {direction.name.lower(): direction for direction in Direction}
_LARGEST_NUMBER = 2**31 - 1
_LONGEST_ID = 32
_LONGEST_TEXT = 400
_LONGEST_DELAY = 10_000

Json = dict[str, Any]


def parse(text: str | None) -> Json:
    """Return the message in a frame.

    Raises:
        RefusedError: if it is no JSON object with a type.
    """
    if text is None or len(text) > MOST_CHARACTERS:
        raise malformed(f"a message is text of at most {MOST_CHARACTERS} characters")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise malformed("the message is no JSON") from None
    if not isinstance(message, dict) or not is_text(message.get("type")):
        raise malformed("a message is a JSON object with a type")
    return message


def is_text(value: object) -> TypeGuard[str]:
    """Say whether a value is a text that every database and browser can hold."""
    if not isinstance(value, str) or "\0" in value:
        return False
    # JSON can write half of a surrogate pair, which is no character.
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def malformed(message: str) -> RefusedError:
    """Return the refusal of a message that no page of ours sends."""
    return RefusedError("malformed", message)


def number_of(message: Json) -> int:
    """Return the number of an action.

    Raises:
        RefusedError: if it has none.
    """
    return whole(message, "number", 1, _LARGEST_NUMBER)


def whole(message: Json, key: str, low: int, high: int) -> int:
    """Return a whole number between bounds.

    Raises:
        RefusedError: if it is something else.
    """
    value = message.get(key)
    if type(value) is not int or not low <= value <= high:
        raise malformed(f"{key} must be a whole number from {low} to {high}")
    return value


def direction_of(message: Json) -> Direction:
    """Return the direction of a move.

    Raises:
        RefusedError: if it names none.
    """
    direction = _DIRECTIONS.get(text(message, "direction"))
    if direction is None:
        raise malformed("direction must be one of up, down, left, right")
    return direction


def game_id_of(message: Json) -> str:
    """Return the id of a game, which need not exist.

    Raises:
        RefusedError: if it can be none.
    """
    value = text(message, "game")
    if not is_game_id(value):
        raise RefusedError("unknown_game", "there is no such game")
    return value


def is_game_id(value: str) -> bool:
    """Say whether a text can be the id of a game."""
    return 0 < len(value) <= _LONGEST_ID and value.isascii() and value.isalnum()


def text(message: Json, key: str, default: str | None = None) -> str:
    """Return a short text.

    Raises:
        RefusedError: if it is something else, or too long, or missing without a default.
    """
    value = message.get(key, default)
    if not is_text(value) or len(value) > _LONGEST_TEXT:
        raise malformed(f"{key} must be a text of at most {_LONGEST_TEXT} characters")
    return value


def spec_of(message: Json) -> str | None:
    """Return the player that is asked for, None where none is.

    Raises:
        RefusedError: if it is no text.
    """
    return None if message.get("player") is None else text(message, "player")


def delay_of(message: Json) -> float:
    """Return the pause between the moves of autoplay in seconds.

    Raises:
        RefusedError: if it is no number of milliseconds.
    """
    delay = message.get("delay", 0)
    if isinstance(delay, bool) or not isinstance(delay, int | float):
        raise malformed("delay must be a number of milliseconds")
    if not 0 <= delay <= _LONGEST_DELAY:
        raise malformed(f"delay must be from 0 to {_LONGEST_DELAY} milliseconds")
    return delay / 1000
