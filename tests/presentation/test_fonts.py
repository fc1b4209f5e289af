"""Windows on a machine with a single, wide font."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.processes import python

PROGRAM = Path(__file__).parent / "fitting.py"


@pytest.mark.gui
def test_every_text_fits_where_dejavu_is_the_only_font(display, only_dejavu):
    """No text is cut or overlaps another, whichever font replaces "Helvetica" or "Arial"."""
    done = python(PROGRAM, **only_dejavu | {"DISPLAY": display})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
