"""What a seed means never changes unnoticed."""

from __future__ import annotations

import pytest
from tests.golden.playthroughs import FOLDER, playthrough

from py2048 import list_rules


@pytest.mark.parametrize("rules", list_rules(), ids=lambda rules: rules.name)
def test_each_preset_plays_as_written(rules):
    """The same seed and moves give, turn by turn, the game in the golden file."""
    golden = (FOLDER / f"{rules.name}.txt").read_text(encoding="utf-8")
    assert playthrough(rules) == golden


def test_there_is_one_playthrough_a_preset():
    """A preset that goes takes its file with it."""
    assert {path.stem for path in FOLDER.glob("*.txt")} == {rules.name for rules in list_rules()}
