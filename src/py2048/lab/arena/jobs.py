"""A job is a batch of games for one player. The results do not depend on where a job runs.

Each game is played by a new player, which sees positions but not the seed of the game. A player
that knows the seed of the tournament can still predict tiles, so the agent benchmark draws tiles
from a secret.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache

from py2048.core import fairness, rng
from py2048.core.errors import PlayerError, Py2048Error
from py2048.core.game import Game
from py2048.core.rules import Rules
from py2048.lab.arena.external import any_player, is_external
from py2048.players import Player
from py2048.players.player import CountsUsage, PlaysGames, ResignedError, Usage
from py2048.players.registry import with_seed

Seed = int | str
"""Integers seed the documented generator; strings are secrets of `py2048.core.fairness`."""


def seed_of(seed: Seed, game: int) -> Seed:
    """Return the seed of a game, or its secret if the series has a secret."""
    if isinstance(seed, str):
        return fairness.derived_secret(seed, game)
    return rng.derive_seed(seed, game)


@dataclass(frozen=True, slots=True)
class Job:
    """Games for one player to play.

    Attributes:
        player: The player's spec.
        rules: The rules.
        seed: Seed of the tournament; game `i` has the seed ``seed_of(seed, i)``.
        games: Numbers of the games.
        recorded: Whether each game is recorded.
    """

    player: str
    rules: Rules
    seed: Seed
    games: tuple[int, ...]
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class GameResult:
    """A finished game.

    Attributes:
        player: The player's spec.
        game: Number of the game in the tournament.
        seed: Seed or secret of the game.
        score: Score under the rules.
        max_tile: Largest tile on the final board.
        moves: Number of legal moves.
        seconds: CPU time of the player, or wall-clock time for external players.
        boards: Number of boards that the player rated, if the player reports this number.
        tokens: Number of tokens written by the player's language model, if the player reports this
            number.
        record: The record as text, if games are recorded.
    """

    player: str
    game: int
    seed: Seed
    score: int
    max_tile: int
    moves: int
    seconds: float
    boards: int = 0
    tokens: int = 0
    record: str | None = None


COLUMNS = [field.name for field in fields(GameResult) if field.name != "record"]
"""Columns for a game in logs and tables."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """The games of a finished job.

    Attributes:
        played: The games.
        seconds: Duration of the job, excluding one-time work such as compilation.
    """

    played: tuple[GameResult, ...]
    seconds: float


def run_job(job: Job) -> JobResult:
    """Play the games of a job.

    Raises:
        PlayerError: If the player fails or chooses an illegal direction.
        Py2048Error: If the player raises this error, for example because weights are missing.
    """
    warm_up(job.player, job.rules, recorded=job.recorded)
    start = time.perf_counter()
    return JobResult(tuple(_games(job)), time.perf_counter() - start)


def _games(job: Job) -> Iterator[GameResult]:
    seeds = [seed_of(job.seed, game) for game in job.games]
    if not job.recorded and isinstance(any_player(job.player), PlaysGames):
        yield from _whole_games(job, [seed for seed in seeds if isinstance(seed, int)])
        return
    for game, seed in zip(job.games, seeds, strict=True):
        try:
            yield _play(job, game, seed)
        except Py2048Error:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise PlayerError(f"player {job.player!r} failed in game {game}: {what}") from error


def _whole_games(job: Job, seeds: Sequence[int]) -> Iterator[GameResult]:
    """Play games with the player's own game loop.

    A player that accepts a seed is created anew for each game.
    """
    groups: dict[str, list[tuple[int, int]]] = {}
    for number, seed in zip(job.games, seeds, strict=True):
        groups.setdefault(own_seed(job.player, seed), []).append((number, seed))
    for spec, games in groups.items():
        player = _ready(spec, job.rules)
        assert isinstance(player, PlaysGames)
        start = time.process_time()
        finished = player.play_games(job.rules, [seed for _, seed in games])
        seconds = time.process_time() - start
        moves, boards = sum(game.moves for game in finished) or 1, _usage(player).boards
        for (number, seed), game in zip(games, finished, strict=True):
            share = game.moves / moves
            costs = share * seconds, round(share * boards)
            yield GameResult(job.player, number, seed, *game, *costs)


def own_seed(spec: str, seed: Seed) -> str:
    """Return the spec with a seed derived from the game's seed, if the player accepts a seed."""
    own = seed_of(seed, 0)
    number = own if isinstance(own, int) else int(own[:16], 16)
    return spec if is_external(spec) else with_seed(spec, number)


@cache
def warm_up(spec: str, rules: Rules, *, recorded: bool) -> None:
    """Load and compile everything that a player needs, so that no game has to wait for it."""
    if is_external(spec):
        return
    player = _ready(own_seed(spec, 0), rules)
    game = Game(rules, seed=0)
    if not game.is_over and (recorded or not isinstance(player, PlaysGames)):
        player.choose(game)


def _usage(player: Player) -> Usage:
    """Return the costs that a player reports for its moves."""
    return player.usage() if isinstance(player, CountsUsage) else Usage()


def _ready(spec: str, rules: Rules) -> Player:
    """Create a player, and load and compile everything that it needs."""
    player = any_player(spec)
    if isinstance(player, PlaysGames):
        player.play_games(rules, [])
    return player


def _play(job: Job, number: int, seed: Seed) -> GameResult:
    """Play one game."""
    spec, seconds = own_seed(job.player, seed), 0.0
    player = _ready(spec, job.rules)
    if isinstance(seed, str):
        game = Game(job.rules, draws=fairness.draws_of(seed), player=spec)
    else:
        game = Game(job.rules, seed=seed, player=spec)
    while not game.is_over:
        position = Game(job.rules, seed=0, board=game.board)
        start = time.process_time()
        try:
            direction = player.choose(position)
        except ResignedError:
            break
        seconds += time.process_time() - start
        if direction not in game.legal_directions():
            where = " / ".join(str(game.board).splitlines())
            raise PlayerError(
                f"player {player.name!r} chose {direction}, which is illegal, on {where}"
            )
        game.play(direction)
    text = None
    if job.recorded:  # Omit the times, so that identical games have identical records.
        text = replace(game.record(), started="", finished="").to_json()
    usage = _usage(player)
    return GameResult(
        *(job.player, number, seed, game.score, game.board.max_tile, game.ply),
        *(usage.seconds or seconds, usage.boards, usage.tokens, text),
    )
