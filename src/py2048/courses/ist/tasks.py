"""The grading of the ist project, with the document's marks: 4, 6, 1 and 3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from py2048.courses.grading import Grading
from py2048.courses.grading.python2 import places
from py2048.courses.ist import checks
from py2048.courses.ist.language import PORTUGUESE


def outside_ascii(text: str) -> Iterator[str]:
    """What the document says about a program with other characters than ASCII's."""
    lines = [number for number, line in enumerate(text.split("\n"), 1) if not line.isascii()]
    if lines:
        yield (
            f"has characters outside ASCII ({places(lines)}): the document takes 3 of its 20 marks "
            "for that; none is taken off here"
        )


ENGLISH_GRADING = Grading(
    course="ist",
    module="project",
    files=("project.py",),
    expects=("create_coordinate", "create_board", "board_reduce", "request_move", "game_2048"),
    tasks=(checks.COORDINATES, checks.BOARDS, checks.REQUEST, checks.GAME),
    remarks=outside_ascii,
    not_graded=(
        "The document gives 14 of 20 marks (70 %) for correct execution, which is what is graded "
        "here; readability (25 %) and style (5 %) are for a person to judge."
    ),
)
PORTUGUESE_GRADING = replace(
    ENGLISH_GRADING,
    expects=tuple(map(PORTUGUESE, ENGLISH_GRADING.expects)),
    tasks=tuple(map(PORTUGUESE.task, ENGLISH_GRADING.tasks)),
)
GRADING = replace(ENGLISH_GRADING, variants=(PORTUGUESE_GRADING,))
