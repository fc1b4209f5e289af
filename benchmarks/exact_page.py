"""The tables and pictures about exact values, made from what exact.py measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from strength_page import BLOCK, table

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "exact"
PAGES = HERE.parent / "docs" / "explanation" / "exact.md", HERE / "results" / "exact.md"
IMAGES = HERE.parent / "docs" / "images"

POSITIONS_OF_4X3 = 1_152_817_492_752
AFTERSTATES_OF_4X3 = 739_648_886_170
"""As published by T. Kaneko and S. Yamashita, "Strongly Solving 2048 4x3", 2025."""

Data = dict[str, Any]


def write() -> None:
    """Bring the pages and their pictures up to date."""
    import matplotlib as mpl

    for page in PAGES:
        page.write_text(page_with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
    # Text stays text, and the same data make the same file.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "exact", "font.size": 9}):
        draw_starts(IMAGES / "exact-starts.svg")
        draw_survival(IMAGES / "exact-survival.svg")
        draw_regret(IMAGES / "exact-regret.svg")


def page_with_tables(page: str) -> str:
    """Return the text of the page with each block between ``<!-- name -->`` and the end made."""
    return BLOCK.sub(lambda m: f"{m[1]}\n{BLOCKS[m[2]]()}\n\n{m[3]}", page)


def results(name: str) -> dict[str, Data]:
    """Return what was measured, by its key."""
    path = RESULTS / f"{name}.json"
    found: dict[str, Data] = json.loads(path.read_text(encoding="utf-8"))
    return found


# --- tables --------------------------------------------------------------------------------------


def solved(*, for_score: bool) -> list[Data]:
    """Return the values of games for the score, or for a tile, small boards first."""
    found = [each for each in results("values").values() if (each["goal"] == "score") == for_score]
    return sorted(found, key=lambda each: (each["rows"] * each["columns"], each["positions"]))


def _title(each: Data) -> str:
    size = f"{each['rows']}x{each['columns']}"
    return f"`{each['name']}`" if each["name"] == size else f"`{each['name']}:size={size}`"


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
        for each in solved(for_score=True)
    ]
    return table(head, cells)


def tiles_table() -> str:
    """Return the table of chances to make a tile, by play for that tile."""
    head = ["rules", "tile", "greatest chance to make it", "± at most", "positions"]
    cells = [
        [
            _title(each),
            each["goal"].removeprefix("tile="),
            f"{each['value']:.12f}",
            f"{each['error']:.0e}",
            f"{each['positions']:,}",
        ]
        for each in solved(for_score=False)
    ]
    return table(head, cells)


def largest_table() -> str:
    """Return the table of the largest tile at the end of perfect play for the score."""
    found = [each for each in solved(for_score=True) if "survival" in each]
    tiles = sorted({int(tile) for each in found for tile in each["tiles"]})
    cells = [
        [_title(each), *(_chance(each["tiles"].get(str(tile))) for tile in tiles)] for each in found
    ]
    return table(["rules", *map(str, tiles)], cells)


def _chance(share: float | None) -> str:
    if share is None:
        return ""
    return f"{share:.6f}" if share > 1e-6 else f"{share:.0e}"


STAGES = {"find": "boards", "find_again": "boards again", "evaluate": "values", "count": "counts"}


def costs_table() -> str:
    """Return what a position costs, in seconds of a processor and in bytes."""
    head = ["", *(f"`{key.removesuffix(' score')}`" for key in results("costs"))]
    found = list(results("costs").values())
    rows = [["positions", *(f"{each['positions']:,}" for each in found)]]
    for name, stage in STAGES.items():
        seconds = (1e6 * each["processor"].get(name, 0) / each["positions"] for each in found)
        rows.append([f"{stage}: s per million", *(f"{each:.2f}" for each in seconds)])
    rows.append(["together", *(f"**{_seconds(each):.2f}**" for each in found)])
    rows.append(["afterstates for a position", *(f"{_boards(each) - 1:.2f}" for each in found)])
    rows.append(["bytes kept for a position", *(f"{_kept(each):.1f}" for each in found)])
    rows.append(["bytes passed on for a position", *(f"{_passed(each):.1f}" for each in found)])
    rows.append(["memory of the process, MiB", *(f"{each['memory'] >> 20:,}" for each in found)])
    return table(head, rows)


def _seconds(each: Data) -> float:
    """Return the seconds of a processor for a million positions."""
    return float(1e6 * sum(each["processor"].values()) / each["positions"])


def _kept(each: Data) -> float:
    kept = ("before", "after", "values")
    return float(sum(each["bytes"][kind] for kind in kept) / each["positions"])


def _passed(each: Data) -> float:
    return float(sum(each["bytes"][kind] for kind in ("found", "answers")) / each["positions"])


def _boards(each: Data) -> float:
    """Return the boards, positions and afterstates together, for a position."""
    return float(1 + each["bytes"]["after"] / 8 / each["positions"])


def large_table() -> str:
    """Return what 4x3 takes, at the largest costs of a position that were measured."""
    measured = results("costs").values()
    boards = POSITIONS_OF_4X3 + AFTERSTATES_OF_4X3
    days = max(_seconds(each) / _boards(each) for each in measured) * boards / 1e6 / 86_400
    passed = max(_passed(each) / _boards(each) for each in measured) * boards / 1e12
    kept = 8 * (2 * POSITIONS_OF_4X3 + AFTERSTATES_OF_4X3) / 1e12
    head = ["processors", "days", "written to the shared disk, GB/s"]
    cells = [
        [f"{count:,}", f"{days / count:,.1f}", f"{(kept + passed) * count / days / 86.4:.1f}"]
        for count in (16, 64, 256)
    ]
    space = f"{kept:,.0f} TB kept and {passed:,.0f} TB passed on"
    return f"{days:,.0f} days of one processor, {space}:\n\n{table(head, cells, texts=0)}"


def bounds_table() -> str:
    """Return the table of bounds from both sides."""
    head = ["board", "player", "games", "mean", "worth at least (99 %)", "worth at most (certain)"]
    cells = [
        [
            f"`{rules}`",
            f"`{each['player']}`",
            f"{each['games']:,}",
            f"{each['mean']:,.0f} ± {each['error']:,.0f}",
            f"{each['lower']:,.0f}",
            f"{each['upper']:,.0f}",
        ]
        for rules, each in results("bounds").items()
    ]
    return table(head, cells, texts=2)


def regret_table() -> str:
    """Return the table of what players lose in a game."""
    head = ["player", "games", "regret of a game", "of the value"]
    found = sorted(results("regret").items(), key=lambda pair: -pair[1]["regret"])
    cells = [
        [
            f"`{player}`",
            f"{each['games']:,}",
            f"{each['regret']:,.1f} ± {each['error']:,.1f}",
            f"{each['regret'] / each['value']:.1%}",
        ]
        for player, each in found
    ]
    return table(head, cells)


BLOCKS = {
    "scores": scores_table,
    "tiles": tiles_table,
    "largest": largest_table,
    "costs": costs_table,
    "large": large_table,
    "bounds": bounds_table,
    "regret": regret_table,
}


# --- pictures ------------------------------------------------------------------------------------


def _figure(width: float, height: float, columns: int = 1) -> Iterator[Any]:
    """Yield a figure, then its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    yield figure
    yield from figure.subplots(1, columns, squeeze=False)[0]


def _classic() -> list[Data]:
    """Return the boards under the classic rules whose starts and survival are known."""
    return [
        each
        for each in solved(for_score=True)
        if "survival" in each and each["name"] in ("classic", f"{each['rows']}x{each['columns']}")
    ]


def draw_starts(path: Path) -> None:
    """Draw what each start is worth against its tiles."""
    boards = _classic()
    figure, *panels = _figure(9, 2.8, len(boards))
    for axes, each in zip(panels, boards, strict=True):
        kinds = sorted({tiles for tiles, _ in each["starts"]})
        places = [kinds.index(tiles) for tiles, _ in each["starts"]]
        axes.plot(places, [value for _, value in each["starts"]], "o", alpha=0.5)
        axes.axhline(each["value"], color="tab:gray", linewidth=0.8)
        axes.set_xticks(range(len(kinds)), kinds)
        axes.set(title=f"{each['rows']}x{each['columns']}", xlim=(-0.5, len(kinds) - 0.5))
        axes.yaxis.set_major_formatter("{x:,.1f}")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("value of the start, points")
    figure.supxlabel("first tiles", fontsize=9)
    figure.savefig(path, metadata={"Date": None})


def draw_survival(path: Path) -> None:
    """Draw how likely perfect play reaches a layer."""
    figure, axes = _figure(9, 4)
    for each in _classic():
        sums, left = zip(*each["survival"], strict=True)
        axes.step(sums, left, where="pre", label=f"{each['rows']}x{each['columns']}")
    axes.set(xlabel="sum of the board", ylabel="games that reach it", ylim=(0, 1.02))
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


def draw_regret(path: Path) -> None:
    """Draw how fast players lose value."""
    figure, axes = _figure(9, 4)
    found = sorted(results("regret").items(), key=lambda pair: -pair[1]["regret"])
    for player, each in found:
        plies = [each["step"] * index for index in range(len(each["means"]))]
        shares = [mean / each["value"] for mean in each["means"]]
        axes.plot(plies, shares, label=f"{player}: {each['regret']:,.0f} points")
    axes.set(xlabel="moves", ylabel="value lost so far", ylim=(0, 1), xlim=(0, None))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, metadata={"Date": None})
