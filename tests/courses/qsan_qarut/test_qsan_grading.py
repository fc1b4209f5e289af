"""The grading of qsan_qarut: the starter's own tests are right."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from py2048.courses import get_course
from py2048.courses.qsan_qarut.tasks import OVER_WORDS, WON_WORDS, says

HERE = Path(__file__).parent


@pytest.mark.parametrize("right", ["as_in_the_document", "turned_boards"])
def test_the_starters_tests_pass_on_right_solutions(right: str, tmp_path: Path) -> None:
    folder = tmp_path / right
    shutil.copytree(HERE / "right" / right, folder)
    shutil.copy(get_course("qsan_qarut").starter / "tests.py", folder)
    done = subprocess.run(
        [sys.executable, "tests.py"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert re.findall(r"^(\w+): (\w+)", done.stdout, re.MULTILINE) == [
        ("passed", "test_start"),
        ("passed", "test_moves"),
        ("passed", "test_score"),
    ]


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
def test_an_announcement_is_told_from_other_words(text: str, over: bool, won: bool) -> None:
    assert (says(OVER_WORDS, text), says(WON_WORDS, text)) == (over, won)
