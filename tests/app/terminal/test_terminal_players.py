"""Players in the terminal: hints, autoplay, and the choice of a player."""

from __future__ import annotations

from tests.app.terminal.playing import shown, table, until

from py2048.app.terminal.app import GameApp


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
