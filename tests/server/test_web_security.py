"""Rejected requests, and the headers of all responses."""

from __future__ import annotations

import json
import socket as sockets
from pathlib import Path

import pytest
from web_server import Browser, WebServer, serving
from websockets.exceptions import InvalidStatus

from py2048.server.http.limits import Slots, TokenBuckets
from py2048.server.settings import ServerError, ServerSettings, find_key
from py2048.server.site.auth import Cookies

PAGES = ["/", "/about", "/leaderboards", "/daily", "/account", "/nowhere", "/api/rules", "/healthz"]


@pytest.mark.parametrize("path", PAGES)
def test_every_answer_carries_a_strict_policy(browser: Browser, path: str) -> None:
    """The policy forbids inline scripts, other origins, frames and content sniffing."""
    answer = browser.get(path)
    headers, page = answer.headers, answer.text.lower()
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "Server" not in headers
    for inline in ("<style", " style=", " onclick=", "//cdn", "<script>"):
        assert inline not in page


def test_the_cookie_is_out_of_reach_of_scripts(browser: Browser) -> None:
    """The session cookie is HttpOnly and SameSite, and not Secure on plain HTTP."""
    cookie = browser.get("/").headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie


def test_behind_tls_cookies_are_secure(tmp_path: Path) -> None:
    """With an https public URL, cookies are Secure and HSTS is sent."""
    with serving(tmp_path / "tls", "--public-url", "https://2048.example") as server:
        answer = Browser(server).get("/")
        assert "; Secure" in answer.headers["Set-Cookie"]
        assert "max-age" in answer.headers["Strict-Transport-Security"]
        own = Browser(server, headers={"Origin": "https://2048.example"})
        assert own.form("/account/logout").status == 303
        battle = own.form("/battle").headers["location"]
        assert f"https://2048.example{battle}" in own.get(battle).text
        assert own.get("/daily/?day=2026-01-01").headers["location"] == "/daily?day=2026-01-01"
        assert own.get("//evil.example/").headers["location"] == "/evil.example"
        plain = Browser(server, headers={"Origin": server.url})
        assert plain.form("/account/logout").status == 403


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://x.org/", "https://x.org"),
        (" HTTPS://X.org:443", "https://x.org"),
        ("http://x.org:443", "http://x.org:443"),
        ("http://x.org:80/", "http://x.org"),
        ("https://[0::1]:8443", "https://[::1]:8443"),
        ("", None),
    ],
)
def test_the_public_origin_is_as_browsers_write_it(text: str, origin: str | None) -> None:
    """The public URL is normalized to the origin that browsers send."""
    settings = ServerSettings(key="k" * 32, public_url=text)
    assert settings.origin == origin
    assert settings.is_secure is bool(origin and origin.startswith("https"))


@pytest.mark.parametrize(
    "text",
    ["x.org", "//x.org", "ftp://x.org", "https://", "https://[::1", "https://[:::]", "https://-",
     "https://x.org:0", "https://x.org:65536", "https://x.org/2048", "https://x.org?a",
     "https://ada@x.org", "https://büro.example", "https://x.org."],
)  # fmt: skip
def test_what_is_no_public_origin_is_told(text: str) -> None:
    """An invalid public URL prevents the start."""
    with pytest.raises(ServerError, match="is not the public URL"):
        ServerSettings(key="k" * 32, public_url=text)


def test_a_forged_cookie_makes_a_stranger(browser: Browser) -> None:
    """A cookie signed with another key yields a new guest."""
    forged = Cookies("another key, long enough", secure=False).write("victim", 0)
    browser.cookie = forged.partition(";")[0]
    assert "Set-Cookie" in browser.get("/account").headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_other_sites_cannot_speak_for_a_player(
    browser: Browser, headers: dict[str, str]
) -> None:
    """Cross-site forms, API requests and handshakes are rejected."""
    foreign = Browser(browser.server, headers=headers)
    assert foreign.form("/account/logout").status == 403
    assert foreign.post("/api/games", {}).status == 403
    with pytest.raises(InvalidStatus) as refused:
        async with foreign.socket():
            pass
    assert refused.value.response.status_code == 403


async def test_the_own_page_may_speak(browser: Browser) -> None:
    """The server's own origin is accepted."""
    own = Browser(browser.server, headers={"Origin": browser.server.url})
    assert own.form("/account/logout").status == 303
    async with own.socket() as socket:
        await socket.ask("ping", "pong")


def test_large_bodies_are_refused(browser: Browser) -> None:
    """Bodies over the limit are rejected; records have a larger limit."""
    assert browser.form("/account/login", name="a" * 10_000, password="b").status == 413
    assert browser.post("/api/boards/slides", {"board": [[0] * 9000]}).status == 413
    long_record = json.dumps({"turns": "L10" * 30_000}).encode()
    answer = browser.request("POST", "/api/records/verify", long_record)
    assert answer.json()["ok"] is False


def test_a_body_that_never_ends_is_cut(web_server: WebServer) -> None:
    """The limit also applies to chunked bodies without a length."""
    with sockets.create_connection(("127.0.0.1", web_server.port), timeout=60) as connection:
        connection.sendall(
            b"POST /api/boards/slides HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        for _ in range(20):
            connection.sendall(b"400\r\n" + b"1" * 1024 + b"\r\n")
        assert b" 413 " in connection.recv(4096).splitlines()[0]


def test_buckets_fill_steadily() -> None:
    """A burst empties the bucket, which refills at its rate; it can be charged below zero."""
    now = 0.0
    buckets = TokenBuckets(2.0, 4.0, clock=lambda: now)
    assert [buckets.take("a") for _ in range(5)] == [0, 0, 0, 0, 0.5]
    assert buckets.take("b") == 0
    now = 0.5
    assert [buckets.take("a") > 0 for _ in range(2)] == [False, True]
    now = 1000.0
    assert [buckets.take("a") > 0 for _ in range(5)] == [False] * 4 + [True]
    buckets.charge("a", 5)
    assert buckets.take("a") == 3.0
    now = 1003.0
    assert buckets.take("a") == 0
    slow = TokenBuckets(0.1, 0.3, clock=lambda: now)  # a full bucket holds one token all the same
    assert [slow.take("a"), slow.take("a")] == [0, 10]


def test_slots_are_given_back() -> None:
    """A slot is free again after its block, per key and in total."""
    slots = Slots(1, 2)
    with slots.held("a") as first, slots.held("a") as again, slots.held("b") as other:
        assert (first, again, other) == (True, False, True)
        with slots.held("c") as crowded:
            assert not crowded
    assert slots.taken == 0


def test_the_key_is_made_once_and_kept_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The generated key persists, readable by its owner only; short keys are refused."""
    key = find_key(tmp_path / "home")
    assert find_key(tmp_path / "home") == key
    (file,) = (tmp_path / "home").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    monkeypatch.setenv("PY2048_SECRET_KEY", "short")
    with pytest.raises(ServerError, match="PY2048_SECRET_KEY"):
        find_key(tmp_path)
