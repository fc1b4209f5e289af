"""Plots of tournament results and learning curves, drawn with matplotlib (extra ``plots``)."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from py2048.core.errors import MissingExtraError, TournamentError, os_errors_as
from py2048.core.installation import install_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from py2048.lab.arena import Results
    from py2048.lab.training.run import CurvePoint

FORMATS = (".png", ".svg", ".pdf")


def check_plots(path: Path | None) -> None:
    """Check that a plot can be written to `path`, if a plot is requested.

    Raises:
        TournamentError: If the file suffix is not supported.
        MissingExtraError: If matplotlib is not installed.
    """
    if path is None:
        return
    if path.suffix not in FORMATS:
        raise TournamentError(f"cannot draw {path}: end its name in {' or '.join(FORMATS)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError(f"pictures need matplotlib: {install_line('plots')}")


@contextmanager
def _panels(path: Path, count: int = 1, size: tuple[float, float] = (8, 5)) -> Iterator[list[Axes]]:
    """Yield axes side by side with a shared y axis, and then save the figure.

    Raises:
        TournamentError: If the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    panels = list(figure.subplots(1, count, sharey=True, squeeze=False)[0])
    yield panels
    for axes in panels:
        axes.grid(alpha=0.3)
        if axes.get_legend_handles_labels()[1]:
            axes.legend()
    with os_errors_as(TournamentError, f"cannot write {path}"):
        figure.savefig(path, dpi=120)


def draw_results(results: Results, path: Path) -> None:
    """Plot the scores and tiles of a tournament.

    The left panel shows the fraction of games that reached each score. The right panel shows the
    fraction of games that reached each tile, with 95 % intervals.

    Raises:
        TournamentError: If the file cannot be written.
    """
    from py2048.lab.arena import summaries

    tournament = results.tournament
    with _panels(path, 2, (11, 4.5)) as (left, right):
        for each in summaries(results):
            scores = sorted(game.score for game in results.of(each.player).values())
            shares = [1.0, *(1 - index / len(scores) for index in range(len(scores)))]
            label = f"{each.player}: mean {each.score.mean:,.0f}"
            left.step([0, *scores], shares, where="pre", label=label)
            rates = list(each.tiles.values())
            below = [max(rate.share - rate.low, 0.0) for rate in rates]
            above = [max(rate.high - rate.share, 0.0) for rate in rates]
            tiles, reached = list(each.tiles), [rate.share for rate in rates]
            right.errorbar(tiles, reached, [below, above], marker="o", capsize=3)
        left.set(xlabel="score", ylabel="share of games that reach it", ylim=(0, 1.02))
        right.set(xlabel="tile")
        right.set_xscale("log", base=2)
        right.xaxis.set_major_formatter(lambda tile, _: f"{tile:.0f}")
        left.figure.suptitle(f"{tournament.rules.name}, seed {tournament.seed}")


def draw_curve(curve: Sequence[CurvePoint], path: Path) -> None:
    """Plot a learning curve: the mean score against the number of games."""
    with _panels(path) as (axes,):
        axes.plot([p.games for p in curve], [p.mean for p in curve], label="while learning")
        if judged := [point for point in curve if point.evaluated]:
            axes.errorbar(
                [point.games for point in judged],
                [point.evaluated for point in judged],
                [2 * point.evaluated_error for point in judged],
                label="without learning, ± 2 standard errors",
            )
        axes.set(xlabel="games", ylabel="mean score", ylim=(0, None))
