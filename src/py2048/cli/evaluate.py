"""``evaluate``: players on the same games, on all processors or a cluster."""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.cli import options, plots
from py2048.cli.streams import INTERRUPTED, StatusLine
from py2048.errors import TournamentError, os_errors_as
from py2048.players import list_players

if TYPE_CHECKING:
    from py2048.arena import GameResult, Results, Tournament
    from py2048.arena.statistics import Regret


def evaluate(
    players: Annotated[
        list[str],
        options.word(
            "PLAYER...",
            "Players such as greedy, expectimax:depth=2 or policy:MODULE:FUNCTION.",
            list_players,
        ),
    ],
    games: options.GamesOption = 100,
    rules: options.RulesOption = None,
    size: options.SizeOption = None,
    seed: options.SeedOption = None,
    jobs: options.JobsOption = None,
    cluster: options.ClusterOption = None,
    log: options.LogOption = None,
    records: Annotated[Path | None, options.taking("DIR", "Save a record of every game.")] = None,
    json: options.JsonOption = False,
    csv: Annotated[Path | None, options.taking("FILE", "Write a table of the games.")] = None,
    plot: options.PlotOption = None,
    regret: Annotated[
        bool, typer.Option("--regret", help="Tell what the moves lose against perfect play.")
    ] = False,
    solution: Annotated[
        Path | None,
        options.taking(
            "FILE", "Where to read perfect play for --regret on boards of over 8 cells."
        ),
    ] = None,
    quiet: options.QuietOption = False,
) -> int:
    """Let each PLAYER play the same games, by default on all processors; compare their scores.

    Ctrl-C stops and reports the finished games, and the regrets that are known by then.
    """
    from py2048.arena import Tournament
    from py2048.arena.report import csv_text, data, text_report
    from py2048.arena.statistics import regrets
    from py2048.players.perfect import PerfectPlayer

    if plot:
        plots.check_plots(plot)
    if cluster is not None and jobs is not None:
        raise TournamentError("--jobs is for this machine: leave it out with --cluster")
    tells_regret = regret or solution is not None
    tournament = Tournament(
        tuple(players),
        options.chosen_rules(rules, size),
        games,
        options.chosen_seed(seed) or 0,
        recorded=records is not None or tells_regret,
    )
    losses: list[Regret] = []
    with StatusLine(quiet=quiet) as line:
        if tells_regret:
            solved = PerfectPlayer(file=str(solution or "")).solution(tournament.rules)
        results = played(tournament, jobs, cluster, log, records, line)
        if tells_regret:
            with suppress(KeyboardInterrupt):  # the players before the last one have theirs
                losses.extend(regrets(results, solved))
    if csv:
        with os_errors_as(TournamentError, f"cannot write {csv}"):
            csv.write_text(csv_text(results), encoding="utf-8")
    if plot:
        plots.draw_results(results, plot)
    if json:
        options.print_json(data(results, losses), indent=None)
    else:
        print(text_report(results, losses))
    is_complete = results.complete and len(losses) == tells_regret * len(players)
    return 0 if is_complete else INTERRUPTED


def played(
    tournament: Tournament,
    jobs: int | None,
    cluster: str | None,
    log_path: Path | None,
    records: Path | None,
    line: StatusLine,
) -> Results:
    """Play the tournament, to its end or until Ctrl-C; save each game as it ends."""
    from py2048.arena import Results, local_pool, run_tournament
    from py2048.arena.jobs import warm_up
    from py2048.arena.log import GameLog, RecordFolder
    from py2048.arena.ray_cluster import RayPool

    results = Results(tournament)
    with ExitStack() as stack:
        folder = RecordFolder(records, tournament) if records else None
        log = stack.enter_context(closing(GameLog(log_path, tournament))) if log_path else None
        for game in log.played if log else ():
            if folder is None or folder.has(game):
                results.add(game)

        def save(game: GameResult) -> None:
            if folder:  # first, so that the log has no game without a record
                folder.save(game)
            if log:
                log.add(game)

        with suppress(KeyboardInterrupt):  # the results are then marked as incomplete
            if cluster is None:
                for spec in tournament.players:  # once, instead of in each process
                    warm_up(spec, tournament.rules, recorded=tournament.recorded)
            workers = local_pool(jobs) if cluster is None else RayPool(cluster)
            pool = stack.enter_context(closing(workers))
            line.news = f"{results.total - results.count:,} games {pool.place}"
            for _ in run_tournament(results, pool, save=save):
                line.news = _news(results)
    return results


def _news(results: Results) -> str:
    found = {spec: results.so_far(spec) for spec in results.tournament.players}
    means = [f"{spec} mean {mean:,.0f}" for spec, (count, mean) in found.items() if count]
    return f"{results.count:,} of {results.total:,}: {'; '.join(means)}"
