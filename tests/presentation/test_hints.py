"""Wording of hints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from py2048.app.session import Hint, PositionSnapshot, hint_player
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.rules import get_rules, list_rules
from py2048.players import Chance, Meaning, Unit, make_player
from py2048.presentation import hints
from py2048.review import Grade
from py2048.review.levels import Goals
from py2048.review.moves import Basis, Position, move_review

POINTS = Meaning(Unit.POINTS, "ntuple")
HINT = Hint(
    Direction.LEFT,
    {Direction.UP: 10.4, Direction.LEFT: 1500.0, Direction.DOWN: 1499.9},
    "expectimax",
    1,
    POINTS,
)


def on(board: str, direction: Direction) -> Hint:
    """Return a hint on a classic board."""
    position = PositionSnapshot(get_rules("classic"), Board.parse(board), 1)
    return Hint(direction, {direction: 1.0}, "expectimax", 1, position=position)


def test_a_hint_says_what_is_best_and_what_the_others_lose():
    """A hint names the best direction, then what each other loses, and no player spec."""
    assert hints.headline(HINT) == "Left is best"
    assert hints.describe_hint(HINT) == "Left is best. Down is as good. Up loses 1,490."
    quick = replace(HINT, instead_of="expectimax", values={})
    text = "For now, left looks best. A better hint is on its way."
    assert hints.describe_hint(quick) == text


def test_a_row_for_each_direction_says_its_loss_share_and_grade():
    """The best row comes first even among equals, and losses have a minus sign."""
    rows = [(row.direction, row.text, row.grade) for row in hints.options_of(HINT)]
    assert rows == [
        (Direction.LEFT, "best", Grade.BEST),
        (Direction.DOWN, "as good", Grade.BEST),
        (Direction.UP, "\N{MINUS SIGN}1,490", Grade.BLUNDER),
    ]
    equals = replace(HINT, values=dict.fromkeys(Direction, 4.0), direction=Direction.RIGHT)
    assert hints.options_of(equals)[0].direction is Direction.RIGHT
    alone = replace(HINT, values={})
    assert [row.text for row in hints.options_of(alone)] == ["best"]


@pytest.mark.parametrize("unit", Unit)
def test_bars_are_longer_for_better_directions(unit):
    """Bars are between 0 and 1, and shorter for worse moves, in every unit."""
    values = {Direction.UP: 0.25, Direction.LEFT: 0.5, Direction.DOWN: -0.1}
    hint = replace(HINT, values=values, meaning=Meaning(unit))
    shares = [row.share for row in hints.options_of(hint)]
    assert shares == sorted(shares, reverse=True)
    assert (shares[0], min(shares) >= 0) == (1.0, True)


@pytest.mark.parametrize(
    ("loss", "unit", "text"),
    [
        (1203.6, Unit.POINTS, "1,204"),
        (99_999.0, Unit.POINTS, "99,999"),
        (250_411.0, Unit.POINTS, "250 k"),
        (0.4, Unit.RATING, ""),
        (0.0321, Unit.CHANCE, "3.2 %"),
        (0.0001, Unit.CHANCE, ""),
    ],
)
def test_a_loss_is_short(loss, unit, text):
    """Losses have fewer than six digits, and negligible ones are empty."""
    assert hints.short_loss(loss, unit) == text


def judged(**changes: Any) -> Hint:
    """Return a hint judged for a level."""
    board = Board.parse("256 4 . 2/8 . . ./. . . ./. . . .")
    values = {Direction.DOWN: 0.48, Direction.LEFT: 0.62, Direction.RIGHT: 0.1}
    move = move_review(Position(1, board), values, Unit.CHANCE, Basis("playouts"))
    move = replace(move, goal=Goals(512, 1024), **changes)
    return Hint(Direction.LEFT, values, "playouts", 1, Meaning(Unit.CHANCE), judged=move)


def test_a_hint_at_a_level_says_how_many_games_make_the_goal():
    """It names the chance of the best move and of the second, and has a bar for each."""
    text = "62 of 100 games like yours make 512; Down 48."
    assert hints.describe_hint(judged()) == f"Left. {text}"
    rows = [(row.direction, row.text, row.share) for row in hints.options_of(judged())]
    assert rows == [
        (Direction.LEFT, "62 %", 0.62),
        (Direction.DOWN, "48 %", 0.48),
        (Direction.RIGHT, "10 %", 0.1),
    ]
    rare = hints.reason_of(judged(survival=True))
    assert rare == "62 of 100 games like yours last 20 more moves; Down 48."
    known = judged(games={Direction.LEFT: 1200}, errors={Direction.LEFT: 0.0, Direction.DOWN: 0.02})
    said = "From 1,200 simulated games after each move, give or take 2 %."
    assert hints.describe_outlook(known) == said


def test_the_only_move_is_no_choice():
    """If there is a single legal move, the hint says so."""
    only = on("2 . . ./4 . . ./2 . . ./4 . . .", Direction.RIGHT)
    assert hints.describe_hint(only) == "Right is best. It is the only move."


def test_what_comes_is_told_where_it_is_known():
    """Expected points have two digits and are not negative; a chance states its number of games."""
    meaning = Meaning(Unit.POINTS, "ntuple", 0.0, Chance(16384, 660, 1000))
    hint = Hint(Direction.LEFT, {Direction.LEFT: 281436.1}, "x", 1, meaning)
    made = "16384 was made in 660 of 1,000 games."
    assert hints.describe_outlook(hint) == f"About 280,000 points to come with good play. {made}"
    assert hints.describe_outlook(replace(hint, values={})) == made
    assert hints.describe_outlook(replace(hint, meaning=Meaning())) == ""
    last = replace(hint, values={Direction.UP: -12.0}, meaning=POINTS)
    assert hints.describe_outlook(last) == "About 0 points to come with good play."


def test_players_have_names_for_people_on_every_board():
    """The best player on each board is called "Strong", and every named player can be created."""
    for rules in list_rules():
        best = hint_player(rules)
        assert hints.player_name(best, best) == hints.player_name("", best) == "Strong"
    for player in hints.PLAYERS:
        assert not player.value or make_player(player.value)
    assert hints.player_name("greedy") == "Beginner"
    assert hints.player_name("montecarlo:games=5") == "montecarlo:games=5"


def test_a_beginner_is_told_the_target():
    """The tutorial line names the target, if any."""
    rules = get_rules("classic")
    assert hints.teaching(rules) == "Join equal tiles. Make 2048."
    assert hints.teaching(get_rules("2x4")) == "Join equal tiles. Make 256."
    assert hints.teaching(get_rules("classic:target=none")) == "Join equal tiles."
