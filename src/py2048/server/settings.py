"""How a server is run: everything that can be set, in one frozen value."""

from __future__ import annotations

import functools
import ipaddress
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from py2048.core.errors import Py2048Error, os_errors_as

PROXIES_VARIABLE = "PY2048_TRUSTED_PROXIES"
KEY_VARIABLE = "PY2048_SECRET_KEY"
KEY_FILE = "web-secret-key"
_MIN_KEY = 16
_ORIGIN = re.compile(
    r"(https?)://([a-z\d](?:[a-z\d._-]*[a-z\d])?|\[[a-f\d:]+])(?::([1-9]\d{0,4}))?/?", re.ASCII
)
_USUAL_PORTS = {"http": 80, "https": 443}

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class ServerError(Py2048Error):
    """A server that cannot be started as it was asked for."""


def _option(default: Any, help_: str, **how: Any) -> Any:
    """Return a field that is an option of ``py2048 serve`` as well, with its help and limits."""
    return field(default=default, metadata={"help": help_, **how})


def _rate(default: float, help_: str) -> Any:
    return _option(default, help_, min=0.1, max=1e9)


@dataclass(frozen=True, repr=False)  # some of it is secret
class Settings:
    """What a server does and what it allows.

    With a `public_url` its origin is the only one that may speak to the server, and with ``https``
    cookies are Secure. Only of `trusted_proxies` ``X-Forwarded-For`` is believed.

    Attributes:
        key: signs the cookies; all processes of one server share it.
        players: the computer players that hints and autoplay may ask.
        store_timeout_s: to wait for another program that holds the store, before players are told.
        sweep_s: between two looks for what is to be finished or removed.

    Raises:
        ServerError: if the public URL is not an origin, or the trusted proxies are not addresses.
    """

    key: str
    host: str = _option("127.0.0.1", "The address to listen on; 0.0.0.0 lets other machines in.")
    port: int = _option(2048, "The port to listen on; 0 takes a free one.", min=0, max=65535)
    database: str | None = _option(
        None,
        "The database, such as postgresql://user:password@host/name or sqlite:///file. "
        "By default PY2048_DATABASE_URL, else a file in the data folder.",
        metavar="URL",
    )
    public_url: str | None = _option(
        None, "Where browsers find the server, if it is behind a proxy.", metavar="URL"
    )
    trusted_proxies: str | None = _option(
        None,
        "Proxies that are believed about where a visitor comes from: addresses and networks with "
        "commas, such as 127.0.0.1,10.0.0.0/8. By default PY2048_TRUSTED_PROXIES, else this "
        "machine's if there is a --public-url.",
        metavar="ADDRESSES",
    )
    moves_rate: float = _rate(30.0, "Moves a second that one player may make for long.")
    bot_moves_rate: float = _rate(
        100.0, "Moves a second that one program may make; it is held back beyond."
    )
    bots_rate: float = _rate(200.0, "Moves a second of all programs together.")
    address_rate: float = _rate(600.0, "Messages a second from one address, a class together.")
    requests_rate: float = _rate(30.0, "Requests a second for pages, from one address.")
    sockets: int = _option(5000, "Players connected at the same time, in all.", min=1)
    sockets_per_address: int = _option(
        200, "Players connected at the same time from one address.", min=1
    )
    reviews: int = _option(
        1, "Finished games reviewed at the same time; 0 switches reviews off.", min=0
    )
    workers: int = _option(
        *(1, "Processes that serve together, one for each core, on PostgreSQL."), min=1, max=256
    )
    durability: Literal["disk", "process"] = _option(
        "disk",
        "What an acknowledged move outlives: disk, a power cut too; process, the end of the "
        "server, which is faster on SQLite.",
    )
    players: tuple[str, ...] = (
        *("expectimax", "expectimax:depth=1", "expectimax:depth=3"),
        *("perfect", "greedy", "corner", "random"),
    )
    store_timeout_s: float = 5.0
    sweep_s: float = 60.0

    def __post_init__(self) -> None:
        _ = self.origin, self.proxies  # read them before anything starts

    @functools.cached_property
    def origin(self) -> str | None:
        """The origin of the public URL as browsers write it, None without one."""
        if not self.public_url:
            return None
        found = _ORIGIN.fullmatch(self.public_url.strip().lower())
        try:
            if found is None:
                raise ValueError("no origin")
            scheme, host, port = found[1], found[2], int(found[3] or _USUAL_PORTS[found[1]])
            if host.startswith("["):
                host = f"[{ipaddress.IPv6Address(host[1:-1])}]"
            if port > 65535:
                raise ValueError("no port")
        except ValueError:
            raise ServerError(
                f"{self.public_url!r} is not a public URL of a server: write such as"
                " https://2048.example.org or http://192.168.0.7:8080, without a path"
            ) from None
        return f"{scheme}://{host}" + ("" if port == _USUAL_PORTS[scheme] else f":{port}")

    @property
    def is_secure(self) -> bool:
        """Whether browsers come by TLS."""
        return bool(self.origin and self.origin.startswith("https://"))

    @functools.cached_property
    def proxies(self) -> tuple[Network, ...]:
        """The networks of the trusted proxies, as sockets of either version see them."""
        usual = "127.0.0.1,::1" if self.public_url else ""
        text = usual if self.trusted_proxies is None else self.trusted_proxies
        networks: list[Network] = []
        for entry in filter(None, map(str.strip, text.split(","))):
            try:
                network = ipaddress.ip_network(entry)
            except ValueError:
                raise ServerError(
                    f"{entry!r} is not an address or network of a trusted proxy: write such as"
                    " 127.0.0.1 or 10.0.0.0/8, with commas between several"
                ) from None
            networks.append(network)
            if network.version == 4:  # a socket of both versions sees it so
                mapped = int(network.network_address) + 0xFFFF_0000_0000
                networks.append(ipaddress.IPv6Network((mapped, 96 + network.prefixlen)))
        return tuple(networks)


def find_proxies() -> str | None:
    """Return the trusted proxies that the environment names, None where it names none."""
    return os.environ.get(PROXIES_VARIABLE) or os.environ.get("FORWARDED_ALLOW_IPS") or None


def find_key(folder: Path) -> str:
    """Return the key that signs cookies: ``PY2048_SECRET_KEY``, else a file made once.

    Args:
        folder: where the file lies.

    Raises:
        ServerError: if the key is too short to be one, or the file cannot be made or read.
    """
    key = os.environ.get(KEY_VARIABLE, "").strip()
    path = folder / KEY_FILE
    fault = f"set {KEY_VARIABLE}: cannot keep the key that signs cookies in {path}"
    if not key:
        with os_errors_as(ServerError, fault):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):
                path.touch(mode=0o600, exist_ok=False)
                path.write_text(secrets.token_urlsafe(32), encoding="ascii")
            key = path.read_text(encoding="ascii").strip()
    if len(key) < _MIN_KEY:
        raise ServerError(
            f"the key that signs cookies has {len(key)} characters: set {KEY_VARIABLE} to at"
            f" least {_MIN_KEY} random ones"
        )
    return key
