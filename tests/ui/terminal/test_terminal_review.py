"""The review of a game and the coach in the terminal application."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tests.ui.reviewing import FAULTS, MOVES, ended_record, known_record, known_review, workers
from tests.ui.terminal.playing import colours, shown, until
from textual.pilot import Pilot
from textual.widgets import Input

from py2048.session import Session, open_session
from py2048.ui.shared.coach import SETTING
from py2048.ui.shared.review import GameReview
from py2048.ui.shared.themes import get_theme
from py2048.ui.terminal.app import GameApp
from py2048.ui.terminal.screens import MARKS, PracticeScreen, ReviewGraph, ReviewScreen
from py2048.ui.terminal.screens import ListScreen

SIZES = ((80, 24), (40, 24), (20, 10))


def finished() -> Session:
    """A session with the game that is known."""
    session = Session()
    session.start_from(known_record())
    return session


async def reviewed(pilot: Pilot[None]) -> GameReview:
    """Open the review of this session's game, and wait for its end."""
    await pilot.press("b")
    if isinstance(pilot.app.screen, ListScreen):
        await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, ReviewScreen))
    assert isinstance(pilot.app, GameApp)
    assert isinstance(pilot.app.screen, ReviewScreen)
    review = pilot.app.screen.review
    await until(pilot, lambda: review.review is not None)
    return review


@pytest.mark.usefixtures("known_judge")
async def test_a_review_shows_each_mistake_and_closes() -> None:
    """Down goes to the next mistake, which is named with the best move; q goes back to play."""
    app = GameApp(finished(), reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        review = await reviewed(pilot)
        for ply, grade in FAULTS.items():
            await pilot.press("down")
            assert review.index + 1 == ply
            await until(pilot, lambda grade=grade: f" {grade}: " in shown(app))
            assert review.move is not None
            assert f"best {review.move.best}" in shown(app)
            assert f"Move {ply} of {MOVES}" in shown(app)
        await pilot.press("home", "right", "left", "pagedown", "end", "up")
        assert review.index + 1 == max(FAULTS)
        await pilot.press("q")
        assert not isinstance(app.screen, ReviewScreen)


@pytest.mark.usefixtures("known_judge")
@pytest.mark.parametrize("size", SIZES)
async def test_every_size_tells_the_grade_and_the_losses(size: tuple[int, int]) -> None:
    """From 20x10 up the blunder, its loss and a board are on the screen."""
    app = GameApp(finished(), reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        review = await reviewed(pilot)
        await pilot.press("down")
        await pilot.resize_terminal(*size)
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        await until(pilot, lambda: "?? blunder:" in shown(app) and "-40.00 %" in shown(app))
        assert screen.board.board == review.board
        await until(pilot, lambda: screen.region.contains_region(screen.board.region))
        graph = screen.query_one(ReviewGraph)
        assert graph.display == (size[1] >= 16)
        if graph.display:
            first = shown(app).splitlines()[graph.region.y]
            assert set(MARKS.values()) <= set(first)


@pytest.mark.usefixtures("known_judge")
async def test_the_review_has_the_colours_of_the_theme() -> None:
    """The best side is in the accent's colour, the graph in that of muted text."""
    for theme in map(get_theme, ("light", "high-contrast")):
        app = GameApp(finished(), theme=theme.name, reduced_motion=True)
        async with app.run_test(size=(80, 24)) as pilot:
            await reviewed(pilot)
            await pilot.press("n")
            wanted = {theme.page, theme.panel, theme.accent, theme.ink, theme.empty}
            await until(pilot, lambda app=app, wanted=wanted: wanted <= colours(app))


@pytest.mark.usefixtures("known_judge")
async def test_playing_on_from_a_mistake_starts_a_marked_game() -> None:
    """Enter starts a game of its own from the position, which counts as assisted."""
    session = finished()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        review = await reviewed(pilot)
        await pilot.press("n", "enter", "y")
        await until(pilot, lambda: session.game.ply == 0)
        assert session.game.board == review.board
        assert (session.game.score, session.category) == (0, "assisted")
        assert session.rules == known_record().rules


@pytest.mark.usefixtures("known_judge")
async def test_a_record_in_a_file_is_reviewed(tmp_path: Path) -> None:
    """While a game is in progress b asks which game; the last line asks for a file."""
    path = tmp_path / "game.2048.json"
    known_record().save(path)
    session = Session()
    session.start(seed=1)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("b", "end", "enter")
        await until(pilot, lambda: isinstance(app.screen, ListScreen))
        app.screen.query_one(Input).value = str(path)
        await pilot.press("enter")
        await until(pilot, lambda: "by greedy" in shown(app))
        assert session.category == "plain"
        await pilot.press("escape", "b", "enter")  # of this game, which has no move yet
        await until(pilot, lambda: "nothing to review" in shown(app))


@pytest.mark.usefixtures("known_judge")
async def test_a_look_at_the_game_in_progress_counts_as_a_hint() -> None:
    """Its review tells what moves are worth, so the game is assisted from then on."""
    session = Session()
    session.start(seed=1)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("left", "up")
        assert session.category == "plain"
        await reviewed(pilot)
        assert (session.category, session.record().hints) == ("assisted", 1)


async def test_a_review_closed_midway_leaves_no_thread(slow_judge: threading.Event) -> None:
    """Moves are shown as they are judged; closing the screen ends the work."""
    before = set(workers())
    app = GameApp(finished(), reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("b", "enter")
        await until(pilot, lambda: f"2 of {MOVES} moves are judged" in shown(app))
        assert "✓ best:" in shown(app)
        await pilot.press("escape")
        slow_judge.set()
        for thread in set(workers()) - before:
            thread.join(30)
            assert not thread.is_alive()


# The coach


@pytest.mark.usefixtures("known_judge")
async def test_the_coach_shows_a_bar_and_takes_it_away() -> None:
    """C shows what the position is worth, and the accuracy; c again ends it."""
    session = Session()
    session.start(known_record().rules, board=known_record().start)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        height = app.view.board.region.height
        await pilot.press("c")
        await until(pilot, lambda: "expected 80.00 %" in shown(app))
        assert "████████" in shown(app)
        assert app.screen.region.contains_region(app.view.board.region)
        app.controller.presenter.show(session.move(session.game.legal_directions()[0]))
        await until(pilot, lambda: "accuracy 100 %" in shown(app))
        assert session.get_setting(SETTING) is True
        await pilot.press("c")
        assert "expected" not in shown(app)
        assert "█" not in shown(app)
        assert app.view.board.region.height == height
        assert session.get_setting(SETTING) is False


@pytest.mark.usefixtures("known_judge")
async def test_the_coach_names_the_fault_of_the_last_move() -> None:
    """A planted blunder is told with its loss and the best move; undo takes it back."""
    session = Session()
    session.start_from(known_record(), 4)
    move = known_review().moves[4]
    session.set_setting(SETTING, True)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "expected 80.00 %" in shown(app))
        app.controller.presenter.show(session.move(move.played))
        told = f"?? {move.played} -40.00 %, best {move.best}, accuracy"
        await until(pilot, lambda: told in shown(app))
        await pilot.press("u")
        await until(pilot, lambda: told not in shown(app))
        await until(pilot, lambda: "expected 80.00 %" in shown(app))


@pytest.mark.usefixtures("known_judge")
async def test_what_the_coach_tells_is_counted_and_remembered() -> None:
    """A coached game is assisted from its first position; the next session has the coach again."""
    session = open_session()
    session.start(seed=1)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("left")
        assert session.category == "plain"
        await pilot.press("c")
        await until(pilot, lambda: session.category == "assisted")
        await until(pilot, lambda: "assisted" in shown(app))
        await pilot.press("n", "y")
        await until(pilot, lambda: session.game.ply == 0 and session.category == "assisted")
    session.close()
    again = open_session()
    app = GameApp(again, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "expected" in shown(app))
    again.close()


async def test_play_never_waits_for_the_coach(slow_judge: threading.Event) -> None:
    """While it judges, moves go on; it then tells of the newest position."""
    session = Session()
    session.start(seed=1)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("c")
        await pilot.press(*(["left", "up", "right", "down"] * 4))
        ply = session.game.ply
        assert ply > 4
        assert "judging" in shown(app)
        slow_judge.set()
        await until(pilot, lambda: "expected" in shown(app))
        await until(pilot, lambda: not app.controller.is_waiting)
        assert app.controller.coach.last_move is not None
        assert app.controller.coach.last_move.ply == ply


@pytest.mark.usefixtures("known_judge")
async def test_the_coach_pauses_while_a_player_plays() -> None:
    """A player's moves are not yours: they are not judged."""
    session = Session()
    session.start(seed=1)
    session.set_setting("player", "corner")
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("c", "space")
        await until(pilot, lambda: "pauses while a player plays" in shown(app))
        await until(pilot, lambda: session.game.ply > 2)
        await pilot.press("space")
        await until(pilot, lambda: "expected" in shown(app))
        assert "accuracy" not in shown(app)


# Practice


def own_finished(url: str) -> Session:
    """A session of a store with a finished game of the player's, in which faults are planted."""
    session = open_session(url)
    session.start_from(replace(ended_record(), player=""))
    return session


@pytest.mark.usefixtures("known_judge")
async def test_mistakes_of_a_review_are_practised(tmp_path: Path) -> None:
    """They enter the notebook when the review ends; f brings them, a key answers, Enter goes on."""
    session = own_finished(f"sqlite:///{tmp_path / 'store.sqlite3'}")
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
        legal = app.screen._run.board.legal_directions()
        await pilot.press(str(legal[0]))
        await until(pilot, lambda: "In your" in shown(app))
        assert "best" in shown(app)
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: app.screen._run.answer is None)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not isinstance(app.screen, PracticeScreen))
        assert app.is_running
    assert len(session.notebook().due()) == 2
    session.close()


async def test_practice_without_a_store_says_why() -> None:
    """A line, and the game goes on."""
    app = GameApp(Session(), reduced_motion=True)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("f")
        notes = app._notifications
        await until(pilot, lambda: any("keeps no games" in each.message for each in notes))
