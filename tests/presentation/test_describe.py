from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048.app.session import Session
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.rules import Rules, get_rules, list_rules
from py2048.presentation.describe import describe, describe_board, describe_rules
from py2048.presentation.events import Event, IllegalMove, Moved
from py2048.presentation.screen import moves


def heard(
    do: Callable[[Session], Iterable[Event]], rules: str = "classic", board: str = ""
) -> list[str]:
    """Return the sentences of the events that `do` causes on `board`."""
    session = Session()
    chosen = get_rules(rules)
    session.start(chosen, board=Board.parse(board) if board else None, seed=1)
    return [describe(event) for event in do(session)]


@pytest.mark.parametrize(
    ("rules", "board", "merges"),
    [
        ("classic", "2 2 2 2/. . . .", "merged 2 and 2 into 4 twice, plus 8"),
        ("classic", "2 2 2 2/2 2 . .", "merged 2 and 2 into 4 3 times, plus 12"),
        ("classic", "2 2 . ./4 4 . .", "merged 2 and 2 into 4, 4 and 4 into 8, plus 12"),
        ("classic", ". . 2 4/. . . .", "nothing merged"),
        ("comp1127", "2 2 4 ./. . . .", "merged 2, 2 and 4 into 8, plus 12"),
        ("cits1401", ". 2 2 . ./. . . . .", "merged 2 and 2 into 4, plus 1"),
    ],
)
def test_merges_are_counted_and_listed(rules, board, merges):
    """Equal merges are counted and others listed; cascades name every tile."""
    side = get_rules(rules).rows
    full = board + f"/{' '.join('.' * side)}" * (side - 2)
    [sentence, *_] = heard(lambda s: s.move(Direction.LEFT), rules, full)
    assert sentence.split(". ")[0] == f"Left: {merges}"


def test_eight_takes_an():
    """Eight takes the article "an"."""
    happened = Session().start(get_rules("2x4"), board=Board.parse("8 . . 2\n. . . ."))
    assert list(map(describe, happened)) == [
        "New game, 2 by 4. An 8 at row 1, column 1. A 2 at row 1, column 4. Score 0."
    ]


def test_a_full_board_is_summed_up():
    """A start with many tiles is summarised."""
    happened = Session().start(board=Board.parse("2 4 2 4\n. 16 . .\n. . . .\n2 . . ."))
    assert list(map(describe, happened)) == ["New game, 4 by 4. 6 tiles, the largest 16. Score 0."]


def test_undo_redo_win_and_end():
    """Each remaining event has a sentence."""
    board = "1024 1024 2 4\n2 4 8 16\n. . . .\n. . . ."

    def play(session: Session) -> Iterable[Event]:
        return [*session.move(Direction.LEFT), *session.undo(), *session.redo()]

    moved, won, undone, redone = heard(play, board=board)
    new = "A 2 at row 3, column 4. Score 2,048."
    assert moved == f"Left: merged 1024 and 1024 into 2048, plus 2048. {new}"
    assert won == "You made 2048: you win. Play on if you like."
    assert undone == "Undone: left. Score 0."
    assert redone == f"Redone. {moved}"
    *_, won, over = heard(lambda s: s.move(Direction.LEFT), "comp1127", board)
    assert won == "You made 2048: you win."
    assert over == "Game over: you win. Score 2,048. New best score."


@pytest.mark.parametrize(
    ("rules", "end"),
    [("classic", []), ("comp1127", ["Game over: target reached. Score 2,048."])],
)
def test_a_computer_wins_without_praise(rules, end):
    """The player is not praised for a computer's win."""
    board = "1024 1024 2 4\n2 4 8 16\n. . . .\n. . . ."
    _, *sentences = heard(lambda s: s.autoplay_step("greedy"), rules, board)
    assert sentences == ["2048 reached.", *end]


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 moves"), (1, "1 move"), (-1, "-1 move"), (2, "2 moves"), (1203, "1,203 moves")],
)
def test_one_point_is_singular(count, text):
    """A single point is singular."""
    assert moves(count) == text


def test_a_stuck_game_says_that_no_move_is_left():
    """Starting on a board without a move announces the end and the score."""
    stuck = "2 4 2 4\n4 2 4 2\n2 4 2 4\n4 2 4 2"
    *_, over = Session().start(board=Board.parse(stuck))
    assert describe(over) == "Game over: no move is left. Score 0."
    assert describe(IllegalMove(Direction.UP, -1, -1)) == "Up: nothing moves, minus 1. Score -1."


def test_boards_are_read_row_by_row():
    """A board is described row by row, with words for empty cells."""
    assert describe_board(Board.parse("2 . 4\n. 8 .")) == [
        "Row 1: 2, empty, 4.",
        "Row 2: empty, 8, empty.",
    ]


def test_each_preset_has_a_line_of_its_own():
    """Descriptions of presets are short, distinct lines."""
    lines = [describe_rules(rules) for rules in list_rules()]
    assert len(set(lines)) == len(lines)
    assert all(len(line) <= 80 and "\n" not in line for line in lines)
    assert lines[0] == "4x4, new 2 (90 %) or 4 (10 %), target 2048"
    assert "ends at 2048" in describe_rules(get_rules("comp1127"))
    assert "minus 1 if illegal" in describe_rules(get_rules("cits1401"))


@pytest.mark.parametrize(
    ("spawn", "text"),
    [
        ("2:96+4:5", "new 2 (95 %) or 4 (5 %)"),
        ("2:2+4:1", "new 2 (66.7 %) or 4 (33.3 %)"),
        ("2:2999+4:1", "new 2 (100 %) or 4 (0.0333 %)"),
    ],
)
def test_shares_of_new_tiles_have_one_decimal_and_are_never_0(spawn, text):
    assert text in describe_rules(Rules.parse(f"classic:spawn={spawn}"))


@given(st.integers(0, 2**64 - 1), st.lists(st.sampled_from(list(Direction)), max_size=60))
def test_every_event_is_one_line_without_escapes(seed, directions):
    """Every event is described in one printable line with the correct score."""
    session = Session()
    events = [*session.start(get_rules("3x3"), seed=seed)]
    for direction in directions:
        events += session.move(direction)
    for event in events:
        sentence = describe(event)
        assert sentence.isprintable()
        assert sentence[-1] in ".!"
        if isinstance(event, Moved):
            assert sentence.endswith(f"Score {event.score}.")
