"""The grading of cits1401: its marks, its judge, and how it reads a window."""

from __future__ import annotations

import random
from itertools import takewhile

import pytest

from py2048 import Board, Direction, Game, get_rules
from py2048.courses.cits1401.tasks import (
    GRADING,
    ObservedChoices,
    ObservedMove,
    WindowContents,
    possible_scores,
    tells_of_success,
)


def test_ten_equal_tasks_make_up_the_documents_25_marks():
    assert [int(task.id) for task in GRADING.tasks] == list(range(1, 11))
    assert {task.marks for task in GRADING.tasks} == {GRADING.marks / 10}
    assert GRADING.marks == 25


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
def test_a_score_has_its_word_or_stands_alone(texts, scores):
    assert possible_scores(texts) == scores


def test_texts_that_were_there_at_the_start_tell_nothing():
    texts = ["An impossible move costs a point. Score: -1", "Not possible"]
    start = frozenset({"An impossible move costs a point. Score: 0"})
    contents = WindowContents([], [], texts, start)
    assert contents.status == ["Not possible"]
    assert not contents.tells("costs")
    assert contents.says("costs")


@pytest.mark.parametrize(
    ("text", "told"),
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
def test_a_successful_move_is_told_beside_the_failure_of_others(text, told):
    assert tells_of_success(text, Direction.LEFT) is told


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (["Up failed"], ["Left moved"], ["Left moved"]),
        (["Up failed"], ["Up failed"], ["Up failed"]),
        (["Up failed\nLeft moved"], ["Left moved\nLeft moved"], ["Left moved"]),
        (["Up failed\n"], ["Left moved\nUp failed\n"], ["Left moved"]),
        (["Left moved\nUp failed"], ["Up failed\nLeft moved"], []),
    ],
)
def test_of_a_log_its_new_lines_are_what_is_told(before, now, told):
    one, two = (WindowContents([], [], texts) for texts in (before, now))
    assert ObservedMove(one, Direction.LEFT, two).told == told


def test_squares_are_read_as_numbers_and_other_texts_make_no_board():
    assert WindowContents([["2", ""], [" 4 ", "0"]], [], []).board == Board.parse("2 . / 4 .")
    assert WindowContents([["2", "x"], ["", ""]], [], []).board is None
    assert WindowContents([["2", "3"], ["", ""]], [], []).board is None


UP, DOWN, LEFT, RIGHT = Direction.UP, Direction.DOWN, Direction.LEFT, Direction.RIGHT


class _ByChance:
    """Any of some directions, or any of them that is possible."""

    def __init__(self, *ways: Direction, knows: bool = False) -> None:
        self.draw, self.ways, self.knows = random.Random(0), ways, knows

    def __call__(self, game: Game) -> Direction:
        possible = game.legal_directions()
        known = [way for way in self.ways if way in possible] or possible
        return self.draw.choice(known if self.knows else self.ways)


def _left_before_all(game: Game) -> Direction:
    """Left; where that proved impossible the next, and so on."""
    failed = sum(1 for _ in takewhile(lambda turn: not turn.legal, reversed(game.turns)))
    return (LEFT, UP, RIGHT, DOWN)[failed]


class _Corner:
    """Some directions in turn or by chance; another after some impossible ones, and then up."""

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
    ("choose", "left_out"),
    [
        (_ByChance(*Direction), None),
        (_ByChance(UP, LEFT, RIGHT), DOWN),
        (_ByChance(DOWN, LEFT, RIGHT), UP),
        (_left_before_all, None),
        (_ByChance(UP, LEFT, RIGHT, knows=True), None),
        (_Corner(LEFT, DOWN, LEFT, DOWN, RIGHT), None),
        (_Corner(LEFT, DOWN, draw=random.Random(0)), None),
    ],
    ids=["all", "never down", "never up", "prefers", "plans", "in turn", "corner"],
)
def test_only_a_computer_that_plans_may_leave_a_direction_out(choose, left_out, seed):
    """Seen from the window: boards, scores, and what the status panel says."""
    game, choices = Game(get_rules("cits1401"), seed=seed), ObservedChoices()
    one = _window(game, "Good luck")
    for _ in range(150):
        moved = game.attempt(choose(game))
        told = "Movement is successful" if moved else "Movement not possible"
        two = _window(game, told)
        choices.add(one, two)
        one = two
    assert choices.left_out is left_out


@pytest.mark.parametrize("way", [DOWN, RIGHT])
def test_a_move_is_seen_where_others_are_impossible(way):
    """Up, for one."""
    game = Game(get_rules("cits1401"), board=Board.empty(5, 5).with_tile((0, 0), 2))
    before, choices = _window(game, ""), ObservedChoices()
    game.play(way)
    choices.add(before, _window(game, ""))
    assert choices.made == [(way, {DOWN, RIGHT})]


def _window(game: Game, told: str) -> WindowContents:
    texts = [[str(tile or "") for tile in row] for row in game.board.rows]
    return WindowContents(texts, [], [f"Score: {game.score}", told])
