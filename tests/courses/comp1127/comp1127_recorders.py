"""A board and a frame that record what happens, and new copies of the course's modules."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

from py2048.courses.comp1127 import gui

Rows = list[list[int]]


@dataclass
class RecordingBoard:
    """A board without a window that records what a player would see."""

    numbers: dict[str, tuple[int, int]] = field(default_factory=dict)
    score: int = 0
    closed: bool = False
    shown: dict[str, list[Any]] = field(default_factory=dict)  # key: [value, x, y]
    score_shown: int = 0
    messages: list[str] = field(default_factory=list)

    def show_tile(self, key: str, number: Any, row: int, column: int) -> None:
        self.shown[key] = [number.value, column * 140, row * 140]

    def erase_tile(self, key: str) -> None:
        self.shown.pop(key, None)

    def shift_tile(self, key: str, horizontal: int, vertical: int) -> None:
        self.shown[key][1] += horizontal
        self.shown[key][2] += vertical

    def show_score(self) -> None:
        self.score_shown = self.score

    def show_message(self, text: str) -> None:
        self.messages.append(text)

    def seen(self) -> Rows:
        """Return the visible rows; two tiles on one cell are an error."""
        rows = [[0] * 4 for _ in range(4)]
        for value, x, y in self.shown.values():
            assert x % 140 == y % 140 == 0, f"a tile stands between cells: {self.shown}"
            assert rows[y // 140][x // 140] == 0, f"two tiles on one cell: {self.shown}"
            rows[y // 140][x // 140] = value
        return rows


@dataclass
class RecordingFrame:
    """A window frame that records its key bindings."""

    bound: dict[str, Callable[[Any], object]] = field(default_factory=dict)

    def bind(self, sequence: str, callback: Callable[[Any], object]) -> None:
        self.bound[sequence] = callback

    def unbind(self, sequence: str) -> None:
        self.bound.pop(sequence, None)

    def press(self, name: str) -> bool:
        """Press a key; return whether anything was bound to it."""
        callback = self.bound.get(f"<{name}>")
        if callback:
            callback(SimpleNamespace(keysym=name))
        return callback is not None


def new_copy(name: str) -> ModuleType:
    """Return a new copy of one of the course's modules, with its own globals."""
    spec = importlib.util.find_spec(f"py2048.courses.comp1127.{name}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def set_rows(program: ModuleType, board: Any, rows: Rows) -> None:
    """Replace the grid and the board's tiles by `rows`."""
    program.grid = [list(row) for row in rows]
    for key in list(board.numbers):
        gui.remove_number(board, key)
    board.numbers.clear()
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            if value:
                gui.put(board, f"({row}, {column})", gui.find_number(value), row, column)
