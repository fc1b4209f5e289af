"""Games as rows of lists, for pages and programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from py2048.server.house import OpenGame
from py2048.server.messages import rules_value
from py2048.storage import RecordSummary

Row = dict[str, Any]

_MODES = {"ranked": "ranked", "daily": "daily", "bot": "bot"}
_BOARDS = {"ranked": "ranked", "daily": "daily", "bot": "bot"}


def finished_rows(games: Iterable[RecordSummary], *, named: bool = True) -> list[Row]:
    """Return finished games in their order; `named` says whether their players have names."""
    return [finished_row(game, place, named=named) for place, game in enumerate(games, 1)]


def finished_row(game: RecordSummary, place: int | None = None, *, named: bool = True) -> Row:
    """Return a finished game."""
    return {
        "place": place,
        "player": game.player if named else None,
        "game": game.id,
        "rules": rules_value(game.rules),
        "mode": _MODES.get(game.category, "casual"),
        "board": game.category,
        "score": game.score,
        "max_tile": game.max_tile,
        "plies": game.plies,
        "started": game.started,
        "finished": game.finished,
        "outcome": game.outcome,
    }


def open_rows(games: Iterable[OpenGame]) -> list[Row]:
    """Return games that go on, in their order."""
    return [open_row(game, place) for place, game in enumerate(games, 1)]


def open_row(game: OpenGame, place: int | None = None) -> Row:
    """Return a game that goes on."""
    return {
        "place": place,
        "player": game.name,
        "game": game.id,
        "rules": rules_value(game.rules),
        "mode": game.mode,
        "board": "computer" if game.computer else _BOARDS.get(game.mode, "assisted"),
        "score": game.score,
        "max_tile": game.max_tile,
        "plies": game.position,
        "started": game.started,
        "finished": None,
        "outcome": "playing",
    }
