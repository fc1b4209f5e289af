"""The page of an account: a name, a password, sessions, programs, the export, the end."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from py2048.server import rows
from py2048.server.cookies import new_token, session_of
from py2048.server.house import new_account_id
from py2048.server.identity import Identity, Visitor
from py2048.server.pages import Pages
from py2048.server.passwords import (
    FormError,
    Passwords,
    checked_password,
    code_hash,
    is_code,
    new_code,
)
from py2048.server.security import address_of
from py2048.server.services import Services
from py2048.storage import Account, AccountError

LONGEST_NAME = 24
MOST_BOTS = 5
_MOST_RECENT = 50
_WRONG = "The name or the password is wrong."
_NOTICES = {
    "login": "Welcome back.",
    "logout": "You are logged out.",
    "ended": "That browser is logged out.",
    "everywhere": "You are logged out everywhere.",
    "password": "The password is changed; all other browsers are logged out.",
    "bot-deleted": "The program's account is gone, with its games.",
    "deleted": "The account is gone, with all that was kept of it.",
}
_ASIAN = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}


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
        self._passwords = Passwords()

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
        name = request.path_params["action"]
        action = _FOR_ALL.get(name) or _FOR_NAMES.get(name)
        if action is None:
            raise HTTPException(404, "There is no such form.")
        visitor = await self._identity.visitor(request)
        try:
            form = await _form(request)
            if visitor.is_guest and name in _FOR_NAMES:
                raise FormError("Log in first.", 403)
            return await action(self, request, visitor, form)
        except FormError as error:
            return await self._page(request, visitor, error=str(error), status=error.status)

    async def _page(
        self, request: Request, visitor: Visitor, *, status: int = 200, **values: Any
    ) -> Response:
        """Return the page with a line of `error` or `notice`, or a `secret` shown only once."""
        hub = await self._services.ready()
        store = hub.house.store
        games = await hub.in_thread(hub.house.open_games, visitor.account)
        recent = await hub.in_thread(
            store.records, owner=visitor.account, order="finished", limit=_MOST_RECENT
        )
        sessions, bots = [], []
        if not visitor.is_guest:
            sessions = await hub.in_thread(store.sessions, visitor.account)
            bots = await hub.in_thread(store.bots, visitor.account)
        response = self._pages.render(
            request, visitor, "account.html", status, **values,
            games=rows.open_rows(games), recent=rows.finished_rows(recent),
            sessions=sessions, session=visitor.session, bots=bots, most_bots=MOST_BOTS,
        )  # fmt: skip
        response.headers["cache-control"] = "private, no-store"
        return response

    async def _store(self, call: str, *args: object, **kwargs: object) -> Any:
        """Have the store do something that it may refuse.

        Raises:
            FormError: if it does.
        """
        hub = self._services.hub
        try:
            return await hub.in_thread(getattr(hub.house.store, call), *args, **kwargs)
        except AccountError as error:
            raise FormError(str(error), 403) from None

    # A name

    async def _claim(self, request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
        name = checked_name(form.get("name", ""))
        password = checked_password(form.get("password"), name)
        self._pace(request)
        hashed = await self._passwords.hash(password, address_of(request.scope))
        code = new_code()
        account = await self._store("claim_name", visitor.account, name, hashed, code_hash(code))
        return await self._signed_in(request, account, code, "The name is yours.")

    async def _login(self, request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
        name, password = form.get("name", "")[:200], form.get("password", "")
        account: Account | None = await self._store("find_name", name)
        device, attempt = self._attempt(request, name, account)
        # Without such a name just as much time is spent, so that names cannot be found out.
        is_right = await self._passwords.verify(
            account.password if account else None, password, address_of(request.scope), device
        )
        if account is None or not is_right:
            raise FormError(_WRONG, 403)
        self._services.limits.logins.forgive(attempt)
        if visitor.session:
            await self._store("end_session", visitor.session, visitor.account)
        return await self._back_as(request, account, "login")

    async def _recover(self, request: Request, _visitor: Visitor, form: dict[str, str]) -> Response:
        """Set a new password by the recovery code, which is replaced."""
        name = form.get("name", "")[:200]
        account: Account | None = await self._store("find_name", name)
        _, attempt = self._attempt(request, name, account)
        if account is None or not is_code(account.recovery, form.get("code", "")):
            raise FormError("The name or the recovery code is wrong.", 403)
        password = checked_password(form.get("new_password"), name)
        hashed = await self._passwords.hash(password, address_of(request.scope))
        code = new_code()
        await self._store("set_password", account.id, hashed, code_hash(code))
        self._services.limits.logins.forgive(attempt)
        return await self._signed_in(request, account, code, "The password is changed.")

    async def _signed_in(
        self, request: Request, account: Account, code: str, notice: str
    ) -> Response:
        """Show the page of a new session, with the recovery code."""
        visitor = await self._identity.sign_in(request, account)
        await self._identity.dismiss_ended()
        return await self._page(request, visitor, notice=notice, secret=("code", code))

    async def _back_as(self, request: Request, account: Account, what: str) -> Response:
        response = _back(what)
        self._identity.remember(response, await self._identity.sign_in(request, account))
        await self._identity.dismiss_ended()
        return response

    async def _password(self, request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
        account = await self._checked(request, visitor, form)
        password = checked_password(form.get("new_password"), visitor.display)
        hashed = await self._passwords.hash(password, address_of(request.scope))
        await self._store("set_password", account.id, hashed)
        return await self._back_as(request, account, "password")

    async def _code(self, request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
        account = await self._checked(request, visitor, form)
        code = new_code()
        await self._store("set_recovery", account.id, code_hash(code))
        return await self._page(request, visitor, secret=("code", code))

    # Sessions

    async def _logout(self, _request: Request, visitor: Visitor, _: dict[str, str]) -> Response:
        if visitor.session:
            await self._store("end_session", visitor.session, visitor.account)
        else:
            await self._store("end_guest", visitor.account)
        return await self._gone("logout")

    async def _everywhere(self, _request: Request, visitor: Visitor, _: dict[str, str]) -> Response:
        await self._store("end_sessions", visitor.account)
        return await self._gone("everywhere")

    async def _end(self, _request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
        await self._store("end_session", form.get("session", ""), visitor.account)
        await self._identity.dismiss_ended()
        return _back("ended")

    async def _delete(self, request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
        if not visitor.is_guest:
            await self._checked(request, visitor, form)
        self._services.hub.dismiss(visitor.account)
        await self._store("delete_account", visitor.account)
        self._pages.forget_lists()
        return await self._gone("deleted")

    async def _gone(self, what: str) -> Response:
        """Make the browser a new guest, and end what the old one had open."""
        response = _back(what)
        self._identity.sign_out(response)
        await self._identity.dismiss_ended()
        return response

    # Programs

    async def _bot(self, request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
        name, token = checked_name(form.get("name", "")), new_token()
        self._pace(request)
        bot, person = new_account_id(), visitor.account
        await self._store("add_bot", bot, name, person, session_of(token), most=MOST_BOTS)
        return await self._page(request, visitor, secret=("token", token), shown=name)

    async def _token(self, request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
        token = new_token()
        bot = await self._bot_of(visitor, form)
        await self._store("renew_token", visitor.account, bot.id, session_of(token))
        await self._identity.dismiss_ended()
        return await self._page(request, visitor, secret=("token", token), shown=bot.name)

    async def _bot_delete(
        self, _request: Request, visitor: Visitor, form: dict[str, str]
    ) -> Response:
        bot = await self._bot_of(visitor, form)
        await self._store("delete_account", bot.id)
        self._pages.forget_lists()
        await self._identity.dismiss_ended()
        return _back("bot-deleted")

    async def _bot_of(self, visitor: Visitor, form: dict[str, str]) -> Account:
        bots: list[Account] = await self._store("bots", visitor.account)
        for bot in bots:
            if bot.id == form.get("bot"):
                return bot
        raise FormError("You have no such program.", 404)

    # How often

    async def _checked(self, request: Request, visitor: Visitor, form: dict[str, str]) -> Account:
        """Return the account, after the password of the form was found to be its own."""
        attempt = f"session {visitor.session}"
        self._refuse_for(self._services.limits.logins.attempt(attempt))
        hub = self._services.hub
        account = await hub.in_thread(hub.house.account, visitor.account)
        password = form.get("password", "")
        if not await self._passwords.verify(
            account.password, password, address_of(request.scope), visitor.session
        ):
            raise FormError("The password is wrong.", 403)
        self._services.limits.logins.forgive(attempt)
        return account

    def _attempt(
        self, request: Request, name: str, account: Account | None
    ) -> tuple[str | None, str]:
        """Count an attempt to log in; return the browser, if it is known, and the count's key.

        A browser in which the account was logged in before counts for itself, so that nobody
        else's wrong passwords stand in its way. However its name is spelt, an account is one.

        Raises:
            FormError: if there were too many.
        """
        logins, address = self._services.limits.logins, address_of(request.scope)
        device = self._identity.device(request, account.id) if account else None
        if device and not logins.attempt(f"device {device}"):
            return device, f"device {device}"
        self._pace(request)
        attempt = f"name {account.id if account else name.casefold()} {address}"
        self._refuse_for(logins.attempt(attempt))
        return None, attempt

    def _pace(self, request: Request) -> None:
        address = address_of(request.scope)
        self._refuse_for(self._services.limits.password_addresses.take(address))

    def _refuse_for(self, wait: float) -> None:
        if wait:
            self._services.metrics.limited += 1
            raise FormError(f"Too many attempts: wait {max(1, round(wait))} seconds.", 429)


_Action = Callable[[Accounts, Request, Visitor, dict[str, str]], Awaitable[Response]]
_FOR_ALL: dict[str, _Action] = {
    "claim": Accounts._claim,
    "login": Accounts._login,
    "recover": Accounts._recover,
    "logout": Accounts._logout,
    "delete": Accounts._delete,
}
_FOR_NAMES: dict[str, _Action] = {
    "password": Accounts._password,
    "code": Accounts._code,
    "end": Accounts._end,
    "everywhere": Accounts._everywhere,
    "bot": Accounts._bot,
    "token": Accounts._token,
    "bot-delete": Accounts._bot_delete,
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
    scripts = {unicodedata.name(letter, "?").split()[0] for letter in name if letter.isalpha()}
    if len(scripts) > 1 and not scripts <= _ASIAN:
        mixed = " and ".join(sorted(script.title() for script in scripts))
        raise FormError(f"This name mixes {mixed} letters: take letters of one alphabet.")
    return name


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
