"""Player pages: periods, medians and plots, without scripts."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, date, datetime, timedelta

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from store_games import add_record
from web_server import WebServer, claimed

from py2048 import get_rules
from py2048.app.storage import RecordSummary, Store, open_store
from py2048.app.storage.schema import reviews
from py2048.server.play.games import GameService
from py2048.server.site.pages import ago, render_text
from py2048.server.site.reviews import version_for
from py2048.server.site.scores import periods_of, player_page, plots_of_player

CLASSIC, RULES = (str(get_rules(name)) for name in ("classic", "5x5"))
numbers = st.floats(0.01, 1e9) | st.just(0.0)


@pytest.fixture
def store(url: str) -> Store:
    return open_store(url)


def ended(day: str, score: int) -> RecordSummary:
    finished = f"{day}T12:00:00.000000Z"
    return RecordSummary("", "ada", RULES, "", "ranked", finished, finished, score, 64, 9, "lost")


def test_periods_leave_nothing_out() -> None:
    """Days without games are included, and each period has its own median."""
    found = periods_of(
        [ended("2026-02-27", 10), ended("2026-02-27", 40), ended("2026-03-01", 7)],
        [("2026-03-01T01:00:00Z", 80.0), ("2026-03-01T02:00:00Z", 90.0)],
    )
    assert [(each.name, each.best, each.median, each.accuracy) for each in found] == [
        ("2026-02-27", 40, 25.0, None),
        ("2026-02-28", None, None, None),
        ("2026-03-01", 7, 7, 85.0),
    ]
    assert periods_of([]) == []


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("2026-11-27T12:00:00.500000Z", "just now"),
        ("2026-11-27T11:59:00Z", "1 min ago"),
        ("2026-11-27T09:00:00Z", "3 h ago"),
        ("2026-11-26T11:00:00Z", "yesterday"),
        ("2026-11-17T11:00:00Z", "10 days ago"),
        ("2025-11-26T11:00:00Z", "26 November 2025"),
        ("2025-11-26", "26 November 2025"),
    ],
)
def test_how_long_ago(moment: str, said: str) -> None:
    """Times are shown as minutes, hours, days or a date."""
    assert ago(moment, datetime(2026, 11, 27, 12, tzinfo=UTC)) == said


@settings(max_examples=25)
@given(st.lists(st.integers(0, 1500), min_size=1, max_size=9))
def test_every_game_is_in_a_period(days: list[int]) -> None:
    """Periods are ordered days, ISO weeks or months, and never too many."""
    ends = [ended(str(date(2018, 12, 25) + timedelta(days=n)), n) for n in sorted(days)]
    found = periods_of(ends)
    assert [score for each in found for score in each.scores] == sorted(days)
    names = [each.name for each in found]
    assert names == sorted(set(names))
    assert len(names) <= 110


def played(store: Store, days: int, score: int, category: str = "ranked", **facts: object) -> str:
    """Add a game of Ada that ended some days after New Year."""
    end = date(2026, 1, 1) + timedelta(days=days)
    name = f"{category}{days}{score}"
    return add_record(
        store, name, owner="ada", score=score, category=category, finished=f"{end}T00:00:00Z",
        **{"rules": CLASSIC, **facts},
    )  # fmt: skip


def reviewed(store: Store, game: str, accuracy: float, version: str = version_for("me")) -> None:
    """Add a finished review with an accuracy."""
    row = {"game_id": game, "owner": "ada", "version": version, "asked": "", "attempts": 1,
           "done": 1, "finished": "2026", "summary": {"accuracy": accuracy},
           "moves": []}  # fmt: skip
    with store.write() as connection:
        connection.execute(sa.insert(reviews), row)


def test_what_a_profile_counts(store: Store) -> None:
    """A profile covers the most played rules, and no autoplayed games or outdated reviews."""
    with store:
        games = GameService(store)
        store.accounts.claim_name("ada", "Ada", "hash")
        best = played(store, 3, 500)
        reviewed(store, played(store, 0, 100), 12.5, "1 me")
        played(store, 0, 300, "assisted")
        played(store, 1, 9000, "computer")
        played(store, 2, 40, rules=RULES)
        reviewed(store, best, 87.5)
        values = player_page(games, "Ada") or {}
        assert values["account"] == "ada"
        assert [each.name for each in values["played"]] == ["classic", "5x5"]
        assert values["chosen"].text == values["played"][0].text
        assert values["chosen"].text == CLASSIC
        section = render_text("_plots.html", **plots_of_player(games, "ada", CLASSIC))
        assert re.findall(r"<figcaption>([A-Z][a-z ]+[a-z])", section) == [
            "Games", "Best and median score", "Largest tiles", "Accuracy of reviewed games",
        ]  # fmt: skip
        rows = re.findall(r'row">(\S+)</th><td class="number">(\d+)</td>', section)
        assert rows == [("2026-01-04", "1"), ("2026-01-01", "2")]
        assert "87.5 %" in section
        assert "expected" not in section
        for day in range(10, 15):
            played(store, day, 100, "plain", max_tile=128)
        section = render_text("_plots.html", **plots_of_player(games, "ada", CLASSIC))
        assert re.search(r"Casual \(0\.\d+\): 256 in 0 of 100 games, expected \d+;", section)
        assert "12.5 %" not in section
        section = render_text("_plots.html", **plots_of_player(games, "ada", RULES))
        assert section.count('class="plot"') == 2  # a single day has no lines


async def test_plots_are_drawn_once_for_all_who_ask(web_server: WebServer) -> None:
    """Counts are updated at once, while plots are cached for a minute."""
    browser = claimed(web_server, "Held")
    found = []
    async with browser.socket() as socket:
        for games in (1, 2):
            await socket.new("2x2", "ranked")
            await socket.play_out()
            counted = re.compile(rf"<dt>Games</dt><dd>.*?\b{games}\b.*?</dd>")
            while not counted.search(page := browser.get("/player/Held").text):
                await asyncio.sleep(0.05)
            found.append(re.findall(r'<svg class="plot".*?</svg>', page, re.DOTALL))
    assert len(found[0]) == 2
    assert found[0] == found[1]
    assert browser.get("/player/Held?rules=nonsense").status == 404
