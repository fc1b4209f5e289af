"""Write the pages that work in the browser without a server (`make site`).

    make_site.py FOLDER       writes FOLDER/index.html, FOLDER/puzzle.html and their assets

The pages are made from the templates, styles and modules of the server's pages, without the parts
that need a server. The pages must also work as local files, from which browsers load no modules, so
import maps contain each module as a data URL. All browsers released since 2023 support import maps,
so no bundler is needed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from pathlib import Path

from py2048 import __version__
from py2048.core.language import ENGLISH, LANGUAGES, use_language
from py2048.review.puzzles import pack
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
            urls[name] = bundle(name)
            continue
        # Relative imports do not work in data URLs, so modules are imported by name.
        urls[name] = _data_url(name, _IMPORT.sub(r'\1"\2"', text))
        waiting += {match[2] for match in _IMPORT.finditer(text)} - {*urls, *waiting}
    return urls


def bundle(name: str) -> str:
    """Return a data URL of a module with its imports, because workers ignore import maps."""
    return _data_url(
        name, _IMPORT.sub(lambda found: f'{found[1]}"{bundle(found[2])}"', _text(name))
    )


def _text(name: str) -> str:
    return assets().content(f"js/{name}.js").decode()


def _data_url(name: str, script: str) -> str:
    script += f"//# sourceURL={name}.js"
    return f"data:text/javascript;base64,{base64.b64encode(script.encode()).decode()}"


def build(folder: Path) -> None:
    """Write the pages in each language, their assets, and the service worker."""
    files = {"puzzles.js": f"pack={json.dumps(pack(), separators=(',', ':'))}".encode()}

    def address(name: str) -> str:
        files[name] = assets().content(name)
        return name

    manifest = json.loads(assets().content("manifest.webmanifest"))
    others = set(LANGUAGES) - {ENGLISH}
    home = {ENGLISH: "index.html", **{code: f"{code}.html" for code in others}}
    puzzle = {ENGLISH: "puzzle.html", **{code: f"puzzle-{code}.html" for code in others}}
    for code in LANGUAGES:
        app = {"name": "2048", "lang": code, "start_url": home[code], "display": "standalone"}
        files[f"{code}.webmanifest"] = json.dumps({**app, "icons": manifest["icons"]}).encode()
        places = {"home": home[code], "puzzle_page": puzzle[code], "app": f"{code}.webmanifest"}
        with use_language(code):
            facts = {"asset": address, "version": __version__, **places, **play_page()}
            facts |= {"versions": home, "modules": module_names("page", "play", "replay")}
            facts["game_page"] = render_text("game.html", **facts)
            files[home[code]] = render_text("play.html", **facts).encode()
            facts |= {"versions": puzzle, "modules": module_names("page", "solve")}
            files[puzzle[code]] = render_text("puzzle.html", **facts).encode()
    for icon in manifest["icons"]:
        address(icon["src"])
    files["worker.js"] = _worker(files)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def _worker(files: dict[str, bytes]) -> bytes:
    """Return the service worker, which caches all files except the larger networks."""
    later = "networks/"
    kept = [name for name in files if not name.startswith(later) or name.endswith("classic.js")]
    kept.sort(key=lambda name: name != "index.html")  # the folder's URL returns the first file
    version = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:12]
    call = json.dumps([version, kept, later])
    return assets().content("js/site-worker.js") + f"serve(...{call});\n".encode()


if __name__ == "__main__":
    build(Path(sys.argv[1]))
