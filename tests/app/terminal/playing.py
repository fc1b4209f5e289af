"""Helpers that start a game in the terminal application and read its screen."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.strip import Strip

from py2048.app.session import Session
from py2048.app.terminal.app import GameApp
from py2048.core.board import Board
from py2048.core.rules import Rules

SEED = 7

LAST_MOVE = "2 4 8 16/4 2 4 8/8 4 2 16/16 8 32 ."
"""A board on which either move, right or down, ends the game."""

TIMEOUT_S = 60


def new_session(board: str = "", rules: str = "classic") -> Session:
    """Return a session in memory with a new game."""
    session = Session()
    session.start(Rules.parse(rules), seed=SEED, board=Board.parse(board) if board else None)
    return session


@asynccontextmanager
async def playing(
    session: Session, size: tuple[int, int] = (80, 24), theme: str = "", **options: Any
) -> AsyncIterator[tuple[GameApp, Pilot[None]]]:
    """Run the application, without animation."""
    app = GameApp(session, theme=theme, reduced_motion=True)
    async with app.run_test(size=size, **options) as pilot:
        yield app, pilot


def strips(app: GameApp) -> list[Strip]:
    """Return the lines on the screen, for which Textual has no public API."""
    return app.screen._compositor.render_strips()  # noqa: SLF001


def shown(app: GameApp) -> str:
    """Return all text on the screen."""
    return "\n".join("".join(segment.text for segment in line) for line in strips(app))


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"the condition is still false after {TIMEOUT_S} seconds")
        await pilot.pause(0.01)


def colours(app: GameApp) -> set[str]:
    """Return all background colours on the screen."""
    pieces = [segment for line in strips(app) for segment in line]
    return {s.style.bgcolor.name for s in pieces if s.style and s.style.bgcolor}
