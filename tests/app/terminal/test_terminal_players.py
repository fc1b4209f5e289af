"""Hints in the terminal."""

from __future__ import annotations

from tests.app.terminal.playing import new_session, shown, until

from py2048.app.terminal.app import GameApp


async def test_a_hint_names_the_direction_and_every_loss():
    """A hint shows the best move and the losses of all others, until the next move."""
    session = new_session("2 2 4 8\n. . . .\n. . . .\n. . . .")
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
