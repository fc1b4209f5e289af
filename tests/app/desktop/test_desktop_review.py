"""Reviews, the coach and practice in the desktop game."""

from __future__ import annotations

import tkinter as tk
from dataclasses import replace
from typing import Any

import pytest
from tests.app.controller.reviewing import FAULTS, MOVES, ended_record, known_record, leveled_review

from py2048.app.desktop.board_windows import PracticeWindow, ReviewWindow
from py2048.app.desktop.dialogs import ListDialog
from py2048.app.session import Session, open_session
from py2048.presentation.screen import CoachStatus

pytestmark = pytest.mark.gui


def opened(desk: Any) -> Any:
    """Wait for the review window and the complete review, and go to the first move."""
    dialog = desk.until(lambda: desk.dialog)
    assert isinstance(dialog, ReviewWindow)
    desk.until(lambda: dialog.review.review is not None)
    desk.until(dialog.winfo_viewable)
    desk.focus(dialog.view)
    desk.key("Home")  # it opens at the first mistake
    return dialog


def shown(widget: Any) -> list[str]:
    """Return all texts of a widget and its children."""
    own = [str(widget["text"])] if "text" in widget.keys() else []  # noqa: SIM118 - of Tk
    return sum(map(shown, widget.winfo_children()), own)


def review(desk: Any) -> Any:
    """Open the review of the known game."""
    desk.app.controller.reviews.open(known_record())
    return opened(desk)


@pytest.mark.usefixtures("known_judge")
def test_keys_and_buttons_go_to_each_mistake(desk):
    """Keys and buttons go to each mistake, show its grade, and let the player try it again."""
    dialog = review(desk)
    for ply, grade in FAULTS.items():
        desk.key("Down")
        assert dialog.review.index + 1 == ply
        seen = shown(dialog)
        assert [text for text in seen if text.lower().startswith(f"{grade} ")]
        assert f"Move {ply} of {MOVES}" in seen
        assert "best" in seen
    dialog.buttons["previous_mistake"].invoke()
    assert dialog.review.index + 1 == sorted(FAULTS)[-2]
    dialog.retry.invoke()
    assert not dialog.view.find_withtag("hint")
    assert "best" not in shown(dialog)
    desk.key(str(dialog.review.move.best).capitalize())
    assert any(text.startswith("Yes, ") for text in shown(dialog))
    desk.key("Home", "Right", "Right", "Left", "Next")
    assert dialog.review.index == 11
    assert dialog.view.board == dialog.review.board
    desk.key("Escape")
    assert desk.dialog is None


@pytest.mark.usefixtures("known_judge")
def test_the_board_shows_the_move_played_and_the_best_one(desk):
    """Both sides are marked if they differ, and a single one if the best move was played."""
    dialog = review(desk)
    assert len(dialog.view.find_withtag("hint")) == 1
    desk.key("n")
    assert len(dialog.view.find_withtag("hint")) == 2
    assert len(dialog.graph.find_withtag("tick")) == len(FAULTS)


def test_a_review_at_a_level_shows_reasons_and_lines_and_leads_to_practice(desk, monkeypatch):
    """S shows typical moves, then the review is back. F leads to practice."""
    left: list[str] = []
    desk.app.show_review(leveled_review(), left.append)
    dialog = opened(desk)
    desk.key("n")
    seen, start = " ".join(shown(dialog)), dialog.review.board
    for text in (
        "Level: Casual",
        "Your chance of 64",
        "leave the corner: 2 times",
        "random moves 0 %",
    ):
        assert text in seen
    desk.key("s")
    assert "Typical moves after" in " ".join(shown(dialog))
    desk.until(lambda: dialog.view.board != start)
    monkeypatch.setattr("py2048.app.desktop.board_windows.FRAME_S", 0.0)
    desk.until(lambda: dialog.review.frame is None)
    assert dialog.view.board == start
    assert dialog.review.headline in " ".join(shown(dialog))
    desk.key("f")
    assert (left, desk.dialog) == (["practice"], None)


@pytest.mark.usefixtures("known_judge")
def test_a_click_on_the_graph_selects_a_move(desk):
    """A click at the right end of the graph selects the last move."""
    dialog = review(desk)
    width = desk.until(lambda: dialog.graph.winfo_viewable() and dialog.graph.winfo_width())
    desk.click(width - 1, 30, dialog.graph)
    assert dialog.review.index == MOVES - 1


@pytest.mark.usefixtures("known_judge")
def test_the_end_covers_the_board_and_offers_the_review(open_desk):
    """The overlay has a button that opens the review, and undo removes it."""
    session = Session()
    session.start_from(known_record())
    desk = open_desk(session, reduced_motion=True)
    while not session.game.is_over:
        desk.show(session.move(session.game.legal_directions()[0]))
    desk.pump()
    window = desk.window
    desk.until(lambda: window.panel)
    assert window.result.title == "Game over"
    window.panel.buttons["review"].invoke()
    dialog = opened(desk)
    assert dialog.review.record.turns == session.record().turns
    assert len(dialog.review) == session.game.ply
    dialog.close()
    desk.key("u", widget=desk.board)
    assert window.result is window.panel is None
    assert not desk.board.find_withtag("banner")


@pytest.mark.usefixtures("known_judge")
def test_a_watched_record_can_be_reviewed(desk):
    """The viewer has a button that opens the review of its record."""
    desk.app.watch(known_record())
    viewer = desk.until(lambda: desk.dialog)
    (button,) = [
        each
        for row in viewer.body.winfo_children()
        for each in row.winfo_children()
        if getattr(each, "text", "") == "Review"
    ]
    button.invoke()
    assert opened(desk).review.record == known_record()


# Coach and practice


@pytest.mark.usefixtures("known_judge")
def test_the_coach_shows_and_hides_its_bar(desk):
    """C turns on the coach, whose comments leave the board as large as it was; C turns it off."""
    height = desk.board.winfo_height()
    desk.key("c")
    assert "The coach judges your moves" in shown(desk.window.header)
    desk.play(3)
    desk.until(lambda: "accuracy 100 %" in shown(desk.window.header))
    assert desk.session.category == "assisted"
    desk.app.show_coach(CoachStatus("? Mistake", ("62 % for 512",)))
    assert desk.window.line.text == "? Mistake"
    desk.pump()
    assert desk.board.winfo_height() == height
    desk.key("c")
    assert "62 % for 512" not in shown(desk.window.header)
    assert desk.board.winfo_height() == height


@pytest.mark.usefixtures("known_judge")
def test_a_level_is_chosen_from_a_menu(desk, monkeypatch):
    """The level button of a review lists the levels; a choice is remembered."""
    menus: list[tk.Menu] = []
    monkeypatch.setattr(tk.Menu, "tk_popup", lambda menu, *_place: menus.append(menu))
    review(desk).level.invoke()
    (menu,) = menus
    first, second, *_, last = (
        menu.entrycget(each, "label") for each in range(menu.index("end") + 1)
    )
    assert (first[:3], second, last[:7]) == ("You", "Expert", "Perfect")
    menu.invoke(1)
    assert desk.session.get_setting("level") == "expert"


@pytest.mark.usefixtures("known_judge")
def test_mistakes_of_a_review_are_practised(open_desk):
    """Reviewed mistakes can be practised with keys, mouse and buttons."""
    session = open_session("sqlite://")
    session.start_from(replace(ended_record(), player=""))
    desk = open_desk(session, reduced_motion=True)
    desk.key("b")
    desk.until(lambda: "3 new in your notebook" in desk.dialog.review.state)
    desk.key("q")
    desk.key("f")
    desk.until(lambda: isinstance(desk.dialog, ListDialog))
    desk.key("Return", widget=desk.dialog.table)
    desk.until(lambda: isinstance(desk.dialog, PracticeWindow))
    window = desk.dialog
    assert "Mistake 1 of 3" in window.line.cget("text")
    desk.focus(window.view)
    desk.key("Return", widget=window.view)
    assert "Make a move first." in window.feedback.text
    first, *_ = window.practice.board.legal_directions()
    desk.key(str(first).capitalize(), widget=window.view)
    assert "In your game you went" in window.feedback.text
    window.next.invoke()
    assert "Mistake 2 of 3" in window.line.cget("text")
    desk.until(window.view.winfo_viewable)
    middle = window.view.winfo_width() / 2, window.view.winfo_height() / 2
    first, *_ = window.practice.board.legal_directions()
    far = {"up": (0, -90), "down": (0, 90), "left": (-90, 0), "right": (90, 0)}[str(first)]
    desk.drag(middle, (middle[0] + far[0], middle[1] + far[1]), window.view)
    assert "In your game you went" in window.feedback.text
    desk.key("q", widget=window.view)
    assert desk.dialog is None
    assert len(session.notebook().due()) == 1
