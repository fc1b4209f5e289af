"""Boards for the compiled engine's tests, and kernels in their compiled and plain forms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def wrapping_words() -> Iterator[None]:
    """Let 64-bit words wrap around without a warning, as they do when compiled."""
    with np.errstate(over="ignore"):
        yield
