"""Storage failures: no move is lost without the player being told."""

from __future__ import annotations

import asyncio
import os
import queue
import re
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
from inside import Json, Visitor, running, until
from web_server import GENEROUS, Browser, Socket, serving

from py2048.app.storage import GameChange, open_store
from py2048.app.storage.accounts import Sessions
from py2048.core.errors import RecordError, StorageError
from py2048.server.admission import SERVER
from py2048.server.app import Server
from py2048.server.play.games import GameService


async def test_a_store_held_by_another_program_is_told_to_the_player(tmp_path: Path) -> None:
    """A move is rolled back while the store is locked, and works again afterwards."""
    file = tmp_path / "store.sqlite3"
    async with running(f"sqlite:///{file}", store_timeout_s=0.2) as server:
        player = Visitor(server)
        before, stranger = await player.new(), Visitor(server)
        with closing(sqlite3.connect(file, isolation_level=None)) as rival:
            rival.execute("BEGIN EXCLUSIVE")
            refused = await player.move()
            refused_game = await stranger.new()
            with pytest.raises(StorageError) as fault:
                await server.backend.check_store()
        assert (refused["type"], refused["reason"]) == ("refused", "storage")
        assert refused["message"].startswith("Another program has locked the server's database")
        assert refused["state"]["board"] == before["board"]
        assert refused["retry_ms"] > 0
        assert fault.value.kind == "locked"
        assert (await player.move())["version"] == 1
        assert refused_game["reason"] == "storage"
        assert (await stranger.new())["type"] == "state"


def _read_around_a_change(games: GameService, location: str) -> list[object]:
    settings = games.store.settings
    with open_store(location) as rival:
        before = settings.get("theme")
        rival.settings.set("theme", "dark")
    return [before, settings.get("theme")]


async def test_a_page_sees_one_moment(server: Server, sqlite_url: str) -> None:
    """What is saved while a page is computed is not on the page."""
    read = partial(server.backend.read, "list", SERVER, _read_around_a_change, sqlite_url)
    assert await read() == [None, None]
    assert await read() == ["dark", "dark"]


@pytest.mark.parametrize(("moves", "is_told"), [(1, False), (1, True), (2, False)])
async def test_a_move_whose_acknowledgement_is_lost_is_made_once(
    server: Server, monkeypatch: pytest.MonkeyPatch, moves: int, is_told: bool
) -> None:
    """A saved move is acknowledged even if its first acknowledgement was lost."""
    player = Visitor(server)
    game = (await player.new())["game"]
    changes = server.backend.rooms.games.store.changes
    write = changes.write

    def lose(batch: Sequence[GameChange]) -> None:
        monkeypatch.setattr(changes, "write", write)
        write(batch)
        raise StorageError("the connection was closed", "unreachable")

    def stay_away(_: str) -> None:
        monkeypatch.undo()
        raise StorageError("the connection was closed", "unreachable")

    if is_told:  # the game cannot be read again at once
        monkeypatch.setattr(server.backend.rooms.games, "load", stay_away)
    monkeypatch.setattr(changes, "write", lose)
    room, client = server.backend.rooms.open[game], player.connection
    for number in range(1, moves + 1):
        direction = room.game.session.game.legal_directions()[0]
        room.broadcast(room.game.move(number, direction), client)
    answer = await player.receive()
    if is_told:
        assert (answer["reason"], answer["state"]) == ("storage", None)
        answer = await player.receive()
    saved = server.backend.rooms.games.store.games.find(game)
    assert saved.revision == player.state["version"] == 1
    if moves == 1:
        assert (answer["type"], (await player.receive())["type"]) == ("events", "state")
    else:
        assert (answer["type"], answer["reason"]) == ("refused", "storage")
    assert (await player.move())["version"] == 2


async def test_maintenance_survives_what_it_meets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A failing maintenance task is logged and does not stop the others."""
    calls: queue.Queue[str] = queue.Queue()

    def broken(*_: object) -> None:
        calls.put("broken")
        raise ZeroDivisionError("as nobody expected")

    monkeypatch.setattr(GameService, "sweep", broken)
    monkeypatch.setattr(Sessions, "forget", lambda *_: calls.put("after it"))
    async with running(f"sqlite:///{tmp_path / 'store.sqlite3'}", sweep_s=0.01):
        done = [await asyncio.to_thread(calls.get, timeout=30) for _ in range(4)]
    assert done == ["broken", "after it"] * 2
    assert "as nobody expected" in caplog.text


@pytest.mark.parametrize("fault", [None, StorageError("full"), RecordError("odd")])
async def test_the_end_of_a_game_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception | None
) -> None:
    """A game is finished once, or its fault is counted."""
    async with running(f"sqlite:///{tmp_path / 'store.sqlite3'}") as server:
        rooms, player = server.backend.rooms, Visitor(server)
        if fault:
            monkeypatch.setattr(rooms.games, "finish", Mock(side_effect=fault))
        await player.new("classic:size=2x2")
        while player.state["outcome"] == "playing":
            await player.move()
        await rooms.wait_for_records(player.account.id)
        text = rooms.metrics.text().decode()
    counts = r"(?m)^py2048_(?:finished|storage_faults|unverified)_total (.*)"
    found = dict(
        zip((type(None), RecordError, StorageError), re.findall(counts, text), strict=True)
    )
    assert found == dict.fromkeys(found, "0.0") | {type(fault): "1.0"}


async def test_autoplay_stops_when_a_move_cannot_be_saved(tmp_path: Path) -> None:
    """Autoplay stops when the store is locked."""
    file = tmp_path / "store.sqlite3"
    async with running(f"sqlite:///{file}", store_timeout_s=0.2) as server:
        player = Visitor(server)
        await player.new()
        await player.ask("autoplay", player="random", delay=50)
        with closing(sqlite3.connect(file, isolation_level=None)) as rival:
            rival.execute("BEGIN EXCLUSIVE")
            while (message := await player.receive())["type"] != "refused":
                assert message["type"] in ("autoplay", "events")
        assert message["state"]["autoplay"] is None
        assert (await player.move())["type"] == "events"


@contextmanager
def full_file_system(folder: Path) -> Iterator[Callable[[], None]]:
    """Mount a one-megabyte file system on `folder`; yield a function that fills it up."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)], check=False
    )
    if mounted.returncode:
        pytest.skip("this machine may not mount a file system")

    def fill() -> None:
        with (folder / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
            while True:
                ballast.write(b"x" * 4096)

    try:
        yield fill
    finally:
        subprocess.run(["umount", str(folder)], check=True)


async def until_refused(socket: Socket) -> Json:
    """Move until the store is full."""
    for _ in range(3000):
        number = socket.state["version"] + 1
        answer = await socket.ask("move", None, number=number, direction=socket.state["legal"][0])
        if answer["type"] == "refused":
            return answer
    raise AssertionError("the store has room without end")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
async def test_a_full_disk_is_told_to_players_pages_programs_and_operators(tmp_path: Path) -> None:
    """A full disk is reported everywhere without paths, and freeing space is enough to recover."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with (
        full_file_system(folder) as fill,
        serving(tmp_path / "home", *GENEROUS, database=f"sqlite:///{folder}/s.sqlite3") as server,
    ):
        browser, program = Browser(server), Browser(server)
        game = program.post("/api/games", {"rules": "long:size=5x5"}).json()
        async with browser.socket() as socket:
            await socket.new("long:size=8x8")
            await socket.move()
            fill()
            refused = await until_refused(socket)
            assert refused["reason"] == "storage"
            assert refused["message"].startswith("The server's disk is full")
            assert refused["state"]["version"] == socket.state["version"]
            ready = await asyncio.to_thread(browser.get, "/readyz")
            assert (ready.status, ready.json()["reason"]) == (503, "full")
            move = {"number": 1, "direction": game["legal"][0]}
            answers = [
                ready,
                program.post(f"/api/games/{game['game']}/moves", move),
                program.post("/api/games", {}),
                program.form("/account/claim", name="Ada", password="correct horse battery"),
            ]
            assert [answer.status for answer in answers] == [503] * 4
            assert all("disk is full" in answer.text for answer in answers)
            assert not any(str(folder) in answer.text for answer in answers)
            assert browser.get("/leaderboards").status == 200  # reading needs no room
            (folder / "ballast").unlink()
            await until(lambda: browser.get("/readyz").status == 200)
            socket.state |= refused["state"]
            assert (await socket.move())["version"] == refused["state"]["version"] + 1
            assert program.post(f"/api/games/{game['game']}/moves", move).json()["version"] == 1
