"""The account page: name, password, login sessions, programs, export and deletion.

Passwords are hashed with argon2id (19 MiB, two iterations), the cheaper of two settings that
OWASP's *Password Storage Cheat Sheet* recommends. Existing hashes keep their parameters. The
strength of new passwords is estimated by zxcvbn (Daniel Wheeler, *zxcvbn: Low-Budget Password
Strength Estimation*, USENIX Security 2016), which recognises common passwords, words, names, dates,
keyboard patterns, repetitions and the account's name.

Recovery codes replace password resets by e-mail, because no e-mail addresses are stored. Each code
can be used once. The store keeps the SHA-256 hashes of the codes, which need no salt because a code
has 80 random bits.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from py2048.app.storage.values import Account, AccountError, lookalike_key
from py2048.core.language import N_, _
from py2048.server.admission import Caller
from py2048.server.bounds import CODES, MAX_BOTS
from py2048.server.play import messages
from py2048.server.play.games import GameService, new_account_id
from py2048.server.schema import ActionRejected
from py2048.server.site.auth import User, UserRequest, new_token, session_of
from py2048.server.site.pages import Page, Site, read_form, sentence

if TYPE_CHECKING:
    from argon2 import PasswordHasher

    from py2048.app.storage import Store

MAX_NAME = 24
_MAX_RECENT = 50
_NAME = re.compile(r"[A-Za-z0-9 ._-]*[A-Za-z0-9][A-Za-z0-9 ._-]*")
_CONFIRMATIONS = {
    "login": N_("Welcome back."),
    "logout": N_("You are logged out."),
    "ended": N_("That browser is logged out."),
    "everywhere": N_("You are logged out everywhere."),
    "password": N_("The password has been changed, and all other browsers are logged out."),
    "recovered": N_(
        "The password has been changed and you are logged out elsewhere. The code no longer works."
    ),
    "token-ended": N_(
        "The program's token has been revoked: it cannot play until it has a new one."
    ),
    "bot-deleted": N_("The program and its games have been deleted."),
    "deleted": N_("The account and all its data have been deleted."),
}
_GUEST_ACTIONS = ("claim", "login", "recover", "logout", "delete")
Form = dict[str, str]
Action = Callable[[Site, UserRequest, Form], Awaitable[Response]]
_T = TypeVar("_T")


async def show(site: Site, request: UserRequest) -> Response:
    """Show the account page."""
    text = _CONFIRMATIONS.get(request.query_params.get("done", ""))
    return await _page(site, request, notice=text and _(text))


async def export(site: Site, request: UserRequest) -> Response:
    """Send all of the account's data as a JSON file."""
    found = await site.read("list", request.caller, GameService.export, request.user.account)
    headers = {"content-disposition": 'attachment; filename="py2048-account.json"'}
    text = json.dumps(found, indent=1, ensure_ascii=False)
    return Response(text, media_type="application/json", headers=headers)


async def act(site: Site, request: UserRequest) -> Response:
    """Perform the action of a submitted form, and show the page again."""
    name = request.path_params["action"]
    action = _ACTIONS.get(name)
    if action is None:
        raise HTTPException(404, _("There is no such form."))
    form = Form()
    try:
        form = await read_form(request)
        if request.user.is_guest and name not in _GUEST_ACTIONS:
            raise HTTPException(403, _("Log in first."))
        response = await action(site, request, form)
        await site.auth.disconnect_signed_out()
        return response
    except HTTPException as error:
        fault, status = error.detail, error.status_code
    except AccountError as error:
        fault, status = str(error), 403
    except ActionRejected as error:  # too many attempts, or the server is too busy
        fault, status = sentence(error), 429
    typed = form.get("name", "")[:MAX_NAME]
    return await _page(site, request, error=fault, status=status, typed=typed)


async def _page(site: Site, request: UserRequest, status: int = 200, **values: Any) -> Response:
    values |= {"session": request.user.session, "max_bots": MAX_BOTS, "all_codes": CODES}
    user = request.user
    response = await site.show(request, "account.html", _lists_of, user, status=status, **values)
    response.headers["cache-control"] = "private, no-store"
    return response


async def _do(site: Site, call: Callable[[Store], _T]) -> _T:
    return await site.backend.do(lambda games: call(games.store))


# Name and password


async def _claim(site: Site, request: UserRequest, form: Form) -> Response:
    if not request.user.is_guest:
        raise HTTPException(403, _("This account already has a name."))
    name = checked_name(form.get("name", ""))
    site.limits.check("passwords", request.address)
    hashed = await _new_hash(site, request, form.get("password", ""), name)
    codes = new_codes()
    facts = request.user.account, name, hashed, [*map(code_hash, codes)]
    account = await _do(site, lambda store: store.accounts.claim_name(*facts))
    await site.auth.sign_in(request, account)
    secret = "codes", codes
    return await _page(site, request, notice=_("Your account has been created."), secret=secret)


async def _login(site: Site, request: UserRequest, form: Form) -> Response:
    account, device, key = await _start_attempt(site, request, form)
    # Check a password even for unknown names, so response times do not reveal which names exist.
    hashed = account.password if account else None
    is_right = await _verify(site, request, hashed, form.get("password", ""), device)
    if account is None or not is_right:
        raise HTTPException(403, _("The name or the password is wrong."))
    site.limits.buckets["logins"].charge(key, -1)  # only failures count
    await _end_session(site, request.user.session, request.user.account)
    return await _sign_in_as(site, request, account, "login")


async def _recover(site: Site, request: UserRequest, form: Form) -> Response:
    account, _device, key = await _start_attempt(site, request, form)
    code = code_hash(form.get("code", "")[:200])
    wrong = HTTPException(403, _("The name or the recovery code is wrong."))
    if account is None:
        raise wrong
    if code not in await _do(site, lambda store: store.accounts.recovery_codes(account.id)):
        raise wrong
    site.limits.buckets["logins"].charge(key, -1)  # only failures count
    hashed = await _new_hash(site, request, form.get("new_password", ""), account.name or "")
    if not await _do(site, lambda store: store.accounts.recover(account.id, code, hashed)):
        raise wrong  # a concurrent request used the code first
    return await _sign_in_as(site, request, account, "recovered")


async def _password(site: Site, request: UserRequest, form: Form) -> Response:
    account = await _check_own_password(site, request, form)
    new_password = form.get("new_password", "")
    hashed = await _new_hash(site, request, new_password, request.user.display_name)
    await _do(site, lambda store: store.accounts.set_password(account.id, hashed))
    return await _sign_in_as(site, request, account, "password")


async def _codes(site: Site, request: UserRequest, form: Form) -> Response:
    account, codes = await _check_own_password(site, request, form), new_codes()
    hashes = [*map(code_hash, codes)]
    await _do(site, lambda store: store.accounts.set_recovery(account.id, hashes))
    return await _page(site, request, secret=("codes", codes))


async def _sign_in_as(site: Site, request: UserRequest, account: Account, done: str) -> Response:
    await site.auth.sign_in(request, account)
    return _redirect(done)


# Sessions and deletion


async def _logout(site: Site, request: UserRequest, _form: Form) -> Response:
    if request.user.session:
        await _end_session(site, request.user.session, request.user.account)
    else:
        await _do(site, lambda store: store.accounts.end_guest(request.user.account))
    return _sign_out(site, request, "logout")


async def _everywhere(site: Site, request: UserRequest, _form: Form) -> Response:
    await _do(site, lambda store: store.sessions.end_all(request.user.account))
    return _sign_out(site, request, "everywhere")


async def _end(site: Site, request: UserRequest, form: Form) -> Response:
    await _end_session(site, form.get("session"), request.user.account)
    return _redirect("ended")


async def _delete(site: Site, request: UserRequest, form: Form) -> Response:
    if not request.user.is_guest:
        await _check_own_password(site, request, form)
    await _delete_account(site, request.user.account)
    return _sign_out(site, request, "deleted")


async def _end_session(site: Site, session: str | None, account: str) -> None:
    if session:
        await _do(site, lambda store: store.sessions.end(session, account))


async def _delete_account(site: Site, account: str) -> None:
    """Delete an account with its programs, and close their games and connections."""
    bots = await _do(site, lambda store: store.accounts.bots(account))
    deleted, rooms = {account, *(bot.id for bot in bots)}, site.backend.rooms
    for each in deleted:
        rooms.disconnect(each)
    await _do(site, lambda store: store.accounts.delete(account))
    rooms.forget(deleted)
    site.leaderboards.clear()


def _sign_out(site: Site, request: UserRequest, done: str) -> Response:
    site.auth.sign_out(request)
    return _redirect(done)


def _redirect(done: str) -> RedirectResponse:
    return RedirectResponse(f"/account?done={done}", 303)


# Programs


async def _bot(site: Site, request: UserRequest, form: Form) -> Response:
    name, token, bot = checked_name(form.get("name", "")), new_token(), new_account_id()
    site.limits.check("passwords", request.address)
    facts = bot, name, request.user.account, session_of(token)
    await _do(site, lambda store: store.accounts.add_bot(*facts, most=MAX_BOTS))
    return await _page(site, request, secret=("token", token), shown=name)


async def _token(site: Site, request: UserRequest, form: Form) -> Response:
    token, bot = new_token(), await _own_bot(site, request, form)
    facts = request.user.account, bot.id, session_of(token)
    await _do(site, lambda store: store.accounts.renew_token(*facts))
    return await _page(site, request, secret=("token", token), shown=bot.name)


async def _token_end(site: Site, request: UserRequest, form: Form) -> Response:
    bot = await _own_bot(site, request, form)
    await _do(site, lambda store: store.sessions.end_all(bot.id))
    return _redirect("token-ended")


async def _bot_delete(site: Site, request: UserRequest, form: Form) -> Response:
    await _delete_account(site, (await _own_bot(site, request, form)).id)
    return _redirect("bot-deleted")


async def _own_bot(site: Site, request: UserRequest, form: Form) -> Account:
    for bot in await _do(site, lambda store: store.accounts.bots(request.user.account)):
        if bot.id == form.get("bot"):
            return bot
    raise HTTPException(404, _("You have no such program."))


_ACTIONS: dict[str, Action] = {
    each.__name__[1:].replace("_", "-"): each
    for each in (
        *(_claim, _login, _recover, _logout, _delete, _password, _codes, _end, _everywhere),
        *(_bot, _token, _token_end, _bot_delete),
    )
}
PAGES = (
    Page("/account", show),
    Page("/account/export", export),
    Page("/account/{action}", act, "POST"),
)


# Attempts


async def _check_own_password(site: Site, request: UserRequest, form: Form) -> Account:
    """Check the password in a form, and return the user's account."""
    session, key = request.user.session, f"session {request.user.session}"
    site.limits.check("passwords", request.address)
    site.limits.check("logins", key)
    account = await site.backend.do(GameService.account, request.user.account)
    if not await _verify(site, request, account.password, form.get("password", ""), session):
        raise HTTPException(403, _("The password is wrong."))
    site.limits.buckets["logins"].charge(key, -1)  # only failures count
    return account


async def _start_attempt(
    site: Site, request: UserRequest, form: Form
) -> tuple[Account | None, str | None, str]:
    """Count an attempt to log in with a name.

    Attempts from browsers that have logged in to the account before are counted separately, so that
    failed logins by strangers do not lock out the owner. All spellings of a name count towards the
    same limit.

    Returns:
        The account, the browser's id, and the key of the attempt counter. The id is None for
        browsers that have not logged in to the account before.

    Raises:
        ActionRejected: If there were too many attempts (``busy``).
    """
    name = form.get("name", "")[:200]
    account = await _do(site, lambda store: store.accounts.find_name(name))
    header = request.headers.get("cookie")
    device = site.auth.cookies.device(header, account.id) if account else None
    if device and not site.limits.take("logins", f"device {device}"):
        return account, device, f"device {device}"
    site.limits.check("passwords", request.address)
    owner = account.id if account else name.casefold()
    key = f"name {owner} {request.address}"
    site.limits.check("logins", key)
    return account, None, key


async def _new_hash(site: Site, request: UserRequest, password: str, name: str) -> str:
    """Check and hash a new password."""
    return await site.admission.do("password", request.caller, _hash, password, name)


async def _verify(
    site: Site, request: UserRequest, hashed: str | None, password: str, device: str | None
) -> bool:
    """Verify a password in the same time, whether or not a hash exists.

    Strangers do not delay known browsers.
    """
    caller = Caller(device, device, is_known=True) if device else request.caller
    return await site.admission.do("password", caller, _matches, hashed, password[:MAX_PASSWORD])


def _lists_of(games: GameService, user: User) -> dict[str, object]:
    """Return the games of an account and, if it has a name, its sessions and programs."""
    store, account = games.store, user.account
    recent = store.records.select(owner=account, order="finished", limit=_MAX_RECENT)
    bots = [] if user.is_guest else store.accounts.bots(account)
    return {
        "games": messages.game_rows(store.online.open_games(account)),
        "recent": messages.game_rows(recent),
        "sessions": [] if user.is_guest else store.sessions.of(account),
        "bots": bots,
        "tokens": {bot.id: token for bot in bots for token in store.sessions.of(bot.id)},
        "codes_left": 0 if user.is_guest else len(store.accounts.recovery_codes(account)),
    }


# Names


def checked_name(text: str) -> str:
    """Return a name with normalized spaces.

    Raises:
        HTTPException: If the name is not allowed.
    """
    name = " ".join(text.split())
    if not (1 < len(name) <= MAX_NAME and _NAME.fullmatch(name)):
        text = _("A name has 2 to {most} letters from A to Z, digits, spaces, dots, - and _.")
        raise HTTPException(400, text.format(most=MAX_NAME))
    if lookalike_key(name).startswith(lookalike_key("guest")):
        raise HTTPException(400, _("Names that begin with guest are reserved for guests."))
    return name


# Passwords

MIN_PASSWORD, MAX_PASSWORD = 8, 128
MIN_GUESSES = 10**8  # zxcvbn's score 3 of 4

# Only the start of a long password is checked. zxcvbn's running time grows exponentially with the
# number of substituted letters, and reaches about a second for 32 characters.
_MAX_ESTIMATED = 24

_GAME_WORDS = ("2048", "py2048")
_zxcvbn_lock = threading.Lock()  # zxcvbn keeps the user's words in a global variable


def check_password(password: str, name: str) -> None:
    """Raise an error if a password is weak. This may take a tenth of a second.

    Args:
        password: The password.
        name: The account's name. Passwords that contain it are weaker.

    Raises:
        HTTPException: If the password has the wrong length or can easily be guessed. The message
            contains suggestions.
    """
    from zxcvbn import zxcvbn

    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        text = _("A password has {least} to {most} characters.")
        raise HTTPException(400, text.format(least=MIN_PASSWORD, most=MAX_PASSWORD))
    words = [*_GAME_WORDS, name, *name.split()]
    with _zxcvbn_lock:
        found: dict[str, Any] = zxcvbn(password[:_MAX_ESTIMATED], words)
    if found["guesses"] >= MIN_GUESSES:
        return
    feedback, texts = found["feedback"], [N_("This password is easy to guess.")]
    if any(word.casefold() in password.casefold() for word in words):
        texts.append(N_("It contains the name of the account or of the game."))
    default = N_("Use three or four words, or let your browser generate one.")
    texts += [feedback["warning"], *(feedback["suggestions"] or [default])]
    raise HTTPException(400, " ".join(map(_, filter(None, texts))))


def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def _hash(password: str, name: str) -> str:
    check_password(password, name)
    return _hasher().hash(password)


def _matches(hashed: str | None, password: str) -> bool:
    from argon2.exceptions import Argon2Error, InvalidHashError

    if hashed is None:
        _hasher().hash(password)
        return False
    try:
        return _hasher().verify(hashed, password)
    except (Argon2Error, InvalidHashError):
        return False


# Recovery codes

_SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32, without lookalike characters
_LOOKALIKES = str.maketrans("OIL", "011", "- \t")


def new_codes() -> list[str]:
    """Return new recovery codes, each with four groups of four characters."""
    return [
        "-".join("".join(secrets.choice(_SYMBOLS) for _ in range(4)) for _ in range(4))
        for _ in range(CODES)
    ]


def code_hash(code: str) -> str:
    """Return the hash of a recovery code. Case, separators and similar characters do not matter."""
    return hashlib.sha256(code.upper().translate(_LOOKALIKES).encode()).hexdigest()
