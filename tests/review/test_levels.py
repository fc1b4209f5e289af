"""Levels: goals stay until they are made, and a player's level is found from largest tiles."""

from __future__ import annotations

import json
import random
from itertools import pairwise, product

import pytest

from py2048 import Board, get_rules
from py2048.core.errors import PlayerError, RulesError
from py2048.core.rules import list_rules
from py2048.review.levels import (
    CERTAIN,
    LEVELS,
    MAX_GAMES,
    PRIOR_GAMES,
    TABLE,
    Level,
    facts_of_levels,
    fit_level,
    fit_of,
    goal_of,
    has_table,
    level_of,
    made_shares,
    parse_level,
)
from py2048.review.simulation import shares_of, simulate

CLASSIC = get_rules("classic")
ANY_LEVEL = [*LEVELS, Level("", 0.9), Level("", 0.137), Level("", 0.001)]


def board_with(tile: int, rules=CLASSIC) -> Board:
    return Board.empty(*rules.shape).with_tile((0, 0), tile)


def goals(level: Level, rules=CLASSIC, count: int = 8) -> list[int]:
    """Return the first goals, each found on a board that has just made the one before."""
    found = [2]
    for _ in range(count):
        found.append(goal_of(rules, level, board_with(found[-1], rules)).tile)
    return found[1:]


def games_of(level: Level, count: int, seed: int = 1) -> list[tuple[int, bool]]:
    """Draw finished games of a level from the table."""
    made = made_shares(CLASSIC, level)
    larger = [*list(made.values())[1:], 0.0]
    shares = [share - above for share, above in zip(made.values(), larger, strict=True)]
    return [(tile, True) for tile in random.Random(seed).choices([*made], shares, k=count)]


@pytest.mark.parametrize("level", ANY_LEVEL, ids=str)
def test_a_goal_stays_until_it_is_made(level):
    """A goal is the same on every board between two goals, whatever the tiles."""
    chain = goals(level)
    for last, goal, next_goal in zip(chain, chain[1:], chain[2:], strict=False):
        tile = last
        while tile < goal:
            assert goal_of(CLASSIC, level, board_with(tile)) == (goal, next_goal)
            tile *= 2


@pytest.mark.parametrize("level", ANY_LEVEL, ids=str)
def test_a_goal_is_the_smallest_tile_that_is_not_almost_certain(level):
    """Fewer than 90 % of the games that make a goal make the next one; smaller tiles, more."""
    made = made_shares(CLASSIC, level)
    share, last = 1.0, 2
    for goal in goals(level):
        tile = last
        while share and (tile := 2 * tile) < goal:
            assert made[tile] >= CERTAIN * share
        assert not share or made.get(goal, 0.0) < CERTAIN * share
        share, last = made.get(goal, 0.0), goal


def test_beyond_the_table_the_next_tile_is_the_goal():
    """So it is on boards that a player never reaches, and under rules too large to simulate."""
    assert goal_of(CLASSIC, level_of(0.3), board_with(65536)) == (131072, 262144)
    assert goal_of(get_rules("7x7"), level_of(0.1), board_with(32)) == (64, 128)


def test_no_goal_lies_beyond_the_end_of_the_game():
    """The tile that ends a game is its last goal."""
    rules = get_rules("classic:target=512,end=target")
    assert goal_of(rules, level_of(0.02), board_with(256)) == (512, 512)


def test_shares_are_interpolated_between_the_slips_of_the_table():
    """At a slip of the table they are its row, between two slips their mean, beyond it the last."""
    for slip, row in json.loads(TABLE.read_text())["classic"]["slips"].items():
        made = made_shares(CLASSIC, Level("", float(slip)))
        assert made == pytest.approx({tile: row["made"].get(str(tile), 0.0) for tile in made})
    low, middle, high = (made_shares(CLASSIC, Level("", slip)) for slip in (0.1, 0.125, 0.15))
    assert middle == pytest.approx({tile: (low[tile] + high[tile]) / 2 for tile in middle})
    assert made_shares(CLASSIC, Level("", 0.001)) == made_shares(CLASSIC, Level("", 0.01))


def test_the_table_holds_for_other_games():
    """Games with another seed make each tile as often, within four standard errors."""
    level, games = level_of(0.3), 400
    made = shares_of(simulate(CLASSIC, level.slip, games, seed=7)[0])
    for tile, share in made_shares(CLASSIC, level).items():
        assert abs(made.get(tile, 0.0) - share) < 4 * (0.25 / games) ** 0.5


def test_rules_without_a_table_are_simulated():
    """Their goals depend on how far a level gets; nine cells without 4s make no tile above 512."""
    made = made_shares(get_rules("classic:size=3x3,spawn=2:1"), level_of(0.1))
    assert made[4] == 1
    assert max(made) <= 512


@pytest.mark.parametrize("text", ["classic:size=2x3", "classic:size=6x6"])
def test_boards_that_are_judged_exactly_or_are_too_large_are_not_simulated(text):
    """Nothing waits for a simulation there; the next tile is the goal."""
    rules = get_rules(text)
    assert not made_shares(rules, level_of(0.1))
    assert goal_of(rules, level_of(0.1), board_with(8, rules)) == (16, 32)


def test_stronger_levels_make_larger_tiles():
    """A level makes each tile at least as often as the weaker ones, but for the sampling error."""
    tabled = [rules for rules in list_rules() if has_table(rules)]
    assert {rules.name for rules in tabled} >= {"classic", "3x3", "3x4", "5x5"}
    for rules, (weaker, stronger) in product(tabled, pairwise(LEVELS)):
        better = made_shares(rules, stronger)
        assert all(
            share <= better[tile] + 0.03 for tile, share in made_shares(rules, weaker).items()
        )


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_fit_finds_the_level_of_simulated_games(level):
    """Fifty games tell a level from one that slips twice or half as often."""
    assert level.slip / 2 < fit_level(CLASSIC, games_of(level, 50)).slip < 2 * level.slip


def test_without_games_the_fit_is_the_prior():
    """The prior is most likely by itself."""
    assert fit_level(CLASSIC, []) == level_of(0.1)


def test_the_prior_weighs_as_much_as_five_games():
    """Five times as many games of both the prior's level and a player give the same fit."""
    games = [(tile, True) for tile in (128, 256, 256, 256, 512)]
    prior = [(256, True)] * 2 + [(512, True)] * 6 + [(1024, True)] * 9 + [(2048, True)] * 3
    assert len(prior) + 5 == PRIOR_GAMES * len(games)
    alone = fit_level(CLASSIC, games).slip
    assert 0.1 < alone == pytest.approx(fit_level(CLASSIC, prior + 5 * games).slip, rel=0.1)


def test_an_abandoned_game_made_at_least_its_tile():
    """It counts like any better result: nothing if small, and never against the player."""
    games = games_of(level_of(0.2), 10)
    assert fit_level(CLASSIC, [*games, (2, False)]) == fit_level(CLASSIC, games)
    abandoned, finished = (fit_level(CLASSIC, games + 5 * [(512, end)]) for end in (False, True))
    assert abandoned.slip < finished.slip


def test_only_the_last_games_count():
    """Games before the last 50 do not change the fit."""
    recent = games_of(level_of(0.05), MAX_GAMES)
    assert fit_level(CLASSIC, [(64, True)] * 30 + recent) == fit_level(CLASSIC, recent)


@pytest.mark.parametrize("tile", [2, 4, 1 << 17])
def test_any_tile_can_be_fitted(tile):
    """Results that no simulated game had are possible, if unlikely."""
    assert 0 < fit_level(CLASSIC, [(tile, True)] * 9).slip <= 0.9


def test_the_fit_is_shown_beside_the_games():
    """Games of a level make its tiles about as often as expected; abandoned ones do not count."""
    level = level_of(0.1)
    games, made = games_of(level, MAX_GAMES), made_shares(CLASSIC, level)
    assert fit_of(CLASSIC, level, [(2, True), *games, (2, False)]) == [
        (tile, pytest.approx(sum(each >= tile for each, _ in games[1:]) / 49), share)
        for tile, share in made.items()
        if 0.05 <= share <= 0.95
    ]
    assert not fit_of(CLASSIC, level, [(512, False)])


def test_the_page_has_the_goals_of_every_level():
    """They are listed by the rank of the largest tile on the board."""
    rules = get_rules("3x4")
    assert facts_of_levels(rules) == {
        str(level): {
            "slip": level.slip,
            "goals": [goal_of(rules, level, board_with(1 << r & ~1, rules)) for r in range(20)],
        }
        for level in LEVELS
    }


def test_rules_without_a_table_have_no_fit():
    """The error names them."""
    assert has_table(get_rules("classic:target=none"))
    assert not has_table(get_rules("7x7"))
    with pytest.raises(RulesError, match="7x7"):
        fit_level(get_rules("7x7"), [(512, True)])


@pytest.mark.parametrize("level", ANY_LEVEL, ids=str)
def test_a_level_is_read_as_it_is_written(level):
    """Names and slips are parsed in any case, and slips find their name; perfect play has none."""
    assert parse_level(str(level)) == parse_level(f" {str(level).upper()} ") == level
    assert parse_level(str(level.slip)) == level
    assert parse_level("Perfect") is None


@pytest.mark.parametrize("text", ["", "0", "0.91", "-0.1", "nan", "inf", "strongest", "expert 2"])
def test_errors_name_the_value_and_the_choices(text):
    """The message names the wrong level and lists all choices."""
    with pytest.raises(PlayerError) as caught:
        parse_level(text)
    assert text in str(caught.value)
    assert all(str(level) in str(caught.value) for level in LEVELS)
    assert "perfect" in str(caught.value)
    assert "0.9" in str(caught.value)
