"""Fixtures of the terminal tests."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def true_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enable 24-bit colours, independent of the terminal that runs the tests."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
