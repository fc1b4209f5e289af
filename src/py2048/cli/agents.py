"""``benchmark-agent``: an agent on published games, with a stated budget; or a check of one."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from py2048.cli import options
from py2048.cli.evaluate import played
from py2048.cli.streams import INTERRUPTED, StatusLine
from py2048.errors import TournamentError

AGENT = (
    "A player such as greedy; program:COMMAND, which reads lines; endpoint:URL; "
    "policy:MODULE:FUNCTION, of an environment. To verify: the folder of a submission."
)


def tracks() -> list[str]:
    """Return the names of the tracks, for shells to complete."""
    from py2048.arena.protocol import TRACKS

    return list(TRACKS)


def benchmark_agent(
    agent: Annotated[str, options.word("AGENT", AGENT)],
    track: Annotated[
        str,
        options.taking(
            "NAME",
            "classic, short, 3x3 or 2x4; classic:10 for its first games.",
            "--track",
            words=tracks,
        ),
    ] = "classic",
    out: Annotated[Path | None, options.taking("DIR", "Write the submission here.")] = None,
    ms: Annotated[float | None, options.taking("N", "The milliseconds of a move.")] = None,
    boards: Annotated[float | None, options.taking("N", "The boards it may rate a move.")] = None,
    tokens: Annotated[float | None, options.taking("N", "The tokens of a move.")] = None,
    solution: Annotated[
        Path | None,
        options.taking("FILE", "Where to read perfect play for the regret on 3x3."),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Replay a submission and hold it to its word.")
    ] = False,
    jobs: options.JobsOption = None,
    json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Let AGENT play a track of published games, and write a submission that anyone can verify.

    The budget is of a move, on average over all games. Ctrl-C stops; the same command continues.
    """
    from py2048 import __version__
    from py2048.arena import protocol
    from py2048.arena.report import data, number, text_report
    from py2048.arena.statistics import regrets
    from py2048.players.perfect import QUICK_CELLS, PerfectPlayer

    limits = {"ms": ms, "boards": boards, "tokens": tokens}
    if verify:
        submission = protocol.read_submission(Path(agent))
        results = protocol.verified(Path(agent), submission.tournament(is_played=False))
    else:
        budget = {name: most for name, most in limits.items() if most is not None}
        machine = f"{platform.machine()} {platform.system()}"
        submission = protocol.Submission(agent, track, budget, machine, __version__)
        tournament = submission.tournament()
        if out is None:
            raise TournamentError("--out DIR is missing: the folder of the submission")
        log, records = protocol.open_submission(out, submission)
        with StatusLine(quiet=quiet) as line:
            results = played(tournament, jobs, None, log, records, line)
        if not results.complete:
            print(f"{results.count} of {results.total} games; the same command continues")
            return INTERRUPTED
        results = protocol.verified(out, tournament)
    rules, losses = results.tournament.rules, []
    if rules.cells <= QUICK_CELLS or solution is not None:
        losses = list(regrets(results, PerfectPlayer(file=str(solution or "")).solution(rules)))
    costs = protocol.costs_of(results)
    over = {n: most for n, most in submission.budget.items() if not 0 < costs[n] <= most}
    if json:
        options.print_json(
            data(results, losses)
            | {"submission": msgspec.to_builtins(submission), "costs": costs, "over": over}
        )
    else:
        print(text_report(results, losses))
        told = [f"{number(cost)} {name}" for name, cost in costs.items() if cost]
        print(f"\na move: {', '.join(told)}; every game replayed from its record")
        for name, most in over.items():
            said = f"{number(costs[name])} {name}" if costs[name] else f"no {name} reported"
            print(f"over the budget: {said} a move, {most:g} allowed")
    return 1 if over else 0
