"""A job is some games of one player. The games do not depend on the process that plays them.

Each game begins with a new player, which sees the position but not the seed of the game: it can
neither remember other games nor predict tiles.
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
        player: the player's spec.
        rules: the rules.
        seed: the seed of the tournament; game `i` has the seed ``derive_seed(seed, i)``.
        games: the numbers of the games.
        recorded: whether each game is recorded.
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
        player: the player's spec.
        game: the number of the game in the tournament.
        seed: the game's seed.
        score: its score, in the points of its rules.
        max_tile: the largest tile on its last board.
        moves: the number of legal turns.
        seconds: the processor time that the player took; from outside, by the clock.
        boards: how many boards it rated, if it says so.
        tokens: how many tokens its language model wrote, if it says so.
        record: the text of its record, if games are recorded.
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
"""What logs and tables hold of a game."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """The games of a finished job.

    Attributes:
        played: the games.
        seconds: how long they took, without one-time work such as compiling.
    """

    played: tuple[GameResult, ...]
    seconds: float


def run_job(job: Job) -> JobResult:
    """Play the games of a job.

    Raises:
        PlayerError: if the player fails or answers with an illegal direction.
        Py2048Error: if the player raises one, for example because weights are missing.
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
    """Play games by the player's own loop; a random player gets a seed for each game."""
    is_random = own_seed(job.player, 0) != job.player
    parts = [[n] for n in range(len(seeds))] if is_random else [list(range(len(seeds)))]
    for part in parts:
        player = _ready(own_seed(job.player, seeds[part[0]]), job.rules)
        assert isinstance(player, PlaysGames)
        start = time.process_time()
        finished = player.play_games(job.rules, [seeds[n] for n in part])
        seconds = time.process_time() - start
        moves = sum(game.moves for game in finished) or 1
        boards = _usage(player).boards
        for n, game in zip(part, finished, strict=True):
            share = game.moves / moves
            costs = share * seconds, round(share * boards)
            yield GameResult(job.player, job.games[n], seeds[n], *game, *costs)


def own_seed(spec: str, seed: int) -> str:
    """Return the spec with a seed derived from that of a game, if the player takes one."""
    return spec if is_external(spec) else with_seed(spec, rng.derive_seed(seed, 0))


@cache
def warm_up(spec: str, rules: Rules, *, recorded: bool) -> None:
    """Load and compile what a player needs, so that this counts in no game's time."""
    if is_external(spec):
        return
    player = _ready(own_seed(spec, 0), rules)
    game = Game(rules, seed=0)
    if not game.is_over and (recorded or not isinstance(player, PlaysGames)):
        player.choose(game)


def _usage(player: Player) -> Usage:
    """Return what a player says that its moves have cost."""
    return player.usage() if isinstance(player, CountsUsage) else Usage()


def _ready(spec: str, rules: Rules) -> Player:
    """Return a new player that has loaded and compiled what it needs."""
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
    if job.recorded:  # without the time, so that the same game has the same record
        text = replace(game.record(), started="", finished="").to_json()
    usage = _usage(player)
    return GameResult(
        *(job.player, number, seed, game.score, game.board.max_tile, game.ply),
        *(usage.seconds or seconds, usage.boards, usage.tokens, text),
    )
