"""Tournament reports: every number checked by hand, in text, JSON and CSV."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048 import get_rules
from py2048.lab.arena import GameResult, Results, Tournament, comparisons, summaries
from py2048.lab.arena.report import csv_text, data, number, text_report
from py2048.lab.arena.statistics import tile_rates

FIRST = {0: (100, 16), 1: (300, 32), 2: (200, 32), 3: (900, 64)}
SECOND = {0: (100, 16), 1: (250, 32), 2: (240, 16), 3: (500, 64)}


def results(*games: dict[int, tuple[int, int]]) -> Results:
    """Return results with given scores and largest tiles, 10 moves and 0.5 s each."""
    names = ("greedy", "corner")[: len(games)]
    tournament = Tournament(names, get_rules("2x4"), 4, seed=1)
    return Results(
        tournament,
        [
            GameResult(name, game, 1000 + game, score, tile, 10, 0.5)
            for name, played in zip(names, games, strict=True)
            for game, (score, tile) in played.items()
        ],
    )


def test_a_summary_by_hand():
    """Mean 375, deviations squared 75625, 5625, 30625, 275625: error sqrt(387500 / 3 / 4)."""
    (found,) = summaries(results(FIRST))
    assert (found.games, found.least, found.most, found.score.mean) == (4, 100, 900, 375)
    assert found.score.error == pytest.approx(math.sqrt(387500 / 12))
    assert found.score.high == pytest.approx(375 + 3.18244631 * math.sqrt(387500 / 12), rel=0.01)
    assert (found.quantiles[0.5], found.quantiles[0.25]) == (250, 175)
    assert {tile: rate.hits for tile, rate in found.tiles.items()} == {16: 4, 32: 3, 64: 1}
    assert (found.moves.mean, found.moves_per_second) == (10, 20)


def test_a_comparison_by_hand():
    """Differences 0, 50, -40, 400: mean 102.5; one drawn, two won."""
    (pair,) = comparisons(results(FIRST, SECOND))
    squares = sum((each - 102.5) ** 2 for each in (0, 50, -40, 400))
    assert pair.difference.error == pytest.approx(math.sqrt(squares / 3 / 4))
    assert (pair.won.hits, pair.won.trials, pair.drawn, pair.difference.mean) == (2, 4, 1, 102.5)


def test_only_games_that_both_finished_are_compared():
    """A comparison ignores games that only one player finished."""
    (pair,) = comparisons(results(FIRST, {1: (250, 32), 3: (500, 64)}))
    assert (pair.won.trials, pair.difference.mean) == (2, 225)
    assert comparisons(results(FIRST, {})) == []
    assert [each.player for each in summaries(results({}, SECOND))] == ["corner"]


@given(st.lists(st.integers(2, 17).map(lambda rank: 1 << rank), min_size=1))
def test_tile_rates_count_games(largest):
    """Tile rates begin with the tile that every game reached, and never increase."""
    rates = tile_rates(largest)
    assert list(rates) == sorted(rates)
    assert (min(rates), max(rates)) == (min(largest), max(largest))
    assert rates[min(largest)].share == 1
    hits = [rate.hits for rate in rates.values()]
    assert hits == [sum(each >= tile for each in largest) for tile in rates]
    assert hits == sorted(hits, reverse=True)


def test_the_text_has_every_number():
    """The text report aligns its columns, and names rules in full unless they are a preset."""
    changed = get_rules("classic:target=512,end=target")
    assert f"{changed}, 4" in text_report(Results(Tournament(("x",), changed, 4, seed=1), []))
    text = text_report(results(FIRST, SECOND))
    assert "2x4, 4 games each, seed 1" in text
    blocks = [block.splitlines() for block in text.split("\n\n")][1:]
    scores, spread, tiles, pairs = blocks
    assert scores[1].split() == ["greedy", "4", "375", "±", "180", "-193", "to", "943", "10", "20"]
    assert spread[1].split() == ["greedy", "100", "115", "175", "250", "450", "810", "900"]
    assert tiles[2].split() == ["greedy", "32", "75.0", "%", "30.1", "to", "95.4", "%"]
    assert pairs[1].split()[:7] == ["greedy", "-", "corner", "4", "102", "±", "101"]
    assert pairs[1].split()[-4:] == ["50.0", "%", "25.0", "%"]
    for block in (scores, spread, tiles, pairs):
        assert len({len(line) for line in block}) == 1


def test_a_stopped_tournament_says_so():
    """An incomplete report says how many games are finished and that means are biased."""
    text = text_report(results(FIRST, {1: (250, 32)}))
    assert "stopped after 5 of 8 games; long ones are more likely to be missing" in text
    assert "stopped" not in text_report(results(FIRST, SECOND))
    assert text_report(results({}))  # before the first game is over there is nothing, and no fault


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.123, "0.12"), (12.34, "12.3"), (99, "99"), (123.4, "123"), (1e6, "1,000,000")],
)
def test_numbers_have_the_digits_that_matter(value, text):
    """Numbers have about three digits; infinite and unknown ones are a dash."""
    assert number(value) == text
    assert number(math.nan) == number(math.inf) == "-"
    assert number(3.7, 375) == "4"


def test_json_has_every_game_and_every_number():
    """Unknown values are null in JSON."""
    values = json.loads(json.dumps(data(results(FIRST, SECOND)), allow_nan=False))
    assert values["complete"]
    greedy = values["players"][0]
    assert greedy["score"]["mean"] == 375
    assert greedy["tiles"]["32"]["hits"] == 3
    assert [game["score"] for game in greedy["played"]] == [100, 300, 200, 900]
    assert values["comparisons"][0]["difference"]["mean"] == 102.5
    lonely = json.loads(json.dumps(data(results({0: (100, 16)})), allow_nan=False))
    assert lonely["players"][0]["score"]["error"] is None
    assert not lonely["complete"]


def test_csv_has_a_line_for_each_game():
    """Each CSV line has the seed, so that the game can be replayed."""
    head, *lines = csv_text(results(FIRST, SECOND)).splitlines()
    assert head == "player,game,seed,score,max_tile,moves,seconds,boards,tokens"
    assert len(lines) == 8
    assert lines[3] == "greedy,3,1003,900,64,10,0.5,0,0"
