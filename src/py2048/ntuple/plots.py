"""Learning curves as pictures; needs matplotlib, which the extra ``plots`` brings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from py2048.errors import MissingExtraError

if TYPE_CHECKING:
    from py2048.ntuple.campaign import Point


def check_plots() -> None:
    """Make sure that pictures can be drawn.

    Raises:
        MissingExtraError: if matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "curves are drawn by matplotlib: pip install 'py2048[plots]'"
        ) from None


def draw_curve(curve: Sequence[Point], path: Path) -> None:
    """Draw the mean scores over the games as a PNG or SVG, by the ending of `path`.

    Raises:
        MissingExtraError: if matplotlib is not installed.
    """
    check_plots()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    games = [point.games for point in curve]
    axes.plot(games, [point.mean for point in curve], label="while learning")
    judged = [point for point in curve if point.evaluated]
    if judged:
        axes.errorbar(
            [point.games for point in judged],
            [point.evaluated for point in judged],
            [2 * point.evaluated_error for point in judged],
            label="without learning, ± 2 standard errors",
        )
    axes.set(xlabel="games", ylabel="mean score", ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)
