"""The measures the theme tests use: contrast, colour difference, colour deficits.

Sources:
[1] W3C, Web Content Accessibility Guidelines 2.2, "relative luminance" and "contrast ratio".
[2] Sharma, Wu & Dalal 2005, "The CIEDE2000 color-difference formula", with its test pairs.
[3] Machado, Oliveira & Fernandes 2009, "A physiologically-based model for simulation of color
    vision deficiency", table of matrices at severity 1.0, applied to linear RGB.
"""

from __future__ import annotations

from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

Triple = tuple[float, float, float]

NORMAL = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
VISIONS: dict[str, tuple[Triple, Triple, Triple]] = {
    "normal": NORMAL,
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def linear_rgb(colour: str) -> Triple:
    """Linear light in 0..1 of a `#rrggbb` colour [1]."""

    def channel(text: str) -> float:
        value = int(text, 16) / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    return channel(colour[1:3]), channel(colour[3:5]), channel(colour[5:7])


def contrast(one: str, other: str) -> float:
    """The contrast ratio, 1 to 21 [1]."""

    def luminance(colour: str) -> float:
        red, green, blue = linear_rgb(colour)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def lab(colour: str, vision: str = "normal") -> Triple:
    """CIE L*a*b* (D65) of a colour as it is seen with the given `vision` [3]."""
    rgb = linear_rgb(colour)
    seen = [
        min(1.0, max(0.0, sum(a * b for a, b in zip(row, rgb, strict=True))))
        for row in VISIONS[vision]
    ]
    red, green, blue = seen
    x = (0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047
    y = 0.2126729 * red + 0.7151522 * green + 0.0721750 * blue
    z = (0.0193339 * red + 0.1191920 * green + 0.9503041 * blue) / 1.08883

    def f(t: float) -> float:
        return t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116

    return 116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))


def _hue(a: float, b: float) -> float:
    return degrees(atan2(b, a)) % 360 if a or b else 0.0


def _hue_difference(hue1: float, hue2: float) -> float:
    difference = hue2 - hue1
    return difference - 360 * round(difference / 360)


def _mean_hue(hue1: float, hue2: float) -> float:
    return (hue1 + _hue_difference(hue1, hue2) / 2) % 360


def ciede2000(one: Triple, other: Triple) -> float:
    """The CIEDE2000 difference of two L*a*b* colours [2]; about 2 is just noticeable."""
    mean_chroma = (hypot(one[1], one[2]) + hypot(other[1], other[2])) / 2
    g = 0.5 * (1 - sqrt(mean_chroma**7 / (mean_chroma**7 + 25**7)))
    a1, a2 = (1 + g) * one[1], (1 + g) * other[1]
    chroma1, chroma2 = hypot(a1, one[2]), hypot(a2, other[2])
    hue1, hue2 = _hue(a1, one[2]), _hue(a2, other[2])
    grey = chroma1 * chroma2 == 0
    turn = 0.0 if grey else _hue_difference(hue1, hue2)
    hue_step = 2 * sqrt(chroma1 * chroma2) * sin(radians(turn) / 2)
    lightness = (one[0] + other[0]) / 2
    chroma = (chroma1 + chroma2) / 2
    hue = hue1 + hue2 if grey else _mean_hue(hue1, hue2)
    t = (
        1
        - 0.17 * cos(radians(hue - 30))
        + 0.24 * cos(radians(2 * hue))
        + 0.32 * cos(radians(3 * hue + 6))
        - 0.20 * cos(radians(4 * hue - 63))
    )
    scale_l = 1 + 0.015 * (lightness - 50) ** 2 / sqrt(20 + (lightness - 50) ** 2)
    scale_c, scale_h = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    rotation = -2 * sqrt(chroma**7 / (chroma**7 + 25**7))
    rotation *= sin(radians(60 * exp(-(((hue - 275) / 25) ** 2))))
    dl, dc, dh = (other[0] - one[0]) / scale_l, (chroma2 - chroma1) / scale_c, hue_step / scale_h
    return sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh)


def difference(one: str, other: str, vision: str = "normal") -> float:
    """CIEDE2000 between two `#rrggbb` colours as seen with the given `vision`."""
    return ciede2000(lab(one, vision), lab(other, vision))
