"""Logs: JSON lines with request ids and without secrets."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.processes import until
from web_server import GENEROUS, Browser, Json, WebServer, serving

from py2048.app.storage import StorageError, open_store
from py2048.server.http.monitoring import JsonFormatter, begin_request, redacted_path
from py2048.server.settings import find_key

PASSWORD = "hunter2-and-a-horse"
EMAIL = "ada@lovelace.example"
PLANTED = "PlantedSecret0123456789abcdefghijklmnopqrstu"
"""Sent wherever a request has room for it."""


def test_no_secret_reaches_the_log(tmp_path: Path) -> None:
    """Not even debug logs contain passwords, cookies, tokens, codes or secrets of games.

    Secrets are put in every part of a request that a client controls.
    """
    with serving(tmp_path / "logged", *GENEROUS, "--log-level", "debug") as server:
        secrets = {PASSWORD, EMAIL, PLANTED, find_key(server.home)}
        secrets |= sign_up(server)
        send_everywhere(server)
        secrets |= asyncio.run(play(server))
    written = server.log.read_text()
    assert written.count("\n") > 20
    assert {secret for secret in secrets if secret in written or quote(secret) in written} == set()


def sign_up(server: WebServer) -> set[str]:
    """Use every account form; return the secrets that the server issued."""
    browser = Browser(server)
    page = browser.form("/account/claim", name="Ada", password=PASSWORD).text
    codes = re.findall(r"<li><code>([\w-]+)</code>", page)
    token = re.search(
        r'id="token">([^<]+)<', browser.form("/account/bot", name="Engine", password="").text
    )
    assert token
    old = browser.cookie
    browser.form("/account/login", name="Ada", password=PASSWORD + "x")
    browser.form("/account/recover", name=EMAIL, code=codes[0], new_password=PASSWORD)
    browser.form("/account/recover", name="Ada", code=codes[1], new_password=PASSWORD)
    browser.form("/account/codes", password=PASSWORD)
    bearer = {"Authorization": f"Bearer {token[1]}"}
    assert Browser(server, headers=bearer).post("/api/games", {}).status == 201
    cookies = {value.partition("=")[2] for value in f"{old}; {browser.cookie}".split("; ")}
    return {*codes, token[1], *cookies}


def send_everywhere(server: WebServer) -> None:
    """Put values in every part of a request, both valid and invalid."""
    headers = {"Authorization": f"Bearer {PLANTED}", "Referer": f"{server.url}/?{PLANTED}",
               "User-Agent": f"{PLANTED} {EMAIL}", "X-Request-ID": PLANTED, "Host": PLANTED,
               "X-Forwarded-For": PLANTED, "Origin": f"https://{PLANTED}"}  # fmt: skip
    browser = Browser(server, cookie=f"py2048={PLANTED}", headers=headers)
    plain = Browser(server, cookie=f"py2048={PLANTED}")
    for visitor in (browser, plain):
        for path in ("/", "/account", "/player/", "/game/", "/api/games/", "/static/", "/api/"):
            for secret in (PLANTED, EMAIL):
                visitor.get(f"{path}?token={secret}")
                visitor.get(f"{path}{quote(secret)}")
        for path in ("/account/claim", "/account/login", "/account/nothing", "/puzzle"):
            visitor.form(path, name=EMAIL, password=PLANTED, code=PLANTED)
        for path in ("/api/games", "/api/hints", f"/api/records/verify?secret={PLANTED}"):
            visitor.post(path, {"rules": PLANTED, "board": EMAIL, PLANTED: EMAIL})
            visitor.request("POST", path, f"{{{PLANTED}".encode(), Content_Type=PLANTED)
        visitor.request("PUT", f"/{PLANTED}", PLANTED.encode())


async def play(server: WebServer) -> set[str]:
    """Play over the WebSocket, also with invalid messages; return the games' secrets."""
    browser = Browser(server)
    async with browser.socket(**{"User-Agent": PLANTED}) as socket:
        for text in (
            PLANTED,
            json.dumps({"type": "new", "rules": PLANTED}),
            json.dumps({EMAIL: 1}),
        ):
            await socket.connection.send(text)
            await socket.receive()
        await socket.new("2x4", "ranked")
        await socket.play_out()
        return {socket.state["secret"]} if socket.state.get("secret") else set()


def test_lines_of_one_request_have_its_id(web_server: WebServer) -> None:
    """The response carries the request id that its log lines have."""
    answers = [Browser(web_server).get(path) for path in ("/about", "/nowhere", "/about")]
    names = [answer.headers["X-Request-ID"] for answer in answers]
    assert len(set(names)) == 3
    found = await_lines(web_server, lambda line: line.get("request") in names, 3)
    lines = {line["request"]: line for line in found}
    assert [lines[name]["status"] for name in names] == [200, 404, 200]
    assert {"time", "level", "logger", "message", "method", "path", "ms", "address"} <= set(
        lines[names[0]]
    )


def await_lines(server: WebServer, is_one: Callable[[Json], bool], number: int) -> list[Json]:
    """Wait for `number` log lines and return them."""
    until(lambda: sum(map(is_one, server.logged())) >= number)
    return list(filter(is_one, server.logged()))


async def test_a_connection_is_logged_when_it_ends(web_server: WebServer) -> None:
    """A WebSocket is logged when it closes, with its duration and an id."""

    def is_one(line: Json) -> bool:
        return bool(line["message"] == "connection")

    before = sum(map(is_one, web_server.logged()))
    async with Browser(web_server).socket() as socket:
        await socket.ask("ping", "pong")
    line = await_lines(web_server, is_one, before + 1)[-1]
    assert line["request"]
    assert line["seconds"] >= 0
    assert line["address"] == "127.0.0.1"


def test_an_exception_is_logged_under_the_id_of_the_request() -> None:
    """All log lines of a request have its id, including exceptions."""
    name = begin_request()
    try:
        raise ValueError("a fault")
    except ValueError:
        record = logging.makeLogRecord({"msg": "failed", "exc_info": sys.exc_info()})
    line = json.loads(JsonFormatter().format(record))
    assert line["request"] == name
    assert line["exception"].endswith("ValueError: a fault")


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/", "/"),
        ("/wp-login.php", "/wp-login.php"),
        ("/game/0123456789abcdef0123456789abcdef/record", None),
        ("/player/Ada Lovelace", "/player/…"),
        ("/0A1B-2C3D-4E5F-6G7H", "/…"),
        ("/api/games/" + "x" * 33, "/api/games/…"),
    ],
)
def test_paths_are_written_without_what_may_be_secret(path: str, shown: str | None) -> None:
    """Logged paths keep routes and game ids and hide names and possible secrets."""
    assert redacted_path(path) == (shown or path)


def test_a_fault_of_the_database_names_no_values(url: str) -> None:
    """A failed statement is logged without its parameters."""
    with open_store(url) as store:
        store.sessions.begin("session", "ada", "Firefox")
        with pytest.raises(StorageError, match="nothing was changed") as caught:
            store.sessions.begin("session", "ada", PLANTED)
    assert PLANTED not in "".join(traceback.format_exception(caught.value))
