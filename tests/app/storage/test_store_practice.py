"""Mistakes and puzzle answers: per owner, limited, and each stored once."""

from __future__ import annotations

from dataclasses import replace

from py2048.app.storage import open_store, practice
from py2048.app.storage.values import PuzzleAnswer, SavedMistake

LAST_BOX = 7
MISTAKE = SavedMistake(
    rules="classic", position="0 2/2 4", board="2 4/0 2", score=12, game="first", played="up",
    moves={"up": 1.5, "left": 3.0}, unit="points", source="exact", theme="corner", box=1,
    due="2048-01-01T00:00:00.000000Z",
)  # fmt: skip
TODAY = "2048-01-02T00:00:00.000000Z"


def named(position: str, **facts: object) -> SavedMistake:
    return replace(MISTAKE, position=position, **facts)  # type: ignore[arg-type]


def test_a_mistake_comes_back_as_it_was_kept(store, url):
    """A mistake is returned unchanged, to its owner only, by any open store."""
    assert store.mistakes.keep([MISTAKE], owner="ada") == 1
    with open_store(url) as other:
        assert other.mistakes.due(TODAY, owner="ada") == [MISTAKE]
        assert [other.mistakes.due(TODAY, owner=each) for each in ("abe", "bob")] == [[], []]


def test_only_what_is_due_comes_back_the_longest_due_first(store):
    """Only due mistakes are returned, longest overdue first, optionally by theme."""
    later = named("later", due="2048-01-01T12:00:00.000000Z", theme="row")
    store.mistakes.keep([later, MISTAKE, named("not yet", due="2048-02-01T00:00:00.000000Z")])
    assert [each.position for each in store.mistakes.due(TODAY)] == [MISTAKE.position, "later"]
    assert store.mistakes.due(TODAY, limit=1) == [MISTAKE]
    assert store.mistakes.due(TODAY, theme="row") == [later]


def test_an_answer_is_counted_and_moves_the_mistake(store):
    """A repeated mistake starts over but keeps its statistics; a second review changes nothing.

    Other owners' mistakes stay as they are.
    """
    store.mistakes.keep([MISTAKE])
    for owner in ("ada", "zed"):
        store.mistakes.keep([MISTAKE, named("b", theme="row")], owner=owner)
    due = "2048-01-03T00:00:00.000000Z"
    store.mistakes.answer(MISTAKE, box=LAST_BOX, due=due, is_success=True)
    assert not store.mistakes.due(TODAY)
    (kept,) = store.mistakes.due(due)
    assert (kept.box, kept.tries, kept.successes) == (LAST_BOX, 1, 1)
    (found,) = store.mistakes.summaries(TODAY, last_box=LAST_BOX)
    assert vars(found) == {
        "theme": "corner", "mistakes": 1, "due": 0, "known": 1,
        "tries": 1, "successes": 1, "next_due": due,
    }  # fmt: skip
    assert store.mistakes.keep([replace(MISTAKE, played="left")]) == 0
    assert not store.mistakes.due(TODAY)
    assert store.mistakes.keep([replace(MISTAKE, played="left", game="second")]) == 0
    (again,) = store.mistakes.due(TODAY)
    assert again == replace(MISTAKE, played="left", game="second", tries=1, successes=1)
    kept = [store.mistakes.due(TODAY, owner=owner, theme="corner") for owner in ("ada", "zed")]
    assert kept == [[MISTAKE], [MISTAKE]]


def test_the_notebook_is_bounded(store, monkeypatch):
    """The best-learned mistakes are dropped, but never another owner's."""
    monkeypatch.setattr(practice, "MAX_MISTAKES", 2)
    store.mistakes.keep([MISTAKE], owner="bob")
    store.mistakes.keep([named("a", box=2), named("b", box=3), named("c")])
    assert {each.position for each in store.mistakes.due(TODAY)} == {"a", "c"}
    assert store.mistakes.due(TODAY, owner="bob") == [MISTAKE]


def test_the_first_answer_to_a_puzzle_counts(store):
    """Only first answers are rated; the puzzle answered last is first, for each owner."""
    first = PuzzleAnswer(7, False, 1400.0, 200.0, "2048-01-01T00:00:00.000000Z")
    second = PuzzleAnswer(3, True, 1450.5, 180.0, TODAY)
    assert store.puzzle_answers.add(first, (1480.0, 190.0))
    assert store.puzzle_answers.add(second, (1510.0, 190.0))
    assert store.puzzle_answers.select(limit=1) == [second]
    again = PuzzleAnswer(7, True, 9.0, 9.0, "2048-01-03T00:00:00.000000Z")
    assert not store.puzzle_answers.add(again, (9.0, 190.0))
    repeated = replace(again, is_solved=False, rating=1450.5, deviation=180.0)
    assert store.puzzle_answers.select() == [repeated, second]
    assert store.puzzle_answers.add(first, (1490.0, 190.0), owner="ada")
    assert store.puzzle_answers.strengths() == {7: (1490.0, 190.0), 3: (1510.0, 190.0)}
    assert store.puzzle_answers.select(owner="ada") == [first]
    assert store.puzzle_answers.select() == [repeated, second]
