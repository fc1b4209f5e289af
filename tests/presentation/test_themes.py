from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise

import pytest
from coloraide import Color
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.color import Color as RichColor
from rich.color import ColorSystem

from py2048.presentation.themes import (
    THEMES,
    ThemeError,
    get_theme,
    in_256_colours,
    in_sixteen_colours,
    next_theme,
)

every_theme = pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
every_vision = pytest.mark.parametrize("vision", ["normal", "protan", "deutan", "tritan"])
TO_131072 = [2**rank for rank in range(1, 18)]
FAR_BEYOND = [2**rank for rank in range(1, 31)]
MIN_DIFFERENCE = 5.0
CONTRASTS = {"high-contrast": 7.0}
"""The least contrast of a number on its tile, where it is not 4.5."""


@cache
def seen(colour: str, vision: str) -> Color:
    """Simulate a colour as seen with a colour vision deficiency."""
    if vision == "normal":
        return Color(colour)
    return Color(colour).filter(vision, method="machado").clip()


def difference(one: str, other: str, vision: str) -> float:
    """Return the CIEDE2000 difference of two colours; about 2 is just noticeable."""
    return seen(one, vision).delta_e(seen(other, vision), method="2000")


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of the Web Content Accessibility Guidelines, 1 to 21."""
    return Color(one).contrast(other)


@every_theme
@pytest.mark.parametrize("value", FAR_BEYOND)
def test_the_number_on_every_tile_can_be_read(theme, value):
    """Numbers have the theme's contrast on their tiles, at least 4.5:1."""
    style = theme.tile(value)
    assert contrast(style.text, style.background) >= CONTRASTS.get(theme.name, 4.5)


@every_theme
@every_vision
def test_neighbouring_tiles_are_told_apart(theme, vision):
    """Consecutive tiles differ by the theme's step, beyond 131072 and for every kind of vision."""
    for value, double in pairwise(FAR_BEYOND):
        one, other = theme.tile(value).background, theme.tile(double).background
        least = 10 if vision == "normal" or theme.name == "colour-blind" else 7
        assert difference(one, other, vision) >= least, (value, double)


@every_theme
@pytest.mark.parametrize("act", [TO_131072[:11], TO_131072[11:]], ids=["to 2048", "to 131072"])
def test_growth_leaves_the_ground(theme, act):
    """Tiles get steadily darker in light themes and brighter in dark ones."""
    steps = pairwise(Color(theme.tile(value).background).convert("lab")["l"] for value in act)
    assert all((after - before) * (1 if theme.dark else -1) >= 1 for before, after in steps)


@every_theme
@every_vision
def test_all_tiles_to_131072_are_distinct(theme, vision):
    """Tiles up to 131072 differ from each other, from empty cells and from the frame."""
    for value, other in combinations(TO_131072, 2):
        one, two = theme.tile(value).background, theme.tile(other).background
        assert difference(one, two, vision) >= MIN_DIFFERENCE, (value, other)
    for value in FAR_BEYOND:
        for ground in (theme.empty, theme.board):
            assert difference(theme.tile(value).background, ground, vision) >= 8, value


@every_theme
def test_text_outside_the_board_can_be_read(theme):
    """Text has a contrast of 4.5:1 on the page, panels and dialogs; focus rings have 3:1."""
    for ground in (theme.page, theme.panel, theme.raised):
        for text in (theme.ink, theme.muted, theme.accent, theme.danger, theme.good):
            assert contrast(text, ground) >= 4.5, (text, ground)
        assert contrast(theme.focus, ground) >= 3
    assert contrast(theme.on_accent, theme.accent) >= 4.5


@given(st.sampled_from(THEMES), st.integers(1, 5000))
@settings(deadline=None)
def test_every_tile_has_a_style(theme, rank):
    """Every power of two has a style."""
    style = theme.tile(2**rank)
    assert style in theme.tiles + theme.beyond
    assert (style in theme.tiles) == (rank <= 17)


def test_a_theme_is_found_by_its_name():
    """Each theme is found by its unique name."""
    assert [get_theme(theme.name) for theme in THEMES] == list(THEMES)
    assert len({theme.name for theme in THEMES}) == len(THEMES)


def test_an_unknown_theme_is_refused_with_the_nearest_name():
    """A misspelt theme name is answered with a suggestion."""
    with pytest.raises(ThemeError, match="unknown theme 'drak'; did you mean 'dark'"):
        get_theme("drak")


def test_the_next_theme_visits_all_and_returns():
    """Stepping through the themes shows each once before repeating."""
    seen = [THEMES[0].name]
    while (name := next_theme(seen[-1]).name) not in seen:
        seen.append(name)
    assert name == seen[0]
    assert set(seen) == {theme.name for theme in THEMES}


# How common terminals show the sixteen colours: the text console, xterm, Windows, macOS.
CONSOLES = {
    "console": "000000 aa0000 00aa00 aa5500 0000aa aa00aa 00aaaa aaaaaa"
    " 555555 ff5555 55ff55 ffff55 5555ff ff55ff 55ffff ffffff",
    "xterm": "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5"
    " 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff",
    "windows": "0c0c0c c50f1f 13a10e c19c00 0037da 881798 3a96dd cccccc"
    " 767676 e74856 16c60c f9f1a5 3b78ff b4009e 61d6d6 f2f2f2",
    "macos": "000000 990000 00a600 999900 0000b2 b200b2 00a6b2 bfbfbf"
    " 666666 e50000 00d900 e5e500 0000ff e500e5 00e5e5 e5e5e5",
}


@every_theme
@pytest.mark.parametrize("terminal", CONSOLES)
def test_sixteen_colours_are_enough(theme, terminal):
    """With 16 colours, numbers are readable, and tiles and cells are visible.

    Contrast is 4.5:1 on the Linux console and in xterm without bold text, and 3:1, the level for
    large text, in terminals with their own colours.
    """
    names = CONSOLES["console"].split()
    own = CONSOLES[terminal].split()
    plain = in_sixteen_colours(theme)
    least = 4.5 if terminal in ("console", "xterm") else 3.0

    def seen(colour: str) -> str:
        return f"#{own[names.index(colour.removeprefix('#'))]}"

    for value, double in pairwise(FAR_BEYOND):
        tile = plain.tile(value)
        assert contrast(seen(tile.text), seen(tile.background)) >= least, value
        assert tile.background not in (plain.empty, plain.tile(double).background)
    assert contrast(seen(plain.empty), seen(plain.board)) > 1.5
    for text in (plain.ink, plain.muted, plain.accent):
        assert contrast(seen(text), seen(plain.page)) >= 4.5
    for sign in (plain.danger, plain.good):  # beside a word or an arrow
        assert contrast(seen(sign), seen(plain.page)) >= least
    assert len({plain.tile(value).background for value in TO_131072[:10]}) == 10


def in_xterm(colour: str) -> str:
    """Return the colour that xterm shows for a 256-colour index; none is changed by bold."""
    index = RichColor.parse(colour).downgrade(ColorSystem.EIGHT_BIT).number
    assert index is not None
    assert index >= 16
    if index >= 232:
        return "#" + f"{8 + 10 * (index - 232):02x}" * 3
    levels = ((index - 16) // 36, (index - 16) // 6 % 6, (index - 16) % 6)
    return "#" + "".join(f"{(0, 95, 135, 175, 215, 255)[level]:02x}" for level in levels)


@every_theme
def test_256_colours_are_enough(theme):
    """With xterm's 256 colours, text is readable and consecutive tiles differ for every vision."""
    plain = in_256_colours(theme)
    for value, double in pairwise(FAR_BEYOND):
        tile, next_tile = plain.tile(value), plain.tile(double)
        face = in_xterm(tile.background)
        assert contrast(in_xterm(tile.text), face) >= CONTRASTS.get(theme.name, 4.5), value
        for vision in ("normal", "protan", "deutan", "tritan"):
            least = 7 if vision == "normal" else 4
            assert difference(face, in_xterm(next_tile.background), vision) >= least, value
            for ground in (plain.empty, plain.board):
                assert difference(face, in_xterm(ground), vision) >= 5, value
    for ground in (plain.page, plain.panel, plain.raised):
        for text in (plain.ink, plain.muted, plain.accent, plain.danger, plain.good):
            assert contrast(in_xterm(text), in_xterm(ground)) >= 4.5, (text, ground)
    assert in_xterm(plain.empty) != in_xterm(plain.board)
