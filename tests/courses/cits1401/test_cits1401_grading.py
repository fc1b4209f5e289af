"""Grading cits1401: how a window is read."""

from __future__ import annotations

import random
from itertools import takewhile

import pytest

from py2048 import Board, Direction, Game, get_rules
from py2048.courses.cits1401.tasks import (
    ObservedChoices,
    ObservedMove,
    WindowContents,
    possible_scores,
    reports_success,
)


@pytest.mark.parametrize(
    ("text", "score", "shown"),
    [
        ("Score: 12", 12, True),
        ("12", 12, True),
        ("Your score is 0.", 0, True),
        ("0.5", 0, False),
        ("Score: 12", 1, False),
        ("Score: 12", 2, False),
        ("Score: -3", -3, True),
        ("Score: -3", 3, False),
        ("Score 3", -3, False),
        ("", 0, False),
    ],
)
def test_a_score_is_read_as_a_whole_number(text, score, shown):
    """A score is recognized only as a whole number with its sign."""
    assert WindowContents([], [], [text]).shows_score(score) is shown


@pytest.mark.parametrize(
    ("texts", "scores"),
    [
        (["Score: 12", "Move 3"], {12}),
        (["-12", "Up movement is successful: score +1"], {-12, 1}),
        (["Points: 12", "Moved up"], {12}),
        (["Moved up"], set()),
    ],
)
def test_which_numbers_can_be_the_score(texts, scores):
    """A score is a number with the word score or without other words, or else any number."""
    assert possible_scores(texts) == scores


def test_initial_texts_are_not_status():
    """Texts that were there at the start of a game do not count as status."""
    texts = ["An impossible move costs a point. Score: -1", "Not possible"]
    start = frozenset({"An impossible move costs a point. Score: 0"})
    contents = WindowContents([], [], texts, start)
    assert contents.status == ["Not possible"]
    assert not contents.status_matches("costs")
    assert contents.has_text("costs")


@pytest.mark.parametrize(
    ("text", "is_success"),
    [
        ("Left movement is successful", True),
        ("LEFT", True),
        ("Left movement is successful (0 moves failed so far)", True),
        ("Left: moved! Impossible moves: 3", True),
        ("Failed moves: 3 - left movement successful", True),
        ("Movement is successful", False),
        ("Left movement: not possible", False),
        ("Tried left. Movement failed.", False),
        ("Left movement unsuccessful", False),
        ("Left movement was not successful", False),
        ("Movement successful, left failed", False),
    ],
)
def test_a_success_may_be_reported_beside_failures(text, is_success):
    """A line may report a success and also mention failures of other moves."""
    assert reports_success(text, Direction.LEFT) is is_success


@pytest.mark.parametrize(
    ("before", "now", "new_lines"),
    [
        (["Up failed"], ["Left moved"], ["Left moved"]),
        (["Up failed"], ["Up failed"], ["Up failed"]),
        (["Up failed\nLeft moved"], ["Left moved\nLeft moved"], ["Left moved"]),
        (["Up failed\n"], ["Left moved\nUp failed\n"], ["Left moved"]),
        (["Left moved\nUp failed"], ["Up failed\nLeft moved"], []),
    ],
)
def test_only_new_lines_of_a_log_count(before, now, new_lines):
    """Of a log in the status panel, only the new lines count."""
    one, two = (WindowContents([], [], texts) for texts in (before, now))
    assert ObservedMove(one, Direction.LEFT, two).new_lines == new_lines


def test_a_board_is_read_only_from_numbers():
    """Squares with numbers form a board; other texts and numbers do not."""
    assert WindowContents([["2", ""], [" 4 ", "0"]], [], []).board == Board.parse("2 . / 4 .")
    assert WindowContents([["2", "x"], ["", ""]], [], []).board is None
    assert WindowContents([["2", "3"], ["", ""]], [], []).board is None


UP, DOWN, LEFT, RIGHT = Direction.UP, Direction.DOWN, Direction.LEFT, Direction.RIGHT


class _RandomPlayer:
    """A player that chooses randomly among some directions, or among the legal ones of them."""

    def __init__(self, *ways: Direction, only_legal: bool = False) -> None:
        self.draw, self.ways, self.only_legal = random.Random(0), ways, only_legal

    def __call__(self, game: Game) -> Direction:
        possible = game.legal_directions()
        known = [way for way in self.ways if way in possible] or possible
        return self.draw.choice(known if self.only_legal else self.ways)


def _prefers_left(game: Game) -> Direction:
    """Try left first, then the other directions in turn until one is legal."""
    failed = sum(1 for _ in takewhile(lambda turn: not turn.legal, reversed(game.turns)))
    return (LEFT, UP, RIGHT, DOWN)[failed]


class _CornerPlayer:
    """A player that uses some directions, in turn or randomly.

    After four failures it tries other directions.
    """

    def __init__(self, *ways: Direction, draw: random.Random | None = None) -> None:
        self.ways, self.draw, self.count = ways, draw, 0

    def __call__(self, game: Game) -> Direction:
        failed = sum(1 for _ in takewhile(lambda turn: not turn.legal, reversed(game.turns)))
        if failed >= 4:
            return (RIGHT, UP)[failed % 2]
        self.count += 1
        return self.draw.choice(self.ways) if self.draw else self.ways[self.count % len(self.ways)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("choose", "avoided_direction"),
    [
        (_RandomPlayer(*Direction), None),
        (_RandomPlayer(UP, LEFT, RIGHT), DOWN),
        (_RandomPlayer(DOWN, LEFT, RIGHT), UP),
        (_prefers_left, None),
        (_RandomPlayer(UP, LEFT, RIGHT, only_legal=True), None),
        (_CornerPlayer(LEFT, DOWN, LEFT, DOWN, RIGHT), None),
        (_CornerPlayer(LEFT, DOWN, draw=random.Random(0)), None),
    ],
    ids=["all", "never down", "never up", "prefers", "plans", "in turn", "corner"],
)
def test_only_a_computer_with_a_plan_may_avoid_a_direction(choose, avoided_direction, seed):
    """A random player that avoids a direction is detected; one with a plan may avoid it."""
    game, choices = Game(get_rules("cits1401"), seed=seed), ObservedChoices()
    one = _window(game, "Good luck")
    for _ in range(150):
        moved = game.attempt(choose(game))
        status = "Movement is successful" if moved else "Movement not possible"
        two = _window(game, status)
        choices.add(one, two)
        one = two
    assert choices.avoided_direction is avoided_direction


@pytest.mark.parametrize("way", [DOWN, RIGHT])
def test_a_move_is_recognized_beside_impossible_ones(way):
    """A move is recognized even if the first legal direction is another one."""
    game = Game(get_rules("cits1401"), board=Board.empty(5, 5).with_tile((0, 0), 2))
    before, choices = _window(game, ""), ObservedChoices()
    game.play(way)
    choices.add(before, _window(game, ""))
    assert choices.made == [(way, {DOWN, RIGHT})]


def _window(game: Game, status: str) -> WindowContents:
    texts = [[str(tile or "") for tile in row] for row in game.board.rows]
    return WindowContents(texts, [], [f"Score: {game.score}", status])
