"""Streaks: consecutive UTC days with a daily game, whenever the games end."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from markupsafe import Markup
from store_games import add_record, new_online_game

from py2048.app.storage import Store
from py2048.core.fairness import revelation_of
from py2048.server.play.games import GameService
from py2048.server.site.challenges import Streak, daily_page, streak_of
from py2048.server.site.scores import player_page

TODAY = date(2026, 3, 1)


def before(days: int, today: date = TODAY) -> str:
    return str(today - timedelta(days=days))


@pytest.mark.parametrize(
    ("finished", "begun", "late", "streak"),
    [
        ([], [], [], Streak()),
        ([], [0], [], Streak()),
        ([0], [], [], Streak(1, 1, True)),
        ([1], [], [], Streak(1, 1)),
        ([1, 2, 3], [0], [], Streak(3, 3)),
        ([0, 1, 2, 4, 5, 6, 7], [], [], Streak(3, 4, True)),
        ([2, 3], [], [], Streak(0, 2)),
        ([2, 3], [1], [], Streak(2, 2)),
        ([0, 2, 3], [1], [], Streak(1, 2, True)),
        ([3, 4], [1, 2], [], Streak(0, 2)),
        ([0, 2], [], [1], Streak(1, 1, True)),
    ],
)
def test_a_streak(
    games: GameService, finished: list[int], begun: list[int], late: list[int], streak: Streak
) -> None:
    """A streak survives a missing game today and yesterday's game in progress, but no other gap."""
    for category, each in (("daily", finished), ("assisted", late)):
        for days in each:
            finished_daily(games.store, before(days), before(days), category)
    for days in begun:
        new_online_game(games.store, mode="daily", day=before(days), owner="ada")
    assert streak_of(games, "ada", TODAY) == streak


def finished_daily(store: Store, day: str, finished: str, category: str = "daily") -> str:
    """Add a daily game with the given day and end time."""
    game = new_online_game(store, mode="daily", day=day, owner="ada")
    store.games.discard(game.id, game.revision)
    return add_record(store, game.id, owner="ada", category=category, finished=finished)


def test_a_game_belongs_to_the_day_it_was_dealt_for(games: GameService) -> None:
    """A game that ends after midnight counts for the day it was dealt on."""
    today = datetime.now(UTC).date()
    for days in (1, 2, 3):
        finished_daily(games.store, before(days, today), f"{before(days - 1, today)}T00:00:01Z")
    games.store.accounts.claim_name("ada", "Ada", "hash")
    found = daily_page(games, str(today), "ada", today, Markup())
    assert found["streak"] == Streak(3, 3)
    shown = player_page(games, "Ada")
    assert shown["streak"] == Streak(3, 3)
    assert daily_page(games, str(today), "bob", today, Markup())["streak"] == Streak()


def test_the_page_tells_the_place_among_all_players_of_a_day(games: GameService) -> None:
    """The page shows the player's game, its place among all games, and when the secret is shown."""
    today = datetime.now(UTC).date()
    made = {n: finished_daily(games.store, before(n, today), before(n, today)) for n in (1, 2, 5)}
    found = daily_page(games, before(1, today), "ada", today, Markup())
    assert found["mine"].game == made[1]
    assert (found["place"], found["field"]) == (1, 1)
    assert found["revealed"] == revelation_of(before(1, today)).date() > today
