"""Chains of actions sent without waiting: played in order, or dropped from the first failure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from inside import Visitor

from py2048.app.session import PositionSnapshot
from py2048.core.board import Board
from py2048.core.errors import PlayerError
from py2048.core.rules import get_rules
from py2048.server import websocket
from py2048.server.app import Server
from py2048.server.hints import answers_of

WIDE = "wide:size=1x6,start=2x2:1,spawn=2:1,target=none"


async def tell(visitor: Visitor, *actions: tuple[str, int, int]) -> None:
    """Send moves with directions, numbers and chains, without waiting for responses."""
    for direction, number, chain in actions:
        await visitor.connection.on_message(
            f'{{"type":"move","direction":"{direction}","number":{number},"chain":{chain}}}'
        )


async def began_a_chain(server: Server) -> tuple[Visitor, str]:
    """Make the first move of chain 1; return the visitor and the direction."""
    visitor = Visitor(server)
    direction = (await visitor.new())["legal"][0]
    await tell(visitor, (direction, 1, 1))
    return visitor, direction


async def answers(visitor: Visitor, count: int) -> list[Any]:
    """Return the direction and version, or the reason, of the next messages."""
    found: list[Any] = []
    for _ in range(count):
        message = await visitor.receive()
        if message["type"] == "refused":
            found.append((message["reason"], message["chain"]))
        else:
            found.append((message["events"][0]["direction"], message["version"]))
    return found


async def test_a_chain_is_done_in_order_whatever_changes_nothing(server: Server) -> None:
    """A chain continues after an attempt that changed nothing."""
    visitor = Visitor(server)
    await visitor.new(WIDE)
    await tell(visitor, ("left", 1, 5), ("up", 2, 5), ("right", 3, 5), ("down", 4, 5))
    directions = ["left", "up", "right", "down"]
    found = await answers(visitor, 4)
    assert [direction for direction, _ in found] == directions
    moved = found[0][1]  # 0 if the start lay at the left end
    assert [version for _, version in found] == [moved, moved, moved + 1, moved + 1]
    await tell(visitor, ("left", moved + 2, 6))
    assert await answers(visitor, 1) == [("left", moved + 2)]


async def test_a_chain_stops_where_another_tab_moved(server: Server) -> None:
    """A chain is rejected once and dropped if another tab has moved."""
    visitor = Visitor(server)
    state = await visitor.new()
    other = Visitor(server, visitor.account)
    await other.ask("open", game=state["game"])
    await tell(visitor, (state["legal"][0], 1, 3))
    assert await answers(visitor, 1) == [(state["legal"][0], 1)]
    await other.receive()
    played = await other.move()
    assert played["version"] == 2
    await visitor.receive()
    await tell(visitor, ("left", 2, 3), ("up", 3, 3), ("right", 4, 3), ("down", 5, 3))
    await tell(visitor, (played["legal"][0], 3, 4))
    assert await answers(visitor, 2) == [("gap", 3), (played["legal"][0], 3)]


async def test_a_chain_that_begins_with_an_old_number_is_dropped(server: Server) -> None:
    """A chain must start with the next number."""
    visitor, _ = await began_a_chain(server)
    await answers(visitor, 1)
    legal = visitor.state["legal"]
    await tell(visitor, (legal[0], 1, 2), (legal[0], 2, 2), (legal[0], 3, 3), (legal[0], 2, 4))
    assert await answers(visitor, 3) == [("gap", 2), ("gap", 3), (legal[0], 2)]


async def test_a_broken_chain_stays_broken(server: Server) -> None:
    """A broken chain stays broken even if other actions are rejected in between."""
    visitor, _ = await began_a_chain(server)
    await visitor.connection.on_message('{"type":"redo","number":2,"chain":1}')
    await visitor.connection.on_message('{"type":"no such thing"}')
    for direction in visitor.state["legal"]:
        await tell(visitor, (direction, 3, 1))
    await tell(visitor, ("up", 9, 2))
    assert [(await visitor.receive()).get("reason") for _ in range(4)] == [
        None, "nothing", "malformed", "gap",
    ]  # fmt: skip


async def test_a_chain_does_not_go_on_in_another_game(server: Server) -> None:
    """A chain does not continue in another game."""
    visitor, _ = await began_a_chain(server)
    await answers(visitor, 1)
    await visitor.new()
    await tell(visitor, *((each, 1, 1) for each in visitor.state["legal"]))
    assert await answers(visitor, 1) == [("gap", 1)]
    assert visitor.state["version"] == 0


async def test_a_hint_for_a_board_that_another_tab_has_changed_is_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hint for a position that another tab has left is rejected and not counted.

    A page that waits for it hears pongs, because its pings wait behind the request.
    """
    visitor = Visitor(server)
    game = (await visitor.new())["game"]
    other = Visitor(server, visitor.account)
    await other.ask("open", game=game)
    advise = server.hints.advise

    async def slowly(*args: Any) -> AsyncIterator[Any]:
        async for hint in advise(*args):
            assert (await visitor.receive(pongs=True))["type"] == "pong"
            await other.move()
            assert (await visitor.receive())["type"] == "events"
            yield hint

    monkeypatch.setattr(websocket, "PONG_PERIOD_S", 0.1)
    monkeypatch.setattr(server.hints, "advise", slowly)
    refused = await visitor.ask("hint", number=1, chain=1)
    assert (refused["type"], refused["reason"]) == ("refused", "gap")
    assert refused["state"]["version"] == 1
    assert server.backend.rooms.open[game].game.session.category == "plain"


async def test_undo_goes_with_a_chain(server: Server) -> None:
    """A move and its undo may be in one chain; a failed undo breaks it."""
    visitor, moved = await began_a_chain(server)
    for number in (2, 3, 4):
        await visitor.connection.on_message(f'{{"type":"undo","number":{number},"chain":1}}')
    assert await answers(visitor, 3) == [(moved, 1), (moved, 2), ("nothing", 1)]


def test_a_hint_under_rules_that_a_player_refuses_fails_as_a_player_s() -> None:
    """A player that cannot handle the rules is reported as a player error."""
    rules = get_rules("classic:size=2x2,spawn=2:9+8589934592:1")
    snapshot = PositionSnapshot(rules, Board.parse("2 2 / . ."), 0)
    with pytest.raises(PlayerError, match="too large for compiled games"):
        answers_of("montecarlo", snapshot, None, False)
