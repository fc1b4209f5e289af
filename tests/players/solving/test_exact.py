"""Tests that the page about exact values is up to date, and of bounds on values."""

from __future__ import annotations

import pytest
from tests.scripts import module_of

from py2048.players.solving import solve

exact = module_of("benchmarks", "exact")
ends = module_of("benchmarks", "outcomes")
page = module_of("benchmarks", "exact_page")


def test_the_pages_say_what_was_measured(page):
    """Each table on the page matches the results."""
    found = set()
    for path in page.PAGES:
        text = path.read_text(encoding="utf-8")
        assert page.page_with_tables(text) == text
        found |= {block[2] for block in page.BLOCK.finditer(text)}
    assert found == set(page.BLOCKS)


@pytest.mark.parametrize("size", ["1x2", "1x3", "1x4", "2x2", "2x3"])
def test_no_game_is_worth_more_than_free_merging(size, exact):
    """The free-merging bound is at least the value of each start."""
    solution = solve(f"classic:size={size}")
    rows, columns = solution.rules.shape
    for start in solution.starts:
        bound = exact.free_merging(rows * columns, start.board.sum)
        assert start.value <= bound + 1e-9


def test_free_merging_by_hand(exact):
    """On two cells, 2 2 makes 4 and waits for a 4; 2 4 is the end."""
    # 4 points; then a 4 (0.1) makes 8, 8 points; then 2 (0.9) or 4 (0.1) ends at two digits
    assert exact.free_merging(2, 4) == pytest.approx(4 + 0.1 * 8)
    assert exact.free_merging(2, 6) == 0


@pytest.mark.parametrize(
    "text",
    [
        "classic:size=2x2",
        "comp1127:size=2x2,target=16",
        "ist:size=1x4",
        "qsan_qarut:size=2x2",
        "classic:size=1x3,start=1..2,spawn=2:1+8:2,merging=cascade",
    ],
)
def test_outcomes_of_perfect_play_have_the_value_as_their_mean(text, ends):
    """The mean of the outcome distribution is the value of the game."""
    solution = solve(text)
    found = ends.PerfectPlay(solution).outcomes()
    for shares in (found.tiles, found.scores, found.sums):
        assert sum(shares.values()) == pytest.approx(1)
    mean = sum(score * chance for score, chance in found.scores.items())
    assert mean == pytest.approx(solution.value, abs=1e-9)


def test_the_chance_of_a_tile_is_how_often_perfect_play_makes_it(ends):
    """The outcome distribution of a tile goal agrees with the tile's chance."""
    solution = solve("classic:size=2x3", "tile=64")
    found = ends.PerfectPlay(solution).outcomes()
    assert found.tiles[64] == pytest.approx(solution.value, abs=1e-12)
    assert max(found.tiles) == 64
    assert found.scores == {}


def test_on_large_boards_scores_are_not_told_apart(ends):
    """The distribution of final tiles is the same if scores are merged."""
    solution = solve("classic:size=2x3")
    whole, large = (ends.PerfectPlay(solution, most).outcomes() for most in (21_752, 21_751))
    assert large.scores == {}
    assert large.tiles == pytest.approx(whole.tiles)
    assert large.sums == pytest.approx(whole.sums)
