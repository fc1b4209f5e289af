"""The level at which a player's moves are judged: chosen, or fitted to the player's own games."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from py2048.app.session.tracked_game import TrackedGame
from py2048.core.errors import StorageError
from py2048.core.rules import Rules, get_rules
from py2048.review import levels

if TYPE_CHECKING:
    from py2048.app.storage import Store

ME = "me"
"""Stands for the player's own level, which is fitted to their games."""

LEVEL_SETTING = "level"

MAX_ABANDONED = 5
"""Maximum number of unfinished games that count; each must be replayed."""


def find_level(
    store: Store | None, owner: str, rules: Rules, text: str = ME
) -> levels.Level | None:
    """Return the level that a text names, or `None` for perfect play.

    Raises:
        PlayerError: If the text names no level.
        StorageError: If the store cannot be read.
    """
    return own_level(store, owner, rules) if text == ME else levels.parse_level(text)


def own_level(store: Store | None, owner: str, rules: Rules) -> levels.Level:
    """Return the level fitted to a player's last games without help.

    With too few games under these rules, the level is that of the player's classic games. A new
    player has the level at which the fit starts.
    """
    for each in (rules, get_rules("classic")):
        games = largest_tiles(store, owner, each) if store and levels.has_table(each) else []
        if len(games) >= levels.PRIOR_GAMES:
            return levels.fit_level(each, games)
    return levels.level_of(levels.PRIOR_SLIP)


def largest_tiles(store: Store, owner: str, rules: Rules) -> list[tuple[int, bool]]:
    """Return the largest tile of each of a player's last games, and whether the game is finished.

    Games with undo, hints or a computer player do not count.
    """
    found: list[tuple[int, bool]] = []
    abandoned = store.games.select(owner, finished=False, rules=str(rules), limit=MAX_ABANDONED)
    for saved in abandoned:
        with suppress(StorageError):  # unreadable games stay in the store
            game = TrackedGame.from_saved(saved)
            if game.category == "plain":
                found.append((game.game.board.max_tile, False))
    plain = store.records.select(
        owner=owner,
        rules=str(rules),
        order="finished",
        limit=levels.MAX_GAMES,
        categories=["plain"],
    )
    return [*found, *((each.max_tile, True) for each in reversed(plain))]
