"""What qsan_qarut asks, in ten tasks, and how they are graded.

The document gives no marks; ten for each task are ours.
"""

from __future__ import annotations

from py2048.courses.grading import Check, Example, Grading, Task
from py2048.courses.qsan_qarut.grading import boards, window
from py2048.courses.qsan_qarut.grading.reference_patches import all_but

MARKS = 10

START = Task(
    id="1",
    title="Model, Game and set_board",
    asked="`Model(N).game` is a `Game(N)` with `grid`, `score` 0, `is_finished` and `is_won` "
    "False; `set_board` makes an empty board of N by N and adds one number.",
    marks=MARKS,
    checks=(
        Check(
            "a fresh game",
            (
                Example("type(Model(4).game).__name__", "Game"),
                Example("game = Model(3).game\ngame.grid", 3),
                Example(
                    "game = Game(5)\ngame.grid, game.score, game.is_finished, game.is_won",
                    (5, 0, False, False),
                ),
            ),
        ),
        Check("a board of N by N with one number", tuple(boards.fresh_boards())),
        Check("set_board clears the board", (boards.FULL_BOARD_CLEARED,)),
    ),
    reference_patches=all_but("start", "board"),
)
NUMBER = Task(
    id="2",
    title="add_num and get_random_position",
    asked="`get_random_position` returns row and column of a random empty cell; `add_num` puts "
    "2 or 4 there, half of the time each, and does nothing on a full board.",
    marks=MARKS,
    checks=(
        Check("any empty cell, and no other", run=boards.draws_every_free_cell),
        Check("2 or 4, equally often", run=boards.adds_2_or_4),
        Check("a full board stays as it is", boards.FULL_STAYS),
    ),
    reference_patches=all_but("number"),
)


def _stack(number: str, title: str, moves: str) -> Task:
    words = [boards.ARROWS[move] for move in moves]
    return Task(
        id=number,
        title=title,
        asked=f"`stack` shifts all numbers {' or '.join(words)} as far as they go; equal "
        "neighbours merge, those at the wall first, each number once a move.",
        marks=MARKS,
        checks=tuple(
            Check(f"everything goes {word}", boards.stacked(move))
            for move, word in zip(moves, words, strict=True)
        ),
        reference_patches=all_but("stack"),
    )


LEFT_RIGHT = _stack("3", "stack, left and right", "lr")
UP_DOWN = _stack("4", "stack, up and down", "ub")
ADDING = Task(
    id="5",
    title="stack adds a number",
    asked="A move that changed the board is followed by one new number; one that did not, by none.",
    marks=MARKS,
    checks=(
        Check("one number after a move", run=boards.adds_after_each_move),
        Check("none after a move that moved nothing", run=boards.adds_nothing_else),
    ),
    reference_patches=all_but("stack"),
)
SCORE = Task(
    id="6",
    title="make_move and update_score",
    asked="`make_move` stacks and then lets `update_score` make the score the sum of all numbers "
    "on the board, the new one included.",
    marks=MARKS,
    checks=(
        Check(
            "update_score sums the board",
            (
                Example(
                    "game.update_score()",
                    given=boards.laid("[[2, 4], [8, 16]]"),
                    then={"int(game.score)": 30},
                ),
            ),
        ),
        Check("make_move moves", tuple(boards.made(move) for move in boards.DIRECTIONS)),
        Check(
            "the score is right after each move",
            tuple(example for move in boards.DIRECTIONS for example in boards.scored(move)),
        ),
    ),
    reference_patches=all_but("score", "move"),
)
END = Task(
    id="7",
    title="The end and the win",
    asked="After each arrow `is_finished` says whether the board is full and nothing can merge, "
    "and `is_won` whether 2048 has been reached; both are announced on the command line, the win "
    "once, and play goes on after it.",
    marks=MARKS,
    checks=(
        Check("finished when full and stuck", boards.FINISHED),
        Check("the new number counts", boards.FILLED_BY_THE_LAST_NUMBER),
        Check("not finished while a move is left", boards.GOES_ON),
        Check("won with 2048", boards.WON),
        Check("play goes on after a win", boards.PLAYS_ON),
        Check("announced, the win once", run=boards.announces),
    ),
    reference_patches=all_but("move", "arrows"),
)
ARROWS = Task(
    id="8",
    title="The arrows and the command line",
    asked="`left_arrow(event)` and the other three make their move and write the score and the "
    "board to the command line.",
    marks=MARKS,
    checks=(
        Check(
            "each arrow makes its move",
            tuple(
                boards.arrow(move, twice=twice) for move in boards.ARROWS for twice in (False, True)
            ),
        ),
        Check("score and board are written", run=boards.writes_score_and_board),
    ),
    reference_patches=all_but("arrows"),
)
WINDOW = Task(
    id="9",
    title="The window",
    asked='The window "Qsan Qarut" of 600 by 665 pixels shows the score and the board: for each '
    "cell a frame and a label in `controller.cells`, in a colour for every number, for any N.",
    marks=MARKS,
    checks=(
        Check("title, size, score", run=window.has_the_documents_window),
        Check("the cells show the board", run=window.shows_the_board),
        Check("colours for numbers beyond 2048", run=window.has_every_colour),
        Check("colours up to 131072", run=window.has_colours_to_the_end, weight=0),
        Check("any N", run=window.fits_any_size, seconds=5),
    ),
    reference_patches=all_but(),
)
CONTROL = Task(
    id="10",
    title="Keys, the end, a new game",
    asked="The arrow keys move and the view follows; at the end the window says Game Over, the "
    "keys do nothing, and a button starts a new game. A win is shown and play goes on.",
    marks=MARKS,
    checks=(
        Check("the arrow keys move", run=window.keys_move),
        Check("the end stops the keys", run=window.stops_at_the_end),
        Check("the button begins anew", run=window.begins_anew),
        Check("a win is shown", run=window.shows_the_win),
    ),
    reference_patches=all_but(),
)

GRADING = Grading(
    course="qsan_qarut",
    module="model",
    files=("model.py",),
    expects=("Model", "Game"),
    tasks=(START, NUMBER, LEFT_RIGHT, UP_DOWN, ADDING, SCORE, END, ARROWS, WINDOW, CONTROL),
    gui=True,
    libraries=("numpy", "PIL"),
    prelude=boards.PRELUDE,
    opening="import numpy as np; from {module} import *",
    not_graded="how the window looks, beyond its parts, texts and colours",
)
