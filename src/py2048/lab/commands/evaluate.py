"""``evaluate``: players on the same games, on all processors or a cluster."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.core.errors import TournamentError, os_errors_as
from py2048.lab.commands import plots
from py2048.presentation import options
from py2048.presentation.streams import INTERRUPTED, StatusLine

if TYPE_CHECKING:
    from py2048.lab.arena import Results
    from py2048.lab.arena.statistics import Regret

_SOLUTION = "A solution file, for the regret on boards of more than 8 cells."
SolutionOption = Annotated[Path | None, options.taking("FILE", _SOLUTION)]


def evaluate(
    players: Annotated[
        list[str],
        options.word(
            "PLAYER...",
            "Players such as greedy, expectimax:depth=2 or policy:MODULE:FUNCTION.",
            options.player_words,
        ),
    ],
    game: options.GameOptions,
    games: options.GamesOption = 100,
    jobs: options.JobsOption = None,
    cluster: options.ClusterOption = None,
    log: options.LogOption = None,
    records: Annotated[Path | None, options.taking("DIR", "Save a record of every game.")] = None,
    json: options.JsonOption = False,
    csv: Annotated[Path | None, options.taking("FILE", "Write a table of the games.")] = None,
    plot: options.PlotOption = None,
    regret: Annotated[
        bool, typer.Option("--regret", help="Report what moves lose against perfect play.")
    ] = False,
    solution: SolutionOption = None,
    quiet: options.QuietOption = False,
) -> int:
    """Let each PLAYER play the same games, by default on all processors; compare their scores.

    Ctrl-C stops and reports the finished games, and the regrets that are known by then.
    """
    from py2048.lab.arena import Tournament
    from py2048.lab.arena.log import play_and_save
    from py2048.lab.arena.statistics import regrets
    from py2048.players.perfect import PerfectPlayer

    plots.check_plots(plot)
    if cluster is not None and jobs is not None:
        raise TournamentError("--jobs is for this machine: leave it out with --cluster")
    with_regret = regret or solution is not None
    rules, seed = game.chosen()
    recorded = records is not None or with_regret
    tournament = Tournament(tuple(players), rules, games, seed or 0, recorded=recorded)
    losses: list[Regret] = []
    with StatusLine(quiet=quiet) as line:
        if with_regret:
            solved = PerfectPlayer(file=str(solution or "")).solution(rules)
        results = play_and_save(tournament, jobs, cluster, log, records, line.tell)
        if with_regret:
            with suppress(KeyboardInterrupt):  # report the regrets computed so far
                losses.extend(regrets(results, solved))
    _write_results(results, losses, csv, plot, json=json)
    is_complete = results.complete and len(losses) == with_regret * len(players)
    return 0 if is_complete else INTERRUPTED


def _write_results(
    results: Results, losses: list[Regret], csv: Path | None, plot: Path | None, *, json: bool
) -> None:
    """Write the requested files and print the results."""
    from py2048.lab.arena.report import csv_text, data, text_report

    if csv:
        with os_errors_as(TournamentError, f"cannot write {csv}"):
            csv.write_text(csv_text(results), encoding="utf-8")
    if plot:
        plots.draw_results(results, plot)
    if json:
        options.print_json(data(results, losses), indent=None)
    else:
        print(text_report(results, losses))
