"""Long games: the window's memory does not grow."""

from __future__ import annotations

from typing import Any

import pytest

from py2048.presentation import motion

pytestmark = pytest.mark.gui


def soak(desk: Any, moves: int) -> None:
    """Play moves with undos and animations, and start new games as needed."""
    for index in range(moves):
        if desk.session.game.is_over:
            desk.show(desk.session.start())
        desk.play(1)
        if index % 7 == 0:
            desk.show(desk.session.undo())
        desk.root.update()


def items(desk: Any) -> tuple[int, int]:
    return len(desk.board.find_all()), len(desk.root.tk.splitlist(desk.root.tk.eval("image names")))


def test_long_play_leaves_nothing_behind(desk):
    """Hundreds of moves add no canvas items, images or memory."""
    import gc
    import tracemalloc

    def held() -> int:
        """Return the number of allocated bytes after garbage collection."""
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    desk.put("2 4/4 2")  # this game is over, so its review loads the judge
    soak(desk, 120)
    desk.until(lambda: not desk.app.controller.is_waiting)
    desk.settle()
    before = items(desk)
    tracemalloc.start()
    try:
        soak(desk, 80)
        desk.show(desk.session.start())
        small = held()
        soak(desk, 250)
        desk.show(desk.session.start())
        grown = held() - small
    finally:
        tracemalloc.stop()
    desk.settle()
    assert items(desk)[0] <= before[0] + 16
    assert items(desk)[1] <= before[1] + 20 * motion_steps()
    assert grown < 1_500_000


def motion_steps() -> int:
    """Return the maximum number of cached sizes per tile."""
    return round(16 * motion.POP) + 1
