"""Accounts: guests, names, passwords, sessions, export and deletion."""

from __future__ import annotations

import asyncio
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from inside import until_shown
from itsdangerous import TimestampSigner
from starlette.exceptions import HTTPException
from web_server import GENEROUS, PASSWORD, Browser, Socket, WebServer, claimed, elsewhere, serving
from websockets.asyncio.client import connect

from py2048.core.language import use_language
from py2048.server.settings import find_key
from py2048.server.site.accounts import CODES, check_password, checked_name, code_hash, new_codes
from py2048.server.site.auth import Cookies, browser_name


def test_a_guest_takes_a_name(web_server: WebServer) -> None:
    """A claimed name is shown on the page and found in any spelling."""
    browser = claimed(web_server, "Ada Lovelace")
    assert "<h1>Ada Lovelace</h1>" in browser.get("/account").text
    assert Browser(web_server).get("/player/ada%20lovelace").status == 200


def aged(browser: Browser, days: int, monkeypatch: pytest.MonkeyPatch) -> Browser:
    """Return a browser with the same cookie, signed that many days ago."""
    cookies = Cookies(find_key(browser.server.home), secure=False)
    found = cookies.read(browser.cookie)
    with monkeypatch.context() as patch:
        now = int(time.time())
        patch.setattr(TimestampSigner, "get_timestamp", lambda _: now - days * 86400)
        old = cookies.write(*found[:2])
    return Browser(browser.server, cookie=old.partition(";")[0], address=browser.address)


@pytest.mark.parametrize("name", [None, "Methuselah"])
def test_a_cookie_in_use_never_ends(
    web_server: WebServer, name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cookies of guests and sessions are renewed after a month of use."""
    browser = claimed(web_server, name) if name else Browser(web_server)
    browser.get("/")
    assert "Set-Cookie" not in aged(browser, 29, monkeypatch).get("/").headers
    old = aged(browser, 399, monkeypatch)
    heading = re.search("<h1>.*</h1>", browser.get("/account").text)
    before, page = old.cookie, old.get("/account")
    assert heading[0] in page.text
    assert "Max-Age" in page.headers["Set-Cookie"]
    assert old.cookie != before
    assert "Set-Cookie" not in old.get("/account").headers
    assert heading[0] not in aged(browser, 401, monkeypatch).get("/account").text


@pytest.mark.parametrize("password", [PASSWORD, "quite another one"])
def test_a_claim_tries_no_password(web_server: WebServer, password: str) -> None:
    """Claiming a name cannot be used to test passwords or to get recovery codes."""
    browser = claimed(web_server, f"Tweedle {password[:5]}")
    answer = browser.form("/account/claim", name=f"Tweedle {password[:5]}", password=password)
    assert answer.status == 403
    assert "already has a name" in answer.text


@pytest.mark.parametrize("password", ["", "short", "x" * 129])
def test_bad_passwords_are_refused(browser: Browser, password: str) -> None:
    """A password must have 8 to 128 characters."""
    answer = browser.form("/account/claim", name="Margaret", password=password)
    assert answer.status == 400


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("password", "top-10 common"), ("Password1!", "similar to a commonly used"),
        ("p4ssw0rd", "similar to a commonly used"), ("qwertyuiop", "common"),
        ("87654321", "common"), ("aaaaaaaa", 'Repeats like "aaa"'), ("asdfghjkl", "common"),
        ("abababab", "Repeats"), ("19991231", "dates"), ("iloveyou", "common"),
        ("lovehate", "words"), ("Margaret", "name"), ("margaret1", "name of the account"),
        ("py2048py2048", "of the game"), ("py2048!!", "of the game"), ("p@ssw0rd" * 16, "Repeats"),
    ],
)  # fmt: skip
def test_passwords_that_are_guessed_are_refused_with_the_reason(password: str, why: str) -> None:
    """Common words, keyboard rows, dates and the account's name are rejected with a reason."""
    with pytest.raises(HTTPException, match=rf"easy to guess\. .*{why}.*\.$"):
        check_password(password, "Margaret H")


def test_what_makes_a_password_weak_is_said_in_the_readers_language() -> None:
    """Feedback on passwords is translated, including that of zxcvbn."""
    with use_language("pt"), pytest.raises(HTTPException, match="10 senhas mais comuns"):
        check_password("PASSWORD", "Margaret")


@pytest.mark.parametrize("password", [PASSWORD, "hunter2-hunter2", "zR8#kq0!", "margaret's cat"])
def test_other_passwords_are_taken(password: str) -> None:
    """Passphrases and random passwords are accepted."""
    check_password(password, "Margaret")


def test_the_names_of_others_are_forgotten() -> None:
    """One account's name does not affect the strength of another account's password."""
    with pytest.raises(HTTPException):
        check_password("Xylophagous1", "Xylophagous")
    check_password("Xylophagous1", "Margaret")


def test_a_refused_form_keeps_the_name(browser: Browser) -> None:
    """A rejected form keeps the typed name but never shows the password."""
    page = browser.form("/account/claim", name='Ada "L', password="password1").text
    assert 'name="name" value="Ada &#34;L"' in page
    assert "password1" not in page


@pytest.mark.parametrize("name", ["Guest 1", "g.uest A1B2", "GUEST", "g u e s t"])
def test_a_player_is_not_taken_for_a_guest(name: str) -> None:
    """Names that look like a guest's name are rejected, also with separators."""
    with pytest.raises(HTTPException, match="are reserved for guests"):
        checked_name(name)
    assert checked_name("Questor")


@pytest.mark.parametrize("name", ["\u0430dmin", "J\u00f6rg", "a", "- _.", "x" * 25, "a\tb\x00"])
def test_a_name_is_of_letters_that_everybody_can_tell_apart(name: str) -> None:
    """Only ASCII letters are accepted, which excludes lookalikes."""
    with pytest.raises(HTTPException, match="A name has"):
        checked_name(name)


def test_log_in_from_another_browser(web_server: WebServer) -> None:
    """Name and password log in anywhere; an error does not say which of them was wrong."""
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


def guess(browser: Browser, name: str) -> int:
    """Try wrong passwords until the rate limit; return the number of attempts."""
    for number in range(12):
        spelt = name[:number] + " " + name[number:]  # the same name
        answer = browser.form("/account/login", name=spelt, password=f"guess {number}")
        if answer.status == 429:
            return number
        assert answer.status == 403
    raise AssertionError("guessing is never stopped")


def from_elsewhere(server: WebServer, address: str, cookie: str = "") -> Browser:
    """Return a browser behind the server's trusted proxy."""
    return Browser(server, cookie=cookie, headers={"X-Forwarded-For": address})


def test_guessing_locks_nobody_out_but_who_guesses(tmp_path: Path) -> None:
    """Wrong passwords block the guessing address, but not the owner.

    The owner can log in from any other address, and from the same address with a browser that was
    logged in before.
    """
    with serving(tmp_path / "guessed", *GENEROUS, "--trusted-proxies", "127.0.0.1") as server:
        owner = claimed(server, "Dorothy")
        assert owner.form("/account/logout").status == 303
        right = {"name": "Dorothy", "password": PASSWORD}
        attacker, other = (from_elsewhere(server, "198.51.100.7") for _ in range(2))
        assert other.form("/account/claim", name="Eve", password=PASSWORD).status == 200
        assert guess(attacker, "Dorothy") == 5
        # Nor does a browser help that was logged in as somebody else.
        for stranger in (attacker, other):
            assert stranger.form("/account/login", **right).status == 429
        for address, cookie in (("203.0.113.5", ""), ("198.51.100.7", owner.cookie)):
            own = from_elsewhere(server, address, cookie)
            assert own.form("/account/login", **right).status == 303
            assert "<h1>Dorothy</h1>" in own.get("/account").text


def test_a_flood_of_logins_leaves_room_for_known_browsers(web_server: WebServer) -> None:
    """A flood of logins does not delay browsers in which the account has logged in before."""
    owner = claimed(web_server, "Flooded")
    names = [f"nobody {number}" for number in range(16)]
    strangers = [Browser(web_server, address=elsewhere()) for _ in names]

    def is_let_in_early() -> bool:
        with ThreadPoolExecutor(16) as pool:
            flood = [
                pool.submit(stranger.form, "/account/login", name=name, password=PASSWORD)
                for stranger, name in zip(strangers, names, strict=True)
            ]
            known = owner.form("/account/login", name="Flooded", password=PASSWORD)
            is_early = not all(each.done() for each in flood)
            statuses = {each.result().status for each in flood}
        assert known.status == 303
        assert statuses == {403}
        return is_early

    assert any(is_let_in_early() for _ in range(5))  # a busy machine may send the known one last


def is_in(browser: Browser, name: str) -> bool:
    return f"<h1>{name}</h1>" in browser.get("/account").text


@pytest.mark.parametrize(
    ("form", "fields", "is_here", "is_there"),
    [
        ("logout", {}, False, True),
        ("everywhere", {}, False, False),
        ("password", {"password": PASSWORD, "new_password": "quite another"}, True, False),
        ("password", {"password": "wrong wrong", "new_password": "quite another"}, True, True),
    ],
)
def test_which_sessions_end(
    browser: Browser, form: str, fields: dict[str, str], is_here: bool, is_there: bool
) -> None:
    """Logging out ends all copies of a session; a new password ends all other sessions."""
    name = f"{form} {is_there}"
    here = claimed(browser.server, name)
    copy, there = Browser(browser.server, cookie=here.cookie), browser
    assert there.form("/account/login", name=name, password=PASSWORD).status == 303
    assert is_in(copy, name)
    assert is_in(there, name)
    done = here.form(f"/account/{form}", **fields)
    is_refused = is_here and is_there
    assert done.status == (403 if is_refused else 303)
    assert [is_in(each, name) for each in (here, copy, there)] == [is_here, is_refused, is_there]


async def test_a_guest_who_logs_out_is_gone(web_server: WebServer) -> None:
    """A copy of a guest's cookie is invalid after logging out."""
    browser = Browser(web_server)
    async with browser.socket() as socket:
        await socket.new()
        copy = Browser(web_server, cookie=browser.cookie)
        assert "Play on" in copy.get("/account").text
        assert (await asyncio.to_thread(browser.form, "/account/logout")).status == 303
        assert await socket.closed() == 1008
    assert "Play on" not in copy.get("/account").text


async def test_a_cookie_from_before_the_name_is_worth_nothing(web_server: WebServer) -> None:
    """A guest's cookie and WebSocket are invalid once the guest has claimed a name."""
    browser = Browser(web_server)
    async with browser.socket() as socket:
        await socket.new()
        planted, again = (Browser(web_server, cookie=browser.cookie) for _ in range(2))
        answer = await asyncio.to_thread(
            browser.form, "/account/claim", name="Planted on", password=PASSWORD
        )
        assert answer.status == 200
        assert await socket.closed() == 1008
    assert is_in(browser, "Planted on")
    assert not is_in(planted, "Planted on")
    assert "Play on" not in planted.get("/account").text
    assert await closed_at_once(again) == 1008


async def closed_at_once(browser: Browser) -> int:
    """Return the close code of a WebSocket that is closed before the first message."""
    address = f"ws://127.0.0.1:{browser.server.port}/ws"
    async with connect(address, additional_headers={"Cookie": browser.cookie}) as connection:
        return await Socket(connection).closed()


async def test_sessions_are_listed_and_ended_one_by_one(web_server: WebServer) -> None:
    """Sessions are listed by browser; ending one closes only its own connections."""
    firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    here = await asyncio.to_thread(claimed, web_server, "Sessions")
    there = Browser(web_server, headers={"User-Agent": firefox})
    assert there.form("/account/login", name="Sessions", password=PASSWORD).status == 303
    async with here.socket() as mine, there.socket() as other:
        page = here.get("/account").text
        assert "Firefox on Linux" in page
        assert page.count("this browser") == 1
        (session,) = re.findall(r'name="session" value="(\w+)"', page)
        stranger = await asyncio.to_thread(claimed, web_server, "Stranger to sessions")
        assert stranger.form("/account/end", session=session).status == 303
        assert is_in(there, "Sessions")
        assert here.form("/account/end", session=session).status == 303
        assert await other.closed() == 1008
        await mine.ask("ping", "pong")
    assert is_in(here, "Sessions")
    assert not is_in(there, "Sessions")


@pytest.mark.parametrize("form", ["claim", "login", "recover", "end"])
def test_a_field_with_a_nul_is_no_field(browser: Browser, form: str) -> None:
    """Fields with NUL characters are rejected before they reach the database."""
    fields = dict.fromkeys(("name", "password", "new_password", "code", "session"), "nobody\0here")
    answer = browser.form(f"/account/{form}", **fields)
    assert (answer.status, "cannot be read" in answer.text) == (400, True)


def test_forms_of_accounts_are_not_for_guests(browser: Browser) -> None:
    """Guests cannot use the forms for passwords, sessions and programs."""
    for form in ("password", "codes", "end", "everywhere", "bot", "token", "bot-delete"):
        assert browser.form(f"/account/{form}", name="Nobody", password="").status == 403


@pytest.mark.parametrize(
    ("agent", "label"),
    [
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/150.0 Safari/537.36 Edg/150.0", "Edge on Windows"),
        ("<script>", "A browser"),
        ("", "A browser"),
    ],
)
def test_browsers_have_names(agent: str, label: str) -> None:
    """Browsers are listed by known names only, without text from the client."""
    assert browser_name(agent) == label


def test_a_recovery_code_is_read_as_people_write_it() -> None:
    """Recovery codes ignore case, separators and lookalikes, but not digits."""
    code = "0123-ABCD-1111-0000"
    for written in (code.lower(), code.replace("-", " "), "O123ABCDIl1iOoo0"):
        assert code_hash(code) == code_hash(written)
    assert code_hash(code) != code_hash(code.replace("3", "4"))
    codes = {*new_codes(), *new_codes()}
    assert (len(codes), {*map(len, codes)}) == (2 * CODES, {len(code)})


def test_a_lost_password_is_replaced_by_a_recovery_code(web_server: WebServer) -> None:
    """A recovery code sets a new password once and ends all sessions; other codes stay valid."""
    browser = Browser(web_server)
    page = browser.form("/account/claim", name="Forgetful", password=PASSWORD).text
    codes = codes_on(page)
    assert len(set(codes)) == CODES
    elsewhere = Browser(web_server)
    (wrong_code, *_), new = new_codes(), "quite another"
    for name, code in (("Forgetful", wrong_code), ("Nobody at all", codes[0])):
        answer = elsewhere.form("/account/recover", name=name, code=code, new_password=new)
        assert (answer.status, "code is wrong" in answer.text) == (403, True)
    right = {"name": "forgetful", "code": codes[0], "new_password": new}
    weak = elsewhere.form("/account/recover", **right | {"new_password": "password"})
    assert (weak.status, "easy to guess" in weak.text) == (400, True)
    assert elsewhere.form("/account/recover", **right).status == 303
    assert is_in(elsewhere, "Forgetful")
    assert not is_in(browser, "Forgetful")
    assert browser.form("/account/login", name="Forgetful", password=PASSWORD).status == 403
    assert browser.form("/account/recover", **right).status == 403
    page = elsewhere.get("/account").text
    assert f"{CODES - 1} of {CODES} are left" in page
    assert not any(code in page for code in codes)
    renewed = codes_on(elsewhere.form("/account/codes", password=new).text)
    assert not {*renewed} & {*codes}
    old, fresh = right | {"code": codes[1]}, right | {"code": renewed[1].lower()}
    assert browser.form("/account/recover", **old).status == 403
    assert browser.form("/account/recover", **fresh).status == 303


def test_a_new_password_is_compared_with_the_name_as_it_is(web_server: WebServer) -> None:
    """A recovery form's new password is compared with the account's real name."""
    browser = Browser(web_server)
    page = browser.form("/account/claim", name="Xylophagous", password=PASSWORD).text
    fields = {"name": "x y l o p h a g o u s", "code": codes_on(page)[0]}
    answer = browser.form("/account/recover", **fields, new_password="Xylophagous1")
    assert (answer.status, "name of the account" in answer.text) == (400, True)


def test_a_right_code_is_no_wrong_one_whatever_the_password(web_server: WebServer) -> None:
    """Rejected new passwords do not count as failed attempts with a valid code."""
    browser = Browser(web_server, address=elsewhere())
    page = browser.form("/account/claim", name="Persistent", password=PASSWORD).text
    fields = {"name": "Persistent", "code": codes_on(page)[0]}
    other = Browser(web_server, address=elsewhere())
    for _ in range(7):
        assert other.form("/account/recover", **fields, new_password="password1").status == 400
    assert other.form("/account/recover", **fields, new_password="quite another").status == 303


def codes_on(page: str) -> list[str]:
    found = re.search(r'<ul class="codes">(.+?)</ul>', page)
    assert found, page
    return re.findall("<code>([^<]+)</code>", found[1])


async def test_the_export_holds_everything_but_secrets(web_server: WebServer) -> None:
    """The export has all games and turns, but no password hash and no secret of a running game."""
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
    """Deleting an account deletes its games, records and leaderboard entries."""
    browser = await asyncio.to_thread(claimed, web_server, "Ephemeral")
    async with browser.socket() as socket:
        game = (await socket.new("2x4", "ranked"))["game"]
        await socket.play_out()
        await until_shown(browser, "/leaderboards?rules=2x4", "Ephemeral")
        assert browser.form("/account/delete", password="wrong wrong").status == 403
        assert browser.form("/account/delete", password=PASSWORD).status == 303
        assert await socket.closed() == 1008
    assert browser.get(f"/game/{game}").status == 404
    assert browser.get("/player/Ephemeral").status == 404
    assert "Ephemeral" not in browser.get("/leaderboards?rules=2x4").text


@pytest.mark.parametrize("is_played", [False, True])
async def test_who_watches_a_deleted_game_is_told(web_server: WebServer, is_played: bool) -> None:
    """Watchers of a deleted game are notified at once, and no fault is logged."""
    browser, other = claimed(web_server, f"Leaver {is_played}"), Browser(web_server)
    async with browser.socket() as player, other.socket() as watcher:
        game = (await player.new("long:size=5x5"))["game"]
        told = await watcher.ask("watch", "state", game=game)
        if is_played:
            await player.send("autoplay", player="random", delay=50)
        while is_played and told["type"] != "events":
            told = await watcher.receive()
        answer = await asyncio.to_thread(browser.form, "/account/delete", password=PASSWORD)
        assert answer.status == 303
        paths = f"/api/games/{game}", f"/api/games/{game}/stream", f"/game/{game}"
        assert [(await asyncio.to_thread(other.get, path)).status for path in paths] == [404] * 3
        while told["type"] != "refused":
            told = await watcher.receive()
        assert (told["reason"], told["state"]) == ("unknown_game", None)
        assert "this game has been deleted" in told["message"]
        assert (await watcher.ask("watch", "refused", game=game))["reason"] == "unknown_game"
    assert "py2048_storage_faults_total 0.0" in other.get("/metrics").text


async def test_a_guests_games_come_along(web_server: WebServer) -> None:
    """A guest's games stay with the account when it claims a name."""
    browser = Browser(web_server)
    async with browser.socket() as socket:
        game = (await socket.new())["game"]
        await socket.move()
    assert browser.form("/account/claim", name="Once a visitor", password=PASSWORD).status == 200
    async with browser.socket() as socket:
        assert socket.hello["me"] == {"name": "Once a visitor", "is_guest": False}
        assert socket.hello["current"] == game
