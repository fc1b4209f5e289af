"""``evaluate``: players on the same games, on all processors or a cluster."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
import typer.core

from py2048.cli import plots
from py2048.cli.options import (
    RulesOption,
    SeedOption,
    SizeOption,
    check_outputs,
    chosen_rules,
    chosen_seed,
    file_option,
    parallel,
)
from py2048.cli.streams import INTERRUPTED, telling
from py2048.errors import TournamentError, os_errors_as
from py2048.players import list_players
from py2048.rules.parts import checked_tile

if TYPE_CHECKING:
    from py2048.arena import GameResult, Pool, Results, Tournament
    from py2048.arena.log import GameLog, RecordFolder
    from py2048.arena.statistics import Regret
    from py2048.players.searching import SearchPlayer
    from py2048.solving import Solution
    from py2048.training.boards import SavedBoards, Stage

SILENCE_S = 60.0
"""The longest time without a line of progress in a pipe."""

Show = Callable[["GameResult"], None]


def evaluate(
    players: Annotated[
        list[str],
        typer.Argument(
            metavar="PLAYER...",
            help="Players such as greedy or expectimax:depth=2.",
            autocompletion=list_players,
        ),
    ],
    games: Annotated[
        int, typer.Option("--games", "-n", metavar="N", help="Games of each player.")
    ] = 100,
    rules: RulesOption = None,
    size: SizeOption = None,
    seed: SeedOption = None,
    jobs: Annotated[
        int | None, parallel("Processes; by default one for each processor.", "--jobs")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Play on a Ray cluster: auto, or its address."),
    ] = None,
    log: Annotated[
        Path | None, file_option("Keep games in FILE; continue from it.", is_read=True)
    ] = None,
    records: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Save a record of every game.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of the tables, for programs.")
    ] = False,
    csv: Annotated[Path | None, file_option("Write a table of the games.")] = None,
    plot: Annotated[Path | None, file_option("Draw the results: .png or .svg.")] = None,
    from_boards: Annotated[
        Path | None,
        file_option(
            "Play on from saved boards; count how often the next large tile is made.", is_read=True
        ),
    ] = None,
    makes: Annotated[
        int | None,
        typer.Option(
            metavar="TILE",
            help="The tile that --from-boards counts; by default twice the largest.",
        ),
    ] = None,
    regret: Annotated[
        bool, typer.Option("--regret", help="Tell what the moves lose against perfect play.")
    ] = False,
    solution: Annotated[
        Path | None,
        file_option(
            "Where perfect play is read from, for --regret on boards of more than 8 cells.",
            is_read=True,
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> int:
    """Let each PLAYER play the same games; compare their scores.

    Ctrl-C stops and reports the finished games, and the regrets that are known by then.
    """
    from py2048.arena import Tournament
    from py2048.arena.report import csv_text, data, text_report
    from py2048.arena.statistics import regrets

    check_outputs({"--log": log, "--csv": csv, "--plot": plot}, from_boards, solution)
    if plot:
        plots.check_plots(plot)
    if makes is not None:
        checked_tile(makes, "--makes ")
        if not from_boards:
            raise TournamentError(f"--makes {makes} counts what comes of --from-boards: give both")
    if from_boards:
        others: dict[str, object] = {"rules": rules, "size": size, "cluster": cluster, "csv": csv}
        others |= {"log": log, "records": records, "regret": regret, "solution": solution}
        if name := next(filter(others.get, others), None):
            raise TournamentError(f"--{name} does not go with --from-boards: leave one out")
        chosen = chosen_seed(seed) or 0
        return _from_boards(players, from_boards, makes or 0, games, chosen, jobs, as_json, plot)
    tournament = Tournament(
        tuple(players),
        chosen_rules(rules, size),
        games,
        chosen_seed(seed) or 0,
        recorded=records is not None or regret or solution is not None,
    )
    solved = _solution(tournament, solution) if regret or solution else None
    results = _played(tournament, lambda: _pool(jobs, cluster), log, records, quiet=quiet)
    losses: list[Regret] = []
    if solved:
        with suppress(KeyboardInterrupt):  # the players before the last one have theirs
            losses.extend(regrets(results, solved))
    if csv:
        with os_errors_as(TournamentError, f"cannot write {csv}"):
            csv.write_text(csv_text(results), encoding="utf-8")
    if plot:
        plots.draw_results(results, plot)
    print(json.dumps(data(results, losses)) if as_json else text_report(results, losses))
    is_complete = results.complete and (not solved or len(losses) == len(tournament.players))
    return 0 if is_complete else INTERRUPTED


def _solution(tournament: Tournament, file: Path | None) -> Solution:
    """Return the exact values for a tournament's rules.

    Raises:
        PlayerError: if they are not known.
    """
    from py2048.players.perfect import PerfectPlayer

    with telling():
        return PerfectPlayer(file="" if file is None else str(file)).solution(tournament.rules)


def _from_boards(
    players: list[str],
    file: Path,
    makes: int,
    games: int,
    seed: int,
    jobs: int | None,
    as_json: bool,
    plot: Path | None,
) -> int:
    """Print for each stage of a file how often each player makes a tile, by default the next."""
    from py2048.compiled.threads import available_threads
    from py2048.training.boards import SavedBoards, played_on

    searching = {spec: _search_player(spec) for spec in players}
    _, held_out = SavedBoards.load(file).split()
    boards = _boards_to_play(held_out, games, makes)
    rows = []
    for spec, player in searching.items():
        for (tile, least), chosen in boards.items():
            with telling(quiet=as_json):
                found = played_on(
                    partial(player.new_searcher, held_out.rules),
                    chosen,
                    makes=makes,
                    seed=seed,
                    threads=jobs or available_threads(),
                ).last_stretch
            row = {"player": spec, "stage": (tile, least), "boards": found.boards}
            rows.append(row | {"share": found.share, "error": found.error})
            if not as_json:
                print(
                    f"{spec}: {tile:,} and a sum of {least:,}: {makes or 2 * tile:,} made in "
                    f"{found.share:.1%} ± {found.error:.1%} of {found.boards:,} boards"
                )
    if plot:
        plots.draw_stretches(rows, plot)
    if as_json:
        print(json.dumps(rows))
    return 0


def _search_player(spec: str) -> SearchPlayer:
    """Return a player that searches.

    Raises:
        TournamentError: if it does not.
    """
    from py2048.players import make_player
    from py2048.players.searching import SearchPlayer

    player = make_player(spec)
    if not isinstance(player, SearchPlayer):
        raise TournamentError(f"{spec} does not search: --from-boards takes players that do")
    return player


def _boards_to_play(boards: SavedBoards, games: int, makes: int) -> dict[Stage, SavedBoards]:
    """Return at most so many boards of each stage, ascending.

    Raises:
        TournamentError: if that is none, or all boards of a stage have the tile to make.
    """
    if games < 1:
        raise TournamentError(f"--games {games}: play on from one board or more")
    stages: list[Stage] = sorted(set(map(tuple, boards.stages.tolist())))
    chosen = {stage: boards.of(stage).spread(games) for stage in stages}
    for (tile, least), some in chosen.items():
        if makes and (some.cells == makes.bit_length() - 1).any(axis=1).all():
            raise TournamentError(
                f"--makes {makes}: the boards with {tile:,} and a sum of {least:,} have it already"
            )
    return chosen


def _played(
    tournament: Tournament,
    open_pool: Callable[[], Pool],
    log_path: Path | None,
    records: Path | None,
    *,
    quiet: bool,
) -> Results:
    """Play the tournament, to its end or until Ctrl-C; save each game as it ends."""
    from py2048.arena import Results, run_tournament
    from py2048.arena.log import GameLog, RecordFolder

    with ExitStack() as stack:
        folder = RecordFolder(records, tournament) if records else None
        log = stack.enter_context(closing(GameLog(log_path, tournament))) if log_path else None
        results = Results(tournament)
        for played in log.played if log else ():
            if folder is None or folder.has(played):
                results.add(played)
        try:
            pool = stack.enter_context(closing(open_pool()))
            show = stack.enter_context(_progress(results, pool, quiet=quiet))
            for played in run_tournament(results, pool, save=partial(_save, folder, log)):
                show(played)
        except KeyboardInterrupt:
            pass  # the results are marked as incomplete
    return results


def _save(folder: RecordFolder | None, log: GameLog | None, played: GameResult) -> None:
    """Save a game: first its record, so that the log has no game without one."""
    if folder:
        folder.save(played)
    if log:
        log.add(played)


def _pool(jobs: int | None, cluster: str | None) -> Pool:
    from py2048.arena import local_pool

    if cluster is None:
        return local_pool(jobs)
    if jobs is not None:
        raise TournamentError("--jobs is for this machine: leave it out with --cluster")
    from py2048.arena.ray_cluster import RayPool

    return RayPool(cluster)


# --- progress ------------------------------------------------------------------------------------


@contextmanager
def _progress(results: Results, pool: Pool, *, quiet: bool) -> Iterator[Show]:
    """Return a function to call with each finished game: it updates bars, or prints lines."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _bars(results, pool) as show:
            yield show
    else:
        with telling(lambda: pool.compiling):
            yield _lines(results, pool)


def _mean(results: Results, player: str) -> str:
    count, mean = results.so_far(player)
    return f"mean {mean:,.0f}" if count else ""


@contextmanager
def _bars(results: Results, pool: Pool) -> Iterator[Show]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )

    class CompilingColumn(ProgressColumn):
        def render(self, task: Task) -> str:
            return "" if task.completed else str(pool.compiling or "")

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[mean]}"),
        CompilingColumn(),
        TimeRemainingColumn(compact=True),
    )
    console = Console(stderr=True)
    console.print(f"playing {pool.place}; Ctrl-C stops and reports", highlight=False)
    with Progress(*columns, console=console) as progress:
        tasks = {
            spec: progress.add_task(
                spec,
                total=results.tournament.games,
                completed=results.so_far(spec)[0],
                mean=_mean(results, spec),
            )
            for spec in results.tournament.players
        }

        def show(played: GameResult) -> None:
            spec = played.player
            mean = _mean(results, spec)
            progress.update(tasks[spec], completed=results.so_far(spec)[0], mean=mean)

        yield show


def _lines(results: Results, pool: Pool) -> Show:
    """Return a function that prints a line for each tenth of the games, and one a minute."""
    tenth, last = 10 * results.count // results.total, time.monotonic()
    print(f"{results.total - results.count:,} games {pool.place}", file=sys.stderr, flush=True)

    def show(_: GameResult) -> None:
        nonlocal tenth, last
        now = 10 * results.count // results.total
        if now == tenth and time.monotonic() < last + SILENCE_S:
            return
        tenth, last = now, time.monotonic()
        players = results.tournament.players
        texts = (f"{spec} {_mean(results, spec)}".rstrip() for spec in players)
        print(
            f"{results.count:,} of {results.total:,}: {'; '.join(texts)}",
            file=sys.stderr,
            flush=True,
        )

    return show
