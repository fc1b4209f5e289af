"""Reviews as HTML pages."""

from __future__ import annotations

from dataclasses import replace

from tests.app.controller.reviewing import known_review, leveled_review

from py2048.presentation.page import page, report_page
from py2048.review.report import GamesReport, GameSummary


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
    said = "luck took 50.00 %", "Accuracy: random moves 0 %"
    for wanted in ("<h2>Phases", *said, "Points still to come", "Critical moments"):
        assert wanted in text
    for unknown in ("<script", "http"):
        assert unknown not in text


def test_a_report_has_the_sign_of_luck():
    """Luck has a sign and a loss has none."""
    summary = GameSummary.of(known_review().review)
    lucky = replace(summary, unit="points", luck=70.0, loss=50.0)
    assert "<td>+70 points</td><td>50 points</td>" in report_page(GamesReport.of([lucky]))
