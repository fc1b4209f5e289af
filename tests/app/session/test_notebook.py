"""The practice notebook and puzzle answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from py2048 import Board, Direction, Game, get_rules
from py2048.app.session.notebook import (
    MAX_MISTAKES_PER_GAME,
    MAX_RATING,
    REACH,
    Exercise,
    Notebook,
    PuzzleBook,
)  # fmt: skip
from py2048.app.storage import Store, open_store
from py2048.app.storage.values import PuzzleAnswer
from py2048.players import Unit
from py2048.review import Grade, Review
from py2048.review.levels import LEVELS, Goals, goal_of
from py2048.review.moves import Basis, MoveReview, Position, move_review
from py2048.review.puzzles import puzzles
from py2048.review.reasons import ReasonKind

UP, DOWN, LEFT, RIGHT = Direction
RULES = get_rules("classic")
BOARD = Board.parse("2 . . . / . . . . / 4 . . . / 64 16 8 .")
RANGE = 1490, 1510  # of ratings, all within reach of a beginner
NOTHING: dict[Direction, float] = {}
OLD_THEMES = "corner", "row", "ending", "merge", "setup", "other"
VALUES = {UP: 500.0, DOWN: 1000.0, RIGHT: 400.0}


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("sqlite://") as opened:
        yield opened


def mistake(
    board: Board = BOARD,
    played: Direction = RIGHT,
    best: float = 1000.0,
    score: int = 0,
    chances: Mapping[Direction, float] = NOTHING,
) -> MoveReview:
    at, values = Position(1, board, score, played), VALUES | {DOWN: best}
    return move_review(at, values, Unit.POINTS, Basis("exact", chances))


def reviewed(*moves: MoveReview, rules: str = "classic") -> Review:
    """Return a review with these moves."""
    record = Game(get_rules(rules), seed=1).record()
    return Review(record, "exact", Unit.POINTS, True, moves)


def test_mistakes_come_back_at_growing_intervals(store):
    """Correct answers double the interval; a wrong one resets it to a day."""
    clock = [timedelta()]  # how far the present is moved
    notebook = Notebook(store, now=lambda: datetime.now(UTC) + sum(clock, timedelta()))
    assert notebook.keep(reviewed(mistake())) == 1
    waited = []
    for answer in (DOWN, DOWN, DOWN, UP, DOWN):
        (exercise,) = notebook.due()
        move, later = notebook.answer(exercise, answer)
        assert move.best is DOWN
        assert not notebook.due()
        clock.append(later - timedelta(minutes=1))
        assert not notebook.due()
        clock.append(timedelta(minutes=1))
        waited.append(later.days)
    assert waited == [2, 4, 8, 1, 2]


def test_a_mistake_that_a_table_knows_is_kept_with_its_chances(store):
    """After the move, the table's chances are shown rather than scaled points."""
    chances = {UP: 0.5, DOWN: 0.9, RIGHT: 0.4}
    notebook = Notebook(store)
    move = mistake(score=5000, chances=chances)
    notebook.keep(reviewed(move))
    (exercise,) = notebook.due()
    assert (exercise.values, exercise.unit) == (chances, Unit.CHANCE)
    answer, _ = notebook.answer(exercise, UP)
    assert (answer.share, answer.source) == (pytest.approx(4 / 9, abs=1e-6), "exact")


def test_an_answer_is_graded_as_the_review_grades_it(store):
    """Answers are graded by their share of the expected final score."""
    notebook = Notebook(store)
    move = mistake(score=9000)
    notebook.keep(reviewed(move))
    (exercise,) = notebook.due()
    answer, _ = notebook.answer(exercise, RIGHT)
    assert (answer.share, answer.grade, answer.luck) == (move.share, move.grade, 0.0)
    assert (answer.ply, answer.score) == (1, 9000)


def test_images_of_a_position_are_one_mistake(store):
    """Symmetric positions are one mistake, but only if spawns are random."""
    image = Board.from_rows(row[::-1] for row in BOARD.rows)
    values = {UP: 5.0, DOWN: 9.0, LEFT: 4.0}
    turned = move_review(Position(1, image, 0, LEFT), values, Unit.POINTS, Basis("exact"))
    notebook = Notebook(store)
    assert notebook.keep(reviewed(mistake(), turned)) == 1
    assert notebook.keep(reviewed(mistake())) == 0
    (exercise,) = notebook.due()
    assert (exercise.board, exercise.played, exercise.kind) == (BOARD, RIGHT, None)
    assert notebook.keep(reviewed(mistake(), turned, rules="cits1401")) == 2


def test_a_mistake_made_in_another_game_is_due_again(store):
    """Another review of a game, even of its later moves, leaves what was learned."""
    one, two = (Game(RULES, seed=1) for _ in range(2))
    one.play(one.legal_directions()[0])
    two.play(two.legal_directions()[-1])
    notebook, found = Notebook(store), reviewed(mistake())
    notebook.keep(replace(found, record=one.record()))
    notebook.answer(notebook.due()[0], DOWN)
    one.play(one.legal_directions()[0])
    notebook.keep(replace(found, record=one.record()))
    assert not notebook.due()
    notebook.keep(replace(found, record=two.record()))
    assert notebook.due()


def test_the_worst_mistakes_of_a_game_are_kept(store):
    """Only the worst mistakes of a game are kept, and no good moves."""
    boards = [BOARD.with_tile((0, 3), 2 << number) for number in range(MAX_MISTAKES_PER_GAME + 1)]
    worse = [mistake(board, best=1000.0 + n) for n, board in enumerate(boards)]
    notebook = Notebook(store)
    assert notebook.keep(reviewed(*worse, mistake(played=DOWN))) == MAX_MISTAKES_PER_GAME
    kept = {exercise.board for exercise in notebook.due(limit=100)}
    assert kept == set(boards[1:])


def test_a_mistake_at_a_level_is_asked_with_its_chances(store):
    """Its chances, goal and grades are those of the level; lost positions are not kept."""
    chances = {UP: 0.58, DOWN: 0.62, RIGHT: 0.3}
    move = replace(mistake(), values=chances, loss=0.32, goal=Goals(512, 1024))
    lost = replace(move, survival=True, board=BOARD.with_tile((0, 3), 2))
    notebook, found = Notebook(store), reviewed(move, lost)
    notebook.keep(replace(found, unit=Unit.CHANCE, level=LEVELS[1]))
    (exercise,) = notebook.due()
    assert (exercise.values, exercise.unit) == (chances, Unit.CHANCE)
    grades = {each: exercise.graded(each).grade for each in chances}
    assert grades == {UP: Grade.INACCURACY, DOWN: Grade.BEST, RIGHT: Grade.BLUNDER}
    assert exercise.graded(UP).goal == goal_of(RULES, LEVELS[1], BOARD)


def test_themes_of_earlier_versions_are_still_read(store):
    """A stored theme without a matching reason leaves the mistake without a kind."""
    notebook = Notebook(store)
    notebook.keep(reviewed(mistake()))
    (exercise,) = notebook.due()
    kinds = [Exercise.of(replace(exercise.saved, theme=theme)).kind for theme in OLD_THEMES]
    assert kinds == [ReasonKind.CORNER, None, None, None, None, None]


def test_an_answer_is_a_game_between_player_and_puzzle(store):
    """Both ratings change, but only by the first answer; all players meet the same puzzle."""
    book, other = PuzzleBook(store), PuzzleBook(store, "ada")
    puzzle = book.next()
    assert abs(puzzle.rating - 1500) == min(abs(each.rating - 1500) for each in puzzles())
    answer = book.answer(puzzle, puzzle.best)
    assert answer.is_solved
    assert book.rating.rating == answer.rating > 1500
    assert other.rating.rating == 1500
    strength = other.strength(puzzle)
    assert strength.rating < puzzle.rating
    wrong = next(each for each in puzzle.values if each is not puzzle.best)
    assert book.answer(puzzle, wrong) is None
    assert book.rating.rating == answer.rating
    assert book.strength(puzzle) == strength
    other.answer(puzzle, wrong)
    assert book.strength(puzzle).rating > strength.rating
    book.answer(last := book.next(), last.best)
    assert book.ratings[1].rating == answer.rating


def test_puzzles_out_of_reach_come_last_unless_a_range_is_given(store):
    """An answered puzzle within reach comes before all that are too easy or too hard."""
    book, first = PuzzleBook(store), puzzles()[0]
    hardest = max(each.rating for each in puzzles())
    answer = PuzzleAnswer(first.id, True, 3000.0, 50.0)
    store.puzzle_answers.add(answer, (3000.0 - REACH, 50.0))
    assert book.next() == first
    assert book.next(1).rating == book.next(0, MAX_RATING - 1).rating == hardest
    store.puzzle_answers.add(answer, (2999.0 - REACH, 50.0), owner="ada")
    assert book.next().rating == hardest


def test_puzzles_have_no_end(store):
    """Unanswered puzzles come first, the closest first; then those answered longest ago."""
    book, low, high = PuzzleBook(store), *RANGE
    count = sum(low <= each.rating <= high for each in puzzles())
    assert count > 3
    asked = []
    for number in range(2 * count):
        puzzle = book.next(low, high)
        asked.append(puzzle.id)
        directions = puzzle.best, min(puzzle.values, key=puzzle.values.__getitem__)
        book.answer(puzzle, directions[number % 2])
    assert len(set(asked[:count])) == count
    assert asked[count:] == asked[:count]
    assert len(book.answers) == count
