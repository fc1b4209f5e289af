"""Playing over the WebSocket: numbered moves, two tabs, watchers, and clients that cheat."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest
from web_server import GENEROUS, Browser, WebServer, serving

from py2048 import Record
from py2048.server.play.fairness import check_fair
from py2048.storage import open_store


async def test_a_guest_plays_at_once(browser: Browser) -> None:
    """A stranger gets a board with two tiles, and each move brings motions and a spawn."""
    async with browser.socket() as socket:
        assert socket.hello["me"]["is_guest"]
        state = await socket.new()
        assert sum(tile > 0 for row in state["board"] for tile in row) == 2
        assert state["version"] == 0
        events = await socket.move()
        assert events["version"] == 1
        (moved,) = events["events"]
        assert moved["kind"] == "moved"
        row, column = moved["spawn"]["cell"]
        assert events["board"][row][column] == moved["spawn"]["tile"]
        assert {tuple(each["source"]) for each in moved["motions"]} == {
            (r, c) for r, cells in enumerate(state["board"]) for c, tile in enumerate(cells) if tile
        }


async def test_undo_redo_and_hints_in_casual_games(browser: Browser) -> None:
    """Help is counted, and the game is an assisted one from then on."""
    async with browser.socket() as socket:
        start = await socket.new()
        moved = await socket.move()
        undone = await socket.ask("undo", "events", number=2)
        assert undone["board"] == start["board"]
        assert undone["events"][0]["kind"] == "undone"
        redone = await socket.ask("redo", "events", number=3)
        assert redone["board"] == moved["board"]
        hint = await socket.ask("hint", "hint", number=4, player="greedy")
        assert hint["direction"] in redone["legal"]
        assert set(hint["values"]) == set(redone["legal"])
        assert hint["version"] == 4
        assert redone["category"] == "assisted"


@pytest.mark.parametrize("kind", ["undo", "redo", "hint", "autoplay"])
async def test_ranked_games_go_without_help(browser: Browser, kind: str) -> None:
    """In a ranked game undo, redo, hints and autoplay are refused."""
    async with browser.socket() as socket:
        await socket.new(mode="ranked")
        await socket.move()
        refused = await socket.ask(kind, "refused", number=2, player="greedy")
        assert refused["reason"] == "mode"


async def test_a_ranked_game_proves_its_tiles(browser: Browser) -> None:
    """The commitment comes first, the secret at the end, and every tile follows from it."""
    async with browser.socket() as socket:
        state = await socket.new("2x4", "ranked")
        assert state["secret"] is None
        over = await socket.play_out()
        assert over["events"][-1]["kind"] == "over"
        record = await finished_record(browser, state["game"])
        check_fair(record, over["secret"], state["commitment"])
        assert record.score == over["score"]
        assert record.seed is None
        assert len(record.times) == record.plies


async def finished_record(browser: Browser, game: str) -> Record:
    """Return the record, which is there soon after the end."""
    for _ in range(100):
        answer = browser.get(f"/game/{game}/record")
        if answer.status == 200:
            return Record.from_json(answer.text)
        await asyncio.sleep(0.05)
    raise AssertionError(answer.text)


async def test_two_tabs_see_the_same_game(browser: Browser) -> None:
    """What one tab does the other sees; of two moves with one number only one is done."""
    async with browser.socket() as one, browser.socket() as two:
        game = (await one.new())["game"]
        assert two.hello["me"] == one.hello["me"]
        await two.ask("open", "state", game=game)
        await one.move()
        seen = await two.receive("events")
        assert seen["version"] == 1
        late = await two.ask("move", "state", number=1, direction="left")
        assert late["board"] == seen["board"]


async def test_a_watcher_sees_and_cannot_touch(browser: Browser, web_server: WebServer) -> None:
    """Anyone may watch a game live; only its player moves."""
    async with browser.socket() as player, Browser(web_server).socket() as watcher:
        game = (await player.new())["game"]
        state = await watcher.ask("watch", "state", game=game)
        assert state["watching"]
        await player.move()
        assert (await watcher.receive("events"))["version"] == 1
        refused = await watcher.ask("move", "refused", number=2, direction="left")
        assert refused["reason"] == "not_yours"
        refused = await watcher.ask("open", "refused", game=game)
        assert refused["reason"] == "not_yours"


async def test_autoplay_moves_until_somebody_moves_by_hand(browser: Browser) -> None:
    """A computer player moves for all to see; a move by hand stops it."""
    async with browser.socket() as socket:
        await socket.new()
        told = await socket.ask("autoplay", "autoplay", player="greedy", delay=0)
        assert told["player"] == "greedy"
        for _ in range(3):
            await socket.receive("events")
        await socket.send("move", number=socket.state["version"] + 10, direction="left")
        kinds = [(await socket.receive())["type"] for _ in range(2)]
        while "refused" not in kinds:
            kinds.append((await socket.receive())["type"])
        assert "autoplay" in kinds
        assert socket.state["category"] == "computer"


async def test_a_move_by_the_api_stops_autoplay(browser: Browser) -> None:
    """It is a move by hand like any other."""
    async with browser.socket() as socket:
        game = (await socket.new("long:size=5x5"))["game"]
        await socket.ask("autoplay", "autoplay", player="greedy", delay=10_000)
        await socket.receive("events")
        direction = socket.state["legal"][0]
        answer = await asyncio.to_thread(
            browser.post, f"/api/games/{game}/moves", {"number": 2, "direction": direction}
        )
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
        ('{"type":"move","number":1,"direction":"left"}', "no_game"),
        ('{"type":"move","number":"1","direction":"left"}', "malformed"),
        ('{"type":"move","number":true,"direction":"left"}', "malformed"),
        ('{"type":"move","number":1e99,"direction":"left"}', "malformed"),
        ('{"type":"move","number":1,"direction":["left"]}', "malformed"),
        ('{"type":"move","number":1,"direction":"left","score":999999}', "no_game"),
        ('{"type":"open","game":"../../etc/passwd"}', "unknown_game"),
        ('{"type":"open","game":"0123456789abcdef"}', "unknown_game"),
        ('{"type":"watch","game":{}}', "malformed"),
    ],
)
async def test_a_tampered_message_is_refused(browser: Browser, frame: str, reason: str) -> None:
    """Whatever a client sends, it gets a reason, and the connection lives on."""
    async with browser.socket() as socket:
        await socket.connection.send(frame)
        refused = await socket.receive("refused")
        assert refused["reason"] == reason
        await socket.ask("ping", "pong")


@pytest.mark.parametrize(
    "message",
    [
        {"type": "move", "number": 1, "direction": "sideways"},
        {"type": "move", "number": 0, "direction": "left"},
        {"type": "move", "number": -5, "direction": "left"},
        {"type": "hint", "number": 1, "player": "expectimax:depth=9"},
        {"type": "autoplay", "player": "import os", "delay": 0},
        {"type": "autoplay", "player": "greedy", "delay": -1},
        {"type": "undo", "number": 1},
    ],
)
async def test_a_tampered_action_changes_nothing(browser: Browser, message: object) -> None:
    """An action that cannot be granted leaves the board and the version as they were."""
    async with browser.socket() as socket:
        before = await socket.new()
        await socket.connection.send(json.dumps(message))
        refused = await socket.receive("refused")
        assert refused["state"]["board"] == before["board"]
        assert refused["state"]["version"] == 0


async def test_a_huge_frame_closes_the_connection(browser: Browser) -> None:
    """A frame of a megabyte is not even read."""
    async with browser.socket() as socket:
        await socket.connection.send("x" * 2**20)
        assert await socket.closed() == 1009


async def test_whoever_keeps_offending_is_shown_the_door(browser: Browser) -> None:
    """After many malformed messages the connection is closed, but nobody is logged out."""
    async with browser.socket() as socket:
        for _ in range(60):
            await socket.connection.send("nonsense")
        assert await socket.closed() == 4429


async def test_hasty_moves_are_refused_and_not_done(tmp_path: Path) -> None:
    """Beyond the rate a move is refused with the time to wait."""
    with serving(tmp_path / "slow", "--moves-rate", "1") as server:
        async with Browser(server).socket() as socket:
            await socket.new()
            answers = []
            for _ in range(6):
                number = socket.state["version"] + 1
                direction = socket.state["legal"][0]
                answers.append(await socket.ask("move", None, number=number, direction=direction))
            refused = [answer for answer in answers if answer["type"] == "refused"]
            assert refused
            assert refused[0]["reason"] == "rate"
            assert refused[0]["retry_ms"] > 0
            assert refused[0]["state"]["version"] == socket.state["version"]


async def test_no_acknowledged_move_is_missing_after_a_kill(tmp_path: Path) -> None:
    """SIGKILL in the middle of play: what was answered is in the store."""
    home = tmp_path / "home"
    acknowledged: dict[str, int] = {}

    async def play(browser: Browser) -> None:
        async with browser.socket() as socket:
            game = (await socket.new("long:size=5x5"))["game"]
            while True:
                acknowledged[game] = (await socket.move())["version"]

    with serving(home, *GENEROUS) as server:
        players = [asyncio.create_task(play(Browser(server))) for _ in range(8)]
        while sum(acknowledged.values()) < 200:
            await asyncio.sleep(0.05)
        server.stop(signal.SIGKILL)
        await asyncio.gather(*players, return_exceptions=True)
    with open_store(home / "py2048.sqlite3") as store:
        assert len(acknowledged) == 8
        for game, version in acknowledged.items():
            assert store.games.find(game).revision >= version
