"""The puzzle of the day: a position, four buttons, and what each move is worth.

An answer is part of the address and nothing of it is kept, so the page needs no store, and whoever
sends somebody the address of an answer sends the answer too.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from py2048.direction import Direction
from py2048.errors import DirectionError
from py2048.server.play.messages import rules_info
from py2048.server.site.auth import Auth
from py2048.server.site.forms import FormError, read_form
from py2048.server.site.pages import Pages, checked_day, days_at

if TYPE_CHECKING:
    from py2048.review.puzzles import Puzzle


class PuzzlePages:
    """The page of the daily puzzle.

    Args:
        auth: tells who asks.
        pages: renders the page.
    """

    def __init__(self, auth: Auth, pages: Pages) -> None:
        self._auth = auth
        self._pages = pages

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/puzzle", self.show),
            Route("/puzzle", self.answer, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        """The puzzle of a day; with an answer, whether it is right and why."""
        user = await self._auth.user(request, wait=False)
        today = datetime.now(UTC).date()
        day = checked_day(request.query_params.get("day"), today, "puzzle")
        answer = request.query_params.get("answer")
        values = await asyncio.to_thread(_puzzle_page, day, answer)
        return self._pages.render(request, user, "puzzle.html", **days_at(day, today), **values)

    async def answer(self, request: Request) -> Response:
        """Go to the page of an answer."""
        try:
            form = await read_form(request)
        except FormError as error:
            raise HTTPException(error.status, str(error)) from None
        query = {name: form.get(name, "") for name in ("day", "answer")}
        return RedirectResponse(f"/puzzle?{urlencode(query)}", 303)


def _puzzle_page(day: date, answer: str | None) -> dict[str, Any]:
    """Return what the page of a puzzle shows.

    Raises:
        HTTPException: if the answer is no legal move.
    """
    # Reading the pack takes as long as other pages take altogether.
    from py2048.review.puzzles import daily_puzzle

    puzzle = daily_puzzle(day)
    shown = {
        "puzzle": puzzle,
        "rules": rules_info(str(puzzle.rules)),
        "board": puzzle.board.rows,
        "legal": [str(direction) for direction in puzzle.board.legal_directions()],
    }
    if answer is None:
        return shown
    try:
        played = Direction.parse(answer)
    except DirectionError:
        played = None
    if played is None or played not in puzzle.values:
        raise HTTPException(404, "That is no move in this puzzle.")
    return {**shown, "answer": _answered(puzzle, played)}


def _answered(puzzle: Puzzle, played: Direction) -> dict[str, Any]:
    """Return what is said of an answer: of a right one, why the next best is worse."""
    from py2048.review.themes import theme_of

    ranked = sorted(puzzle.values, key=puzzle.values.__getitem__, reverse=True)
    is_right = played is puzzle.best
    worse = ranked[1] if is_right else played
    theme = theme_of(puzzle.rules, puzzle.board, worse, puzzle.best)
    return {
        "played": str(played),
        "is_right": is_right,
        "move": puzzle.graded(worse),
        "theme": theme.label,
        "why": theme.why,
        "values": [puzzle.graded(direction) for direction in ranked],
    }
