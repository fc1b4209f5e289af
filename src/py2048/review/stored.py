"""Conversion of reviewed moves to and from JSON lists of fields, without explanations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import msgspec

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.review.levels import Goals
from py2048.review.moves import Grade, MoveReview
from py2048.review.reasons import Reason

_Chances = dict[Direction, float]
_StoredMove = tuple[
    int,
    Board,
    int,
    Direction,
    Direction,
    _Chances,
    float,
    float,
    float,
    float,
    Grade,
    float,
    str,
    _Chances,
    Goals | None,
    dict[Direction, int],
    _Chances,
    _Chances,
    Reason | None,
    bool,
]
"""The fields of a `MoveReview`."""


def stored(move: MoveReview) -> list[object]:
    """Return the fields of a move review as JSON values."""
    values = (getattr(move, field.name) for field in fields(move))
    return [msgspec.to_builtins(each, enc_hook=_plain) for each in values]


def loaded(found: object) -> MoveReview:
    """Return a stored move."""
    return MoveReview(*msgspec.convert(found, _StoredMove, strict=False, dec_hook=_board))


def _plain(value: Board | Mapping[Direction, float]) -> object:
    return value.rows if isinstance(value, Board) else dict(value)


def _board(_kind: type, rows: list[list[int]]) -> Board:
    return Board(rows)
