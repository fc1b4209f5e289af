"""`Tournament`: who plays which games; `run_tournament` lets a pool of workers play them."""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass

from py2048.core.errors import TournamentError
from py2048.core.rng import checked_seed
from py2048.core.rules import Rules
from py2048.lab.arena.external import any_player
from py2048.lab.arena.jobs import GameResult, Job, JobResult
from py2048.lab.arena.pools import Pool, local_pool

JOB_SECONDS = 0.5
"""The aim for a job's length: long beside the cost of sending it, short between two reports."""

MAX_GAMES = 10_000_000
"""The most games of a player: each is kept in memory."""


@dataclass(frozen=True, slots=True)
class Tournament:
    """Some players and the games that each of them plays.

    Attributes:
        players: their specs, all different.
        rules: the rules.
        games: how many games each plays. Game `i` has the seed ``derive_seed(seed, i)``, for every
            player the same.
        seed: where the seeds of the games come from.
        recorded: whether each game is recorded.
        is_played: whether the players must be here; results are read without them.

    Raises:
        TournamentError: if there is no player, one is there twice, or `games` is out of range.
        PlayerError: if a spec describes no player.
        SeedError: if `seed` is not a seed.
    """

    players: tuple[str, ...]
    rules: Rules
    games: int
    seed: int = 0
    recorded: bool = False
    is_played: bool = True

    def __post_init__(self) -> None:
        checked_seed(self.seed)
        if not self.players:
            raise TournamentError("a tournament needs a player, such as greedy")
        if not 1 <= self.games <= MAX_GAMES:
            raise TournamentError(f"games must be 1 to {MAX_GAMES:,}, not {self.games}")
        for number, spec in enumerate(self.players):
            if spec in self.players[:number]:
                raise TournamentError(f"player {spec!r} is named twice: name each once")
            if self.is_played:
                any_player(spec)


class Results:
    """The finished games of a tournament.

    Attributes:
        tournament: the tournament.
    """

    def __init__(self, tournament: Tournament, played: Iterable[GameResult] = ()) -> None:
        self.tournament = tournament
        self._games: dict[str, dict[int, GameResult]] = {spec: {} for spec in tournament.players}
        self._totals = dict.fromkeys(tournament.players, 0)
        for game in played:
            self.add(game)

    def add(self, played: GameResult) -> None:
        """Add a game; ignore one of another player, or beyond the last."""
        if played.player in self._games and played.game < self.tournament.games:
            before = self._games[played.player].get(played.game)
            self._totals[played.player] += played.score - (before.score if before else 0)
            self._games[played.player][played.game] = played

    def so_far(self, player: str) -> tuple[int, float]:
        """Return how many games of a player are finished, and their mean score."""
        count = len(self._games[player])
        return count, self._totals[player] / max(count, 1)

    def of(self, player: str) -> Mapping[int, GameResult]:
        """Return the games of a player by number, ascending."""
        return dict(sorted(self._games[player].items()))

    @property
    def count(self) -> int:
        """The number of finished games."""
        return sum(map(len, self._games.values()))

    @property
    def total(self) -> int:
        """The number of all games."""
        return self.tournament.games * len(self.tournament.players)

    @property
    def complete(self) -> bool:
        """Whether all games are finished."""
        return self.count == self.total


class Schedule:
    """Divides the remaining games of a tournament into jobs.

    The player with the most games left is next, so that players advance together. The first job of
    a player is one game; later ones take about `JOB_SECONDS`.
    """

    def __init__(self, results: Results, width: int) -> None:
        self._tournament = tournament = results.tournament
        self._width = width
        self._waiting = {
            spec: deque(sorted(set(range(tournament.games)) - results.of(spec).keys()))
            for spec in tournament.players
        }
        self._game_seconds: dict[str, float] = {}

    def next_job(self) -> Job | None:
        """Return the next job, or `None` if no games are left."""
        waiting = {spec: games for spec, games in self._waiting.items() if games}
        if not waiting:
            return None
        spec = max(waiting, key=lambda spec: len(waiting[spec]))
        games = waiting[spec]
        chosen = tuple(games.popleft() for _ in range(self._size(spec, len(games))))
        tournament = self._tournament
        return Job(spec, tournament.rules, tournament.seed, chosen, tournament.recorded)

    def note(self, job: Job, done: JobResult) -> None:
        """Note from a finished job how long a game of its player takes."""
        self._game_seconds[job.player] = max(done.seconds / len(job.games), 1e-6)

    def _size(self, spec: str, left: int) -> int:
        if spec not in self._game_seconds:
            return 1
        fair = -(-left // (2 * self._width))  # short jobs at the end keep all workers busy
        return max(1, min(fair, int(JOB_SECONDS / self._game_seconds[spec])))


def run_tournament(
    results: Results,
    pool: Pool,
    keep_going: Callable[[], bool] = lambda: True,
    save: Callable[[GameResult], None] = lambda _: None,
) -> Iterator[GameResult]:
    """Play the games that `results` lacks; add each to it, and yield it.

    Only their order depends on the pool: each game is the same wherever it is played.

    Args:
        results: the finished games.
        pool: the workers.
        keep_going: asked before more games are started. After a no, games in progress are still
            finished, so that long ones are not left out.
        save: saves a game. Ctrl-C waits until the game is saved and counted, so a log and the
            results never differ.

    Raises:
        Py2048Error: as soon as a player fails; `results` has the games before.
    """
    schedule = Schedule(results, pool.width)
    running = 0
    while True:
        while running < pool.width and keep_going() and (job := schedule.next_job()):
            pool.submit(job)
            running += 1
        if not running:
            return
        job, done = pool.take()
        running -= 1
        schedule.note(job, done)
        for played in done.played:
            with _uninterrupted():
                save(played)
                results.add(played)
            yield played


def compare_players(tournament: Tournament, *, jobs: int | None = None) -> Results:
    """Play a tournament on this machine.

    Args:
        tournament: who plays what.
        jobs: the number of processes; by default one for each processor. With more than one, a
            script that calls this needs ``if __name__ == "__main__":`` around its work.

    Raises:
        Py2048Error: if a player fails.
    """
    results = Results(tournament)
    with closing(local_pool(jobs)) as pool:
        for _ in run_tournament(results, pool):
            pass
    return results


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python interrupts its main thread only
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed:
            signal.raise_signal(signal.SIGINT)
