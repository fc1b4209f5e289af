"""A process of its own that uses a store: the tests start several, and kill some.

It loads what it needs, says ``ready``, and then plays a role for each line ``ROLE NAME URL GAME``
on its standard input. It tells what is certain line by line, and ``done`` at the end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import sqlalchemy  # noqa: F401  (loaded before `ready`, so that races are close)

from py2048.storage import StaleGameError, Store, open_store


def say(*words: object) -> None:
    print(*words, flush=True)


def play_on(store: Store, name: str, _game_id: str) -> None:
    """Go on with the current game until somebody kills this process."""
    game = store.games.current() or store.games.create(
        rules="classic", seed=1, start="", player=name
    )
    say("resumed", game.id, len(game.turns))
    revision, position = game.revision, game.position
    while True:
        code = f"{name}.{position}"
        revision = store.games.append_turn(game.id, revision, position, code, score=position)
        say("kept", code)
        position += 1


def contend(store: Store, name: str, game_id: str) -> None:
    """Add 15 turns to a game that others play at the same time; reload when they were faster."""
    for number in range(15):
        code, kept = f"{name}.{number}", False
        while not kept:
            game = store.games.load(game_id)
            assert game.position == len(game.turns) == game.revision, "a torn read"
            try:
                store.games.append_turn(game_id, game.revision, game.position, code, score=number)
                kept = True
            except StaleGameError:
                continue
        say("kept", code)


def finish(store: Store, name: str, game_id: str) -> None:
    """Finish the same game as everybody else, at revision 0."""
    store.records.finish(
        game_id, 0, name, score=64, max_tile=16, plies=0, outcome="lost", category="plain"
    )
    say("finished")


def careers(store: Store, name: str, _game_id: str) -> None:
    """Play and finish five short games, and note the score after each move."""
    for number in range(5):
        game = store.games.create(rules="classic", seed=number, start="", player=name)
        for ply in range(4):
            store.games.append_turn(game.id, ply, ply, f"{name}.{ply}", score=number * 10 + ply)
            store.scores.note("classic", "local", "plain", number * 10 + ply)
        store.records.finish(
            game.id, 4, name, score=number * 10 + 3, max_tile=8, plies=4, outcome="lost",
            category="plain",
        )  # fmt: skip
        say("finished", game.id)


def look(store: Store, _name: str, _game_id: str) -> None:
    """Only open the store, which makes or migrates its tables."""
    say("opened", len(store.records.select()))


ROLES: dict[str, Callable[[Store, str, str], None]] = {
    "play_on": play_on,
    "contend": contend,
    "finish": finish,
    "careers": careers,
    "look": look,
}


def main() -> None:
    say("ready")
    for line in sys.stdin:
        role, name, url, game_id = line.split()
        with open_store(url) as store:
            ROLES[role](store, name, game_id)
        say("done")


if __name__ == "__main__":
    main()
