"""How processes follow each other: two sets of the server's parts on one PostgreSQL."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from inside import Json, Visitor, running

from py2048.app.session.tracked_game import TrackedGame
from py2048.app.storage import SavedGame
from py2048.core.game.turn import Draws
from py2048.server.play.changes import Notices
from py2048.server.play.rooms import Client
from py2048.server.services import Services

pytestmark = pytest.mark.postgres
Two = tuple[Services, Services]


@pytest.fixture
async def two(postgresql_url: str) -> AsyncIterator[Two]:
    """Two processes of one server that hear each other."""
    async with running(postgresql_url) as one, running(postgresql_url) as other:
        player, watcher = Visitor(one), Visitor(other)
        game = (await player.new(mode="ranked"))["game"]
        await watcher.ask("watch", game=game)
        await player.move()
        await watcher.receive()
        for visitor in (player, watcher):
            visitor.leave()
        yield one, other


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.sqlite3'}"


async def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    for _ in range(int(seconds / 0.01)):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it does not happen")


async def watched(player: Visitor, watcher: Visitor, mode: str = "ranked") -> str:
    """Begin a game that somebody watches, and return it."""
    game: str = (await player.new(mode=mode))["game"]
    await watcher.ask("watch", game=game)
    return game


async def shown(visitor: Visitor, version: int) -> Json:
    """Return the message that brings a visitor to a version."""
    while (message := await visitor.receive()).get("version", -1) < version:
        pass
    return message


async def play_out(player: Visitor) -> None:
    while player.state["outcome"] == "playing":
        await player.move()


async def test_a_watcher_in_another_process_sees_each_move(two: Two) -> None:
    """Moves come with their motions, in either direction, also when the player changes sides."""
    one, other = two
    player, watcher = Visitor(one), Visitor(other)
    game = await watched(player, watcher)
    for _ in range(5):
        moved = await player.move()
        seen = await watcher.receive()
        assert (seen["type"], seen["board"]) == ("events", moved["board"])
        assert seen["events"] == moved["events"]
    again = Visitor(other, player.account)  # the same player, in another tab
    await again.ask("open", game=game)
    moved = await again.move()
    assert (await player.receive())["board"] == moved["board"]


async def test_what_no_notice_told_is_found_in_the_store(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A watcher misses no move for long; a player who comes back sees all that was acknowledged."""
    one, other = two
    player, watcher = Visitor(one), Visitor(other)
    game = await watched(player, watcher)
    monkeypatch.setattr(Notices, "tell", lambda *_: None)  # the process died before it told
    moved = await player.move()
    assert (await shown(watcher, 1))["board"] == moved["board"]
    for _ in range(2):
        moved = await player.move()
    again = Visitor(other, player.account)
    state = await again.ask("open", game=game)
    assert (state["version"], state["board"]) == (3, moved["board"])


async def test_an_undo_elsewhere_is_followed_and_replayed_in_a_thread(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is more than added turns is read from the store, and nobody else waits for that."""
    threads = []
    from_saved = TrackedGame.from_saved

    def noted(saved: SavedGame, draws: Draws | None = None) -> TrackedGame:
        threads.append(threading.current_thread())
        return from_saved(saved, draws)

    one, other = two
    player, watcher = Visitor(one), Visitor(other)
    await watched(player, watcher, "casual")
    for version in (1, 2, 3):
        await player.move()
        await shown(watcher, version)
    monkeypatch.setattr(TrackedGame, "from_saved", noted)
    undone = await player.ask("undo", number=4)
    assert (await shown(watcher, 4))["board"] == undone["board"]
    assert threads
    assert threading.main_thread() not in threads
    player.state["version"] = 4
    moved = await player.move()
    assert (await shown(watcher, 5))["board"] == moved["board"]


async def test_games_that_are_played_elsewhere_are_live_here(two: Two) -> None:
    """The list of live games is that of all processes."""
    one, other = two
    player = Visitor(one)
    game = (await player.new(mode="ranked"))["game"]
    await player.move()
    while game not in [live.id for live in await other.rooms.live_games()]:
        await asyncio.sleep(0.05)


async def test_autoplay_stops_when_somebody_acts_in_another_process(two: Two) -> None:
    """At most one process lets a computer player move."""
    one, other = two
    player, hand = Visitor(one), Visitor(other)
    game = (await player.new())["game"]
    hand = Visitor(other, player.account)
    await hand.ask("open", game=game)
    await player.ask("autoplay", player="random", delay=10_000)
    await shown(hand, 1)
    await hand.move()
    await until(lambda: one.rooms.open[game].autoplay is None)


async def test_a_game_that_was_deleted_elsewhere_is_gone_here(two: Two) -> None:
    """Who watches it is told so, though no notice of the deletion came; nothing has failed."""
    one, other = two
    player, watcher = Visitor(one), Visitor(other)
    await watched(player, watcher)
    one.rooms.games.store.accounts.delete(player.account.id)
    refused = await watcher.receive()
    assert (refused["type"], refused["reason"]) == ("refused", "unknown_game")
    assert not other.rooms.open
    assert b"py2048_storage_faults_total 0.0" in other.metrics.text()


# The end of a casual game, in one process


async def test_a_record_made_elsewhere_refuses_an_undo(sqlite_url: str) -> None:
    """Whose undo comes after the record that another process made is told so, and the state."""
    async with running(sqlite_url) as services:
        player = Visitor(services)
        game = (await player.new("x:size=2x2"))["game"]
        await play_out(player)
        version = player.state["version"]
        assert player.state["can_undo"]
        services.rooms.games.finish(game)
        refused = await player.ask("undo", number=version + 1, chain=1)
        assert (refused["type"], refused["reason"]) == ("refused", "over")
        assert (refused["state"]["version"], refused["state"]["can_undo"]) == (version, False)


async def test_a_process_that_starts_makes_no_record_of_a_casual_game(sqlite_url: str) -> None:
    """Its player may sit at it elsewhere, and take the end back; a ranked one is finished."""
    async with running(sqlite_url) as services:
        player, ranked = Visitor(services), Visitor(services)
        game = (await player.new("x:size=2x2"))["game"]
        await play_out(player)
        await services.rooms.in_thread(services.rooms.games.load, game)
        other = (await ranked.new("x:size=2x2", "ranked"))["game"]
        records = services.rooms.games.store.records
        await play_out(ranked)
        async with running(sqlite_url, sweep_s=0.05):
            await until(lambda: records.summary(other))
            await asyncio.sleep(0.2)
            assert records.summary(game) is None
        undone = await player.ask("undo", number=player.state["version"] + 1)
        assert undone["type"] == "events"


@pytest.mark.parametrize("way", ["other tab", "lost connection"])
async def test_the_end_of_a_casual_game_can_be_undone_while_its_player_is_there(
    sqlite_url: str, way: str
) -> None:
    """Who leaves it in one tab, or comes back, can undo; who leaves the last tab has its record."""
    async with running(sqlite_url) as services:
        player, watcher = Visitor(services), Visitor(services)
        game = (await player.new("x:size=2x2"))["game"]
        await watcher.ask("watch", game=game)
        other = Visitor(services, player.account)
        if way == "other tab":
            await other.ask("open", game=game)
        await play_out(player)
        if way == "other tab":
            await player.new()
            while other.state["outcome"] == "playing":
                await other.receive()
        else:
            player.leave()
            await other.ask("open", game=game)
        records = services.rooms.games.store.records
        for action in ("undo", "redo"):
            done = await other.ask(action, number=other.state["version"] + 1)
            assert done["type"] == "events"
        assert records.summary(game) is None
        await other.new()
        await until(lambda: records.summary(game))


async def test_a_record_is_made_although_somebody_watches(sqlite_url: str) -> None:
    """Who leaves a casual game that is over, even before its end is written, has a record soon."""
    async with running(sqlite_url) as services:
        player, watcher = Visitor(services), Visitor(services)
        game = (await player.new("x:size=2x2"))["game"]
        await watcher.ask("watch", game=game)
        await play_out(player)
        await player.ask("undo", number=player.state["version"] + 1)
        last = {"number": player.state["version"] + 1, "type": "redo"}
        for message in (last, {"type": "leave"}):
            await player.connection.on_message(json.dumps(message))
        await until(lambda: services.rooms.games.store.records.summary(game))


async def test_a_visitor_who_goes_while_a_game_is_loaded_leaves_no_room_open(
    sqlite_url: str,
) -> None:
    """Others who wait for the same game still enter it."""
    async with running(sqlite_url) as services:
        player = Visitor(services)
        game = (await player.new())["game"]
        player.leave()
        rooms = services.rooms
        assert not rooms.open
        for staying in (0, 1):
            finding = [asyncio.create_task(rooms.find(game)) for _ in range(2 + staying)]
            await asyncio.sleep(0)
            for task in finding[staying:]:
                task.cancel()
            await asyncio.wait(finding)
            for task in finding[:staying]:
                watcher = Client("somebody")
                rooms.enter(watcher, task.result())
                assert watcher.room is rooms.open[game]
                rooms.leave(watcher)
            await until(lambda: not rooms.open)
