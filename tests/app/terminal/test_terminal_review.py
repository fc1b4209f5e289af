"""Reviews, the coach and practice in the terminal application."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.app.controller.reviewing import FAULTS, MOVES, ended_record, known_record, leveled_review
from tests.app.terminal.playing import playing, shown, until
from textual.pilot import Pilot

from py2048.app.controller.review import GameReview
from py2048.app.session import Session, open_session
from py2048.app.terminal.screens import (
    GRAPH_MARKS,
    ListScreen,
    PracticeScreen,
    ReviewGraph,
    ReviewScreen,
)
from py2048.presentation.screen import Choice, ListRequest

SIZES = ((80, 24), (40, 24), (20, 10))


def finished() -> Session:
    """Return a session with the known game."""
    session = Session()
    session.start_from(known_record())
    return session


async def reviewed(pilot: Pilot[None]) -> GameReview:
    """Open the review of the session's game and wait until it is complete."""
    await pilot.press("b")
    if isinstance(pilot.app.screen, ListScreen):
        await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, ReviewScreen))
    review = pilot.app.screen.review
    await until(pilot, lambda: review.review is not None)
    await pilot.press("home")  # it opens at the first mistake
    return review


@pytest.mark.usefixtures("known_judge")
async def test_a_review_shows_each_mistake_and_closes():
    """Down goes to the next mistake, T tries it again, and Q closes the review."""
    session = finished()
    async with playing(session) as (app, pilot):
        review = await reviewed(pilot)
        for ply, grade in FAULTS.items():
            await pilot.press("down")
            assert review.index + 1 == ply
            await until(pilot, lambda: review.badge in shown(app))
            assert review.badge.lower().startswith(str(grade))
            assert "was best." in shown(app)
            assert f"Move {ply} of {MOVES}" in shown(app)
        await pilot.press("t")
        await until(pilot, lambda: "Which way is best?" in shown(app))
        assert "was best." not in shown(app)
        await pilot.press(str(review.move.best))
        await until(pilot, lambda: "Yes, " in shown(app))
        await pilot.press("home", "right", "left", "pagedown", "end", "up")
        assert review.index + 1 == max(FAULTS)
        await pilot.press("q")
        assert not isinstance(app.screen, ReviewScreen)
        assert session.game.ply == MOVES


@pytest.mark.usefixtures("known_judge")
async def test_every_size_shows_the_grade_and_the_losses():
    """Terminals from 20x10 show the board, the grade and the loss of a blunder."""
    loss = "\N{MINUS SIGN}40.0 %"
    async with playing(finished()) as (app, pilot):
        review = await reviewed(pilot)
        await pilot.press("down")
        screen = app.screen
        graph = screen.query_one(ReviewGraph)
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: "Blunder" in shown(app) and loss in shown(app))
            assert screen.board.board == review.board
            await until(pilot, lambda: screen.region.contains_region(screen.board.region))
            await until(pilot, lambda size=size: graph.display == (size[1] >= 22))
            if graph.display:
                first = shown(app).splitlines()[graph.region.y]
                assert set(GRAPH_MARKS.values()) <= set(first)


async def test_a_review_at_a_level_shows_reasons_lines_and_levels():
    """S shows typical moves, then the review is back. O lists levels, and F leaves for practice."""
    left, chosen = list[str](), list[str]()
    async with playing(finished(), size=(100, 40)) as (app, pilot):
        app.show_review(leveled_review(), left.append)
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        for text in ("Blunder", "Your chance of 64", "80 %", "You leave the corner", "Casual"):
            await until(pilot, lambda text=text: text in shown(app))
        screen = app.screen
        start = screen.review.board
        await pilot.press("s")
        await until(pilot, lambda: "Typical moves after" in " ".join(shown(app).split()))
        await until(pilot, lambda: screen.board.board != start)
        screen.auto_refresh = 0.01
        await until(pilot, lambda: screen.review.frame is None)
        await until(pilot, lambda: screen.board.board == start)
        offered = ListRequest("Level", [Choice("expert", "Expert")], chosen.append)
        screen.review.levels = lambda: offered
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, ListScreen))
        await pilot.press("enter")
        await until(pilot, lambda: chosen == ["expert"])
        await pilot.press("f")
        assert left == ["practice"]


# The coach


@pytest.mark.usefixtures("known_judge")
async def test_the_coach_comments_without_moving_the_board():
    """C turns on the coach, which shows the accuracy; C turns it off."""
    session = Session()
    session.start(known_record().rules, board=known_record().start)
    async with playing(session) as (app, pilot):
        region = app.view.board.region
        await pilot.press("c")
        await until(pilot, lambda: "The coach judges" in shown(app))
        assert app.view.board.region == region
        app.controller.presenter.show(session.move(session.game.legal_directions()[0]))
        await until(pilot, lambda: "accuracy 100 %" in shown(app))
        await pilot.press("c")
        await until(pilot, lambda: "accuracy" not in shown(app))
        assert app.view.board.region == region


# Practice


@pytest.mark.usefixtures("known_judge")
async def test_mistakes_of_a_review_are_practised():
    """Practice asks a mistake, shows what the moves are worth, and goes on at any size."""
    session = open_session("sqlite://")
    session.start_from(replace(ended_record(), player=""))
    async with playing(session) as (app, pilot):
        await reviewed(pilot)
        await until(pilot, lambda: "notebook" in shown(app))
        await pilot.press("q", "f")
        await until(pilot, lambda: isinstance(app.screen, ListScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PracticeScreen))
        assert "Mistake 1 of 3" in shown(app)
        legal = app.screen.practice.board.legal_directions()
        await pilot.press(str(legal[0]))
        await until(pilot, lambda: "In your" in shown(app))
        assert "best" in shown(app)
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.practice.answer is None)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not isinstance(app.screen, PracticeScreen))
        assert app.is_running
    assert len(session.notebook().due()) == 2
    session.close()
