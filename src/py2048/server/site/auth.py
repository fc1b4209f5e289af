"""Who a request comes from: cookies, tokens of programs, sessions."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, cast

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from py2048.app.storage import Account
from py2048.app.storage.values import utc_text
from py2048.core.errors import StorageError
from py2048.core.language import _
from py2048.server.http.middleware import address_of, token_in
from py2048.server.play.games import GameService, guest_name, new_account_id
from py2048.server.play.rooms import SIGN_IN
from py2048.server.schema import checked_game_id

if TYPE_CHECKING:
    from py2048.server.services import Services

_NOTED = timedelta(hours=1)
"""How exactly it is noted when a session was last in use."""

_TOKEN_LASTS_S = 15.0
"""After this a token is looked up again: it may have been revoked in another process."""

_MAX_TOKENS = 10_000
_BROWSERS = {"Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome",
             "Safari/": "Safari"}  # fmt: skip
_SYSTEMS = {"Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Windows": "Windows",
            "Mac OS": "macOS", "CrOS": "ChromeOS", "Linux": "Linux"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class User:
    """Who sent a request.

    Attributes:
        account: the id of the account.
        name: the account's name, None for a guest.
        session: the id of the session of an account with a name.
        bot_of: the account of the person whose program this is, None for a person.
        cookies: the ``Set-Cookie`` headers that the browser has yet to be given.
    """

    account: str
    name: str | None = None
    session: str | None = None
    bot_of: str | None = None
    cookies: tuple[str, ...] = ()

    @property
    def is_guest(self) -> bool:
        """Whether the account has no name."""
        return self.name is None

    @property
    def display(self) -> str:
        """What the user is called."""
        return self.name or guest_name(self.account)


def services_of(request: HTTPConnection) -> Services:
    """Return the parts of the server that received a request or a WebSocket."""
    return cast("Services", request.app.state.services)


class Visit(Request):
    """A request, and who sent it, which `greet_user` or `greet_player` finds out."""

    @property
    def user(self) -> User:
        """Who sent it."""
        return cast("User", self.scope["user"])

    @property
    def services(self) -> Services:
        """The parts of the server."""
        return services_of(self)

    @property
    def address(self) -> str:
        """Where it comes from."""
        return address_of(self.scope)

    @property
    def game(self) -> str:
        """The id of the game in its path, which need not exist.

        Raises:
            ActionRejected: if it cannot be one.
        """
        return checked_game_id(self.path_params["game"])

    def greet(self, user: User) -> None:
        """Take somebody for who sent it."""
        self.scope["user"] = user

    def remember(self, response: Response) -> None:
        """Give the browser the cookies of the account that the request made it."""
        for cookie in self.user.cookies:
            response.headers.append("set-cookie", cookie)


async def greet_user(visit: Visit, *, wait: bool = True) -> None:
    """Find out who sent a request: a new guest where the cookie is missing, forged or outdated.

    Args:
        visit: the request.
        wait: whether to wait for the store, and fail with it; otherwise, where it is not open
            or cannot be read, the cookie is believed, and no name is known.

    Raises:
        StorageError: if the store is waited for, and cannot be opened or read.
    """
    services = visit.services
    if wait:
        await services.ready()
    user, found = None, services.cookies.read(visit.headers.get("cookie"))
    if found is not None:
        user = User(found[0])
        try:
            if services.is_ready:
                user = await _known(services, *found)
        except StorageError:
            if wait:
                raise
    visit.greet(user or _new_guest(services))


async def greet_player(visit: Visit) -> None:
    """Find out which program's token a request carries; without a token, as `greet_user`.

    Raises:
        HTTPException: if the token is not one.
        StorageError: if the store cannot be opened or read.
    """
    token = token_in(visit.headers)
    if token is None:
        await greet_user(visit)
        return
    found = await _bot(visit.services, token)
    if found is None:
        headers = {"www-authenticate": "Bearer"}
        raise HTTPException(401, "this token is not, or no longer, one of a program", headers)
    visit.greet(found)


async def connecting(services: Services, headers: Mapping[str, str]) -> User | None:
    """Return who opens a WebSocket; None where the cookie or the token is outdated.

    Raises:
        StorageError: if the store cannot be opened or read.
    """
    token = token_in(headers)
    if token is not None:
        return await _bot(services, token)
    found = services.cookies.read(headers.get("cookie"))
    return _new_guest(services) if found is None else await _known(services, *found)


async def sign_in(visit: Visit, account: Account) -> None:
    """Begin a session of an account with a name, in the browser that sent the request."""
    services, header = visit.services, visit.headers.get("cookie")
    token, label = new_token(), browser_of(visit.headers.get("user-agent", ""))
    rooms, session = services.rooms, session_of(token)
    await rooms.in_thread(rooms.games.store.sessions.begin, session, account.id, label)
    cookies = (
        services.cookies.write(account.id, token),
        services.cookies.write_device(header, account.id),
    )
    visit.greet(User(account.id, name=account.name, session=session, cookies=cookies))


def sign_out(visit: Visit) -> None:
    """Make the browser a new guest."""
    visit.greet(_new_guest(visit.services))


async def disconnect_signed_out(services: Services) -> None:
    """Close the connections whose sessions have ended, here or in another process.

    Raises:
        StorageError: if the store cannot be read.
    """
    services.tokens.clear()
    rooms = services.rooms
    clients, store = tuple(rooms.clients), rooms.games.store
    sessions = {each.session for each in clients if each.session}
    guests = {each.account for each in clients if not each.session}
    if not clients:
        return
    live = await rooms.in_thread(store.sessions.live, sessions)
    live |= await rooms.in_thread(store.accounts.live_guests, guests)
    for client in clients:
        if (client.session or client.account) not in live:
            client.close(SIGN_IN)


def _new_guest(services: Services) -> User:
    account = new_account_id()
    return User(account, cookies=(services.cookies.write(account, 0),))


async def _known(services: Services, account_id: str, mark: Mark, is_old: bool) -> User | None:
    """Return whom a cookie makes, with a new one if it is old; None if it is outdated."""
    cookies = (services.cookies.write(account_id, mark),) if is_old else ()
    if isinstance(mark, int):
        account = await services.do(GameService.account, account_id)
        is_guest = account.name is None and not account.generation
        return User(account_id, cookies=cookies) if is_guest else None
    user = await services.do(_signed_in, session_of(mark))
    return replace(user, cookies=cookies) if user and user.account == account_id else None


async def _bot(services: Services, token: str) -> User | None:
    user = services.tokens.find(token)
    if user is None:
        user = await services.do(_signed_in, session_of(token))
        if user is None or not user.bot_of:
            return None
        services.tokens.add(token, user)
    return user


def _signed_in(games: GameService, session: str) -> User | None:
    """Return who a session is, and note now and then that it is in use."""
    found = games.store.sessions.find(session)
    if found is None:
        return None
    account, seen = found
    if account.bot_of or seen < utc_text(datetime.now(UTC) - _NOTED):
        with suppress(StorageError):
            games.store.sessions.note_use(session)
    return User(account.id, name=account.name, session=session, bot_of=account.bot_of)


def browser_of(agent: str) -> str:
    """Return what people call the browser of a ``User-Agent``."""
    browser = next((name for mark, name in _BROWSERS.items() if mark in agent), _("A browser"))
    system = next((name for mark, name in _SYSTEMS.items() if mark in agent), None)
    if system is None:
        return browser
    return _("{browser} on {system}").format(browser=browser, system=system)


# Tokens


def new_token() -> str:
    """Return a token that cannot be guessed."""
    return secrets.token_urlsafe(32)


def session_of(token: str) -> str:
    """Return the id under which the store keeps the session of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


class KnownTokens:
    """Whom the tokens speak for that were checked in the last seconds; no token itself is kept.

    Args:
        clock: tells the seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, User]] = {}

    def find(self, token: str | None) -> User | None:
        """Return whom a token speaks for, None if it was not checked lately."""
        until, found = self._known.get(session_of(token or ""), (0.0, None))
        return found if self._clock() < until else None

    def add(self, token: str, user: User) -> None:
        """Note whom a token speaks for."""
        if len(self._known) >= _MAX_TOKENS:
            self._known.clear()
        self._known[session_of(token)] = self._clock() + _TOKEN_LASTS_S, user

    def clear(self) -> None:
        """Look all of them up again."""
        self._known.clear()


# Cookies

NAME, DEVICE = "py2048", "py2048_device"
DAYS = 400
_FRESH = timedelta(days=30)
"""An older cookie is renewed when it is used: only those end that are not used for long."""

_MAX_OWNERS = 8

Mark = int | str
"""What a cookie has besides the account: 0 of a guest, or the token of a session."""


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

    def read(self, header: str | None) -> tuple[str, Mark, bool] | None:
        """Return what the ``Cookie`` header says, and whether it is old; None if it is not ours."""
        match _loaded(self._sessions, header, NAME):
            case [str(account), (int() | str()) as mark], datetime() as made:
                return account, mark, datetime.now(UTC) - made > _FRESH
        return None

    def write(self, account: str, mark: Mark) -> str:
        """Return the ``Set-Cookie`` header that makes a browser this account."""
        return self.header(NAME, self._sessions.dumps([account, mark]))

    def device(self, header: str | None, account: str) -> str | None:
        """Return the name of a browser in which this account was logged in, None elsewhere."""
        return self._owners(header).get(account)

    def write_device(self, header: str | None, account: str) -> str:
        """Return the ``Set-Cookie`` header that marks the browser as this account's."""
        owners = self._owners(header)
        owners[account] = owners.pop(account, secrets.token_hex(8))
        latest = dict(list(owners.items())[-_MAX_OWNERS:])
        return self.header(DEVICE, self._devices.dumps(latest), "/account")

    def _owners(self, header: str | None) -> dict[str, str]:
        match _loaded(self._devices, header, DEVICE):
            case dict() as owners, _:
                return owners
        return {}

    def header(self, name: str, value: str, path: str = "/") -> str:
        """Return the ``Set-Cookie`` header of a cookie that lasts."""
        secure = "; Secure" if self._secure else ""
        age = DAYS * 86400
        return f"{name}={value}; Max-Age={age}; Path={path}; HttpOnly; SameSite=Lax{secure}"


def _loaded(serializer: URLSafeTimedSerializer, header: str | None, name: str) -> object:
    """Return the value in a cookie of ours and when it was made, None if there is none."""
    try:
        cookie = SimpleCookie(header or "").get(name)
        return cookie and serializer.loads(
            cookie.value, max_age=DAYS * 86400, return_timestamp=True
        )
    except (BadData, CookieError, ValueError, TypeError):
        return None
