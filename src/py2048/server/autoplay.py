"""Autoplay on the server: a computer player makes a person's moves, for all who watch."""

from __future__ import annotations

import asyncio
import logging

from py2048.errors import Py2048Error
from py2048.server import messages
from py2048.server.places import Place
from py2048.server.services import Services
from py2048.server.table import RefusedError
from py2048.session import Hint

_log = logging.getLogger("py2048.web")
LEAST_DELAY = 0.05
"""Seconds between two moves, at the least."""

MOST_OF_ONE = 2
"""In so many games of one account may computer players be at work."""


def start(services: Services, place: Place, spec: str, delay: float) -> None:
    """Let a player make the moves from now on, until the game is over or somebody stops it.

    Raises:
        RefusedError: if the mode forbids it, or too many games are played so.
    """
    place.table.check_help()
    if place.table.is_over:
        raise RefusedError("over", "the game is over: begin a new one")
    playing = [other for other in services.hub.places.values() if other.task is not None]
    mine = [other for other in playing if other.table.round.owner == place.table.round.owner]
    if place.task is None and len(mine) >= MOST_OF_ONE:
        raise RefusedError("busy", f"computer players are at work in {MOST_OF_ONE} of your games")
    if place.task is None and len(playing) >= services.settings.autoplays:
        raise RefusedError("busy", "computer players are at work in too many games: try later")
    stop(place)
    place.autoplay = spec
    _announce(place)
    place.task = services.hub.start(_play(services, place, spec, max(delay, LEAST_DELAY)))


def stop(place: Place) -> None:
    """Stop autoplay, if there is any."""
    task, place.task = place.task, None
    if task is not None:
        task.cancel()
        place.autoplay = None
        _announce(place)


async def _play(services: Services, place: Place, spec: str, delay: float) -> None:
    try:
        while not place.table.is_over and place.seats:
            await place.ready()
            snapshot = place.table.session.snapshot()
            async for answer in services.advisers.advise(spec, snapshot, only_move=True):
                if isinstance(answer, Hint):
                    await place.ready()
                    place.tell(place.table.play_hint(answer))
                else:
                    message = messages.compiling_message(place.table, spec, answer)
                    place.post(messages.encode(message))
            await asyncio.sleep(delay)
    except Py2048Error as error:
        _log.warning("autoplay stopped", extra={"fault": str(error)})
    if place.task is asyncio.current_task():
        place.task = None
        place.autoplay = None
        _announce(place)
        services.hub.rested(place)


def _announce(place: Place) -> None:
    message = {"type": "autoplay", "game": place.table.id, "player": place.autoplay}
    place.post(messages.encode(message))
