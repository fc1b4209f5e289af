"""The meaning of seeds never changes silently."""

from __future__ import annotations

import pytest
from tests.golden.playthroughs import FOLDER, playthrough

from py2048 import list_rules


@pytest.mark.parametrize("rules", list_rules(), ids=lambda rules: rules.name)
def test_each_preset_plays_as_written(rules):
    """The same seed and moves give the game in the golden file, turn by turn."""
    golden = (FOLDER / f"{rules.name}.txt").read_text(encoding="utf-8")
    assert playthrough(rules) == golden


def test_there_is_one_playthrough_a_preset():
    """There is exactly one golden file per preset."""
    assert {path.stem for path in FOLDER.glob("*.txt")} == {rules.name for rules in list_rules()}
