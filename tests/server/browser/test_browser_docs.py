"""The documentation has the look of the game's pages, and links to the page that plays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.async_api import expect
from tests.server.browser.test_browser_access import violations
from tests.server.browser.visiting import SIZES, arriving

from py2048.presentation.themes import THEMES

DOCS = Path(__file__).parents[3] / "docs"
WIDE = "wide" * 40
PAGES = {
    "index": "# Home\n\n```{toctree}\npage\n```\n",
    "page": f"# A page\n\n## Table\n\n|a|b|\n|-|-:|\n|`{WIDE}`|2|\n\n## Code\n\n    {WIDE}\n",
}


@pytest.fixture(scope="session")
def docs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of two pages with the documentation's settings."""
    folder = tmp_path_factory.mktemp("docs")
    for name, text in PAGES.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    words = f"sphinx -W -q -c {DOCS} -D extensions=myst_parser,look {folder} {folder}/site/docs"
    subprocess.run([sys.executable, "-m", *words.split()], check=True)
    (folder / "site" / "index.html").write_text("<title>the game</title>", encoding="utf-8")
    return (folder / "site" / "docs").as_uri()


@pytest.mark.parametrize("page", ["index", "page", "search"])
async def test_every_page_fits_and_is_accessible(browser, docs, page):
    """At any width only tables and code scroll; axe finds no faults in any theme."""
    async with arriving(browser) as arrive:
        reader = await arrive(docs)
        await reader.page.goto(f"{docs}/{page}.html")
        for width, height in SIZES.values():
            await reader.page.set_viewport_size({"width": width, "height": height})
            assert await reader.page.evaluate(
                "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            )
            assert await violations(reader) == []
        for theme in THEMES:
            await reader.page.select_option("#theme", theme.name)
            assert await violations(reader, ["color-contrast"]) == [], theme.name
        reader.faults.clear()  # axe fetches style sheets, which browsers refuse on disks


async def test_a_reader_finds_the_contents_and_the_game(browser, docs):
    """On a phone, a button opens the contents; the chosen theme stays; a link leads to the game."""
    async with arriving(browser) as arrive:
        reader = await arrive(docs, "phone")
        await reader.page.goto(f"{docs}/index.html")
        await reader.page.select_option("#theme", "dark")
        await reader.page.click("text=Contents")
        await reader.page.click("nav >> text=A page")
        await expect(reader.page).to_have_title("A page · py2048")
        await expect(reader.page.locator("html[data-theme=dark]")).to_be_visible()
        await reader.page.click("nav >> text=Play")
        await expect(reader.page).to_have_title("the game")
