"""The bytes and requests of a visit."""

from __future__ import annotations

import re

import pytest
from far_away import far_away
from tests.server.browser.visiting import Player, arriving

from py2048.core.language import LANGUAGES

FIRST_VISIT = 60_000
"""Maximum bytes on the wire until a first visitor can play, headers included."""

LATER = ("computer", "dialogs", "help", "install", "later", "result")
"""The modules and styles that the first move does not need."""

NO_LONG_TIMERS = """(() => {
    const begin = setTimeout;
    globalThis.setTimeout = (act, ms, ...more) => (ms < 3000 ? begin(act, ms, ...more) : 0);
})()"""
"""Keeps a page that loads slowly from loading the rest before the first move."""


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
    assert set(LATER) <= {url.rpartition("/")[2].partition(".")[0] for url in urls}


@pytest.mark.parametrize("locale", LANGUAGES)
async def test_a_first_and_a_second_visit(browser, server, locale):
    """The first visit fits the limit; the second fetches only the page and the day's cards.

    The first move loads the rest of the page, which the service worker keeps.
    """
    async with arriving(browser) as arrive:
        with far_away(server.port) as way:
            player = await arrive(way.url, service_workers="allow", locale=locale)
            await player.page.add_init_script(NO_LONG_TIMERS)
            await player.visit()
            await player.page.wait_for_load_state("networkidle")
            assert 10_000 < way.brought <= FIRST_VISIT
            await player.press("ArrowDown", "ArrowLeft")
            await kept(player)
            first = len(way.asked)
            again = Player(await player.page.context.new_page(), way.url)
            async with again.page.expect_request("**/today*"):
                await again.visit()
                await again.press("ArrowDown", "ArrowLeft")
            await again.settle()
            await again.page.wait_for_load_state("networkidle")
            asked = [re.split(r"[ ?]", each)[1] for each in way.asked[first:]]
            assert asked == ["/", "/ws", "/today"]
            assert again.faults == []


async def test_a_part_that_failed_to_load_is_tried_again(guest):
    """Help that fails to load says so, and loads with the next move."""
    await guest.page.route("**/js/help.js", lambda route: route.abort())
    await guest.deal()
    await guest.press("?")
    await guest.status("Cannot reach the server; retrying.")
    await guest.page.unroute("**/js/help.js")
    await guest.press("ArrowDown", "ArrowLeft")
    await guest.settle()
    await guest.ask()
    guest.faults.clear()  # what the browser says of the part that failed
