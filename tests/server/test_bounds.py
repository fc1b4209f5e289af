"""Everything that grows while a server runs is bounded: tests fill it past its bound."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inside import Visitor, running

from py2048.core.errors import StorageError
from py2048.server import bounds, hints, workers
from py2048.server.cache import TimedCache
from py2048.server.http.assets import compressed
from py2048.server.http.limits import TokenBuckets
from py2048.server.http.middleware import network_of
from py2048.server.play import changes, games, messages, rooms
from py2048.server.play.rooms import TOO_SLOW
from py2048.server.schema import ActionRejected
from py2048.server.site import auth, pages
from py2048.server.site import games as game_pages

ELSEWHERE = {
    "MAX_ACTIONS", "MAX_BOTS", "MAX_OPEN_GAMES", "MAX_PENDING", "MAX_REVIEWS", "MAX_SESSIONS",
    "MAX_QUEUED_BYTES", "MAX_QUEUED_FRAMES", "CODES",
}  # fmt: skip
"""Bounds that tests of the store, games, accounts, reviews and clients' frames reach."""

CACHES: dict[str, Any] = {
    "MAX_NETWORKS": network_of,
    "MAX_COMPRESSED": compressed,
    "MAX_PLAYERS": hints.player_of,
    "MAX_REPLAYS": game_pages.score_graph_of,
    "MAX_PICTURES": game_pages.picture,
    "MAX_BOARDS": pages.board_of,
}


@pytest.mark.parametrize("name", CACHES)
def test_caches_have_their_bounds(name: str) -> None:
    """A cache never has more entries than its bound."""
    assert CACHES[name].cache_parameters()["maxsize"] == bounds.BOUNDS[name]


def rules_are_described_anew(_: pytest.MonkeyPatch) -> None:
    rules = messages.rules_info("classic")
    assert messages.rules_info("classic") is rules
    for number in range(bounds.MAX_RULES):
        messages.rules_info(f"own:size={2 + number // 60}x{2 + number % 60}")
    assert messages.rules_info("classic") is not rules


def limits_forget_the_oldest_key(_: pytest.MonkeyPatch) -> None:
    buckets = TokenBuckets(1.0, 1.0)
    for number in range(bounds.MAX_KEYS + 1):
        buckets.charge(str(number), 100)
    assert [bool(buckets.wait_s(each)) for each in ("0", "1")] == [False, True]


def uncounted_games_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "MAX_UNCOUNTED", 2)

    def orphans(spare: object) -> list[str]:
        return [each for each in "abc" if each not in spare]  # type: ignore[operator]

    service = games.GameService(SimpleNamespace(online=SimpleNamespace(orphans=orphans)))  # type: ignore[arg-type]
    assert [set(service.finalize_orphans()) for _ in range(2)] == [set("abc"), {"a"}]


def lists_are_rendered_again(_: pytest.MonkeyPatch) -> None:
    cache = TimedCache(1e6, bounds.MAX_TEMPLATES)
    for number in range(bounds.MAX_TEMPLATES + 1):
        cache.add(number, "text")
    assert (cache.find(0), cache.find(1)) == (None, "text")


def large_workers_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = workers.Worker()
    first, second = (worker.run(os.getpid).result for _ in range(2))
    monkeypatch.setattr(workers, "MAX_WORKER_BYTES", 1)
    third, fourth = (worker.run(os.getpid).result for _ in range(2))
    worker.stop()
    assert first == second == third != fourth


FILLED = {
    "MAX_RULES": rules_are_described_anew,
    "MAX_KEYS": limits_forget_the_oldest_key,
    "MAX_UNCOUNTED": uncounted_games_are_tried_again,
    "MAX_TEMPLATES": lists_are_rendered_again,
    "MAX_WORKER_BYTES": large_workers_are_replaced,
}


@pytest.mark.parametrize("fill", FILLED.values())
def test_a_bound_holds(
    fill: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is filled past its bound keeps the bound."""
    fill(monkeypatch)


IN_A_SERVER = "MAX_TOKENS", "MAX_WAITING_FRAMES", "MAX_GAMES", "MAX_KEPT_ROOMS", "MAX_LIVE"


async def test_the_bounds_of_open_games_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tokens, live games, programs' games and messages that wait for the store are bounded."""
    for module, name in ((auth, "MAX_TOKENS"), (rooms, "MAX_LIVE"), (rooms, "MAX_GAMES")):
        monkeypatch.setattr(module, name, 2)
    monkeypatch.setattr(rooms, "MAX_WAITING_FRAMES", 3)
    async with running(f"sqlite:///{tmp_path / 'store.sqlite3'}") as server:
        open_rooms, tokens = server.backend.rooms, ("one", "two", "three")
        for number, token in enumerate(tokens):
            facts = str(number), f"engine {number}", "ada", auth.session_of(token)
            open_rooms.games.store.accounts.add_bot(*facts, most=3)
            assert await server.auth.socket_user({"authorization": f"Bearer {token}"})
        assert [server.auth.is_known_token(each) for each in tokens] == [False, True, True]

        visitor = Visitor(server)
        for number in range(3):
            await visitor.new()
            await visitor.move()
            room = visitor.connection.room
            assert room is not None
            for _ in range(2 if number < 2 else 0):
                open_rooms.keep(room)
        assert len(await open_rooms.live_games()) == 2
        with pytest.raises(ActionRejected, match="at most 2 games"):
            open_rooms.keep(room)
        monkeypatch.setattr(rooms, "MAX_KEPT_ROOMS", 2)
        with pytest.raises(ActionRejected, match="too many programs"):
            open_rooms.keep(room)

        monkeypatch.setattr(open_rooms.group_commit, "submit", lambda *_: None)
        codes = []
        for number in range(5):
            codes.append(visitor.connection.close_code)
            await visitor.connection.on_message(f'{{"type":"undo","number":{2 + number}}}')
        room.reload()
        assert [*codes, visitor.connection.close_code] == [None] * 5 + [TOO_SLOW]


async def test_notices_that_cannot_be_sent_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the database is slow, the oldest notices are dropped."""
    monkeypatch.setattr(changes, "MAX_NOTICES", 2)
    sent: list[str] = []

    def listen(_: float) -> object:
        raise StorageError("away")

    doors = SimpleNamespace(send=sent.extend, listen=listen)
    notices = changes.GameNotices(SimpleNamespace(is_closed=False, notices=doors))  # type: ignore[arg-type]
    for revision, game in enumerate("abc"):
        notices.tell(game, revision)
    with suppress(TimeoutError):
        await asyncio.wait_for(notices.run(lambda _: None), 0.5)
    assert (sent, notices.fault) == (['{"b":1,"c":2}'], "away")


def test_every_bound_is_reached() -> None:
    """Each bound has a test that fills what it bounds."""
    reached = {*CACHES, *FILLED, *IN_A_SERVER, *ELSEWHERE, "MAX_NOTICES"}
    assert reached == set(bounds.BOUNDS)
