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
from py2048.cli.compiling import PATIENCE, StatusLine, telling
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
LEAST_MEMORY, MOST_MEMORY = 64 << 20, 1 << 50

MOST_STARTS, MOST_LAYERS = 24, 16
"""How many lines the tables of the report have at most; ``--json`` prints all."""


def memory_size(text: str) -> int:
    """Return the bytes that an amount of memory such as ``4G`` means.

    Raises:
        BadParameter: if it means none, too few, or more than any machine has.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise typer.BadParameter(
            f"{text!r} is no amount of memory: give one such as 4G or 500M", param_hint="'--memory'"
        )
    size = float(found[1]) * UNITS[found[2].upper()]
    if size < LEAST_MEMORY:
        raise typer.BadParameter(
            f"{text} is too little memory: give at least 64M", param_hint="'--memory'"
        )
    if size > MOST_MEMORY:
        raise typer.BadParameter(
            f"{shown(text)} is too much memory: give at most 1024T", param_hint="'--memory'"
        )
    return int(size)


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
            help="Write all values to FILE; solving that was ended goes on from there.",
        ),
    ] = None,
    distil: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=no_device,
            help="Write the best move of every position to FILE, a small one.",
        ),
    ] = None,
    memory: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="About how much memory to use, such as 4G; on a cluster, for each processor.",
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
    check_outputs({"--save": save, "--distil": distil})
    line = StatusLine(quiet=quiet)
    try:
        with telling(quiet=quiet), keeping(save, line):
            chosen = chosen_rules(rules, size)
            if distil is not None:
                _check_distillable(chosen, goal)
            solution = _solved(
                chosen,
                goal,
                memory=memory_size(memory),
                threads=threads,
                cluster=cluster,
                save=save,
                progress=lambda progress: line.show(progress_text(progress)),
            )
            if distil is not None:
                _distil(solution, distil, line)
            if solution.seconds > PATIENCE:
                line.say(f"the value is {solution.value:.12g}")
            solution.follow(lambda progress: line.show(progress_text(progress)))
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
            streams.complain(f"what is done is in {folder}: the same command goes on from there")
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


def _check_distillable(rules: Rules, goal: str) -> None:
    from py2048.solving import Goal
    from py2048.solving.distil import check_distillable

    check_distillable(rules, Goal.parse(goal))


def _distil(solution: Solution, path: Path, line: StatusLine) -> None:
    from py2048.solving.distil import distil

    distil(solution, progress=line.say).save(path)


def progress_text(progress: Progress) -> str:
    """Return what is said of how far a solver is."""
    if not progress.all:
        return f"finding boards: {progress.done:,}, up to a sum of {progress.total:,}"
    left = progress.seconds * (progress.all - progress.done) / max(progress.done, 1)
    share = progress.done / progress.all
    time_left = f", {left:,.0f} s left" if share >= 0.01 else ""  # the first layers are small
    what = "following perfect play" if progress.stage == "outcomes" else "finding values"
    return f"{what}: {share:.0%} of {progress.all:,} boards{time_left}"


def _data(solution: Solution) -> dict[str, object]:
    outcomes = solution.outcomes
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
        "tiles": outcomes.tiles,
        "sums": outcomes.sums,
        "scores": outcomes.scores,
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
            *_tiles(solution),
            *_scores(solution),
            *_starts(solution),
            *_layers(solution),
        ]
    )


def _number(value: float) -> str:
    return f"{value:,.6f}" if value >= 2 else f"{value:.9f}"


def _tiles(solution: Solution) -> list[str]:
    shares = solution.outcomes.tiles.items()
    return ["", "largest tile", *(f"{tile:>12,}  {share:.9f}" for tile, share in shares)]


def _scores(solution: Solution) -> list[str]:
    """Return quantiles of the final score."""
    scores, lines, below = solution.outcomes.scores, ["", "final score"], 0.0
    if not scores:
        return []
    wanted = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]
    for score, share in scores.items():
        below += share
        while wanted and below >= wanted[0]:
            lines.append(f"{score:>12,}  at most this in {wanted.pop(0):.0%} of games")
    return [*lines, f"{max(scores):>12,}  at most"]


def _starts(solution: Solution) -> list[str]:
    ordered = sorted(solution.starts, key=lambda start: -start.value)
    lines = ["", "start, its probability with its images, and its value"]
    for start in ordered[:MOST_STARTS]:
        board = " / ".join(str(start.board).splitlines())
        lines.append(f"  {board}  {start.chance:.6f}  {_number(start.value)}")
    rest = len(ordered) - MOST_STARTS
    return [*lines, f"  and {rest:,} more: --json prints all"] if rest > 0 else lines


def _layers(solution: Solution) -> list[str]:
    """Return the positions by the sum of the board, several sums to a line."""
    layers, lines = solution.layers, ["", "sum of the board, positions"]
    step = -(-len(layers) // MOST_LAYERS)
    for first in range(0, len(layers), step):
        part = layers[first : first + step]
        sums = f"{part[0].total:,} to {part[-1].total:,}" if len(part) > 1 else f"{part[0].total:,}"
        lines.append(f"{sums:>18}  {sum(layer.positions for layer in part):>14,}")
    return lines
