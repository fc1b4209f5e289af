"""Authentication by cookies, login sessions and program tokens."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import cast

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.exceptions import HTTPException
from starlette.requests import Request, cookie_parser
from starlette.responses import Response

from py2048.app.storage.values import Account, utc_text
from py2048.core.errors import StorageError
from py2048.core.language import _
from py2048.server.admission import Caller
from py2048.server.bounds import MAX_SESSIONS, MAX_TOKENS
from py2048.server.cache import TimedCache
from py2048.server.http.middleware import address_of, bearer_token
from py2048.server.play.backend import Backend
from py2048.server.play.games import GameService, guest_name, new_account_id
from py2048.server.play.rooms import SIGN_IN
from py2048.server.schema import checked_game_id

_log = logging.getLogger("py2048.web")

_LAST_USE_PRECISION = timedelta(hours=1)  # A session's last use is saved at most this often.
_SESSION_CHECK_S = 15.0  # How often to check for sessions that other processes have ended.
TOKEN_TTL_S = 15.0  # A token that another process revokes stays valid for this time.
BEARER_ONLY = {"www-authenticate": "Bearer"}
"""Response headers for requests without a valid token."""
_BROWSERS = {"Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome",
             "Safari/": "Safari"}  # fmt: skip
_SYSTEMS = {"Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Windows": "Windows",
            "Mac OS": "macOS", "CrOS": "ChromeOS", "Linux": "Linux"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class User:
    """The user who sent a request.

    Attributes:
        account: The account's id.
        name: The account's name, or None for a guest.
        session: The login session's id, or None for a guest.
        bot_of: The account id of a program's owner, or None for a person.
        cookies: ``Set-Cookie`` headers to send with the response.
    """

    account: str
    name: str | None = None
    session: str | None = None
    bot_of: str | None = None
    cookies: tuple[str, ...] = ()

    @property
    def is_guest(self) -> bool:
        """Whether the user is a guest, who has no name."""
        return self.name is None

    @property
    def display_name(self) -> str:
        """The name to display."""
        return self.name or guest_name(self.account)


class UserRequest(Request):
    """A request whose user an `Authenticator` has identified."""

    @property
    def user(self) -> User:
        """The sender."""
        return cast("User", self.scope["user"])

    @property
    def address(self) -> str:
        """The client's network address (see `address_of`)."""
        return address_of(self.scope)

    @property
    def caller(self) -> Caller:
        """Who is charged for the request."""
        return Caller(self.address, getattr(self.scope.get("user"), "account", ""))

    @property
    def game(self) -> str:
        """The game id in the path. The game may not exist.

        Raises:
            ActionRejected: If the path contains no valid game id.
        """
        return checked_game_id(self.path_params["game"])

    def set_cookies(self, response: Response) -> None:
        """Add the new cookies of the user to a response."""
        for cookie in self.user.cookies:
            response.headers.append("set-cookie", cookie)


class Authenticator:
    """Identifies the users of requests, and manages their login sessions.

    Args:
        backend: The store and the open connections.
        cookies: Reads and writes cookies.
    """

    def __init__(self, backend: Backend, cookies: Cookies) -> None:
        self.cookies = cookies
        self._backend = backend
        self._tokens = TimedCache(TOKEN_TTL_S, MAX_TOKENS)

    async def identify(self, request: UserRequest, *, wait: bool = True) -> None:
        """Set the user of a request from its cookie. Without a valid cookie, create a guest.

        Args:
            request: The request.
            wait: Whether to wait for the store. Without the store, users are identified by their
                signed cookies alone, and have no name.

        Raises:
            StorageError: If the store is unavailable and `wait` is set.
        """
        if wait:
            await self._backend.ready()
        user, cookie = None, self.cookies.read(request.headers.get("cookie"))
        if cookie is not None:
            user = User(cookie[0])
            try:
                if self._backend.is_open:
                    user = await self._cookie_user(*cookie)
            except StorageError:
                if wait:
                    raise
        request.scope["user"] = user or self._new_guest()

    async def identify_player(self, request: UserRequest) -> None:
        """Set the user of a request from its bearer token. Without a token, use its cookie.

        Raises:
            HTTPException: If the token is invalid.
            StorageError: If the store is unavailable.
        """
        found = await self.socket_user(request.headers)
        if found is None and bearer_token(request.headers) is not None:
            raise HTTPException(401, "this token is invalid or has been revoked", BEARER_ONLY)
        request.scope["user"] = found or self._new_guest()

    async def socket_user(self, headers: Mapping[str, str]) -> User | None:
        """Return the user who opens a WebSocket, or None if the cookie or the token is invalid.

        Raises:
            StorageError: If the store is unavailable.
        """
        token = bearer_token(headers)
        if token is not None:
            return await self._token_user(token)
        cookie = self.cookies.read(headers.get("cookie"))
        return self._new_guest() if cookie is None else await self._cookie_user(*cookie)

    def is_known_token(self, token: str | None) -> bool:
        """Whether the token was verified within the last `TOKEN_TTL_S` seconds."""
        return self._tokens.find(session_of(token or "")) is not None

    async def sign_in(self, request: UserRequest, account: Account) -> None:
        """Start a login session for a named account in the browser that sent the request."""
        token, headers = new_token(), request.headers
        session = session_of(token)
        facts = session, account.id, browser_name(headers.get("user-agent", ""))
        await self._backend.do(lambda games: games.store.sessions.begin(*facts, most=MAX_SESSIONS))
        device = self.cookies.write_device(headers.get("cookie"), account.id)
        cookies = self.cookies.write(account.id, token), device
        request.scope["user"] = User(account.id, account.name, session, cookies=cookies)

    def sign_out(self, request: UserRequest) -> None:
        """Sign out the browser's user, who becomes a new guest."""
        request.scope["user"] = self._new_guest()

    async def disconnect_signed_out(self) -> None:
        """Close connections whose login sessions have ended, in this process or another.

        Raises:
            StorageError: If the store cannot be read.
        """
        self._tokens.clear()
        rooms = self._backend.rooms
        clients, store = tuple(rooms.clients), rooms.games.store
        sessions = {each.session for each in clients if each.session}
        guests = {each.account for each in clients if not each.session}
        if not clients:
            return
        live = await asyncio.to_thread(store.sessions.live, sessions)
        live |= await asyncio.to_thread(store.accounts.live_guests, guests)
        for client in clients:
            if (client.session or client.account) not in live:
                client.close(SIGN_IN)

    async def watch_sessions(self) -> None:
        """Periodically close connections whose login sessions have ended in another process."""
        while True:
            await asyncio.sleep(_SESSION_CHECK_S)
            try:
                await self.disconnect_signed_out()
            except StorageError as error:
                _log.warning("sessions cannot be read", extra={"fault": str(error)})

    def _new_guest(self) -> User:
        account = new_account_id()
        return User(account, cookies=(self.cookies.write(account, 0),))

    async def _cookie_user(self, account_id: str, mark: Mark, is_old: bool) -> User | None:
        """Return the user that a cookie identifies, or None if the cookie is invalid.

        If `is_old`, the user receives a new cookie.
        """
        cookies = (self.cookies.write(account_id, mark),) if is_old else ()
        if isinstance(mark, int):
            account = await self._backend.do(GameService.account, account_id)
            is_guest = account.name is None and not account.generation
            return User(account_id, cookies=cookies) if is_guest else None
        user = await self._backend.do(_session_user, session_of(mark))
        return replace(user, cookies=cookies) if user and user.account == account_id else None

    async def _token_user(self, token: str) -> User | None:
        session = session_of(token)
        user: User | None = self._tokens.find(session)
        if user is None:
            user = await self._backend.do(_session_user, session)
            if user is None or not user.bot_of:
                return None
            self._tokens.add(session, user)
        return user


def _session_user(games: GameService, session: str) -> User | None:
    """Return the user of a login session, and record that the session is in use."""
    found = games.store.sessions.find(session)
    if found is None:
        return None
    account, last_use = found
    if account.bot_of or last_use < utc_text(datetime.now(UTC) - _LAST_USE_PRECISION):
        with suppress(StorageError):
            games.store.sessions.note_use(session)
    return User(account.id, name=account.name, session=session, bot_of=account.bot_of)


def browser_name(agent: str) -> str:
    """Return the names of the browser and the system in a ``User-Agent`` header."""
    browser = next((name for mark, name in _BROWSERS.items() if mark in agent), _("A browser"))
    system = next((name for mark, name in _SYSTEMS.items() if mark in agent), None)
    if system is None:
        return browser
    return _("{browser} on {system}").format(browser=browser, system=system)


# Tokens


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(32)


def session_of(token: str) -> str:
    """Return a token's SHA-256 hash, which the store uses as the session id."""
    return hashlib.sha256(token.encode()).hexdigest()


# Cookies

NAME, DEVICE = "py2048", "py2048_device"
DAYS = 400
_RENEWAL_AGE = timedelta(days=30)  # Cookies older than this are renewed when they are used.
_MAX_DEVICE_OWNERS = 8

Mark = int | str
"""Second part of a cookie's value: 0 for a guest, otherwise the session's token."""


class Cookies:
    """Reads and writes signed cookies.

    Args:
        key: Signing key.
        secure: Whether browsers may send the cookies only over TLS.
    """

    def __init__(self, key: str, *, secure: bool) -> None:
        self._sessions = URLSafeTimedSerializer(key, salt="py2048 session")
        self._devices = URLSafeTimedSerializer(key, salt="py2048 device")
        self._secure = secure

    def read(self, header: str | None) -> tuple[str, Mark, bool] | None:
        """Read a session cookie.

        Returns:
            The account, the `Mark`, and whether the cookie should be renewed, or None if the cookie
            is missing or invalid.
        """
        match _load(self._sessions, header, NAME):
            case [str(account), (int() | str()) as mark], datetime() as signed:
                return account, mark, datetime.now(UTC) - signed > _RENEWAL_AGE
        return None

    def write(self, account: str, mark: Mark) -> str:
        """Return the ``Set-Cookie`` header that signs a browser in to an account."""
        return self.header(NAME, self._sessions.dumps([account, mark]))

    def device(self, header: str | None, account: str) -> str | None:
        """Return the id of a browser that has logged in to the account before, or None."""
        return self._device_owners(header).get(account)

    def write_device(self, header: str | None, account: str) -> str:
        """Return the ``Set-Cookie`` header that marks the browser as known to the account."""
        owners = self._device_owners(header)
        owners[account] = owners.pop(account, secrets.token_hex(8))
        latest = dict(list(owners.items())[-_MAX_DEVICE_OWNERS:])
        return self.header(DEVICE, self._devices.dumps(latest), "/account")

    def _device_owners(self, header: str | None) -> dict[str, str]:
        match _load(self._devices, header, DEVICE):
            case dict() as owners, _:
                return owners
        return {}

    def header(self, name: str, value: str, path: str = "/") -> str:
        """Return the ``Set-Cookie`` header for a cookie that lasts for `DAYS` days."""
        secure = "; Secure" if self._secure else ""
        age = DAYS * 86400
        return f"{name}={value}; Max-Age={age}; Path={path}; HttpOnly; SameSite=Lax{secure}"


def _load(serializer: URLSafeTimedSerializer, header: str | None, name: str) -> object:
    """Return the value and the time of a signed cookie, or None if it is missing or invalid."""
    try:
        signed = cookie_parser(header or "").get(name, "")
        return serializer.loads(signed, max_age=DAYS * 86400, return_timestamp=True)
    except (BadData, ValueError, TypeError):
        return None
