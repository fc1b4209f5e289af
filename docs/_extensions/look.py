"""Give the pages the look of the game.

Each build gets the style sheets and scripts of the game's own pages, so colours, type and
spaces are defined only once.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from make_site import bundle

from py2048 import Record
from py2048.presentation.themes import DEFAULT_THEME, THEMES
from py2048.server.site.pages import assets

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent.parent
FILES = "css/themes.css", "css/base.css", "js/theme-early.js"
SCROLLERS = re.compile(r'(<table class="docutils.*?</table>)', re.DOTALL)
BY_DAY = re.compile(r'<img ([^>]*)-light\.png"([^>]*)>')
BY_DAY_OR_NIGHT = r'<img class="by-day" \1-light.png"\2><img class="by-night" \1-dark.png"\2>'


@functools.cache
def board() -> list[list[tuple[int, int]]]:
    """Return the tiles of the board on the first page, each with its rank."""
    *_, (last, _turn, _score) = Record.load(DOCS / "images" / "hero.2048.json").replay()
    return [[(tile, DEFAULT_THEME.rank(tile) if tile else 0) for tile in row] for row in last.rows]


def write_files(app: Sphinx) -> None:
    """Write the game's files, and the dark version of each picture, to an HTML build."""
    if app.builder.format != "html":
        return
    files = {f"_static/{name}": assets().content(name) for name in FILES}
    # Browsers load no modules from disks, except for data URLs.
    files["_static/js/page.js"] = f'import("{bundle("page")}");\n'.encode()
    for picture in (DOCS / "images").glob("*-dark.png"):
        files[f"_images/{picture.name}"] = picture.read_bytes()
    for name, content in files.items():
        path = Path(app.outdir) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def finish_page(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Add what the layout needs; let tables and code scroll, and pictures follow the theme."""
    body = SCROLLERS.sub(r'<div class="scroller" tabindex="0">\1</div>', context.get("body", ""))
    body = BY_DAY.sub(BY_DAY_OR_NIGHT, body)
    context["body"] = body.replace("<pre>", '<pre tabindex="0">')  # scrolls with the keyboard too
    context["board"] = board()
    context["themes"] = [(each.name, each.title) for each in THEMES]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_theme("py2048", str(DOCS / "_theme"))
    app.add_js_file("js/theme-early.js", priority=100)
    app.add_js_file("js/page.js", loading_method="defer")
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", finish_page)
    return {"parallel_read_safe": True}
