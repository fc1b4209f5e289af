"""Fixtures: a new copy of the program, and a board and a frame without a window."""

from __future__ import annotations

import random
from types import ModuleType

import pytest
from comp1127_recorders import RecordingBoard, RecordingFrame, new_copy


@pytest.fixture
def main() -> ModuleType:
    random.seed(2048)
    return new_copy("main")


@pytest.fixture
def board() -> RecordingBoard:
    return RecordingBoard()


@pytest.fixture
def frame() -> RecordingFrame:
    return RecordingFrame()
