"""A game to play at in the terminal application, and what its screen shows."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from textual.pilot import Pilot
from textual.strip import Strip

from py2048.app.session import Session
from py2048.app.terminal.app import GameApp
from py2048.core.board import Board
from py2048.core.rules import Rules

SEED = 7

TIMEOUT_S = 60
"""Seconds: machines may be slow, and busy with other tests."""


def table(board: str = "", rules: str = "classic") -> Session:
    """A session that keeps nothing, with a game on it."""
    session = Session()
    session.start(Rules.parse(rules), seed=SEED, board=Board.parse(board) if board else None)
    return session


def strips(app: GameApp) -> list[Strip]:
    """The lines on the screen, which Textual shows in no public way."""
    return app.screen._compositor.render_strips()  # noqa: SLF001


def shown(app: GameApp) -> str:
    """All text on the screen."""
    return "\n".join("".join(segment.text for segment in line) for line in strips(app))


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Wait for something that another thread or a timer brings about."""
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"it did not happen within {TIMEOUT_S} seconds")
        await pilot.pause(0.01)


def colours(app: GameApp) -> set[str]:
    """All colours behind the text on the screen."""
    pieces = [segment for line in strips(app) for segment in line]
    return {s.style.bgcolor.name for s in pieces if s.style and s.style.bgcolor}
