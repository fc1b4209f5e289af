"""Offline turns: verified against the rules, and not counted on leaderboards."""

from __future__ import annotations

import asyncio

import pytest
from inside import Json, Visitor

from py2048.core.board import Board
from py2048.core.game import Game
from py2048.core.game.turn import encode_turn
from py2048.core.rules import Rules
from py2048.server import admission
from py2048.server.app import Server
from py2048.server.schema import BOARDS
from py2048.server.site.games import game_page

SHORT = "short:size=2x2"
COSTLY = "costly:size=1x6,start=2x2:1,spawn=2:1,scoring=moves:1:-1,target=none"


def played_on(state: Json, most: int = 1000) -> tuple[Game, str]:
    """Continue from a state as an offline page does; return the game and its turns."""
    game = Game(Rules.parse(state["rules"]["text"]), board=Board.from_rows(state["board"]))
    while not game.is_over and game.turn_count < most:
        game.play(game.legal_directions()[-1])
    return game, "".join(encode_turn(turn) for turn in game.turns)


async def test_moves_made_offline_are_taken_over(server: Server) -> None:
    """The game continues from offline turns in all tabs, and is what it was."""
    visitor = Visitor(server)
    state = await visitor.new("classic")
    other = Visitor(server, visitor.account)
    await other.ask("open", game=state["game"])
    game, turns = played_on(visitor.state, 20)
    taken = await visitor.ask("offline", number=1, turns=turns)
    assert taken["type"] == "state"
    assert taken["board"] == [list(row) for row in game.board.rows]
    assert (taken["score"], taken["ply"], taken["category"]) == (game.score, 20, "plain")
    assert (await other.receive())["board"] == taken["board"]
    after = await visitor.move()
    assert (after["ply"], after["category"]) == (21, "plain")
    visitor.leave()
    other.leave()
    again = Visitor(server, visitor.account)
    state = await again.ask("open", game=state["game"])
    assert (state["ply"], state["category"]) == (21, "plain")


@pytest.mark.parametrize("category", ["plain", "assisted", "computer"])
async def test_a_game_that_ended_offline_is_the_players_own(server: Server, category: str) -> None:
    """It counts like any other for its player, by the help that was used, but on no leaderboard."""
    visitor = Visitor(server)
    game_id = (await visitor.new(SHORT))["game"]
    game, turns = played_on(visitor.state)
    server.backend.rooms.games.store.accounts.claim_name(visitor.account.id, "Ada", "hash")
    taken = await visitor.ask("offline", number=1, turns=turns, category=category)
    assert (taken["outcome"], taken["category"]) == ("lost", category)
    await visitor.connection.on_message('{"type":"leave"}')
    visitor.leave()
    store = server.backend.rooms.games.store
    while (summary := store.records.summary(game_id)) is None:
        await asyncio.sleep(0.01)
    assert (summary.category, summary.score) == (category, game.score)
    for board in BOARDS:
        assert store.leaderboards.top(board, str(game.rules)) == []
    assert game_page(server.backend.rooms.games, game_id, visitor.account.id)["game"]["offline"]
    again = Visitor(server, visitor.account)
    assert (await again.new(SHORT))["best"] == (0 if category == "computer" else game.score)


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        ("L", "offline"),  # no tile appeared
        ("l", "offline"),  # an attempt that these rules do not count
        ("L9", "offline"),  # cut off
        ("L1_", "offline"),  # a cell outside
        ("LA0", "offline"),  # a tile that never appears
        ("", "malformed"),
        ("?!", "malformed"),
        ("L10" * 400, "malformed"),
    ],
)
async def test_what_breaks_the_rules_is_refused(server: Server, turns: str, reason: str) -> None:
    """One invalid turn rejects all offline turns and leaves the game unchanged."""
    visitor = Visitor(server)
    await visitor.new()
    _, good = played_on(visitor.state, 2)
    for text in {turns, good + turns} if reason == "offline" else {turns}:
        refused = await visitor.ask("offline", number=1, turns=text)
        assert (refused["type"], refused["reason"]) == ("refused", reason)
        assert visitor.state["version"] == 0


async def test_where_rules_punish_attempts_they_are_turns(server: Server) -> None:
    """Penalized attempts are accepted as turns; moves without a new tile are not."""
    visitor = Visitor(server)
    state = await visitor.new(COSTLY)
    assert "up" not in state["legal"]
    taken = await visitor.ask("offline", number=1, turns="u")
    assert (taken["type"], taken["score"], taken["ply"]) == ("state", -1, 0)
    legal = taken["legal"][0][0]
    refused = await visitor.ask("offline", number=visitor.state["version"] + 1, turns=legal)
    assert refused["reason"] == "offline"


async def test_an_address_has_so_many_turns(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Offline turns are charged to their address, with many times their processor time."""
    monkeypatch.setitem(admission.HERE_FACTORS, "offline", 1e6)
    visitors = [Visitor(server, address=address) for address in ("::a", "::a", "::b")]
    turns = [played_on(await visitor.new(), 30)[1] for visitor in visitors]
    answers = [
        await visitor.ask("offline", number=1, turns=text)
        for visitor, text in zip(visitors, turns, strict=True)
    ]
    assert [each["type"] for each in answers] == ["state", "refused", "state"]
    assert (answers[1]["reason"], answers[1]["retry_ms"] > 0) == ("busy", True)


@pytest.mark.parametrize("mode", ["ranked", "daily"])
async def test_games_that_count_are_played_with_the_server(server: Server, mode: str) -> None:
    """Ranked and daily games accept no offline turns."""
    visitor = Visitor(server)
    await visitor.new("classic", mode)
    _, turns = played_on(visitor.state, 3)
    refused = await visitor.ask("offline", number=1, turns=turns)
    assert (refused["reason"], visitor.state["version"]) == ("mode", 0)


async def test_a_game_that_went_on_elsewhere_is_not_overwritten(server: Server) -> None:
    """Offline turns are accepted only if the game has not changed since."""
    visitor = Visitor(server)
    await visitor.new()
    _, turns = played_on(visitor.state, 3)
    await visitor.move()
    for number in (1, 3):
        refused = await visitor.ask("offline", number=number, turns=turns)
        assert (refused["reason"], visitor.state["version"]) == ("gap", 1)
