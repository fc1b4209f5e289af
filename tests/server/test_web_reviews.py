"""Reviews of finished games: the queue, and who may request them."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import msgspec
import pytest
import sqlalchemy as sa
import stand_in_review
from inside import Visitor, add_game, running, until
from store_games import add_record
from tests import processes
from web_server import Browser, Json

from py2048 import Record
from py2048.app.storage import Store, open_store
from py2048.app.storage.schema import reviews as review_rows
from py2048.app.storage.values import StoredReview
from py2048.core.errors import PlayerError
from py2048.presentation.words import why_text
from py2048.server import schema
from py2048.server.admission import Caller
from py2048.server.app import Server
from py2048.server.schema import ActionRejected
from py2048.server.site import reviews
from py2048.server.site.pages import render_text


@dataclass
class StandIn:
    """A fake reviewer that logs its calls."""

    folder: Path

    def tell(self, word: str) -> None:
        (self.folder / word).touch()

    def noted(self, name: str) -> list[int]:
        return [int(line) for line in (self.folder / name).read_text().split()]

    def running(self, url: str) -> AbstractAsyncContextManager[Server]:
        return running(url, reviewer=partial(stand_in_review.stand_in, self.folder))


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    folder = tmp_path / "stand-in"
    folder.mkdir()
    return StandIn(folder)


async def ask(server: Server, game: str, account: str, address: str = "::1") -> str:
    """Request a review of a game and return the game."""
    await server.reviews.request(game, Caller(address, account))
    return game


def is_settled(store: Store, *games: str) -> bool:
    """Whether all reviews are done or have failed."""
    found = [store.reviews.find(game) for game in games]
    return all(review is not None and review.finished for review in found)


# The queue


async def test_many_requests_are_worked_through_beside_the_play(
    url: str, stand_in: StandIn
) -> None:
    """Each game is reviewed once, one at a time, while a player moves."""
    async with stand_in.running(url) as server:
        store = server.backend.rooms.games.store
        games = [add_game(store, seed) for seed in range(1, 7)]
        asked = [ask(server, game, "eve") for game in games[:4]]
        asked += [ask(server, game, "bob") for game in (*games[4:], games[0])]
        player = Visitor(server)
        await player.new()
        assert await asyncio.gather(*asked) == [*games, games[0]]
        for version in range(1, 11):
            assert (await player.move())["version"] == version
        await until(lambda: is_settled(store, *games))
        player.leave()
        counted = f"py2048_reviews_total {float(len(games))}"
        await until(lambda: counted in server.metrics.text().decode())  # after it is settled
    assert len(stand_in.noted("runs")) == len(games)
    assert set(stand_in.noted("at once")) == {1}


async def test_no_address_has_the_whole_queue(
    url: str, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One address waits for a limited time, other addresses come first, and the queue is bounded.

    Each review moves the price of the next ones a tenth of the way to its processor time, so five
    reviews that cost almost nothing leave 59 % of it, and six reviews are in time instead of four.
    """
    monkeypatch.setattr(reviews, "PRICE_S", 3000.0)
    monkeypatch.setattr(reviews, "MAX_AHEAD_S", 3.5 * reviews.PRICE_S)
    async with stand_in.running(url) as server:
        store = server.backend.rooms.games.store
        *games, honest, last = (add_game(store, seed) for seed in range(15))
        for number, game in enumerate(games[:5]):
            await ask(server, game, "ada", f"::{number + 3}")
        await until(lambda: is_settled(store, *games[:5]))
        stand_in.tell("hang")
        asked = [ask(server, game, f"guest {game}") for game in games[5:]]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        waiting = [each for each in answers if isinstance(each, str)]
        assert len(waiting) == 6
        with pytest.raises(ActionRejected, match="waiting for a review") as refused:
            await ask(server, last, "late")
        assert 1 <= refused.value.wait_s < 1000  # rejected requests cost nothing
        assert await ask(server, waiting[0], "another")  # it waits already
        assert await ask(server, honest, "honest", "::2")
        assert reviews.review_answer(server.backend.rooms.games, honest).ahead <= 1
        monkeypatch.setattr(reviews, "MAX_PENDING", 7)
        with pytest.raises(ActionRejected, match="waiting for a review"):
            await ask(server, last, "late", "::9")
        assert store.reviews.find(last) is None


async def test_what_a_dead_server_was_computing_is_computed_again(
    url: str, stand_in: StandIn
) -> None:
    """A claim that is not renewed expires; after several crashes the review fails."""
    with open_store(url) as store:
        once, often = add_game(store, 1), add_game(store, 2)
        for game, attempts in ((once, 1), (often, 3)):
            store.reviews.request(game, reviews.version_for("me"))
            left = sa.update(review_rows).where(review_rows.c.game_id == game)
            with store.write() as connection:
                connection.execute(left.values(attempts=attempts, claimed="2026-01-01"))
    async with stand_in.running(url) as server:
        store = server.backend.rooms.games.store
        await until(lambda: is_settled(store, once, often))
        found, given_up = store.reviews.find(once), store.reviews.find(often)
    assert (found.attempts, found.fault, found.summary["judge"]) == (2, None, "stand-in")
    assert given_up.fault == "the server could not finish it"
    assert len(stand_in.noted("runs")) == 1


async def test_a_server_that_ends_gives_the_review_back(tmp_path: Path, stand_in: StandIn) -> None:
    """A server that stops returns its review to the queue without counting an attempt."""
    url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
    stand_in.tell("hang")
    async with stand_in.running(url) as server:
        game = add_game(server.backend.rooms.games.store)
        await ask(server, game, "eve")
        await until((stand_in.folder / "at once").exists)
    with open_store(url) as store:
        review = store.reviews.find(game)
        assert (review.attempts, review.claimed, review.finished) == (0, None, None)
    (stand_in.folder / "hang").unlink()
    async with stand_in.running(url) as server:
        await until(lambda: is_settled(server.backend.rooms.games.store, game))


async def test_a_process_that_crashes_spoils_nothing_else(
    tmp_path: Path, stand_in: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    """A crashed review is reported on the page and in the log, and may be requested again."""
    stand_in.tell("crash")
    async with stand_in.running(f"sqlite:///{tmp_path / 'store.sqlite3'}") as server:
        store = server.backend.rooms.games.store
        game = add_game(store)
        await ask(server, game, "eve")
        await until(lambda: is_settled(store, game))
        answer = reviews.review_answer(server.backend.rooms.games, game)
        assert (answer.state, answer.fault) == ("failed", "the server could not finish it")
        logged = str([record.__dict__ for record in caplog.records])
        assert "this is said to those who run the server" in logged
        (stand_in.folder / "crash").unlink()
        await ask(server, game, "eve")
        await until(lambda: reviews.review_answer(server.backend.rooms.games, game).state == "done")


async def test_the_player_chooses_the_level(url: str, stand_in: StandIn) -> None:
    """A game is reviewed for its player's own level, or for one that only the player chooses."""
    async with stand_in.running(url) as server:
        games = server.backend.rooms.games
        game = add_game(games.store)

        async def review_for(account: str, level: str | None) -> str:
            await server.reviews.request(game, Caller("::1", account), level)
            await until(lambda: is_settled(games.store, game))
            summary = reviews.review_answer(games, game).summary
            return summary.wanted

        assert await review_for("bob", None) == "me"
        assert await review_for("ada", "Casual") == "casual"
        assert await review_for("bob", None) == "casual"
        with pytest.raises(ActionRejected) as rejected:
            await review_for("bob", "perfect")
        assert rejected.value.reason == "not_yours"
        with pytest.raises(PlayerError, match="level"):
            await review_for("ada", "casul")
        assert await review_for("ada", "me") == "me"
    assert (stand_in.folder / "levels").read_text().split() == ["practised", "casual", "practised"]


def test_a_stored_review_is_worded_when_it_is_read(store: Store) -> None:
    """A moment keeps its numbers and gains words, rows and lines; a habit gains words."""
    record = Record.from_json(store.records.load(add_game(store, rules="classic")))
    review = stand_in_review.judged(record, "casual")
    found = msgspec.json.decode(msgspec.json.encode(reviews.kept(review)))
    row = StoredReview(
        "aa", "ada", reviews.version_for("me"), "", 1, "", 1, "9", None, found["summary"]
    )
    state, summary = reviews.figures(row)
    assert state == "done"
    (moment,) = summary.moments
    assert [(each.direction, each.text, each.share) for each in moment.options] == [
        ("down", "75 %", 0.75),
        ("left", "25 %", 0.25),
    ]
    assert (moment.badge, moment.goal, summary.first) == ("Blunder \N{MINUS SIGN}50 %", 512, 0)
    assert moment.why == why_text(review.moves[0])
    assert set(moment.lines) == {"down", "left"}
    for line in moment.lines.values():
        assert len(line.turns) in range(1, 7)
    (habit,) = summary.habits
    assert habit.say.startswith("You leave the corner: once")


# Who gets which


def asked(browser: Browser, game: str) -> list[tuple[int, str | None]]:
    """Request and read a review through the API and the page; return the responses."""
    address = f"/api/games/{game}/review"
    posted = browser.post(address, {})
    found = [(answer.status, answer.json().get("reason"))
             for answer in (browser.get(address), posted)]  # fmt: skip
    return [*found, (browser.form(f"/game/{game}/review").status, None)]


@pytest.mark.parametrize("mode", ["ranked", "casual", "daily"])
async def test_a_game_in_progress_has_no_review(browser: Browser, mode: str) -> None:
    """Nobody can review a game in progress."""
    async with browser.socket() as socket:
        game = (await socket.new(mode=mode))["game"]
        await socket.move()
        answers = await asyncio.to_thread(asked, browser, game)
        assert answers == [(404, "unknown_game"), (404, "unknown_game"), (404, None)]
        assert 'id="review"' not in browser.get(f"/game/{game}").text


async def test_the_review_of_a_daily_game_is_its_players(browser: Browser, store: Store) -> None:
    """A daily game's review is open to its player at once, and to others two days later."""
    async with browser.socket() as socket:
        info = store.online.info((await socket.new())["game"])
        assert info
    today = datetime.now(UTC).date()
    game = add_game(store, mode="daily", day=today.isoformat(), owner=info.owner)
    other = Browser(browser.server)
    answers = await asyncio.to_thread(asked, other, game)
    assert answers == [(403, "sealed"), (403, "sealed"), (403, None)]
    assert other.form(f"/game/{game}/result").status == 403
    assert store.reviews.find(game) is None
    page = browser.get(f"/game/{game}").text
    assert "Review this game" in page
    assert "Play on from here" not in page
    assert "Your review" in browser.get("/daily").text
    past = (today - timedelta(days=2)).isoformat()
    game = add_game(store, 2, mode="daily", day=past, owner=info.owner)
    assert Browser(browser.server).get(f"/api/games/{game}/review").status == 200
    assert "Review this game" in browser.get(f"/game/{game}").text
    before = (today - timedelta(days=3)).isoformat()
    earlier = add_game(store, 3, mode="daily", day=before, owner=info.owner)
    days = {f"/daily?day={past}": game, f"/daily?day={before}": earlier}
    for path, shown in days.items():
        assert f'"/game/{shown}"' in browser.get(path).text, path


def test_a_game_that_is_no_servers_has_no_review(browser: Browser, store: Store) -> None:
    """Records of games from elsewhere cannot be read or reviewed."""
    add_record(store, "local", record="{}")
    for game in ("local", "nothing"):
        assert asked(browser, game)[0] == (404, "unknown_game")


def test_a_huge_game_is_not_reviewed(browser: Browser, store: Store) -> None:
    """Too long games are not reviewed, and the page and the API say why."""
    game = add_game(store, 3, plies=reviews.MAX_MOVES + 1)
    assert asked(browser, game) == [(200, None), (422, "length"), (422, None)]
    page = browser.get(f"/game/{game}").text
    assert "Games of more than 20,000 moves are not reviewed." in page
    assert "Review this game" not in page


async def test_a_server_may_do_without(tmp_path: Path) -> None:
    """If reviews are disabled, requests are rejected with a reason."""
    async with running(f"sqlite:///{tmp_path / 'store.sqlite3'}", reviews=0) as server:
        game = add_game(server.backend.rooms.games.store)
        with pytest.raises(ActionRejected) as rejected:
            await ask(server, game, "eve")
        assert rejected.value.reason == "off"
        answer = await server.backend.do(reviews.review_answer, game)
        assert server.backend.rooms.games.store.reviews.find(game) is None
    for plies in (3, reviews.MAX_MOVES + 1):
        shown = render_text(
            "_review.html", review=answer, game={"id": game, "plies": plies},
            reviews_games=False, max_moves=reviews.MAX_MOVES,
        )  # fmt: skip
        assert "Games are not reviewed on this server." in shown
        assert "moves are not reviewed" not in shown
        assert "<form" not in shown


def test_a_review_by_an_older_judge_is_computed_again(browser: Browser, store: Store) -> None:
    """Opening the page requests the review."""
    game = add_game(store, 5)
    row = {"game_id": game, "owner": "ada", "version": "3", "asked": "9", "attempts": 1,
           "done": 3, "finished": "9", "summary": {"accuracy": 5.0}, "moves": []}  # fmt: skip
    with store.write() as connection:
        connection.execute(sa.insert(review_rows), row)
    assert 'data-state="none"' not in browser.get(f"/game/{game}").text
    review = store.reviews.find(game)
    assert review.version == reviews.version_for("me")


# The process


def reviewed(browser: Browser, game: str) -> Json:
    """Request a review and return it when it is done or has failed."""
    address = f"/api/games/{game}/review"
    answer = browser.post(address, {})
    assert answer.status == 202
    settled = "done", "failed"
    processes.until(lambda: browser.get(address).json()["state"] in settled, 500)
    answer = browser.get(address)
    msgspec.json.decode(answer.body, type=schema.ReviewAnswer)
    return answer.json()


def test_a_game_is_reviewed(browser: Browser, store: Store) -> None:
    """The API and the page show what `py2048.review` says about each move."""
    game = add_game(store, 4)
    found = reviewed(browser, game)
    summary, moves = found["summary"], found["moves"]
    assert summary["exact"]
    assert len(moves) == summary["reviewed"] == found["total"] == sum(summary["counts"].values())
    for move in moves:
        is_best = move["grade"] == "best"
        assert (move["loss"] == 0) == (move["played"] == move["best"])
        assert is_best or move["loss"] > 0
    record = Record.from_json(store.records.load(game))
    boards = [record.start, *(board for board, _, _ in record.replay())]
    for moment in summary["moments"]:
        board = boards[moment["turn"]]
        assert moment["board"] == [list(row) for row in board.rows]
        assert set(moment["values"]) == {str(each) for each in board.legal_directions()}
    page = browser.get(f"/game/{game}").text
    assert f"{summary['accuracy']:.1f} %" in page
    assert '<svg class="review-graph"' in page
    assert page.count('class="verdict"') == len(summary["moments"]) > 0
    assert browser.get(f"/api/games/{game}/review?from=1&limit=2").json()["moves"] == moves[1:3]
    assert reviewed(browser, game) == found
    review = store.reviews.find(game)
    assert review.attempts == 1
