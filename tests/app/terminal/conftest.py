"""The terminal of the tests has all colours, wherever they run."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def true_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say so, as terminals do."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
