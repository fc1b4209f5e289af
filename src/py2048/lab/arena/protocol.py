"""The protocol of ``py2048 benchmark-agent``: secret tiles and verifiable submissions.

A submission is a folder with ``submission.json``, a tournament log and a record of each game. All
tiles are drawn from a new secret. ``submission.json`` contains a commitment to the secret from the
beginning, and the secret itself when all games are over (see `py2048.core.fairness`).

Verification replays each record and checks every tile against the secret. If the agent is part of
py2048, it plays the games again and must make the same moves. An agent that knows the tiles in
advance has more luck than chance allows.

Submitters could repeat a run and keep only the best result. A submission counts as self-reported
unless its commitment was published before the run and its moves were replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec

from py2048.core import fairness
from py2048.core.errors import RecordError, TournamentError, os_errors_as, shown
from py2048.core.game import Record
from py2048.core.game.record import write_atomically
from py2048.core.rules import get_rules
from py2048.lab.arena.external import any_player, is_external
from py2048.lab.arena.jobs import seed_of
from py2048.lab.arena.log import GameLog, RecordFolder, play_and_save
from py2048.lab.arena.report import number
from py2048.lab.arena.tournament import Results, Tournament, compare_players
from py2048.players.registry import entries, player_options
from py2048.review.games import last_board

TRACKS: Mapping[str, tuple[str, int]] = {
    "classic": ("classic", 100),
    "short": ("classic:target=512,end=target", 20),
    "3x3": ("3x3", 200),
    "2x4": ("2x4", 200),
}
"""Rules and number of games for each track. ``short`` is for agents with expensive moves."""

SUBMISSION, LOG, RECORDS, SECRET = "submission.json", "games.jsonl", "records", "secret"
"""The files of a submission. The secret is kept in a separate file until all games are over."""


class AgentSubmission(msgspec.Struct, frozen=True):
    """Contents of ``submission.json``.

    Attributes:
        agent: The player's spec.
        track: A name in `TRACKS`. ``classic:10`` selects the first ten games of a track.
        budget: Maximum mean cost per move, keyed by the names in `costs_of`.
        machine: Description of the machine that played the games.
        py2048: Version of py2048 that played the games.
        commitment: Commitment to the secret.
        secret: The secret, or an empty string until all games are over.
    """

    agent: str
    track: str
    budget: dict[str, float]
    machine: str
    py2048: str
    commitment: str = ""
    secret: str = ""
    format: Literal["py2048 submission"] = "py2048 submission"
    version: Literal[2] = 2

    def tournament(self, secret: str = "") -> Tournament:
        """Return a tournament with the games of a track. Tiles are drawn from `secret`.

        Raises:
            TournamentError: If the track is unknown or has fewer games than requested.
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
        first, seed = int(count or games), secret or self.secret
        return Tournament((self.agent,), get_rules(rules), first, seed, recorded=True)

    def save(self, folder: Path) -> None:
        """Write ``submission.json``."""
        text = msgspec.json.format(msgspec.json.encode(self), indent=1)
        write_atomically(folder / SUBMISSION, text + b"\n")


def begin(folder: Path, wanted: AgentSubmission) -> tuple[AgentSubmission, str]:
    """Begin or continue a submission; return it together with its secret.

    Raises:
        TournamentError: If the folder contains a different submission or cannot be written.
    """
    wanted.tournament()  # Errors are raised before anything is written.
    any_player(wanted.agent)
    hidden, secret = folder / SECRET, fairness.new_secret()
    with os_errors_as(TournamentError, f"cannot write {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / SUBMISSION).exists():
            here = read_submission(folder)
            if (here.agent, here.track) != (wanted.agent, wanted.track):
                raise TournamentError(
                    f"{folder} holds {here.agent} on {here.track}: choose another folder"
                )
            secret = here.secret or hidden.read_text()
        hidden.touch(mode=0o600)
        hidden.write_text(secret)
        begun = msgspec.structs.replace(wanted, commitment=fairness.commitment_of(secret))
        begun.save(folder)
    return begun, secret


def play(
    folder: Path,
    submission: AgentSubmission,
    secret: str,
    jobs: int | None,
    tell: Callable[[str], None],
) -> Results:
    """Play the remaining games, and publish the secret when all games are over."""
    tournament = submission.tournament(secret)
    results = play_and_save(tournament, jobs, folder / LOG, folder / RECORDS, tell)
    if results.complete:
        with os_errors_as(TournamentError, f"cannot write {folder}"):
            msgspec.structs.replace(submission, secret=secret).save(folder)
            (folder / SECRET).unlink()
    return results


def read_submission(folder: Path) -> AgentSubmission:
    """Read a folder's ``submission.json``.

    Raises:
        TournamentError: If the submission is missing or invalid.
    """
    path = folder / SUBMISSION
    with os_errors_as(TournamentError, f"cannot read {path}"):
        data = path.read_bytes()
    try:
        return msgspec.json.decode(data, type=AgentSubmission)
    except msgspec.MsgspecError as error:
        raise TournamentError(f"{path} is not a submission: {error}") from None


def verified(folder: Path) -> Results:
    """Check a submission's records against its log and its secret; return the games.

    Raises:
        RecordError: If the secret is not hexadecimal, or a record cannot be read.
        TournamentError: If a game is missing, or a record contradicts the log, the secret or the
            commitment.
    """
    submission = read_submission(folder)
    tournament = submission.tournament()
    if tournament.public_seed != submission.commitment:
        raise TournamentError(f"{folder / SUBMISSION}: the secret does not match the commitment")
    records, results = RecordFolder(folder / RECORDS, tournament), Results(tournament)
    for played in GameLog(folder / LOG, tournament, to_add=False).played:
        path, secret = records.path_of(played), str(seed_of(submission.secret, played.game))
        record = Record.load(path)
        try:
            fairness.check_fair(record, secret)
        except RecordError as error:
            raise TournamentError(f"{path}: {error}") from None
        found = (str(record.rules), record.score, last_board(record).max_tile, record.plies)
        logged = (str(tournament.rules), played.score, played.max_tile, played.moves)
        if found != logged:
            raise TournamentError(
                f"{path} contradicts the log: {found} in the record, {logged} in the log"
            )
        results.add(replace(played, record=record.to_json()))
    if not results.complete:
        raise TournamentError(f"{folder} has {results.count} of {results.total} games")
    return results


def is_replayable(spec: str) -> bool:
    """Return whether an agent is part of py2048 and always chooses the same moves."""
    name = spec.partition(":")[0].strip()
    if is_external(spec) or name not in entries() or not entries()[name].value.startswith("py2048"):
        return False
    limit = player_options(name).get("ms")
    return limit is None or (limit.default is None and "ms=" not in spec)


def replay(results: Results, jobs: int | None) -> tuple[Results, list[str]]:
    """Play a submission's games again with the same agent.

    Returns:
        The replayed games, and a message for each game whose moves differ from its record.

    Raises:
        PlayerError: If files that the agent needs are missing on this machine.
    """
    again = compare_players(results.tournament, jobs=jobs)
    (agent,) = results.tournament.players
    return again, [
        f"game {number}: {agent} makes other moves here than in its record"
        for number, played in results.of(agent).items()
        if played.record != again.of(agent)[number].record
    ]


def costs_of(results: Results) -> dict[str, float]:
    """Return the mean time in ms, boards evaluated and tokens used per move.

    Unknown values are 0.
    """
    (agent,) = results.tournament.players
    games = results.of(agent).values()
    moves = max(1, sum(game.moves for game in games))
    return {
        "ms": 1000 * sum(game.seconds for game in games) / moves,
        "boards": sum(game.boards for game in games) / moves,
        "tokens": sum(game.tokens for game in games) / moves,
    }


def over_budget(submission: AgentSubmission, results: Results) -> list[str]:
    """Return a message for each cost that exceeds the budget or was not reported."""
    costs = costs_of(results)
    return [
        f"over the budget: {number(costs[name])} {name} a move, {most:g} allowed"
        for name, most in submission.budget.items()
        if not 0 < costs[name] <= most
    ]
