"""The page of one's account: a name, a password, the export, the end."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from py2048.errors import Py2048Error, StorageError
from py2048.ui.web import rows
from py2048.ui.web.identity import Identity, Visitor
from py2048.ui.web.pages import Pages
from py2048.ui.web.security import address_of
from py2048.ui.web.services import Services

SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 128
LONGEST_NAME = 24
_MOST_RECENT = 50
_WRONG = "The name or the password is wrong."
_NOTICES = {
    "claimed": "The name is yours.",
    "login": "Welcome back.",
    "logout": "You are logged out.",
    "password": "The password is changed; all other browsers are logged out.",
    "deleted": "The account is gone, with all that was kept of it.",
}


class FormError(Py2048Error):
    """A form that cannot be granted.

    Attributes:
        status: the HTTP status that says so.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Accounts:
    """The account page and its forms.

    Args:
        services: the server's parts.
        identity: tells who asks.
        pages: renders pages.
    """

    def __init__(self, services: Services, identity: Identity, pages: Pages) -> None:
        self._services = services
        self._identity = identity
        self._pages = pages
        self._hashing = asyncio.Semaphore(2)  # argon2 takes 64 MiB at a time

    def routes(self) -> list[Route]:
        """Return the routes of the account."""
        return [
            Route("/account", self.show),
            Route("/account/export", self.export),
            Route("/account/{action}", self.act, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        """The page."""
        visitor = await self._identity.visitor(request)
        notice = _NOTICES.get(request.query_params.get("done", ""))
        return await self._page(request, visitor, notice=notice)

    async def export(self, request: Request) -> Response:
        """All that is kept of whoever asks."""
        visitor = await self._identity.visitor(request)
        hub = self._services.hub
        found = await hub.in_thread(hub.house.export, visitor.account)
        headers = {"content-disposition": 'attachment; filename="py2048-account.json"'}
        text = json.dumps(found, indent=1, ensure_ascii=False)
        return Response(text, media_type="application/json", headers=headers)

    async def act(self, request: Request) -> Response:
        """Do what a form asks for, and show the page again."""
        action = _ACTIONS.get(request.path_params["action"])
        if action is None:
            raise HTTPException(404, "There is no such form.")
        visitor = await self._identity.visitor(request)
        try:
            return await action(self, request, visitor, await _form(request))
        except FormError as error:
            return await self._page(request, visitor, error=str(error), status=error.status)

    async def _page(
        self,
        request: Request,
        visitor: Visitor,
        *,
        error: str | None = None,
        notice: str | None = None,
        status: int = 200,
    ) -> Response:
        hub = await self._services.ready()
        store = hub.house.store
        games = await hub.in_thread(hub.house.open_games, visitor.account)
        recent = await hub.in_thread(
            store.records, owner=visitor.account, order="finished", limit=_MOST_RECENT
        )
        return self._pages.render(
            request, visitor, "account.html", status, error=error, notice=notice,
            games=rows.open_rows(games), recent=rows.finished_rows(recent),
        )  # fmt: skip

    # The forms

    async def _claim(self, request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
        self._pace(request, visitor.account)
        name, password = checked_name(form.get("name", "")), checked_password(form.get("password"))
        hub = self._services.hub
        hashed = await self._hash(password)
        try:
            account = await hub.in_thread(hub.house.store.claim_name, visitor.account, name, hashed)
        except StorageError as error:
            if error.kind:  # the store's trouble, not this name's
                raise
            raise FormError(str(error), 403) from None
        return self._done("claimed", account.id, account.generation)

    async def _login(self, request: Request, _visitor: Visitor, form: dict[str, str]) -> Response:
        name, password = form.get("name", "")[:200], form.get("password", "")
        self._pace(request, f"name {name.casefold()}")
        hub = self._services.hub
        account = await hub.in_thread(hub.house.store.find_name, name)
        # Without such a name just as much time is spent, so that names cannot be found out.
        is_right = await self._verify(account.password if account else None, password)
        if account is None or not is_right:
            raise FormError(_WRONG, 403)
        return self._done("login", account.id, account.generation)

    async def _logout(
        self, _request: Request, _visitor: Visitor, _form: dict[str, str]
    ) -> Response:
        response = _back("logout")
        self._identity.sign_out(response)
        return response

    async def _password(self, request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
        await self._check_password(request, visitor, form)
        hashed = await self._hash(checked_password(form.get("new_password")))
        hub = self._services.hub
        generation = await hub.in_thread(hub.house.store.set_password, visitor.account, hashed)
        hub.dismiss(visitor.account)
        return self._done("password", visitor.account, generation)

    async def _delete(self, request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
        if not visitor.is_guest:
            await self._check_password(request, visitor, form)
        hub = self._services.hub
        hub.dismiss(visitor.account)
        await hub.in_thread(hub.house.store.delete_account, visitor.account)
        response = _back("deleted")
        self._identity.sign_out(response)
        return response

    async def _check_password(
        self, request: Request, visitor: Visitor, form: dict[str, str]
    ) -> None:
        self._pace(request, visitor.account)
        hub = self._services.hub
        account = await hub.in_thread(hub.house.account, visitor.account)
        if not await self._verify(account.password, form.get("password", "")):
            raise FormError("The password is wrong.", 403)

    def _pace(self, request: Request, key: str) -> None:
        limits = self._services.limits
        from_here = limits.password_addresses.take(address_of(request.scope))
        if from_here or limits.passwords.take(key):
            self._services.metrics.limited += 1
            raise FormError("Too many attempts: wait a minute.", 429)

    def _done(self, what: str, account: str, generation: int) -> Response:
        response = _back(what)
        self._identity.sign_in(response, account, generation)
        return response

    async def _hash(self, password: str) -> str:
        async with self._hashing:
            return await asyncio.to_thread(_hash, password)

    async def _verify(self, hashed: str | None, password: str) -> bool:
        async with self._hashing:
            return await asyncio.to_thread(_verify, hashed, password[:LONGEST_PASSWORD])


_Action = Callable[[Accounts, Request, Visitor, dict[str, str]], Awaitable[Response]]
_ACTIONS: dict[str, _Action] = {
    "claim": Accounts._claim,
    "login": Accounts._login,
    "logout": Accounts._logout,
    "password": Accounts._password,
    "delete": Accounts._delete,
}


def checked_name(text: str) -> str:
    """Return a name that others can read and tell apart.

    Raises:
        FormError: if it is none.
    """
    name = " ".join(unicodedata.normalize("NFKC", text).split())
    is_plain = all(letter.isalnum() or letter in " -_." for letter in name)
    if not (1 < len(name) <= LONGEST_NAME and is_plain and any(map(str.isalnum, name))):
        raise FormError(f"A name has 2 to {LONGEST_NAME} letters, digits, spaces, dots, - and _.")
    if name.casefold().startswith("guest"):
        raise FormError("Names that begin with guest belong to guests.")
    return name


def checked_password(text: str | None) -> str:
    """Return a password of a length that protects.

    Raises:
        FormError: if it is too short or too long.
    """
    if not SHORTEST_PASSWORD <= len(text or "") <= LONGEST_PASSWORD:
        raise FormError(f"A password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters.")
    return text or ""


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        FormError: if the request carries none.
    """
    kind = request.headers.get("content-type", "application/x-www-form-urlencoded")
    if kind.partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise FormError("Send the form as application/x-www-form-urlencoded.")
    try:
        text = (await request.body()).decode()
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=10)
    except (ClientDisconnect, ValueError):
        raise FormError("The form cannot be read.") from None
    return {key: values[-1] for key, values in fields.items()}


def _back(what: str) -> RedirectResponse:
    return RedirectResponse(f"/account?done={what}", 303)


def _hash(password: str) -> str:
    from argon2 import PasswordHasher

    return PasswordHasher().hash(password)


def _verify(hashed: str | None, password: str) -> bool:
    from argon2 import PasswordHasher
    from argon2.exceptions import Argon2Error, InvalidHashError

    hasher = PasswordHasher()
    if hashed is None:
        hasher.hash(password)
        return False
    try:
        return hasher.verify(hashed, password)
    except (Argon2Error, InvalidHashError):
        return False
