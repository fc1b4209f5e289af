"""The shipped puzzles are legal, correct and unique."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from math import gcd
from statistics import fmean

import pytest

from py2048 import Game, make_player
from py2048.core.board import canonical
from py2048.core.errors import Py2048Error
from py2048.core.folders import tables_folder
from py2048.players.ntuple.weights import digest_of, shipped_path
from py2048.players.solving import build_table, find_ending, get_formation
from py2048.review.moves import Grade
from py2048.review.puzzles import PACK, Rating, daily_puzzle, get_puzzle, pack, puzzles
from py2048.review.reasons import ReasonKind

MAX_BYTES = 300_000


def test_the_pack_is_complete_and_small():
    """The pack has many puzzles of every kind, mostly classic, sorted by rating around 1500."""
    shipped = puzzles()
    assert len(shipped) > 900
    assert fmean(each.rating for each in shipped) == pytest.approx(1500, abs=1)
    assert PACK.stat().st_size <= MAX_BYTES
    assert len({puzzle.id for puzzle in shipped} & set(range(1, 1001))) == len(shipped)
    assert [each.rating for each in shipped] == sorted(each.rating for each in shipped)
    presets = Counter(puzzle.rules.name for puzzle in shipped)
    assert set(presets) == {"classic", "comp1127", "3x3", "5x5"}
    assert presets["classic"] > 500
    assert {puzzle.theme for puzzle in shipped} == {*ReasonKind, None}


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
    """Daily puzzles are the same everywhere, vary, and do not repeat before all were used."""
    count = len(puzzles())
    days = [daily_puzzle(date(2048, 1, 1) + timedelta(days=n)) for n in range(count + 1)]
    assert len({puzzle.id for puzzle in days}) == count
    assert days[0] == days[count] == daily_puzzle(date(2048, 1, 1))
    step, offset, epoch = pack()["step"], pack()["offset"], date(1970, 1, 1).toordinal()
    assert step == next(n for n in range(round(0.618034 * count), count) if gcd(n, count) == 1)
    day = date(2048, 1, 1).toordinal() - epoch
    assert puzzles()[(day * step + offset) % count] == days[0]
    ratings = sorted(puzzle.rating for puzzle in puzzles())
    for week in range(0, 140, 7):
        here = [puzzle.rating for puzzle in days[week : week + 7]]
        assert min(here) < ratings[300]
        assert max(here) > ratings[700]


def test_a_number_that_no_puzzle_has_is_named():
    """The error names the number and the valid range."""
    assert get_puzzle(17).id == 17
    with pytest.raises(Py2048Error, match="no puzzle has the number 1001: give another, 1 to 1000"):
        get_puzzle(1001)


def test_a_rating_follows_glickmans_formula():
    """The ratings match Glickman's example: three games of a player of 1500, deviation 200."""
    player = Rating(1500.0, 200.0)
    first = Rating(1400.0, 30.0)
    won = player.after(first, has_won=True)
    assert won.rating == pytest.approx(1563.43, abs=0.01)
    assert won.deviation == pytest.approx(175.22, abs=0.01)
    assert player.after(first, has_won=False).rating < 1500
    assert first.after(player, has_won=False).rating < 1400
    unsure = player.after(Rating(1700.0, 300.0), has_won=False)  # g = 0.7242, E = 0.303
    assert unsure.rating == pytest.approx(1455.9, abs=0.1)
    assert Rating() == Rating(1500.0, 350.0)
    for _ in range(200):
        player = player.after(Rating(player.rating, 50.0), has_won=True)
    assert player.deviation == 50  # so that a rating still follows improvement
