"""Conversion of move reviews to and from JSON lists of their field values."""

from __future__ import annotations

from collections.abc import Mapping
from types import GenericAlias
from typing import get_type_hints

import msgspec

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.review.levels import Goals
from py2048.review.moves import MoveReview
from py2048.review.reasons import Reason

_FIELDS = GenericAlias(
    tuple, tuple(get_type_hints(MoveReview, localns={"Goals": Goals, "Reason": Reason}).values())
)


def stored(move: MoveReview) -> list[object]:
    """Return the fields of a move review as JSON values."""
    return [*msgspec.to_builtins(move, enc_hook=_plain).values()]


def loaded(found: object) -> MoveReview:
    """Return a stored move."""
    return MoveReview(*msgspec.convert(found, _FIELDS, strict=False, dec_hook=_board))


def _plain(value: Board | Mapping[Direction, float]) -> object:
    return value.rows if isinstance(value, Board) else dict(value)


def _board(_kind: type, rows: list[list[int]]) -> Board:
    return Board(rows)
