"""``evaluate``: many games of players, on all processors or a cluster, and what came of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.cli.evaluation_view import watching
from py2048.cli.options import (
    MAX_WORKERS,
    RulesOption,
    SeedOption,
    SizeOption,
    chosen_rules,
    chosen_seed,
    no_device,
)
from py2048.errors import ContestError
from py2048.players import list_players

if TYPE_CHECKING:
    from py2048.arena import Contest, Played, Pool, Results
    from py2048.arena.log import Log
    from py2048.arena.records import RecordFolder

INTERRUPTED = 130


def evaluate(
    players: Annotated[
        list[str],
        typer.Argument(
            metavar="PLAYER...",
            help="Players such as greedy or expectimax:depth=2.",
            autocompletion=list_players,
        ),
    ],
    games: Annotated[int, typer.Option("--games", "-n", min=1, help="Games of each player.")] = 100,
    rules: RulesOption = None,
    size: SizeOption = None,
    seed: SeedOption = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, max=MAX_WORKERS, help="Processes; by default one a processor."
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Play on a Ray cluster: auto, or its address."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", callback=no_device, help="Keep games in FILE, and go on from it."
        ),
    ] = None,
    records: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Save a record of every game.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write JSON; - for stdout.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a table of the games.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the results: .png or .svg.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> int:
    """Let each PLAYER play the same games; say how well they do, and who does better.

    Ctrl-C stops and reports what is finished.
    """
    from py2048.arena import Contest
    from py2048.arena.report import text_report

    contest = Contest(
        tuple(players),
        chosen_rules(rules, size),
        games,
        chosen_seed(seed) or 0,
        recorded=records is not None,
    )
    writers = _writers(json_file, csv, plot)
    results = _played(contest, lambda: _pool(jobs, cluster), resume, records, quiet=quiet)
    for write in writers:
        write(results)
    if json_file != STDOUT:
        print(text_report(results))
    return 0 if results.complete else INTERRUPTED


STDOUT = Path("-")


def _played(
    contest: Contest,
    open_pool: Callable[[], Pool],
    resume: Path | None,
    records: Path | None,
    *,
    quiet: bool,
) -> Results:
    """Play the contest, all of it or until Ctrl-C, keeping each game as it ends."""
    from py2048.arena import Results, compete
    from py2048.arena.log import Log
    from py2048.arena.records import RecordFolder

    with ExitStack() as stack:
        folder = RecordFolder(records, contest) if records else None
        log = stack.enter_context(closing(Log(resume, contest))) if resume else None
        results = Results(contest)
        for played in log.played if log else ():
            if folder is None or folder.has(played):
                results.add(played)
        try:
            pool = stack.enter_context(closing(open_pool()))
            show = stack.enter_context(watching(results, pool, quiet=quiet))
            for played in compete(results, pool, keep=partial(_keep, folder, log)):
                show(played)
        except KeyboardInterrupt:
            pass  # the results say that they are not complete
    return results


def _keep(folder: RecordFolder | None, log: Log | None, played: Played) -> None:
    """Write a game down: its record first, so that the log has no game without one."""
    if folder:
        folder.save(played)
    if log:
        log.add(played)


def _pool(jobs: int | None, cluster: str | None) -> Pool:
    from py2048.arena import local_pool

    if cluster is None:
        return local_pool(jobs)
    if jobs is not None:
        raise ContestError("--jobs counts processes on this machine: leave it out with --cluster")
    from py2048.arena.ray_pool import RayPool

    return RayPool(cluster)


def _writers(
    json_file: Path | None, csv: Path | None, plot: Path | None
) -> list[Callable[[Results], None]]:
    """Return what writes the files that are asked for, all of which can be written."""
    from py2048.arena import plots, report

    writers: list[Callable[[Results], None]] = []
    if json_file == STDOUT:
        writers.append(lambda results: print(json.dumps(report.data(results))))
    elif json_file:
        path = _writable(json_file)
        writers.append(lambda results: _write(path, json.dumps(report.data(results), indent=1)))
    if csv:
        table = _writable(csv)
        writers.append(lambda results: _write(table, report.csv_text(results)))
    if plot:
        plots.check_plots(plot)
        picture = _writable(plot)
        writers.append(lambda results: plots.draw_results(results, picture))
    return writers


def _writable(path: Path) -> Path:
    """Return `path`, or say at once why nothing can be written there after hours of play."""
    folder = path.parent
    if path.is_dir():
        raise ContestError(f"cannot write {path}: it is a folder")
    if not folder.is_dir():
        raise ContestError(f"cannot write {path}: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise ContestError(f"cannot write {path}: permission denied")
    return path


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ContestError(f"cannot write {path}: {error.strerror or error}") from None
