"""The protocol of ``py2048 benchmark-agent``: published games and verifiable submissions.

A submission is a folder with ``submission.json``, a tournament log and a record of each game.
Game `i` of a track has the seed ``derive_seed(SEED, i)``, so all agents play the same games. No
agent sees the seed. Verification replays every record and compares it with the log. Costs per move
are reported by the agent and cannot be verified.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec

from py2048.core import rng
from py2048.core.errors import RecordError, TournamentError, os_errors_as, shown
from py2048.core.game import Record
from py2048.core.game.record import write_atomically
from py2048.core.rules import get_rules
from py2048.lab.arena.log import GameLog, RecordFolder, play_and_save
from py2048.lab.arena.statistics import Regret, regrets
from py2048.lab.arena.tournament import Results, Tournament
from py2048.players.perfect import QUICK_CELLS, PerfectPlayer

SEED = 2048

TRACKS: Mapping[str, tuple[str, int]] = {
    "classic": ("classic", 100),
    "short": ("classic:target=512,end=target", 20),
    "3x3": ("3x3", 200),
    "2x4": ("2x4", 200),
}
"""Rules and number of games of each track. ``short`` is for agents with expensive moves."""


class AgentSubmission(msgspec.Struct, frozen=True):
    """Contents of ``submission.json``.

    Attributes:
        agent: The player's spec.
        track: A name in `TRACKS`, optionally limited to its first games, as in ``classic:10``.
        budget: Maximum mean cost per move, keyed as in `costs_of`.
        machine: Machine on which the games were played.
        py2048: Version of py2048 with which they were played.
    """

    agent: str
    track: str
    budget: dict[str, float]
    machine: str
    py2048: str
    format: Literal["py2048 submission"] = "py2048 submission"
    version: Literal[1] = 1

    def tournament(self, *, is_played: bool = True) -> Tournament:
        """Return the games of the track.

        Raises:
            TournamentError: If the track is unknown or has fewer games.
            PlayerError: If the agent is needed to play but is not available.
        """
        name, colon, count = self.track.partition(":")
        rules, games = TRACKS.get(name, ("", 0))
        if not rules or (
            colon and not (count.isdecimal() and len(count) < 6 and 1 <= int(count) <= games)
        ):
            raise TournamentError(
                f"{shown(self.track)} is not a track: choose one of {', '.join(TRACKS)}, or its "
                "first games, such as classic:10"
            )
        first = int(count or games)
        return Tournament(
            (self.agent,), get_rules(rules), first, SEED, recorded=True, is_played=is_played
        )


def open_submission(folder: Path, wanted: AgentSubmission) -> tuple[Path, Path]:
    """Begin or continue a submission; return the paths of its log and its records.

    Raises:
        TournamentError: If the folder holds another submission or cannot be written.
    """
    path = folder / "submission.json"
    with os_errors_as(TournamentError, f"cannot write {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists():
            here = read_submission(folder)
            if (here.agent, here.track) != (wanted.agent, wanted.track):
                raise TournamentError(
                    f"{folder} holds {here.agent} on {here.track}: choose another folder"
                )
        text = msgspec.json.format(msgspec.json.encode(wanted), indent=1)
        write_atomically(path, text + b"\n")
    return folder / "games.jsonl", folder / "records"


def play(
    folder: Path, submission: AgentSubmission, jobs: int | None, tell: Callable[[str], None]
) -> Results:
    """Play the missing games of a submission, to the end or until Ctrl-C."""
    tournament = submission.tournament()
    log, records = open_submission(folder, submission)
    return play_and_save(tournament, jobs, None, log, records, tell)


def read_submission(folder: Path) -> AgentSubmission:
    """Read a folder's ``submission.json``.

    Raises:
        TournamentError: If it is missing or invalid.
    """
    path = folder / "submission.json"
    with os_errors_as(TournamentError, f"cannot read {path}"):
        data = path.read_bytes()
    try:
        return msgspec.json.decode(data, type=AgentSubmission)
    except msgspec.MsgspecError as error:
        raise TournamentError(f"{path} is not a submission: {error}") from None


def verified(folder: Path, tournament: Tournament) -> Results:
    """Return a submission's games after replaying each from its record.

    Raises:
        TournamentError: If a game is missing, or a record contradicts the log.
    """
    records, results = RecordFolder(folder / "records", tournament), Results(tournament)
    for played in GameLog(folder / "games.jsonl", tournament, to_add=False).played:
        path = records.path_of(played)
        try:
            record = Record.load(path)
            record.verify()
        except RecordError as error:
            raise TournamentError(str(error)) from None
        board = record.replayed[-1][0] if record.replayed else record.start
        found = (str(record.rules), record.seed, record.score, board.max_tile, record.plies)
        seed = rng.derive_seed(SEED, played.game)
        logged = (str(tournament.rules), seed, played.score, played.max_tile, played.moves)
        if found != logged or not record.follows_seed():
            raise TournamentError(
                f"{path} contradicts the log: {found} in the record, {logged} in the log"
            )
        results.add(replace(played, record=record.to_json()))
    if not results.complete:
        raise TournamentError(f"{folder} has {results.count} of {results.total} games")
    return results


def costs_of(results: Results) -> dict[str, float]:
    """Return the mean cost per move in milliseconds, boards and tokens; 0 means unknown."""
    (agent,) = results.tournament.players
    games = results.of(agent).values()
    moves = max(1, sum(game.moves for game in games))
    return {
        "ms": 1000 * sum(game.seconds for game in games) / moves,
        "boards": sum(game.boards for game in games) / moves,
        "tokens": sum(game.tokens for game in games) / moves,
    }


def over_budget(submission: AgentSubmission, results: Results) -> list[str]:
    """Return the names of costs that exceed the budget or were not reported."""
    costs = costs_of(results)
    return [name for name, most in submission.budget.items() if not 0 < costs[name] <= most]


def losses_of(results: Results, solution: Path | None) -> list[Regret]:
    """Return the regret against perfect play, from `solution` or solved if that is quick."""
    rules = results.tournament.rules
    if rules.cells > QUICK_CELLS and solution is None:
        return []
    return list(regrets(results, PerfectPlayer(file=str(solution or "")).solution(rules)))
