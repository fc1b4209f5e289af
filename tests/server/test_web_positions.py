"""Casual games started from positions of finished games."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from inside import RULES, add_game
from test_web_boards import record_of, scores
from web_server import Answer, Browser, WebServer, claimed

from py2048 import Record
from py2048.app.storage import Store
from py2048.server.schema import BOARDS, POSITION


def begun(answer: Answer) -> str:
    """Return the game that a response redirects to."""
    assert answer.status == 303, answer.text
    address: str = answer.headers["location"]
    assert address.startswith("/?game=")
    return address.removeprefix("/?game=")


async def test_any_position_of_a_finished_game_can_be_played_on(
    web_server: WebServer, store: Store
) -> None:
    """A game from a position is casual and counts on no leaderboard."""
    browser = claimed(web_server, "Played on")
    origin = add_game(store)
    record = Record.from_json(store.records.load(origin))
    boards = [record.start, *(board for board, _, _ in record.replay())]
    for turn in (0, len(boards) - 2):
        game = begun(await asyncio.to_thread(browser.form, f"/game/{origin}/play", turn=str(turn)))
        async with browser.socket() as socket:
            state = await socket.ask("open", "state", game=game)
            assert state["board"] == [list(row) for row in boards[turn].rows]
            facts = {"mode": "casual", "category": POSITION, "score": 0, "mine": True, "ply": 0}
            assert facts.items() <= state.items()
            assert "from a position" in browser.get(f"/game/{game}").text
            await socket.move()
            assert (await socket.ask("undo", number=2))["category"] == POSITION
            await socket.play_out()
            await socket.send("leave")
    await record_of(browser, game)
    assert "from a position" in browser.get(f"/game/{game}").text
    for board in BOARDS:
        assert "Played on" not in scores(browser, board, RULES)


async def test_other_positions_are_refused(browser: Browser, store: Store) -> None:
    """Invalid positions are rejected with a reason."""
    origin = add_game(store)
    last = Record.from_json(store.records.load(origin)).plies
    address = f"/game/{origin}/play"
    for turn, status, said in (
        (str(last), 409, "No move is possible there"),
        (str(last + 1), 422, f"choose one from 0 to {last}"),
        ("-1", 422, "turn is not a number"),
        ("1" * 5000, 422, "turn is not a number"),
        ("", 422, "turn is not a number"),
    ):
        answer = browser.form(address, turn=turn)
        assert answer.status == status, turn
        assert said.lower() in answer.text.lower()
    assert browser.form("/game/nothing/play", turn="0").status == 404
    foreign = browser.request("POST", address, b"turn=0", Origin="https://elsewhere.example")
    assert foreign.status == 403
    async with browser.socket() as socket:
        running_game = (await socket.new(mode="ranked"))["game"]
        answer = await asyncio.to_thread(browser.form, f"/game/{running_game}/play", turn="0")
        assert answer.status == 404


async def test_a_sealed_game_gives_no_position(browser: Browser, store: Store) -> None:
    """A sealed game cannot be continued, because watchers would see the day's tiles."""
    async with browser.socket() as socket:
        info = store.online.info((await socket.new())["game"])
        assert info
    today = datetime.now(UTC).date()
    game = add_game(store, mode="daily", day=today.isoformat(), owner=info.owner)
    assert "Play on from here" not in browser.get(f"/game/{game}").text
    for visitor in (browser, Browser(browser.server)):
        assert visitor.form(f"/game/{game}/play", turn="0").status == 403
    past = (today - timedelta(days=2)).isoformat()
    game = add_game(store, 2, mode="daily", day=past, owner=info.owner)
    assert "Play on from here" in browser.get(f"/game/{game}").text
    begun(browser.form(f"/game/{game}/play", turn="0"))


def test_games_from_positions_are_limited_as_new_games_are(browser: Browser, store: Store) -> None:
    """Games from positions count against the limit for new games."""
    origin = add_game(store)
    statuses = [browser.form(f"/game/{origin}/play", turn="1").status for _ in range(25)]
    assert statuses[:20] == [303] * 20
    assert statuses[-1] == 429
