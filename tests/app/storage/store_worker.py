"""A process that uses a store; tests start several and kill some.

It prints ``ready`` once loaded, then plays a role for each line ``ROLE NAME URL GAME`` on standard
input. Acknowledged facts are printed line by line, followed by ``done``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import sqlalchemy  # noqa: F401  (loaded before `ready`, so that races are close)
from store_games import append_turn, load, new_game

from py2048.app.storage import Store, open_store


def say(*words: object) -> None:
    print(*words, flush=True)


def play_on(store: Store, name: str, _game_id: str) -> None:
    """Continue the current game until this process is killed."""
    game = store.games.current() or new_game(store, player=name)
    say("resumed", game.id, len(game.turns))
    revision, position = game.revision, game.position
    while True:
        code = f"{name}.{position}"
        assert append_turn(store, game.id, revision, position, code, score=position)
        say("kept", code)
        revision, position = revision + 1, position + 1


def contend(store: Store, name: str, game_id: str) -> None:
    """Add 15 turns to a shared game, reloading after each conflict."""
    for number in range(15):
        code, kept = f"{name}.{number}", False
        while not kept:
            game = load(store, game_id)
            assert game.position == len(game.turns) == game.revision, "a torn read"
            kept = append_turn(store, game_id, game.revision, game.position, code, score=number)
        say("kept", code)


ROLES: dict[str, Callable[[Store, str, str], None]] = {"play_on": play_on, "contend": contend}


def main() -> None:
    say("ready")
    for line in sys.stdin:
        role, name, url, game_id = line.split()
        with open_store(url) as store:
            ROLES[role](store, name, game_id)
        say("done")


if __name__ == "__main__":
    main()
