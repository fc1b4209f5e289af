"""Runs each store test on both databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from py2048.app.storage import Store, open_store


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url) as opened:
        yield opened
