"""Static files: versioned, cached and compressed."""

from __future__ import annotations

import gzip
import re

from web_server import Browser

from py2048.server.http.assets import STATIC


def test_files_have_the_version_of_their_contents(browser: Browser) -> None:
    """Files of the current version may be cached forever, others not at all."""
    page = browser.get("/").text
    versions = set(re.findall(r"/static/([^/]+)/", page))
    assert len(versions) == 1
    (version,) = versions
    assert re.fullmatch("[0-9a-f]{12}", version)
    for path, lasts in (
        (f"/static/{version}/js/play.js", True),
        ("/static/js/play.js", False),
        ("/static/0123456789ab/js/play.js", False),
    ):
        answer = browser.get(path)
        assert answer.status == 200
        assert ("immutable" in answer.headers["cache-control"]) is lasts
        assert ("no-cache" in answer.headers["cache-control"]) is not lasts
        assert "import" in answer.text
    for path in ("/static/", f"/static/{version}/", "/static/js/../app.py", "/static/js/none.js"):
        assert browser.get(path).status == 404


def test_scripts_are_sent_without_comments_and_indentation(browser: Browser) -> None:
    """Scripts keep their line numbers, and no text over several lines, which would change."""
    for path in STATIC.glob("js/*.js"):
        sent = browser.get(f"/static/js/{path.name}").text.splitlines()
        lines = [line.lstrip() for line in path.read_text().splitlines()]
        pairs = list(zip(sent, lines, strict=True))
        assert all(line in ("", there) for line, there in pairs)
        assert all(re.match(r"\s*(//|/\*\*|\*)", there) for line, there in pairs if line != there)
        assert not any(re.match(r"(//|/\*\*)", line) or line.count("`") % 2 for line in sent)


def test_answers_are_compressed_for_those_who_take_it(browser: Browser) -> None:
    """Compressed and uncompressed responses have the same content."""
    style = re.search(r"/static/[^/]+/css/themes\.css", browser.get("/").text)
    for path in (style[0], "/about", "/api/rules"):
        plain, packed = browser.get(path), browser.get(path, Accept_Encoding="br, gzip")
        assert plain.headers["content-encoding"] is None
        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(packed.body) == plain.body
        assert len(packed.body) < len(plain.body) / 2
        assert "accept-encoding" in packed.headers["vary"].lower()


def test_pages_with_secrets_are_not_compressed(browser: Browser) -> None:
    """Pages that may show secrets are not compressed, so their length reveals nothing."""
    answer = browser.get("/account", Accept_Encoding="gzip")
    assert answer.status == 200
    assert answer.headers["content-encoding"] is None
