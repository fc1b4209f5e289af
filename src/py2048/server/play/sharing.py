"""Games that are open in several processes of one server, and how these follow each other.

A game has no owner. Any process may play a move in any game: the database takes a change only from
whoever saw the game's last revision, so of two processes one is told that it was late, however
long it slept (see ``docs/decisions/no-owner.md``). What is said here only lets others know soon.

Whoever opens a game says so to everybody; whoever has it open as well answers. From then on each
tells its changes on the game's own channel. A game that is open in one process is published
nowhere, and a change that is lost on the way is found in the store.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

import msgspec

from py2048.server.play.bus import Bus
from py2048.storage import GameChange

_log = logging.getLogger("py2048.web")
_EVERYBODY = "py2048_rooms"
_GATHER = 0.05
"""Seconds in which games that are opened are gathered; one closed again meanwhile is not told."""

_BEAT = 2.0
"""Seconds between two looks into the store for what was not heard."""

_MOST_AT_ONCE = 100  # identifiers in one message


class Presence(msgspec.Struct, tag="presence", omit_defaults=True):
    """Which games a process has opened, has closed, and saw change.

    Attributes:
        origin: the process.
        opened: games open there from now on.
        played: those of them at which their player sits.
        closed: games no longer open there.
        live: games that changed there since the last time.
        is_answer: whether `opened` answers somebody who opened these games.
    """

    origin: str
    opened: Sequence[str] = ()
    played: Sequence[str] = ()
    closed: Sequence[str] = ()
    live: Sequence[str] = ()
    is_answer: bool = False


class Changed(msgspec.Struct, tag="changed"):
    """What a process has written of a game."""

    origin: str
    change: GameChange


class Autoplayed(msgspec.Struct, tag="autoplay"):
    """Where autoplay of a game was begun or stopped: it is over everywhere else.

    Attributes:
        origin: the process.
        game: the game.
        player: who makes the moves there, None when nobody does any more.
    """

    origin: str
    game: str
    player: str | None = None


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Presence | Changed | Autoplayed)


class Follower(Protocol):
    """What follows other processes: the rooms of this one."""

    def is_open(self, game_id: str) -> bool:
        """Say whether a game is open here."""

    def open_games(self) -> Collection[str]:
        """Return the games that are open here."""

    def on_change(self, change: GameChange) -> None:
        """Follow a change that another process has written."""

    def on_autoplay(self, game_id: str, player: str | None) -> None:
        """Stop autoplay here: it was begun, or stopped, in another process."""

    def autoplay_of(self, game_id: str) -> str | None:
        """Return the computer player that moves here in a game, if any."""

    def note_live(self, game_id: str) -> None:
        """Note that a game was played elsewhere."""

    async def resync(self, *, every: bool) -> None:
        """Look into the store for what was not heard: of all games, or of those that need it."""

    def unheard(self) -> Collection[str]:
        """Return the games that are watched here, and that nobody here plays."""


class Sharing:
    """Tells other processes which games are open here, and hears of theirs.

    Args:
        bus: carries the messages; None where there is nobody else.
    """

    def __init__(self, bus: Bus | None = None) -> None:
        self.bus = bus
        self.origin = secrets.token_hex(4)
        # Who else has a game open that is open here, and whether its player sits there.
        self._peers: dict[str, dict[str, bool]] = {}
        self._announced: set[str] = set()
        self._played: set[str] = set()
        self._opened: set[str] = set()
        self._closed: set[str] = set()
        self._live: dict[str, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    # What happens here

    def opened(self, game_id: str) -> None:
        """Note that a game is open here, which others may have open."""
        if self.bus:
            self._opened.add(game_id)
            self._flush_soon()

    def seated(self, game_id: str, *, is_played: bool) -> None:
        """Note whether the player of a game that is open here sits here, unless others know."""
        is_news = is_played != (game_id in self._played) or game_id not in self._announced
        (self._played.add if is_played else self._played.discard)(game_id)
        if is_news:
            self.opened(game_id)

    def closed(self, game_id: str) -> None:
        """Note that a game is no longer open here."""
        self._opened.discard(game_id)
        self._played.discard(game_id)
        if self.bus and game_id in self._announced:
            self._announced.discard(game_id)
            self._closed.add(game_id)
            self._flush_soon()
        if self.bus and self._peers.pop(game_id, None):
            self.bus.unsubscribe(_channel_of(game_id))

    def changed(self, change: GameChange) -> None:
        """Tell those who have the game open what was written."""
        if self.bus:
            self._live[change.id] = None
            if change.id in self._peers:
                self._publish(_channel_of(change.id), Changed(self.origin, change))

    def autoplayed(self, game_id: str, player: str | None) -> None:
        """Tell those who have the game open which computer player moves here, or that none does."""
        if game_id in self._peers:
            self._publish(_channel_of(game_id), Autoplayed(self.origin, game_id, player))

    def is_shared(self, game_id: str) -> bool:
        """Say whether another process has the game open, as far as is known."""
        return game_id in self._peers

    def is_played_elsewhere(self, game_id: str) -> bool:
        """Say whether the player of a game sits in another process, as far as is known."""
        return any(self._peers.get(game_id, {}).values())

    @property
    def shared(self) -> int:
        """How many games are open here and elsewhere."""
        return len(self._peers)

    # Telling others

    async def run(self, follower: Follower) -> None:
        """Tell and hear until cancelled; at once where there is nobody else."""
        if self.bus is None:
            return
        self.bus.subscribe(_EVERYBODY, _address_of(self.origin))
        carrying = self._carry(self.bus, follower)
        try:
            while True:
                await asyncio.wait((carrying,), timeout=_BEAT)
                if carrying.done():
                    _log.error("the bus has failed", exc_info=carrying.exception())
                    carrying = self._carry(self.bus, follower)
                await self._beat(self.bus, follower)
        finally:
            carrying.cancel()

    def _carry(self, bus: Bus, follower: Follower) -> asyncio.Task[None]:
        def receive(_channel: str, message: bytes) -> None:
            try:
                self._on_message(follower, message)
            except Exception:  # noqa: BLE001 - whatever a message says, others are heard
                _log.exception("a message cannot be followed")

        return asyncio.create_task(bus.run(receive, lambda: self._on_connected(follower)))

    async def _beat(self, bus: Bus, follower: Follower) -> None:
        """Look for what was lost, and repeat what may have been."""
        alone = [game for game in follower.unheard() if game not in self._peers]
        for game in alone:  # whoever plays it may not have heard
            self.opened(game)
        live, self._live = list(self._live), {}
        if live:
            for some in _chunks(live[-_MOST_AT_ONCE:]):
                self._publish(_EVERYBODY, Presence(self.origin, live=some))
        await follower.resync(every=bool(bus.fault))

    def _on_connected(self, follower: Follower) -> None:
        """Say all again: others may not have heard it."""
        self._opened.update(follower.open_games())
        self._flush_soon()

    def _flush_soon(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_GATHER, self._flush)

    def _flush(self) -> None:
        self._timer = None
        opened, closed = sorted(self._opened), sorted(self._closed - self._opened)
        self._opened, self._closed = set(), set()
        self._announced.update(opened)
        for some in _chunks(opened):
            self._publish(_EVERYBODY, self._presence(some))
        for some in _chunks(closed):
            self._publish(_EVERYBODY, Presence(self.origin, closed=some))

    def _presence(self, games: Sequence[str], *, is_answer: bool = False) -> Presence:
        played = [game for game in games if game in self._played]
        return Presence(self.origin, opened=games, played=played, is_answer=is_answer)

    def _publish(self, channel: str, message: Presence | Changed | Autoplayed) -> None:
        if self.bus:
            self.bus.publish(channel, _ENCODER.encode(message))

    # Hearing others

    def _on_message(self, follower: Follower, text: bytes) -> None:
        try:
            message = _DECODER.decode(text)
        except msgspec.MsgspecError as error:
            _log.warning("a message cannot be read", extra={"fault": str(error)})
            return
        if message.origin == self.origin:
            return
        if isinstance(message, Changed):
            follower.on_change(message.change)
        elif isinstance(message, Autoplayed):
            follower.on_autoplay(message.game, message.player)
        else:
            self._on_presence(follower, message)

    def _on_presence(self, follower: Follower, presence: Presence) -> None:
        common = [game for game in presence.opened if follower.is_open(game)]
        for game in common:
            self._add_peer(game, presence.origin, is_played=game in presence.played)
        if common and not presence.is_answer:
            self._announced.update(common)
            address = _address_of(presence.origin)
            self._publish(address, self._presence(common, is_answer=True))
            for game in common:
                if player := follower.autoplay_of(game):
                    self._publish(address, Autoplayed(self.origin, game, player))
        for game in presence.closed:
            self._remove_peer(game, presence.origin)
        for game in presence.live:
            follower.note_live(game)

    def _add_peer(self, game_id: str, origin: str, *, is_played: bool) -> None:
        assert self.bus is not None  # it brought the message
        if game_id not in self._peers:
            self._peers[game_id] = {}
            self.bus.subscribe(_channel_of(game_id))
        self._peers[game_id][origin] = is_played

    def _remove_peer(self, game_id: str, origin: str) -> None:
        peers = self._peers.get(game_id)
        if peers is not None and self.bus is not None:
            peers.pop(origin, None)
            if not peers:
                del self._peers[game_id]
                self.bus.unsubscribe(_channel_of(game_id))


def _channel_of(game_id: str) -> str:
    return f"py2048_game_{game_id}"


def _address_of(origin: str) -> str:
    return f"py2048_process_{origin}"


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[first : first + _MOST_AT_ONCE] for first in range(0, len(ids), _MOST_AT_ONCE))
