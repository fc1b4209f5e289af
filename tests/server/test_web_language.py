"""Pages and sockets use the reader's language."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from inside import add_game, running
from tests import pseudo
from web_server import Browser

from py2048.server import workers
from py2048.server.settings import ServerSettings

PORTUGUESE = "pt-PT,pt;q=0.9,en;q=0.5"


def test_a_page_is_in_the_browsers_language(browser: Browser) -> None:
    """A page declares its language and passes translations to its scripts."""
    english, ours = browser.get("/about"), browser.get("/about", Accept_Language=PORTUGUESE)
    assert '<html lang="en">' in english.text
    assert "messages-" not in english.text
    assert '<html lang="pt">' in ours.text
    assert "js/messages-pt.js" in ours.text
    assert (english.headers["content-language"], ours.headers["content-language"]) == ("en", "pt")


def test_a_language_is_chosen_at_the_foot_of_a_page(browser: Browser) -> None:
    """A chosen language is stored in a cookie and overrides the browser's."""
    asking = replace(browser, headers={"Referer": f"{browser.server.url}/daily?day=2026-01-01"})
    answer = asking.form("/language", language="pt")
    assert (answer.status, answer.headers["location"]) == (303, "/daily?day=2026-01-01")
    assert '<html lang="pt">' in asking.get("/about", Accept_Language="en").text
    assert asking.form("/language", language="tlh").status == 400


def test_a_choice_leads_nowhere_else(browser: Browser) -> None:
    """The language form redirects to pages of this server only."""
    for address in (
        "http://evil.example//evil.example/x",
        "//evil.example",
        "javascript:alert(1)",
        "",
    ):
        asking = replace(browser, headers={"Referer": address})
        target = asking.form("/language", language="en").headers["location"]
        assert target.startswith("/")
        assert not target.startswith("//")


SKIPPED = "script", "style", "code", "kbd", "title"


class _Reader(HTMLParser):
    """Collects the visible text of a page and its labels."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in SKIPPED:
            self._open.append(tag)
        shown = ("aria-label", "title", "placeholder", "alt", "data-summary")
        self.said += [value or "" for name, value in attributes if name in shown]

    def handle_endtag(self, tag: str) -> None:
        if tag in SKIPPED:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not self._open:
            self.said.append(data)


async def test_no_text_of_a_page_is_left_out(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pseudo-language, no page has an untranslated English word except names."""
    monkeypatch.setattr(workers.Worker, "run", lambda _worker, *call: workers.timed(*call))
    left: list[tuple[str, str]] = []
    with pseudo.spoken(tmp_path, monkeypatch):
        async with running(sqlite_url, players=ServerSettings.players) as server:
            game = add_game(server.backend.rooms.games.store, rules="classic:size=2x2")
            us = httpx.AsyncClient(
                transport=httpx.ASGITransport(server.asgi()),
                base_url="http://test",
                headers={"accept-language": pseudo.CODE},
            )
            for path in (
                *("/", "/about", "/daily", "/puzzle", "/puzzle?answer=left", "/leaderboards"),
                *("/live", "/battle", "/account", "/nowhere"),
                *(f"/game/{game}", f"/game/{game}/share"),
            ):
                page = await us.get(path)
                reader = _Reader()
                reader.feed(page.text)
                left += [(path, each) for each in reader.said if pseudo.left_out(each, "ada")]
            await us.aclose()
    assert not left, "\n".join(map(str, left))
