"""Players in the terminal: hints, autoplay, and the choice of a player."""

from __future__ import annotations

import threading

from tests.ui.terminal.playing import shown, table, until

from py2048.direction import Direction
from py2048.game import Game
from py2048.ui.terminal.app import GameApp


async def test_a_hint_names_the_direction_and_every_loss():
    """? asks the player in the background and shows its choice and what each other move loses."""
    session = table("2 2 4 8\n. . . .\n. . . .\n. . . .")
    app = GameApp(session, reduced_motion=True)
    async with app.run_test() as pilot:
        session.set_setting("player", "greedy")
        await pilot.press("question_mark")
        await until(pilot, lambda: app.view.hint is not None)
        await pilot.pause()
        lines = [line[54:].split() for line in shown(app).splitlines()]
        assert ["←", "left", "best"] in lines
        assert ["→", "right", "as", "good"] in lines
        assert ["↓", "down", "\N{MINUS SIGN}4"] in lines
        assert session.game.ply == 0
        await pilot.press("left")
        await pilot.pause()
        assert app.view.hint is None


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
