"""Windows on a machine that has one font, and a wide one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "fitting.py"


@pytest.mark.gui
def test_every_text_fits_where_dejavu_is_the_only_font(display, only_dejavu):
    """Whatever the system draws "Helvetica" or "Arial" with, no text is cut or lies on another."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        env=only_dejavu | {"DISPLAY": display},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
