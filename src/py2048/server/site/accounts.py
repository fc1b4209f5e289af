"""The page of an account: a name, a password, sessions, programs, the export, the end.

A password is kept as an argon2id hash of 19 MiB and two rounds, the cheaper of the settings that
OWASP's *Password Storage Cheat Sheet* recommends; older hashes keep theirs. How easily a new one is
guessed is estimated by zxcvbn (D. L. Wheeler, *zxcvbn: Low-Budget Password Strength Estimation*,
USENIX Security 2016): common passwords, words, names, dates, rows of keys, repetitions, and what
the account is called.

A recovery code replaces a lost password once, for there is no e-mail address to ask. The store has
the SHA-256 of the codes: with 80 random bits each there is nothing to guess.
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

from py2048.app.storage import Account, AccountError
from py2048.app.storage.values import lookalike_key
from py2048.core.language import N_, _
from py2048.server.play import messages
from py2048.server.play.games import GameService, new_account_id
from py2048.server.schema import ActionRejected
from py2048.server.site import auth
from py2048.server.site.auth import User, Visit
from py2048.server.site.pages import FormError, page, read_form, render, sentence

if TYPE_CHECKING:
    from argon2 import PasswordHasher

    from py2048.app.storage import Store

MAX_NAME = 24
MAX_BOTS = 5
_MAX_RECENT = 50
_NAME = re.compile(r"[A-Za-z0-9 ._-]*[A-Za-z0-9][A-Za-z0-9 ._-]*")
_NOTICES = {
    "login": N_("Welcome back."),
    "logout": N_("You are logged out."),
    "ended": N_("That browser is logged out."),
    "everywhere": N_("You are logged out everywhere."),
    "password": N_("The password is changed; all other browsers are logged out."),
    "recovered": N_(
        "The password is changed, and you are logged out elsewhere. The code is used up."
    ),
    "token-ended": N_("The program's token is revoked: it cannot play until it has a new one."),
    "bot-deleted": N_("The program's account is gone, with its games."),
    "deleted": N_("The account is gone, with all that was kept of it."),
}
Form = dict[str, str]
_T = TypeVar("_T")


async def show(visit: Visit) -> Response:
    """Show the page."""
    said = _NOTICES.get(visit.query_params.get("done", ""))
    return await _page(visit, notice=said and _(said))


async def export(visit: Visit) -> Response:
    """Send all that is kept of the account, in one file."""
    found = await visit.services.do(GameService.export, visit.user.account)
    headers = {"content-disposition": 'attachment; filename="py2048-account.json"'}
    text = json.dumps(found, indent=1, ensure_ascii=False)
    return Response(text, media_type="application/json", headers=headers)


async def act(visit: Visit) -> Response:
    """Do what a form asks for, and show the page again."""
    name = visit.path_params["action"]
    action = _ACTIONS.get(name)
    if action is None:
        raise HTTPException(404, _("There is no such form."))
    form = Form()
    try:
        form = await read_form(visit)
        if visit.user.is_guest and name not in _FOR_GUESTS:
            raise FormError(_("Log in first."), 403)
        response = await action(visit, form)
        await auth.disconnect_signed_out(visit.services)
        return response
    except FormError as error:
        fault, status = error.detail, error.status_code
    except AccountError as error:
        fault, status = str(error), 403
    except ActionRejected as error:  # too many passwords wait to be hashed
        fault, status = sentence(error), 503
    typed = form.get("name", "")[:MAX_NAME]
    return await _page(visit, error=fault, status=status, typed=typed)


async def _page(visit: Visit, *, status: int = 200, **values: object) -> Response:
    """Return the page with a line of `error` or `notice`, or a `secret` shown only once."""
    lists = await visit.services.do(_lists_of, visit.user)
    values |= {**lists, "session": visit.user.session, "max_bots": MAX_BOTS}
    response = render(visit, "account.html", status, **values)
    response.headers["cache-control"] = "private, no-store"
    return response


def _lists_of(games: GameService, user: User) -> dict[str, object]:
    """Return what an account has: games, and with a name sessions and programs."""
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
        "all_codes": CODES,
    }


async def _do(visit: Visit, call: Callable[[Store], _T]) -> _T:
    """Do something with the store, in a thread."""
    return await visit.services.do(lambda games: call(games.store))


def _back(what: str) -> RedirectResponse:
    return RedirectResponse(f"/account?done={what}", 303)


# A name and a password


async def _claim(visit: Visit, form: Form) -> Response:
    if not visit.user.is_guest:
        raise FormError(_("This account has a name already."), 403)
    name = checked_name(form.get("name", ""))
    _check_pace(visit)
    hashed = await _new_hash(visit, form.get("password", ""), name)
    codes = new_codes()
    facts = visit.user.account, name, hashed, [*map(code_hash, codes)]
    account = await _do(visit, lambda store: store.accounts.claim_name(*facts))
    await auth.sign_in(visit, account)
    return await _page(visit, notice=_("The name is yours."), secret=("codes", codes))


async def _login(visit: Visit, form: Form) -> Response:
    account, device, attempt = await _attempt(visit, form)
    # Without such a name just as much time is spent, so that names cannot be found out.
    hashed = account.password if account else None
    is_right = await _verify(visit, hashed, form.get("password", ""), device)
    if account is None or not is_right:
        raise FormError(_("The name or the password is wrong."), 403)
    _forgive(visit, attempt)
    await _end_session(visit, visit.user.session, visit.user.account)
    return await _back_as(visit, account, "login")


async def _recover(visit: Visit, form: Form) -> Response:
    """Set a new password by a recovery code, which is used up."""
    account, _device, attempt = await _attempt(visit, form)
    code = code_hash(form.get("code", "")[:200])
    wrong = FormError(_("The name or the recovery code is wrong."), 403)
    if account is None:
        raise wrong
    if code not in await _do(visit, lambda store: store.accounts.recovery_codes(account.id)):
        raise wrong
    _forgive(visit, attempt)
    hashed = await _new_hash(visit, form.get("new_password", ""), account.name or "")
    if not await _do(visit, lambda store: store.accounts.recover(account.id, code, hashed)):
        raise wrong  # it was used meanwhile
    return await _back_as(visit, account, "recovered")


async def _password(visit: Visit, form: Form) -> Response:
    account = await _checked(visit, form)
    hashed = await _new_hash(visit, form.get("new_password", ""), visit.user.display)
    await _do(visit, lambda store: store.accounts.set_password(account.id, hashed))
    return await _back_as(visit, account, "password")


async def _codes(visit: Visit, form: Form) -> Response:
    account, codes = await _checked(visit, form), new_codes()
    hashes = [*map(code_hash, codes)]
    await _do(visit, lambda store: store.accounts.set_recovery(account.id, hashes))
    return await _page(visit, secret=("codes", codes))


async def _back_as(visit: Visit, account: Account, what: str) -> Response:
    await auth.sign_in(visit, account)
    return _back(what)


# Sessions, and the end


async def _logout(visit: Visit, _form: Form) -> Response:
    if visit.user.session:
        await _end_session(visit, visit.user.session, visit.user.account)
    else:
        await _do(visit, lambda store: store.accounts.end_guest(visit.user.account))
    return _gone(visit, "logout")


async def _everywhere(visit: Visit, _form: Form) -> Response:
    await _do(visit, lambda store: store.sessions.end_all(visit.user.account))
    return _gone(visit, "everywhere")


async def _end(visit: Visit, form: Form) -> Response:
    await _end_session(visit, form.get("session"), visit.user.account)
    return _back("ended")


async def _delete(visit: Visit, form: Form) -> Response:
    if not visit.user.is_guest:
        await _checked(visit, form)
    await _forget(visit, visit.user.account)
    return _gone(visit, "deleted")


async def _end_session(visit: Visit, session: str | None, account: str) -> None:
    if session:
        await _do(visit, lambda store: store.sessions.end(session, account))


async def _forget(visit: Visit, account: str) -> None:
    """Delete an account with its programs, and stop showing their games."""
    bots = await _do(visit, lambda store: store.accounts.bots(account))
    gone, rooms = {account, *(bot.id for bot in bots)}, visit.services.rooms
    for each in gone:
        rooms.disconnect(each)
    await _do(visit, lambda store: store.accounts.delete(account))
    rooms.forget(gone)
    visit.services.leaderboards.clear()


def _gone(visit: Visit, what: str) -> Response:
    auth.sign_out(visit)
    return _back(what)


# Programs


async def _bot(visit: Visit, form: Form) -> Response:
    name, token, bot = checked_name(form.get("name", "")), auth.new_token(), new_account_id()
    _check_pace(visit)
    facts = bot, name, visit.user.account, auth.session_of(token)
    await _do(visit, lambda store: store.accounts.add_bot(*facts, most=MAX_BOTS))
    return await _page(visit, secret=("token", token), shown=name)


async def _token(visit: Visit, form: Form) -> Response:
    token, bot = auth.new_token(), await _bot_of(visit, form)
    session = auth.session_of(token)
    await _do(visit, lambda store: store.accounts.renew_token(visit.user.account, bot.id, session))
    return await _page(visit, secret=("token", token), shown=bot.name)


async def _token_end(visit: Visit, form: Form) -> Response:
    bot = await _bot_of(visit, form)
    await _do(visit, lambda store: store.sessions.end_all(bot.id))
    return _back("token-ended")


async def _bot_delete(visit: Visit, form: Form) -> Response:
    bot = await _bot_of(visit, form)
    await _forget(visit, bot.id)
    return _back("bot-deleted")


async def _bot_of(visit: Visit, form: Form) -> Account:
    for bot in await _do(visit, lambda store: store.accounts.bots(visit.user.account)):
        if bot.id == form.get("bot"):
            return bot
    raise FormError(_("You have no such program."), 404)


_ACTIONS: dict[str, Callable[[Visit, Form], Awaitable[Response]]] = {
    "claim": _claim,
    "login": _login,
    "recover": _recover,
    "logout": _logout,
    "delete": _delete,
    "password": _password,
    "codes": _codes,
    "end": _end,
    "everywhere": _everywhere,
    "bot": _bot,
    "token": _token,
    "token-end": _token_end,
    "bot-delete": _bot_delete,
}
_FOR_GUESTS = ("claim", "login", "recover", "logout", "delete")
ROUTES = (
    page("/account", show),
    page("/account/export", export),
    page("/account/{action}", act, "POST"),
)


# How often


async def _checked(visit: Visit, form: Form) -> Account:
    """Return the account, after the password of the form was found to be its own."""
    attempt = f"session {visit.user.session}"
    _check_pace(visit, "logins", attempt)
    account = await visit.services.do(GameService.account, visit.user.account)
    if not await _verify(visit, account.password, form.get("password", ""), visit.user.session):
        raise FormError(_("The password is wrong."), 403)
    _forgive(visit, attempt)
    return account


async def _attempt(visit: Visit, form: Form) -> tuple[Account | None, str | None, str]:
    """Count an attempt to log in by name.

    A browser in which the account was logged in before counts for itself, so that the wrong
    passwords of others do not stand in its way. However its name is spelt, it is one account.

    Returns:
        The account, the browser if it is known, and the key under which the attempt is counted.

    Raises:
        FormError: if there were too many.
    """
    services, name = visit.services, form.get("name", "")[:200]
    account = await _do(visit, lambda store: store.accounts.find_name(name))
    header = visit.headers.get("cookie")
    device = services.cookies.device(header, account.id) if account else None
    if device and not services.limits.take("logins", f"device {device}"):
        return account, device, f"device {device}"
    _check_pace(visit)
    who = account.id if account else name.casefold()
    attempt = f"name {who} {visit.address}"
    _check_pace(visit, "logins", attempt)
    return account, None, attempt


def _forgive(visit: Visit, attempt: str) -> None:
    """Take back that an attempt was counted: it was right."""
    visit.services.limits.buckets["logins"].owe(attempt, -1)


def _check_pace(visit: Visit, limit: str = "passwords", who: str = "") -> None:
    if wait := visit.services.limits.take(limit, who or visit.address):
        text = _("Too many attempts: wait {n} seconds.")
        raise FormError(text.format(n=max(1, round(wait))), 429)


# Names


def checked_name(text: str) -> str:
    """Return a name that others can read, write and tell apart.

    Raises:
        FormError: if it is not one.
    """
    name = " ".join(text.split())
    if not (1 < len(name) <= MAX_NAME and _NAME.fullmatch(name)):
        raise FormError(
            _("A name has 2 to {most} letters from A to Z, digits, spaces, dots, - and _.").format(
                most=MAX_NAME
            )
        )
    if lookalike_key(name).startswith(lookalike_key("guest")):
        raise FormError(_("Names that begin with guest belong to guests."))
    return name


# Passwords

MIN_PASSWORD, MAX_PASSWORD = 8, 128
MIN_GUESSES = 10**8
"""What a password must withstand: zxcvbn's third step of four."""

_JUDGED = 24
"""The characters that are judged. The time grows exponentially with digits and signs that stand for
letters: 32 can take a second."""

_OURS = ("2048", "py2048")
_estimating = threading.Lock()  # zxcvbn keeps the words of one call where the next one finds them


def check_password(password: str, name: str) -> None:
    """Reject a password that does not protect an account. It may take a tenth of a second.

    Args:
        password: the password.
        name: what the account is called.

    Raises:
        FormError: if it is too short or too long, or easily guessed; it says what is better.
    """
    from zxcvbn import zxcvbn

    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise FormError(
            _("A password has {least} to {most} characters.").format(
                least=MIN_PASSWORD, most=MAX_PASSWORD
            )
        )
    words = [*_OURS, name, *name.split()]
    with _estimating:
        found: dict[str, Any] = zxcvbn(password[:_JUDGED], words)
    if found["guesses"] >= MIN_GUESSES:
        return
    feedback, said = found["feedback"], [N_("This password is easily guessed.")]
    if any(word.casefold() in password.casefold() for word in words):
        said.append(N_("It has the name of the account or of the game in it."))
    usual = N_("Take three or four words, or let your browser make one.")
    said += [feedback["warning"], *(feedback["suggestions"] or [usual])]
    raise FormError(" ".join(map(_, filter(None, said))))


async def _new_hash(visit: Visit, password: str, name: str) -> str:
    """Return the hash of a new password, in turn, as `check_password` allows."""
    queue = visit.services.limits.hashing
    return await queue.do(visit.address, _hash, password, name)


async def _verify(visit: Visit, hashed: str | None, password: str, device: str | None) -> bool:
    """Say, in turn, whether a password is the right one; without one to compare, work as long.

    A `device` in which the account was logged in before has a queue that strangers cannot fill.
    """
    limits = visit.services.limits
    queue = limits.hashing if device is None else limits.known_hashing
    who = device or visit.address
    return await queue.do(who, _matches, hashed, password[:MAX_PASSWORD])


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

CODES = 8
_SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: none is taken for another
_AS_READ = str.maketrans("OIL", "011", "- \t")


def new_codes() -> list[str]:
    """Return a set of codes that a person can write down: four groups of four characters each."""
    return [
        "-".join("".join(secrets.choice(_SYMBOLS) for _ in range(4)) for _ in range(4))
        for _ in range(CODES)
    ]


def code_hash(code: str) -> str:
    """Return what is kept of a recovery code, however a person writes it."""
    return hashlib.sha256(code.upper().translate(_AS_READ).encode()).hexdigest()
