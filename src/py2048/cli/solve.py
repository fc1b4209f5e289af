"""``solve``: the exact value of a game on a small board."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.cli import streams
from py2048.cli.compiling import StatusLine, telling
from py2048.cli.options import (
    JsonOption,
    SizeOption,
    ThreadsOption,
    check_outputs,
    chosen_rules,
    no_device,
    rules_names,
)
from py2048.errors import SolvingError, shown

if TYPE_CHECKING:
    from py2048.rules import Rules
    from py2048.solving import Solution
    from py2048.solving.solution import Progress

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
MIN_MEMORY, MAX_MEMORY = 64 << 20, 1 << 50

MAX_STARTS = 24
"""How many starts the report has at most; ``--json`` prints all."""


def memory_size(text: str) -> int:
    """Return the bytes that an amount of memory such as ``4G`` means.

    Raises:
        BadParameter: if it means none, too few, or more than any machine has.
    """
    found = re.fullmatch(r"(\d{1,15}(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    size = int(float(found[1]) * UNITS[found[2].upper()]) if found else 0
    if not MIN_MEMORY <= size <= MAX_MEMORY:
        raise typer.BadParameter(
            f"{shown(text)} is not an amount of memory from 64M to 1024T: give one such as 4G",
            param_hint="'--memory'",
        )
    return size


def solve(
    rules: Annotated[
        str,
        typer.Argument(
            metavar="RULES",
            help="A preset such as 3x3, or a text such as classic:size=2x5.",
            autocompletion=rules_names,
        ),
    ],
    size: SizeOption = None,
    goal: Annotated[
        str,
        typer.Option(
            metavar="GOAL", help="score for the expected score, tile=N for the chance of a tile."
        ),
    ] = "score",
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=no_device,
            help="Write all values to FILE; the same command continues solving that was stopped.",
        ),
    ] = None,
    memory: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="About how much memory to use with --save; on a cluster, for each processor.",
        ),
    ] = "4G",
    threads: ThreadsOption = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Solve on a Ray cluster: auto, or its address. All its machines must see FILE.",
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> int:
    """Find what perfect play is worth, exactly, on a board that is small enough.

    The tiles must appear at random. 3x3 takes a minute or two.
    """
    check_outputs({"--save": save})
    line = StatusLine(quiet=quiet)
    try:
        with telling(quiet=quiet), keeping(save, line):
            solution = _solved(
                chosen_rules(rules, size),
                goal,
                memory=memory_size(memory),
                threads=threads,
                cluster=cluster,
                save=save,
                progress=lambda progress: line.show(progress_text(progress)),
            )
            told = json.dumps(_data(solution)) if as_json else _report(solution)
    finally:
        line.close()
    print(told)
    return 0


@contextmanager
def keeping(file: Path | None, line: StatusLine) -> Iterator[None]:
    """Say after Ctrl-C where what was done for a file is, if something is kept."""
    try:
        yield
    except KeyboardInterrupt:
        if file is not None and (folder := Path(f"{file}.unfinished")).is_dir():
            line.close()
            streams.complain(f"what is done is in {folder}: the same command continues")
        raise


def _solved(
    rules: Rules,
    goal: str,
    *,
    memory: int,
    threads: int | None,
    cluster: str | None,
    save: Path | None,
    progress: Callable[[Progress], None],
) -> Solution:
    if cluster is None:
        from py2048.solving import solve

        return solve(rules, goal, memory=memory, threads=threads, save=save, progress=progress)
    if threads is not None:
        raise SolvingError("--threads is for this machine: leave it out with --cluster")
    if save is None:
        raise SolvingError("--cluster needs --save FILE, in a folder that all its machines share")
    from py2048.arena.ray_cluster import RayWorkers
    from py2048.solving.sharded import solve_sharded

    with closing(RayWorkers(cluster)) as workers:
        return solve_sharded(workers, rules, goal, save=save, memory=memory, progress=progress)


def progress_text(progress: Progress) -> str:
    """Return what is said of how far a solver is."""
    if not progress.all:
        return f"finding boards: {progress.done:,}, up to a sum of {progress.total:,}"
    left = progress.seconds * (progress.all - progress.done) / max(progress.done, 1)
    share = progress.done / progress.all
    time_left = f", {left:,.0f} s left" if share >= 0.01 else ""  # the first layers are small
    return f"finding values: {share:.0%} of {progress.all:,} boards{time_left}"


def _data(solution: Solution) -> dict[str, object]:
    return {
        "rules": str(solution.rules),
        "goal": str(solution.goal),
        "value": solution.value,
        "error": solution.error,
        "positions": solution.positions,
        "seconds": solution.seconds,
        "starts": [
            {"board": start.board.rows, "chance": start.chance, "value": start.value}
            for start in solution.starts
        ],
        "layers": [asdict(layer) for layer in solution.layers],
    }


def _report(solution: Solution) -> str:
    is_score = solution.goal.tile is None
    what = "expected score" if is_score else f"chance to make {solution.goal.tile}"
    boards = sum(layer.boards for layer in solution.layers)
    rows, columns = solution.rules.shape
    value = f"{what} {_number(solution.value)}"
    rounding = f"rounding changes it by at most {solution.error:.1g}"
    images, layers = f"{boards:,} with their symmetric images", f"{len(solution.layers):,} layers"
    return "\n".join(
        [
            f"{solution.rules.name} on {rows}x{columns}: {value} ({rounding})",
            f"{solution.positions:,} positions, {images}, in {layers}",
            f"solved in {solution.seconds:.1f} s",
            *_starts(solution),
        ]
    )


def _number(value: float) -> str:
    return f"{value:,.6f}" if value >= 2 else f"{value:.9f}"


def _starts(solution: Solution) -> list[str]:
    ordered = sorted(solution.starts, key=lambda start: -start.value)
    lines = ["", "start, its probability with its images, and its value"]
    for start in ordered[:MAX_STARTS]:
        board = " / ".join(str(start.board).splitlines())
        lines.append(f"  {board}  {start.chance:.6f}  {_number(start.value)}")
    rest = len(ordered) - MAX_STARTS
    return [*lines, f"  and {rest:,} more: --json prints all"] if rest > 0 else lines
