"""The page's modules that need no browser, tested in Node; their translations and types."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from py2048.core.language import ENGLISH, LANGUAGES
from py2048.server.http.assets import STATIC

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import protocol_types  # noqa: E402 - a script

SCRIPTS = STATIC / "js"
TESTS = Path(__file__).with_name("page")
MARKED = re.compile(r'\b(?:_|ngettext)\(\s*("(?:[^"\\]|\\.)*")')

KEY = re.compile(r'^("(?:[^"\\]|\\.)+"): ', re.MULTILINE)


def node() -> str:
    """Return the path of Playwright's Node, or of another one."""
    playwright = pytest.importorskip("playwright", reason="make test installs it")
    found = Path(playwright.__file__).parent / "driver" / "node"
    return str(found) if found.exists() else shutil.which("node") or pytest.skip("no Node")


@pytest.mark.parametrize("path", sorted(TESTS.glob("*.test.js")), ids=lambda path: path.stem)
def test_in_node(path: Path) -> None:
    """All tests of a file pass in Node."""
    command = [node(), "--test", "--no-warnings", str(path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("code", set(LANGUAGES) - {ENGLISH})
def test_every_text_of_the_scripts_is_translated(code: str) -> None:
    """Every marked text has a translation, also inside template literals."""
    translated = {
        json.loads(text)
        for path in SCRIPTS.glob(f"messages-{code}*.js")
        for text in KEY.findall(path.read_text(encoding="utf-8"))
    }
    marked = {
        json.loads(text)
        for path in SCRIPTS.glob("*.js")
        for text in MARKED.findall(path.read_text(encoding="utf-8"))
    }
    assert len(marked) > 100
    assert marked - translated == set()


def test_the_declared_protocol_is_the_servers() -> None:
    """The declared types match the schema; if not, run `make messages`."""
    assert protocol_types.PATH.read_text(encoding="utf-8") == protocol_types.declarations()


def test_all_modules_of_the_page_for_playing_are_preloaded() -> None:
    """The page preloads all modules, so that browsers fetch them in one round trip."""
    page = (STATIC.parent / "templates" / "play.html").read_text(encoding="utf-8")
    preloaded = set(re.findall(r'"(\w+)"', page.split("for module in")[1].split("]")[0]))
    found, waiting = set(), {"play"}
    while waiting:
        name = waiting.pop()
        found.add(name)
        text = (SCRIPTS / f"{name}.js").read_text(encoding="utf-8")
        waiting |= set(re.findall(r'^import [^;]*?"\./(\w+)\.js"', text, re.MULTILINE)) - found
    assert preloaded == found - {"play", "page"}  # these two are scripts of the page
