"""Pictures of results and learning curves; they need matplotlib, from the extra ``plots``."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py2048.errors import MissingExtraError, RecordError, TournamentError, os_errors_as

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from py2048.arena import PlayerSummary, Results
    from py2048.ntuple.network import StageRecord
    from py2048.review.report import Report, Section, Totals
    from py2048.training.ascent import StretchPoint
    from py2048.training.run import CurvePoint

FORMATS = (".png", ".svg", ".pdf")


def check_plots(path: Path | None = None) -> None:
    """Make sure that a picture can be drawn, in a format that the name of `path` ends in.

    Raises:
        TournamentError: if no format is known by that ending.
        MissingExtraError: if matplotlib is not installed.
    """
    if path is not None and path.suffix not in FORMATS:
        raise TournamentError(f"cannot draw {path}: end its name in {' or '.join(FORMATS)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("pictures need matplotlib: pip install 'py2048[plots]'")


def draw_results(results: Results, path: Path) -> None:
    """Draw the scores and tiles of a tournament.

    On the left, the share of games in which a player makes at least so many points; on the right,
    in which it reaches a tile, with 95 % intervals.

    Raises:
        TournamentError: if the picture cannot be written.
    """
    from matplotlib.figure import Figure

    from py2048.arena import summaries

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
    figure.suptitle(f"{results.tournament.rules.name}, seed {results.tournament.seed}")
    with os_errors_as(TournamentError, f"cannot write {path}"):
        figure.savefig(path, dpi=120)


def _draw_scores(axes: Axes, results: Results, each: PlayerSummary) -> None:
    scores = sorted(game.score for game in results.of(each.player).values())
    shares = [1.0, *(1 - index / len(scores) for index in range(len(scores)))]
    label = f"{each.player}: mean {each.score.mean:,.0f}"
    axes.step([0, *scores], shares, where="pre", label=label)


def _draw_tiles(axes: Axes, each: PlayerSummary) -> None:
    rates = list(each.tiles.values())
    spread = [
        [max(rate.share - rate.low, 0.0) for rate in rates],
        [max(rate.high - rate.share, 0.0) for rate in rates],
    ]
    axes.errorbar(list(each.tiles), [rate.share for rate in rates], spread, marker="o", capsize=3)


def draw_curve(curve: Sequence[CurvePoint], path: Path) -> None:
    """Draw a learning curve: mean scores by the number of games."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    games = [point.games for point in curve]
    axes.plot(games, [point.mean for point in curve], label="while learning")
    if judged := [point for point in curve if point.evaluated]:
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


def draw_ascent(points: Sequence[StretchPoint], path: Path) -> None:
    """Draw how many boards of each band make its tile, by depth and moves of training."""
    from matplotlib.figure import Figure

    bands = sorted({point[:2] for point in points})
    figure = Figure(figsize=(2 + 4 * len(bands), 5), layout="constrained")
    places = figure.subplots(1, max(len(bands), 1), sharey=True, squeeze=False)[0]
    for axes, (tile, least) in zip(places, bands, strict=False):
        of_band = [point for point in points if point[:2] == (tile, least)]
        for number, depth in enumerate(sorted({point.depth for point in of_band})):
            _draw_stretch(axes, [p for p in of_band if p.depth == depth], f"C{number}")
        axes.set(title=f"largest tile {tile}, sum from {least}", xlabel="million moves of training")
        axes.set_xlim(left=0)
        axes.grid(alpha=0.3)
        axes.legend()
    places[0].set(ylim=(0, 100), ylabel="% of held-out boards that make the tile")
    figure.savefig(path, dpi=110, metadata={"Software": None})


def _draw_stretch(axes: Axes, points: Sequence[StretchPoint], colour: str) -> None:
    """Draw what came at one depth, and as a line what came before the training."""
    trained = [point for point in points if point.moves]
    axes.errorbar(
        [point.moves / 1e6 for point in trained],
        [100 * point.last_stretch.share for point in trained],
        [100 * point.last_stretch.error for point in trained],
        color=colour,
        marker=".",
        capsize=3,
        label=f"depth {points[0].depth}, ± standard error",
    )
    for point in [point for point in points if not point.moves][-1:]:
        label = f"depth {point.depth}, before"
        axes.axhline(100 * point.last_stretch.share, color=colour, linestyle=":", label=label)


def draw_stretches(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw how many of the saved boards of each stage make a tile, by player.

    Args:
        rows: what ``evaluate --from-boards --json`` prints.
        path: the picture.

    Raises:
        TournamentError: if the picture cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    players = list(dict.fromkeys(row["player"] for row in rows))
    stages = sorted({row["stage"] for row in rows})
    for number, player in enumerate(players):
        own = [row for row in rows if row["player"] == player]
        axes.errorbar(
            [stages.index(row["stage"]) + 0.1 * (number - (len(players) - 1) / 2) for row in own],
            [100 * row["share"] for row in own],
            [100 * row["error"] for row in own],
            marker="o",
            linestyle="",
            capsize=3,
            label=player,
        )
    axes.set_xticks(range(len(stages)), [f"{tile:,}\nsum {least:,}" for tile, least in stages])
    axes.set(xlabel="largest tile and sum of the boards", ylim=(0, 100))
    axes.set_ylabel("% that make the tile, ± standard error")
    axes.grid(axis="y", alpha=0.3)
    axes.legend()
    with os_errors_as(TournamentError, f"cannot write {path}"):
        figure.savefig(path, dpi=110)


def draw_calibration(rows: Sequence[StageRecord], path: Path) -> None:
    """Draw by how much a network expects too many points, over the sum of the board."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    errors = [2 * row.error for row in rows]
    axes.errorbar(
        [max(row.tile, row.least) for row in rows],
        [row.excess for row in rows],
        errors,
        marker="o",
        capsize=3,
    )
    axes.set(xlabel="sum of the board", ylabel="points expected less those that came")
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda total, _: f"{total:.0f}")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def draw_report(report: Report, folder: Path) -> None:
    """Draw a player's games over time, a picture for each question, into `folder`.

    Each is an SVG with a title that says what it shows; series differ in their marks, too.

    Raises:
        RecordError: if a picture cannot be written.
    """
    with os_errors_as(RecordError, f"cannot write into {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        weekly = {
            "accuracy": ("accuracy in %", lambda totals: totals.accuracy),
            "mistakes": ("mistakes in 100 moves", lambda totals: totals.mistakes),
            "speed": ("moves a minute", lambda totals: totals.speed),
            "scores": ("mean score", lambda totals: totals.score),
            "luck": ("mean luck of a game", lambda totals: totals.luck),
        }
        for name, (label, value) in weekly.items():
            _draw_weeks(report.sections, label, value, folder / f"{name}.svg")
        _draw_largest_tiles(report.sections, folder / "tiles.svg")


_MARKS = "osD^vPX*"


def _draw_weeks(
    sections: Sequence[Section], label: str, value: Callable[[Totals], float | None], path: Path
) -> None:
    from matplotlib.figure import Figure

    from py2048.review.report import UNDATED

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    weeks = sorted({week for section in sections for week in section.weeks} - {UNDATED})
    for index, section in enumerate(sections):
        dated = {week: totals for week, totals in section.weeks.items() if week != UNDATED}
        axes.plot(
            [weeks.index(week) for week in dated],
            [nan if (found := value(totals)) is None else found for totals in dated.values()],
            marker=_MARKS[index % len(_MARKS)],
            label=section.name,
        )
    step = max(1, len(weeks) // 8)
    axes.set_xticks(range(0, len(weeks), step), weeks[::step])
    axes.set(ylabel=label, title=f"{label}, by week")
    _finish(figure, axes, path)


def _draw_largest_tiles(sections: Sequence[Section], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    tiles = sorted({tile for section in sections for tile in section.totals.tiles})
    for index, section in enumerate(sections):
        axes.plot(
            [tiles.index(tile) for tile in section.totals.tiles],
            list(section.totals.tiles.values()),
            marker=_MARKS[index % len(_MARKS)],
            linestyle="none",
            markersize=10,
            label=section.name,
        )
    axes.set_xticks(range(len(tiles)), [f"{tile:,}" for tile in tiles])
    axes.set(xlabel="largest tile", ylabel="games", ylim=(0, None), title="games by largest tile")
    _finish(figure, axes, path)


def _finish(figure: Figure, axes: Axes, path: Path) -> None:
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend()
    figure.savefig(path, metadata={"Title": axes.get_title()})
