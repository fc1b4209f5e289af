"""The page of an account: a name, a password, sessions, programs, the export, the end."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from py2048.server.http.middleware import address_of
from py2048.server.play import messages
from py2048.server.play.games import GameService, new_account_id
from py2048.server.services import Services
from py2048.server.site.auth import Auth, User, new_token
from py2048.server.site.forms import FormError, read_form
from py2048.server.site.pages import Pages
from py2048.server.site.passwords import Passwords
from py2048.server.site.recovery import HOW_MANY, code_hash, new_codes
from py2048.server.site.tokens import session_of
from py2048.storage import Account, AccountError
from py2048.storage.values import looks_of

if TYPE_CHECKING:
    from py2048.storage import Store

_P = ParamSpec("_P")
_T = TypeVar("_T")

LONGEST_NAME = 24
MOST_BOTS = 5
_MOST_RECENT = 50
_WRONG = "The name or the password is wrong."
_WRONG_CODE = "The name or the recovery code is wrong."
_NOTICES = {
    "login": "Welcome back.",
    "logout": "You are logged out.",
    "ended": "That browser is logged out.",
    "everywhere": "You are logged out everywhere.",
    "password": "The password is changed; all other browsers are logged out.",
    "recovered": "The password is changed, and you are logged out elsewhere. The code is used up.",
    "token-ended": "The program's token is revoked: it cannot play until it has a new one.",
    "bot-deleted": "The program's account is gone, with its games.",
    "deleted": "The account is gone, with all that was kept of it.",
}
_NAME = re.compile(r"[A-Za-z0-9 ._-]*[A-Za-z0-9][A-Za-z0-9 ._-]*")


class AccountPages:
    """The account page and its forms.

    Args:
        services: the server's parts.
        auth: tells who asks.
        pages: renders pages.
    """

    def __init__(self, services: Services, auth: Auth, pages: Pages) -> None:
        self._services = services
        self._auth = auth
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
        user = await self._auth.user(request)
        notice = _NOTICES.get(request.query_params.get("done", ""))
        return await self._page(request, user, notice=notice)

    async def export(self, request: Request) -> Response:
        """All that is kept of whoever asks."""
        user = await self._auth.user(request)
        text = await self._services.do(_export_text, user.account)
        headers = {"content-disposition": 'attachment; filename="py2048-account.json"'}
        return Response(text, media_type="application/json", headers=headers)

    async def act(self, request: Request) -> Response:
        """Do what a form asks for, and show the page again."""
        name = request.path_params["action"]
        action = _ACTIONS.get(name)
        if action is None:
            raise HTTPException(404, "There is no such form.")
        user, form = await self._auth.user(request), dict[str, str]()
        try:
            form = await read_form(request)
            if user.is_guest and name not in _FOR_GUESTS:
                raise FormError("Log in first.", 403)
            response = await action(self, request, user, form)
            await self._auth.disconnect_signed_out()
            return response
        except FormError as error:
            fault, status = str(error), error.status
        except AccountError as error:
            fault, status = str(error), 403
        typed = form.get("name", "")[:LONGEST_NAME]
        return await self._page(request, user, error=fault, status=status, typed=typed)

    async def _page(
        self, request: Request, user: User, *, status: int = 200, **values: object
    ) -> Response:
        """Return the page with a line of `error` or `notice`, or a `secret` shown only once."""
        lists = await self._services.do(_lists_of, user)
        values |= {**lists, "session": user.session, "most_bots": MOST_BOTS}
        response = self._pages.render(request, user, "account.html", status, **values)
        response.headers["cache-control"] = "private, no-store"
        return response

    async def _run(self, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return await self._services.rooms.in_thread(call, *args, **kwargs)

    @property
    def _store(self) -> Store:
        return self._services.rooms.games.store

    # A name

    async def _claim(self, request: Request, user: User, form: dict[str, str]) -> Response:
        if not user.is_guest:
            raise FormError("This account has a name already.", 403)
        name, password = checked_name(form.get("name", "")), form.get("password")
        self._pace(request)
        hashed = await self._new_hash(request, password, name)
        codes, store = new_codes(), self._store.accounts
        hashes = [*map(code_hash, codes)]
        try:
            account = await self._run(store.claim_name, user.account, name, hashed, hashes)
        except AccountError:
            # A form sent twice: the browser has dropped the answer to the first.
            account = await self._services.do(GameService.account, user.account)
            if account.name != name:
                raise
            _, attempt = self._attempt(request, name, account)
            if not await self._passwords.verify(
                account.password, password or "", address_of(request.scope), None
            ):
                raise
            self._services.limits.logins.forgive(attempt)
            await self._run(store.set_recovery, account.id, hashes)
        signed_in = await self._auth.sign_in(request, account)
        notice = "The name is yours."
        return await self._page(request, signed_in, notice=notice, secret=("codes", codes))

    async def _login(self, request: Request, user: User, form: dict[str, str]) -> Response:
        name, password = form.get("name", "")[:200], form.get("password", "")
        account = await self._run(self._store.accounts.find_name, name)
        device, attempt = self._attempt(request, name, account)
        # Without such a name just as much time is spent, so that names cannot be found out.
        is_right = await self._passwords.verify(
            account.password if account else None, password, address_of(request.scope), device
        )
        if account is None or not is_right:
            raise FormError(_WRONG, 403)
        self._services.limits.logins.forgive(attempt)
        if user.session:
            await self._run(self._store.sessions.end, user.session, user.account)
        return await self._back_as(request, account, "login")

    async def _recover(self, request: Request, _user: User, form: dict[str, str]) -> Response:
        """Set a new password by a recovery code, which is used up."""
        name = form.get("name", "")[:200]
        account = await self._run(self._store.accounts.find_name, name)
        _, attempt = self._attempt(request, name, account)
        code = code_hash(form.get("code", "")[:200])
        accounts = self._store.accounts
        if account is None or code not in await self._run(accounts.recovery_codes, account.id):
            raise FormError(_WRONG_CODE, 403)
        self._services.limits.logins.forgive(attempt)
        hashed = await self._new_hash(request, form.get("new_password"), account.name or name)
        if not await self._run(accounts.recover, account.id, code, hashed):
            raise FormError(_WRONG_CODE, 403)
        return await self._back_as(request, account, "recovered")

    async def _new_hash(self, request: Request, password: str | None, name: str) -> str:
        return await self._passwords.new(password or "", name, address_of(request.scope))

    async def _back_as(self, request: Request, account: Account, what: str) -> Response:
        response = _back(what)
        self._auth.remember(response, await self._auth.sign_in(request, account))
        return response

    async def _password(self, request: Request, user: User, form: dict[str, str]) -> Response:
        account = await self._checked(request, user, form)
        hashed = await self._new_hash(request, form.get("new_password"), user.display)
        await self._run(self._store.accounts.set_password, account.id, hashed)
        return await self._back_as(request, account, "password")

    async def _codes(self, request: Request, user: User, form: dict[str, str]) -> Response:
        account = await self._checked(request, user, form)
        codes = new_codes()
        await self._run(self._store.accounts.set_recovery, account.id, [*map(code_hash, codes)])
        return await self._page(request, user, secret=("codes", codes))

    # Sessions

    async def _logout(self, _request: Request, user: User, _: dict[str, str]) -> Response:
        if user.session:
            await self._run(self._store.sessions.end, user.session, user.account)
        else:
            await self._run(self._store.accounts.end_guest, user.account)
        return self._gone("logout")

    async def _everywhere(self, _request: Request, user: User, _: dict[str, str]) -> Response:
        await self._run(self._store.sessions.end_all, user.account)
        return self._gone("everywhere")

    async def _end(self, _request: Request, user: User, form: dict[str, str]) -> Response:
        await self._run(self._store.sessions.end, form.get("session", ""), user.account)
        return _back("ended")

    async def _delete(self, request: Request, user: User, form: dict[str, str]) -> Response:
        if not user.is_guest:
            await self._checked(request, user, form)
        await self._forget(user.account)
        return self._gone("deleted")

    async def _forget(self, account: str) -> None:
        """Delete an account with its programs, and let nobody see their games any more."""
        bots = await self._run(self._store.accounts.bots, account)
        accounts = {account, *(bot.id for bot in bots)}
        for each in accounts:
            self._services.rooms.disconnect(each)
        await self._run(self._store.accounts.delete, account)
        self._services.rooms.forget(accounts)
        self._pages.forget_lists()

    def _gone(self, what: str) -> Response:
        """Make the browser a new guest."""
        response = _back(what)
        self._auth.sign_out(response)
        return response

    # Programs

    async def _bot(self, request: Request, user: User, form: dict[str, str]) -> Response:
        name, token = checked_name(form.get("name", "")), new_token()
        self._pace(request)
        bot, person = new_account_id(), user.account
        await self._run(
            self._store.accounts.add_bot, bot, name, person, session_of(token), most=MOST_BOTS
        )
        return await self._page(request, user, secret=("token", token), shown=name)

    async def _token(self, request: Request, user: User, form: dict[str, str]) -> Response:
        token = new_token()
        bot = await self._bot_of(user, form)
        await self._run(self._store.accounts.renew_token, user.account, bot.id, session_of(token))
        return await self._page(request, user, secret=("token", token), shown=bot.name)

    async def _token_end(self, _request: Request, user: User, form: dict[str, str]) -> Response:
        bot = await self._bot_of(user, form)
        await self._run(self._store.sessions.end_all, bot.id)
        return _back("token-ended")

    async def _bot_delete(self, _request: Request, user: User, form: dict[str, str]) -> Response:
        bot = await self._bot_of(user, form)
        await self._forget(bot.id)
        return _back("bot-deleted")

    async def _bot_of(self, user: User, form: dict[str, str]) -> Account:
        bots = await self._run(self._store.accounts.bots, user.account)
        for bot in bots:
            if bot.id == form.get("bot"):
                return bot
        raise FormError("You have no such program.", 404)

    # How often

    async def _checked(self, request: Request, user: User, form: dict[str, str]) -> Account:
        """Return the account, after the password of the form was found to be its own."""
        attempt = f"session {user.session}"
        self._check_wait(self._services.limits.logins.attempt(attempt))
        account = await self._services.do(GameService.account, user.account)
        password = form.get("password", "")
        if not await self._passwords.verify(
            account.password, password, address_of(request.scope), user.session
        ):
            raise FormError("The password is wrong.", 403)
        self._services.limits.logins.forgive(attempt)
        return account

    def _attempt(
        self, request: Request, name: str, account: Account | None
    ) -> tuple[str | None, str]:
        """Count an attempt to log in; return the browser, if it is known, and the count's key.

        A browser in which the account was logged in before counts for itself, so that nobody
        else's wrong passwords stand in its way. However its name is spelt, it is one account.

        Raises:
            FormError: if there were too many.
        """
        logins, address = self._services.limits.logins, address_of(request.scope)
        device = self._auth.device(request, account.id) if account else None
        if device and not logins.attempt(f"device {device}"):
            return device, f"device {device}"
        self._pace(request)
        attempt = f"name {account.id if account else name.casefold()} {address}"
        self._check_wait(logins.attempt(attempt))
        return None, attempt

    def _pace(self, request: Request) -> None:
        address = address_of(request.scope)
        self._check_wait(self._services.limits.password_addresses.take(address))

    def _check_wait(self, wait: float) -> None:
        if wait:
            self._services.metrics.limited.inc()
            raise FormError(f"Too many attempts: wait {max(1, round(wait))} seconds.", 429)


_Action = Callable[[AccountPages, Request, User, dict[str, str]], Awaitable[Response]]
_ACTIONS: dict[str, _Action] = {
    "claim": AccountPages._claim,
    "login": AccountPages._login,
    "recover": AccountPages._recover,
    "logout": AccountPages._logout,
    "delete": AccountPages._delete,
    "password": AccountPages._password,
    "codes": AccountPages._codes,
    "end": AccountPages._end,
    "everywhere": AccountPages._everywhere,
    "bot": AccountPages._bot,
    "token": AccountPages._token,
    "token-end": AccountPages._token_end,
    "bot-delete": AccountPages._bot_delete,
}
_FOR_GUESTS = ("claim", "login", "recover", "logout", "delete")


def _lists_of(games: GameService, user: User) -> dict[str, object]:
    """Return what an account has: games, and with a name sessions and programs."""
    store, account = games.store, user.account
    recent = store.records.select(owner=account, order="finished", limit=_MOST_RECENT)
    bots = [] if user.is_guest else store.accounts.bots(account)
    return {
        "games": messages.game_rows(store.online.open_games(account)),
        "recent": messages.game_rows(recent),
        "sessions": [] if user.is_guest else store.sessions.of(account),
        "bots": bots,
        "tokens": {bot.id: token for bot in bots for token in store.sessions.of(bot.id)},
        "codes_left": 0 if user.is_guest else len(store.accounts.recovery_codes(account)),
        "all_codes": HOW_MANY,
    }


def _export_text(games: GameService, account: str) -> str:
    """Return the file of all that is kept of an account, which may be long."""
    return json.dumps(games.export(account), indent=1, ensure_ascii=False)


def checked_name(text: str) -> str:
    """Return a name that others can read and tell apart.

    Raises:
        FormError: if it is none.
    """
    name = " ".join(text.split())
    if not (1 < len(name) <= LONGEST_NAME and _NAME.fullmatch(name)):
        raise FormError(
            f"A name has 2 to {LONGEST_NAME} letters from A to Z, digits, spaces, dots, - and _."
        )
    if looks_of(name).startswith(looks_of("guest")):
        raise FormError("Names that begin with guest belong to guests.")
    return name


def _back(what: str) -> RedirectResponse:
    return RedirectResponse(f"/account?done={what}", 303)
