"""Accounts: guests, names, passwords, sessions, the export and the end."""

from __future__ import annotations

import asyncio

import pytest
from web_server import Browser, WebServer

PASSWORD = "correct horse battery"


def claimed(server: WebServer, name: str, password: str = PASSWORD) -> Browser:
    """Return a browser whose guest has taken a name."""
    browser = Browser(server)
    answer = browser.form("/account/claim", name=name, password=password)
    assert answer.status == 303, answer.text
    return browser


def test_a_guest_takes_a_name(web_server: WebServer) -> None:
    """The name stands on the page from then on, and others find it however it is written."""
    browser = claimed(web_server, "Ada Lovelace")
    assert "<h1>Ada Lovelace</h1>" in browser.get("/account").text
    assert Browser(web_server).get("/player/ada%20lovelace").status == 200


def test_a_name_belongs_to_one(web_server: WebServer) -> None:
    """A name that looks the same is taken, in other letters too."""
    claimed(web_server, "Grace")
    answer = Browser(web_server).form("/account/claim", name="GRACE", password=PASSWORD)
    assert answer.status == 403
    assert "taken" in answer.text


@pytest.mark.parametrize("name", ["", "x", "a" * 25, "<b>", "guest 1", "a\0b", "...", "a/b"])
def test_bad_names_are_refused(browser: Browser, name: str) -> None:
    """A name must be readable, short, and not a guest's."""
    answer = browser.form("/account/claim", name=name, password=PASSWORD)
    assert answer.status == 400
    assert "Name" in answer.text or "name" in answer.text


@pytest.mark.parametrize("password", ["", "short", "x" * 129])
def test_bad_passwords_are_refused(browser: Browser, password: str) -> None:
    """A password has 8 to 128 characters."""
    answer = browser.form("/account/claim", name="Margaret", password=password)
    assert answer.status == 400


def test_log_in_from_another_browser(web_server: WebServer) -> None:
    """Name and password are the account; a wrong one is not, and does not say which is wrong."""
    claimed(web_server, "Katherine")
    other = Browser(web_server)
    wrong = other.form("/account/login", name="Katherine", password="wrong wrong")
    nobody = other.form("/account/login", name="Nobody at all", password=PASSWORD)
    assert (wrong.status, nobody.status) == (403, 403)
    message = "The name or the password is wrong."
    assert message in wrong.text
    assert message in nobody.text
    assert other.form("/account/login", name="katherine", password=PASSWORD).status == 303
    assert "<h1>Katherine</h1>" in other.get("/account").text


def test_guessing_passwords_is_slow(web_server: WebServer) -> None:
    """After a few attempts on one name further ones are not even tried."""
    claimed(web_server, "Dorothy")
    statuses = [
        Browser(web_server).form("/account/login", name="Dorothy", password=f"guess {n}").status
        for n in range(12)
    ]
    assert statuses[0] == 403
    assert statuses[-1] == 429


def test_a_new_password_ends_other_sessions(web_server: WebServer) -> None:
    """Whoever was logged in elsewhere is a stranger after the password changed."""
    here = claimed(web_server, "Mary")
    there = Browser(web_server, cookie=here.cookie)
    refused = here.form("/account/password", password="wrong wrong", new_password="another one")
    assert refused.status == 403
    done = here.form("/account/password", password=PASSWORD, new_password="another one")
    assert done.status == 303
    assert "<h1>Mary</h1>" in here.get("/account").text
    assert "<h1>Mary</h1>" not in there.get("/account").text


def test_log_out(web_server: WebServer) -> None:
    """After logging out the browser is a new guest."""
    browser = claimed(web_server, "Hedy")
    assert browser.form("/account/logout").status == 303
    assert "<h1>Hedy</h1>" not in browser.get("/account").text


async def test_the_export_holds_everything_but_secrets(web_server: WebServer) -> None:
    """All games and turns are in it; the password's hash and a running game's secret are not."""
    browser = await asyncio.to_thread(claimed, web_server, "Radia")
    async with browser.socket() as socket:
        state = await socket.new(mode="ranked")
        await socket.move()
    exported = browser.get("/account/export").json()
    assert exported["account"]["name"] == "Radia"
    assert [game["id"] for game in exported["games"]] == [state["game"]]
    assert len(exported["turns"]) == 1
    (round_,) = exported["rounds"]
    assert round_["secret"] == state["commitment"]
    assert "argon2" not in str(exported)


async def test_a_deleted_account_is_gone(web_server: WebServer) -> None:
    """With the account go its games, its records and its place on the leaderboard."""
    browser = await asyncio.to_thread(claimed, web_server, "Ephemeral")
    async with browser.socket() as socket:
        game = (await socket.new("2x4", "ranked"))["game"]
        await socket.play_out()
        for _ in range(100):
            if browser.get(f"/game/{game}/record").status == 200:
                break
            await asyncio.sleep(0.05)
        assert "Ephemeral" in browser.get("/leaderboards?rules=2x4").text
        assert browser.form("/account/delete", password="wrong wrong").status == 403
        assert browser.form("/account/delete", password=PASSWORD).status == 303
        assert await socket.closed() == 1008
    assert browser.get(f"/game/{game}").status == 404
    assert browser.get("/player/Ephemeral").status == 404
    assert "Ephemeral" not in browser.get("/leaderboards?rules=2x4").text


async def test_a_guests_games_come_along(web_server: WebServer) -> None:
    """Games played as a guest belong to the name that the guest takes."""
    browser = Browser(web_server)
    async with browser.socket() as socket:
        game = (await socket.new())["game"]
        await socket.move()
    assert browser.form("/account/claim", name="Once a visitor", password=PASSWORD).status == 303
    async with browser.socket() as socket:
        assert socket.hello["me"] == {"name": "Once a visitor", "is_guest": False}
        assert socket.hello["current"] == game
