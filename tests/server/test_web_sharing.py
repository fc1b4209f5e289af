"""Sharing a finished game reveals nothing that must stay secret."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest
from PIL import Image, ImageDraw
from store_games import add_record, new_online_game
from web_server import Browser, WebServer

from py2048.app.storage import Store, open_store
from py2048.core.board import Board
from py2048.server.play.games import GameService
from py2048.server.site.games import HEIGHT, WIDTH, ShareCard, card_of, picture

TODAY = datetime.now(UTC).date()


@pytest.mark.parametrize(
    ("tile", "target", "squares"),
    [
        (8, 2048, "⬜" * 8),
        (16, 2048, "🟧" + "⬜" * 7),
        (1024, 2048, "🟧" * 7 + "⬜"),
        (4096, 2048, "🟧" * 9),
        (256, None, "🟧" * 5),
        (8, None, ""),
        (2**40, None, "🟧" * 14),
    ],
)
def test_the_squares(tile: int, target: int | None, squares: str) -> None:
    """There is a square per power of two from 16 up to the target, and they fit on a line."""
    assert ShareCard("2048", None, 4, tile, 1, target).squares == squares


def test_the_text_explains_itself() -> None:
    """The text states score, moves, tile and streak in words."""
    card = ShareCard("Daily · 23 November", "Ada", 12345, 1024, 812, 2048, 5)
    assert card.text("https://2048.example/game/1f/share").splitlines() == [
        "2048 · Daily · 23 November",
        "12,345 points in 812 moves",
        "🟧🟧🟧🟧🟧🟧🟧⬜",
        "Largest tile 1,024",
        "5 days in a row",
        "https://2048.example/game/1f/share",
    ]


@pytest.mark.parametrize(
    ("plies", "said"), [(1, "points in 1 move"), (2000, "points in 2,000 moves")]
)
def test_the_picture_says_what_the_text_says(plies: int, said: str) -> None:
    """The picture shows the text and the last board."""
    card = ShareCard("Battle", None, 4, 64, plies, None)
    assert card.points == f"4 {said}"
    with patch.object(ImageDraw.ImageDraw, "text") as written:
        picture(card, Board(((2, 64), (0, 16))))
    assert said in [call.args[1] for call in written.call_args_list]
    assert picture(card, Board(((2, 64), (2, 16)))) != picture(card, Board(((2, 64), (4, 16))))


@pytest.mark.parametrize("name", [None, "Ada", "Жанна", "W" * 24])
@pytest.mark.parametrize("tile", [0, 2, 2**60])
@pytest.mark.parametrize("shape", [(4, 4), (1, 6), (16, 16)])
def test_the_picture_is_one_that_social_sites_take(
    name: str | None, tile: int, shape: tuple[int, int]
) -> None:
    """The picture is a small PNG of the standard size for any board and player."""
    rows, columns = shape
    card = ShareCard("long name " * 4, name, 2**52, tile, 10**6, 2048, 400)
    body = picture(card, Board(((tile,) * columns,) * rows))
    image = Image.open(io.BytesIO(body))
    assert (image.format, image.size) == ("PNG", (WIDTH, HEIGHT))
    assert len(body) < 100_000


def daily(store: Store, days: int) -> str:
    """Add a finished daily game of Ada, some days ago."""
    day = str(TODAY - timedelta(days=days))
    game = new_online_game(store, mode="daily", day=day, secret="daily-aa")
    store.games.discard(game.id, game.revision)
    return add_record(store, game.id, owner="ada", category="daily", rules="classic")


def test_a_daily_game_is_shared_with_its_streak(tmp_path: Path) -> None:
    """The card has the streak as of its day; unfinished and unknown games have no card."""
    with open_store(tmp_path / "games.sqlite3") as store:
        games = GameService(store)
        shared = [daily(store, days) for days in (3, 2, 1, 5)]
        cards = [card_of(games, game) for game in shared]
        assert [card and card.streak for card in cards] == [1, 2, 3, 1]
        assert card_of(games, new_online_game(store).id) is None
        assert card_of(games, "nothing") is None
        assert card_of(games, add_record(store, "local")) is None


async def test_a_page_to_share(web_server: WebServer) -> None:
    """Anyone can open the page, even for today's daily game; it has no secret and no moves."""
    browser, crawler = Browser(web_server), Browser(web_server)
    async with browser.socket() as socket:
        game = (await socket.new(mode="daily"))["game"]
        assert crawler.get(f"/game/{game}/share").status == 404
        over = await socket.play_out()
    answer = crawler.get(f"/game/{game}/share")
    assert crawler.get(f"/game/{game}").status == 403
    assert f"{over['score']:,} points in {over['ply']:,} moves" in answer.text
    address = f"{web_server.url}/game/{game}/share"
    assert f'<meta property="og:url" content="{address}">' in answer.text
    text = re.search(r"<textarea[^>]*>(.*?)</textarea>", answer.text, re.DOTALL)
    assert text[1].splitlines()[-1] == address
    found = re.search(r'og:image" content="([^"]*)"', answer.text)
    image = crawler.get(found[1].removeprefix(web_server.url))
    assert image.headers["content-type"] == "image/png"
    assert image.headers["cache-control"].startswith("public")
    with open_store(web_server.home / "py2048.sqlite3") as store:
        secret = store.online.find_day_secret(str(TODAY))
    assert secret
    assert secret not in answer.text
    assert over["commitment"] not in answer.text
    assert f"/game/{game}/share" in browser.get("/daily").text
