"""Players in the terminal: hints, autoplay, and the choice of a player."""

from __future__ import annotations

import threading
from dataclasses import replace

from tests.ui.terminal.playing import table, until

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
