"""Playing over the WebSocket: first moves, watchers, autoplay and cheating clients."""

from __future__ import annotations

import asyncio

import pytest
from inside import Visitor
from web_server import Browser

from py2048.core.board import Board
from py2048.server.app import Server


async def test_a_guest_plays_at_once(browser: Browser) -> None:
    """A new guest gets a board with two tiles; a move returns its new tile and the new board."""
    async with browser.socket() as socket:
        assert socket.hello["me"]["is_guest"]
        state = await socket.new()
        assert sum(tile > 0 for row in state["board"] for tile in row) == 2
        assert state["version"] == 0
        events = await socket.move()
        assert events["version"] == 1
        (moved,) = events["events"]
        assert moved["kind"] == "moved"
        slid, spawn = Board(state["board"]).slide(moved["direction"]).board, moved["spawn"]
        assert slid.with_tile(spawn["cell"], spawn["tile"]) == Board(events["board"])


@pytest.mark.parametrize("kind", ["undo", "redo", "hint", "autoplay"])
async def test_ranked_games_go_without_help(server: Server, kind: str) -> None:
    """Ranked games reject undo, redo, hints and autoplay."""
    player = Visitor(server)
    await player.new(mode="ranked")
    await player.move()
    assert (await player.ask(kind, number=2, player="random"))["reason"] == "mode"


async def test_a_watcher_sees_and_cannot_touch(server: Server) -> None:
    """Anyone may watch a game, but only its player can move."""
    player, watcher = Visitor(server), Visitor(server)
    game = (await player.new())["game"]
    assert (await watcher.ask("watch", game=game))["watching"]
    await player.move()
    assert (await watcher.receive())["version"] == 1
    for kind, fields in (("move", {"number": 2, "direction": "left"}), ("open", {"game": game})):
        assert (await watcher.ask(kind, **fields))["reason"] == "not_yours"


async def test_autoplay_moves_until_somebody_moves_by_hand(server: Server) -> None:
    """Everyone sees autoplayed moves, and a move by hand stops them."""
    player = Visitor(server)
    await player.new()
    assert (await player.ask("autoplay", player="random", delay=0))["player"] == "random"
    for _ in range(3):
        assert (await player.receive())["type"] == "events"
    assert player.state["category"] == "computer"
    message = await player.ask("move", number=player.state["version"] + 10, direction="left")
    kinds = [message["type"]]
    while "refused" not in kinds:
        kinds.append((await player.receive())["type"])
    assert "autoplay" in kinds


async def test_a_move_by_the_api_stops_autoplay(browser: Browser) -> None:
    """A move through the API stops autoplay."""
    async with browser.socket() as socket:
        game = (await socket.new("long:size=5x5"))["game"]
        await socket.ask("autoplay", "autoplay", player="greedy", delay=10_000)
        await socket.receive("events")
        move = {"number": 2, "direction": socket.state["legal"][0]}
        answer = await asyncio.to_thread(browser.post, f"/api/games/{game}/moves", move)
        assert answer.json()["autoplay"] is None
        assert (await socket.receive("autoplay"))["player"] is None


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        ("", "malformed"),
        ("{", "malformed"),
        ("[" * 3000, "malformed"),
        ("null", "malformed"),
        ('"\\ud800"', "malformed"),
        ('{"type":"\\ud800"}', "malformed"),
        ('{"type":7}', "malformed"),
        ('{"type":"win"}', "malformed"),
        ('{"type":"new","rules":7}', "malformed"),
        ('{"type":"new","rules":"nonsense"}', "rules"),
        ('{"type":"new","rules":"big:size=64x64"}', "rules"),
        ('{"type":"new","rules":"classic","mode":"best"}', "malformed"),
        ('{"type":"move","number":"1","direction":"left"}', "malformed"),
        ('{"type":"move","number":true,"direction":"left"}', "malformed"),
        ('{"type":"move","number":1e99,"direction":"left"}', "malformed"),
        ('{"type":"move","number":1,"direction":["left"]}', "malformed"),
        ('{"type":"move","number":1,"direction":"sideways"}', "malformed"),
        ('{"type":"move","number":0,"direction":"left"}', "malformed"),
        ('{"type":"move","number":-5,"direction":"left","score":999999}', "malformed"),
        ('{"type":"hint","number":1,"player":"expectimax:depth=9"}', "player"),
        ('{"type":"autoplay","player":"import os","delay":0}', "player"),
        ('{"type":"autoplay","player":"random","delay":-1}', "malformed"),
        ('{"type":"undo","number":1}', "nothing"),
        ('{"type":"open","game":"../../etc/passwd"}', "unknown_game"),
        ('{"type":"open","game":"0123456789abcdef"}', "unknown_game"),
        ('{"type":"watch","game":{}}', "malformed"),
    ],
)
async def test_a_tampered_message_is_refused_and_changes_nothing(
    server: Server, frame: str, reason: str
) -> None:
    """Invalid messages are rejected with a reason and change nothing."""
    visitor = Visitor(server)
    await visitor.connection.on_message('{"type":"move","number":1,"direction":"left"}')
    assert (await visitor.receive())["reason"] == "no_game"
    before = await visitor.new()
    await visitor.connection.on_message(frame)
    refused = await visitor.receive()
    assert (refused["type"], refused["reason"]) == ("refused", reason)
    assert (refused["state"]["board"], refused["state"]["version"]) == (before["board"], 0)
    assert (await visitor.ask("ping"))["type"] == "pong"


async def test_a_huge_frame_closes_the_connection(browser: Browser) -> None:
    """A one-megabyte frame closes the connection."""
    async with browser.socket() as socket:
        await socket.connection.send("x" * 2**20)
        assert await socket.closed() == 1009
