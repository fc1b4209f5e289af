"""Invariants of the animation timeline."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from py2048.app.session import Session
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.rules import get_rules
from py2048.presentation import motion
from py2048.presentation.events import Moved, Undone

directions = st.sampled_from(Direction)
line = st.tuples(*[st.sampled_from([0, 2, 2, 4, 4, 8, 16])] * 4)
boards = st.tuples(*[line] * 4).map(Board.from_rows)


def moved(board: Board, direction: Direction) -> tuple[Moved, Undone] | None:
    """Return the events of a move and its undo."""
    session = Session()
    session.start(get_rules("classic"), seed=1, board=board)
    turn = session.move(direction)[0]
    if not isinstance(turn, Moved):
        return None
    undone = session.undo()[0]
    return turn, undone


def test_the_timings_are_those_of_the_table_of_looks():
    """A slide takes 90 ms and a pop 160 ms; the overlay appears after 700 ms."""
    event, undone = moved(Board.parse("2 2 . ./. . . ./. . . ./. . . ."), Direction.LEFT) or (0, 0)
    assert motion.of_move(event).seconds == pytest.approx(0.25)
    assert motion.of_undo(undone).seconds == pytest.approx(0.09)
    assert pytest.approx(0.7) == motion.OVERLAY_DELAY_S


@given(boards, directions)
def test_a_transition_starts_on_the_old_board_and_ends_on_the_new(board, direction):
    """A transition starts with the old tiles in place and ends with the new ones at full size."""
    events = moved(board, direction)
    assume(events is not None)
    for event, transition in zip(
        events, (motion.of_move(events[0]), motion.of_undo(events[1])), strict=True
    ):
        first, last = transition.at(0.0), transition.at(transition.seconds)
        if isinstance(event, Moved):
            assert sorted(first) == sorted(motion.still(event.before))
        assert last == motion.still(event.board)
        assert transition.at(1e9) == last


@given(boards, directions, st.floats(0, 0.3))
def test_sprites_stay_on_the_board(board, direction, seconds):
    """No tile leaves the board or exceeds the pop's scale."""
    events = moved(board, direction)
    assume(events is not None)
    for sprite in motion.of_move(events[0]).at(seconds):
        assert 0 <= sprite.row <= 3
        assert 0 <= sprite.column <= 3
        assert motion.SPROUT <= sprite.scale <= motion.POP + 1e-9


@pytest.mark.parametrize("timing", [motion.ease, motion.glide])
def test_timing_functions_rise_from_0_to_1(timing):
    """Timing functions never decrease."""
    values = [timing(step / 50) for step in range(51)]
    assert values[0] == 0
    assert values[-1] == 1
    assert values == sorted(values)


@given(boards, directions, st.floats(0, 1))
def test_a_slide_carries_every_tile_from_its_source_to_its_target(board, direction, share):
    """All old tiles are drawn during the whole slide."""
    events = moved(board, direction)
    assume(events is not None)
    during = motion.of_move(events[0]).at(0.0899 * share)
    assert sorted(s.value for s in during) == sorted(s.value for s in motion.still(board))


def test_new_tiles_grow_and_merged_tiles_pop():
    """After the slide, merged tiles pop and the new tile grows.

    A merged tile is never smaller than at rest, so no number disappears.
    """
    events = moved(Board.parse("2 2 . ./. . . ./. . . ./. . . ."), Direction.LEFT)
    transition = motion.of_move(events[0])
    scales = {(s.row, s.column): s.scale for s in transition.at(0.17)}
    assert scales[0, 0] > 1
    sizes = [sprite.scale for ms in range(90, 260) for sprite in transition.at(ms / 1000)[-1:]]
    assert min(sizes) >= 1
    assert [0 < scale < 1 for cell, scale in scales.items() if cell != (0, 0)] == [True]
    assert {s.scale for s in transition.at(1.0)} == {1.0}


def test_standing_still_takes_no_time():
    """A transition without motion or new tiles has no duration."""
    board = Board.empty(4, 4)
    assert motion.BoardTransition((), board).seconds == 0
    assert motion.appearing(board).seconds == 0
    assert motion.BoardTransition((), board).at(0.0) == []
