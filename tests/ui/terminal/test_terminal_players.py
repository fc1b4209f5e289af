"""Players in the terminal: hints, autoplay, and the choice of a player."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from tests.ui.terminal.playing import shown, table, until
from textual.widgets import Input, Static

from py2048.direction import Direction
from py2048.game import Game
from py2048.players import Chance, Meaning, Unit
from py2048.session import Hint, Hinted
from py2048.ui.terminal.app import GameApp, brief


async def test_a_hint_names_the_direction_and_every_loss() -> None:
    """? asks the player in the background and shows its choice and what each other move loses."""
    session = table("2 2 4 8\n. . . .\n. . . .\n. . . .")
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        session.set_setting("player", "greedy")
        await pilot.press("question_mark")
        await until(pilot, lambda: app.view.note.startswith("Hint:"))
        assert app.view.note == "Hint: left\n→ 0  ↓ -4"
        assert session.game.ply == 0


def test_a_brief_hint_has_points_and_the_chance_where_they_are_known() -> None:
    """The points beside the direction, the chance on a line of its own."""
    values = {Direction.LEFT: 281436.1, Direction.UP: 280000.0}
    meaning = Meaning(Unit.POINTS, "ntuple", 0.0, Chance(16384, 660, 1000))
    hint = Hint(Direction.LEFT, values, "ntuple", 1, meaning)
    said = "Hint: left, \N{ALMOST EQUAL TO}280,000 points\n\N{UPWARDS ARROW} -1,436"
    assert brief(Hinted(hint)) == f"{said}\n16384: 660 of 1,000 games"
    rated = replace(hint, meaning=Meaning())
    assert brief(Hinted(rated)) == "Hint: left\n\N{UPWARDS ARROW} -1,436"


async def test_the_thread_that_asks_players_ends_with_the_screen() -> None:
    """Screens that are opened and closed leave no threads behind."""
    before = set(threading.enumerate())
    session = table("2 2 4 8\n. . . .\n. . . .\n. . . .")
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        session.set_setting("player", "greedy")
        await pilot.press("question_mark")
        await until(pilot, lambda: app.view.note.startswith("Hint:"))
    for thread in set(threading.enumerate()) - before:
        if thread.name == "worker":
            thread.join(10)
            assert not thread.is_alive()


class SlowPlayer:
    """Answers only when the test lets it."""

    name = "slow"

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.asked = threading.Event()

    def choose(self, game: Game) -> Direction:
        self.asked.set()
        assert self.may_answer.wait(10)
        return game.legal_directions()[0]

    def rate(self, game: Game) -> dict[Direction, float]:
        return dict.fromkeys(game.legal_directions(), 1.0)


async def test_a_slow_player_never_blocks_and_its_old_answers_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While a player thinks, moves go on; its answer about an older position is not shown."""
    session, player = table(), SlowPlayer()
    monkeypatch.setattr(session, "get_player", lambda _: player)
    session.set_setting("player", "slow")
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("question_mark")
        await until(pilot, player.asked.is_set)
        await pilot.press("left", "up")
        assert session.game.ply == 2
        player.may_answer.set()
        await pilot.pause(0.1)
        assert not app.view.note.startswith("Hint")


async def test_autoplay_plays_stops_and_changes_speed() -> None:
    """Space lets the player play; + and - change the speed; a move of one's own stops it."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        session.set_setting("player", "corner")
        await pilot.press("plus", "plus", "plus")
        assert app.controller.players.speed == 32
        await pilot.press("space")
        assert "corner 32/s" in shown(app)
        await until(pilot, lambda: session.game.ply >= 5)
        await pilot.press("minus")
        assert "corner 16/s" in shown(app)
        await pilot.press("left")
        assert not app.controller.players.playing
        ply = session.game.ply
        await pilot.pause(0.2)
        assert session.game.ply == ply


async def test_autoplay_ends_with_the_game() -> None:
    """At full speed a player plays to the end, where autoplay stops by itself."""
    session = table(rules="2x4")
    session.set_setting("autoplay_speed", 1000)
    app = GameApp(session, player="random:seed=3")
    async with app.run_test() as pilot:
        assert app.controller.players.playing
        await until(pilot, lambda: session.game.is_over)
        await pilot.pause()
        assert not app.controller.players.playing
        assert "Game over" in app.view.note
        await pilot.press("space")
        assert not app.controller.players.playing


async def test_a_broken_player_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A player that fails ends autoplay with its own words, and the game stays."""

    class Broken(SlowPlayer):
        def choose(self, game: Game) -> Direction:
            raise RuntimeError("the wheels came off")

    session = table()
    monkeypatch.setattr(session, "get_player", lambda _: Broken())
    app = GameApp(session, player="slow", reduced_motion=True)
    async with app.run_test(notifications=True) as pilot:
        await until(pilot, lambda: "the wheels came off" in shown(app))
        assert not app.controller.players.playing
        assert session.game.ply == 0


async def test_the_player_menu_chooses_and_remembers() -> None:
    """P lists the players; the chosen one gives the hints from then on."""
    session = table()
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        await pilot.press("p", "tab")
        app.screen.query_one(Input).value = "gredy"
        await pilot.press("enter")
        assert "did you mean 'greedy'" in str(app.screen.query_one(".fault", Static).render())
        app.screen.query_one(Input).value = "greedy"
        await pilot.press("enter")
        await pilot.pause()
        assert app.controller.players.player == session.get_setting("player") == "greedy"
