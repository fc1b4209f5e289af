"""The pages of battles: offered, gathering, running, over."""

from __future__ import annotations

from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from py2048.errors import StaleGameError
from py2048.server.http.middleware import address_of
from py2048.server.play import battles
from py2048.server.play.games import GameService
from py2048.server.site.auth import services_of, user_of
from py2048.server.site.pages import origin_of, page, presets, read_form, render
from py2048.storage import AccountError

_ACTIONS: dict[str, Callable[[GameService, str, str], str]] = {
    "join": battles.join,
    "leave": battles.leave,
    "start": battles.start,
    "rematch": battles.rematch,
}


async def choose(request: Request) -> Response:
    """Choose the rules of a battle."""
    user = await user_of(request)
    return render(request, user, "battles.html", rules=presets(), minutes=battles.MINUTES)


async def offer(request: Request) -> Response:
    """Offer a battle, and go to its page."""
    user, form, services = await user_of(request), await read_form(request), services_of(request)
    services.limits.check(new_games=user.account, new_games_from=address_of(request.scope))
    rules, minutes = form.get("rules", "classic"), form.get("minutes", "5")
    return RedirectResponse(await services.do(battles.offer, user.account, rules, minutes), 303)


async def show(request: Request) -> Response:
    """A battle: who takes part, how it goes, how it ended."""
    user, battle = await user_of(request), request.path_params["battle"]
    values = await services_of(request).do(battles.battle_page, battle, user.account)
    address = f"{origin_of(request)}{battles.address_of(battle)}"
    return render(request, user, "battle.html", address=address, **values)


async def act(request: Request) -> Response:
    """Join, start, leave, or play again."""
    action = _ACTIONS.get(request.path_params["action"])
    if action is None:
        raise HTTPException(404, "There is no such form.")
    user, services = await user_of(request), services_of(request)
    services.limits.check(battles=user.account)
    battle = request.path_params["battle"]
    try:
        address = await services.do(action, battle, user.account)
    except (AccountError, StaleGameError) as error:
        sentence = str(error)
        raise HTTPException(409, f"{sentence[:1].upper()}{sentence[1:]}.") from None
    services.battles.wake(battle)
    return RedirectResponse(address, 303)


ROUTES = (
    page("/battle", choose),
    page("/battle", offer, "POST"),
    page("/battle/{battle}", show),
    page("/battle/{battle}/{action}", act, "POST"),
)
