"""A job is some games of one player; whoever does it, and wherever, the games are the same.

Each game begins with a new player, which sees the position and not the seed of the game: it can
neither remember other games nor foresee its tiles.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from py2048 import rng
from py2048.board import Board
from py2048.errors import PlayerError, Py2048Error
from py2048.game import Game, Outcome, Record
from py2048.game.record import encode_turn
from py2048.game.turn import Turn, draw_spawn, draw_start, outcome_of, score_after
from py2048.players import Player, make_player
from py2048.players.registry import with_seed
from py2048.players.whole_games import PlaysGames
from py2048.rules import Rules


@dataclass(frozen=True, slots=True)
class Job:
    """Games to be played by one player.

    Attributes:
        player: the player's spec.
        rules: the rules.
        seed: the seed of the whole contest; game `i` has the seed ``derive_seed(seed, i)``.
        games: the numbers of the games.
        recorded: whether each game is written down.
    """

    player: str
    rules: Rules
    seed: int
    games: tuple[int, ...]
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class Played:
    """A game that is over.

    Attributes:
        player: the player's spec.
        game: the number of the game in the contest.
        seed: the game's seed.
        score: its score, in the points of its rules.
        max_tile: the largest tile on its last board.
        moves: its legal turns.
        seconds: the processor time that the player took for them.
        record: the text of its record, if it was asked for.
    """

    player: str
    game: int
    seed: int
    score: int
    max_tile: int
    moves: int
    seconds: float
    record: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What a job gave.

    Attributes:
        played: its games.
        seconds: how long it took, without what is done only once in a process.
    """

    played: tuple[Played, ...]
    seconds: float


def do(job: Job) -> Done:
    """Play the games of a job.

    Raises:
        PlayerError: if the player fails or answers with an illegal direction.
        Py2048Error: whatever else the player says on purpose, such as that weights are missing.
    """
    _warm_up(job.player, job.rules)
    start = time.perf_counter()
    return Done(tuple(_games(job)), time.perf_counter() - start)


def attempt(job: Job) -> Done | Py2048Error:
    """Do a job; return the error if it fails, so that it can be passed on."""
    try:
        return do(job)
    except Py2048Error as error:
        return error


def _games(job: Job) -> Iterator[Played]:
    seeds = [rng.derive_seed(job.seed, game) for game in job.games]
    if not job.recorded and isinstance(make_player(job.player), PlaysGames):
        yield from _whole_games(job, seeds)
        return
    for game, seed in zip(job.games, seeds, strict=True):
        yield _guarded(job, game, seed)


def _whole_games(job: Job, seeds: Sequence[int]) -> Iterator[Played]:
    """Play games by the player's own loop; one that draws lots gets a seed for each game."""
    draws_lots = own_seed(job.player, 0) != job.player
    parts = [[n] for n in range(len(seeds))] if draws_lots else [list(range(len(seeds)))]
    for part in parts:
        player = _ready(own_seed(job.player, seeds[part[0]]), job.rules)
        assert isinstance(player, PlaysGames)
        start = time.process_time()
        finished = player.play_games(job.rules, [seeds[n] for n in part])
        seconds = time.process_time() - start
        moves = sum(game.moves for game in finished) or 1
        for n, game in zip(part, finished, strict=True):
            share = seconds * game.moves / moves
            yield Played(job.player, job.games[n], seeds[n], *game, share)


def own_seed(spec: str, seed: int) -> str:
    """Return a spec with a seed of the player's own, for the game of `seed`, if it takes one."""
    return with_seed(spec, rng.derive_seed(seed, 0))


@cache
def _warm_up(spec: str, rules: Rules) -> None:
    """Load and compile what a player needs, so that no game's time has it."""
    player = _ready(own_seed(spec, 0), rules)
    game = Game(rules, seed=0)
    if not game.is_over:
        player.choose(game)


def _ready(spec: str, rules: Rules) -> Player:
    """Return a new player that has what it needs, and no stand-in for what is being compiled."""
    player = make_player(spec)
    if isinstance(player, PlaysGames):
        player.play_games(rules, [])
    return player


def _guarded(job: Job, game: int, seed: int) -> Played:
    """Play one game move by move, and say which one it was if the player fails."""
    try:
        return _play(job, game, seed)
    except Py2048Error:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise PlayerError(
            f"player {job.player!r} failed in the game of seed {seed}: {what}"
        ) from error


def _play(job: Job, game: int, seed: int) -> Played:
    """Play one game as a `Game` does, without remembering what is not needed."""
    rules, key = job.rules, rng.key_of(seed)
    spec = own_seed(job.player, seed)
    player = _ready(spec, rules)
    start = board = draw_start(rules, key)
    score, moves, seconds = 0, 0, 0.0
    turns: list[str] = []
    while outcome_of(rules, board) is Outcome.PLAYING:
        turn, taken = _turn(player, rules, board, rng.draw(key, moves))
        board = turn.board
        score = score_after(rules, score, turn, board)
        moves += 1
        seconds += taken
        if job.recorded:
            turns.append(encode_turn(turn))
    text = None
    if job.recorded:
        text = Record(rules, start, "".join(turns), score, seed, spec).to_json()
    return Played(job.player, game, seed, score, board.max_tile, moves, seconds, text)


def _turn(player: Player, rules: Rules, board: Board, word: int) -> tuple[Turn, float]:
    """Return the player's move with the spawn that `word` draws, and the time it thought."""
    position = Game(rules, seed=0, board=board)
    start = time.process_time()
    direction = player.choose(position)
    seconds = time.process_time() - start
    slide = board.slide(direction, rules.merging)
    if not slide.changed:
        where = " / ".join(str(board).splitlines())
        raise PlayerError(f"player {player.name!r} chose {direction}, which is illegal, on {where}")
    return Turn(direction, slide, draw_spawn(rules, slide.board, direction, word)), seconds
