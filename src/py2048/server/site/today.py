"""What stands beside the board: the day's challenge, its puzzle, and how one's games went.

The page of the board comes without it, as it needs no store; its script asks for this afterwards.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from py2048.rules import get_rules
from py2048.server.play.games import GameService, checked_rules
from py2048.server.site.auth import User, services_of
from py2048.server.site.challenges import streak_of
from py2048.server.site.pages import page, render, row_of

_CURVE, _WIDE, _HIGH, _MARGIN = 15, 288, 44, 4
"""How many games the curve of scores shows, and the box that it is drawn in."""


async def today(request: Request, user: User) -> Response:
    """The part of the page of the board that depends on who asks, and when."""
    day = datetime.now(UTC).date()
    rules = str(checked_rules(request.query_params.get("rules", "classic")))
    challenge = await services_of(request).do(_challenge, user.account, day)
    games = await services_of(request).do(_games, user.account, rules)
    puzzle = await asyncio.to_thread(_puzzle, day)
    values = {"day": day.isoformat(), "is_known": True, **challenge, **games, **puzzle}
    return render(request, user, "_today.html", today=values)


def _challenge(games: GameService, account: str, day: date) -> dict[str, Any]:
    """Return how the day's challenge goes: the account's own game, and everybody's scores."""
    results = games.store.online.daily_results(account)
    mine = next((each.game_id for each in results if each.day == str(day)), None)
    scores = [score for score, _tile in games.store.online.day_scores(str(day))]
    return {
        "mine": mine and row_of(games, mine),
        "streak": streak_of(results, day).current,
        "finished": len(scores),
        "median": statistics.median_low(scores) if scores else None,
    }


def _puzzle(day: date) -> dict[str, Any]:
    # Reading the pack takes as long as the page of the board takes altogether.
    from py2048.review.puzzles import daily_puzzle

    puzzle = daily_puzzle(day)
    return {"puzzle": puzzle.board.rows, "rating": puzzle.rating}


def _games(games: GameService, account: str, rules: str) -> dict[str, Any]:
    """Return how an account's games under some rules went."""
    ends = games.store.records.ends(account, rules)
    if not ends:
        return {"played": 0}
    target = get_rules(rules).target
    accuracies = games.store.reviews.figures(account, rules, "accuracy")
    scores = [end.score for end in ends]
    return {
        "played": len(ends),
        "curve": curve(scores[-_CURVE:]) if len(ends) > 1 else "",
        "median_score": statistics.median_low(scores),
        "target": target,
        "reached": sum(end.max_tile >= target for end in ends) if target else 0,
        "best_tile": max(end.max_tile for end in ends),
        "accuracy": round(statistics.fmean(value for _, value in accuracies)) if accuracies else 0,
    }


def curve(scores: Sequence[int]) -> str:
    """Return scores as the path of a line, from the lowest at the foot to the highest on top."""
    low, high = min(scores), max(scores)
    step = _WIDE / (len(scores) - 1)
    rise = (_HIGH - 2 * _MARGIN) / (high - low or 1)
    points = (
        f"{i * step:.0f} {_HIGH - _MARGIN - (score - low) * rise:.0f}"
        for i, score in enumerate(scores)
    )
    return f"M{' '.join(points)}"


ROUTES = (page("/today", today),)
