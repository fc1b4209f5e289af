"""The page of an account: a name, a password, sessions, programs, the export, the end.

A password is kept as an argon2id hash of 19 MiB and two rounds, the cheaper of the settings that
OWASP's *Password Storage Cheat Sheet* recommends; older hashes keep theirs. Few are made at a time,
a queue of bounded length waits for them, and browsers in which an account was logged in before have
a queue of their own, which strangers cannot fill.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
import unicodedata
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from py2048.errors import Py2048Error
from py2048.server import messages
from py2048.server.auth import Auth, User, new_token, session_of
from py2048.server.games import GameService, new_account_id
from py2048.server.limits import Slots
from py2048.server.middleware import address_of
from py2048.server.pages import Pages
from py2048.server.services import Services
from py2048.storage import Account, AccountError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

    from py2048.storage import Store

_P = ParamSpec("_P")
_T = TypeVar("_T")

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
        found = await self._services.do(GameService.export, user.account)
        headers = {"content-disposition": 'attachment; filename="py2048-account.json"'}
        text = json.dumps(found, indent=1, ensure_ascii=False)
        return Response(text, media_type="application/json", headers=headers)

    async def act(self, request: Request) -> Response:
        """Do what a form asks for, and show the page again."""
        name = request.path_params["action"]
        action = _ACTIONS.get(name)
        if action is None:
            raise HTTPException(404, "There is no such form.")
        user = await self._auth.user(request)
        try:
            form = await _form(request)
            if user.is_guest and name not in _FOR_GUESTS:
                raise FormError("Log in first.", 403)
            response = await action(self, request, user, form)
            await self._auth.disconnect_signed_out()
            return response
        except FormError as error:
            return await self._page(request, user, error=str(error), status=error.status)
        except AccountError as error:
            return await self._page(request, user, error=str(error), status=403)

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
        name = checked_name(form.get("name", ""))
        password = checked_password(form.get("password"), name)
        self._pace(request)
        hashed = await self._passwords.hash(password, address_of(request.scope))
        code = new_code()
        account = await self._run(
            self._store.accounts.claim_name, user.account, name, hashed, code_hash(code)
        )
        return await self._signed_in(request, account, code, "The name is yours.")

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
        """Set a new password by the recovery code, which is replaced."""
        name = form.get("name", "")[:200]
        account = await self._run(self._store.accounts.find_name, name)
        _, attempt = self._attempt(request, name, account)
        if account is None or not is_code(account.recovery, form.get("code", "")):
            raise FormError("The name or the recovery code is wrong.", 403)
        password = checked_password(form.get("new_password"), name)
        hashed = await self._passwords.hash(password, address_of(request.scope))
        code = new_code()
        await self._run(self._store.accounts.set_password, account.id, hashed, code_hash(code))
        self._services.limits.logins.forgive(attempt)
        return await self._signed_in(request, account, code, "The password is changed.")

    async def _signed_in(
        self, request: Request, account: Account, code: str, notice: str
    ) -> Response:
        """Show the page of a new session, with the recovery code."""
        user = await self._auth.sign_in(request, account)
        return await self._page(request, user, notice=notice, secret=("code", code))

    async def _back_as(self, request: Request, account: Account, what: str) -> Response:
        response = _back(what)
        self._auth.remember(response, await self._auth.sign_in(request, account))
        return response

    async def _password(self, request: Request, user: User, form: dict[str, str]) -> Response:
        account = await self._checked(request, user, form)
        password = checked_password(form.get("new_password"), user.display)
        hashed = await self._passwords.hash(password, address_of(request.scope))
        await self._run(self._store.accounts.set_password, account.id, hashed)
        return await self._back_as(request, account, "password")

    async def _code(self, request: Request, user: User, form: dict[str, str]) -> Response:
        account = await self._checked(request, user, form)
        code = new_code()
        await self._run(self._store.accounts.set_recovery, account.id, code_hash(code))
        return await self._page(request, user, secret=("code", code))

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
        self._services.rooms.disconnect(user.account)
        await self._run(self._store.accounts.delete, user.account)
        self._pages.forget_lists()
        return self._gone("deleted")

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

    async def _bot_delete(self, _request: Request, user: User, form: dict[str, str]) -> Response:
        bot = await self._bot_of(user, form)
        await self._run(self._store.accounts.delete, bot.id)
        self._pages.forget_lists()
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
    "code": AccountPages._code,
    "end": AccountPages._end,
    "everywhere": AccountPages._everywhere,
    "bot": AccountPages._bot,
    "token": AccountPages._token,
    "bot-delete": AccountPages._bot_delete,
}
_FOR_GUESTS = ("claim", "login", "recover", "logout", "delete")


def _lists_of(games: GameService, user: User) -> dict[str, object]:
    """Return what an account has: games, and with a name sessions and programs."""
    store, account = games.store, user.account
    recent = store.records.select(owner=account, order="finished", limit=_MOST_RECENT)
    return {
        "games": messages.game_rows(store.online.open_games(account)),
        "recent": messages.game_rows(recent),
        "sessions": [] if user.is_guest else store.sessions.of(account),
        "bots": [] if user.is_guest else store.accounts.bots(account),
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


# Passwords and recovery codes

SHORTEST, LONGEST = 8, 128
_FEWEST_KINDS, _SHORTEST_NUMBER, _LEAST_BESIDE = 4, 12, 5
_TRIMMINGS = "0123456789!?.,-_#$*@ "
_ROWS = ("abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm",
         "qwertzuiop", "azertyuiop", "1q2w3e4r5t6y7u8i9o0p", "1qaz2wsx3edc4rfv5tgb")  # fmt: skip
_COMMON = (
    " password passwort passwd motdepasse contrasena senha geheim letmein iloveyou welcome monkey"
    " dragon sunshine princess football baseball basketball superman batman starwars trustno"
    " master shadow michael jennifer jordan hunter charlie computer internet whatever freedom"
    " changeme default secret login admin administrator access guest test hello hallo py game"
    " minecraft pokemon naruto cheese summer winter spring autumn liverpool chelsea arsenal "
)
_LEET = str.maketrans("0134578@$!", "oleastbasi")
_SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: none is taken for another
_CODE_PARTS, _PART = 5, 4


class FormError(Py2048Error):
    """A form that cannot be granted.

    Attributes:
        status: the HTTP status that says so.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def checked_password(text: str | None, name: str = "") -> str:
    """Return a password of a length that protects, and not one that is tried first.

    Raises:
        FormError: if it is too short or too long, or easily guessed.
    """
    password = text or ""
    if not SHORTEST <= len(password) <= LONGEST:
        raise FormError(f"A password has {SHORTEST} to {LONGEST} characters.")
    if is_common(password, name):
        raise FormError(
            "This password is among the first that anybody would try: take several words, or let"
            " your browser make one."
        )
    return password


def is_common(password: str, name: str = "") -> bool:
    """Say whether a password is a common one, a row of keys, or little more than the name."""
    plain, own = password.casefold(), name.casefold()
    word = "".join(filter(str.isalpha, plain.strip(_TRIMMINGS).translate(_LEET)))
    return (
        f" {word} " in _COMMON
        or len(set(plain)) < _FEWEST_KINDS
        or (plain.isdecimal() and len(plain) < _SHORTEST_NUMBER)
        or any(plain in row * 2 or plain[::-1] in row * 2 for row in _ROWS)
        or (bool(own) and own in plain and len(plain) < len(own) + _LEAST_BESIDE)
    )


def new_code() -> str:
    """Return a recovery code: 100 random bits that a person can write down."""
    parts = ("".join(secrets.choice(_SYMBOLS) for _ in range(_PART)) for _ in range(_CODE_PARTS))
    return "-".join(parts)


def code_hash(code: str) -> str:
    """Return what is kept of a recovery code, however a person writes it."""
    plain = code.upper().translate(str.maketrans("OIL", "011", "- \t"))
    return hashlib.sha256(plain.encode()).hexdigest()


def is_code(hashed: str | None, code: str) -> bool:
    """Say whether a code is the one that is kept."""
    return hmac.compare_digest(hashed or "", code_hash(code))


class Passwords:
    """Makes and compares hashes, a few at a time."""

    def __init__(self) -> None:
        self._strangers = PasswordQueue(2, 40, 160)  # a class signs in together
        self._known = PasswordQueue(1, 20, 40)

    async def hash(self, password: str, who: str) -> str:
        """Return the hash of a new password.

        Args:
            password: the password.
            who: where the request comes from.

        Raises:
            FormError: if too many wait already.
        """
        return await self._strangers.do(who, _hash, password)

    async def verify(self, hashed: str | None, password: str, who: str, device: str | None) -> bool:
        """Say whether a password is the right one; without one to compare, work as long.

        Args:
            hashed: the hash.
            password: the password.
            who: where the request comes from.
            device: the name of a browser in which the account was logged in before.

        Raises:
            FormError: if too many wait already.
        """
        queue = self._strangers if device is None else self._known
        return await queue.do(device or who, _verify, hashed, password[:LONGEST])


class PasswordQueue:
    """Passwords that wait for the processor.

    Args:
        at_once: so many are served at the same time.
        most_each: so many of one address may wait.
        most: so many may wait in all.
    """

    def __init__(self, at_once: int, most_each: int, most: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._slots = Slots(most_each, most)

    async def do(self, who: str, call: Callable[..., _T], *args: object) -> _T:
        """Do something in a thread, in turn.

        Raises:
            FormError: if too many wait already.
        """
        with self._slots.held(who) as is_free:
            if not is_free:
                raise FormError("Too many people log in just now: try again in a moment.", 503)
            async with self._free:
                return await asyncio.to_thread(call, *args)


def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def _hash(password: str) -> str:
    return _hasher().hash(password)


def _verify(hashed: str | None, password: str) -> bool:
    from argon2.exceptions import Argon2Error, InvalidHashError

    if hashed is None:
        _hash(password)
        return False
    try:
        return _hasher().verify(hashed, password)
    except (Argon2Error, InvalidHashError):
        return False
