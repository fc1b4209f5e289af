"""The terminal game is fully translated."""

from __future__ import annotations

import pytest
from tests import pseudo
from tests.app.terminal.playing import LAST_MOVE, new_session, playing, shown, until

from py2048.presentation.actions import ACTIONS


@pytest.mark.parametrize(
    "size",
    [(80, 24), *(pytest.param(size, marks=pytest.mark.slow) for size in ((30, 12), (200, 60)))],
)
async def test_every_text_of_the_terminal_is_translated(size, tmp_path, monkeypatch):
    """Board, panel, dialogs and results contain no untranslated text."""
    monkeypatch.chdir(tmp_path)
    left: list[tuple[str, str]] = []
    with pseudo.spoken(tmp_path, monkeypatch):
        async with playing(new_session(), size=size) as (app, pilot):

            def look(where: str) -> None:
                lines = shown(app).splitlines()
                left.extend((where, each.strip()) for each in lines if pseudo.left_out(each))

            look("start")
            await pilot.press("left", "up", "right")
            for action in ACTIONS:
                if not action.keys or action.name in ("quit", "autoplay"):
                    continue
                app.controller.do(action.name)
                await pilot.pause(0.05)
                look(action.name)
                while len(app.screen_stack) > 1:
                    await pilot.press("escape")
        over = new_session(LAST_MOVE)
        async with playing(over, size=size) as (app, pilot):
            await pilot.press("right")
            await until(pilot, lambda: app.view.status.moves == over.game.ply == 1)
            assert over.game.is_over
            await pilot.pause(1.0)
            look("over")
    assert not left, "\n".join(map(str, sorted(set(left))))
