"""The icon of the installed page: a tile of 2048 on the board's ground, drawn as tiles look."""

from __future__ import annotations

import io
from functools import cache

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from py2048.ui.shared.themes import THEMES

SIZES = (192, 512)
_TILE = 0.64
"""The tile's share of a side: systems may cut an icon down to the circle that 0.8 of it spans."""

_CORNER, _DIGITS = 0.07, 0.33
"""The radius of the tile's corners and the height of its digits, as shares of its side."""


def icon_route() -> Route:
    """Return the route of the icons."""
    return Route("/icon-{size:int}.png", _icon)


async def _icon(request: Request) -> Response:
    size = request.path_params["size"]
    if size not in SIZES:
        raise HTTPException(404, "There is no icon of that size.")
    headers = {"cache-control": "public, max-age=86400"}
    return Response(icon(size), media_type="image/png", headers=headers)


@cache
def icon(size: int) -> bytes:
    """Return the icon as a PNG of `size` pixels a side."""
    from PIL import Image, ImageDraw, ImageFont  # the first page needs no Pillow

    theme = next(theme for theme in THEMES if theme.name == "light")
    style, side = theme.tile(2048), size * _TILE
    image = Image.new("RGB", (size, size), theme.board)
    draw = ImageDraw.Draw(image)
    edge = (size - side) / 2
    box = (edge, edge, size - edge, size - edge)
    draw.rounded_rectangle(box, side * _CORNER, fill=style.background)
    font = ImageFont.load_default(side * _DIGITS)
    draw.text((size / 2, size / 2), "2048", fill=style.text, font=font, anchor="mm", stroke_width=1)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()
