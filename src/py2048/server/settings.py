"""Server settings."""

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

KEY_VARIABLE = "PY2048_SECRET_KEY"
KEY_FILE = "web-secret-key"
_MIN_KEY = 16  # characters
_ORIGIN = re.compile(
    r"(https?)://([a-z\d](?:[a-z\d._-]*[a-z\d])?|\[[a-f\d:]+])(?::([1-9]\d{0,4}))?/?", re.ASCII
)
_DEFAULT_PORTS = {"http": 80, "https": 443}

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class ServerError(Py2048Error):
    """Raised if the server cannot start with its settings."""


def _option(default: Any, help_: str, **how: Any) -> Any:
    """Return a field that is also a command-line option of ``py2048 serve``."""
    return field(default=default, metadata={"help": help_, **how})


def _rate(default: float, help_: str) -> Any:
    return _option(default, help_, min=0.1, max=1e9)


@dataclass(frozen=True, repr=False)  # it contains secrets
class ServerSettings:
    """Settings of a server.

    If a `public_url` is set, only pages of its origin may send requests. With an ``https`` URL,
    cookies are marked as Secure. ``X-Forwarded-For`` is trusted only from `trusted_proxies`.

    Attributes:
        key: Key that signs cookies, shared by all processes of a server.
        players: Specs of the computer players that give hints and make moves.
        store_timeout_s: Seconds to wait for a lock on the store before an action is rejected.
        sweep_s: Seconds between runs of the maintenance tasks.

    Raises:
        ServerError: If the public URL is not an origin, or a trusted proxy is not an address.
    """

    key: str
    host: str = _option(
        "127.0.0.1", "The address to listen on; 0.0.0.0 accepts connections from other machines."
    )
    port: int = _option(2048, "The port to listen on; 0 selects a free port.", min=0, max=65535)
    database: str | None = _option(
        None,
        "The database, such as postgresql://user:password@host/name or sqlite:///file. "
        "By default PY2048_DATABASE_URL, or a file in the data folder.",
        metavar="URL",
    )
    public_url: str | None = _option(
        None, "The URL that browsers use, if the server is behind a proxy.", metavar="URL"
    )
    trusted_proxies: str | None = _option(
        None,
        "Proxies whose X-Forwarded-For header is trusted: addresses and networks, separated by "
        "commas, such as 127.0.0.1,10.0.0.0/8. By default PY2048_TRUSTED_PROXIES, or loopback "
        "addresses if there is a --public-url.",
        metavar="ADDRESSES",
        envvar=["PY2048_TRUSTED_PROXIES", "FORWARDED_ALLOW_IPS"],
        show_envvar=False,
    )
    moves_rate: float = _rate(30.0, "Maximum sustained moves per second per player.")
    bot_moves_rate: float = _rate(
        100.0, "Maximum moves per second per program; faster moves are delayed."
    )
    bots_rate: float = _rate(200.0, "Maximum moves per second of all programs together.")
    address_rate: float = _rate(
        600.0, "Maximum messages per second per address, which a class may share."
    )
    requests_rate: float = _rate(30.0, "Maximum page requests per second per address.")
    sockets: int = _option(5000, "Maximum players connected at the same time.", min=1)
    sockets_per_address: int = _option(
        200, "Maximum players connected at the same time per address.", min=1
    )
    reviews: int = _option(1, "Maximum games reviewed at the same time; 0 disables reviews.", min=0)
    workers: int = _option(
        *(1, "Number of worker processes, such as one per core; more than one needs PostgreSQL."),
        min=1,
        max=256,
    )
    durability: Literal["disk", "process"] = _option(
        "disk",
        "What saved moves survive: disk survives power cuts; process survives only server crashes,"
        " but is faster on SQLite.",
    )
    players: tuple[str, ...] = (
        *("expectimax", "expectimax:depth=1", "expectimax:depth=3"),
        *("perfect", "greedy", "corner", "random"),
    )
    store_timeout_s: float = 5.0
    sweep_s: float = 60.0

    def __post_init__(self) -> None:
        _ = self.origin, self.proxies  # validate them now

    @functools.cached_property
    def origin(self) -> str | None:
        """Origin of the public URL, as in an ``Origin`` header, or None if no public URL is set."""
        if not self.public_url:
            return None
        found = _ORIGIN.fullmatch(self.public_url.strip().lower())
        try:
            if found is None:
                raise ValueError("no origin")
            scheme, host, port = found[1], found[2], int(found[3] or _DEFAULT_PORTS[found[1]])
            if host.startswith("["):
                host = f"[{ipaddress.IPv6Address(host[1:-1])}]"
            if port > 65535:
                raise ValueError("no port")
        except ValueError:
            raise ServerError(
                f"{self.public_url!r} is not the public URL of a server: use a URL such as"
                " https://2048.example.org or http://192.168.0.7:8080, without a path"
            ) from None
        return f"{scheme}://{host}" + ("" if port == _DEFAULT_PORTS[scheme] else f":{port}")

    @property
    def is_secure(self) -> bool:
        """Whether browsers connect with TLS."""
        return bool(self.origin and self.origin.startswith("https://"))

    @functools.cached_property
    def proxies(self) -> tuple[Network, ...]:
        """Networks of the trusted proxies."""
        default = "127.0.0.1,::1" if self.public_url else ""
        text = default if self.trusted_proxies is None else self.trusted_proxies
        networks: list[Network] = []
        for entry in filter(None, map(str.strip, text.split(","))):
            try:
                network = ipaddress.ip_network(entry)
            except ValueError:
                raise ServerError(
                    f"{entry!r} is not an address or network of a trusted proxy: use values such as"
                    " 127.0.0.1 or 10.0.0.0/8, separated by commas"
                ) from None
            networks.append(network)
        return tuple(networks)


def find_key(folder: Path) -> str:
    """Return the key from ``PY2048_SECRET_KEY`` or a file, creating the file if it is missing.

    Args:
        folder: Folder of the key file.

    Raises:
        ServerError: If the key is too short, or the file cannot be created or read.
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
            f"the key that signs cookies is too short: set {KEY_VARIABLE} to at least"
            f" {_MIN_KEY} random characters"
        )
    return key
