"""Measure the figures in docs/explanation/exact.md, and update its tables and plot.

Usage: exact.py values FILE… | regret FILE [--games N] | page

``values`` and ``regret`` read files written by ``py2048 solve RULES --output FILE``. Results are
kept in ``results/exact/``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from strength_page import BLOCK, table

from py2048 import Record
from py2048.lab.arena import Tournament, compare_players
from py2048.lab.arena.statistics import estimate, losses_and_luck
from py2048.players.solving import Solution
from py2048.review.judges import ExactJudge

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "exact"
PAGE = HERE.parent / "docs" / "explanation" / "exact.md"
IMAGE = HERE.parent / "docs" / "images" / "exact-regret.svg"

PLAYERS = ("corner", "greedy", "heuristic", "ntuple", "expectimax:depth=2")
SEED = 2048
CURVE_POINTS = 60

Data = dict[str, Any]


def load_results(name: str) -> dict[str, Data]:
    """Load the results in ``NAME.json``, which may not exist yet."""
    path = RESULTS / f"{name}.json"
    found: dict[str, Data] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def save_result(name: str, key: str, data: Data) -> None:
    """Add a result to ``NAME.json``, which contains one result per line."""
    results = load_results(name) | {key: data}
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(results[k])}" for k in sorted(results))
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


# --- measuring -----------------------------------------------------------------------------------


def measure_values(files: Sequence[Path]) -> None:
    """Save the value and the size of each solution."""
    for file in files:
        solution = Solution.load(file)
        rules = solution.rules
        data: Data = {
            name: getattr(solution, name) for name in ("value", "error", "positions", "seconds")
        }
        data |= {"rows": rules.rows, "columns": rules.columns, "name": rules.name}
        data |= {"goal": str(solution.goal), "layers": len(solution.layers)}
        data["largest"] = max(layer.positions for layer in solution.layers)
        save_result("values", f"{rules} {solution.goal}", data)


def measure_regret(file: Path, games: int) -> None:
    """Play games with each player, and save the mean regret up to each move."""
    solution = Solution.load(file)
    judge = ExactJudge(solution)
    tournament = Tournament(PLAYERS, solution.rules, games, SEED, recorded=True)
    results = compare_players(tournament, jobs=1)
    for player in PLAYERS:
        losses = [
            losses_and_luck(Record.from_json(game.record or ""), judge)[0]
            for game in results.of(player).values()
        ]
        total, longest = estimate([sum(game) for game in losses]), max(map(len, losses))
        step = max(1, longest // CURVE_POINTS)
        plies = range(0, longest + step, step)
        means = [round(sum(sum(game[:ply]) for game in losses) / games, 2) for ply in plies]
        data = {"rules": str(solution.rules), "value": solution.value, "games": games}
        data |= {"regret": total.mean, "error": total.error, "step": step, "means": means}
        save_result("regret", player, data)


# --- page ----------------------------------------------------------------------------------------


def scores_table() -> str:
    """Return the table of expected scores."""
    head = ["rules", "expected score", "± at most", "positions", "layers", "largest layer"]
    cells = [
        [
            _title(each),
            f"{each['value']:,.6f}",
            f"{each['error']:.0e}",
            *(f"{each[name]:,}" for name in ("positions", "layers", "largest")),
        ]
        for each in _solved(for_score=True)
    ]
    return table(head, cells)


def tiles_table() -> str:
    """Return the table of the best possible chances of reaching a tile."""
    head = ["rules", "tile", "highest probability of making it", "± at most", "positions"]
    cells = [
        [
            _title(each),
            each["goal"].removeprefix("tile="),
            f"{each['value']:.12f}",
            f"{each['error']:.0e}",
            f"{each['positions']:,}",
        ]
        for each in _solved(for_score=False)
    ]
    return table(head, cells)


def regret_table() -> str:
    """Return the table of each player's mean loss per game."""
    cells = [
        [
            f"`{player}`",
            f"{each['games']:,}",
            f"{each['regret']:,.1f} ± {each['error']:,.1f}",
            f"{each['regret'] / each['value']:.1%}",
        ]
        for player, each in _regrets()
    ]
    return table(["player", "games", "regret of a game", "of the value"], cells)


BLOCKS = {"scores": scores_table, "tiles": tiles_table, "regret": regret_table}


def page_with_tables(page: str) -> str:
    """Replace each block from ``<!-- name -->`` to its end marker with the current table."""
    return BLOCK.sub(lambda m: f"{m[1]}\n{BLOCKS[m[2]]()}\n\n{m[3]}", page)


def write_page() -> None:
    """Update the tables of the page and draw its plot."""
    import matplotlib as mpl

    PAGE.write_text(page_with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    # Keep text as text in the SVG, and make its element ids reproducible.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "exact", "font.size": 9}):
        draw_regret(IMAGE)


def draw_regret(path: Path) -> None:
    """Draw each player's mean loss over the moves of a game."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots()
    for player, each in _regrets():
        plies = [each["step"] * index for index in range(len(each["means"]))]
        shares = [mean / each["value"] for mean in each["means"]]
        axes.plot(plies, shares, label=f"{player}: {each['regret']:,.0f} points")
    axes.set(xlabel="moves", ylabel="value lost so far", ylim=(0, 1), xlim=(0, None))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


def _solved(*, for_score: bool) -> list[Data]:
    """Return the results for one kind of goal (score or tile), smallest boards first."""
    values = load_results("values").values()
    found = [each for each in values if (each["goal"] == "score") == for_score]
    return sorted(found, key=lambda each: (each["rows"] * each["columns"], each["positions"]))


def _title(each: Data) -> str:
    size = f"{each['rows']}x{each['columns']}"
    return f"`{each['name']}`" if each["name"] == size else f"`{each['name']}:size={size}`"


def _regrets() -> list[tuple[str, Data]]:
    """Return the players with their losses, weakest first."""
    return sorted(load_results("regret").items(), key=lambda pair: -pair[1]["regret"])


def main() -> None:
    """Run the given subcommand."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("values").add_argument("files", type=Path, nargs="+")
    regret = commands.add_parser("regret")
    regret.add_argument("file", type=Path)
    regret.add_argument("--games", type=int, default=200)
    commands.add_parser("page")
    options = parser.parse_args()
    if options.command == "values":
        measure_values(options.files)
    elif options.command == "regret":
        measure_regret(options.file, options.games)
    else:
        write_page()


if __name__ == "__main__":
    main()
