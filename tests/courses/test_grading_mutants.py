"""Faults that are planted in a solution, each in one place."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from py2048.courses.grading.mutants import mutants_of

FAULTS = tomllib.loads(Path(__file__).with_name("faults.toml").read_text())


@pytest.mark.parametrize("line", FAULTS)
def test_a_fault_changes_one_place(line, tmp_path):
    """Each kind of statement and expression has its faults."""
    path = tmp_path / "app.py"
    path.write_text(f"def f():\n    {line}\n")
    found = [mutant.change.removeprefix(f"{line} → ") for mutant in mutants_of(path)]
    assert found == FAULTS[line]
