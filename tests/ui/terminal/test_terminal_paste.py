"""Pasting into the terminal's game."""

from __future__ import annotations

from tests.game.foreign_games import new_text, played
from tests.ui.terminal.playing import until
from textual import events

from py2048.session import Session
from py2048.ui.terminal.app import GameApp


def warnings(app: GameApp) -> str:
    """All warnings that are shown."""
    return "\n".join(each.message for each in app._notifications)


async def test_a_game_is_pasted_into_the_terminal() -> None:
    """A board is played, a replay continued, and what is neither is explained."""
    session = Session()
    session.start(seed=1)
    game = played("classic", 5, 20)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(100, 36)) as pilot:
        app.post_message(events.Paste(f"my replay:\n{new_text(played('classic', 5, 20))}"))
        await until(pilot, lambda: session.game.ply == 20)
        assert session.game.board == game.board
        app.post_message(events.Paste("4x4-_00000g\u263a00"))
        await until(pilot, lambda: "line 1, character 12: " in warnings(app))
        app.post_message(events.Paste("hello"))
        await until(pilot, lambda: "neither a board nor a game" in warnings(app))


async def test_a_pasted_game_ends_autoplay() -> None:
    """The player chooses for the game before: it would never move again."""
    session = Session()
    session.start(seed=1)
    app = GameApp(session, player="corner", reduced_motion=True)
    async with app.run_test(size=(100, 36)) as pilot:
        assert app.controller.players.playing
        app.post_message(events.Paste(new_text(played("classic", 5, 20))))
        await until(pilot, lambda: session.game.ply == 20 or len(app.screen_stack) > 1)
        assert not app.controller.players.playing
