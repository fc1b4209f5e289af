"""Helpers that fill a store through the calls of screens and servers."""

from __future__ import annotations

from typing import Any

from py2048.app.storage import GameChange, NewOnlineGame, OnlineGameInfo, SavedGame, Store
from py2048.app.storage.records import insert_record
from py2048.app.storage.values import utc_now


def new_game(store: Store, **facts: Any) -> SavedGame:
    """Add a game and return it from the store."""
    usual = {"rules": "classic", "seed": 1, "start": "", "player": "me", "owner": "local"}
    game = SavedGame(**{**usual, **facts})
    store.games.add(game)
    return load(store, game.id)


def new_online_game(
    store: Store, *, mode: str = "ranked", day: str | None = None, secret: str = "aa", **facts: Any
) -> SavedGame:
    """Add an account's game on a server."""
    usual = {"rules": "classic", "seed": None, "start": "2 .", "player": "me", "owner": "ada"}
    game = SavedGame(**{**usual, **facts})
    info = OnlineGameInfo(game.id, game.owner, mode, day, secret)
    assert store.online.begin(NewOnlineGame(game, info)), "a daily game is there already"
    return game


def load(store: Store, game_id: str) -> SavedGame:
    """Return a game that must exist."""
    return store.games.find(game_id)


def append_turn(store: Store, game_id: str, seen: int, position: int, code: str,
                *, score: int = 0, is_over: bool = False, millis: int = 0) -> bool:  # fmt: skip
    """Add a turn after the first `position`; return whether the store accepted it."""
    return not store.changes.write([GameChange(
        game_id, seen, seen + 1, position + 1, position + 1, score, is_over, 0, 0, {},
        ((position, code, millis),),
    )])  # fmt: skip


def add_record(store: Store, record_id: str, **facts: Any) -> str:
    """Add a finished game that was not played in this store."""
    usual = {"owner": "local", "rules": "classic", "player": "", "category": "plain",
             "started": utc_now(), "finished": utc_now(), "score": 0, "max_tile": 64, "plies": 9,
             "outcome": "lost", "record": "{}"}  # fmt: skip
    with store.write() as connection:
        insert_record(connection, id=record_id, **{**usual, **facts})
    return record_id
