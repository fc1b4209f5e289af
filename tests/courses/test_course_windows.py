"""Laws for the windows of all courses."""

from __future__ import annotations

import runpy
import sys
from itertools import pairwise

import pytest
from PIL import ImageColor

from py2048.courses import COURSES
from py2048.courses.comp1127.gui_window import COLOURS
from py2048.courses.windows import colors

PALETTES = {
    "comp1127": COLOURS,
    "cits1401 and qsan_qarut": {2**rank: (colors[2**rank], "#ffffff") for rank in range(1, 63)},
}


def luminance(colour: str) -> float:
    """The relative luminance of a colour as defined by WCAG 2."""
    parts = [channel / 255 for channel in ImageColor.getrgb(colour)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_every_number_is_legible_and_differs_from_the_next(palette):
    """Digits and tiles have a contrast of at least 4.5:1."""
    for face, ink in palette.values():
        light, dark = sorted(map(luminance, (face, ink)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, face
    assert all(one != two for (one, _), (two, _) in pairwise(palette.values()))
    assert len({face for face, _ in list(palette.values())[:17]}) == min(17, len(palette))


@pytest.mark.parametrize(
    ("course", "arguments", "message"),
    [
        *((name, [], "cannot open a window") for name in ("cits1401", "comp1127", "qsan_qarut")),
        ("cits1401", ["5"], "takes no arguments"),
        *(
            ("qsan_qarut", arguments, f"{' '.join(arguments)!r} is not valid")
            for arguments in (["1"], ["-4"], ["four"], ["4", "4"], ["1000"], ["2.5"], [""])
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:.*found in sys.modules")
def test_a_failed_start_is_one_line_and_status_2(course, arguments, message, monkeypatch, capsys):
    """A missing display and invalid arguments are reported without a traceback."""
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(sys, "argv", [course, *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(COURSES[course].package, run_name="__main__")
    out, error = capsys.readouterr()
    assert (ended.value.code, out, error.count("\n")) == (2, "", 1)
    assert message in error
