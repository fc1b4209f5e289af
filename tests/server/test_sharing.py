"""Two processes on one PostgreSQL database follow each other's games."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest
from inside import Json, Visitor, running, until

from py2048.app.session.tracked_game import TrackedGame
from py2048.app.storage import SavedGame
from py2048.core.game.turn import Draws
from py2048.server.admission import SERVER
from py2048.server.app import Server
from py2048.server.play.changes import GameNotices
from py2048.server.play.rooms import Client

pytestmark = pytest.mark.postgres
Two = tuple[Server, Server]


@pytest.fixture
async def two(postgresql_url: str) -> AsyncIterator[Two]:
    """Two server processes that exchange notices."""
    async with running(postgresql_url) as one, running(postgresql_url) as other:
        player, watcher = Visitor(one), Visitor(other)
        game = (await player.new(mode="ranked"))["game"]
        await watcher.ask("watch", game=game)
        await player.move()
        await watcher.receive()
        for visitor in (player, watcher):
            visitor.leave()
        yield one, other


async def watched(player: Visitor, watcher: Visitor, mode: str = "ranked") -> str:
    """Start a game with a watcher and return it."""
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
    """Watchers receive moves as events, even after the player changes processes."""
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
    """Lost notices delay watchers only briefly; returning players see all acknowledged moves."""
    one, other = two
    player, watcher = Visitor(one), Visitor(other)
    game = await watched(player, watcher)
    monkeypatch.setattr(GameNotices, "tell", lambda *_: None)  # the process died before it told
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
    """An undo in another process reloads the game without delaying anyone else."""
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
    """The list of live games includes those of other processes."""
    one, other = two
    player = Visitor(one)
    game = (await player.new(mode="ranked"))["game"]
    await player.move()
    while game not in [live.id for live in await other.backend.rooms.live_games()]:
        await asyncio.sleep(0.05)


async def test_autoplay_stops_when_somebody_acts_in_another_process(two: Two) -> None:
    """At most one process plays a game automatically."""
    one, other = two
    player, hand = Visitor(one), Visitor(other)
    game = (await player.new())["game"]
    hand = Visitor(other, player.account)
    await hand.ask("open", game=game)
    await player.ask("autoplay", player="random", delay=10_000)
    await shown(hand, 1)
    await hand.move()
    await until(lambda: one.backend.rooms.open[game].autoplay is None)


async def test_a_game_that_was_deleted_elsewhere_is_gone_here(two: Two) -> None:
    """Watchers of a deleted game are notified even without a notice, and no fault is logged."""
    one, other = two
    player, watcher = Visitor(one), Visitor(other)
    await watched(player, watcher)
    one.backend.rooms.games.store.accounts.delete(player.account.id)
    refused = await watcher.receive()
    assert (refused["type"], refused["reason"]) == ("refused", "unknown_game")
    assert not other.backend.rooms.open
    assert b"py2048_storage_faults_total 0.0" in other.metrics.text()


# The end of a casual game, in one process


async def test_an_end_that_is_closed_elsewhere_refuses_an_undo(server: Server) -> None:
    """An undo after another process has closed the end is rejected with the state."""
    player = Visitor(server)
    game = (await player.new("x:size=2x2"))["game"]
    await play_out(player)
    version = player.state["version"]
    assert player.state["can_undo"]
    store = server.backend.rooms.games.store
    await until(lambda: store.records.summary(game))
    store.online.close_ended("2999")
    refused = await player.ask("undo", number=version + 1, chain=1)
    assert (refused["type"], refused["reason"]) == ("refused", "over")
    assert (refused["state"]["version"], refused["state"]["can_undo"]) == (version, False)


async def test_a_visitor_who_goes_while_a_game_is_loaded_leaves_no_room_open(
    server: Server,
) -> None:
    """A visitor who leaves during loading leaves no open room, and others can still enter."""
    player = Visitor(server)
    game = (await player.new())["game"]
    player.leave()
    rooms = server.backend.rooms
    assert not rooms.open
    for staying in (0, 1):
        finding = [asyncio.create_task(rooms.find(game, SERVER)) for _ in range(2 + staying)]
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
