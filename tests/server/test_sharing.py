"""How processes follow each other: two sets of the server's parts on one store, in one process."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from inside import Visitor, running
from redis_server import RedisServer

from py2048.game.turn import Draws
from py2048.server import services as services_module
from py2048.server.play import rooms as rooms_module
from py2048.server.play.bus import MailboxBus
from py2048.server.play.games import GameService
from py2048.server.play.rooms import Client
from py2048.server.play.sharing import Changed, Sharing
from py2048.server.services import Services
from py2048.server.worker import Mailbox, Worker, WorkerStatus
from py2048.session.tracked_game import TrackedGame
from py2048.storage import GameChange, SavedGame

Json = dict[str, Any]


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.sqlite3'}"


@asynccontextmanager
async def two_workers(url: str) -> AsyncIterator[tuple[Services, Services]]:
    statuses = {number: WorkerStatus() for number in range(2)}
    mailboxes = {number: Mailbox.make() for number in range(2)}
    one, two = (Worker(number, os.getppid(), statuses, mailboxes) for number in range(2))
    async with running(url, one) as first, running(url, two) as second:
        yield first, second
    for mailbox in mailboxes.values():
        mailbox.read.close()
        mailbox.write.close()


@asynccontextmanager
async def two_machines(url: str, redis: RedisServer) -> AsyncIterator[tuple[Services, Services]]:
    async with running(url, redis=redis.url) as one, running(url, redis=redis.url) as two:
        for services in (one, two):
            await until(lambda services=services: services.bus_fault is None)
        await asyncio.sleep(0.3)  # both are subscribed
        yield one, two


async def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    for _ in range(int(seconds / 0.01)):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it does not happen")


async def watched(
    player: Visitor, watcher: Visitor, one: Services, two: Services, mode: str = "ranked"
) -> str:
    """Begin a game that somebody in another process watches; return it when both know."""
    game: str = (await player.new(mode=mode))["game"]
    await watcher.ask("watch", game=game)
    await until(lambda: one.rooms.sharing.is_shared(game) and two.rooms.sharing.is_shared(game))
    return game


async def follow_moves(player: Visitor, watcher: Visitor, moves: int) -> None:
    for _ in range(moves):
        moved = await player.move()
        seen = await watcher.receive()
        assert (seen["type"], seen["board"]) == ("events", moved["board"])
        assert seen["events"] == moved["events"]


async def test_a_watcher_in_another_worker_sees_each_move(store_url: str) -> None:
    """Moves come as they are acknowledged, with their motions, in either direction."""
    async with two_workers(store_url) as (one, two):
        player, watcher = Visitor(one), Visitor(two)
        game = await watched(player, watcher, one, two)
        await follow_moves(player, watcher, 5)
        again = Visitor(two, player.account)  # the same player, in another tab
        await again.ask("open", game=game)
        moved = await again.move()
        assert (await player.receive())["board"] == moved["board"]
        watcher.leave()
        again.leave()
        await until(lambda: not one.rooms.sharing.is_shared(game))


async def test_a_game_that_is_open_in_one_worker_is_published_nowhere(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without somebody elsewhere a move costs no message."""
    sent: list[str] = []
    publish = MailboxBus.publish

    def counted(bus: MailboxBus, channel: str, message: bytes) -> None:
        sent.append(channel)
        publish(bus, channel, message)

    monkeypatch.setattr(MailboxBus, "publish", counted)
    async with two_workers(store_url) as (one, two):
        player, watcher = Visitor(one), Visitor(two)
        lonely = Visitor(one)
        unwatched = (await lonely.new())["game"]
        game = await watched(player, watcher, one, two)
        for _ in range(5):
            await lonely.move()
        await follow_moves(player, watcher, 5)
    channels = [channel for channel in sent if "_game_" in channel]
    assert channels == [f"py2048_game_{game}"] * 5
    assert unwatched not in " ".join(sent)


async def test_a_visitor_who_goes_while_a_game_is_loaded_leaves_no_room_open(
    store_url: str,
) -> None:
    """Whoever waits for the same game still enters it."""
    async with running(store_url) as services:
        player = Visitor(services)
        game = (await player.new())["game"]
        player.leave()
        rooms = services.rooms
        assert not rooms.open
        for staying in (0, 1):
            finding = [asyncio.create_task(rooms.find(game)) for _ in range(2 + staying)]
            while game not in rooms._opening:
                await asyncio.sleep(0)
            for task in finding[staying:]:
                task.cancel()
            await asyncio.wait(finding)
            for task in finding[:staying]:
                watcher = Client("somebody")
                rooms.enter(watcher, task.result())
                assert watcher.room is rooms.open[game]
                rooms.leave(watcher)
            await until(lambda: not (rooms._opening or rooms.open))


async def test_games_that_are_played_elsewhere_are_live_here(store_url: str) -> None:
    """The list of live games is that of all workers."""
    async with two_workers(store_url) as (one, two):
        player = Visitor(one)
        game = (await player.new(mode="ranked"))["game"]
        await player.move()
        for _ in range(200):
            if [live.id for live in await two.rooms.live_games()] == [game]:
                return
            await asyncio.sleep(0.05)
    raise AssertionError("the game is not live in the other worker")


async def test_a_lost_message_is_found_in_the_store(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A watcher misses no move for long, though nothing more is heard."""
    async with two_workers(store_url) as (one, two):
        player, watcher = Visitor(one), Visitor(two)
        await watched(player, watcher, one, two)
        monkeypatch.setattr(MailboxBus, "publish", lambda *_: None)
        moved = await player.move()
        assert (await watcher.receive())["board"] == moved["board"]


async def test_a_watcher_whose_arrival_nobody_heard_sees_the_moves(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who watches says so again, until whoever plays has heard it."""
    async with two_workers(store_url) as (one, two):
        player, watcher = Visitor(one), Visitor(two)
        game = (await player.new(mode="ranked"))["game"]
        with monkeypatch.context() as deaf:
            deaf.setattr(MailboxBus, "publish", lambda *_: None)
            await watcher.ask("watch", game=game)
            moved = await player.move()
            assert (await watcher.receive())["board"] == moved["board"]
        await until(lambda: one.rooms.sharing.is_shared(game))
        await follow_moves(player, watcher, 3)


async def test_who_comes_back_is_shown_all_that_was_acknowledged(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game that is watched here, and was played elsewhere by a worker that died, is not old."""
    async with two_workers(store_url) as (one, two):
        player, watcher = Visitor(one), Visitor(two)
        game = await watched(player, watcher, one, two)
        monkeypatch.setattr(MailboxBus, "publish", lambda *_: None)  # it died before it told
        for _ in range(3):
            moved = await player.move()
        again = Visitor(two, player.account)
        state = await again.ask("open", game=game)
        assert (state["version"], state["board"]) == (3, moved["board"])
        assert (await watcher.receive())["version"] in (1, 2, 3)


async def test_a_long_game_is_replayed_in_a_thread(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An undo elsewhere, after which the game is read anew, makes nobody else wait."""
    threads = []
    from_saved = TrackedGame.from_saved

    def noted(saved: SavedGame, draws: Draws | None = None) -> TrackedGame:
        threads.append(threading.current_thread())
        return from_saved(saved, draws)

    async with two_workers(store_url) as (one, two):
        player, watcher = Visitor(one), Visitor(two)
        await watched(player, watcher, one, two, mode="casual")
        await follow_moves(player, watcher, 3)
        monkeypatch.setattr(TrackedGame, "from_saved", noted)
        state = await player.ask("undo", number=player.state["version"] + 1)
        seen = await watcher.receive()
        assert (seen["type"], seen["board"]) == ("state", state["board"])
    assert threads
    assert threading.main_thread() not in threads


async def test_an_undo_elsewhere_is_followed(store_url: str) -> None:
    """What is more than added turns is read from the store."""
    async with two_workers(store_url) as (one, two):
        player, watcher = Visitor(one), Visitor(two)
        await watched(player, watcher, one, two, mode="casual")
        await follow_moves(player, watcher, 3)
        undone = await player.ask("undo", number=4)
        assert (await watcher.receive())["board"] == undone["board"]
        player.state["version"] = 4
        moved = await player.move()
        assert (await watcher.receive())["board"] == moved["board"]


@pytest.mark.parametrize("by", ["undo", "stop", "start"])
async def test_autoplay_is_shown_and_stopped_in_another_worker(store_url: str, by: str) -> None:
    """By an action there, and by starting or stopping autoplay: at most one worker moves."""
    async with two_workers(store_url) as (one, two):
        player = Visitor(one)
        game = (await player.new())["game"]
        hand = Visitor(two, player.account)
        await hand.ask("open", game=game)
        await until(lambda: one.rooms.sharing.is_shared(game) and two.rooms.sharing.is_shared(game))
        await player.ask("autoplay", player="random", delay=1000)
        assert (await hand.receive())["player"] == "random"
        while hand.state["version"] < 2:
            await hand.receive()
        assert hand.state["autoplay"] == "random"
        later = Visitor(two, player.account)
        assert (await later.ask("open", game=game))["autoplay"] == "random"
        action = {
            "undo": {"type": "undo", "number": hand.state["version"] + 1},
            "stop": {"type": "autoplay", "player": None},
            "start": {"type": "autoplay", "player": "random", "delay": 1000},
        }
        await hand.connection.on_message(json.dumps(action[by]))
        await until(lambda: one.rooms.open[game].autoplay_task is None)
        left = "random" if by == "start" else None
        for services in (one, two):
            assert services.rooms.open[game].autoplay == left
        assert (two.rooms.open[game].autoplay_task is None) == (left is None)
        for visitor in (player, hand, later):
            visitor.leave()


async def test_a_tab_that_comes_later_to_another_worker_shows_autoplay(store_url: str) -> None:
    """It is told as soon as the workers know of each other, and can stop it."""
    async with two_workers(store_url) as (one, two):
        player = Visitor(one)
        game = (await player.new())["game"]
        await player.ask("autoplay", player="random", delay=10_000)
        later = Visitor(two, player.account)
        await later.ask("open", game=game)
        while later.state.get("player") != "random" or later.state["type"] != "autoplay":
            await later.receive()
        await later.connection.on_message('{"type":"autoplay","player":null}')
        await until(lambda: one.rooms.open[game].autoplay is None)
        for visitor in (player, later):
            visitor.leave()


async def test_a_game_that_was_deleted_elsewhere_is_gone_here(store_url: str) -> None:
    """Who watches it is told so, though no message of the deletion came; nothing has failed."""
    async with two_workers(store_url) as (one, two):
        player, watcher = Visitor(one), Visitor(two)
        await watched(player, watcher, one, two)
        one.rooms.games.store.accounts.delete(player.account.id)
        refused = await watcher.receive()
        assert (refused["type"], refused["reason"]) == ("refused", "unknown_game")
        assert not two.rooms.open
        for services in (one, two):
            assert b"py2048_storage_faults_total 0.0" in services.metrics.text()
        for visitor in (player, watcher):
            visitor.leave()


async def test_a_record_made_elsewhere_refuses_an_undo(store_url: str) -> None:
    """Whose undo comes after the record that another worker made is told so, and the state."""
    async with running(store_url) as services:
        player = Visitor(services)
        game = (await player.new("x:size=2x2"))["game"]
        while player.state["outcome"] == "playing":
            await player.move()
        version = player.state["version"]
        assert player.state["can_undo"]
        services.rooms.games.finish(game)
        refused = await player.ask("undo", number=version + 1, chain=1)
        assert (refused["type"], refused["reason"]) == ("refused", "over")
        assert (refused["state"]["version"], refused["state"]["can_undo"]) == (version, False)
        player.leave()


async def test_who_sits_at_a_casual_game_that_is_over_can_undo(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks at it at another worker makes no record, nor does a worker that starts."""
    monkeypatch.setattr(services_module, "_POLL", 0.01)
    swept: list[GameService] = []
    monkeypatch.setattr(GameService, "sweep", lambda games, _: swept.append(games))
    async with two_workers(store_url) as (one, two):
        player, watcher = Visitor(one), Visitor(two)
        game = (await player.new("x:size=2x2"))["game"]
        while player.state["outcome"] == "playing":
            await player.move()
        two.rooms.release(await two.rooms.find(game))
        await watcher.ask("watch", game=game)
        watcher.leave()
        async with running(store_url) as three:
            await until(lambda: three.rooms.games in swept)
        await until(lambda: not two.rooms._tasks)
        records = one.rooms.games.store.records
        assert records.summary(game) is None
        undone = await player.ask("undo", number=player.state["version"] + 1)
        assert undone["type"] == "events"
        await player.ask("redo", number=player.state["version"] + 1)
        await player.connection.on_message('{"type":"leave"}')
        await until(lambda: records.summary(game))


async def test_autoplay_ends_everywhere_with_the_worker_that_plays(store_url: str) -> None:
    """Tabs at other workers do not show a player that moves no more."""
    async with two_workers(store_url) as (one, two):
        player = Visitor(one)
        game = (await player.new())["game"]
        other = Visitor(two, player.account)
        await other.ask("open", game=game)
        await until(lambda: one.rooms.sharing.is_shared(game))
        await player.ask("autoplay", player="random", delay=10_000)
        await until(lambda: two.rooms.open[game].autoplay)
        await one.rooms.close()
        await until(lambda: two.rooms.open[game].autoplay is None)
        for visitor in (player, other):
            visitor.leave()


@pytest.mark.parametrize("worker", [0, 1])
async def test_a_tab_at_any_worker_keeps_the_end_of_a_casual_game(
    store_url: str, worker: int
) -> None:
    """Who leaves it in one tab can undo in another; who leaves the last one has its record."""
    async with two_workers(store_url) as workers:
        player, *watchers = (Visitor(workers[number]) for number in (0, 0, 1))
        one, two = (services.rooms.sharing for services in workers)
        game = (await player.new("x:size=2x2"))["game"]
        for watcher in watchers:
            await watcher.ask("watch", game=game)
        other = Visitor(workers[worker], player.account)
        await other.ask("open", game=game)
        await until(lambda: one.is_played_elsewhere(game) == bool(worker))
        while player.state["outcome"] == "playing":
            await player.move()
        rooms, records = workers[0].rooms, workers[0].rooms.games.store.records
        await player.new()
        await until(lambda: not rooms._tasks)
        while other.state["outcome"] == "playing":
            await other.receive()
        for action in ("undo", "redo"):
            done = await other.ask(action, number=other.state["version"] + 1)
            assert done["type"] == "events"
        assert records.summary(game) is None
        await until(lambda: two.is_played_elsewhere(game) != bool(worker))
        await other.new()
        await until(lambda: records.summary(game))
        for visitor in (player, other, *watchers):
            visitor.leave()


@pytest.mark.parametrize("is_kept", [False, True])
async def test_a_look_from_another_worker_leaves_the_end_to_the_tab_that_has_it(
    store_url: str, is_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who opens the page of the game, and goes at once, has a record if no tab is at the game."""
    monkeypatch.setattr(rooms_module, "_HEARD", 2.0)  # however slow the machine is
    async with two_workers(store_url) as (one, two):
        player = Visitor(one)
        game = (await player.new("x:size=2x2"))["game"]
        while player.state["outcome"] == "playing":
            await player.move()
        if not is_kept:
            player.leave()
            await until(lambda: not one.rooms.open)
        looker, records = Visitor(two, player.account), two.rooms.games.store.records
        await looker.ask("watch", game=game)
        await looker.connection.on_message('{"type":"leave"}')
        await until(lambda: not (two.rooms.open or two.rooms._tasks))
        assert (records.summary(game) is None) == is_kept
        for visitor in (player, looker):
            visitor.leave()


@pytest.mark.parametrize("worker", [0, 1])
@pytest.mark.parametrize("is_watched", [False, True])
async def test_a_lost_connection_takes_no_casual_game_from_its_player(
    store_url: str, worker: int, is_watched: bool
) -> None:
    """Whoever comes back to one that is over can undo; whoever leaves it has its record."""
    async with two_workers(store_url) as workers:
        rooms = workers[0].rooms
        player, watcher = Visitor(workers[0]), Visitor(workers[0])
        game = (await player.new("x:size=2x2"))["game"]
        await watcher.ask("watch", game=game)
        while player.state["outcome"] == "playing":
            await player.move()
        player.leave()
        if not is_watched:
            watcher.leave()
        await until(lambda: not rooms._tasks)
        again = Visitor(workers[worker], player.account)
        await again.ask("open", game=game)
        watcher.leave()
        await until(lambda: not rooms._tasks)
        for action in ("undo", "redo"):
            done = await again.ask(action, number=again.state["version"] + 1)
            assert done["type"] == "events"
        records = rooms.games.store.records
        assert records.summary(game) is None
        await again.new()
        await until(lambda: records.summary(game))
        again.leave()


async def test_a_record_is_made_although_somebody_watches(store_url: str) -> None:
    """Who leaves a casual game that is over, even before its end is written, has a record soon."""
    async with running(store_url) as services:
        player, watcher = Visitor(services), Visitor(services)
        game = (await player.new("x:size=2x2"))["game"]
        await watcher.ask("watch", game=game)
        while player.state["outcome"] == "playing":
            await player.move()
        await player.ask("undo", number=player.state["version"] + 1)
        last = {"number": player.state["version"] + 1, "type": "redo"}
        for message in (last, {"type": "leave"}):
            await player.connection.on_message(json.dumps(message))
        await until(lambda: services.rooms.games.store.records.summary(game))
        await until(lambda: not services.rooms._tasks)  # and the room has heard of it
        state = await player.ask("open", game=game)
        assert (state["outcome"], state["can_undo"]) == ("lost", False)
        for visitor in (player, watcher):
            visitor.leave()


async def test_a_worker_that_slept_cannot_overwrite(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who missed all that others did is told so by the store, and loads the game again."""
    monkeypatch.setattr(MailboxBus, "publish", lambda *_: None)
    async with two_workers(store_url) as (one, two):
        sleeper = Visitor(one)
        game = (await sleeper.new())["game"]
        await sleeper.move()
        awake = Visitor(two, sleeper.account)
        await awake.ask("open", game=game)
        for _ in range(3):
            moved = await awake.move()
        answer = await sleeper.move()  # the second, again
        assert (answer["type"], answer["version"]) == ("state", 4)
        assert answer["board"] == moved["board"]
        assert one.rooms.games.store.games.find(game).revision == 4
        await sleeper.move()


async def test_a_forged_message_reaches_no_store_and_is_corrected(store_url: str) -> None:
    """Tiles are drawn here: a change that says otherwise makes the game be read again."""
    async with two_workers(store_url) as (one, two):
        player, watcher = Visitor(one), Visitor(two)
        game = await watched(player, watcher, one, two)
        await follow_moves(player, watcher, 2)
        direction = player.state["legal"][0]
        code = {"left": "l", "right": "r", "up": "u", "down": "d"}[direction] + "zz"
        forged = GameChange(game, 2, 3, 3, 3, 10**9, False, 0, 0, {}, ((2, code, 0),))
        two.rooms.on_change(forged)
        answer = await watcher.receive()
        assert (answer["type"], answer["version"]) == ("state", 2)
        assert answer["board"] == player.state["board"]
        await follow_moves(player, watcher, 1)


async def test_a_message_that_cannot_be_read_is_none(store_url: str) -> None:
    """Whatever else uses the bus, nothing fails."""
    async with two_workers(store_url) as (one, two):
        player, watcher = Visitor(one), Visitor(two)
        game = await watched(player, watcher, one, two)
        bus = two.rooms.sharing.bus
        assert bus is not None
        bad = GameChange(game, 0, 1, 1, 1, 0, False, 0, 0, {}, ((0, "no turn", 0),))
        forged = msgspec.json.encode(Changed("somebody", bad))
        for message in (b"", b"{}", b'{"type":"changed"}', b"\xff", b"[" * 1000, forged):
            bus.publish("py2048_rooms", message)
        await follow_moves(player, watcher, 2)


async def test_a_worker_that_does_not_read_holds_nobody_up() -> None:
    """Messages to a full mailbox are lost, and the sender goes on."""
    mailboxes = {number: Mailbox.make() for number in range(2)}
    outboxes = {number: mailbox.write for number, mailbox in mailboxes.items()}
    bus = MailboxBus(outboxes, mailboxes[0].read, 0)
    for _ in range(50_000):
        bus.publish("py2048_rooms", b"x" * 100)
    for mailbox in mailboxes.values():
        mailbox.read.close()
        mailbox.write.close()


async def test_a_watcher_on_another_machine_sees_each_move_by_redis(
    store_url: str, redis_server: RedisServer
) -> None:
    """Two processes that share a store and a Redis follow each other, and survive its restart."""
    async with two_machines(store_url, redis_server) as (one, two):
        player, watcher = Visitor(one), Visitor(two)
        game = await watched(player, watcher, one, two)
        await follow_moves(player, watcher, 3)
        redis_server.stop()
        try:
            await until(lambda: one.bus_fault == two.bus_fault == "Redis")
            moved = await player.move()  # acknowledged without it
            assert (await watcher.receive())["board"] == moved["board"]  # by the store
            later = Visitor(two, player.account)
            assert (await later.ask("open", game=game))["version"] == 4
        finally:
            redis_server.start()
        await until(lambda: not (one.bus_fault or two.bus_fault))
        await asyncio.sleep(0.3)
        await follow_moves(player, watcher, 3)


def test_a_process_alone_says_nothing() -> None:
    """Without a bus nothing is kept or sent, whatever happens."""
    sharing = Sharing()
    sharing.opened("game")
    sharing.changed(GameChange("game", 0, 1, 1, 1, 0, False, 0, 0, {}, ()))
    sharing.closed("game")
    assert (sharing.shared, sharing.bus) == (0, None)
