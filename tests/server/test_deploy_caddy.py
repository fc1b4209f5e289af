"""The shipped Caddyfile, tested with a real Caddy and its own certificates."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.free_ports import free_port
from tests.processes import until
from web_server import GENEROUS, Socket, WebServer
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

pytestmark = pytest.mark.slow
SITE = "2048.test"
CADDYFILE = Path(__file__).resolve().parents[2] / "deploy" / "Caddyfile"


@dataclass
class Site:
    """Caddy on two ports with a server behind it."""

    home: Path
    plain: int = field(default_factory=free_port)
    secure: int = field(default_factory=free_port)
    upstream: int = field(default_factory=free_port)

    def serve(self) -> WebServer:
        public = f"https://{SITE}:{self.secure}"
        options = ("--port", str(self.upstream), "--public-url", public, *GENEROUS)
        return WebServer(self.home / "server", *options)

    def caddy(self) -> subprocess.Popen[bytes]:
        """Run Caddy with the shipped file on free ports, without changing the system."""
        ours = (f"\thttp_port {self.plain}\n\thttps_port {self.secure}\n"
                "\tadmin off\n\tskip_install_trust\n")  # fmt: skip
        config = self.home / "Caddyfile"
        config.write_text(CADDYFILE.read_text().replace("{\n", "{\n" + ours, 1))
        (self.home / "data").mkdir()
        with (self.home / "caddy.log").open("wb") as log:
            return subprocess.Popen(
                [find_caddy(), "run", "--adapter", "caddyfile", "--config", config],
                env=os.environ | {
                    "PY2048_SITE": SITE, "PY2048_TLS": "tls internal",
                    "PY2048_UPSTREAM": f"127.0.0.1:{self.upstream}",
                    "XDG_DATA_HOME": str(self.home / "data"), "HOME": str(self.home),
                },
                stderr=log,
            )  # fmt: skip

    def trust(self) -> ssl.SSLContext:
        """Return an SSL context that trusts this Caddy's root certificate."""
        root = self.home / "data" / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        return ssl.create_default_context(cafile=str(root))

    def request(
        self, path: str, *, source: str = "127.0.0.1", **headers: str
    ) -> tuple[http.client.HTTPResponse, bytes]:
        address, name = ("127.0.0.1", self.secure), f"{SITE}:{self.secure}"
        raw = socket.create_connection(address, timeout=40, source_address=(source, 0))
        connection = http.client.HTTPSConnection(*address)
        connection.sock = self.trust().wrap_socket(raw, server_hostname=SITE)
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        connection.request("GET", path, headers={"Host": name, **sent})
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        return response, answer

    def wait(self) -> None:
        for _ in range(200):
            try:
                if self.request("/about")[0].status == 200:
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError((self.home / "caddy.log").read_text())


def find_caddy() -> str:
    found = shutil.which("caddy")
    if found is None:
        pytest.skip("no caddy: install the package caddy")
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A Caddy and a server that tests may restart."""
    find_caddy()
    site = Site(tmp_path_factory.mktemp("caddy"))
    server, caddy = site.serve(), site.caddy()
    try:
        site.wait()
        yield site
    finally:
        caddy.terminate()
        caddy.wait(60)
        server.stop()


def test_pages_come_by_tls_compressed_once_with_all_headers(site: Site) -> None:
    """Security headers pass through, Caddy's name is hidden, and HTTP redirects to HTTPS."""
    response, body = site.request("/", Accept_Encoding="gzip")
    assert response.status == 200
    assert response.headers.get_all("Content-Encoding") == ["gzip"]
    assert b"<!doctype html>" in gzip.decompress(body)
    for name in ("Content-Security-Policy", "X-Content-Type-Options", "Strict-Transport-Security",
                 "X-Request-Id"):  # fmt: skip
        assert len(response.headers.get_all(name)) == 1, name
    assert "; Secure" in response.headers["Set-Cookie"]
    assert response.headers["Server"] is None
    plain = http.client.HTTPConnection("127.0.0.1", site.plain)
    plain.request("GET", "/daily", headers={"Host": SITE})
    answer = plain.getresponse()
    assert (answer.status, answer.headers["Location"]) == (308, f"https://{SITE}/daily")
    plain.close()


def test_what_is_the_operators_stays_so(site: Site) -> None:
    """Health checks and metrics are not public."""
    for path in ("/healthz", "/readyz", "/metrics"):
        response, body = site.request(path)
        assert (response.status, body) == (404, b"")


def test_each_visitor_is_known_by_the_own_address(site: Site) -> None:
    """Limits use the address that Caddy sees, not the one a client claims."""
    names = []
    for source in ("127.0.0.1", "127.0.0.9"):
        response, _ = site.request("/about", source=source, X_Forwarded_For="203.0.113.7")
        names.append(response.headers["X-Request-Id"])
    log = text_with(site.home / "server" / "server.log", *names)
    lines = {line.get("request"): line for line in map(json.loads, log.splitlines())}
    assert [lines[name]["address"] for name in names] == ["127.0.0.1", "127.0.0.9"]


def text_with(log: Path, *wanted: str) -> str:
    """Return the log once it contains all the given words."""
    until(lambda: (text := log.read_text()).endswith("\n") and all(each in text for each in wanted))
    return log.read_text()


async def test_a_game_is_played_and_outlives_silence(site: Site) -> None:
    """WebSockets keep their cookies and origin, and outlive the proxy's timeouts."""

    def opened(origin: str) -> connect:
        return connect(
            f"wss://{SITE}:{site.secure}/ws", host="127.0.0.1", port=site.secure,
            ssl=site.trust(), origin=origin,
        )  # fmt: skip

    with pytest.raises(InvalidStatus, match="403"):
        await opened("https://evil.example").__aenter__()
    async with opened(f"https://{SITE}:{site.secure}") as connection:
        game = Socket(connection)
        await game.receive("hello")
        await game.new()
        await game.move()
        await asyncio.sleep(33)
        assert (await game.move())["version"] == 2


def test_a_restart_of_the_server_is_not_noticed(tmp_path: Path) -> None:
    """Requests during a restart wait for the server."""
    site = Site(tmp_path)
    server, caddy = site.serve(), site.caddy()
    try:
        site.wait()
        server.stop()
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(site.request, "/about")
            time.sleep(0.5)
            assert not asked.done()
            server = site.serve()
            assert asked.result()[0].status == 200
    finally:
        caddy.terminate()
        caddy.wait(60)
        server.stop()


def test_the_proxys_log_holds_no_secrets(site: Site) -> None:
    """The proxy logs neither cookies nor queries, and shares request ids with the server's log."""
    response, _ = site.request("/about?secret=abcdef", Cookie="py2048=abcdef", Referer="abcdef")
    log = text_with(site.home / "caddy.log", response.headers["X-Request-Id"])
    assert "abcdef" not in log
