"""Reviews, the coach and practice in the terminal application."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from tests.app.controller.reviewing import (
    FAULTS,
    MOVES,
    ended_record,
    known_record,
    known_review,
    leveled_review,
)
from tests.app.terminal.playing import colours, shown, until
from textual.pilot import Pilot

from py2048.app.controller.coach import COACH_SETTING
from py2048.app.controller.review import GameReview
from py2048.app.session import Session, open_session
from py2048.app.terminal.app import GameApp
from py2048.app.terminal.screens import (
    GRAPH_MARKS,
    ListScreen,
    PracticeScreen,
    ReviewGraph,
    ReviewScreen,
)
from py2048.presentation.screen import Choice, ListRequest
from py2048.presentation.themes import get_theme

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
    """Down goes to the next mistake and shows its grade and best move; Q closes the review."""
    app = GameApp(finished(), reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        review = await reviewed(pilot)
        for ply, grade in FAULTS.items():
            await pilot.press("down")
            assert review.index + 1 == ply
            await until(pilot, lambda: review.badge in shown(app))
            assert review.badge.lower().startswith(str(grade))
            assert "was best." in shown(app)
            assert f"Move {ply} of {MOVES}" in shown(app)
        await pilot.press("home", "right", "left", "pagedown", "end", "up")
        assert review.index + 1 == max(FAULTS)
        await pilot.press("q")
        assert not isinstance(app.screen, ReviewScreen)


async def test_there_is_no_accuracy_before_a_move_is_judged():
    """While no move is judged, the accuracy is an ellipsis rather than 0 %."""
    app = GameApp(finished(), reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(
            ReviewScreen(known_review(0), str, get_theme("dark"), is_animated=False)
        )
        await until(pilot, lambda: "Accuracy …" in shown(app))


@pytest.mark.usefixtures("known_judge")
async def test_every_size_shows_the_grade_and_the_losses():
    """Terminals from 20x10 show the board, the grade and the loss of a blunder."""
    app, loss = GameApp(finished(), reduced_motion=True), "\N{MINUS SIGN}40.0 %"
    async with app.run_test(size=(80, 24)) as pilot:
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


@pytest.mark.usefixtures("known_judge")
async def test_the_review_has_the_colours_of_the_theme():
    """The best side is marked with the theme's `good` colour, the played one with `danger`."""
    for theme in map(get_theme, ("light", "high-contrast")):
        app = GameApp(finished(), theme=theme.name, reduced_motion=True)
        async with app.run_test(size=(80, 24)) as pilot:
            await reviewed(pilot)
            await pilot.press("n")
            wanted = {theme.page, theme.panel, theme.good, theme.danger, theme.empty}
            await until(pilot, lambda app=app, wanted=wanted: wanted <= colours(app))


@pytest.mark.usefixtures("known_judge")
async def test_a_mistake_can_be_retried():
    """T hides the best move until the player finds it; the game is not changed."""
    session = finished()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        review = await reviewed(pilot)
        await pilot.press("down", "t")
        await until(pilot, lambda: "Which way is best?" in shown(app))
        assert "was best." not in shown(app)
        await pilot.press(str(review.move.played))
        await until(pilot, lambda: "40.0 %" in shown(app))
        assert "Another" in shown(app)
        await pilot.press(str(review.move.best))
        await until(pilot, lambda: "Yes, " in shown(app))
        await pilot.press("t", "q")
        await until(pilot, lambda: "was best." in shown(app))
        assert review.index + 1 == min(FAULTS)
        assert session.game.ply == MOVES


@contextlib.asynccontextmanager
async def leveled(left: list[str], size: tuple[int, int] = (80, 24)) -> AsyncIterator[Pilot[None]]:
    """Open a review at a level, made by hand."""
    app = GameApp(finished(), reduced_motion=True)
    async with app.run_test(size=size) as pilot:
        app.show_review(leveled_review(), left.append)
        await until(pilot, lambda: isinstance(pilot.app.screen, ReviewScreen))
        yield pilot


async def test_a_review_at_a_level_shows_reason_chances_and_habits():
    """It opens at the costliest mistake; F leaves it for practice."""
    left: list[str] = []
    async with leveled(left, (100, 40)) as pilot:
        for text in ("Blunder", "Your chance of 64", "80 %", "You leave the corner", "Casual"):
            await until(pilot, lambda text=text: text in shown(pilot.app))
        await pilot.press("f")
        assert left == ["practice"]


async def test_show_me_plays_both_lines():
    """S shows the moves one after another; then the review is back."""
    async with leveled([]) as pilot:
        screen = pilot.app.screen
        start = screen.review.board
        await pilot.press("s")
        await until(pilot, lambda: "Typical moves after" in " ".join(shown(pilot.app).split()))
        await until(pilot, lambda: screen.board.board != start)
        await until(pilot, lambda: screen.review.frame is None)
        await until(pilot, lambda: screen.board.board == start)


async def test_a_level_is_chosen_in_the_review():
    """O lists the levels; a choice is passed on."""
    async with leveled([]) as pilot:
        review, chosen = pilot.app.screen.review, list[str]()
        offered = ListRequest("Level", [Choice("expert", "Expert")], chosen.append)
        review.levels = lambda: offered
        await pilot.press("o")
        await until(pilot, lambda: isinstance(pilot.app.screen, ListScreen))
        await pilot.press("enter")
        await until(pilot, lambda: chosen == ["expert"])


# The coach


@pytest.mark.usefixtures("known_judge")
async def test_the_coach_comments_without_moving_the_board():
    """C turns on the coach, which shows the accuracy; C turns it off."""
    session = Session()
    session.start(known_record().rules, board=known_record().start)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        region = app.view.board.region
        await pilot.press("c")
        await until(pilot, lambda: "The coach judges" in shown(app))
        assert app.view.board.region == region
        app.controller.presenter.show(session.move(session.game.legal_directions()[0]))
        await until(pilot, lambda: "accuracy 100 %" in shown(app))
        assert session.get_setting(COACH_SETTING) is True
        await pilot.press("c")
        await until(pilot, lambda: "accuracy" not in shown(app))
        assert app.view.board.region == region
        assert session.get_setting(COACH_SETTING) is False


# Practice


def session_with_mistakes(url: str) -> Session:
    """Return a session on a store with a finished game that contains mistakes."""
    session = open_session(url)
    session.start_from(replace(ended_record(), player=""))
    return session


@pytest.mark.usefixtures("known_judge")
async def test_mistakes_of_a_review_are_practised(tmp_path):
    """Reviewed mistakes enter the notebook and can be practised."""
    session = session_with_mistakes(f"sqlite:///{tmp_path / 'store.sqlite3'}")
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        review = await reviewed(pilot)
        await until(pilot, lambda: "3 new in your notebook" in review.summary)
        await until(pilot, lambda: "notebook" in shown(app))
        await pilot.press("q", "f")
        await until(pilot, lambda: isinstance(app.screen, ListScreen))
        assert "3 due, 3 kept" in shown(app)
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
