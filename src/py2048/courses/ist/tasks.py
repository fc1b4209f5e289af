"""The grading of the ist project, with the document's marks: 4, 6, 1 and 3."""

from __future__ import annotations

from py2048.courses._kit import Grading
from py2048.courses.ist.grading import board, coordinate, game

GRADING = Grading(
    course="ist",
    module="project",
    files=("project.py",),
    expects=("create_coordinate", "create_board", "board_reduce", "request_move", "game_2048"),
    tasks=(coordinate.TASK, board.TASK, game.REQUEST, game.GAME),
    not_graded=(
        "The document gives 14 of 20 marks (70 %) for correct execution, which is what is graded "
        "here; readability (25 %) and style (5 %) are for a person to judge."
    ),
)
