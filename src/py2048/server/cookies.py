"""The cookies: which account a browser is, and whose browser it has been, signed by the server."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer

from py2048.server.house import new_account_id

NAME, DEVICE = "py2048", "py2048_device"
DAYS = 400
_MOST_OWNERS = 8


@dataclass(frozen=True, slots=True)
class Pass:
    """What the session cookie says.

    Attributes:
        account: the id of the account.
        generation: a guest's generation when the cookie was made; a later one ends it.
        token: what the session of an account with a name is known by; None for a guest.
    """

    account: str
    generation: int = 0
    token: str | None = None

    @property
    def session(self) -> str | None:
        """The store's id of the session, None for a guest."""
        return None if self.token is None else session_of(self.token)


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(32)


def session_of(token: str) -> str:
    """Return the id under which the store keeps the session of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


class Cookies:
    """Reads and writes the cookies.

    Args:
        key: signs them.
        secure: whether browsers send them by TLS only.
    """

    def __init__(self, key: str, *, secure: bool) -> None:
        self._sessions = URLSafeTimedSerializer(key, salt="py2048 session")
        self._devices = URLSafeTimedSerializer(key, salt="py2048 device")
        self._secure = secure

    def read(self, header: str | None) -> Pass | None:
        """Return what the ``Cookie`` header says, None if it holds no valid cookie of ours."""
        match _loaded(self._sessions, header, NAME):
            case [str(account), int(generation)]:
                return Pass(account, generation)
            case [str(account), str(token)]:
                return Pass(account, token=token)
        return None

    def new(self) -> Pass:
        """Return the pass of a new guest."""
        return Pass(new_account_id())

    def write(self, found: Pass) -> str:
        """Return the ``Set-Cookie`` header that makes a browser this account."""
        value = self._sessions.dumps([found.account, found.token or found.generation])
        return self._header(NAME, value, "/")

    def device(self, header: str | None, account: str) -> str | None:
        """Return the name of a browser in which this account was logged in, None elsewhere."""
        found = self._owners(header).get(account)
        return found if isinstance(found, str) else None

    def write_device(self, header: str | None, account: str) -> str:
        """Return the ``Set-Cookie`` header by which the browser is known to be this account's."""
        owners = self._owners(header)
        owners[account] = owners.pop(account, secrets.token_hex(8))
        latest = dict(list(owners.items())[-_MOST_OWNERS:])
        return self._header(DEVICE, self._devices.dumps(latest), "/account")

    def _owners(self, header: str | None) -> dict[str, Any]:
        found = _loaded(self._devices, header, DEVICE)
        return found if isinstance(found, dict) else {}

    def _header(self, name: str, value: str, path: str) -> str:
        secure = "; Secure" if self._secure else ""
        age = DAYS * 86400
        return f"{name}={value}; Max-Age={age}; Path={path}; HttpOnly; SameSite=Lax{secure}"


def _loaded(serializer: URLSafeTimedSerializer, header: str | None, name: str) -> Any:
    """Return the value in a cookie of ours, None where there is none or it was made elsewhere."""
    try:
        cookie = SimpleCookie(header or "").get(name)
        return cookie and serializer.loads(cookie.value, max_age=DAYS * 86400)
    except (BadData, CookieError, ValueError, TypeError):
        return None
