"""The pages without a server, opened from a disk or installed: games, hints, reviews, puzzles."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect
from tests.server.browser.test_browser_offline import check_installable
from tests.server.browser.visiting import Arrive, Player, arriving

from py2048 import Game, get_rules
from py2048.app.session.notebook import PuzzleBook
from py2048.app.storage import open_store
from py2048.core.board import Board
from py2048.review.puzzles import daily_puzzle

MINUS = "\N{MINUS SIGN}"
MAKE_SITE = Path(__file__).parents[3] / "scripts" / "make_site.py"
DRAWS = """crypto.getRandomValues = function (words) {
    for (let i = 0; i < words.length; i++) {
        globalThis.drawn = (Math.imul(globalThis.drawn ?? 2, 1664525) + 1013904223) >>> 0;
        words[i] = globalThis.drawn;
    }
    return words;
}"""
"""Replaces the browser's random numbers by a fixed sequence."""
QUICK_REVIEW = """(() => {
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (message, ...more) {
        return post.call(this, { budget: 400_000, ...message }, ...more);
    };
})()"""
"""Plays fewer games in a review, which would otherwise take most of a minute."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of the page on the disk."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, MAKE_SITE, folder], check=True)
    return folder.as_uri()


async def opened(
    arrive: Arrive, site: str, size: str = "desktop", page: str = "/index.html"
) -> Player:
    """Open the page from the disk."""
    player = await arrive(site, size)
    await player.page.add_init_script(DRAWS)
    await player.visit(page)
    await player.page.wait_for_selector(".tile")
    return player


async def game_of(player: Player) -> dict[str, Any]:
    """Return the game as the page has it."""
    found: dict[str, Any] = await player.page.evaluate("window.py2048.game")
    return found


async def test_a_game_is_played_from_a_disk(browser, site):
    """Keys, undo and redo work; the game survives a reload, and it ends."""
    async with arriving(browser) as arrive:
        player = await opened(arrive, site, "phone")
        boards = [await player.board()]
        for _ in range(6):
            direction = (await game_of(player))["legal"][0]
            await player.press(f"Arrow{direction.title()}")
            boards.append((await game_of(player))["board"])
        assert len({str(board) for board in boards}) == 7
        await player.settle()
        assert await player.board() == await player.cells() == boards[-1]
        await player.press("u", "u", "r")
        await player.settle()
        assert await player.board() == boards[-2]
        await player.said("Undone: ")
        await player.page.reload()
        await player.page.wait_for_selector(".tile")
        assert await player.board() == boards[-2]
        assert (await game_of(player))["ply"] == 5
        await player.page.evaluate(
            "while (py2048.game.outcome === 'playing') py2048.move(py2048.game.legal[0])"
        )
        await expect(player.page.locator("dialog.result h2")).to_contain_text(
            "A first score to beat."
        )
        await player.page.click("dialog.result >> text=Undo the last move")
        assert (await game_of(player))["outcome"] == "playing"
        await player.press("n")
        await player.status("")
        await player.page.click("#new-play")
        assert (await game_of(player))["ply"] == 0


async def test_other_rules_are_played_too(browser, site):
    """The courses' rules can be played; without a network for them, a hint says so."""
    async with arriving(browser) as arrive:
        player = await opened(arrive, site)
        await player.press("m")
        await player.page.select_option("#rules", "courses")
        await player.page.select_option("#course", "cits1401")
        await player.page.click("#new-play")
        assert (await game_of(player))["rules"]["name"] == "cits1401"
        assert len(await player.board()) == get_rules("cits1401").rows
        await player.press("?")
        await player.status("There are no hints on this board.")


async def test_a_hint_counts_games(browser, site):
    """A hint gives each move's chance; the page answers keys while the games are played."""
    async with arriving(browser) as arrive:
        player = await opened(arrive, site)
        await player.press("?")
        await player.page.wait_for_selector("#board[data-best]")
        await player.press("u")  # the page listens
        board = Board.from_rows((await game_of(player))["board"])
        rows = await player.page.locator("#losses li").all_inner_texts()
        assert len(rows) == len(board.legal_directions())
        chances = [int(row.split()[-2]) for row in rows]
        assert chances == sorted(chances, reverse=True)
        await expect(player.page.locator("#outlook")).to_contain_text("From 200 games simulated")


async def test_a_finished_game_is_reviewed(browser, site):
    """The page itself reviews a game for a level, shows lines, drills, and plays on."""
    async with arriving(browser) as arrive:
        player = await opened(arrive, site)
        await player.page.add_init_script(QUICK_REVIEW)
        await player.press("m")
        await player.page.select_option("#rules", "2x4")
        await player.page.click("#new-play")
        await player.page.evaluate(
            "while (py2048.game.outcome === 'playing') py2048.move(py2048.game.legal.at(-1))"
        )
        await player.page.click("dialog.result >> text=Review")
        level = player.page.locator("#level select")
        await expect(level).to_have_value("practised", timeout=240_000)
        await expect(player.page.locator(".measured")).to_contain_text("From fewer games")
        await player.page.click("#show-me")
        await player.page.wait_for_selector("#headline:has-text('After ')")
        await player.page.click("#habits .drill")
        await player.page.wait_for_selector("#tries:visible")
        await player.page.click("#critical summary")
        await player.page.locator(".mistakes [aria-current] .show").click()
        await player.page.click("#play-on")
        await player.page.wait_for_url("**/index.html")
        assert (await game_of(player))["category"] == "position"
        await player.page.evaluate("py2048.do('more')")
        await player.page.select_option("#level-choice", "expert")
        assert await player.page.evaluate("localStorage.getItem('py2048.level')") == "expert"


async def test_the_computer_makes_2048_before_the_visitors_eyes(browser, site):
    """Autoplay starts with one button and stops at 2048; any move goes on."""
    async with arriving(browser) as arrive:
        player = await opened(arrive, site)
        await player.press("x", "+", "+", "+", "+")
        await player.page.click("aside [data-do=auto]")
        await expect(player.page.locator("dialog.result h2")).to_have_text(
            "2048 reached", timeout=500_000
        )
        assert max(max(row) for row in await player.board()) == 2048
        await player.page.click("dialog.result >> text=Keep playing")
        ply = (await game_of(player))["ply"]
        await player.press(f"Arrow{(await game_of(player))['legal'][0].title()}")
        assert (await game_of(player))["ply"] == ply + 1
        await player.page.evaluate("window.py2048.do('auto')")
        await player.page.wait_for_function("ply => window.py2048.game.ply > ply + 5", arg=ply)
        await player.press("u")
        await player.settle()
        await expect(player.page.locator("#stop")).to_be_hidden()


async def test_the_date_determines_the_tiles_of_the_daily_game(browser, site):
    """`py2048 play --seed` has the same tiles. The casual game waits, and help is refused."""
    async with arriving(browser) as arrive:
        player = await opened(arrive, site)
        await player.press("ArrowLeft", "ArrowDown", "ArrowRight")
        casual = await game_of(player)
        await player.page.click("text=Play today's board")
        await player.reads("mode", "daily")
        day = str(datetime.now(UTC).date())
        game = Game(get_rules("classic"), seed=int(day.replace("-", "")))
        for turn in range(40):
            assert await player.page.evaluate("py2048.game.board") == list(
                map(list, game.board.rows)
            )
            game.play(direction := game.legal_directions()[turn % len(game.legal_directions())])
            await player.press(f"Arrow{str(direction).title()}")
        await player.press("u")
        await player.status("need a casual game")
        await player.page.click("nav >> text=Play")
        await player.page.wait_for_function("window.py2048?.game?.mode === 'casual'")
        assert (await game_of(player))["board"] == casual["board"]
        await player.press("g")
        await player.page.click("#games-list button")
        assert (await game_of(player))["score"] == game.score
        await player.page.evaluate(
            "while (py2048.game.outcome === 'playing') py2048.move(py2048.game.legal[0])"
        )
        score = (await game_of(player))["score"]
        await player.page.reload()
        await expect(player.page.locator("#result-title")).to_contain_text(f"{score:,} points")
        await expect(player.page.locator("#today")).to_contain_text(f"You made {score:,} today")


async def test_puzzles_are_judged_as_by_a_server(browser, site, tmp_path):
    """The package has the same puzzles, the same values of moves, and the same ratings."""
    async with arriving(browser) as arrive:
        player = await arrive(site)
        await player.visit("/puzzle.html")
        with open_store(tmp_path / "puzzles.sqlite3") as store:
            book, puzzle = PuzzleBook(store), daily_puzzle(datetime.now(UTC).date())
            for place in (0, -1, -1, 0):
                await player.page.wait_for_selector("#puzzle")
                tiles = await player.page.locator(".mini span").all_text_contents()
                shown = [tile for row in puzzle.board.rows for tile in row]
                assert [int(tile or 0) for tile in tiles] == shown
                best, *others = puzzle.values
                book.answer(puzzle, chosen := [best, *others][place])
                await player.press(f"Arrow{str(chosen).title()}")
                await player.reads("verdict", f"{best} is best.")
                now, before = (each.rating for each in book.ratings)
                change = f"{now - before:+.0f}".replace("-", MINUS)
                assert f"Your rating: {now:,.0f} ({change})." in await player.text("#answer")
                shown = await player.page.locator(".options .number").all_inner_texts()
                shares = [100 * puzzle.graded(each).share for each in others]
                assert shown == ["best", *(f"{MINUS}{share:.1f} %" for share in shares)]
                await player.press("Enter")
                puzzle = book.next()
                await player.page.wait_for_url(f"**/puzzle.html?id={puzzle.id}")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the pages at a path of their own; yield their address."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{folder.name}"
        server.shutdown()


async def test_the_pages_are_installed_and_work_offline(browser, site):
    """They are installed in each language. After one visit, all of them work offline."""
    async with arriving(browser) as arrive:
        with served(Path(urlsplit(site).path)) as url:
            player = await arrive(url, service_workers="allow")
            await player.visit("/puzzles.js")
            await player.page.evaluate("caches.open('py2048-of-an-older-version')")
            for page in ("/pt.html", "/index.html"):
                await player.visit(page)
                await check_installable(player, page)
            await player.page.evaluate("navigator.serviceWorker.ready.then(() => null)")
            await player.until("async () => (await caches.keys()).length === 1")
        await player.visit("/")
        await player.page.click("footer >> text=Português")
        await player.page.wait_for_url("**/pt.html")
        await player.page.wait_for_selector(".tile")
        await player.press("?")
        await player.page.wait_for_selector("#board[data-best]")
        assert "de 100 jogos como o seu" in await player.text("#reason")
        await player.page.click("nav >> text=Desafios")
        await player.page.click("#puzzle button:enabled >> nth=0")
        await player.reads("verdict", "melhor")
