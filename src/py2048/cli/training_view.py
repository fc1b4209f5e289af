"""How a training looks while it goes on: a bar, speeds and the curve, or lines in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from py2048.ntuple.campaign import Point, Status

BLOCKS = " ▁▂▃▄▅▆▇█"
WIDTH = 60
BAR = 30

Watch = Callable[["Status"], None]


@contextmanager
def watching(*, quiet: bool) -> Iterator[Watch]:
    """Return what shows each status: live in a terminal, a line for each point elsewhere."""
    if quiet:
        yield lambda _: None
    elif sys.stdout.isatty():
        from rich.live import Live

        with Live(refresh_per_second=8) as live:
            yield lambda status: live.update(_picture(status))
    else:
        yield _line_printer()


def _line_printer() -> Watch:
    printed = 0

    def show(status: Status) -> None:
        nonlocal printed
        for point in status.curve[max(printed, len(status.curve) - 1) :]:
            print(_line(point), flush=True)
        printed = len(status.curve)

    return show


def _line(point: Point) -> str:
    judged = f", evaluated {point.evaluated:,.0f} ± {point.evaluated_error:,.0f}"
    return (
        f"{point.seconds:8.1f} s  {point.games:9,} games  {point.moves:13,} moves  "
        f"mean {point.mean:,.0f} ± {point.error:,.0f}, 2048 in {point.tile_2048:.0%}"
        + (judged if point.evaluated else "")
    )


def _picture(status: Status) -> RenderableType:
    from rich.text import Text

    minutes, seconds = divmod(int(status.seconds), 60)
    head = (
        f"{_bar(status.share)}  {minutes}:{seconds:02d}  {status.games:,} games  "
        f"{status.games_per_second:,.0f} games/s  {status.moves_per_second:,.0f} moves/s"
    )
    lines = [head, *(_curve_lines(status.curve) if status.curve else ["no point yet"])]
    return Text("\n".join(lines))


def _bar(share: float) -> str:
    if not share:
        return "training"
    done = round(BAR * min(share, 1.0))
    return f"[{'━' * done}{' ' * (BAR - done)}] {min(share, 1.0):4.0%}"


def _curve_lines(curve: tuple[Point, ...]) -> list[str]:
    shown = curve[-WIDTH:]
    return [sparkline([point.mean for point in shown]), _line(shown[-1])]


def sparkline(values: list[float]) -> str:
    """Return values as a row of blocks, from 0 to the largest."""
    most = max(values, default=0.0)
    steps = len(BLOCKS) - 1
    return "".join(BLOCKS[round(steps * value / most) if most > 0 else 0] for value in values)
