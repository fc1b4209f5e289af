"""The command ``evaluate``, which lets players play the same games and compares them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from py2048.core.errors import TournamentError, os_errors_as
from py2048.lab.commands import plots
from py2048.presentation import options
from py2048.presentation.streams import INTERRUPTED, StatusLine

_SOLUTION = "A solution file, for the exact regret on boards of more than 8 cells."
SolutionOption = Annotated[Path | None, options.taking("FILE", _SOLUTION)]


def evaluate(
    players: Annotated[
        list[str],
        options.word(
            "PLAYER",
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
        bool,
        typer.Option("--regret", help="Report what moves lose, and the mean score without luck."),
    ] = False,
    solution: SolutionOption = None,
    quiet: options.QuietOption = False,
) -> int:
    """Let each PLAYER play the same games, by default on all processors, and compare the scores.

    Ctrl-C stops the run and reports all games finished so far, with their regret if it is known.
    """
    from py2048.lab.arena import Tournament
    from py2048.lab.arena.log import play_and_save
    from py2048.lab.arena.report import csv_text, data, text_report
    from py2048.lab.arena.statistics import JudgedPlay, judge_of, judged

    plots.check_plots(plot)
    if cluster is not None and jobs is not None:
        raise TournamentError("--jobs is for this machine: leave it out with --cluster")
    with_regret = regret or solution is not None
    rules, seed = game.chosen()
    recorded = records is not None or with_regret
    tournament = Tournament(tuple(players), rules, games, seed or 0, recorded=recorded)
    found = list[JudgedPlay]()
    with StatusLine(quiet=quiet) as line:
        if with_regret:
            judge = judge_of(rules, solution)
        results = play_and_save(tournament, jobs, log, records, line.tell, cluster)
        if with_regret:
            with suppress(KeyboardInterrupt):  # report the results so far after Ctrl-C
                found.extend(judged(results, judge))
    if csv:
        with os_errors_as(TournamentError, f"cannot write {csv}"):
            csv.write_text(csv_text(results), encoding="utf-8")
    if plot:
        plots.draw_results(results, plot)
    if json:
        options.print_json(data(results, found), indent=None)
    else:
        print(text_report(results, found))
    is_complete = results.complete and len(found) == with_regret * len(players)
    return 0 if is_complete else INTERRUPTED
