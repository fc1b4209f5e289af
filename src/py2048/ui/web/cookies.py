"""The session cookie: which account a browser is, signed by the server."""

from __future__ import annotations

from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from itsdangerous import BadData, URLSafeTimedSerializer

from py2048.session.online import new_account_id

NAME = "py2048"
_DAYS = 400
_SALT = "py2048 session"


@dataclass(frozen=True, slots=True)
class Pass:
    """What a cookie says.

    Attributes:
        account: the id of the account.
        generation: the account's generation when the cookie was made; a later one ends it.
        is_new: whether the browser has yet to be given it.
    """

    account: str
    generation: int
    is_new: bool = False


class Cookies:
    """Reads and writes the cookie.

    Args:
        key: signs it.
        secure: whether browsers send it by TLS only.
    """

    def __init__(self, key: str, *, secure: bool) -> None:
        self._serializer = URLSafeTimedSerializer(key, salt=_SALT)
        self._secure = secure

    def read(self, header: str | None) -> Pass | None:
        """Return what the ``Cookie`` header says, None if it holds no valid cookie of ours."""
        try:
            cookie = SimpleCookie(header or "").get(NAME)
            if cookie is None:
                return None
            account, generation = self._serializer.loads(cookie.value, max_age=_DAYS * 86400)
        except (BadData, CookieError, ValueError, TypeError):
            return None
        return Pass(account, generation)

    def new(self) -> Pass:
        """Return the pass of a new guest."""
        return Pass(new_account_id(), 0, is_new=True)

    def write(self, account: str, generation: int) -> str:
        """Return the ``Set-Cookie`` header that makes a browser this account."""
        value = self._serializer.dumps([account, generation])
        return self._header(value, _DAYS * 86400)

    def _header(self, value: str, age: int) -> str:
        secure = "; Secure" if self._secure else ""
        return f"{NAME}={value}; Max-Age={age}; Path=/; HttpOnly; SameSite=Lax{secure}"
