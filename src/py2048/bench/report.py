"""Tables of measurements as text, as JSON and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from py2048.bench.harness import Row, Table
from py2048.errors import MissingExtraError

WIDTH = 46


def header(machine: dict[str, str]) -> str:
    """Return the lines that say what the measurement ran on."""
    width = max(map(len, machine))
    return "\n".join(f"{name:<{width}}  {value}" for name, value in machine.items())


def text_of(table: Table) -> str:
    """Return a table as lines: the median of the turns, the best one, and the ratio to the base."""
    ratio = "ratio" if table.base else ""
    lines = [f"{table.title:<{WIDTH}}{table.unit:>14}{'best':>14}{ratio:>9}".rstrip()]
    lines += [_line(table, row) for row in table.rows]
    if table.note:
        lines.append(f"  {table.note}")
    return "\n".join(lines)


def _line(table: Table, row: Row) -> str:
    ratio = table.ratio(row)
    line = f"  {row.name:<{WIDTH - 2}}{figure(row.median):>14}{figure(table.best(row)):>14}"
    return line + (f" {ratio:>8,.2f}" if ratio is not None else "")


def figure(value: float) -> str:
    """Return a number with about four digits: speeds without a fraction, seconds with one."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def data_of(table: Table) -> dict[str, Any]:
    """Return a table as what JSON can hold."""
    return {
        "title": table.title,
        "unit": table.unit,
        "base": table.base,
        "note": table.note,
        "rows": [
            {
                "name": row.name,
                "median": row.median,
                "best": table.best(row),
                "ratio": table.ratio(row),
                "values": list(row.values),
            }
            for row in table.rows
        ],
    }


def draw(tables: list[Table], path: Path) -> None:
    """Draw the best of each contestant as bars.

    Raises:
        MissingExtraError: if matplotlib is not installed.
    """
    check_plots()
    from matplotlib.figure import Figure

    heights = [len(table.rows) + 2.5 for table in tables]
    figure_ = Figure(figsize=(9, 0.32 * sum(heights)), layout="constrained")
    axes = figure_.subplots(len(tables), squeeze=False, height_ratios=heights)[:, 0]
    for place, table in zip(axes, tables, strict=True):
        names = [row.name for row in table.rows]
        values = [table.best(row) for row in table.rows]
        bars = place.barh(names, values, color="#4477aa")
        place.bar_label(bars, [figure(value) for value in values], padding=3, fontsize=8)
        place.set(title=f"{table.title}: {table.unit}")
        place.margins(x=0.25)
        place.invert_yaxis()
        place.tick_params(labelsize=8)
    figure_.savefig(path, dpi=120)


def check_plots() -> None:
    """Raise `MissingExtraError` if no picture can be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "a plot needs matplotlib: pip install 'py2048[plots]', or leave out --plot"
        ) from None
