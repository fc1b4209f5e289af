"""Leaderboards: what counts on which one, the daily challenge, and their pages."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from inside import until, until_shown
from web_server import GENEROUS, Answer, Browser, WebServer, claimed, serving

from py2048 import Record
from py2048.app.storage.records import season_of

RULES = "2x4"


async def record_of(browser: Browser, game: str) -> Answer:
    """Wait for a game's record and return the response."""
    path = f"/game/{game}/record"
    await until(lambda: browser.get(path).status == 200)
    return browser.get(path)


def scores(browser: Browser, board: str, rules: str = RULES) -> dict[str, int]:
    """Return the players and points on a leaderboard."""
    found = browser.get(f"/api/leaderboards?board={board}&rules={rules}").json()["games"]
    return {row["player"]: row["score"] for row in found}


async def test_a_ranked_game_counts_once_it_is_over(web_server: WebServer) -> None:
    """A ranked game counts on its leaderboard only once it is over."""
    browser = claimed(web_server, "Ranked player")
    async with browser.socket() as socket:
        game = (await socket.new(RULES, "ranked"))["game"]
        await socket.move()
        assert "Ranked player" not in scores(browser, "ranked")
        over = await socket.play_out()
        await record_of(browser, game)
    assert scores(browser, "ranked")["Ranked player"] == over["score"]
    assert "Ranked player" not in scores(browser, "assisted")
    season = season_of(datetime.now(UTC).date())
    assert f"period={season}" in browser.get(f"/leaderboards?rules={RULES}&period=season").text
    assert "has not ended yet" in browser.get(f"/leaderboards?rules={RULES}&period={season}").text
    found = browser.get(f"/api/leaderboards?rules={RULES}&period={season}").json()["games"]
    assert "Ranked player" in [row["player"] for row in found]
    for period in ("day", "week", "season", season, "ever"):
        address = f"/leaderboards?rules={RULES}&board=ranked&period={period}"
        await until_shown(browser, address, "Ranked player")


async def test_a_daily_game_counts_for_its_day(web_server: WebServer) -> None:
    """A daily game is verified, sealed until its day is over, and listed for older accounts."""
    browser = claimed(web_server, "Daily player")
    async with browser.socket() as socket:
        game = (await socket.new(mode="daily"))["game"]
        over = await socket.play_out()
        answer = await record_of(browser, game)
    record = Record.from_json(answer.text)
    assert record.seed is over["secret"] is None
    record.verify()
    stranger = Browser(web_server)
    for path in (f"/game/{game}", f"/game/{game}/record", f"/api/games/{game}",
                 f"/api/games/{game}/record", f"/api/games/{game}/turns"):  # fmt: skip
        assert browser.get(path).status == 200
        assert stranger.get(path).status == 403, path
    async with stranger.socket() as socket:
        for kind in ("watch", "open"):
            assert (await socket.ask(kind, "refused", game=game))["reason"] == "sealed"
    assert "Daily player" not in stranger.get("/daily").text
    with closing(sqlite3.connect(web_server.home / "py2048.sqlite3")) as store, store:
        store.execute("UPDATE accounts SET created = '2026-01-01' WHERE name = 'Daily player'")
    await until_shown(stranger, "/daily", "Daily player")
    assert "Daily player" not in scores(browser, "ranked", "classic")
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    assert "Daily player" not in stranger.get(f"/daily?day={yesterday}").text
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    assert browser.get(f"/daily?day={tomorrow}").status == 404


async def test_who_looks_at_the_ranks_finds_an_own_place(web_server: WebServer) -> None:
    """A user's own row is highlighted, below the boards of the first three."""
    browser = claimed(web_server, "Own player")
    address = "/leaderboards?rules=3x3"
    async with browser.socket() as socket:
        game = (await socket.new("3x3", "ranked"))["game"]
        over = await socket.play_out()
        await record_of(browser, game)
    stranger = Browser(web_server)
    await until_shown(stranger, address, "Own player")
    page = browser.get(address).text
    assert f'id="row-{game}" aria-current="true"' in page
    assert f'id="row-{game}" aria-current' not in stranger.get(address).text
    board = ". ".join(f"Row {n}: {', '.join(str(tile or 'empty') for tile in row)}"
                      for n, row in enumerate(over["board"], 1))  # fmt: skip
    assert board in page
    assert "Create an account" in stranger.get(address).text


async def test_a_day_says_how_all_did(tmp_path: Path) -> None:
    """The day's page shows how many finished and their median; its list has only named players."""
    with serving(tmp_path / "day", *GENEROUS) as server:
        browser = Browser(server)
        assert "No one has finished it yet." in browser.get("/daily").text
        async with browser.socket() as socket:
            await socket.new(mode="daily")
            score = (await socket.play_out())["score"]
        page = ""
        while not all(said in page for said in ("You made", "1 has finished.")):
            page = browser.get("/daily").text
            await asyncio.sleep(0.05)
    assert f"Median {score:,}." in page
    assert "No one is listed yet" in page


async def test_a_games_page_is_permanent(web_server: WebServer) -> None:
    """A game's page exists during and after the game; the secret is shown only afterwards."""
    browser = claimed(web_server, "Permanent")
    async with browser.socket() as socket:
        state = await socket.new(RULES, "ranked")
        await socket.move()
        page = browser.get(f"/game/{state['game']}")
        assert page.status == 200
        assert state["commitment"] in page.text
        assert browser.get(f"/game/{state['game']}/record").status == 404
        assert "/record" not in page.text
        over = await socket.play_out()
        await record_of(browser, state["game"])
    page = browser.get(f"/game/{state['game']}").text
    assert over["secret"] in page
    turns = browser.get(f"/api/games/{state['game']}/turns?from=1&limit=3").json()
    assert turns["total"] == over["ply"]
    assert [turn["kind"] for turn in turns["turns"]] == ["moved"] * 3
    player = browser.get("/player/Permanent").text
    assert f"/game/{state['game']}" in player


async def test_live_games_are_listed(web_server: WebServer) -> None:
    """Games in progress are listed with their boards, even after their players have left."""
    browser = claimed(web_server, "Live player")
    async with browser.socket() as socket:
        game = (await socket.new())["game"]
        await socket.move()
        await until_shown(browser, "/leaderboards", f"/game/{game}")
        assert f"/game/{game}" in browser.get("/player/Live%20player").text
        row = ", ".join(str(tile or "empty") for tile in socket.state["board"][0])
        assert f"Row 1: {row}." in browser.get("/live").text
    await until_shown(browser, "/metrics", "py2048_sockets 0.0")
    assert f"Row 1: {row}." in browser.get("/live").text


def test_the_form_offers_what_the_server_plays(browser: Browser) -> None:
    """The largest board that the form allows is the largest that the server accepts."""
    longest = re.search(r'id="own-rows"[^>]*max="(\d+)"', browser.get("/").text)
    for side, status in ((int(longest[1]), 200), (int(longest[1]) + 1, 422)):
        assert browser.get(f"/api/rules/check?text=a:size={side}x{side}").status == status


def test_no_day_leads_to_one_without_a_page(browser: Browser) -> None:
    """Days link to their neighbours, but not before the first day or after today."""
    today = datetime.now(UTC).date().isoformat()
    for page in ("daily", "puzzle"):
        around = ["2024-02-28", "2024-03-01"]
        for day, sides in (("2024-01-01", ["2024-01-02"]), ("2024-02-29", around), (today, None)):
            text = browser.get(f"/{page}?day={day}").text
            links = re.findall(rf'href="/{page}\?day=([0-9-]+)" rel=', text)
            assert links == sides or (sides is None and max(links) <= today)


def test_unknown_boards_are_not_found(browser: Browser) -> None:
    """Unknown leaderboards, rules, days, puzzles and players are 404."""
    for path in (
        "/leaderboards?board=best",
        "/leaderboards?rules=nonsense",
        "/leaderboards?period=year",
        "/puzzle?id=1001",
        "/leaderboards?tile=77",
        "/leaderboards?tile=512&board=bot",
        "/leaderboards?period=1999-Q1",
        "/leaderboards?period=9999-Q4",
        "/daily?day=yesterday",
        "/daily?day=1999-01-01",
        "/player/nobody%20here",
        "/game/0123456789abcdef",
        "/game/..%2f..%2fetc",
    ):
        assert browser.get(path).status == 404, path
    assert browser.get("/leaderboards?tile=512").status == 200
