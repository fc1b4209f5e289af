"""The pages of battles: offered, gathering, running, over."""

from __future__ import annotations

from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from py2048.errors import StaleGameError
from py2048.server.http.middleware import address_of
from py2048.server.play import battles
from py2048.server.play.games import GameService
from py2048.server.schema import ActionRejected
from py2048.server.services import Services
from py2048.server.site.auth import Auth, User
from py2048.server.site.forms import FormError, read_form
from py2048.server.site.pages import Pages, origin_of, presets
from py2048.storage import AccountError

_ACTIONS: dict[str, Callable[[GameService, str, str], str]] = {
    "join": battles.join,
    "leave": battles.leave,
    "start": battles.start,
    "rematch": battles.rematch,
}


class BattlePages:
    """The page on which a battle is offered, and that of each battle.

    Args:
        services: the server's parts.
        auth: tells who asks.
        pages: renders the pages.
    """

    def __init__(self, services: Services, auth: Auth, pages: Pages) -> None:
        self._services = services
        self._auth = auth
        self._pages = pages

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/battle", self.choose),
            Route("/battle", self.offer, methods=["POST"]),
            Route("/battle/{battle}", self.show),
            Route("/battle/{battle}/{action}", self.act, methods=["POST"]),
        ]

    async def choose(self, request: Request) -> Response:
        """Choose the rules of a battle."""
        user = await self._auth.user(request)
        return self._pages.render(
            request, user, "battles.html", rules=presets(), minutes=battles.MINUTES
        )

    async def offer(self, request: Request) -> Response:
        """Offer a battle, and go to its page."""
        user = await self._auth.user(request)
        try:
            form = await read_form(request)
        except FormError as error:
            raise HTTPException(error.status, str(error)) from None
        self._services.limits.check_new_game(user.account, address_of(request.scope))
        rules, minutes = form.get("rules", "classic"), form.get("minutes", "5")
        address = await self._services.do(battles.offer, user.account, rules, minutes)
        return self._to(address, user)

    async def show(self, request: Request) -> Response:
        """A battle: who takes part, how it goes, how it ended."""
        user = await self._auth.user(request)
        battle = request.path_params["battle"]
        values = await self._services.do(battles.battle_page, battle, user.account)
        address = f"{origin_of(self._services.settings, request)}{battles.address_of(battle)}"
        return self._pages.render(request, user, "battle.html", address=address, **values)

    async def act(self, request: Request) -> Response:
        """Join, start, leave, or play again."""
        action = _ACTIONS.get(request.path_params["action"])
        if action is None:
            raise HTTPException(404, "There is no such form.")
        user = await self._auth.user(request)
        if self._services.limits.battles.take(user.account):
            raise ActionRejected("busy", "too fast: wait a moment")
        battle = request.path_params["battle"]
        try:
            address = await self._services.do(action, battle, user.account)
        except (AccountError, StaleGameError) as error:
            sentence = str(error)
            raise HTTPException(409, f"{sentence[:1].upper()}{sentence[1:]}.") from None
        self._services.battles.wake(battle)
        return self._to(address, user)

    def _to(self, address: str, user: User) -> Response:
        response = RedirectResponse(address, 303)
        self._auth.remember(response, user)
        return response
