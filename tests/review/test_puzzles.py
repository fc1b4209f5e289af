"""The shipped puzzles are legal, correct and unique."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

import pytest

from py2048 import Game, make_player
from py2048.core.board import canonical
from py2048.core.errors import Py2048Error
from py2048.core.folders import tables_folder
from py2048.players.ntuple.weights import digest_of, shipped_path
from py2048.players.solving import build_table, find_ending, get_formation
from py2048.review.mistakes import MistakeKind
from py2048.review.moves import Grade
from py2048.review.puzzles import PACK, PuzzleRating, daily_puzzle, get_puzzle, puzzles

MAX_BYTES = 300_000


def test_the_pack_is_complete_and_small():
    """The pack has a thousand puzzles of every kind, mostly classic, sorted by rating."""
    pack = puzzles()
    assert len(pack) == 1000
    assert PACK.stat().st_size <= MAX_BYTES
    assert sorted(puzzle.id for puzzle in pack) == list(range(1, 1001))
    assert [each.rating for each in pack] == sorted(each.rating for each in pack)
    presets = Counter(puzzle.rules.name for puzzle in pack)
    assert set(presets) == {"classic", "comp1127", "3x3", "5x5"}
    assert presets["classic"] > 500
    assert {puzzle.theme for puzzle in pack} == set(MistakeKind)


def test_the_pack_was_mined_with_the_weights_that_are_there():
    """The pack was mined with the shipped weights; other weights require mining again."""
    heads = [line.split()[1:] for line in PACK.read_text().splitlines() if line.startswith("#")]
    rules = {each.rules.name: each.rules for each in puzzles() if each.source != "exact"}
    assert dict(head for head in heads if len(head) == 2) == {
        name: digest_of(shipped_path(each)) for name, each in rules.items()
    }


def test_each_puzzle_has_one_clearly_best_move():
    """The best move is legal, and all others are at least inaccuracies."""
    for puzzle in puzzles():
        assert puzzle.board.shape == puzzle.rules.shape
        game = Game(puzzle.rules, seed=0, board=puzzle.board)
        assert set(game.legal_directions()) == set(puzzle.values)
        assert len(puzzle.values) > 1
        for direction in puzzle.values:
            move = puzzle.graded(direction)
            assert move.best is puzzle.best
            assert move.share == round(min(move.loss / puzzle.values[puzzle.best], 1), 6)
            wrong = move.grade in (Grade.MISTAKE, Grade.BLUNDER)
            assert wrong == (direction is not puzzle.best)


def test_no_puzzle_is_there_twice():
    """No two puzzles are symmetric."""
    seen = Counter((each.rules, canonical(each.board.rows)) for each in puzzles())
    assert max(seen.values()) == 1


def test_best_moves_are_exactly_the_best_where_those_are_known():
    """On 3x3 the puzzles agree with the shipped best moves."""
    player = make_player("perfect")
    exact = [puzzle for puzzle in puzzles() if puzzle.source == "exact"]
    assert exact
    for puzzle in exact:
        assert player.choose(Game(puzzle.rules, seed=0, board=puzzle.board)) is puzzle.best


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_table_of_endings_knows_a_better_move():
    """No endgame table gives another move a higher chance."""
    tables_folder().mkdir(parents=True)
    build_table(get_formation("442"), 64, tables_folder() / "442-64.table")
    known = [(each, find_ending(each.board, each.rules)) for each in puzzles()]
    endings = [(puzzle, ending.chances) for puzzle, ending in known if ending is not None]
    assert len(endings) > 20
    for puzzle, chances in endings:
        assert chances[puzzle.best] >= 0.999 * max(chances.values())


def test_a_puzzle_a_day_without_repeats():
    """Daily puzzles are the same everywhere, vary, and do not repeat within a thousand days."""
    days = [daily_puzzle(date(2048, 1, 1) + timedelta(days=n)) for n in range(1001)]
    assert len({puzzle.id for puzzle in days}) == 1000
    assert days[0] == days[1000] == daily_puzzle(date(2048, 1, 1))
    ratings = sorted(puzzle.rating for puzzle in puzzles())
    for week in range(0, 140, 7):
        here = [puzzle.rating for puzzle in days[week : week + 7]]
        assert min(here) < ratings[300]
        assert max(here) > ratings[700]


def test_a_number_that_no_puzzle_has_is_named():
    """The error names the number and the valid range."""
    assert get_puzzle(17).id == 17
    with pytest.raises(Py2048Error, match="no puzzle has the number 1001: give 1 to 1000"):
        get_puzzle(1001)


def test_a_rating_follows_glickmans_formula():
    """The rating matches a calculation by hand: 1500 with deviation 200 solves a puzzle of 1400."""
    before = PuzzleRating(1500.0, 200.0)
    assert before.chance(1400) == pytest.approx(1 / (1 + 10**-0.25))
    after = before.after(1400, is_solved=True)
    assert after.rating == pytest.approx(1563.49, abs=0.01)
    assert after.deviation == pytest.approx(175.05, abs=0.01)
    assert before.after(1400, is_solved=False).rating < 1500
    for _ in range(100):
        before = before.after(before.rating, is_solved=True)
    assert before.deviation == 50  # so that a rating still follows improvement
