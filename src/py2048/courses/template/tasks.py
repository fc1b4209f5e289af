"""The checks of each task. Their text and marks are in starter/TASKS.md."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from py2048.courses.grading import Check, Example, Grading, TextLines, read_sheet

SHEET = read_sheet(Path(__file__).parent / "starter" / "TASKS.md")


def totals(seed: str) -> Iterator[Example]:
    """Yield one fixed board and three random ones."""
    yield Example("total([[2, 0], [0, 4]])", 6)
    draw = random.Random(seed)
    for _ in range(3):
        board = [[draw.choice([0, 2, 4, 8]) for _ in range(4)] for _ in range(4)]
        yield Example(f"total({board})", sum(map(sum, board)))


UNCHANGED = Example("total(board)", 6, given="board = [[2, 4]]", then={"board": [[2, 4]]})
SHOWN = (
    Example("show([[2, 0], [0, 16]])", None, prints=TextLines("2 .\n. 16\nTotal: 18\n")),
    Example("show([[0, 4, 8]])", None, prints=TextLines(". 4 8\nTotal: 12\n")),
)

GRADING = Grading(
    course="$name",
    module="app",
    files=("app.py",),
    expects=("total", "show"),
    tasks=(
        replace(
            SHEET["1"],
            checks=(
                Check("total returns the sum", totals, weight=3),
                Check("total does not change the board", (UNCHANGED,)),
            ),
        ),
        replace(
            SHEET["2"],
            checks=(Check("show prints the rows and the total", SHOWN),),
            # A mistake in total must cost marks in task 1 only.
            reference_patches=("app.total = lambda board: sum(map(sum, board))",),
        ),
    ),
)
