"""The best games by rules, board and time, and the games that are played now."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from py2048.server.play import messages
from py2048.server.play.games import checked_rules
from py2048.server.schema import BOARDS, PERIODS
from py2048.server.site.auth import services_of, user_of
from py2048.server.site.pages import page, presets, render, text_of

if TYPE_CHECKING:
    from py2048.server.services import Services

HELD_S = 1.0
"""How long a leaderboard is shown as it was."""

_MAX_ANSWERS = 256
_T = TypeVar("_T")


async def leaderboards(request: Request) -> Response:
    """The best games by rules, board and time."""
    user, services, query = await user_of(request), services_of(request), request.query_params
    chosen = messages.rules_info(str(checked_rules(query.get("rules", "classic"))))
    board, period = query.get("board", "ranked"), query.get("period", "ever")
    seasons = await services.do(lambda games: games.store.leaderboards.seasons())
    if board not in BOARDS or board == "daily" or period not in (*PERIODS, *seasons):
        raise HTTPException(404, "There is no such board.")
    lists = await services.leaderboards.get(
        (board, chosen.text, period), lambda: _lists(services, board, chosen.text, period)
    )
    return render(
        request,
        user,
        "leaderboards.html",
        chosen=chosen,
        board=board,
        period=period,
        rules=presets(),
        boards=[name for name in BOARDS if name != "daily"],
        periods=PERIODS,
        seasons=seasons,
        lists=lists,
    )


async def _lists(services: Services, board: str, rules: str, period: str) -> Markup:
    """Return the lists of a leaderboard, which are the same for all who look at it."""
    rooms = await services.ready()
    found = await rooms.in_thread(rooms.games.store.leaderboards.top, board, rules, period)
    rows, live = messages.game_rows(found), messages.game_rows(await rooms.live_games())
    is_past = period not in PERIODS
    return Markup(text_of("_leaderboard.html", rows=rows, live=live, is_past=is_past, board=board))


async def live(request: Request) -> Response:
    """The games that can be watched now."""
    user, rooms = await user_of(request), services_of(request).rooms
    rows = messages.game_rows(await rooms.live_games())
    return render(request, user, "live.html", games=rows)


ROUTES = (page("/leaderboards", leaderboards), page("/live", live))


class RecentAnswers(Generic[_T]):
    """The latest answers by question, each worked out once for all who ask meanwhile.

    Args:
        seconds: how long an answer is used.
        clock: tells the seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._answers: dict[object, tuple[float, asyncio.Future[_T]]] = {}

    async def get(self, question: object, answer: Callable[[], Awaitable[_T]]) -> _T:
        """Return the recent answer, or work it out; a failure is told to all who wait, once."""
        now = self._clock()
        since, found = self._answers.get(question, (0.0, None))
        is_over = found is not None and found.done()
        if found is None or (is_over and (now - since > self._seconds or found.exception())):
            if len(self._answers) >= _MAX_ANSWERS:
                self._answers.clear()
            found = asyncio.ensure_future(answer())
            self._answers[question] = now, found
        return await asyncio.shield(found)

    def clear(self) -> None:
        """Forget all answers."""
        self._answers.clear()
