"""Milestones: which tiles a board has, and how soon a game made them."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048 import Game, Rules, get_rules
from py2048.review.milestones import Pace, is_milestone, milestones, race_of
from py2048.review.mistakes import interval, next_box


@pytest.mark.parametrize(
    ("rules", "tiles"),
    [
        ("classic", [512, 1024, 2048, 4096, 8192]),
        ("comp1127", [512, 1024, 2048]),  # ends at 2048
        ("2x4", [64, 128, 256, 512]),  # no larger tile fits
        ("cits1401", []),  # no target
    ],
)
def test_a_boards_milestones_follow_from_its_target(rules, tiles):
    """They begin at a quarter of the target and end with the largest tile that can be made."""
    assert [*islice(milestones(get_rules(rules)), 5)] == tiles
    assert [tile for tile in (32, *tiles) if is_milestone(get_rules(rules), tile)] == tiles


@given(st.integers(0, 99), st.integers(2, 80), st.integers(0, 40), st.sampled_from([{8}, {8, 64}]))
def test_a_tile_is_made_when_it_is_first_on_the_board(seed, count, undone, known_tiles):
    """Times are sums since the first move; undone turns do not count."""
    game, millis = Game(Rules.parse("2x4:target=32"), seed=seed), [*range(100, 180)]
    for turn in range(count):
        if not game.is_over:
            game.play(game.legal_directions()[turn % len(game.legal_directions())])
    for _ in range(undone):
        game.undo()
    best = {each: Pace(1, 1) for each in known_tiles}
    race = race_of(game.positions(), millis, game.rules, best)
    most = max(32, game.position.max_tile, *known_tiles)
    assert [each.tile for each in race] == [8 << k for k in range(6) if 8 << k <= most]
    for tile, pace, known in race:
        made = [each.ply for each in game.positions() if each.max_tile >= tile]
        assert pace == (Pace(sum(millis[1 : made[0]]), made[0]) if made else None)
        assert known == best.get(tile)


def test_a_tile_of_the_start_is_not_made():
    """A position that was set up has no pace."""
    game = Game("2x4:target=32", board="8 . . . / . . . .")
    assert {each.pace for each in race_of(game.positions(), [], game.rules, {})} == {None}


def test_a_mistake_is_practised_half_as_often_with_every_success():
    """A failure leads back to the first of seven boxes."""
    boxes = range(1, 8)
    assert [next_box(box, is_success=True) for box in boxes] == [2, 3, 4, 5, 6, 7, 7]
    assert {next_box(box, is_success=False) for box in boxes} == {1}
    assert [interval(box).days for box in boxes] == [1, 2, 4, 8, 16, 32, 64]
