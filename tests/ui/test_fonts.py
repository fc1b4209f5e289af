"""Windows on a machine that has one font, and a wide one: DejaVu, as on a bare Debian."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest

PROGRAM = Path(__file__).parent / "fitting.py"
CONFIGURATION = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}</dir><cachedir>{folder}/cache</cachedir></fontconfig>
"""


@pytest.mark.gui
def test_every_text_fits_where_dejavu_is_the_only_font(display: str, tmp_path: Path) -> None:
    """Whatever the system draws "Helvetica" or "Arial" with, no text is cut or lies on another."""
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"):
        shutil.copy(fonts / name, tmp_path)
    configuration = tmp_path / "fonts.conf"
    configuration.write_text(CONFIGURATION.format(folder=tmp_path))
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        env=os.environ | {"FONTCONFIG_FILE": str(configuration), "DISPLAY": display},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
