"""Slow and abusive connections, and trusted proxies."""

from __future__ import annotations

import asyncio
import gc
import random
import socket as sockets
import time
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from inside import running
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Send
from uvicorn import Config
from uvicorn.server import ServerState
from web_server import Browser, WebServer, serving
from websockets.utils import apply_mask

from py2048.cli import main
from py2048.server import commands
from py2048.server.http.connections import SOCKET, Connections, HttpConnection
from py2048.server.http.limits import TokenBuckets
from py2048.server.http.middleware import network_of
from py2048.server.http.monitoring import is_our_fault
from py2048.server.http.sockets import SocketConnection
from py2048.server.settings import ServerError, ServerSettings

UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
)
HALF = b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "


class Link:
    """A connection that records when it is dropped."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections
        self.is_dropped = False

    def drop(self) -> None:
        self.is_dropped = True
        self.connections.leave(self)


def entered(connections: Connections, host: str, *, busy: bool = False) -> Link | None:
    """Add a connection and return it, or None if there is no room."""
    link = Link(connections)
    if not connections.enter(link, host):
        return None
    if busy:
        connections.mark_busy(link)
    return link


def test_the_longest_waiting_makes_room() -> None:
    """When a limit is reached, the connection that has been idle longest is dropped."""
    connections = Connections(4, 2, lambda host: host == "proxy")
    busy = entered(connections, "a", busy=True)
    first = entered(connections, "a")
    second = entered(connections, "a")
    assert [link and link.is_dropped for link in (busy, first, second)] == [False, True, False]
    other, another = entered(connections, "b"), entered(connections, "c")
    newcomer = entered(connections, "d")
    dropped = [link and link.is_dropped for link in (second, other, another, newcomer)]
    assert dropped == [True, False, False, False]


def test_where_all_work_there_is_no_room() -> None:
    """Busy connections are never dropped for a new one."""
    connections = Connections(3, 2, lambda host: host == "proxy")
    one = entered(connections, "a", busy=True)
    assert entered(connections, "a", busy=True)
    assert entered(connections, "a") is None
    assert entered(connections, "proxy", busy=True)
    assert entered(connections, "b") is None
    assert one is not None
    connections.leave(one)
    connections.leave(one)
    assert entered(connections, "b", busy=True)
    assert entered(connections, "c") is None


def test_a_proxy_stands_for_many() -> None:
    """A proxy's connections count in total but not per address."""
    connections = Connections(10, 2, lambda host: host == "proxy")
    links = [entered(connections, "proxy") for _ in range(10)]
    assert not any(link is None or link.is_dropped for link in links)
    assert entered(connections, "a") is not None
    assert sum(link is not None and link.is_dropped for link in links) == 1


@pytest.mark.parametrize(
    ("host", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:0:ffff::", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::1", "127.0.0.1", False),
        ("fe80::1%eth0", "fe80::2", True),
        ("unix:one", "unix:two", False),
    ],
)
def test_addresses_count_by_network(host: str, other: str, same: bool) -> None:
    """All addresses of a /64 IPv6 network count as one."""
    assert (network_of(host) == network_of(other)) is same


def test_what_is_no_address_is_cut_short() -> None:
    """Invalid addresses from a proxy are truncated."""
    assert len(network_of("x" * 10_000)) <= 64
    assert network_of("") == "unknown"


@asynccontextmanager
async def listening(
    app: ASGIApp, connection: Callable[..., asyncio.Protocol], **options: Any
) -> AsyncIterator[tuple[str, int]]:
    """Listen for connections in this process."""
    config = Config(app, log_config=None, **options)
    config.load()
    given = {"config": config, "server_state": ServerState(), "app_state": {}}
    loop = asyncio.get_running_loop()
    async with await loop.create_server(lambda: connection(**given), "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()


SLOW_HEADS = {
    "silent": b"",
    "half": HALF,
    "second": b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" + HALF,
    "body": b"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 4000\r\n\r\n1",
    "handshake": UPGRADE + b"X-Long: " + b"x" * 9000 + b"\r\n\r\n",
}


@pytest.mark.parametrize("begun", SLOW_HEADS.values(), ids=SLOW_HEADS)
async def test_slow_heads_are_not_waited_for(begun: bytes) -> None:
    """Connections without a complete request head or handshake are closed in time."""
    places = Connections(10, 10, lambda _: False, 0.2)
    socket = partial(SocketConnection, places, TokenBuckets(1e6, 1e6))
    async with listening(Response(), partial(HttpConnection, places), ws=socket) as address:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(begun)
        reading = asyncio.create_task(reader.read())  # until the end
        async with asyncio.timeout(60):
            while not reading.done():
                writer.write(b"x" if begun else b"")
                await asyncio.sleep(0.05)
        await asyncio.gather(reading, return_exceptions=True)
        writer.close()


async def test_a_closed_connection_is_freed(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A closed connection does not stay in memory until the garbage collector runs."""
    url, places = f"sqlite:///{tmp_path / 'store.sqlite3'}", Connections(10, 10, lambda _: False)
    socket = partial(SocketConnection, places, TokenBuckets(1e6, 1e6))
    http = partial(HttpConnection, places)
    request.addfinalizer(gc.enable)
    async with running(url) as server, listening(server.asgi(), http, ws=socket) as address:
        gc.disable()
        reader, writer = await asyncio.open_connection(*address)
        writer.write(UPGRADE + b"\r\n")
        await reader.readuntil(b"hello")
        client = weakref.ref(*server.backend.rooms.clients)
        writer.close()
        async with asyncio.timeout(30):
            while client():
                await asyncio.sleep(0.01)


def frame(data: bytes, head: int = 0x81, size: int | None = None) -> bytes:
    """Return a short frame with a zero mask, by default a text frame."""
    return bytes([head, 0x80 | (len(data) if size is None else size)]) + bytes(4) + data


@asynccontextmanager
async def talking(
    meter: TokenBuckets,
    *,
    answers: bool = True,
    slow_s: float = 0.0,
    takes: Callable[[str], bool] = lambda _: False,
) -> AsyncIterator[tuple[tuple[str, int], asyncio.Queue[str | None]]]:
    """Serve WebSockets that name their address in a header; yield the received messages.

    Messages for which `takes` is true are received at once.
    """
    heard: asyncio.Queue[str | None] = asyncio.Queue()

    def take(text: bytes) -> bool:
        if is_taken := takes(text.decode(errors="replace")):
            heard.put_nowait(text.decode())
        return is_taken

    async def app(scope: Any, receive: Receive, send: Send) -> None:
        socket = scope["extensions"][SOCKET]
        socket.count_for(Headers(scope=scope).get("x-address", ""))
        socket.take_now = take
        heard.put_nowait("")
        await asyncio.sleep(slow_s)
        if answers:
            await send({"type": "websocket.accept"})
        while (message := await receive())["type"] != "websocket.disconnect":
            heard.put_nowait(message.get("text"))

    places = Connections(10, 10, lambda _: False, 0.4)
    async with listening(app, partial(SocketConnection, places, meter)) as address:
        yield address, heard


BAD_FRAMES = {
    "no text": frame(b"\xff"),
    "no text, in pieces": frame(b"\xff", 0x01) + frame(b"\xff", 0x80),
    "reserved bits": frame(b"a", 0xF1),
    "no such kind": frame(b"a", 0x83),
    "no mask": b"\x81\x01a",
    "no reason": frame(b"\x03\xe8\xff", 0x88),
    "too long": frame(b"", 0x89, 126) + bytes(200),
}


@pytest.mark.parametrize("said", BAD_FRAMES.values(), ids=BAD_FRAMES)
@pytest.mark.parametrize("is_answered", [False, True])
async def test_bad_frames_end_a_connection_and_are_no_fault_of_the_server(
    caplog: pytest.LogCaptureFixture, said: bytes, is_answered: bool
) -> None:
    """Invalid frames close the connection and log no error."""
    async with talking(TokenBuckets(1e6, 1e6), answers=is_answered) as (address, heard):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(UPGRADE + b"\r\n")
        if is_answered:
            assert b"101" in await reader.readuntil(b"\r\n\r\n")
        await heard.get()
        writer.write(said)
        with suppress(ConnectionError):
            await asyncio.wait_for(reader.read(), 60)  # until the end
        writer.close()
    assert not [each for each in caplog.records if each.levelname == "ERROR" and is_our_fault(each)]


@pytest.mark.parametrize("seed", range(5))
async def test_messages_keep_their_order_however_their_bytes_arrive(seed: int) -> None:
    """Messages are received in order, if frames are split, joined, long or fragmented as well."""
    texts, rng = [str(number) for number in range(60)], random.Random(seed)
    frames = [frame(each.encode()) for each in texts]
    texts[20], texts[30], texts[40] = "whole", "x" * 300, "fragments"
    frames[40] = frame(b"frag", 0x01) + frame(b"", 0x89) + frame(b"ments", 0x80)
    frames[30] = b"\x81\xfe\x01\x2c" + bytes(4) + b"x" * 300
    mask = b"\x81\x83\0\0"  # after its head, this frame looks like a whole frame
    frames[20:21] = b"\x81\x85", mask + apply_mask(b"whole", mask)
    left = set(rng.sample(texts, 30))
    meter = TokenBuckets(1e6, 1e6)
    async with talking(meter, takes=lambda text: text not in left) as (address, heard):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(UPGRADE + b"\r\n")
        await reader.readuntil(b"\r\n\r\n")
        assert [await heard.get() for _ in range(2)] == ["", None]  # the connection
        data = b"".join(frames)
        longest = seed and 4**seed  # with seed 0, each frame is sent alone
        while data:
            size = rng.randint(1, longest) if longest else len(frames.pop(0))
            writer.write(data[:size])
            data = data[size:]
            await asyncio.sleep(0.002)
        async with asyncio.timeout(60):
            assert [await heard.get() for _ in texts] == texts
        writer.close()


async def test_a_long_message_costs_a_token_per_512_bytes() -> None:
    """Even if each of its bytes could be the length of a short frame."""
    mask, size = b"\x80" * 4, 50_000
    head = b"\x81\xfe" + size.to_bytes(2) + mask
    async with talking(TokenBuckets(0.001, 150)) as (address, heard):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(UPGRADE + b"\r\n")
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + apply_mask(b"x" * size, mask))
        async with asyncio.timeout(30):
            assert [len(await heard.get() or "") for _ in range(3)] == [0, 0, size]
        writer.close()


async def test_only_its_client_hears_of_a_bad_handshake(caplog: pytest.LogCaptureFixture) -> None:
    """An invalid handshake gets a 400 and logs no error."""
    async with talking(TokenBuckets(1e6, 1e6)) as (address, _):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(UPGRADE.replace(b"Key: ", b"Key: x") + b"\r\n")
        assert b" 400 " in await asyncio.wait_for(reader.read(), 60)
        writer.close()
    assert [each for each in caplog.records if each.levelname == "ERROR"] == []


FLOODS = {
    "pings": frame(b"", 0x89) * 1000,
    "pongs": frame(b"", 0x8A) * 1000,
    "fragments": frame(b"a", 0x01) + frame(b"a", 0x00) * 1000 + frame(b"a", 0x80),
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
async def test_frames_of_every_kind_count_for_their_address(flood: bytes) -> None:
    """Excess frames of any kind wait unread and do not delay other addresses.

    The time limit of the handshake ends with its head, however long the server takes to answer.
    """
    async with talking(TokenBuckets(1000, 100), slow_s=0.5) as (address, heard):
        began, writers = time.monotonic(), []
        for name, frames in ((b"b", b""), (b"a", flood + frame(b"from a"))):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(UPGRADE + b"x-address: " + name + b"\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            writers.append(writer)
            writer.write(frames)
        writers[0].write(frame(b"from b"))
        for last in ("from b", "from a"):
            while await asyncio.wait_for(heard.get(), 30) != last:
                pass
        assert time.monotonic() - began > 1.8
        for writer in writers:
            writer.transport.abort()


def test_a_burst_of_requests_costs_one_answer(web_server: WebServer) -> None:
    """Pipelined requests get one response."""
    with sockets.create_connection(("127.0.0.1", web_server.port), timeout=60) as connection:
        with suppress(ConnectionError):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 2000)
        said = b""
        with suppress(ConnectionError):
            while some := connection.recv(65536):
                said += some
    assert said.count(b"HTTP/1.1 200") <= 1


def test_a_large_head_is_refused(web_server: WebServer) -> None:
    """Heads of more than 16 KiB are rejected."""
    for size, statuses in ((15_000, {200}), (70_000, {400, 431})):
        request = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: " + b"x" * size + b"\r\n\r\n"
        with sockets.create_connection(("127.0.0.1", web_server.port), timeout=60) as connection:
            connection.sendall(request)
            assert int(connection.recv(65536).split()[1]) in statuses


def who_is_limited(server: WebServer, *forwarded: str) -> list[bool]:
    """Exceed the limit from the first forwarded address; return which addresses are limited."""
    first = Browser(server, headers={"X-Forwarded-For": forwarded[0]})
    assert any(first.get("/about").status == 429 for _ in range(40))
    asked = (Browser(server, headers={"X-Forwarded-For": each}) for each in forwarded)
    return [browser.get("/about").status == 429 for browser in asked]


def test_a_trusted_proxy_says_where_a_visitor_is(tmp_path: Path) -> None:
    """Clients behind a trusted proxy are limited by the address that the proxy saw."""
    options = ("--requests-rate", "0.2", "--trusted-proxies", "127.0.0.1,10.0.0.0/8")
    with serving(tmp_path / "proxied", *options) as server:
        limited = who_is_limited(server, "192.0.2.1", "192.0.2.2", "192.0.2.2, 192.0.2.1")
        assert limited == [True, False, True]
        # What a visitor writes in front of the proxies' own word changes nothing.
        limited = who_is_limited(server, "192.0.2.9, 198.51.100.1, 10.1.1.1", "192.0.2.9")
        assert limited == [True, False]
    assert {"192.0.2.1", "198.51.100.1"} <= {line.get("address") for line in server.logged()}


def test_nobody_else_is_believed(tmp_path: Path) -> None:
    """X-Forwarded-For is ignored unless the sender is a trusted proxy."""
    with serving(tmp_path, "--requests-rate", "0.2", "--trusted-proxies", "10.0.0.0/8") as server:
        assert who_is_limited(server, "192.0.2.1", "192.0.2.2") == [True, True]


@pytest.mark.parametrize(
    ("public_url", "trusted", "networks"),
    [
        (None, None, set()),
        ("https://x.example", None, {"127.0.0.1/32", "::1/128"}),
        ("https://x.example", "", set()),
        (None, " 10.0.0.0/8 ", {"10.0.0.0/8"}),
    ],
)
def test_proxies_are_trusted_where_it_is_said(
    public_url: str | None, trusted: str | None, networks: set[str]
) -> None:
    """Trusted proxies are loopback with a public URL, or the given networks."""
    settings = ServerSettings(key="k" * 32, public_url=public_url, trusted_proxies=trusted)
    assert {str(network) for network in settings.proxies} == networks


@pytest.mark.parametrize("text", ["*", "nginx", "10.0.0.1/8", "127.0.0.1;::1", "300.1.1.1"])
def test_what_is_no_proxy_is_told(text: str) -> None:
    """An invalid trusted proxy prevents the start."""
    with pytest.raises(ServerError, match="is not an address or network"):
        ServerSettings(key="k" * 32, trusted_proxies=text)


@pytest.mark.parametrize(
    ("variables", "options", "found"),
    [
        ({}, (), None),
        ({"FORWARDED_ALLOW_IPS": "10.0.0.1"}, (), "10.0.0.1"),
        ({"FORWARDED_ALLOW_IPS": "10.0.0.1", "PY2048_TRUSTED_PROXIES": "10.0.0.2"}, (), "10.0.0.2"),
        ({"PY2048_TRUSTED_PROXIES": "10.0.0.2"}, ("--trusted-proxies", "10.0.0.3"), "10.0.0.3"),
    ],
)
def test_the_environment_names_proxies(
    variables: dict[str, str],
    options: tuple[str, ...],
    found: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The option comes first, then PY2048_TRUSTED_PROXIES, then FORWARDED_ALLOW_IPS."""
    started: list[ServerSettings] = []
    monkeypatch.setattr(commands, "serve_with", lambda settings, _level: started.append(settings))
    monkeypatch.setenv("PY2048_SECRET_KEY", "k" * 32)
    for name in ("FORWARDED_ALLOW_IPS", "PY2048_TRUSTED_PROXIES"):
        monkeypatch.setenv(name, variables.get(name, ""))
    assert main(["serve", *options]) == 0
    assert started[0].trusted_proxies == found
