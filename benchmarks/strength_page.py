"""Tables and plots of docs/strength.md, from the results of benchmarks/strength.py."""

from __future__ import annotations

import csv
import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, count, groupby
from pathlib import Path
from typing import Any

from py2048 import Rules
from py2048.lab.arena import GameResult, PlayerSummary
from py2048.lab.arena.report import number, percent, plus_minus
from py2048.lab.arena.statistics import summary
from py2048.players.ntuple.weights import digest_of, shipped_path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "strength"
PAGE = HERE.parent / "docs" / "strength.md"
IMAGES = PAGE.parent / "images"
SETTINGS = tomllib.loads((HERE / "strength.toml").read_text(encoding="utf-8"))

TILES = (2048, 4096, 8192, 16384, 32768, 65536)
LARGE = TILES[3:]
MEASURED = "our measurement"
"""Value of `source` in strength.toml for other programs that we measured."""
STRONG = 600_000
"""Quoted programs with a lower mean score are left out."""
BLOCK = re.compile(r"(<!-- (?!end)(\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

COLUMNS = ("score", "max_tile", "moves")
"""Names of the columns in a result file."""

Data = Mapping[str, Any]


def write() -> None:
    """Update the page and its plots."""
    PAGE.write_text(page_with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    draw_strength(IMAGES / "strength.png")
    if (RESULTS / "training.csv").exists():
        draw_training(IMAGES / "training.png")


def page_with_tables(page: str) -> str:
    """Replace each block from ``<!-- name -->`` to its end marker with the current table."""
    return BLOCK.sub(lambda m: f"{m[1]}\n{BLOCKS[m[2]]()}\n\n{m[3]}", page)


# --- results ---------------------------------------------------------------------------


def rows() -> list[tuple[Data, PlayerSummary]]:
    """Return the results with their summaries, in the order of strength.toml.

    Results of earlier weights are left out.
    """
    found = []
    for row in SETTINGS["row"]:
        path = RESULTS / f"{row['name']}.json"
        data = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        if data and data["weights"] in ("", weights_of(Rules.parse(data["rules"]))):
            found.append((data, summary(data["player"], list(games_of(data)))))
    return found


def games_of(data: Data) -> Iterator[GameResult]:
    """Yield a result's games. Each game's share of the total time is proportional to its moves."""
    missing = set(data["missing"])
    numbers = (each for each in count() if each not in missing)
    pace = data["seconds"] / (sum(data["moves"]) or 1)
    columns = zip(*(data[name] for name in COLUMNS), strict=True)
    for each, (score, tile, moves) in zip(numbers, columns, strict=False):
        yield GameResult(data["player"], each, 0, score, tile, moves, pace * moves)


def weights_of(rules: Rules) -> str:
    """Return the digest of the shipped weights, or an empty string."""
    path = shipped_path(rules)
    return digest_of(path) if path else ""


def _rules(data: Data) -> str:
    return Rules.parse(data["rules"]).name


# --- tables --------------------------------------------------------------------------------------


def classic_table() -> str:
    """Return the table of our players under the classic rules, fastest first."""
    found = [(data, each) for data, each in rows() if _rules(data) == "classic"]
    found.sort(key=lambda pair: -pair[1].moves_per_second)
    head = ["player", "ms a move", "games", "mean score", *map(str, TILES)]
    return table(head, [[*_row(data, each), *_reached(each)] for data, each in found])


def others_table() -> str:
    """Return the table of other programs measured here, weakest first."""
    return _others(other for other in SETTINGS["other"] if other["source"] == MEASURED)


def quoted_table() -> str:
    """Return the table of the strongest quoted programs."""
    return _others(
        other
        for other in SETTINGS["other"]
        if other.get("mean", 0) >= STRONG and other["source"] != MEASURED
    )


def _others(others: Iterable[Data]) -> str:
    head = ["program", "setting", "ms a move", "games", "mean score", *map(str, LARGE)]
    found = sorted(others, key=lambda other: other.get("mean", math.inf))
    return table(head, [_other_row(other) for other in found], texts=2)


def rules_table() -> str:
    """Return the table of our players under other rules."""
    found = [(data, each) for data, each in rows() if _rules(data) != "classic"]
    head = ["player", "rules", "ms a move", "games", "mean score", "largest tile"]
    cells = []
    for data, each in found:
        player, *rest = _row(data, each)
        tile, reached = max(each.tiles.items())
        cells.append([player, _rules(data), *rest, f"{tile} in {percent(reached.share)}"])
    return table(head, cells, texts=2)


def nodes_table() -> str:
    """Return the table of nodes per second."""
    path = RESULTS / "nodes.json"
    if not path.exists():
        return "Not measured yet."
    searches = json.loads(path.read_text(encoding="utf-8"))["searches"]
    cells = [
        [each["search"], f"{each['nodes'] / each['seconds'] / 1e6:.1f} million"]
        for each in searches
    ]
    return table(["search", "nodes/s"], cells)


def training_table() -> str:
    """Return the table of mean scores by minute of training, for py2048 and TDL2048."""
    path = RESULTS / "training.json"
    if not path.exists():
        return "Not measured yet."
    curves = _curves()
    minutes = range(1, int(curves["py2048"][-1][0] // 60) + 1, 2)
    cells = [
        [str(minute), *(number(_at(each, 60 * minute)) for each in curves.values())]
        for minute in minutes
    ]
    data = json.loads(path.read_text(encoding="utf-8"))
    judged = f"{data['mean']:,.0f} ± {data['error']:,.0f} over {data['games']:,} games"
    means = table(["minutes", *curves], cells)
    network = "With learning turned off, py2048's trained network"
    return f"{means}\n\n{network} has a mean score of {judged}."


def machine_text() -> str:
    """Describe the machine that produced the newest results."""
    found = rows()
    if not found:
        return "Nothing is measured yet."
    return "\n".join(f"- {name}: {value}" for name, value in found[-1][0]["machine"].items())


BLOCKS = {
    "classic": classic_table,
    "others": others_table,
    "quoted": quoted_table,
    "rules": rules_table,
    "nodes": nodes_table,
    "training": training_table,
    "machine": machine_text,
}


def _row(data: Data, each: PlayerSummary) -> list[str]:
    wanted = "" if each.games >= data["wanted"] else f" of {data['wanted']:,}"
    games, ms = f"{each.games:,}{wanted}", f"{1000 / each.moves_per_second:.3g}"
    return [f"`{each.player}`", ms, games, plus_minus(each.score)]


def _reached(each: PlayerSummary) -> list[str]:
    return [percent(share) if share else "0" for share in _shares(each)]


def _shares(each: PlayerSummary) -> list[float]:
    """Return the share of games that reached each tile."""
    least, most = min(each.tiles), max(each.tiles)
    return [1.0 if t < least else 0.0 if t > most else each.tiles[t].share for t in TILES]


def _other_row(other: Data) -> list[str]:
    pace, games, error = other.get("moves_per_second"), other.get("games"), other.get("error")
    reached = other.get("reached", {})
    mean = f"{other['mean']:,}" + (f" ± {error:,}" if error else "") if "mean" in other else ""
    shares = (reached.get(str(tile)) for tile in LARGE)
    return [
        other["program"],
        other["setting"],
        f"{1000 / pace:.3g}" if pace else "",
        f"{games:,}" if games else "",
        mean,
        *("" if share is None else f"{100 * share:g} %" for share in shares),
    ]


def table(head: Sequence[str], cells: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Return a Markdown table whose first `texts` columns hold text and the others numbers."""
    if not cells:
        return "Not measured yet."
    rule = ["---" if column < texts else "--:" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *cells))


# --- curves and pictures -------------------------------------------------------------------------

Curve = list[tuple[float, float]]
"""A learning curve: pairs of training seconds and mean scores."""


def _curves() -> dict[str, Curve]:
    """Return the learning curves of py2048 and of TDL2048, by name."""
    card = {"py2048 on a GPU": _our_curve("card")} if (RESULTS / "card.csv").exists() else {}
    theirs = {SETTINGS["training"]["program"]: _their_curve()}
    return {"py2048": _our_curve("training"), **card, **theirs}


def _our_curve(name: str) -> Curve:
    with (RESULTS / f"{name}.csv").open(encoding="utf-8") as file:
        return [(float(row["seconds"]), float(row["mean"])) for row in csv.DictReader(file)]


def _their_curve() -> Curve:
    """Return the learning curve of TDL2048.

    Only the total training time is known. It is divided in proportion to the points scored, because
    the points per second stay about the same during training.
    """
    training = SETTINGS["training"]
    means, seconds = training["means"], training["seconds"]
    return [
        (seconds * made / sum(means), mean)
        for made, mean in zip(accumulate(means), means, strict=True)
    ]


def _at(curve: Curve, seconds: float) -> float:
    """Return the first mean score at or after `seconds`, or NaN after the curve's end."""
    return next((mean for when, mean in curve if when >= seconds), float("nan"))


def draw_strength(path: Path) -> None:
    """Plot mean scores against the time per move, for our players and other programs."""
    from matplotlib.colors import TABLEAU_COLORS
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5.5), layout="constrained")
    axes = figure.subplots()
    axes.set_prop_cycle(color=[*TABLEAU_COLORS, "black", "navy", "darkgreen", "gold", "maroon"])
    ours = [each for data, each in rows() if _rules(data) == "classic"]
    points = [(_series_of(e.player), 1000 / e.moves_per_second, e.score.mean) for e in ours]
    _draw_series(axes, "o-", points)
    timed = [each for each in SETTINGS["other"] if "moves_per_second" in each]
    points = [(each["program"], 1000 / each["moves_per_second"], each["mean"]) for each in timed]
    _draw_series(axes, "x", points)  # a program has a point for each of its settings
    axes.set(xscale="log", xlabel="ms a move, one core", ylabel="mean score", ylim=(0, None))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(alpha=0.3)
    figure.legend(fontsize=8, loc="outside right upper")
    figure.savefig(path, dpi=110, metadata={"Software": None})


def _series_of(player: str) -> str:
    """Return the name of a player's line in the plot."""
    name, _, options = player.partition(":")
    network = ", network" if "evaluation=ntuple" in options else ""
    limit = {"ms": ", by time", "depth": ", by depth"}.get(options.partition("=")[0], "")
    return f"{name}{network}{limit}"


def _draw_series(axes: Any, style: str, points: list[tuple[str, float, float]]) -> None:
    """Plot the points of each name in one style and colour."""
    for name, group in groupby(sorted(points, key=lambda each: each[0]), lambda each: each[0]):
        _, xs, ys = zip(*sorted(group), strict=True)
        axes.plot(xs, ys, style, markersize=5, linewidth=1, label=name)


def draw_training(path: Path) -> None:
    """Plot the training curves over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for name, curve in _curves().items():
        axes.plot([when / 60 for when, _ in curve], [mean for _, mean in curve], label=name)
    axes.set(xlabel="minutes of training", ylabel="mean score while learning", ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=110, metadata={"Software": None})
