"""Who asks: from the cookie of a request to an account."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from py2048.session.online import guest_name
from py2048.ui.web.cookies import Cookies
from py2048.ui.web.services import Services


@dataclass(frozen=True, slots=True)
class Visitor:
    """Whoever sent a request.

    Attributes:
        account: the id of the account.
        generation: the generation of the session.
        name: the account's name, None for a guest.
        is_new: whether the browser has yet to be given its cookie.
    """

    account: str
    generation: int
    name: str | None = None
    is_new: bool = False

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
        if found is None:
            new = self._cookies.new()
            return Visitor(new.account, new.generation, is_new=True)
        if not wait and not self._services.is_ready:
            return Visitor(found.account, found.generation)
        hub = await self._services.ready()
        account = await hub.in_thread(hub.house.account, found.account)
        if account.generation != found.generation:
            new = self._cookies.new()
            return Visitor(new.account, new.generation, is_new=True)
        return Visitor(account.id, account.generation, account.name)

    def remember(self, response: Response, visitor: Visitor) -> None:
        """Give a new visitor the cookie."""
        if visitor.is_new:
            self.sign_in(response, visitor.account, visitor.generation)

    def sign_in(self, response: Response, account: str, generation: int) -> None:
        """Make the browser this account."""
        cookie = self._cookies.write(account, generation)
        response.headers.append("set-cookie", cookie)

    def sign_out(self, response: Response) -> None:
        """Make the browser a new guest."""
        new = self._cookies.new()
        self.sign_in(response, new.account, new.generation)
