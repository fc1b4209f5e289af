"""Who asks: from the cookie of a browser, or the token of a program, to an account."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from py2048.errors import StorageError
from py2048.server.cookies import Cookies, Pass, new_token, session_of
from py2048.server.house import House, guest_name
from py2048.server.outbox import Outbox
from py2048.server.services import Services
from py2048.storage import Account

_NOTED = timedelta(hours=1)
"""How exactly it is noted when a session was last in use."""

_BROWSERS = {"Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome",
             "Safari/": "Safari"}  # fmt: skip
_SYSTEMS = {"Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Windows": "Windows",
            "Mac OS": "macOS", "CrOS": "ChromeOS", "Linux": "Linux"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Visitor:
    """Whoever sent a request.

    Attributes:
        account: the id of the account.
        generation: a guest's generation.
        name: the account's name, None for a guest.
        session: the id of the session of an account with a name.
        bot_of: the account of the person whose program this is, None for a person.
        cookies: the ``Set-Cookie`` headers that the browser has yet to be given.
    """

    account: str
    generation: int = 0
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
        """What the visitor is called."""
        return self.name or guest_name(self.account)


class Identity:
    """Tells who asks, and gives browsers their cookies.

    Args:
        services: the server's parts.
        cookies: reads and writes cookies.
    """

    def __init__(self, services: Services, cookies: Cookies) -> None:
        self._services = services
        self._cookies = cookies
        self._present: dict[Outbox, Visitor] = {}

    async def visitor(self, request: Request, *, wait: bool = True) -> Visitor:
        """Return who asks; a new guest where the cookie is missing, forged or outdated.

        Args:
            request: the request.
            wait: whether to wait for the store, without which names are not known.

        Raises:
            StorageError: if the store cannot be opened or read.
        """
        if wait:
            await self._services.ready()
        found = self._cookies.read(request.headers.get("cookie"))
        if found is not None and not wait and not self._services.is_ready:
            return Visitor(found.account, found.generation)
        return (found and await self._known(found)) or self._new_guest()

    async def player(self, request: Request) -> Visitor:
        """Return the program whose token a request carries; without a token, as `visitor`.

        Raises:
            HTTPException: if the token is none.
            StorageError: if the store cannot be opened or read.
        """
        token = _token_in(request.headers)
        if token is None:
            return await self.visitor(request)
        found = await self._program(token)
        if found is None:
            headers = {"www-authenticate": "Bearer"}
            raise HTTPException(401, "this token is not, or no longer, one of a program", headers)
        return found

    async def arrival(self, headers: Mapping[str, str]) -> Visitor | None:
        """Return who opens a WebSocket; None where the cookie or the token is outdated.

        Raises:
            StorageError: if the store cannot be opened or read.
        """
        token = _token_in(headers)
        if token is not None:
            return await self._program(token)
        found = self._cookies.read(headers.get("cookie"))
        return self._new_guest() if found is None else await self._known(found)

    async def _program(self, token: str) -> Visitor | None:
        hub = await self._services.ready()
        found = await hub.in_thread(_signed_in, hub.house, session_of(token))
        return found if found and found.bot_of else None

    async def _known(self, found: Pass) -> Visitor | None:
        hub = await self._services.ready()
        if found.session is None:
            account = await hub.in_thread(hub.house.account, found.account)
            is_guest = account.name is None and account.generation == found.generation
            return Visitor(found.account, found.generation) if is_guest else None
        visitor = await hub.in_thread(_signed_in, hub.house, found.session)
        return visitor if visitor and visitor.account == found.account else None

    def _new_guest(self) -> Visitor:
        new = self._cookies.new()
        return Visitor(new.account, cookies=(self._cookies.write(new),))

    # Coming and going

    def remember(self, response: Response, visitor: Visitor) -> None:
        """Give a visitor the cookies."""
        for cookie in visitor.cookies:
            response.headers.append("set-cookie", cookie)

    async def sign_in(self, request: Request, account: Account) -> Visitor:
        """Begin a session of an account with a name, in the browser that sent the request."""
        token, label = new_token(), browser_of(request.headers.get("user-agent", ""))
        hub, session = self._services.hub, session_of(token)
        await hub.in_thread(hub.house.store.begin_session, session, account.id, label)
        cookies = (
            self._cookies.write(Pass(account.id, token=token)),
            self._cookies.write_device(request.headers.get("cookie"), account.id),
        )
        return Visitor(account.id, name=account.name, session=session, cookies=cookies)

    def sign_out(self, response: Response) -> None:
        """Make the browser a new guest."""
        self.remember(response, self._new_guest())

    def device(self, request: Request, account: str) -> str | None:
        """Return the name of the browser if this account was logged in there before."""
        return self._cookies.device(request.headers.get("cookie"), account)

    # Who is connected

    def enter(self, outbox: Outbox, visitor: Visitor) -> None:
        """Note a connection, which is to end with the session that opened it."""
        self._present[outbox] = visitor

    def leave(self, outbox: Outbox) -> None:
        """Forget a connection."""
        self._present.pop(outbox, None)

    async def dismiss_ended(self) -> None:
        """Close the connections whose sessions have ended, here or in another process.

        Raises:
            StorageError: if the store cannot be read.
        """
        present = dict(self._present)
        if not present:
            return
        store, hub = self._services.hub.house.store, self._services.hub
        named = {visitor.session for visitor in present.values() if visitor.session}
        guests = {(each.account, each.generation) for each in present.values() if not each.session}
        live: set[object] = {*await hub.in_thread(store.live_sessions, named)}
        live |= await hub.in_thread(store.live_guests, guests)
        for outbox, visitor in present.items():
            if (visitor.session or (visitor.account, visitor.generation)) not in live:
                outbox.close(1008)


def _signed_in(house: House, session: str) -> Visitor | None:
    """Return who a session is, and note now and then that it is in use."""
    found = house.store.find_session(session)
    if found is None:
        return None
    account, seen = found
    if seen < (datetime.now(UTC) - _NOTED).strftime("%Y-%m-%dT%H:%M:%S"):
        with suppress(StorageError):
            house.store.note_session(session)
    return Visitor(account.id, name=account.name, session=session, bot_of=account.bot_of)


def _token_in(headers: Mapping[str, str]) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def browser_of(agent: str) -> str:
    """Return what people call the browser of a ``User-Agent``."""
    browser = next((name for mark, name in _BROWSERS.items() if mark in agent), "A browser")
    system = next((name for mark, name in _SYSTEMS.items() if mark in agent), None)
    return f"{browser} on {system}" if system else browser
