"""The results of a contest as a picture; needs matplotlib, which the extra ``plots`` brings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from py2048.arena.contest import Results
from py2048.arena.summary import Summary, summaries
from py2048.errors import ContestError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FORMATS = (".png", ".svg", ".pdf")


def check_plots(path: Path) -> None:
    """Make sure that a picture can be drawn and has a format that `path` names.

    Raises:
        ContestError: if its ending is not that of a picture.
        MissingExtraError: if matplotlib is not installed.
    """
    if path.suffix not in FORMATS:
        raise ContestError(f"cannot draw {path}: end its name in {' or '.join(FORMATS)}")
    try:
        import matplotlib  # noqa: F401 - whether it is there is the question
    except ImportError:
        raise MissingExtraError(
            "pictures are drawn by matplotlib: pip install 'py2048[plots]'"
        ) from None


def draw_results(results: Results, path: Path) -> None:
    """Draw scores and tiles as a PNG, SVG or PDF, by the ending of `path`.

    On the left, the share of games in which a player makes at least so many points; on the right,
    in which it reaches a tile, with 95 % intervals.

    Raises:
        ContestError: if the picture cannot be written.
        MissingExtraError: if matplotlib is not installed.
    """
    check_plots(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for each in summaries(results):
        _draw_scores(left, results, each)
        _draw_tiles(right, each)
    left.set(xlabel="score", ylabel="share of games that reach it", ylim=(0, 1.02))
    right.set(xlabel="tile")
    right.set_xscale("log", base=2)
    right.xaxis.set_major_formatter(lambda tile, _: f"{tile:.0f}")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    left.legend()
    figure.suptitle(f"{results.contest.rules.name}, seed {results.contest.seed}")
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise ContestError(f"cannot write {path}: {error.strerror or error}") from None


def _draw_scores(axes: Axes, results: Results, each: Summary) -> None:
    scores = sorted(game.score for game in results.of(each.player).values())
    shares = [1.0, *(1 - index / len(scores) for index in range(len(scores)))]
    label = f"{each.player}: mean {each.score.mean:,.0f}"
    axes.step([0, *scores], shares, where="pre", label=label)


def _draw_tiles(axes: Axes, each: Summary) -> None:
    rates = list(each.tiles.values())
    spread = [
        [max(rate.share - rate.low, 0.0) for rate in rates],
        [max(rate.high - rate.share, 0.0) for rate in rates],
    ]
    axes.errorbar(list(each.tiles), [rate.share for rate in rates], spread, marker="o", capsize=3)
