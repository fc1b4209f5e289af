"""Themes and design tokens, shared by the terminal, the desktop window and the website.

Colours are ``#rrggbb`` strings, and this module imports no front-end library. Tests check every
theme:

- Text has a contrast of at least 4.5:1 on its tile, level AA of the Web Content Accessibility
  Guidelines 2.2 (7:1 in high contrast).
- Consecutive tiles differ by at least 10 (CIEDE2000), and by at least 7 for simulated protan,
  deutan and tritan vision (Machado, Oliveira & Fernandes 2009; 10 in the colour-blind theme). Any
  two tiles up to 131072 differ by at least 5, and each differs from the empty cell and the frame by
  at least 8.
- Tiles from 2 to 2048 get darker with increasing value in light themes, and brighter in dark
  themes. Tiles from 4096 to 131072 have a different hue and also get darker or brighter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from py2048.core.errors import Py2048Error, did_you_mean
from py2048.core.language import N_


class ThemeError(Py2048Error, ValueError):
    """The requested theme does not exist."""


class TileStyle(NamedTuple):
    """The background colour and the text colour of a tile."""

    background: str
    text: str


class Theme(NamedTuple):
    """A colour theme.

    Attributes:
        name: Identifier of the theme on the command line.
        title: Translatable name for menus.
        dark: Whether the page background is dark.
        page: Page background.
        panel: Background of cards, buttons and scores.
        raised: Background of dialogs and of buttons on cards.
        line: Separators.
        ink: Main text colour, used on the page, panels and dialogs.
        muted: Secondary text.
        accent: Colour of primary actions and of the current position.
        on_accent: Text on `accent`.
        focus: Keyboard focus ring.
        danger: Errors, blunders and destructive actions.
        good: Best moves and points gained.
        board: Board background between the cells.
        empty: Empty cell.
        tiles: Styles of the tiles 2, 4, 8 and so on, up to 131072.
        beyond: Styles of tiles above 131072, repeated in a cycle.
    """

    name: str
    title: str
    dark: bool
    page: str
    panel: str
    raised: str
    line: str
    ink: str
    muted: str
    accent: str
    on_accent: str
    focus: str
    danger: str
    good: str
    board: str
    empty: str
    tiles: tuple[TileStyle, ...]
    beyond: tuple[TileStyle, ...]

    def tile(self, value: int) -> TileStyle:
        """Return the style of a tile. The tile's value must be a power of two."""
        return (self.tiles + self.beyond)[self.rank(value) - 1]

    def rank(self, value: int) -> int:
        """Return the 1-based index of a tile's style."""
        rank = value.bit_length() - 1
        count = len(self.tiles)
        return rank if rank <= count else count + 1 + (rank - count - 1) % len(self.beyond)


@cache
def mixed(first: str, second: str, share: float) -> str:
    """Blend two colours, with `share` as the weight of the second colour, from 0 to 1."""
    pairs = ((int(first[i : i + 2], 16), int(second[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour, 0 to 1, as defined by WCAG 2.2."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _styles(faces: str, dark: str, light: str) -> tuple[TileStyle, ...]:
    """Return a style for each ``background/text``. By default, use the more legible text colour."""
    # Contrast is a ratio, so both text colours have equal contrast on a background whose luminance
    # is their geometric mean.
    shades = (_luminance(dark) + 0.05) * (_luminance(light) + 0.05)

    def style(face: str, ink: str = "") -> TileStyle:
        return TileStyle(face, ink or (dark if (_luminance(face) + 0.05) ** 2 >= shades else light))

    return tuple(style(*each.split("/")) for each in faces.split())


TOKENS = (
    *("page", "panel", "raised", "line", "ink", "muted", "accent"),
    *("on_accent", "focus", "danger", "good", "board", "empty"),
)
"""Names of the theme colours other than tiles. Style sheets use the same names."""

SPACE = (4, 8, 12, 16, 24, 32, 48, 64)
"""Spacing scale of the style sheets, in pixels at the default text size."""

RADIUS = {"board": 16, "card": 16, "button": 12, "chip": 8}
"""Corner radii in pixels. The corner radius of a tile is a tenth of its cell."""

TYPE = {
    "caption": (12, 16, 500),
    "small": (13, 18, 400),
    "button": (15, 20, 600),
    "body": (16, 24, 400),
    "title": (20, 28, 700),
    "score": (24, 28, 700),
    "page": (32, 40, 800),
    "figure": (40, 44, 800),
}
"""Text styles: the font size and line height in pixels, and the font weight."""

MOTION_MS = {
    "slide": 90,
    "pop": 160,
    "spawn": 120,
    "rise": 900,
    "lean": 120,
    "ring": 400,
    "sweep": 900,
    "wait": 700,
    "fade": 240,
}
"""Animation durations in milliseconds. Reduced motion disables all animations."""


def _tokens(colours: Iterable[str]) -> dict[str, Any]:
    return dict(zip(TOKENS, colours, strict=True))


def _theme(
    name: str, title: str, colours: str, inks: tuple[str, str], tiles: str, beyond: str
) -> Theme:
    """Build a theme, given the colours of `TOKENS` and the text and background colours of tiles."""
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
    N_("Light"),
    "#fbf8f2 #f1eae0 #fffdf9 #ddd2c4 #2e241c #6a5c50 #a8431a"
    " #ffffff #1f5fbf #b3261e #2c6e3f #bfb1a2 #d2c7ba",
    ("#2b1d12", "#ffffff"),
    "#fcf6eb #f5dead #fabc6f #f49319 #e46731 #cd4130"
    " #a91d28 #89223b #63223f #3f1340 #21121e/#ffd35c"
    " #c8f1ec #82d6dc #43aed5 #2879c2 #3952b8 #3b2988",
    "#f5c6e8 #c167b5 #79297e #de9dd6",
)

DARK = _theme(
    "dark",
    N_("Dark"),
    "#161310 #221e1a #2c2722 #3a332c #f2eae0 #a89b8d #f6b44b"
    " #20160a #7fb4ff #ff8a75 #86cf95 #1e1a17 #2a2521",
    ("#1b120a", "#ffffff"),
    "#463c32 #674e2c #8c4608 #b54f30 #e64402 #f16351"
    " #ed872a #faad53 #ffca01 #f7e174 #fef2bc"
    " #35286f #4a48b2 #3f73d2 #41a3da #6fd2d6 #d6f8f2",
    "#5c1f56 #a53c9d #e078cf #f9c9ed",
)

HIGH_CONTRAST = _theme(
    "high-contrast",
    N_("High contrast"),
    "#000000 #141414 #1f1f1f #8a8a8a #ffffff #d0d0d0 #ffe14d"
    " #000000 #5cd6ff #ff9d8f #7dffa0 #000000 #1c1c1c",
    ("#000000", "#ffffff"),
    "#3c3a3a #5c462b #912d0c #fd6567 #fc8a4f #faa908"
    " #f7bf7d #fad95e #fff610 #edffb9 #fffdfe"
    " #2a2390 #0f54b4 #4daafc #4accfb #8df1fe #ddfde7",
    "#5a0f6b #992586 #ff99e5 #ffd0f4",
)

COLOUR_BLIND = _theme(
    "colour-blind",
    N_("Colour-blind safe"),
    "#f7f8fa #e9ecf0 #ffffff #cfd5dc #1b232d #55606d #1f5496"
    " #ffffff #c25e00 #9c3a00 #1f5496 #aab2bc #c6ccd4",
    ("#14100c", "#ffffff"),
    "#f8fef9 #f3f1c5 #fddf87 #fdbd05 #df9015 #bc710a"
    " #9e560f #793a04 #563a27 #34190f #110c0f/#ffd35c"
    " #e1f3fd #aad3f5 #6aa9e8 #3b7fca #28559b #152c60",
    "#e6c9f4 #a96cb7 #5b2a72 #c79cd5",
)

_BLACK, _GREY, _WHITE = "#000000", "#555555", "#ffffff"

# Palette indexes for terminals with 256 colours. Each theme has a string for `TOKENS`, one for
# tiles up to 131072, and one for larger tiles. Each index selects the closest palette colour that
# has enough contrast.
_INKS_256 = (_BLACK, _WHITE)
_IN_256 = {
    "light": (
        "231 255 231 252 235 241 94 231 26 124 22 249 251",
        "231 229 222 215 202 131 160 125 89 54 233/221 123 45 38 33 26 19",
        "182 169 91 176",
    ),
    "dark": (
        "233 235 236 238 255 247 214 16 111 209 114 234 235",
        "238 241 94 160 166 174 208 215 220 227 230 18 61 68 74 80 195",
        "53 126 169 225",
    ),
    "high-contrast": (
        "16 233 234 245 231 252 220 16 81 210 121 16 234",
        "237 88 124 203 209 178 215 221 190 193 231 19 24 75 81 87 158",
        "54 89 212 218",
    ),
    "colour-blind": (
        "231 255 231 252 235 241 25 231 166 124 25 249 251",
        "231 194 222 214 172 137 130 88 237 52 232/221 153 110 69 67 25 17",
        "183 134 53 140",
    ),
}


def _of_256(indexes: str) -> str:
    """Convert palette indexes to RGB colours, which Rich maps back to the same indexes."""

    def colour(index: int) -> str:
        if index >= 232:  # Rich rounds greys to steps of 1/25
            return "#" + f"{round(10.2 * (index - 231)):02x}" * 3
        levels = ((index - 16) // 36, (index - 16) // 6 % 6, (index - 16) % 6)
        return "#" + "".join(f"{40 * level + 55 * (level > 0):02x}" for level in levels)

    return re.sub(r"\d+", lambda match: colour(int(match[0])), indexes)


def in_256_colours(theme: Theme) -> Theme:
    """Adapt a theme to a terminal with 256 colours."""
    surfaces, *tiles = map(_of_256, _IN_256[theme.name])
    small, large = (_styles(each, *_INKS_256) for each in tiles)
    return theme._replace(tiles=small, beyond=large, **_tokens(surfaces.split()))


# The 16 standard colours of the Linux console. Other terminals display these colours differently.
# Tiles avoid green, brown, cyan and dark grey, which are neither clearly light nor clearly dark on
# all terminals. Tiles have no bold text, because xterm brightens dark colours in bold text and
# would show black numbers in grey.
_SIXTEEN = _styles(
    "#aaaaaa #ffff55 #ff5555 #ff55ff #55ffff #55ff55 #aa0000 #0000aa #aa00aa #ffffff",
    dark=_BLACK,
    light=_WHITE,
)
_BY_NIGHT = ("#ffff55", _BLACK, "#55ffff", "#ff5555", "#55ff55")
_BY_DAY = ("#aa0000", _WHITE, "#0000aa", "#aa00aa", "#0000aa")
"""Colours of the tokens `accent`, `on_accent`, `focus`, `danger` and `good`."""


def in_sixteen_colours(theme: Theme) -> Theme:
    """Adapt a theme to a terminal with 16 colours.

    Tile numbers have a contrast of at least 4.5:1, and consecutive tiles differ in colour. Tiles
    above 1024 have the colours of smaller tiles.
    """
    page, ink, signs = (_BLACK, _WHITE, _BY_NIGHT) if theme.dark else (_WHITE, _BLACK, _BY_DAY)
    colours = page, page, page, _GREY, ink, ink, *signs, _BLACK, _GREY
    return theme._replace(tiles=_SIXTEEN, beyond=_SIXTEEN, **_tokens(colours))


THEMES: tuple[Theme, ...] = (DARK, LIGHT, HIGH_CONTRAST, COLOUR_BLIND)
BY_NAME = {theme.name: theme for theme in THEMES}
DEFAULT_THEME = DARK


def get_theme(name: str) -> Theme:
    """Look up a theme by name.

    Raises:
        ThemeError: If no theme has this name. The message suggests the closest match.
    """
    if name not in BY_NAME:
        raise ThemeError(f"unknown theme {name!r}{did_you_mean(name, BY_NAME)}")
    return BY_NAME[name]


def next_theme(name: str) -> Theme:
    """Return the next theme in the order of the menu, starting again after the last theme."""
    index = THEMES.index(get_theme(name))
    return THEMES[(index + 1) % len(THEMES)]
