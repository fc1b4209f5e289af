"""The skill level at which a player's moves are judged: chosen, or fitted to past games."""

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
"""Name of the level that is fitted to the player's own games."""

LEVEL_SETTING = "level"

MAX_ABANDONED = 5
"""Maximum number of unfinished games used to fit a level. Replaying a game takes time."""


def find_level(
    store: Store | None, owner: str, rules: Rules, text: str = ME
) -> levels.Level | None:
    """Return the level named by `text`, or `None` for perfect play.

    Raises:
        PlayerError: If the text names no level.
        StorageError: If the store cannot be read.
    """
    return own_level(store, owner, rules) if text == ME else levels.parse_level(text)


def own_level(store: Store | None, owner: str, rules: Rules) -> levels.Level:
    """Return the level that fits the games that a player recently played without help.

    If the player has too few games under these rules, the level is fitted to classic games. New
    players have a fixed initial level.
    """
    for each in (rules, get_rules("classic")):
        games = largest_tiles(store, owner, each) if store and levels.has_table(each) else []
        if len(games) >= levels.PRIOR_GAMES:
            return levels.fit_level(each, games)
    return levels.level_of(levels.PRIOR_SLIP)


def largest_tiles(store: Store, owner: str, rules: Rules) -> list[tuple[int, bool]]:
    """Return each recent game's largest tile, and whether the game is finished.

    Games with undos, hints or a computer player are not included.
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
