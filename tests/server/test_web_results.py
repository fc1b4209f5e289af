"""The result of a game, shown to its player only."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
import stand_in_review
from inside import Visitor, add_game, running, until
from web_server import Browser, WebServer

from py2048 import get_rules
from py2048.app.storage import Store, open_store
from py2048.app.storage.schema import rounds
from py2048.presentation.result import PENDING, UNAVAILABLE, Result
from py2048.server.admission import Caller
from py2048.server.app import Server
from py2048.server.play.games import GameService
from py2048.server.schema import ActionRejected
from py2048.server.site import reviews
from py2048.server.site.challenges import today_panel
from py2048.server.site.games import card_of, result_page

TODAY = datetime.now(UTC).date()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "games.sqlite3")


def result_of(store: Store, game: str, account: str = "ada", refused: str = "") -> Result:
    found = result_page(GameService(store), game, account, refused)["result"]
    assert isinstance(found, Result)
    return found


def test_a_daily_game_is_compared_with_all_on_its_tiles(store: Store) -> None:
    """A daily game is compared with all others of its day, including those of guests."""
    daily = partial(add_game, store, mode="daily", rules="classic")
    game = daily(day=str(TODAY), score=800)
    for number, score in enumerate([700, 800, 900, 900]):
        daily(number, day=str(TODAY), owner=f"guest {number}", score=score)
    for days, score in ((1, 750), (2, 600)):
        daily(day=str(TODAY - timedelta(days=days)), score=score)
    found = result_of(store, game)
    assert found.headline == "800 points. Your best daily."
    assert found.place == "Place 3 of 5 on the same tiles."
    assert sum(found.bars) == 5
    assert found.streak == 3
    assert found.kind.startswith(f"Daily · {TODAY.day} ")


def test_other_games_are_compared_with_the_players_own(store: Store) -> None:
    """Other games are compared with the player's own games under the same rules."""
    game = add_game(store, 1, rules="classic", score=500)
    assert result_of(store, game).headline == "500 points. A first score to beat."
    add_game(store, 2, rules="classic", score=900, finished="2025-01-01T00:00:00.000000Z")
    add_game(store, 3, rules="3x3", score=10**6)
    add_game(store, 4, rules="classic", score=10**6, owner="bob")
    found = result_of(store, game)
    assert found.headline == "500 points. 400 short of your best."
    assert (found.kind, found.streak) == ("Classic · Ranked", None)
    game = add_game(store, 5, rules="classic", score=30_000, max_tile=2048, category="computer")
    assert result_of(store, game).headline.startswith("30,000 points. Played by a computer, so")


def test_why_there_is_no_review_is_said_in_a_word(store: Store) -> None:
    """If there will be no review, the result says why."""
    game = add_game(store, rules="classic")
    reasons = {"busy": "Busy", "off": "Off", "length": "Too long", "": UNAVAILABLE}
    for refused, said in reasons.items():
        assert result_of(store, game, refused=refused).accuracy == said


def test_nobody_else_gets_it(store: Store) -> None:
    """Other users, unfinished and unknown games get no result."""
    for game, account in ((add_game(store), "bob"), ("nothing", "ada")):
        with pytest.raises(ActionRejected):
            result_of(store, game, account)


async def test_the_review_of_a_sealed_game_is_its_players(tmp_path: Path) -> None:
    """Players see the review of their own sealed game at once."""
    stand_in = partial(stand_in_review.stand_in, tmp_path)
    async with running(f"sqlite:///{tmp_path / 'store.sqlite3'}", reviewer=stand_in) as server:
        store = server.backend.rooms.games.store
        game = add_game(store, mode="daily", day=str(TODAY), rules="classic")
        await server.reviews.request(game, Caller("::1", "ada"))
        await until(lambda: reviews.figures(store.reviews.find(game))[0] == "done")
        found = result_of(store, game)
        assert (found.accuracy, found.mistakes) == ("50 %", 1)
        assert [each.label for each in found.figures] == ["Largest", "Accuracy", "Level", "Streak"]
        assert reviews.review_answer(server.backend.rooms.games, game).state == "done"


async def test_a_game_that_can_still_be_undone_is_reviewed_and_shared(tmp_path: Path) -> None:
    """A game whose end can be undone has a review and a card until it is continued."""
    stand_in = partial(stand_in_review.stand_in, tmp_path)
    async with running(f"sqlite:///{tmp_path / 'store.sqlite3'}", reviewer=stand_in) as server:
        games, player = server.backend.rooms.games, Visitor(server)
        game = (await player.new("2x2"))["game"]
        while player.state["outcome"] == "playing":
            await player.move()
        await until(lambda: games.store.records.summary(game))
        account = player.account.id
        await server.reviews.request(game, Caller("::1", account))
        assert result_of(games.store, game, account).accuracy in (PENDING, "50 %")
        await until(lambda: reviews.figures(games.store.reviews.find(game))[0] == "done")
        assert result_of(games.store, game, account).accuracy == "50 %"
        assert today_panel(games, account, get_rules("2x2"), TODAY)["played"] == 1
        card = card_of(games, game)
        assert card.score == player.state["score"]
        await player.ask("undo", number=player.state["version"] + 1)
        assert reviews.figures(games.store.reviews.find(game))[0] == "none"
        assert card_of(games, game) is None
        assert today_panel(games, account, get_rules("2x2"), TODAY)["played"] == 0
        with pytest.raises(ActionRejected):
            result_of(games.store, game, account)


async def test_a_casual_game_counts_at_once_by_the_help_it_used(server: Server) -> None:
    """Without help it is plain; best, list, rank and statistics change with its end and an undo."""
    games, player = server.backend.rooms.games, Visitor(server)
    store, account = games.store, player.account.id
    await player.new("2x2")
    store.accounts.claim_name(account, "Ada", "hash")
    for category in ("plain", "assisted"):
        while player.state["outcome"] == "playing":
            await player.move()
        await server.backend.rooms.wait_for_records(account)
        rules, score = player.state["rules"]["text"], player.state["score"]
        assert player.state["category"] == category
        assert [each.category for each in store.records.select(owner=account)] == [category]
        assert [each.score for each in store.leaderboards.top("assisted", rules)] == [score]
        assert today_panel(games, account, get_rules("2x2"), TODAY)["median_score"] == score
        again = Visitor(server, player.account)
        assert (await again.new("2x2"))["best"] == score
        assert (await player.ask("undo", number=player.state["version"] + 1))["type"] == "events"
        assert store.records.select(owner=account) == []
        assert store.leaderboards.top("assisted", rules) == []
        assert (await again.new("2x2"))["best"] == 0


async def test_the_dialog_over_http(web_server: WebServer) -> None:
    """The result has a text to share in the reader's language."""
    browser = Browser(web_server)
    async with browser.socket() as socket:
        game = (await socket.new(mode="daily"))["game"]
        over = await socket.play_out()
        answer = browser.form(f"/game/{game}/result")
        assert answer.status == 200
        assert f"{over['score']:,} points. Your first daily." in answer.text
        assert f"{web_server.url}/game/{game}/share" in answer.text
        assert re.search(r"Next board in \d+ h \d+ min", answer.text)
        assert Browser(web_server).get(f"/game/{game}/result").status == 403
        with open_store(web_server.home / "py2048.sqlite3") as store, store.write() as connection:
            connection.execute(rounds.update().filter_by(game_id=game).values(day="2025-01-01"))
        assert "Today's board is waiting" in browser.get(f"/game/{game}/result").text
        again = browser.get(f"/game/{game}/result", **{"accept-language": "pt"})
        assert "Your first daily" not in again.text
