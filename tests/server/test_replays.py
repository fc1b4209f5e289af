"""Pages of turns: correct in any order, and fast far from the start."""

from __future__ import annotations

import pytest

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.game import Game, Record
from py2048.server.site.games import page_of_turns

STRIDE = 8


def played(rules: str, turns: int) -> Record:
    """Return a game that also has attempts that moved nothing."""
    game = Game(rules, seed=1)
    while game.turn_count < turns and not game.is_over:
        for direction in (*Direction, Direction.UP, Direction.UP):
            game.attempt(direction)
    return game.record()


@pytest.mark.parametrize(
    "rules", ["classic", "classic:scoring=moves:1:-1", "qsan_qarut", "long:size=9x9"]
)
def test_pages_in_any_order_are_those_of_one_replay(rules: str) -> None:
    """Boards, scores and points equal those of a full replay, whatever page is read first."""
    record = played(rules, 60)
    whole = page_of_turns(f"whole {rules}", record, 0, 1000, STRIDE)
    known = [(board.rows, score) for board, _, score in record.replay()]
    assert [(turn.board, turn.score) for turn in whole.turns] == known
    for first in (50, 3, 8, 7, 16, 33, 0, whole.total, whole.total + 9):
        page = page_of_turns(rules, record, first, 5, STRIDE)
        assert page.turns == whole.turns[first : first + 5]
        assert (page.total, page.start) == (len(known), record.start.rows)


def test_a_page_is_replayed_from_a_place_shortly_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only the first page far from the start has to replay the turns before it."""
    record, slides = played("classic", 60), []
    slide = Board.slide

    def counted(board: Board, *how: object) -> object:
        slides.append(board)
        return slide(board, *how)

    monkeypatch.setattr(Board, "slide", counted)
    spent = []
    for first in (50, 50, 45, 20):
        slides.clear()
        page_of_turns("one", record, first, 5, STRIDE)
        spent.append(len(slides))
    assert spent == [55, 7, 10, 9]
