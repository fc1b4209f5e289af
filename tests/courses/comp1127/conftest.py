"""What the COMP1127 tests share: a program of their own, and a board and frame without a window."""

from __future__ import annotations

import random
from types import ModuleType

import pytest
from comp1127_stand_ins import NotedBoard, NotedFrame, fresh


@pytest.fixture
def main() -> ModuleType:
    random.seed(2048)
    return fresh("main")


@pytest.fixture
def board() -> NotedBoard:
    return NotedBoard()


@pytest.fixture
def frame() -> NotedFrame:
    return NotedFrame()
