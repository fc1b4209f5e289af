"""Following players, what they have played, and the games that can be watched now."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from py2048.server.play import messages
from py2048.server.play.games import LIVE, GameService
from py2048.server.schema import ActionRejected
from py2048.server.services import Services
from py2048.server.site.auth import Auth
from py2048.server.site.pages import Pages
from py2048.storage import AccountError, OpenGame
from py2048.storage.values import utc_text

MOST_FOLLOWED = 100
"""So many players may one follow."""


class FollowPages:
    """The pages of whom one follows, and of what can be watched.

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
            Route("/live", self.live),
            Route("/following", self.following),
            Route("/player/{name}/follow", self.follow, methods=["POST"]),
            Route("/player/{name}/unfollow", self.unfollow, methods=["POST"]),
        ]

    async def live(self, request: Request) -> Response:
        """The games that can be watched now, those of followed players first."""
        user = await self._auth.user(request)
        rooms = await self._services.ready()
        followed = await self._services.do(_live_of_followed, user.account)
        others = [each for each in await rooms.live_games() if each not in followed]
        return self._pages.render(
            request, user, "live.html",
            followed=messages.game_rows(followed), others=messages.game_rows(others),
        )  # fmt: skip

    async def following(self, request: Request) -> Response:
        """What the players whom one follows play, and have played."""
        user = await self._auth.user(request)
        values = await self._services.do(following_page, user.account)
        return self._pages.render(request, user, "following.html", **values)

    async def follow(self, request: Request) -> Response:
        """Follow a player."""
        return await self._change(request, follow=True)

    async def unfollow(self, request: Request) -> Response:
        """Follow a player no longer."""
        return await self._change(request, follow=False)

    async def _change(self, request: Request, *, follow: bool) -> Response:
        user, name = await self._auth.user(request), request.path_params["name"][:100]
        if user.is_guest:
            raise HTTPException(403, "Log in first: only players with a name follow others.")
        if self._services.limits.follows.take(user.account):
            raise ActionRejected("busy", "too fast: wait a moment")
        try:
            found = await self._services.do(_change_following, user.account, name, follow=follow)
        except AccountError as error:
            raise HTTPException(403, f"{str(error).capitalize()}.") from None
        response = RedirectResponse(f"/player/{quote(found)}", 303)
        self._auth.remember(response, user)
        return response


def _change_following(games: GameService, account: str, name: str, *, follow: bool) -> str:
    """Follow a player, or no longer; return the player's name as it is written."""
    found = None if "\0" in name else games.store.accounts.find_name(name)
    if found is None or found.id == account:
        raise HTTPException(404, "Nobody else here has that name.")
    if follow:
        games.store.follows.add(account, found.id, most=MOST_FOLLOWED)
    else:
        games.store.follows.remove(account, found.id)
    return found.name or ""


def _live_of_followed(games: GameService, account: str) -> list[OpenGame]:
    followed = games.store.follows.of(account)
    since = utc_text(datetime.now(UTC) - LIVE)
    return games.store.online.live_of(followed, since) if followed else []


def following_page(games: GameService, account: str) -> dict[str, Any]:
    """Return what the page of whom one follows shows."""
    followed = games.store.follows.of(account)
    return {
        "players": list(followed.values()),
        "live": messages.game_rows(_live_of_followed(games, account)),
        "recent": messages.game_rows(games.store.records.latest(followed)),
    }
