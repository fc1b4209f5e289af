"""Tests of distilled moves: correct, small and protected against damage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.players.solving.making import maker

from py2048 import Board, get_rules
from py2048.core.errors import BoardError, SolvingError
from py2048.players.solving import Solution, solve
from py2048.players.solving.distilled import SHIPPED, DistilledMoves, shipped_moves

FILES = sorted(SHIPPED.glob("*.moves"))


def wrong_moves(moves: DistilledMoves, solution: Solution, every: int = 1) -> int:
    """Return the number of boards of a solution with a wrong move, among a sample."""
    wrong = 0
    for boards, masks in maker.best_moves(solution, moves.covered):
        playing = np.flatnonzero(masks)[::every]
        chosen = moves.choose(boards[playing])
        wrong += int((masks[playing] >> chosen & 1 == 0).sum())
    return wrong


@pytest.mark.parametrize(
    ("text", "every"), [("2x2", 1), ("2x3", 1), pytest.param("2x4", 29, marks=pytest.mark.slow)]
)
def test_shipped_moves_are_the_best(text: str, every: int) -> None:
    """The bundled moves are best moves on all reachable boards, or a sample of them."""
    rules = get_rules(f"classic:size={text}")
    moves = shipped_moves(rules)
    assert moves is not None
    assert wrong_moves(moves, solve(rules), every) == 0


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_3x3_is_solved_as_published_and_its_moves_are_the_best() -> None:
    """Position count and value agree with Kaneko and Yamashita, arXiv:2510.04580."""
    solution, moves = solve("3x3"), shipped_moves(get_rules("3x3"))
    assert solution.positions == 48_713_519
    assert solution.value == pytest.approx(5468.49, abs=0.005)
    assert moves is not None
    assert wrong_moves(moves, solution, every=29) == 0


@pytest.mark.parametrize("text", ["classic:size=2x2", "ist:size=2x3", "comp1127:size=1x5"])
def test_distilling_keeps_every_best_move(text: str, tmp_path: Path) -> None:
    """Other rules keep their best moves, also in a file."""
    solution, file = solve(text), tmp_path / "one.moves"
    maker.write_moves(maker.distil(solution), file)
    moves = DistilledMoves.load(file)
    assert wrong_moves(moves, solution) == 0
    assert moves.serves(solution.rules)
    assert not moves.serves(get_rules("classic"))


def test_the_shipped_file_is_made_again(tmp_path: Path) -> None:
    """The bundled file can be rebuilt byte for byte."""
    file = tmp_path / "2x3.moves"
    maker.write_moves(maker.distil(solve("classic:size=2x3")), file)
    assert file.read_bytes() == (SHIPPED / "2x3.moves").read_bytes()


def test_a_trained_predictor_leaves_less_to_be_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trained predictor makes the file smaller and all moves stay correct."""
    solution = solve("classic:size=2x3")
    blind = maker.distil(solution)
    plan = maker.Training(((0, 1, 3, 4), (0, 1, 2, 3)), step=0.25, passes=20)
    monkeypatch.setitem(maker.TRAININGS, (2, 3), plan)
    moves = maker.distil(solution)
    assert wrong_moves(moves, solution) == 0
    sizes = [len(each.filters.words) + len(each.decisions.words) for each in (moves, blind)]
    assert sizes[0] < 0.8 * sizes[1]


def test_large_sums_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boards with large sums can be left out; stuck ones have no move."""
    solution = solve("classic:size=2x3")
    monkeypatch.setitem(maker.COVERED, (2, 3), 100)
    moves = maker.distil(solution)
    assert wrong_moves(moves, solution) == 0
    assert moves.covers(Board.parse("64 32 2 / . 2 ."))
    assert not moves.covers(Board.parse("64 32 2 / . 4 ."))
    assert moves.best(Board.parse("2 4 2 / 4 2 4")) is None
    with pytest.raises(BoardError, match="no game under classic"):
        moves.best(Board.parse("64 32 2 / . 4 ."))


@pytest.mark.parametrize("count", [0, 1, 64, 20_000])
def test_a_retrieval_has_the_bits_it_was_given(count: int) -> None:
    """A retrieval returns the stored bits, and random ones for other keys."""
    keys = np.arange(count, dtype=np.uint64) * np.uint64(977)
    bits = np.random.default_rng(count).random(count) < 0.3
    table = maker.retrieval(keys, bits)
    assert (table.get(keys) == bits).all()
    if count > 10_000:
        assert int(table.columns.sum()) < 1.08 * count
        assert 0.4 < table.get(keys + np.uint64(1)).mean() < 0.6


def test_a_retrieval_refuses_a_key_with_two_bits() -> None:
    """A key with two different bits is rejected."""
    keys = np.array([7, 7], np.uint64)
    with pytest.raises(SolvingError, match="keys of a retrieval must differ"):
        maker.retrieval(keys, np.array([True, False]))


def test_shipped_files_are_small() -> None:
    """All bundled files together take at most three megabytes."""
    assert [file.stem for file in FILES] == ["2x2", "2x3", "2x4", "3x3"]
    assert sum(file.stat().st_size for file in FILES) <= 3_000_000


@pytest.mark.parametrize("place", [0, 15, 20, 60, 300, -1])
def test_a_flipped_byte_is_refused(place: int, tmp_path: Path) -> None:
    """A flipped byte or a truncated file is rejected."""
    data = bytearray((SHIPPED / "2x3.moves").read_bytes())
    data[place] ^= 4
    file = tmp_path / "broken.moves"
    file.write_bytes(data)
    with pytest.raises(SolvingError, match="is damaged, or is not a moves file"):
        DistilledMoves.load(file)
    file.write_bytes((SHIPPED / "2x3.moves").read_bytes()[:place])
    with pytest.raises(SolvingError, match="is damaged, or is not a moves file"):
        DistilledMoves.load(file)


@pytest.mark.parametrize(
    ("text", "is_served"),
    [
        ("classic:size=2x3", True),
        ("classic:size=2x3,target=64", True),
        ("3x3", True),
        ("classic:size=2x3,target=64,end=target", False),
        ("classic:size=2x3,start=3", False),
        ("classic:size=2x3,spawn=2:1", False),
        ("ist:size=2x3", False),
        ("classic:size=3x2", False),
        ("classic", False),
    ],
)
def test_moves_serve_rules_that_play_alike(text: str, is_served: bool) -> None:
    """Names and targets that do not end the game do not matter; everything else does."""
    assert (shipped_moves(get_rules(text)) is not None) == is_served


@pytest.mark.parametrize("text", ["64 64 / . .", "128 2 / . .", "8 . / . 16"])
def test_boards_that_cannot_be_are_refused(text: str) -> None:
    """Boards without a spawned tile or with too large a sum are rejected."""
    moves = shipped_moves(get_rules("classic:size=2x2"))
    with pytest.raises(BoardError, match="no game under classic reaches the board"):
        moves.best(Board.parse(text))
