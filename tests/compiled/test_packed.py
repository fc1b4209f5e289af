"""Packed boards do what the reference does, for every shape of up to 16 cells and every tile."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from boards import LONG_SHAPES, SMALL_SHAPES, boards
from hypothesis import assume, given
from hypothesis import strategies as st

from py2048 import board as reference
from py2048.board import Board
from py2048.compiled import _board_kernels as kernels
from py2048.compiled.boards import PackedBoards
from py2048.compiled.rules import line_table
from py2048.direction import Direction
from py2048.errors import BoardError, IllegalMoveError
from py2048.game.turn import draw_spawn
from py2048.rules import Merging, RandomStart, Weights, get_rules

ALL_SHAPES = SMALL_SHAPES + LONG_SHAPES
directions = st.sampled_from(list(Direction))
mergings = st.sampled_from(list(Merging))
words = st.integers(0, 2**64 - 1)
HUGE = 2**15
ONE_TILE = RandomStart(1, 1, Weights({2: 1}))


def packing(board: Board, merging: Merging = Merging.ONCE, name: str = "classic") -> PackedBoards:
    """Return the packed boards of the preset `name` with the shape of `board`."""
    rows, columns = board.shape
    return PackedBoards(
        get_rules(name, rows=rows, columns=columns, merging=merging, start=ONE_TILE)
    )


@given(boards(ALL_SHAPES))
def test_packing_keeps_everything(board: Board) -> None:
    """Unpacking a packed board gives the same board."""
    packed = packing(board).pack(board)
    assert packing(board).unpack(packed) == board
    assert (packed < 2**64) == (board.max_tile <= HUGE)


@given(boards(ALL_SHAPES), directions, mergings)
def test_slide_is_the_reference_slide(board: Board, direction: Direction, merging: Merging) -> None:
    """A packed slide has the reference's afterstate and points, 131072s included."""
    engine = packing(board, merging)
    after, points = engine.slide(engine.pack(board), direction)
    assert (engine.unpack(after).rows, points) == reference.slide(board.rows, direction, merging)


def test_table_kernel_announces_what_it_cannot_hold() -> None:
    """Where two 32768s merge, the table kernel keeps a 32768 and its points say so."""
    row = np.uint64(0xFF)
    after, points = kernels.slide_4x4(row, Direction.LEFT.value, line_table(4))
    assert (after, points) == (0xF, 2 * HUGE)
    assert points >= kernels.TOO_BIG


@given(boards(ALL_SHAPES))
def test_queries_are_the_boards(board: Board) -> None:
    """Legal directions, empty cells and the largest tile are those of the board."""
    engine = packing(board)
    packed = engine.pack(board)
    assert engine.legal_directions(packed) == board.legal_directions()
    assert engine.empty_cells(packed) == board.empty_cells()
    assert engine.max_tile(packed) == board.max_tile


@given(boards(ALL_SHAPES))
def test_symmetries_are_the_reference_symmetries(board: Board) -> None:
    """The images are the reference's, and all of them have one canonical form among them."""
    engine = packing(board)
    images = engine.symmetries(engine.pack(board))
    assert {engine.unpack(image).rows for image in images} == set(reference.symmetries(board.rows))
    names = (
        {engine.canonical(image) for image in images}
        if board.shape[0] == board.shape[1]
        else {engine.canonical(images[0])}
    )
    assert names == {min(images)}


@given(boards(ALL_SHAPES), directions, words, st.sampled_from(["classic", "cits1401"]))
def test_spawn_is_the_games_spawn(board: Board, direction: Direction, word: int, name: str) -> None:
    """The same draw makes the same tile appear on the same cell as in a `Game`."""
    engine = packing(board, name=name)
    slide = board.slide(direction)
    assume(slide.changed)
    spawn = draw_spawn(engine.rules, slide.board, direction, word)
    expected = slide.board.with_tile(spawn.cell, spawn.tile)
    assert engine.unpack(engine.spawn(engine.pack(slide.board), direction, word)) == expected


@given(boards(ALL_SHAPES, top=4), directions)
def test_chance_outcomes_are_a_distribution(board: Board, direction: Direction) -> None:
    """Outcomes are distinct, sum to one, and there is one for each empty cell and tile."""
    engine = packing(board)
    afterstate = engine.pack(board)
    if not board.empty_cells():
        with pytest.raises(IllegalMoveError):
            list(engine.chance_outcomes(afterstate, direction))
    assume(board.empty_cells())
    outcomes = dict(engine.chance_outcomes(afterstate, direction))
    assert len(outcomes) == 2 * len(board.empty_cells())
    assert sum(outcomes.values()) == 1
    cell = board.empty_cells()[0]
    assert outcomes[engine.pack(board.with_tile(cell, 2))] == Fraction(
        9, 10 * len(board.empty_cells())
    )


def test_deterministic_rules_have_one_outcome() -> None:
    """An edge spawn follows from the afterstate and the direction."""
    engine = packing(Board.empty(4, 4), name="cits1401")
    after = engine.pack(Board([[2, 4, 2, 4], [0] * 4, [0] * 4, [0, 0, 0, 2]]))
    ((board, probability),) = engine.chance_outcomes(after, Direction.UP)
    assert probability == 1
    assert engine.unpack(board).rows[3] == (0, 0, 2, 2)


def test_full_board_has_no_spawn() -> None:
    """A spawn on a full board is refused."""
    board = Board([[2, 4], [4, 2]])
    engine = packing(board)
    with pytest.raises(IllegalMoveError, match="full"):
        engine.spawn(engine.pack(board), Direction.LEFT, 0)


@pytest.mark.parametrize(
    ("board", "message"),
    [(Board.empty(3, 3), "shape|are"), (Board([[2**32, 0, 0, 0], *[[0] * 4] * 3]), "too big")],
)
def test_boards_that_cannot_be_packed_are_refused(board: Board, message: str) -> None:
    """The error names what is wrong."""
    with pytest.raises(BoardError, match=message):
        PackedBoards(get_rules("classic")).pack(board)


def test_big_boards_are_refused() -> None:
    """A board of 25 cells does not fit."""
    with pytest.raises(BoardError, match="5x5"):
        PackedBoards(get_rules("5x5"))


def test_all_rows_slide_as_the_reference_slides() -> None:
    """Exhaustive: all 65,536 rows, in both directions along a line, for both mergings."""
    for merging in Merging:
        table = line_table(4, merging)
        for index in range(1 << 16):
            ranks = [index >> 4 * cell & 15 for cell in range(4)]
            line = tuple(1 << rank if rank else 0 for rank in ranks)
            for part, sign in ((0, 1), (16, -1)):
                slid, points, _ = reference.slide_line(line[::sign], merging)
                entry = int(table[index]) >> part
                # The table keeps a 65536 as a 32768; its points are those of the 65536.
                held = [min(tile.bit_length() - 1, 15) if tile else 0 for tile in slid[::sign]]
                assert [entry >> 4 * cell & 15 for cell in range(4)] == held
                assert (entry >> 32 & 0xFFFF) * 4 == points


@pytest.mark.parametrize("direction", list(Direction))
def test_all_rows_slide_in_every_direction_of_a_board(direction: Direction) -> None:
    """Exhaustive: each of the 65,536 lines slides as its table entry says, wherever it stands."""
    table = line_table(4)
    lines = np.arange(1 << 16, dtype=np.uint64)
    for place in range(4):
        rows = lines << np.uint64(16 * place)
        turned = transposed(rows) if direction.is_vertical else rows
        slid = [kernels.slide_4x4(board, direction.value, table)[0] for board in turned]
        after = np.array(slid, np.uint64)
        part = np.uint64(0 if direction.is_forward else 16)
        expected = ((table >> part) & np.uint64(0xFFFF)) << np.uint64(16 * place)
        assert np.array_equal(transposed(after) if direction.is_vertical else after, expected)


def transposed(boards: np.ndarray) -> np.ndarray:
    return np.array([kernels.transpose(board) for board in boards], np.uint64)
