"""Reviews as screens show them, tested with games whose review is known."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.app.controller.fake_screen import FakeScreen
from tests.app.controller.reviewing import (
    FAULTS,
    MOVES,
    KnownJudge,
    known_record,
    known_review,
    leveled_review,
)

from py2048.app.controller.background import BackgroundWorker, Failure, JobRunner
from py2048.app.controller.coach import Coach
from py2048.app.controller.review import (
    GRADE_SYMBOLS,
    RETRY_DIRECTIONS,
    GameReview,
    describe_move_review,
    grade_colour,
    record_title,
    value_text,
)
from py2048.app.session import Session
from py2048.core.direction import Direction
from py2048.core.errors import RecordError
from py2048.core.game import Game, Record
from py2048.core.rules import Rules, get_rules
from py2048.players import Unit
from py2048.presentation.events import Event
from py2048.presentation.themes import THEMES
from py2048.presentation.words import amount, describe_review, luck_word, plain_amount
from py2048.review import Grade, Review
from py2048.review.games import accuracy_of_moves
from py2048.review.levels import LEVELS, Level
from py2048.review.moves import Basis, Position, move_review


def test_mistakes_are_visited_in_order_and_their_ends_hold():
    """Next and previous mistake visit every planted fault and stop at the last."""
    review, found = known_review(), []
    assert review.index + 1 == 5  # opens at the first mistake
    review.go("first")
    for name in ("next_mistake",) * 4 + ("previous_mistake",) * 3:
        review.go(name)
        found.append(review.index + 1)
    assert found == [5, 9, 12, 12, 9, 5, 5]


def test_walking_stays_in_the_game():
    """Every navigation step ends on a move of the game."""
    review = known_review()
    review.go("first")
    steps = ("back", "forward", "last", "forward", "page_back", "first", "page_forward")
    found = []
    for name in steps:
        review.go(name)
        found.append(review.index)
    assert found == [0, 1, MOVES - 1, MOVES - 1, MOVES - 11, 0, 10]


def test_a_blunder_is_told_with_the_best_move_and_every_loss():
    """The text names the blunder's loss, the best move and the loss of every direction.

    Badge and headline describe the blunder, and each direction has a bar.
    """
    review = known_review()
    move = review.move
    assert move.grade is Grade.BLUNDER
    assert review.board == move.board
    best, *_, worst = review.rows
    assert (best.direction, best.is_best, best.text) == (move.best, True, "best")
    assert (worst.direction, worst.is_played, worst.loss) == (move.played, True, "40.0 %")
    said = review.sentences
    assert said.startswith(f"Move 5 of {MOVES}, score {move.score}. ")
    assert f"Blunder \N{MINUS SIGN}50 %. You went {move.played}." in said
    assert f"{str(move.best).capitalize()} is worth 80.00 %." in said
    assert f"{move.played} loses 40.0 %." in said.lower()
    assert review.place.startswith(f"Move 5 of {MOVES}, ")
    assert review.badge == "Blunder \N{MINUS SIGN}50 %"
    assert review.headline == f"You went {move.played}. {str(move.best).capitalize()} was best."
    shares = [row.share for row in review.rows]
    assert shares == pytest.approx([1.0] * (len(shares) - 1) + [0.4])
    assert sum(review.counts.values()) == MOVES
    assert review.luck == "luck: bad"
    review.go("first")
    assert review.badge == "Best"


def test_one_who_walks_is_not_led_away():
    """Once the player has navigated, the first mistake does not move the selection."""
    review, judged = known_review(0), known_review().moves
    review.seek(2)
    review.add(judged)
    assert review.index == 2


def test_without_numba_a_review_says_what_makes_it_faster(monkeypatch):
    """Without Numba, the progress message says how to install it."""
    line = "pip install 'py2048[fast]'"
    monkeypatch.setattr("py2048.app.controller.review.missing_compiler", lambda: line)
    assert known_review(6).summary.endswith(f"Faster with Numba: {line}")


def test_what_is_not_judged_yet_can_be_looked_at():
    """All moves can be selected from the start; only judged moves have a grade."""
    review = known_review(6)
    assert len(review) == MOVES
    assert review.is_running
    assert review.summary == f"6 of {MOVES} moves judged …"
    assert review.accuracy == "…"
    assert review.move is not None
    review.go("last")
    assert review.move is None
    assert not review.rows
    assert "was played" in review.sentences
    review.go("previous_mistake")
    assert review.index + 1 == 5


def test_the_summary_counts_the_planted_faults():
    """The summary gives accuracy, fault counts and luck, but not the judge."""
    review = known_review()
    assert review.review is not None
    lines = describe_review(review.review, brief=True)
    assert review.summary.lower() == " ".join(f"{line}." for line in lines)
    assert review.summary.startswith("Accuracy ")
    assert "known" not in review.summary
    assert "judged by known" in describe_review(review.review)[0]
    assert "1 inaccuracy, 1 mistake, 1 blunder." in review.summary


def test_no_better_move_is_named_for_one_of_the_best():
    """No better move is named for a move without a measurable loss."""
    review = known_review()
    board, rivals = review.moves[4].board, review.moves[4].values
    played, other, *_ = rivals
    for loss, is_best in ((0.0004, True), (0.02, False)):
        values, at = {played: 0.8 * (1 - loss), other: 0.8}, Position(5, board, 0, played)
        move = review.moves[4] = move_review(at, values, Unit.CHANCE, Basis("known"))
        assert move.best is other
        review.seek(4)
        assert (f"{other} was best" in review.headline.lower()) is not is_best


# Reviews at a level


def test_a_review_at_a_level_opens_at_the_costliest_mistake():
    """It shows the chances of the goal, the reason, the habits and what the accuracy means."""
    review = leveled_review()
    move = review.move
    assert move.loss == max(each.loss for each in review.moves)
    assert review.badge == "Blunder \N{MINUS SIGN}50 %"
    assert review.rows_title == "Your chance of 64"
    best, *_, worst = review.rows
    assert (best.text, worst.text) == ("80 %", "30 %")
    assert (best.share, worst.share) == pytest.approx((0.8, 0.3))
    played = str(move.played).capitalize()
    assert review.why.startswith(f"Ten moves after {played}, 32 is out of its corner in 62 of 100")
    assert review.graph_note == "64: 80 %, 128: 20 %"
    assert review.level_title == "Level: Casual"
    assert review.habits == ["You leave the corner: 2 times, 29 of 100 games lost each"]
    review.go("previous_mistake")
    assert "of 100 games like yours make 64 after" in describe_move_review(
        review.move, review.unit, is_exact=False
    )


def test_a_graph_at_a_level_has_two_lines():
    """The chance of the goal after the next one is drawn below that of the next goal."""
    columns = leveled_review().graph(MOVES, 100)
    assert {(column.height, column.next_height) for column in columns} == {(80, 20)}


def test_accuracy_needs_moves_at_stake():
    """Without enough moves at which there is something to lose, it says so."""
    review = leveled_review()
    assert review.review is not None
    calm = tuple(replace(move, stake=0.0) for move in review.moves)
    review.review = replace(review.review, moves=calm)
    assert review.accuracy == "not yet"
    assert review.accuracy_note.startswith("Accuracy is known after ten moves")


def test_a_mistake_is_tried_again_until_the_better_move_is_found():
    """The answer is hidden; worse moves show their chance, and the better one says so."""
    review = leveled_review()
    move = review.move
    names = {direction: name for name, direction in RETRY_DIRECTIONS.items()}
    illegal = set(Direction) - set(move.values)
    review.go("retry")
    assert (review.rows, review.badge, review.marks) == ([], "", (None, None))
    assert review.message == "Your move. Which way is best?"
    for direction in illegal:
        review.go(names[direction])
        assert review.message.endswith("nothing moves.")
    review.go(names[move.played])
    assert review.message.endswith(": 30 %. Another move is better.")
    assert review.is_retrying
    review.go(names[move.best])
    assert not review.is_retrying
    assert review.message.startswith(f"Yes, {str(move.best).capitalize()} is the better move.")
    assert review.marks == (move.best, move.played)
    review.go("retry")
    review.go("retry")
    assert not review.is_retrying
    assert review.headline in review.message


def test_show_me_plays_typical_moves_after_both_moves():
    """First the better move, then the one played, each on the board before it; then it ends."""
    review = leveled_review()
    move = review.move
    assert move is not None
    review.go("show_me")
    frames = [review.frame]
    while review.advance():
        frames.append(review.frame)
    starts = [index for index, frame in enumerate(frames) if frame.direction is None]
    assert [frames[index].transition.board for index in starts] == [move.board] * 2
    assert [frames[index + 1].direction for index in starts] == [move.best, move.played]
    assert all(2 <= size <= 7 for size in (starts[1], len(frames) - starts[1]))
    assert review.frame is None
    assert review.headline in review.message
    review.go("show_me")
    review.go("back")
    assert review.frame is None


def test_another_level_judges_the_game_again(monkeypatch):
    """The old judgement is dropped, and the same level changes nothing."""
    asked: list[object] = []

    def found(_record: Record, level: Level | None) -> Iterator[Review]:
        asked.append(level)
        yield replace(leveled_review().review, level=level)

    monkeypatch.setattr("py2048.app.controller.review.review_game", found)
    review, done = GameReview(known_record(), LEVELS[1]), list[object]()
    review.start(JobRunner(), done.append)
    review.restart(LEVELS[1])
    review.restart(LEVELS[4])
    assert asked == [LEVELS[1], LEVELS[4]]
    assert review.level_title == "Level: Expert"
    assert len(done) == 2


def test_the_coach_speaks_only_for_mistakes_and_new_tiles(monkeypatch):
    """Inaccuracies and good moves get no comment; a new largest tile names the next goal."""
    judged = {move.ply: move for move in leveled_review().moves}
    judge = Mock(review_move=lambda at: judged[at.ply])
    monkeypatch.setattr("py2048.review.coaching.level_judge", lambda *_: judge)
    session = Session()
    session.start_from(known_record(), 0)
    coach = coached(session)
    for ply, move in judged.items():
        follow(coach, session.redo())
        is_new = session.game.board.max_tile > move.board.max_tile
        comment, grade = coach.comment, move.grade
        if grade in (Grade.MISTAKE, Grade.BLUNDER):
            assert comment.startswith(f"{GRADE_SYMBOLS[grade]} ")
            assert "32 is out of its corner" in comment
        else:
            assert comment.startswith("You made ") is is_new, ply
            assert bool(comment) is is_new
        assert coach.status.facts[0].endswith(" to make 64")


def coached(session: Session) -> Coach:
    """Return a coach that judges synchronously."""
    coach = Coach(session, FakeScreen(), JobRunner())
    coach.start()
    return coach


def follow(coach: Coach, happened: Iterable[Event]) -> None:
    for event in happened:
        coach.follow(event)


@pytest.mark.usefixtures("known_judge")
@given(st.lists(st.sampled_from(["move", "fault", "undo", "redo"]), max_size=30))
@settings(max_examples=25, deadline=None)
def test_the_coachs_accuracy_is_that_of_the_moves_that_stand(steps):
    """After any undos and redos, the accuracy equals that of the remaining moves."""
    session = Session()
    session.start_from(known_record(), 3)
    coach, first = coached(session), session.game.ply
    judge = KnownJudge(known_record().rules)
    for step in steps:
        if step in ("undo", "redo"):
            follow(coach, getattr(session, step)())
        elif legal := session.game.legal_directions():
            turns = [*known_record().steps]
            as_then = turns[session.game.ply][0] if session.game.ply < len(turns) else legal[0]
            is_right = step == "fault" and as_then in legal
            follow(coach, session.move(as_then if is_right else legal[-1]))
        first = min(first, session.game.ply)  # an undo before the start resets the coach
        reviews = list(judge.reviews(session.record()))[first:]
        wanted = accuracy_of_moves(reviews) if reviews else None
        assert coach.accuracy == wanted


@pytest.mark.usefixtures("known_judge")
def test_an_illegal_attempt_is_no_move_to_the_coach():
    """An illegal attempt is not judged, even if the rules record it and it is undone and redone."""
    session = Session()
    session.start(Rules.parse("line:size=1x6,scoring=moves:1:-1,target=none"), seed=1)
    coach = coached(session)
    follow(coach, session.move(session.game.legal_directions()[0]))
    last, score = coach.last_move, session.game.score
    for happened in (session.move(Direction.UP), session.undo(), session.redo()):
        follow(coach, happened)
    assert session.game.score == score - 1
    assert coach.last_move == last
    follow(coach, session.move(session.game.legal_directions()[0]))
    assert coach.last_move.ply == 2


def test_grades_differ_without_colour():
    """Each kind of fault has its own symbol, which good moves do not use, and its own colour."""
    faults = {GRADE_SYMBOLS[grade] for grade in Grade if grade.is_mistake}
    assert len(faults) == 3
    assert not faults & {GRADE_SYMBOLS[Grade.BEST], GRADE_SYMBOLS[Grade.GOOD]}
    colours = {grade_colour(grade, theme) for grade in Grade for theme in THEMES}
    assert len(colours) == len(Grade) * len(THEMES)


@given(st.integers(1, 40))
@settings(max_examples=25)
def test_the_graph_fills_any_width_and_shows_every_fault(width):
    """The graph has the requested width, and each fault marks exactly one column."""
    review = known_review()
    columns = review.graph(width, 50)
    assert len(columns) == width
    assert {column.height for column in columns} == {40}  # a chance of 80 %, everywhere
    marked = {
        max(
            (
                FAULTS[ply]
                for ply in FAULTS
                if review.place_at(at, width)
                <= ply - 1
                < max(review.place_at(at, width) + 1, review.place_at(at + 1, width))
            ),
            key=list(Grade).index,
            default=None,
        )
        for at in range(width)
    }
    assert {column.grade for column in columns} == marked
    assert Grade.BLUNDER in marked
    assert sum(column.grade is not None for column in columns) <= len(FAULTS)


@given(st.integers(0, MOVES - 1), st.integers(1, 60))
@settings(max_examples=50)
def test_the_column_of_a_move_stands_for_it(index, width):
    """The selected move's column maps back to that move."""
    review = known_review()
    review.seek(index)
    column = review.column(width)
    assert 0 <= column < width
    first, after = review.place_at(column, width), review.place_at(column + 1, width)
    assert first <= index < max(first + 1, after)


def test_points_are_drawn_in_the_range_of_the_game():
    """The highest value fills the graph, the lowest is barely visible, unjudged moves are empty."""
    review = known_review(0)
    review.judge = KnownJudge(known_record().rules)
    review.judge.unit = Unit.POINTS
    best = known_review().moves[0].best
    for ply, value in ((1, 400.0), (2, 200.0), (3, 100.0)):
        move = replace(known_review().moves[ply - 1], best=best, values={best: value}, score=0)
        review.add([move])
    assert [column.height for column in review.graph(MOVES, 40)[:4]] == [40, 13, 1, 0]
    assert review.chances == 1.0
    review.seek(2)
    assert review.chances == 0.25


def test_luck_is_compared_with_how_far_it_swings():
    """Luck is judged relative to its usual variation in the game."""
    words = [luck_word(luck, 10.0) for luck in (0.0, -9.0, 11.0, -25.0)]
    assert [*words, luck_word(3.0, 0.0)] == ["average", "average", "good", "very bad", ""]


def test_texts_of_values():
    """Estimates have two digits, exact points one decimal, and chances are percentages."""
    assert value_text(281_436.1, Unit.POINTS, is_exact=False) == "280,000"
    assert value_text(2642.61, Unit.POINTS, is_exact=True) == "2,642.6"
    assert value_text(0.9731, Unit.CHANCE, is_exact=True) == "97.31 %"
    assert plain_amount(Unit.POINTS, -1203.4) == "-1,203"
    assert plain_amount(Unit.POINTS, 3.44, signed=True) == "+3.4"
    assert plain_amount(Unit.POINTS, -0.01) == "0"
    assert plain_amount(Unit.CHANCE, -0.0042) == "-0.42 %"
    assert amount(Unit.POINTS, 1203.4) == "1,203 points"
    assert amount(Unit.RATING, 5.55) == "5.5"


def test_a_record_without_a_move_cannot_be_reviewed():
    """Reviewing a record without moves raises an error."""
    with pytest.raises(RecordError, match="nothing to review"):
        GameReview(Game(get_rules("2x4"), seed=1).record())


def test_the_title_says_whose_game_it_is():
    """The title contains rules, score, player and, if known, the date."""
    record = replace(known_record(), player="", finished="")
    assert record_title(record) == f"2x4, {record.score} points, by a person"


def test_answers_to_a_job_that_was_replaced_are_dropped():
    """Results of a replaced job are ignored, even if they were already queued."""
    screen, taken = FakeScreen(), list[int | Failure]()
    worker = BackgroundWorker(screen.later)
    done = threading.Event()

    def old() -> Iterator[int]:
        yield 1
        done.set()

    worker.run(old, taken.append)
    assert done.wait(30)
    worker.run(lambda: iter([2]), taken.append)
    screen.until(lambda: not worker.is_busy)
    assert taken == [2]
    worker.cancel()


def test_an_error_ends_the_review_and_is_told():
    """If judging fails, the summary is the error and the review is no longer running."""
    review = known_review(0)
    review.receive(Failure("no judge for these rules"))
    assert review.summary == "no judge for these rules"
    assert not review.is_running
