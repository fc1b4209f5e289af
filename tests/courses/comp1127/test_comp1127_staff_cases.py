"""Cases from the course staff's own grader, which replaces the program's globals."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from comp1127_recorders import set_rows

from py2048.courses.comp1127 import gui

CASES: dict[str, Any] = json.loads((Path(__file__).parent / "staff_cases.json").read_text())


@pytest.mark.parametrize("case", [case for case in CASES["empty_slots"] if case["slots"]])
@pytest.mark.parametrize("name", ["random_position", "random_slot"])
def test_a_random_position_is_any_of_the_empty_slots(main, case, name):
    """Every empty slot is drawn, and no other (problem 3)."""
    main.grid = case["grid"]
    drawn = {getattr(main, name)() for _ in range(400)}
    assert drawn == {tuple(slot) for slot in case["slots"]}


@pytest.mark.parametrize("figure", CASES["figures"])
def test_the_figures_of_the_document(main, board, frame, figure, monkeypatch):
    """A turn turns each board of the document's figures into the next."""
    set_rows(main, board, figure["before"])
    after = [list(row) for row in figure["after"]]
    board.score = 4 if figure["spawn"] is None else 0
    if figure["spawn"]:
        row, column, value = figure["spawn"]
        after[row][column] = value
        monkeypatch.setattr(main, "random_position", lambda: (row, column))
        monkeypatch.setattr(gui, "random_number", lambda: gui.find_number(value))
    main.keyboard_callback(SimpleNamespace(keysym=figure["key"]), frame, board)
    assert main.grid == board.seen() == after
    assert board.score == figure["score"]
