"""The checks of each task. The descriptions and marks of the tasks are in starter/TASKS.md."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from py2048.courses.grading import Check, Example, Grading, TextLines, read_sheet

SHEET = read_sheet(Path(__file__).parent / "starter" / "TASKS.md")


def totals(seed: str) -> Iterator[Example]:
    """Yield an example with a fixed board, and three with random boards."""
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
        SHEET.task(
            "1",
            Check("total returns the sum", totals, weight=3),
            Check("total does not change the board", (UNCHANGED,)),
        ),
        SHEET.task(
            "2",
            Check("show prints the rows and the total", SHOWN),
            # A mistake in `total` must cost marks only in task 1.
            patches=("app.total = lambda board: sum(map(sum, board))",),
        ),
    ),
)
