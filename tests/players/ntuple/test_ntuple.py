"""Tests of n-tuple networks: their values, supported boards and play."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.players.ntuple.networks import NETWORKS, positions, put_board

from py2048 import Board, Game, Rules, get_rules, make_player
from py2048.core.board import symmetries
from py2048.core.errors import BoardError, PlayerError, RulesError, WeightsError
from py2048.engine.jit import kernel, plain_form
from py2048.lab.training.trainer import TrainingConfig
from py2048.players.ntuple import _network_kernels as kernels
from py2048.players.ntuple.layout import NetworkLayout, downgraded, images, parse_tuples, parts_of
from py2048.players.ntuple.network import Network, add_changes, empty_boards
from py2048.players.ntuple.weights import save


def plain_value(network: Network, board: Board) -> float:
    """Compute a value by its definition."""
    layout = network.layout
    tiles = {tile for row in board.rows for tile in row}
    stage = sum(sum(tiles) >= least for least in layout.stages)
    total = 0.0
    for image in symmetries(board.rows):
        ranks = downgraded(
            [max(tile.bit_length() - 1, 0) for row in image for tile in row], layout.known
        )
        for cells, offset in zip(layout.tuples, layout.offsets[:-1], strict=True):
            radix = 16 if layout.is_packed else layout.ranks
            index = sum(ranks[cell] * radix**place for place, cell in enumerate(cells))
            total += float(network.weights[stage * layout.size + offset + index])
    return total


@settings(max_examples=150)
@given(positions())
def test_a_value_is_the_sum_of_the_weights_that_all_images_meet(case):
    """A value is the sum of all selected weights, for every stage, shape and tile."""
    network, board = case
    assert network.value(board) == plain_value(network, board)


def test_boards_of_another_shape_are_refused():
    """The error names both shapes."""
    with pytest.raises(BoardError, match="4x4, not on 3x3"):
        NETWORKS["classic"].value(Board.empty(3, 3))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"tuples": ()}, "at least one tuple"),
        ({"tuples": ((0, 0),)}, "names a cell twice"),
        ({"tuples": ((0, 16),)}, "leaves the 4x4 board"),
        ({"stages": (3,)}, "a sum of different tiles"),
        ({"stages": (64, 32)}, "must ascend"),
        ({"ranks": 17}, "distinguishes 2 to 16 ranks, not 17"),
        ({"tuples": (tuple(range(9)),)}, "are more than"),
    ],
)
def test_impossible_layouts_are_refused(change, reason):
    """Every invalid layout is rejected with its reason."""
    values = {"rows": 4, "columns": 4, "tuples": ((0, 1),)} | change
    with pytest.raises(WeightsError, match=reason):
        NetworkLayout(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("4x6", "012345 456789 012456 45689a"),
        ("8x6", "012456 12569d 012345 01567a 01259a 0159de 01589d 01246a"),
    ],
)
def test_named_tuples_are_those_of_the_papers(name, printed):
    """Every named tuple is a symmetric image of the tuple in the paper."""
    moves = list(images(4, 4))
    for ours, theirs in zip(parse_tuples(name, 4, 4), parse_tuples(printed, 4, 4), strict=True):
        assert ours in {tuple(sorted(move[cell] for cell in theirs)) for move in moves}


def test_unknown_tuples_are_refused():
    """The error suggests the closest name."""
    for text, reason in (("4x7", "did you mean '4x6'"), ("lnes", "did you mean 'lines'")):
        with pytest.raises(WeightsError, match=reason):
            parse_tuples(text, 4, 4)


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ("classic", "does not fit the 4x4 board"),
        ("cits1401:size=3x3,start=2x2:1", "not random"),
        ("classic:size=3x3,spawn=2:9+8589934592:1", "8589934592, .* is too big: at most 21"),
    ],
)
def test_rules_that_a_network_cannot_play_are_refused(rules, reason):
    """Networks reject other shapes, deterministic spawns and huge tiles."""
    with pytest.raises((RulesError, WeightsError), match=reason):
        Network.zeros(NetworkLayout(3, 3, ((0, 1),)), Rules.parse(rules))


def test_a_network_learns_only_where_merges_end_a_game():
    """Rules under which a spawned tile ends the game are rejected."""
    with pytest.raises(RulesError, match="would end the game"):
        TrainingConfig("3x3:target=4,end=target", "lines")
    assert TrainingConfig(f"3x3:target={2**63},end=target", "lines").rules.target == 2**63


# --- the player ----------------------------------------------------------------------------------


def test_weights_of_other_rules_are_refused(tmp_path):
    """The error names both rules, and missing weights how to get some."""
    path = tmp_path / "network.npz"
    save(NETWORKS["classic"], path)
    with pytest.raises(PlayerError, match="are for classic"):
        make_player(f"ntuple:weights={path}").choose(Game(get_rules("ist"), seed=1))
    with pytest.raises(PlayerError, match="py2048 train"):
        make_player("ntuple").choose(Game(get_rules("7x7"), seed=1))
    with pytest.raises(PlayerError, match="does not exist"):
        make_player(f"ntuple:weights={tmp_path / 'nowhere.npz'}")


@settings(max_examples=100)
@given(positions())
def test_kernels_find_the_weights_of_the_reference(case):
    """Kernels for training and search select the same weights as the reference."""
    network, board = case
    layout = network.layout
    write = {"small": kernels.indices_small, "cells": kernels.indices_cells}.get(layout.kind)
    write = write or plain_form(kernels.make_indices_kernel(layout.code))
    boards = empty_boards(layout, 1)
    put_board(layout, boards, 0, board)
    out = np.zeros((1, layout.active + kernels.SPARE), np.uint64)
    with np.errstate(over="ignore"):
        write(boards, 0, network.spec, out, 0)
    stage = layout.stage_of(tile for row in board.rows for tile in row)
    found = network.weights[out[0, : layout.active].astype(np.int64) + stage * layout.size]
    assert found.sum() == network.value(board)


@given(st.lists(st.tuples(st.integers(-(2**15), 2**15 - 1), st.integers(-(2**15), 2**15 - 1))))
def test_changes_are_the_same_compiled_and_in_numpy(pairs):
    """Differences restore any pair of numbers, in the kernel and in NumPy."""
    before, after = np.array(pairs, np.int16).reshape(-1, 2).T.copy()
    change = after - before
    zigzag = ((change << 1) ^ (change >> 15)).view(np.uint16)[change != 0]
    parts = np.packbits(change != 0), *(zigzag >> s & 0xFF for s in (0, 8))
    given = [part.astype(np.uint8) for part in parts]
    for add in (add_changes, kernels.add_changes, kernels.add_changes.py_func):
        found = before.copy()
        add(*given, found)
        assert np.array_equal(found, after)


@pytest.mark.parametrize(
    "cells", [(9,), (0, 1, 2, 3), (4, 5, 6, 8, 9, 10), (0, 3, 5, 6, 9, 12, 15)]
)
@given(st.integers(0, 2**64 - 1))
def test_the_index_of_a_tuple_has_a_digit_for_each_cell(cells, word):
    """An index has one digit per cell, with or without the CPU's gather instruction."""
    index_of = kernels.make_tuple_index_kernel(1000, parts_of(cells))

    @kernel(borrows=True)
    def found(image):  # type: ignore[no-untyped-def]
        return index_of(image)

    digits = [(word >> 4 * cell & 15) << 4 * place for place, cell in enumerate(cells)]
    assert found(np.uint64(word)) == plain_form(index_of)(np.uint64(word)) == 1000 + sum(digits)
