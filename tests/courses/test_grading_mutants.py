"""Faults that are planted in a solution, each in one place."""

from __future__ import annotations

import pytest

from py2048.courses.grading.mutants import mutants_of

FAULTS = {
    "x.n += y": "x.n -= y | x.n = min(2048, x.n + y) | pass",
    "x.n = x.n - y": "x.n = max(0, x.n - y) | pass | x.n = (x.n + y)",
    "x.n = y * x.n": "pass | x.n = (y + x.n)",
    "x[y] == z": "pass | (x[y] != z) | (x[y] == z != 1024) | (x[y] == z != 2048)",
    "x < y <= z": "pass | (x <= y <= z) | (x >= y <= z) | (x < y < z) | (x < y > z)",
    "not x or y": "pass | (not x and y) | (y) | (not x) | (x) or y",
    "min(x, y)": "pass | (max(x, y)) | (x) | (y)",
    "x(y, z)": "pass | (x(z, y))",
    "x[::y]": "pass | (x[:])",
    "x = 7": "pass | x = (8) | x = (6)",
    "return -x": "return None | return (x)",
    "while x: y = True": "while (not x): y = True | while x: pass | while x: y = (False)",
    "if x: y = True": "if (not x): y = True | if ((y := False) or x): y = True"
    " | if x: pass | if x: y = (False)",
    "for x in y: z": "for x in (list(y)[1:]): z | for x in (list(y)[:-1]): z | for x in y: pass",
    "[x for x in range(y)]": "pass | [x for x in (range(y + 1))] | [x for x in (range(y + -1))]",
    "range(x, y)": "pass | (range(x, y + 1)) | (range(x, y + -1)) | (range(x + 1, y))",
}


@pytest.mark.parametrize("line", FAULTS)
def test_a_fault_changes_one_place(line, tmp_path):
    """Each kind of statement and expression has its faults."""
    path = tmp_path / "app.py"
    path.write_text(f"def f():\n    {line}\n")
    found = [mutant.change.removeprefix(f"{line} → ") for mutant in mutants_of(path)]
    assert found == FAULTS[line].split(" | ")
