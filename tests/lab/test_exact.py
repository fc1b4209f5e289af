"""The page on exact values shows the measured results."""

from __future__ import annotations

from tests.scripts import module_of

exact = module_of("benchmarks", "exact")


def test_the_tables_of_the_page_are_made_from_the_results(exact):
    """The page's tables equal those generated from the kept results."""
    text = exact.PAGE.read_text(encoding="utf-8")
    assert exact.page_with_tables(text) == text
    assert {block[2] for block in exact.BLOCK.finditer(text)} == set(exact.BLOCKS)
