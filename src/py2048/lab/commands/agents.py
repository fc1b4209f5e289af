"""``benchmark-agent``: play published games within a budget, or verify a submission."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from py2048.core.errors import TournamentError
from py2048.lab.commands.evaluate import SolutionOption
from py2048.presentation import options
from py2048.presentation.streams import INTERRUPTED, StatusLine

if TYPE_CHECKING:
    from py2048.lab.arena import Results
    from py2048.lab.arena.protocol import AgentSubmission
    from py2048.lab.arena.statistics import Regret

AGENT = (
    "A player such as greedy, program:COMMAND, endpoint:URL or policy:MODULE:FUNCTION. "
    "With --verify, the folder of a submission."
)


def tracks() -> list[str]:
    """Return the names of the tracks for shell completion."""
    from py2048.lab.arena.protocol import TRACKS

    return list(TRACKS)


def agents(incomplete: str) -> list[str]:
    """Return shell completions for an agent."""
    kinds = "program:", "endpoint:", "policy:"
    return [*options.player_words(incomplete), *kinds, *options.files_that_end()(incomplete)]


def benchmark_agent(
    agent: Annotated[str, options.word("AGENT", AGENT, agents)],
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
    ms: Annotated[float | None, options.taking("N", "Budget in milliseconds per move.")] = None,
    boards: Annotated[float | None, options.taking("N", "Budget in rated boards per move.")] = None,
    tokens: Annotated[float | None, options.taking("N", "Budget in tokens per move.")] = None,
    solution: SolutionOption = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Replay a submission and check its claims.")
    ] = False,
    jobs: options.JobsOption = None,
    json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Let AGENT play a track of published games, and write a submission that anyone can verify.

    The budget is the mean cost per move over all games. Ctrl-C stops; the same command continues.
    """
    from py2048 import __version__
    from py2048.lab.arena import protocol

    folder = Path(agent) if verify else out
    if folder is None:
        raise TournamentError("--out DIR is missing: the folder of the submission")
    if not verify:
        limits = {"ms": ms, "boards": boards, "tokens": tokens}
        budget = {name: most for name, most in limits.items() if most is not None}
        machine = f"{platform.machine()} {platform.system()}"
        wanted = protocol.AgentSubmission(agent, track, budget, machine, __version__)
        with StatusLine(quiet=quiet) as line:
            played = protocol.play(folder, wanted, jobs, line.tell)
        if not played.complete:
            print(f"{played.count} of {played.total} games; the same command continues")
            return INTERRUPTED
    submission = protocol.read_submission(folder)
    results = protocol.verified(folder, submission.tournament(is_played=False))
    over = protocol.over_budget(submission, results)
    _print_results(submission, results, protocol.losses_of(results, solution), over, json=json)
    return 1 if over else 0


def _print_results(
    submission: AgentSubmission,
    results: Results,
    losses: list[Regret],
    over: list[str],
    *,
    json: bool,
) -> None:
    """Print the results and the costs of a submission."""
    from py2048.lab.arena.protocol import costs_of
    from py2048.lab.arena.report import data, number, text_report

    costs = costs_of(results)
    if json:
        more = {"submission": msgspec.to_builtins(submission), "costs": costs}
        budgets = {name: submission.budget[name] for name in over}
        options.print_json(data(results, losses) | more | {"over": budgets})
        return
    print(text_report(results, losses))
    spent = [f"{number(cost)} {name}" for name, cost in costs.items() if cost]
    print(f"\na move: {', '.join(spent)}; every game replayed from its record")
    for name in over:
        cost = f"{number(costs[name])} {name}" if costs[name] else f"no {name} reported"
        print(f"over the budget: {cost} a move, {submission.budget[name]:g} allowed")
