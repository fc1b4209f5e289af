"""The terminal game is fully translated."""

from __future__ import annotations

import pytest
from playing import new_session, playing, shown
from tests import pseudo

from py2048.presentation.actions import ACTIONS


@pytest.mark.parametrize(
    "size", [(80, 24), (30, 12), pytest.param((200, 60), marks=pytest.mark.slow)]
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
        over = new_session("2 4 2 4/4 2 4 2/2 4 2 4/4 2 4 .")
        async with playing(over, size=size) as (app, pilot):
            await pilot.press("right")
            await pilot.pause(1.0)
            left += [("over", each) for each in shown(app).splitlines() if pseudo.left_out(each)]
    assert not left, "\n".join(map(str, sorted(set(left))))
