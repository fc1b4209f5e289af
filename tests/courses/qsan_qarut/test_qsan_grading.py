"""The grading of qsan_qarut: what it takes for an announcement."""

from __future__ import annotations

import pytest

from py2048.courses.qsan_qarut.tasks import OVER_WORDS, WON_WORDS, says


@pytest.mark.parametrize(
    ("text", "over", "won"),
    [
        ("Game over!", True, False),
        ("GameOver, you lose", True, False),
        ("is_finished = True", True, False),
        ("You won! Go on.", False, True),
        ("Overall score: 10", False, False),
        ("finished: False, won: False", False, False),
        ("The player loses!", True, False),
        ("isGameOver: True", True, False),
        ("GameIsOver", True, False),
        ("YouWin!", False, True),
        ("WonGame", False, True),
        ("You win2048", False, True),
        ("The window is open", False, False),
    ],
)
def test_an_announcement_is_told_from_other_words(text, over, won):
    assert (says(OVER_WORDS, text), says(WON_WORDS, text)) == (over, won)
