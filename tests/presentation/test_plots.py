"""Charts as SVG."""

from __future__ import annotations

import operator
import re
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from py2048 import Direction, Game
from py2048.presentation.plots import HEIGHT, bar_plot, line_plot, score_graph

numbers = st.floats(0.01, 1e9) | st.just(0.0)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.text(st.characters(codec="ascii"), max_size=8), numbers), max_size=40))
def test_bars_are_on_the_picture(bars: list[tuple[str, float]]) -> None:
    """Bar plots are well-formed SVG within their frame, with a few labels."""
    clean = [(re.sub(r"[\0-\x1f\x7f]", "", name), value) for name, value in bars]
    svg = ElementTree.fromstring(bar_plot("some bars", clean))
    assert svg.get("aria-label") == "some bars"
    rects = svg.findall("rect")
    assert len(rects) == len(bars)
    for rect in rects:
        x, y, width, height = (float(rect.get(each, "")) for each in ("x", "y", "width", "height"))
        assert x >= 0 <= y
        assert x + width <= 641
        assert y + height <= 221
    names = [text for text in svg.findall("text") if text.get("y") == str(HEIGHT - 8)]
    assert len(names) * max([len(name) for name, _ in clean], default=0) <= 60


@settings(max_examples=25)
@given(st.lists(st.none() | numbers | numbers.map(operator.neg), min_size=1, max_size=100))
def test_lines_are_on_the_picture(values: list[float | None]) -> None:
    """Each known value is a point of the line within the frame."""
    steps = [f"step {n}" for n in range(len(values))]
    svg = ElementTree.fromstring(line_plot("a line", steps, {"a": values, "b": values}))
    for line in svg.iter("polyline"):
        points = [tuple(map(float, each.split(","))) for each in line.get("points", "").split()]
        assert len(points) == sum(value is not None for value in values)
        assert all(0 <= x <= 640 and 0 <= y <= 220 for x, y in points)


def test_the_numbers_of_a_plot_are_written_out() -> None:
    """Large and negative scores are written without exponents."""
    plots = (
        line_plot("scores", ["a", "b"], {"best": [-600_000, 3_200_000]}),
        bar_plot("games", [("a", 1_500_000)]),
    )
    texts = [text.text for plot in plots for text in ElementTree.fromstring(plot).findall("text")]
    assert texts == ["-1,000,000", "0", "1,000,000", "2,000,000", "3,000,000", "4,000,000",
                     "a", "b", "1,500,000", "a"]  # fmt: skip


def test_the_graph_of_scores_marks_each_new_largest_tile():
    """A score graph marks each new largest tile; a game without turns has none."""
    game = Game("classic", board="2 2 . . / 4 . . . / . . . . / . . . .", seed=1)
    assert score_graph(game.record()) == ""
    dots = []
    for direction in (Direction.LEFT, Direction.UP):  # 4 and 4, then 8
        game.play(direction)
        dots.append(score_graph(game.record()).count("<path class="))
    assert dots == [0, 1]
    (line,) = re.findall('<polyline.*? points="([^"]*)"', score_graph(game.record()))
    assert line.split() == ["0,138", "484,96", "968,12"]
