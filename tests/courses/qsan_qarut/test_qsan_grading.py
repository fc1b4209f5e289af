"""Grading qsan_qarut: which printed texts count as announcements."""

from __future__ import annotations

import pytest

from py2048.courses.qsan_qarut.tasks import OVER_WORDS, WON_WORDS, announces_in


@pytest.mark.parametrize(
    ("text", "over", "won"),
    [
        ("Game over!", True, False),
        ("GameOver, you lose", True, False),
        ("is_finished = True", True, False),
        ("You won! Go on.", False, True),
        ("Overall score: 10", False, False),
        ("finished: False, won: False", False, False),
        ("is_won --> False is_finished --> False", False, False),
        ("The player loses!", True, False),
        ("isGameOver: True", True, False),
        ("GameIsOver", True, False),
        ("YouWin!", False, True),
        ("WonGame", False, True),
        ("You win2048", False, True),
        ("The window is open", False, False),
    ],
)
def test_announcements_are_recognized(text, over, won):
    """Announcements of a win or the end are recognized; similar words and flags are not."""
    assert (announces_in(OVER_WORDS, text), announces_in(WON_WORDS, text)) == (over, won)
