"""``warm-up``, ``perft`` and ``rollouts``: the compiled engine prepared, and checked."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Annotated

import typer

from py2048.cli.compiling import telling
from py2048.cli.options import (
    JsonOption,
    RulesOption,
    SeedOption,
    SizeOption,
    ThreadsOption,
    UsageError,
    between,
    chosen_rules,
    chosen_seed,
    print_json,
)
from py2048.errors import BoardError
from py2048.rules import is_tile
from py2048.rules.text import parse_changes


def warm_up(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> int:
    """Compile everything now, so that no game, hint or training waits for it later."""
    from py2048.compiled import jit

    start = time.perf_counter()
    done = _warm_with_bar() if sys.stdout.isatty() and not quiet else _warm_with_lines(quiet)
    if not quiet:
        folder = jit.cache_directory()
        where = f"in {folder}" if folder else "for this process only: no folder can be written"
        print(f"{done} compiled forms ready after {time.perf_counter() - start:.1f} s, {where}")
    return 0


def _warm_with_bar() -> int:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from py2048.compiled import jit

    columns = TextColumn("{task.completed}/{task.total}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, TextColumn("{task.description}"), transient=True) as progress:
        task = progress.add_task("", total=None)
        return jit.warm_up(
            lambda done, total, name: progress.update(
                task, completed=done, total=total, description=_short(name)
            ),
            warmup_tasks(),
        )


def _warm_with_lines(quiet: bool) -> int:
    from py2048.compiled import jit

    def say(done: int, total: int, name: str) -> None:
        if name and not quiet:
            print(f"{done + 1}/{total} {_short(name)}", flush=True)

    return jit.warm_up(say, warmup_tasks())


def warmup_tasks() -> list[tuple[str, Callable[[], object]]]:
    """Return a first use of each player and each training, by name."""
    from py2048.players import preparing
    from py2048.training import trainer

    return [*preparing.warmup_tasks(), *trainer.warmup_tasks()]


def _short(name: str) -> str:
    """Return the name of a kernel without what it was built from, in square brackets."""
    return name.removeprefix("py2048.").partition("[")[0]


def perft(
    size: Annotated[
        str | None, typer.Argument(metavar="[RxC]", help="Rows x columns, such as 3x3.")
    ] = None,
    target: Annotated[
        int | None, typer.Argument(help="The tile that ends a game, such as 1024.")
    ] = None,
) -> int:
    """Count the boards that play can reach, one for each symmetry class, as a check of the engine.

    Alone it reproduces every published count, which takes minutes; else that of RxC and TARGET.
    """
    from py2048.compiled.perft import GOLDEN

    if size is not None and target is not None:
        return _count(*_checked_task(size, target))
    if size is not None:
        raise UsageError("give a target too, such as py2048 perft 3x3 1024")
    return max([_count(side, side, target) for side, target in GOLDEN])


def _checked_task(size: str, target: int) -> tuple[int, int, int]:
    """Return rows, columns and target.

    Raises:
        BoardError: if they cannot be counted.
    """
    shape = parse_changes(f"size={size}")
    if not 1 <= min(shape.values()) <= max(shape.values()) <= 4:
        raise BoardError(f"boards are counted up to 4x4, not {size}")
    if not (is_tile(target) and target <= 2**16):
        raise BoardError(f"target {target} is not a tile up to 65536: give one such as 1024")
    return shape["rows"], shape["columns"], target


def _count(rows: int, columns: int, target: int) -> int:
    """Count, print a line, and return 1 if another count was published."""
    from py2048.compiled.perft import GOLDEN, compiled_perft

    start = time.perf_counter()
    with telling():
        count = compiled_perft(rows, columns, target)
    golden = GOLDEN.get((rows, target)) if rows == columns else None
    verdict = "no published count" if golden is None else "as published"
    if golden not in (None, count):
        verdict = f"WRONG: published is {golden:,}"
    seconds = time.perf_counter() - start
    name = f"{rows}x{columns} to {target}"
    print(f"{name}: {count:,} boards ({verdict}), {seconds:.1f} s", flush=True)
    return int(golden not in (None, count))


def rollouts(
    games: Annotated[
        int, typer.Option(metavar="N", callback=between(2, 1e8), help="How many games.")
    ] = 100_000,
    rules: RulesOption = None,
    size: SizeOption = None,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    json: JsonOption = False,
) -> int:
    """Play random games; print the mean score and number of moves."""
    from py2048.compiled.rollouts import random_games

    chosen = chosen_rules(rules, size)
    first = chosen_seed(seed) or 0
    with telling(quiet=json):
        random_games(chosen, 2, seed=first, threads=1)  # compiles
    start = time.perf_counter()
    played = random_games(chosen, games, seed=first, threads=threads)
    seconds = time.perf_counter() - start
    scores, moves = played.scores, played.plies
    data = {
        "rules": str(chosen),
        "seed": first,
        "games": games,
        "score": float(scores.mean()),
        "score_error": float(scores.std(ddof=1) / games**0.5),
        "moves": float(moves.mean()),
        "moves_error": float(moves.std(ddof=1) / games**0.5),
        "best": int(scores.max()),
        "seconds": seconds,
    }
    if json:
        print_json(data)
        return 0
    print(f"{chosen.name}, {games:,} games, seed {first}: {seconds:.1f} s")
    print(f"score  {data['score']:,.2f} ± {data['score_error']:.2f}; the best {data['best']:,}")
    print(f"moves  {data['moves']:,.3f} ± {data['moves_error']:.3f} a game")
    return 0
