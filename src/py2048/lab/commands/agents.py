"""Commands for agents: ``benchmark-agent`` and ``mcp``."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from py2048.core.errors import TournamentError
from py2048.lab.commands.evaluate import SolutionOption
from py2048.presentation import options
from py2048.presentation.streams import INTERRUPTED, StatusLine, complain

AGENT = (
    "A player such as greedy, program:COMMAND, endpoint:URL or policy:MODULE:FUNCTION. "
    "With --verify, the folder of a submission."
)


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
            words=lambda: ["classic", "short", "3x3", "2x4"],
        ),
    ] = "classic",
    output: Annotated[Path | None, options.output("Write the submission here.", "DIR")] = None,
    ms: Annotated[float | None, options.taking("N", "Budget in milliseconds per move.")] = None,
    boards: Annotated[float | None, options.taking("N", "Budget in rated boards per move.")] = None,
    tokens: Annotated[float | None, options.taking("N", "Budget in tokens per move.")] = None,
    solution: SolutionOption = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check a submission: replay its games, test its luck.")
    ] = False,
    commitment: Annotated[
        str | None, options.taking("HEX", "With --verify, the commitment published before the run.")
    ] = None,
    jobs: options.JobsOption = None,
    json: options.JsonOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Let AGENT play a track with secret tiles, and write a submission that anyone can verify.

    The budget is the mean cost per move over all games. Ctrl-C stops; the same command continues.
    The exit status is 1 if the agent exceeds its budget or has more luck than chance allows, or if
    py2048's own player makes other moves when it plays the games again.
    """
    from py2048 import __version__
    from py2048.lab.arena import protocol
    from py2048.lab.arena.report import data, number, text_report
    from py2048.lab.arena.statistics import judge_of, judged

    folder = Path(agent) if verify else output
    if folder is None:
        raise TournamentError("--output DIR is missing: the folder of the submission")
    with StatusLine(quiet=quiet) as line:
        if not verify:
            limits = {"ms": ms, "boards": boards, "tokens": tokens}
            budget = {name: most for name, most in limits.items() if most is not None}
            machine = f"{platform.machine()} {platform.system()}"
            wanted = protocol.AgentSubmission(agent, track, budget, machine, __version__)
            begun, secret = protocol.begin(folder, wanted)
            if not quiet:
                complain(f"all tiles follow from a secret with the SHA-256 {begun.commitment}")
            played = protocol.play(folder, begun, secret, jobs, line.tell)
            if not played.complete:
                print(f"{played.count} of {played.total} games; the same command continues")
                return INTERRUPTED
        submission, results = protocol.read_submission(folder), protocol.verified(folder)
        refused, is_replayed = list[str](), verify and protocol.is_replayable(submission.agent)
        if commitment not in (None, submission.commitment):
            refused.append(f"another run: its commitment is {submission.commitment}")
        if is_replayed:
            line.tell("playing the games again")
            results, others = protocol.replay(results, jobs)
            refused += others
        line.tell("judging the moves")
        (found,) = judged(results, judge_of(results.tournament.rules, solution))
    if found.luck.mean > found.hidden:
        luck = f"a luck of {number(found.luck.mean)} a game"
        refused.append(f"{luck}, and chance gives at most {number(found.hidden)}")
    refused += protocol.over_budget(submission, results)
    notes = [
        f"an advantage of {number(found.hidden)} a game, by judge {found.judge}, could stay hidden",
        "every move replayed" if is_replayed else "moves and costs as reported",
    ]
    if verify and not (is_replayed and commitment):
        notes.append("self-reported: the run may have been repeated until it was lucky")
    costs = protocol.costs_of(results)
    if json:
        more = {"submission": msgspec.to_builtins(submission), "costs": costs}
        options.print_json(data(results, [found]) | more | {"refused": refused, "notes": notes})
    else:
        spent = [f"{number(cost)} {name}" for name, cost in costs.items() if cost]
        print(text_report(results, [found]), f"a move: {', '.join(spent)}", sep="\n\n")
        print(*notes, *(f"refused: {reason}" for reason in refused), sep="\n")
    return 1 if refused else 0


def mcp(
    game: options.GameOptions,
    hints: Annotated[
        str | None,
        options.taking(
            "PLAYER", "Allow the agent to ask this player for hints.", words=options.player_words
        ),
    ] = None,
) -> None:
    """Let agents play over the Model Context Protocol on stdin and stdout. Needs the extra mcp."""
    from py2048.envs.mcp import make_server

    wanted, seed = game.chosen()
    make_server(wanted, seed=seed, hints=hints).run("stdio")
