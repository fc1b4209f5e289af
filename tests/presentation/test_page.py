"""Reviews as HTML pages."""

from __future__ import annotations

from tests.app.controller.reviewing import known_review, leveled_review

from py2048.presentation.page import page


def test_a_page_at_a_level_gives_chances_and_reasons():
    """It has a line for each of the next two tiles, and neither luck nor phases."""
    text = page([leveled_review().review])
    for wanted in (
        "at level Casual",
        "after yours",
        "corner left",
        "You leave the corner: 2 times",
    ):
        assert wanted in text
    assert text.count("<polyline") == 2
    for unknown in ("<h2>Phases", "luck", "Points still to come"):
        assert unknown not in text


def test_a_page_of_perfect_play_has_luck_and_phases():
    """It has a single line, and needs nothing from elsewhere."""
    text = page([known_review().review])
    assert text.count("<polyline") == 1
    for wanted in ("<h2>Phases", "luck", "Points still to come", "Critical moments"):
        assert wanted in text
    for unknown in ("<script", "http"):
        assert unknown not in text
