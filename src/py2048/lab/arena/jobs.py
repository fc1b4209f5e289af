"""Jobs: games for one player, with results that do not depend on where they are played.

Each game gets a new player, which sees positions but not the game's seed. The player can neither
remember other games nor predict tiles.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache

from py2048.core import rng
from py2048.core.errors import PlayerError, Py2048Error
from py2048.core.game import Game
from py2048.core.rules import Rules
from py2048.lab.arena.external import any_player, is_external
from py2048.players import Player
from py2048.players.player import CountsUsage, PlaysGames, ResignedError, Usage
from py2048.players.registry import with_seed


@dataclass(frozen=True, slots=True)
class Job:
    """Games for one player to play.

    Attributes:
        player: The player's spec.
        rules: The rules.
        seed: Seed of the tournament; game `i` has the seed ``derive_seed(seed, i)``.
        games: Numbers of the games.
        recorded: Whether each game is recorded.
    """

    player: str
    rules: Rules
    seed: int
    games: tuple[int, ...]
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class GameResult:
    """A finished game.

    Attributes:
        player: The player's spec.
        game: Number of the game in the tournament.
        seed: Seed of the game.
        score: Score under the rules.
        max_tile: Largest tile on the last board.
        moves: Number of legal moves.
        seconds: Processor time of the player; wall-clock time for external players.
        boards: Number of boards the player rated, if it reports them.
        tokens: Number of tokens the player's language model wrote, if it reports them.
        record: Text of the record, if games are recorded.
    """

    player: str
    game: int
    seed: int
    score: int
    max_tile: int
    moves: int
    seconds: float
    boards: int = 0
    tokens: int = 0
    record: str | None = None


COLUMNS = [field.name for field in fields(GameResult) if field.name != "record"]
"""Columns of a game in logs and tables."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """The games of a finished job.

    Attributes:
        played: The games.
        seconds: Duration without one-time work such as compilation.
    """

    played: tuple[GameResult, ...]
    seconds: float


def run_job(job: Job) -> JobResult:
    """Play the games of a job.

    Raises:
        PlayerError: If the player fails or chooses an illegal direction.
        Py2048Error: If the player raises one, for example because weights are missing.
    """
    warm_up(job.player, job.rules, recorded=job.recorded)
    start = time.perf_counter()
    return JobResult(tuple(_games(job)), time.perf_counter() - start)


def _games(job: Job) -> Iterator[GameResult]:
    seeds = [rng.derive_seed(job.seed, game) for game in job.games]
    if not job.recorded and isinstance(any_player(job.player), PlaysGames):
        yield from _whole_games(job, seeds)
        return
    for game, seed in zip(job.games, seeds, strict=True):
        try:
            yield _play(job, game, seed)
        except Py2048Error:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise PlayerError(
                f"player {job.player!r} failed in the game of seed {seed}: {what}"
            ) from error


def _whole_games(job: Job, seeds: Sequence[int]) -> Iterator[GameResult]:
    """Play games with the player's own loop; a player with a seed is created anew for each game."""
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


def own_seed(spec: str, seed: int) -> str:
    """Return the spec with a seed derived from the game's, if the player takes one."""
    return spec if is_external(spec) else with_seed(spec, rng.derive_seed(seed, 0))


@cache
def warm_up(spec: str, rules: Rules, *, recorded: bool) -> None:
    """Load and compile what a player needs, so that no game's time includes it."""
    if is_external(spec):
        return
    player = _ready(own_seed(spec, 0), rules)
    game = Game(rules, seed=0)
    if not game.is_over and (recorded or not isinstance(player, PlaysGames)):
        player.choose(game)


def _usage(player: Player) -> Usage:
    """Return the costs that a player reports."""
    return player.usage() if isinstance(player, CountsUsage) else Usage()


def _ready(spec: str, rules: Rules) -> Player:
    """Create a player that has loaded and compiled everything."""
    player = any_player(spec)
    if isinstance(player, PlaysGames):
        player.play_games(rules, [])
    return player


def _play(job: Job, number: int, seed: int) -> GameResult:
    """Play one game."""
    spec = own_seed(job.player, seed)
    player, game, seconds = _ready(spec, job.rules), Game(job.rules, seed=seed, player=spec), 0.0
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
    if job.recorded:  # without times, so that equal games have equal records
        text = replace(game.record(), started="", finished="").to_json()
    usage = _usage(player)
    return GameResult(
        *(job.player, number, seed, game.score, game.board.max_tile, game.ply),
        *(usage.seconds or seconds, usage.boards, usage.tokens, text),
    )
