"""Practice as screens show it: mistakes, puzzles and the list of offers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.app.controller.reviewing import (
    FAULTS,
    KnownJudge,
    known_record,
    known_review,
    leveled_review,
)

from py2048.app.controller import practice as module
from py2048.app.controller.practice import (
    Drill,
    DrillEnd,
    PracticeRun,
    choice_of,
    list_offers,
    mistakes,
    one_puzzle,
)
from py2048.app.controller.review import keep_mistakes
from py2048.app.session import Session
from py2048.core.direction import Direction
from py2048.core.errors import StorageError
from py2048.core.game import Game
from py2048.review.puzzles import get_puzzle, puzzles
from py2048.review.reasons import ReasonKind


def drill_of(session: Session, value: str) -> Drill:
    """Return the drill that is offered as `value`."""
    (make,) = (make for choice, make in list_offers(session).items() if choice.value == value)
    return make()


def filled(session: Session) -> Session:
    """Add the planted mistakes to the notebook."""
    review = known_review().review
    assert review is not None
    assert session.notebook().keep(review) == len(FAULTS)
    return session


def best(run: PracticeRun) -> Direction:
    """Return a correct answer to a planted mistake: any move other than the one played."""
    assert run.board is not None
    values = KnownJudge(known_record().rules).rate(run.board)
    return max(values, key=values.__getitem__)


def test_mistakes_are_asked_one_after_another(kept):
    """Each mistake waits for a move, shows all values, and continues on request."""
    run = PracticeRun(mistakes(filled(kept).notebook()))
    for number in range(1, len(FAULTS) + 1):
        assert f"Mistake {number} of {len(FAULTS)}" in run.title
        assert not run.rows
        run.go("next")
        assert run.note == run.verdict == "Make a move first."
        illegal = set(Direction) - set(run.board.legal_directions())
        for direction in illegal:
            run.go(str(direction))
            assert run.verdict == f"{direction}: nothing moves.".capitalize()
        run.go(str(best(run)))
        assert run.rows[0].is_best
        assert run.rows[0].is_played
        assert "best" in run.verdict
        assert "In your game you went" in run.sentences
        assert "due again in 2 days." in run.sentences
        answered = run.answer
        run.go("up")
        assert run.answer is answered
        run.go("next")
    assert run.is_over
    assert run.sentences == "All done."
    assert not kept.notebook().due()
    empty = PracticeRun(mistakes(kept.notebook()))
    assert empty.is_over
    assert "the next mistake is due on" in empty.sentences


def test_a_puzzle_of_a_kind_ends_after_its_answer(kept):
    """A single puzzle ends after its answer, with the result and the new rating."""
    puzzle = get_puzzle(17)
    run = PracticeRun(one_puzzle(kept.puzzle_book(), puzzle))
    assert run.title.startswith("Puzzle 17, rated")
    run.go(str(puzzle.best))
    assert "Solved; your rating is" in run.sentences
    run.go("next")
    assert run.is_over
    run.go("next")
    assert kept.puzzle_book().answers[0].puzzle == 17


def test_puzzles_have_no_end_and_bring_back_mistakes(kept):
    """Due mistakes come between the puzzles of the pack, which follow each other without end."""
    run, asked = PracticeRun(drill_of(filled(kept), "puzzles")), []
    for _ in range(2 * len(FAULTS) + 3):
        asked.append(run.title.partition(" ")[0])
        run.go(str(run.board.legal_directions()[0]))
        run.go("next")
    assert asked == [*(["Mistake", "Puzzle"] * len(FAULTS)), "Puzzle", "Puzzle", "Puzzle"]
    assert not run.is_over


def test_all_that_can_be_practised_is_offered(kept, monkeypatch, tmp_path):
    """The list offers mistakes with due counts, puzzles with the rating, and all endings."""
    monkeypatch.setattr(module, "built_tables", lambda: [tmp_path / "L3-256.table"])
    values = [each.value for each in list_offers(kept)]
    assert values == ["mistakes", "puzzles", "daily", "ending L3-256"]
    offered = {each.value: each for each in list_offers(filled(kept))}
    assert offered["mistakes"].detail == f"{len(FAULTS)} due, {len(FAULTS)} kept"
    themes = [value for value in offered if value.startswith("mistakes ")]
    for choice in ("mistakes", *themes, "puzzles", "daily"):
        assert not PracticeRun(drill_of(kept, choice)).is_over
    with pytest.raises(StorageError, match="keeps no games"):
        list_offers(Session())


def test_a_habit_is_drilled_with_own_positions_and_then_with_puzzles(kept, monkeypatch):
    """First the player's due mistakes of the kind, then the pack's puzzles of the same kind."""
    review = leveled_review().review
    kept.notebook().keep(replace(review, record=replace(review.record, player="")))
    pack = [replace(each, theme=ReasonKind.CORNER) for each in puzzles()[:1]]
    monkeypatch.setattr("py2048.app.session.notebook.puzzles", lambda: (*pack, *puzzles()[1:3]))
    assert choice_of(ReasonKind.CORNER) in [each.value for each in list_offers(kept)]
    run, titles = PracticeRun(drill_of(kept, choice_of(ReasonKind.CORNER))), []
    for _ in range(4):
        titles.append(run.title.split(",")[0])
        run.go(str(run.board.legal_directions()[0]))
        run.go("next")
    assert titles == ["Mistake 1 of 2", "Mistake 2 of 2", *[f"Puzzle {pack[0].id}"] * 2]


def test_the_last_board_of_an_ending_is_shown():
    """At the end of a drill its result and final board are shown."""
    board = Game("2x2", seed=1).board
    run = PracticeRun(iter([DrillEnd("16 is made", board=board)]))
    assert (run.board, run.sentences, run.verdict) == (board, "16 is made.", "")


def test_mistakes_of_a_computer_are_not_kept(kept):
    """Mistakes of computer games, or without a store, are not saved."""
    review = known_review().review
    assert review.record.player == "greedy"
    assert keep_mistakes(kept, review) == ""
    assert not kept.notebook().due()
    assert keep_mistakes(Session(), review) == ""
