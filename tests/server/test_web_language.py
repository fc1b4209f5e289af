"""Pages and sockets speak the language of who reads them."""

from __future__ import annotations

from dataclasses import replace

from web_server import Browser

PORTUGUESE = "pt-PT,pt;q=0.9,en;q=0.5"


def test_a_page_is_in_the_browsers_language(browser: Browser) -> None:
    """A page says which language it is in, and brings its scripts the texts of that language."""
    english, ours = browser.get("/about"), browser.get("/about", Accept_Language=PORTUGUESE)
    assert '<html lang="en">' in english.text
    assert "messages-" not in english.text
    assert '<html lang="pt">' in ours.text
    assert "js/messages-pt.js" in ours.text
    assert (english.headers["content-language"], ours.headers["content-language"]) == ("en", "pt")


def test_a_language_is_chosen_at_the_foot_of_a_page(browser: Browser) -> None:
    """The choice goes back to the page, is kept in the browser, and outdoes what it asks for."""
    asking = replace(browser, headers={"Referer": f"{browser.server.url}/daily?day=2026-01-01"})
    answer = asking.form("/language", language="pt")
    assert (answer.status, answer.headers["location"]) == (303, "/daily?day=2026-01-01")
    assert '<html lang="pt">' in asking.get("/about", Accept_Language="en").text
    assert asking.form("/language", language="tlh").status == 400


def test_a_choice_leads_nowhere_else(browser: Browser) -> None:
    """Only this server's own pages are gone back to, whatever address is said to ask."""
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
