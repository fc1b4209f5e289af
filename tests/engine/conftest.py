"""Fixtures for the compiled engine's tests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def wrapping_words() -> Iterator[None]:
    """Suppress overflow warnings in plain Python; compiled arithmetic wraps around silently."""
    with np.errstate(over="ignore"):
        yield
