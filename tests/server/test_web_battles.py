"""Battles: equal tiles, a common start and end, and permanent results."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from inside import Json, Visitor, record_of, running
from web_server import Browser, WebServer

from py2048.app.storage import AccountError, Store
from py2048.app.storage.schema import battles as rows
from py2048.app.storage.schema import games
from py2048.app.storage.values import Battle, utc_text
from py2048.core.errors import StaleGameError
from py2048.core.fairness import check_fair, commitment_of
from py2048.server.app import Server
from py2048.server.play import battles
from py2048.server.play.games import GameService, guest_name
from py2048.server.schema import ActionRejected
from py2048.server.site.games import result_page


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the countdown of battles."""
    monkeypatch.setattr(battles, "COUNTDOWN", timedelta(0))
    monkeypatch.setattr(battles, "GRACE", timedelta(0))


def offered(games: GameService, account: str, rules: str = "classic") -> str:
    """Create a one-minute battle and return its id."""
    return battles.offer(games, account, rules, "1").removeprefix("/battle/")


class Fight:
    """A battle between several visitors."""

    def __init__(self, server: Server, count: int, rules: str) -> None:
        self.server = server
        self.games: GameService = server.backend.rooms.games
        self.visitors = [Visitor(server) for _ in range(count)]
        self.ids = [visitor.account.id for visitor in self.visitors]
        self.id = offered(self.games, self.ids[0], rules)
        for account in self.ids[1:]:
            battles.join(self.games, self.id, account)

    @property
    def battle(self) -> Battle:
        return battles.find(self.games, self.id)

    async def start(self) -> None:
        """Start the battle and let everybody open their game."""
        battles.start(self.games, self.id, self.ids[0])
        for visitor, player in zip(self.visitors, self.battle.players, strict=True):
            await say(visitor, "state", "open", game=player.game_id)

    def shift(self, **times: timedelta) -> None:
        """Move the start or end of the battle, relative to now."""
        values = {name: utc_text(datetime.now(UTC) + by) for name, by in times.items()}
        with self.games.store.write() as connection:
            mine = sa.update(rows).where(rows.c.id == self.id)
            connection.execute(mine.values(values))
        for player in self.battle.players:
            room = self.server.backend.rooms.open.get(player.game_id or "")
            if room:
                room.game.window = self.games.store.battles.window(player.game_id or "")

    def settle(self) -> list[tuple[int, int, int]]:
        """Settle the battle; return seats, places and scores."""
        found = battles.players_of(self.games, battles.settle(self.games, self.id), {})
        return [(each.seat, each.place, each.score) for each in found]


@asynccontextmanager
async def fight(url: str, count: int = 2, rules: str = "classic") -> AsyncIterator[Fight]:
    async with running(url) as server:
        yield Fight(server, count, rules)


async def say(visitor: Visitor, answer: str, kind: str, **fields: Any) -> Json:
    """Send a message and return its response, skipping battle messages."""
    message = await visitor.ask(kind, **fields)
    while message["type"] != answer:
        message = await visitor.receive()
    return message


async def until(visitor: Visitor, is_it: Callable[[Json], Any]) -> Json:
    """Return the first battle message that satisfies a condition."""
    while True:
        message = await visitor.receive()
        if message["type"] == "battle" and is_it(message):
            return message


async def test_equal_play_meets_equal_tiles(url: str) -> None:
    """Equal moves give equal games, and the secret stays hidden until all games have ended."""
    async with fight(url, 3, "classic:size=2x2") as found:
        await found.start()
        one, two, three = found.visitors
        assert one.state["board"] == two.state["board"]
        assert one.state["mode"] == "battle"
        while one.state["outcome"] == "playing":
            await one.move()
            await two.move()
            assert one.state["board"] == two.state["board"]
        assert one.state["secret"] is two.state["secret"] is None
        page = battles.battle_page(found.games, found.id, "eve")
        assert page["commitment"] == commitment_of(found.battle.secret)
        assert page["secret"] is None
        await three.move()
        found.shift(ends=timedelta(0))
        (first, *_), *_ = found.settle()
        assert first in (1, 2)
        page = battles.battle_page(found.games, found.id, "eve")
        assert page["secret"] == found.battle.secret
        for player in found.battle.players:
            summary, record = record_of(found.games, player.game_id or "") or (None, None)
            assert record
            assert summary.category == "battle"
            assert summary.outcome == ("ended" if player.seat == 3 else "lost")
            check_fair(record, page["secret"], page["commitment"])


async def test_moves_are_made_between_start_and_end(sqlite_url: str) -> None:
    """Moves are rejected before the start and after the end; then the scores are final."""
    async with fight(sqlite_url) as found:
        await found.start()
        behind, ahead = found.visitors
        found.shift(starts=timedelta(minutes=1), ends=timedelta(minutes=2))
        assert (await ahead.move())["reason"] == "early"
        found.shift(starts=timedelta(0))
        assert (await ahead.move())["type"] == "events"
        while not ahead.state["score"]:
            await ahead.move()
        assert found.settle()[0][0] == 2
        assert battles.stage_of(found.battle) == "running"
        verdict = battles.battle_page(found.games, found.id, found.ids[0])["verdict"]
        assert verdict == "The battle is still on."
        found.shift(ends=timedelta(0))
        refused = await behind.move()
        assert refused["reason"] == "over"
        score = ahead.state["score"]
        assert found.settle() == [(2, 1, score), (1, 2, 0)]
        assert battles.stage_of(found.battle) == "over"
        assert found.games.store.online.open_games(found.ids[0]) == []
        assert found.settle() == [(2, 1, score), (1, 2, 0)]
        verdicts = [f"{guest_name(found.ids[1])} won by {score}.", f"You won by {score}."]
        for account, player, verdict in zip(found.ids, found.battle.players, verdicts, strict=True):
            shown = result_page(found.games, player.game_id or "", account)
            assert shown["result"].headline.startswith(verdict)
            assert (shown["result"].place, shown["battle"]["stage"]) == ("", "over")
        assert found.games.begin_game(found.ids[1], "classic", "casual").session.best == score


async def test_whoever_leaves_keeps_the_score_so_far(sqlite_url: str) -> None:
    """A player who leaves keeps the score; the battle ends when nobody plays."""
    async with fight(sqlite_url, 3) as found:
        await found.start()
        one = found.visitors[0]
        while not one.state["score"]:
            await one.move()
        score = one.state["score"]
        battles.leave(found.games, found.id, "a watcher")
        assert {player.score for player in found.battle.players} == {None}
        battles.leave(found.games, found.id, found.ids[0])
        left = battles.players_of(found.games, found.battle, {})[0]
        assert (left.seat, left.score, left.has_left) == (1, score, True)
        legal = one.state["legal"][0]  # what moves nothing would not be written, and so not refused
        for _ in range(2):
            refused = await one.ask("move", number=one.state["version"] + 1, direction=legal)
            assert (refused["type"], refused["reason"]) == ("refused", "over")
            assert "left this battle" in refused["message"]
        assert (one.state["outcome"], one.state["legal"]) == ("ended", [])
        for account in found.ids[1:]:
            found.settle()
            assert battles.stage_of(found.battle) == "running"
            battles.leave(found.games, found.id, account)
        assert found.settle() == [(1, 1, score), (2, 2, 0), (3, 2, 0)]
        assert [player.has_left for player in found.battle.players] == [True] * 3


async def test_who_may_come_start_and_go(url: str) -> None:
    """Two to eight players; the first one starts, and nobody can join after the start."""
    async with running(url) as server:
        games = server.backend.rooms.games
        battle = offered(games, "p0", "2x4")
        with pytest.raises(AccountError, match="needs at least two"):
            battles.start(games, battle, "p0")
        for number in range(1, 8):
            battles.join(games, battle, f"p{number}")
        battles.join(games, battle, "p3")
        with pytest.raises(AccountError, match="full"):
            battles.join(games, battle, "p8")
        with pytest.raises(AccountError, match="joined first"):
            battles.start(games, battle, "p1")
        for number in (0, 5, 9):
            battles.leave(games, battle, f"p{number}")
        path, again = battles.start(games, battle, "p1"), battles.find(games, battle)
        assert path == f"/?game={again.players[0].game_id}"
        assert battles.start(games, battle, "p1") == battles.path_of(battle)
        assert battles.find(games, battle) == again
        assert [each.seat for each in again.players] == [2, 3, 4, 5, 7, 8]
        with pytest.raises(AccountError, match="started"):
            battles.join(games, battle, "p0")
        with pytest.raises(AccountError, match="not over"):
            battles.rematch(games, battle, "p1")
        for rules, minutes in (("nonsense", "5"), ("classic", "4"), ("classic", "x")):
            with pytest.raises(ActionRejected):
                battles.offer(games, "p0", rules, minutes)
        with pytest.raises(ActionRejected, match=r"lasts 1, 3, 5, 10, 20 minutes, not '0{20}'$"):
            battles.offer(games, "p0", "classic", "0" * 30)
        with pytest.raises(ActionRejected):
            battles.find(games, "nothing")


async def test_a_rematch_is_one_for_all(sqlite_url: str) -> None:
    """All players get the same rematch, with new tiles; it is deleted when all leave."""
    async with fight(sqlite_url) as found:
        await found.start()
        for account in found.ids:
            battles.leave(found.games, found.id, account)
        found.settle()
        assert battles.battle_page(found.games, found.id, "eve")["verdict"] == "A draw."
        again = [battles.rematch(found.games, found.id, account) for account in found.ids]
        battle = battles.find(found.games, found.battle.rematch or "")
        assert again == [battles.path_of(battle.id)] * 2
        assert [each.account for each in battle.players] == found.ids
        assert battle.secret != found.battle.secret
        assert (battle.rules, battle.minutes) == (found.battle.rules, 1)
        for account in found.ids:
            battles.leave(found.games, battle.id, account)
        assert battles.battle_page(found.games, found.id, found.ids[1])["rematch"] is None
        another = [battles.rematch(found.games, found.id, account) for account in found.ids]
        assert another[0] == another[1] != again[0]


@pytest.mark.parametrize("failures", [1, 4, 5])
async def test_who_leaves_while_a_move_is_saved_has_left(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    """Leaving while a move is being saved ends the game with that move, in five attempts."""
    async with fight(sqlite_url) as found:
        await found.start()
        finish, store = found.games.finish, found.games.store
        (one, _), game_id = found.visitors, found.battle.players[0].game_id or ""
        await one.move()
        tries = []

        def interrupted(game_id: str, **more: bool) -> str | None:
            tries.append(game_id)
            return None if len(tries) <= failures else finish(game_id, **more)

        monkeypatch.setattr(found.games, "finish", interrupted)
        with pytest.raises(StaleGameError, match="try") if failures == 5 else nullcontext():
            battles.leave(found.games, found.id, found.ids[0])
        assert tries == [game_id] * min(failures + 1, 5)
        assert (store.records.summary(game_id) is None) == (failures == 5)
        assert found.battle.players[0].has_left == (failures < 5)


async def test_everybody_hears_how_it_goes(sqlite_url: str) -> None:
    """Followers see arrivals, the start, the end, and all boards until then, also of the absent."""
    async with fight(sqlite_url) as found:
        one, two = found.visitors
        for visitor in (one, two):
            await visitor.connection.on_message(json.dumps({"type": "battle", "battle": found.id}))
        message = await until(one, lambda each: each["stage"] == "gathering")
        assert (message["you"], len(message["players"])) == (1, 2)
        await found.start()
        number, direction = two.state["version"] + 1, two.state["legal"][0]
        moved = await say(two, "events", "move", number=number, direction=direction)
        board = moved["board"]
        message = await until(one, lambda each: board in [p["board"] for p in each["players"]])
        assert message["stage"] == "running"
        assert 0 < message["ends_ms"] <= 60_000
        await say(two, "state", "new", rules="classic", mode="casual")  # away from the battle
        late = Visitor(found.server)
        game = found.battle.players[0].game_id
        await late.connection.on_message(json.dumps({"type": "battle", "game": game}))
        message = await until(late, lambda each: all(p["board"] for p in each["players"]))
        assert message["you"] is None
        found.shift(ends=timedelta(0))
        for visitor in (one, two, late):
            await until(visitor, lambda each: each["stage"] == "over")
        while one.state["outcome"] != "ended":  # the open game is read again
            await one.receive()
        await late.connection.on_message(json.dumps({"type": "battle", "battle": found.id}))
        message = await until(late, lambda each: each["stage"] == "over")
        assert [player["board"] for player in message["players"]] == [None, None]
        assert (await late.ask("battle", battle="nothing"))["reason"] == "unknown_game"
        for visitor in (one, two, late):
            visitor.leave()
        while found.server.backend.rooms.open:
            await asyncio.sleep(0.01)


async def test_what_happens_while_a_battle_starts(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leaving during the start works, and clicking start twice is harmless."""
    games, store = server.backend.rooms.games, server.backend.rooms.games.store
    battle = offered(games, "ada")
    battles.join(games, battle, "bob")

    def meanwhile(name: str) -> None:
        """Let the battle start after the next call has looked at it."""
        call = getattr(store.battles, name)

        def later(*args: Any) -> Any:
            monkeypatch.setattr(store.battles, name, call)
            battles.start(games, battle, "ada")
            return call(*args)

        monkeypatch.setattr(store.battles, name, later)

    meanwhile("leave")
    battles.leave(games, battle, "bob")
    assert [each.has_left for each in battles.find(games, battle).players] == [False, True]
    battle = offered(games, "ada")
    battles.join(games, battle, "bob")
    meanwhile("start")
    assert battles.start(games, battle, "ada") == f"/battle/{battle}"


async def test_who_waits_for_a_battle_hears_that_it_is_gone(server: Server) -> None:
    """When the last player leaves, the battle is deleted and only its followers are notified."""
    games = server.backend.rooms.games
    battle = offered(games, "ada")
    watcher, other = Visitor(server), Visitor(server)
    for visitor in (watcher, other):
        await visitor.connection.on_message(json.dumps({"type": "battle", "battle": battle}))
    await other.connection.on_message('{"type": "battle"}')
    await until(watcher, lambda each: each["stage"] == "gathering")
    battles.join(games, battle, "bob")
    assert battles.leave(games, battle, "bob") == f"/battle/{battle}"
    assert battles.leave(games, battle, "ada") == "/battle"
    message = await watcher.receive()
    while message["type"] == "battle":
        message = await watcher.receive()
    assert (message["type"], message["reason"]) == ("refused", "unknown_game")
    await other.connection.on_message('{"type": "ping"}')
    while (message := await other.receive(pongs=True))["type"] != "pong":
        assert message["type"] in ("hello", "battle")


async def test_battles_do_not_pile_up(sqlite_url: str) -> None:
    """Abandoned battles are settled and old offers deleted, even if a game cannot be replayed."""
    async with fight(sqlite_url) as found:
        await found.start()
        idle = offered(found.games, "eve")
        with found.games.store.write() as connection:
            old = sa.update(rows).where(rows.c.id == idle).values(created="2026-01-01")
            bad = sa.update(games).where(games.c.owner == found.ids[0])
            connection.execute(old)
            connection.execute(bad.values(rules="classic:merging=thrice"))
        found.shift(ends=-timedelta(minutes=1))
        battles.maintain(found.games)
        assert battles.stage_of(found.battle) == "over"
        assert [player.score is None for player in found.battle.players] == [True, False]
        assert found.games.store.battles.find(idle) is None


async def test_accounts_may_be_deleted(url: str) -> None:
    """Results survive a deleted account without its name; its own offers do not."""
    async with fight(url) as found:
        await found.start()
        store: Store = found.games.store
        alone = offered(found.games, found.ids[0])
        for account in found.ids:
            battles.leave(found.games, found.id, account)
        found.settle()
        assert [row["battle_id"] for row in store.accounts.export(found.ids[0])["battles"]]
        assert found.battle.secret not in str(found.games.export(found.ids[0]))
        store.accounts.delete(found.ids[0])
        names = {each.name for each in battles.players_of(found.games, found.battle, {})}
        assert "somebody" in names
        assert len(names) == 2
        assert store.battles.find(alone) is None


def test_the_pages_of_a_battle(web_server: WebServer) -> None:
    """A battle can be created, joined and started without scripts."""
    one, two, other = (Browser(web_server) for _ in range(3))
    assert "Create a battle" in one.get("/battle").text
    path = one.form("/battle", rules="2x4", minutes="1").headers["location"]
    page = one.get(path).text
    assert f'value="{web_server.url}{path}"' in page
    assert re.search(r'id="start"[^>]*disabled', page)
    assert one.form(f"{path}/start").status == 409
    assert "Join" in two.get(path).text
    two.form(f"{path}/join")
    assert "to start the battle" in two.get(path).text
    assert two.form(f"{path}/start").status == 409
    assert one.form(f"{path}/start").headers["location"].startswith("/?game=")
    for browser in (one, two):
        assert "/?game=" in browser.get(path).text
    assert other.form(f"{path}/join").status == 409
    assert "/?game=" not in other.get(path).text
    for browser in (one, two):
        browser.form(f"{path}/leave")
    page = other.get(path).text
    assert "Result of the battle" in page
    assert "Rematch" not in page
    again = one.form(f"{path}/rematch").headers["location"]
    assert f'href="{again}"' in two.get(path).text
    assert one.get("/battle/nothing").status == 404
    assert one.form(f"{path}/nothing").status == 404
    refused = one.form("/battle", minutes="999")
    assert (refused.status, "1, 3, 5, 10, 20 minutes" in refused.text) == (422, True)
    evil = two.request("POST", f"{again}/join", b"", Origin="https://evil.example")
    assert evil.status == 403
