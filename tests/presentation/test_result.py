"""The result at the end of a game: the comparison with other games, and the review's figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.controller.fake_screen import FakeScreen
from tests.app.controller.reviewing import known_review, leveled_review

from py2048.app.controller.controller import ScreenController
from py2048.app.session import Session, open_session
from py2048.core.rules import get_rules
from py2048.presentation.describe import describe
from py2048.presentation.result import BARS, PENDING, UNAVAILABLE, Result, race_rows, result_of
from py2048.presentation.themes import DARK
from py2048.review.milestones import Milestone, Pace


def result(score: int = 0, *, moves: int = 1, **more: Any) -> Result:
    """Return the result of a small game."""
    return result_of("2x2", score, largest=16, moves=moves, **more)


@pytest.mark.parametrize(
    ("earlier", "today", "comparison"),
    [
        ([], [], "A first score to beat."),
        ([-5], [], "Your best yet."),
        ([0, -3], [], "Equals your best."),
        ([900, -3], [-3], "Your best today."),
        ([1900, 3], [3], "1,900 short of your best."),
    ],
)
def test_a_sentence_says_how_the_points_compare(earlier, today, comparison):
    """The score is compared with the player's best, or with today's games."""
    assert result(earlier=earlier, today=today).headline == f"0 points. {comparison}"


def test_a_win_is_said_first():
    """A winning game is never only a score to beat, whether it goes on or not."""
    for is_final in (True, False):
        found = result_of("2x2", 0, largest=16, moves=9, target=16, is_final=is_final)
        assert found.headline == "You made 16: you win. 0 points."
        assert found.title == ("You win" if is_final else "You made 16")
    again = result_of("2x2", 0, largest=32, moves=9, target=16, earlier=[8])
    assert again.headline == "You made 16: you win. 0 points. 8 short of your best."
    by_computer = result_of("2x2", 0, largest=16, moves=9, target=16, is_by_computer=True)
    assert "you win" not in by_computer.headline
    assert by_computer.title == "Game over"


def test_a_daily_game_is_compared_with_dailies_and_with_its_day():
    """The headline compares with the player's dailies, the place with everybody's."""
    daily = result(60, earlier=[1], field=[59] * 63 + [61] * 37, streak=13)
    assert daily.headline == "60 points. Your best daily."
    assert daily.place == "Place 38 of 101 on the same tiles."
    assert daily.figures[-1] == ("Streak", "13 days")
    assert result(field=[]).headline.endswith("Your first daily.")
    assert result(field=[]).place == "You are the first on these tiles."


def test_few_games_are_counted_and_fewer_are_no_comparison():
    """Few games are counted rather than given as a percentage; a last place is not told."""
    assert result(60, earlier=[0, 10**6, 10**6]).place == "Better than 1 of your 3 other games"
    few, last = result(60, earlier=[0, 1]), result(60, earlier=[61] * 20)
    assert (few.place, last.place, few.bars) == ("", "", ())


@given(st.lists(st.integers(-100, 10**7), min_size=3), st.integers(-50, 10**7))
def test_every_game_stands_in_one_bar(others, score):
    """Every game is in one bar, and this game's bar matches its score."""
    found = result(score, earlier=others)
    assert len(found.bars) == BARS
    assert sum(found.bars) == len(others) + 1
    assert found.bars[found.mine] > 0
    assert found.mine == min(max(score, 0) * BARS // found.high, BARS - 1)
    assert found.is_open == (max(others) > found.high)
    low, high = found.low_and_high
    assert (low, high.endswith("+")) == ("0", found.is_open)


def test_outliers_share_the_last_bar():
    """Outliers share the last bar, which is marked as open."""
    found = result(60, earlier=[*range(0, 1000, 10), 10**6])
    assert (found.high, found.is_open, found.bars[-1]) == (1000, True, 6)


def test_the_review_fills_the_places_that_are_kept_for_it():
    """The review fills the placeholders, and a failed review leaves none."""
    first = result(60)
    assert [figure.value for figure in first.figures].count(PENDING) == 2
    assert first.review == "Review"
    done = first.reviewed(90.6, "good", 4)
    assert [figure.label for figure in done.figures] == [figure.label for figure in first.figures]
    assert [figure.value for figure in done.figures][1:3] == ["91 %", "good"]
    assert done.review == "Review 4 mistakes"
    assert done.is_update_of(first)
    assert not done.is_update_of(result(64))
    _, accuracy, luck, _ = first.without_review("Busy").figures
    assert (accuracy.value, luck.value) == ("Busy", UNAVAILABLE)


def test_the_card_says_the_level_and_not_yet():
    """At a level the card names it instead of the luck, and a short game has no accuracy yet."""
    review = leveled_review().review
    calm = replace(review, moves=tuple(replace(move, stake=0.0) for move in review.moves))
    done = result(60, level="Casual").with_review(calm)
    assert done.figures[1:3] == [("Accuracy", "not yet"), ("Level", "Casual")]
    assert done.review == "Review 3 mistakes"
    assert done.is_update_of(result(60, level="Casual"))
    perfect = result(60, level="Casual").with_review(known_review().review)
    assert perfect.figures[2] == ("Luck", "bad")
    assert perfect.is_update_of(result(60, level="Casual"))


def test_a_milestone_is_compared_with_the_best_time():
    """A tile that is still to come has the best time, and one that has none has nothing."""
    best = Pace(90_000, 50)
    paces = (None, best, Pace(90_000, 40), Pace(86_800, 50))
    rows = race_rows([Milestone(64, None, None), *(Milestone(64, pace, best) for pace in paces)])
    times = "best 1:30.0", "1:30.0", "1:30.0 · +0:00.0", "1:26.8 · -0:03.2"
    moves = (50, 50, 40, 50)
    expected = [f"{time} · {count} moves" for time, count in zip(times, moves, strict=True)]
    assert [row.value for row in rows] == [UNAVAILABLE, *expected]


def test_a_computers_game_sets_no_best_score():
    """A computer's game is not compared with a person's games and not reviewed automatically."""
    found = result(60, earlier=[1, 2, 3, 4], is_by_computer=True)
    assert found.headline.endswith("Played by a computer, so it does not count as your best.")
    assert (found.place, found.bars, found.accuracy) == ("", (), UNAVAILABLE)
    assert "Continued from a record, so" in result(60, is_continued=True).headline


def finished(session: Session) -> tuple[ScreenController, FakeScreen]:
    """A controller on a small game that its player has played to the end."""
    screen = FakeScreen()
    controller = ScreenController(session, screen, DARK, text_of=describe)
    rules = get_rules("classic", rows=2, columns=2)
    controller.begin(lambda session: session.start(rules, seed=3))
    while not session.game.is_over:
        controller.do(str(session.game.legal_directions()[0]))
    return controller, screen


def result_on(screen: FakeScreen) -> Result:
    assert screen.banner is not None
    return screen.banner


def test_the_review_of_a_game_that_is_over_begins_by_itself(data_folder):
    """The review starts automatically and fills the result; opening it takes no further time."""
    session = open_session()
    controller, screen = finished(session)
    first = result_on(screen)
    assert first.accuracy == PENDING
    screen.until(lambda: result_on(screen).mistakes is not None)
    assert result_on(screen).is_update_of(first)
    assert result_on(screen).accuracy.endswith(" %")
    controller.do("review")
    assert len(screen.review.review.mistakes) == result_on(screen).mistakes
    controller.do("new")
    assert screen.banner is None
    assert session.career().scores.total() == 1
    controller.close()
    session.close()


def test_a_game_that_goes_on_after_its_end_is_reviewed_no_more():
    """Undo removes the result, and the pending review is ignored."""
    controller, screen = finished(Session())
    controller.do("undo")
    assert screen.banner is None
    screen.until(lambda: not controller.is_waiting)
    assert screen.banner is None
    controller.close()
