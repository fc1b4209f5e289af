"""Watching: the position first, then each move."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from unittest.mock import Mock, patch

import pytest
from inside import Visitor, until

from py2048 import Direction
from py2048.server.app import Server
from py2048.server.play.rooms import Client


async def test_whoever_comes_while_a_move_is_written_is_told_the_position_first(
    server: Server,
) -> None:
    """A new watcher receives the position before any later move."""
    player, watcher = Visitor(server), Visitor(server)
    game = (await player.new())["game"]
    room = server.backend.rooms.open[game]
    with server.backend.rooms.games.store.write():
        moves = [asyncio.create_task(player.move())]
        await until(lambda: not room.is_settled)
        watching = asyncio.create_task(watcher.ask("watch", game=game))
        await until(lambda: watcher.connection in room.clients)
    first = await watching
    assert (first["type"], first["version"]) == ("state", 1)
    await asyncio.gather(*moves)
    await player.move()
    then = await watcher.receive()
    assert (then["type"], then["version"]) == ("events", 2)


async def test_a_request_is_answered_by_what_it_did(server: Server) -> None:
    """A response describes its own action, not an earlier one that is still being saved."""
    player = Visitor(server)
    room = server.backend.rooms.open[(await player.new())["game"]]
    requests = [Client(player.account.id) for _ in range(2)]
    with server.backend.rooms.games.store.write():
        for number, request in enumerate(requests, start=1):
            server.backend.rooms.enter(request, room)
            direction = room.game.session.game.legal_directions()[0]
            room.broadcast(room.game.move(number, direction), request)
    for number, request in enumerate(requests, start=1):
        answer = json.loads(await asyncio.wait_for(request.next(), 30))
        assert (answer["type"], answer["version"]) == ("events", number)
        server.backend.rooms.leave(request)


@pytest.mark.parametrize(("scoring", "first_seen"), [("merges", "left"), ("moves:1:-1", "up")])
async def test_watchers_see_what_changes_the_game(
    server: Server, scoring: str, first_seen: str
) -> None:
    """An illegal attempt is shown to its player only, unless it costs points."""
    player, watcher = Visitor(server), Visitor(server)
    game = (await player.new(f"wide:size=1x6,start=2x2:1,scoring={scoring}"))["game"]
    await watcher.ask("watch", game=game)
    for direction in ("up", "left"):
        number = player.state["version"] + 1
        await player.ask("move", number=number, direction=direction)
    seen = await watcher.receive()
    assert (seen["type"], seen["version"]) == ("events", 1)
    assert seen["events"][0]["direction"] == first_seen


async def test_an_attempt_that_changes_nothing_stays_private_while_moves_are_saved(
    server: Server,
) -> None:
    """Watchers do not see the attempt, even if earlier moves are still waiting to be saved."""
    player, watcher = Visitor(server), Visitor(server)
    game = (await player.new("wide:size=1x6,start=2x2:1"))["game"]
    await watcher.ask("watch", game=game)
    room = server.backend.rooms.open[game]
    with server.backend.rooms.games.store.write():
        for direction in (Direction.LEFT, Direction.RIGHT, Direction.UP):
            room.broadcast(room.game.move(room.game.version + 1, direction), player.connection)
    room.broadcast(room.game.move(3, Direction.LEFT), player.connection)
    seen = [await watcher.receive() for _ in range(3)]
    found = [(each["version"], each["events"][0]["kind"]) for each in seen]
    assert found == [(1, "moved"), (2, "moved"), (3, "moved")]


async def test_a_watcher_who_leaves_changes_nothing(server: Server) -> None:
    """The game stays open for its player, and its autoplay continues."""
    player, watcher = Visitor(server), Visitor(server)
    game = (await player.new())["game"]
    await player.ask("autoplay", player="random", delay=10_000)
    await watcher.ask("watch", game=game)
    room = server.backend.rooms.open[game]
    watcher.leave()
    assert room.clients == {player.connection}
    assert server.backend.rooms.open[game] is room
    assert room.autoplayer == "random"
    player.leave()
    assert room.autoplayer is None


async def test_an_outdated_notice_is_ignored(server: Server) -> None:
    """A notice of an older revision than the game's does not read the store again."""
    rooms, watcher = server.backend.rooms, Visitor(server)
    room = rooms.open[(await watcher.new())["game"]]
    there, store = rooms.games.load(room.game.id), rooms.games.store
    for number in (1, 2):
        there.move(number, there.session.game.legal_directions()[0])
    store.changes.write([there.tracked.take_change()])

    async def run(on_notice: Callable[[dict[str, int]], None]) -> None:
        for revision in (2, 1):
            on_notice({room.game.id: revision})

    rooms.notices = Mock(run=run)
    with patch.object(store.games, "change_since", wraps=store.games.change_since) as read:
        rooms.start(rooms.follow_others())
        assert (await watcher.receive())["version"] == 2
        async with room.sync_lock:
            assert read.call_count == 1
