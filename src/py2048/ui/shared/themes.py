"""The one table of themes and tile styles, for the terminal, the desktop and the web.

Plain data: colours are ``#rrggbb`` texts, and nothing here imports a front-end library.
The tests hold every theme to these laws:

- text stands at a contrast of at least 4.5:1 on its tile, the level AA of the Web Content
  Accessibility Guidelines 2.2 (7:1 in high contrast);
- tiles that follow each other, 2 and 4, 4 and 8 and so on past 131072, differ by at least 9
  (CIEDE2000; 13 in the themes for high contrast and colour blindness), to normal eyes and to
  simulated protan, deutan and tritan eyes (Machado, Oliveira & Fernandes 2009); all tiles up to
  131072 differ from each other and from the empty cell.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from py2048.errors import Py2048Error, did_you_mean


class ThemeError(Py2048Error, ValueError):
    """A theme that does not exist."""


@dataclass(frozen=True, slots=True)
class TileStyle:
    """How one tile looks: the colour of its face and of the number on it."""

    background: str
    text: str


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a whole screen.

    Attributes:
        name: the word a user types.
        title: the name a menu shows.
        dark: whether light text stands on a dark page.
        page: the background of everything.
        ink: text on the page.
        muted: less important text on the page and on panels.
        panel: the background of score boxes, menus and dialogs.
        accent: what should catch the eye, as text on the page and on panels.
        board: the frame between the cells.
        empty: a cell without a tile.
        tiles: the styles of 2, 4, 8, … 131072.
        beyond: the styles of larger tiles, repeated for ever.
    """

    name: str
    title: str
    dark: bool
    page: str
    ink: str
    muted: str
    panel: str
    accent: str
    board: str
    empty: str
    tiles: tuple[TileStyle, ...]
    beyond: tuple[TileStyle, ...]

    def tile(self, value: int) -> TileStyle:
        """Return the style of a tile; every power of two from 2 upwards has one."""
        return (self.tiles + self.beyond)[self.rank(value) - 1]

    def rank(self, value: int) -> int:
        """Return the number of a tile's style, from 1; beyond the table the last ones repeat."""
        rank = value.bit_length() - 1
        known = len(self.tiles)
        return rank if rank <= known else known + 1 + (rank - known - 1) % len(self.beyond)


@cache
def mixed(first: str, second: str, share: float) -> str:
    """Return the colour `first` with `share` (0 to 1) of it replaced by `second`."""
    pairs = ((int(first[i : i + 2], 16), int(second[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _luminance(colour: str) -> float:
    """Relative luminance, 0 to 1 (Web Content Accessibility Guidelines 2.2)."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _styles(backgrounds: str, dark: str, light: str) -> tuple[TileStyle, ...]:
    """Put on each background whichever of the two text colours stands out more."""
    # Contrast is a ratio, so the boundary between the two texts is their geometric mean.
    shades = (_luminance(dark) + 0.05) * (_luminance(light) + 0.05)
    return tuple(
        TileStyle(colour, dark if (_luminance(colour) + 0.05) ** 2 >= shades else light)
        for colour in backgrounds.split()
    )


TOKENS = ("page", "ink", "muted", "panel", "accent", "board", "empty")
"""The names of a theme's colours besides those of its tiles; style sheets use the same."""


def _tokens(colours: Iterable[str]) -> dict[str, Any]:
    return dict(zip(TOKENS, colours, strict=True))


def _theme(
    name: str,
    title: str,
    colours: str,
    inks: tuple[str, str],
    tiles: str,
    beyond: str,
) -> Theme:
    """Return a theme from the colours of `TOKENS`, its two inks, and the faces of its tiles."""
    return Theme(
        name=name,
        title=title,
        dark=_luminance(colours.split()[0]) < 0.5,
        **_tokens(colours.split()),
        tiles=_styles(tiles, *inks),
        beyond=_styles(beyond, *inks),
    )


LIGHT = _theme(
    "light",
    "Light",
    "#faf8ef #4a4038 #6e6155 #ece4d8 #a63a12 #b8a898 #cabdae",
    ("#2b211a", "#ffffff"),
    "#f3ebe0 #efd5a6 #f2a65a #d97d44 #cf4020 #951a1f"
    " #8a6a1c #b18316 #cfa11e #f2c737 #ffeb8e"
    " #0f5c50 #178467 #61cbc5 #4190d2 #3453a0 #351f6b",
    "#8240b4 #c98bdd #5c1f57 #e9b8d8",
)

DARK = _theme(
    "dark",
    "Dark",
    "#171512 #ece4d8 #a3988b #2a2622 #f5b04c #2a2622 #38332e",
    ("#201812", "#ffffff"),
    "#e6ded3 #d3b88a #f1a050 #d27442 #b7462e #7f1117"
    " #7d5f14 #a67f11 #c99d1c #eec12f #ffe885"
    " #0c5a4e #12826a #56c3a1 #3d8fd6 #4a5bca #54369b",
    "#ab5eea #d3a3ea #7d2f77 #efc3e2",
)

HIGH_CONTRAST = _theme(
    "high-contrast",
    "High contrast",
    "#000000 #ffffff #d0d0d0 #1c1c1c #ffe600 #000000 #262626",
    ("#000000", "#ffffff"),
    "#f9fcff #fdedbe #ffb225 #f56b52 #a32f15 #ff9dc0"
    " #a12664 #cd9d00 #ffd524 #10e5ff #ffff00"
    " #1e6537 #00b060 #78f6a2 #5bb6e6 #1751c1 #a284e9",
    "#e5bdfc #800fd8 #ffd0f0 #a20890",
)

COLOUR_BLIND = _theme(
    "colour-blind",
    "Colour-blind safe",
    "#f5f6f8 #1d2631 #56616e #e3e7ec #1f4f8f #b4b8be #cdd1d6",
    ("#10151c", "#ffffff"),
    "#fdfefe #b9bdff #a4e1c4 #5a9bd0 #2f6fb0 #123f7d"
    " #674804 #9f6b00 #c69603 #f5ce12 #fff5a5"
    " #5b1a0a #9e5119 #d57a43 #fab98f #444b55 #000000",
    "#6b57a1 #d5c5f0 #2f2a63 #b5fdff",
)

# The sixteen colours that every terminal has, as the text console shows them. Others show them
# somewhat differently, so a number stands only on colours that are light or dark everywhere:
# not on green, brown, cyan and dark grey.
_BLACK, _GREY, _WHITE = "#000000", "#555555", "#ffffff"
_SIXTEEN = _styles(
    "#aaaaaa #ffff55 #ff5555 #ff55ff #55ffff #55ff55 #aa0000 #0000aa #aa00aa #ffffff",
    dark=_BLACK,
    light=_WHITE,
)


def in_sixteen_colours(theme: Theme) -> Theme:
    """Return `theme` for a terminal of sixteen colours: dark or light, with tiles on black.

    Numbers stand at 4.5:1 on their tiles, and neighbours differ; tiles above 1024 repeat colours.
    """
    page, ink, accent = (_BLACK, _WHITE, "#ffff55") if theme.dark else (_WHITE, _BLACK, "#aa0000")
    colours = page, ink, ink, page, accent, _BLACK, _GREY
    plain = replace(theme, tiles=_SIXTEEN, beyond=_SIXTEEN)
    return replace(plain, **_tokens(colours))


THEMES: tuple[Theme, ...] = (DARK, LIGHT, HIGH_CONTRAST, COLOUR_BLIND)
BY_NAME = {theme.name: theme for theme in THEMES}
DEFAULT_THEME = DARK


def get_theme(name: str) -> Theme:
    """Return the theme called `name`.

    Raises:
        ThemeError: no theme has that name; the message suggests the nearest.
    """
    if name not in BY_NAME:
        raise ThemeError(f"unknown theme {name!r}{did_you_mean(name, BY_NAME)}")
    return BY_NAME[name]


def next_theme(name: str) -> Theme:
    """Return the theme after the one called `name`, in menu order, round and round."""
    index = THEMES.index(get_theme(name))
    return THEMES[(index + 1) % len(THEMES)]
