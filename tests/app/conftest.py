"""A session for screen tests, and judges: one with known results, and one that waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

import pytest
from tests.app.controller.reviewing import KnownJudge

from py2048.app.session import Session, open_session
from py2048.core.board import Board
from py2048.core.direction import Direction


@pytest.fixture
def kept() -> Iterator[Session]:
    """A session with an in-memory store."""
    session = open_session("sqlite://")
    session.start(seed=7)
    yield session
    session.close()


@pytest.fixture
def perfect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge moves for perfect play on all screens."""
    monkeypatch.setattr("py2048.app.session.session.find_level", lambda *_: None)


@pytest.fixture
def known_judge(monkeypatch: pytest.MonkeyPatch, perfect: None) -> None:
    """Use `KnownJudge` on all screens."""
    monkeypatch.setattr("py2048.review.advice.judge_for", lambda rules, *_: KnownJudge(rules))


@pytest.fixture
def slow_judge(monkeypatch: pytest.MonkeyPatch, perfect: None) -> Iterator[threading.Event]:
    """Use a judge that judges two moves, and the rest once the test sets the event."""
    may_go_on = threading.Event()

    class SlowJudge(KnownJudge):
        seen = 0

        def rate(self, board: Board) -> Mapping[Direction, float]:
            self.seen += 1
            if self.seen > 5:  # one readiness check, two calls per move
                assert may_go_on.wait(30)
            return super().rate(board)

    monkeypatch.setattr("py2048.review.advice.judge_for", lambda rules, *_: SlowJudge(rules))
    monkeypatch.setattr("py2048.review.advice.BATCH_S", 0.0)
    yield may_go_on
    may_go_on.set()
