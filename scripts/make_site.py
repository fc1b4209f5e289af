"""Write the page that plays 2048 in the browser without a server (`make site`).

    make_site.py FOLDER       writes FOLDER/index.html and its assets

The page is made from the templates, styles and modules of the server's page, without the parts that
need a server. The page must also work when opened as a local file, from which browsers load no
modules, so its import map contains each module as a data URL. All browsers since 2023 support this,
and no bundler is needed.
"""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path

from py2048 import __version__
from py2048.core.language import ENGLISH, LANGUAGES, use_language
from py2048.server.site.pages import assets, play_page, render_text

_IMPORT = re.compile(
    r'((?:\bfrom |\bimport |\bimport\(|\bimport\.meta\.resolve\())"\./([\w-]+)\.js"'
)
_WORKER = "coach-worker"


def module_names(*names: str) -> dict[str, str]:
    """Return data URLs of modules and all their imports, by name."""
    urls: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        text = _text(name)
        if name == _WORKER:
            urls[name] = _bundle(name)
            continue
        # Relative imports do not work in data URLs, so modules are imported by name.
        urls[name] = _data_url(name, _IMPORT.sub(r'\1"\2"', text))
        waiting += {match[2] for match in _IMPORT.finditer(text)} - {*urls, *waiting}
    return urls


def _bundle(name: str) -> str:
    """Return a data URL of a module that contains its imports: import maps do not reach workers."""
    return _data_url(
        name, _IMPORT.sub(lambda found: f'{found[1]}"{_bundle(found[2])}"', _text(name))
    )


def _text(name: str) -> str:
    return assets().content(f"js/{name}.js").decode()


def _data_url(name: str, script: str) -> str:
    script += f"//# sourceURL={name}.js"
    return f"data:text/javascript;base64,{base64.b64encode(script.encode()).decode()}"


def build(folder: Path) -> None:
    """Write the page in each language, and its assets."""
    loaded: set[str] = set()

    def address(name: str) -> str:
        loaded.add(name)
        return name

    folder.mkdir(parents=True, exist_ok=True)
    facts = {"asset": address, "modules": module_names("page", "play", "replay")}
    for code in LANGUAGES:
        with use_language(code):
            facts["game_page"] = render_text("game.html", **facts)
            text = render_text("play.html", version=__version__, **facts, **play_page())
        name = "index" if code == ENGLISH else code
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    for name in [*loaded, "digits.ttf"]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(assets().content(name))


if __name__ == "__main__":
    build(Path(sys.argv[1]))
