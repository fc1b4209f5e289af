"""The bytes and requests of a visit."""

from __future__ import annotations

import gzip
import re

from far_away import far_away
from tests.server.browser.visiting import Player, arriving

from py2048.server.site.pages import DIGITS

FIRST_VISIT = 60_000
"""Maximum bytes on the wire until a first visitor can play, headers included."""

FONT = len(gzip.compress(DIGITS.read_bytes()))
"""Size of the digits' font, which does not count."""


LATER = ("computer", "dialogs", "help", "install", "result")
"""The modules that the first move does not need."""


async def kept(player):
    """Wait until the service worker has cached the page."""
    await player.until("async () => Boolean(await caches.match('/'))")
    urls = await player.page.evaluate(
        """async () => {
             const [name] = await caches.keys();
             const files = await (await caches.open(name)).keys();
             return files.map(({ url }) => url);
           }"""
    )
    assert set(LATER) <= {url.rpartition("/")[2].removesuffix(".js") for url in urls}


async def test_a_first_and_a_second_visit(browser, server):
    """The first visit fits the limit; the second fetches only the page and the day's cards.

    The first move loads the rest of the page, which the service worker keeps.
    """
    async with arriving(browser) as arrive:
        with far_away(server.port) as way:
            player = await arrive(way.url, service_workers="allow")
            await player.visit()
            await player.page.wait_for_load_state("networkidle")
            assert 10_000 < way.brought - FONT <= FIRST_VISIT
            await player.press("ArrowDown", "ArrowLeft")
            await kept(player)
            first = len(way.asked)
            again = Player(await player.page.context.new_page(), way.url)
            await again.visit()
            await again.press("ArrowDown", "ArrowLeft")
            await again.settle()
            await again.page.wait_for_load_state("networkidle")
            asked = [re.split(r"[ ?]", each)[1] for each in way.asked[first:]]
            assert asked == ["/", "/ws", "/today"]
            assert again.faults == []


async def test_every_file_of_a_page_names_its_version(browser, server):
    """Every file that a page loads has a versioned address, cached for ever."""
    async with arriving(browser) as arrive:
        player = await arrive(server.url)
        kept: dict[str, str] = {}
        player.page.on("response", lambda it: kept.update({it.url: it.headers["cache-control"]}))
        await player.visit()
        files = {url: control for url, control in kept.items() if "/static/" in url}
        assert len(files) > 15
        assert all(re.search(r"/static/[0-9a-f]{12}/", url) for url in files), files
        assert set(files.values()) == {"public, max-age=31536000, immutable"}


async def test_a_part_that_failed_to_load_is_tried_again(guest):
    """Help that fails to load says so, and loads with the next move."""
    await guest.page.route("**/js/help.js", lambda route: route.abort())
    await guest.deal()
    await guest.press("?")
    await guest.status("The server is away; trying again.")
    await guest.page.unroute("**/js/help.js")
    await guest.press("ArrowDown", "ArrowLeft")
    await guest.settle()
    await guest.ask()
    guest.faults.clear()  # what the browser says of the part that failed
