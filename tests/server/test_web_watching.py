"""Watching: a few bytes a move, the position first, and whatever else as it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import Visitor, running
from web_server import Browser, WebServer

from py2048.board import Board
from py2048.direction import Direction
from py2048.rules import Rules
from py2048.server.play.rooms import Client
from py2048.server.play.watching import Step, _packed

Json = dict[str, Any]
MOST_BYTES = 10
"""So many may a step have, with the two of the frame's head."""


class Watcher(Visitor):
    """Somebody who takes steps, and works out the position as the page does."""

    def __init__(self, services: Any) -> None:
        super().__init__(services)
        self.sizes: list[int] = []
        self.others: list[str] = []

    async def watch(self, game: str) -> None:
        await self.connection.on_message(json.dumps({"type": "watch", "game": game, "steps": True}))
        await self.follow()

    async def follow(self) -> None:
        """Take the next frame."""
        frame: bytes = await asyncio.wait_for(self._frames.get(), 30)
        if isinstance(frame, Step):
            self.sizes.append(2 + len(frame))
            self.step(frame)
        else:
            message = json.loads(frame)
            self.others.append(message["type"])
            self.state |= message

    def step(self, frame: bytes) -> None:
        version, move, cell, *points = frame
        assert version == (self.state["version"] + 1) % 256
        self.state["version"] += 1
        rules = Rules.parse(self.state["rules"]["text"])
        slide = Board(self.state["board"]).slide(Direction(move & 3), rules.merging)
        assert slide.changed
        rows = [list(row) for row in slide.board.rows]
        rows[cell // rules.columns][cell % rules.columns] = 1 << (move >> 2)
        self.state["board"] = rows
        self.state["score"] += unpacked(points)


def unpacked(groups: list[int]) -> int:
    number = sum((group & 127) << 7 * place for place, group in enumerate(groups))
    return -(number + 1) // 2 if number % 2 else number // 2


@given(st.integers(-(2**40), 2**40))
def test_points_are_packed_without_loss(points: int) -> None:
    """Small ones in a byte, and each group of seven bits says whether another follows."""
    packed = _packed(points)
    assert unpacked(packed) == points
    assert [group >> 7 for group in packed] == [1] * (len(packed) - 1) + [0]
    assert len(packed) == 1 or not -64 <= points < 64


@pytest.mark.parametrize(
    ("rules", "count"),
    [
        ("classic", 100),
        ("classic:size=5x3,merging=cascade,spawn=2:1+8:1", 3),
        ("points:size=4x4,scoring=moves:1:-1", 3),
    ],
)
async def test_a_hundred_watchers_follow_a_game(tmp_path: Any, rules: str, count: int) -> None:
    """Each step is a few bytes, and leads every watcher to the player's position."""
    async with running(f"sqlite:///{tmp_path / 'store.sqlite3'}") as services:
        player = Visitor(services)
        game = (await player.new(rules, "ranked"))["game"]
        watchers = [Watcher(services) for _ in range(count)]
        for watcher in watchers:
            await watcher.watch(game)
        for _ in range(10):
            await player.move()
        late = Watcher(services)
        await late.watch(game)
        assert late.state["board"] == player.state["board"]
        while player.state["outcome"] == "playing" and player.state["ply"] < 60:
            await player.move()
        for watcher in (late, *watchers[::20]):
            while watcher.state["version"] < player.state["version"]:
                await watcher.follow()
            for fact in ("board", "score"):
                assert watcher.state[fact] == json.loads(json.dumps(player.state[fact]))
            assert max(watcher.sizes) <= MOST_BYTES
            assert watcher.others[0] == "state"
        for visitor in (player, late, *watchers):
            visitor.leave()


async def test_whoever_comes_while_a_move_is_written_is_told_the_position_first(
    tmp_path: Any,
) -> None:
    """Moves from before are in the position; those after it follow."""
    async with running(f"sqlite:///{tmp_path / 'store.sqlite3'}") as services:
        player, watcher = Visitor(services), Visitor(services)
        game = (await player.new())["game"]
        room = services.rooms.open[game]
        with services.rooms.games.store.write():
            moves = [asyncio.create_task(player.move())]
            await asyncio.wait_for(_until(lambda: not room.settled.is_set()), 30)
            watching = asyncio.create_task(watcher.ask("watch", game=game))
            await asyncio.wait_for(_until(lambda: watcher.connection in room.clients), 30)
        first = await watching
        assert (first["type"], first["version"]) == ("state", 1)
        await asyncio.gather(*moves)
        await player.move()
        then = await watcher.receive()
        assert (then["type"], then["version"]) == ("events", 2)
        for visitor in (player, watcher):
            visitor.leave()


async def test_a_request_is_answered_by_what_it_did(tmp_path: Any) -> None:
    """A move that was made before it, and is written meanwhile, is not its answer."""
    async with running(f"sqlite:///{tmp_path / 'store.sqlite3'}") as services:
        player = Visitor(services)
        room = services.rooms.open[(await player.new())["game"]]
        requests = [Client(player.account.id) for _ in range(2)]
        with services.rooms.games.store.write():
            for number, request in enumerate(requests, start=1):
                services.rooms.enter(request, room)
                direction = room.game.session.game.legal_directions()[0]
                room.broadcast(room.game.move(number, direction), request)
        for number, request in enumerate(requests, start=1):
            answer = json.loads(await asyncio.wait_for(request.first(), 30))
            assert (answer["type"], answer["version"]) == ("events", number)
            services.rooms.leave(request)
        player.leave()


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.01)


async def test_what_is_no_plain_move_is_told_in_full(tmp_path: Any) -> None:
    """Undo, redo and the end come as to everybody else, and steps go on after them."""
    async with running(f"sqlite:///{tmp_path / 'store.sqlite3'}") as services:
        player, watcher, other = Visitor(services), Watcher(services), Visitor(services)
        game = (await player.new("classic:size=2x2", "casual"))["game"]
        await watcher.watch(game)
        await other.ask("watch", game=game)
        await player.move()
        for kind in ("undo", "redo"):
            await player.ask(kind, number=player.state["version"] + 1)
        while player.state["outcome"] == "playing":
            await player.move()
        while watcher.state["outcome"] == "playing":
            await watcher.follow()
        assert watcher.state["board"] == player.state["board"]
        assert watcher.others[0] == "state"
        assert watcher.others[1:] == ["events"] * 3
        while other.state["version"] < player.state["version"]:
            assert (await other.receive())["type"] == "events"
        mine = Watcher(services)
        await mine.watch(game)
        assert (await mine.ask("new"))["type"] == "state"
        assert not mine.connection.takes_steps
        for visitor in (player, watcher, other, mine):
            visitor.leave()


async def test_bytes_on_the_wire(web_server: WebServer) -> None:
    """A step is one binary frame of a real socket, after the state as text."""
    one, other = Browser(web_server), Browser(web_server)
    async with one.socket() as player, other.socket() as watcher:
        game = (await player.new("classic", "ranked"))["game"]
        await watcher.ask("watch", "state", game=game, steps=True)
        for _ in range(5):
            await player.move()
            frame = await watcher.connection.recv()
            assert isinstance(frame, bytes)
            assert 2 + len(frame) <= MOST_BYTES
