"""The protocol of ``py2048 benchmark-agent``: published games, a stated budget, a folder to check.

A submission is a folder: ``submission.json``, a tournament's log and a record of each game. Game
`i` of a track has the seed ``derive_seed(SEED, i)``, so the tiles are the same for every agent, and
none sees the seed. What the log says of a game is held against its record, replayed; what the moves
cost is the agent's word.
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
from py2048.lab.arena.log import GameLog, RecordFolder, play_kept
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
"""The rules and the number of games of each track; ``short`` is for agents whose moves are dear."""

COSTS = ("ms", "boards", "tokens")


class Submission(msgspec.Struct, frozen=True):
    """What ``submission.json`` says.

    Attributes:
        agent: the player's spec.
        track: one of `TRACKS`, or its first games, such as ``classic:10``.
        budget: what a move may cost on average, by the names of `COSTS`.
        machine: where it was played.
        py2048: the version that it was played with.
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
            TournamentError: if the track is unknown, or shorter.
            PlayerError: if the agent is to play and is not here.
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


def open_submission(folder: Path, wanted: Submission) -> tuple[Path, Path]:
    """Begin or continue a submission; return its log and the folder of its records.

    Raises:
        TournamentError: if another one is there, or the folder cannot be written.
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
    folder: Path, submission: Submission, jobs: int | None, tell: Callable[[str], None]
) -> Results:
    """Play the games of a submission that its folder lacks, to the end or until Ctrl-C."""
    tournament = submission.tournament()
    log, records = open_submission(folder, submission)
    return play_kept(tournament, jobs, None, log, records, tell)


def read_submission(folder: Path) -> Submission:
    """Read what a submission says of itself.

    Raises:
        TournamentError: if there is none.
    """
    path = folder / "submission.json"
    with os_errors_as(TournamentError, f"cannot read {path}"):
        data = path.read_bytes()
    try:
        return msgspec.json.decode(data, type=Submission)
    except msgspec.MsgspecError as error:
        raise TournamentError(f"{path} is not a submission: {error}") from None


def verified(folder: Path, tournament: Tournament) -> Results:
    """Return the games of a submission, each replayed from its record.

    Raises:
        TournamentError: if a game is missing, or one is not what the log says.
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
        said = (str(tournament.rules), seed, played.score, played.max_tile, played.moves)
        if found != said or not record.follows_seed():
            raise TournamentError(f"{path} is not the game of the log: {found} there, {said} here")
        results.add(replace(played, record=record.to_json()))
    if not results.complete:
        raise TournamentError(f"{folder} has {results.count} of {results.total} games")
    return results


def costs_of(results: Results) -> dict[str, float]:
    """Return what a move has cost on average, by the names of `COSTS`; 0 is not known."""
    (agent,) = results.tournament.players
    games = results.of(agent).values()
    moves = max(1, sum(game.moves for game in games))
    sums = (
        1000 * sum(game.seconds for game in games),
        sum(game.boards for game in games),
        sum(game.tokens for game in games),
    )
    return {name: total / moves for name, total in zip(COSTS, sums, strict=True)}


def over_budget(submission: Submission, results: Results) -> list[str]:
    """Return what a move has cost more of than the budget allows, or that it does not report."""
    costs = costs_of(results)
    return [name for name, most in submission.budget.items() if not 0 < costs[name] <= most]


def losses_of(results: Results, solution: Path | None) -> list[Regret]:
    """Return what moves have lost against perfect play, if that is in a `solution` or quick."""
    rules = results.tournament.rules
    if rules.cells > QUICK_CELLS and solution is None:
        return []
    return list(regrets(results, PerfectPlayer(file=str(solution or "")).solution(rules)))
