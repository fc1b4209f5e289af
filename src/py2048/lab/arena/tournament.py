"""Tournaments and their results. `run_tournament` plays games on a pool of workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

from py2048.core import fairness
from py2048.core.errors import TournamentError
from py2048.core.rng import checked_seed
from py2048.core.rules import Rules
from py2048.lab.arena.jobs import GameResult, Job, JobResult, Seed
from py2048.lab.arena.pools import Pool, local_pool
from py2048.lab.interrupts import delayed_interrupts

JOB_SECONDS = 0.5
"""Target duration of a job. Sending a job takes far less time, and the interval between reports is
far longer.
"""

MAX_GAMES = 10_000_000
"""Maximum number of games per player, because all results are kept in memory."""


@dataclass(frozen=True, slots=True)
class Tournament:
    """A set of players and the games that each player plays.

    Attributes:
        players: Player specs, all different.
        rules: The rules.
        games: Number of games per player. Game `i` has the seed ``seed_of(seed, i)`` for all
            players.
        seed: Seed of all games, or a secret as in `py2048.core.fairness`.
        recorded: Whether each game is recorded.

    Raises:
        TournamentError: If there are no players, a player is listed twice, or `games` is out of
            range.
        SeedError: If `seed` is invalid.
    """

    players: tuple[str, ...]
    rules: Rules
    games: int
    seed: Seed = 0
    recorded: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.seed, str):
            checked_seed(self.seed)
        if not self.players:
            raise TournamentError("a tournament needs a player, such as greedy")
        if not 1 <= self.games <= MAX_GAMES:
            raise TournamentError(f"games must be 1 to {MAX_GAMES:,}, not {self.games}")
        for number, spec in enumerate(self.players):
            if spec in self.players[:number]:
                raise TournamentError(f"player {spec!r} is named twice: name each once")

    @property
    def public_seed(self) -> Seed:
        """The seed, or the commitment to a secret."""
        return fairness.commitment_of(self.seed) if isinstance(self.seed, str) else self.seed


class Results:
    """Finished games of a tournament.

    Attributes:
        tournament: The tournament.
    """

    def __init__(self, tournament: Tournament, played: Iterable[GameResult] = ()) -> None:
        self.tournament = tournament
        self._games: dict[str, dict[int, GameResult]] = {spec: {} for spec in tournament.players}
        self._totals = dict.fromkeys(tournament.players, 0)
        for game in played:
            self.add(game)

    def add(self, played: GameResult) -> None:
        """Add a game, unless its player or its number is not part of the tournament."""
        if played.player in self._games and played.game < self.tournament.games:
            before = self._games[played.player].get(played.game)
            self._totals[played.player] += played.score - (before.score if before else 0)
            self._games[played.player][played.game] = played

    def so_far(self, player: str) -> tuple[int, float]:
        """Return the number of games that a player has finished, and their mean score."""
        count = len(self._games[player])
        return count, self._totals[player] / max(count, 1)

    def of(self, player: str) -> Mapping[int, GameResult]:
        """Return a player's finished games, keyed by game number in ascending order."""
        return dict(sorted(self._games[player].items()))

    @property
    def count(self) -> int:
        """Number of finished games."""
        return sum(map(len, self._games.values()))

    @property
    def total(self) -> int:
        """Number of all games."""
        return self.tournament.games * len(self.tournament.players)

    @property
    def complete(self) -> bool:
        """Whether all games are finished."""
        return self.count == self.total


class Schedule:
    """Divides the remaining games into jobs.

    The next job goes to the player with the most games left, so that all players advance together.
    The first job of a player is a single game, and later jobs take about `JOB_SECONDS`.
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
        """Return the next job, or None if no games are left."""
        waiting = {spec: games for spec, games in self._waiting.items() if games}
        if not waiting:
            return None
        spec = max(waiting, key=lambda spec: len(waiting[spec]))
        games = waiting[spec]
        chosen = tuple(games.popleft() for _ in range(self._size(spec, len(games))))
        tournament = self._tournament
        return Job(spec, tournament.rules, tournament.seed, chosen, tournament.recorded)

    def note(self, job: Job, done: JobResult) -> None:
        """Update the estimate of the player's time per game from a finished job."""
        self._game_seconds[job.player] = max(done.seconds / len(job.games), 1e-6)

    def _size(self, spec: str, left: int) -> int:
        if spec not in self._game_seconds:
            return 1
        fair = -(-left // (2 * self._width))  # shorter jobs at the end keep all workers busy
        return max(1, min(fair, int(JOB_SECONDS / self._game_seconds[spec])))


def run_tournament(
    results: Results,
    pool: Pool,
    keep_going: Callable[[], bool] = lambda: True,
    save: Callable[[GameResult], None] = lambda _: None,
) -> Iterator[GameResult]:
    """Play the games that are missing from `results`; add and yield each finished game.

    A game does not depend on where it is played, so the pool only affects the order of the games.

    Args:
        results: The finished games.
        pool: The workers.
        keep_going: Function that returns whether to start more games. Games in progress are always
            finished, so that long games are not underrepresented.
        save: Function that saves a game. Interrupts are delayed until the game has been saved and
            counted, so that the log and the results agree.

    Raises:
        Py2048Error: If a player fails. `results` keeps the games that finished before the failure.
    """
    schedule = Schedule(results, pool.width)
    for job, done in pool.run_jobs(lambda: schedule.next_job() if keep_going() else None):
        schedule.note(job, done)
        for played in done.played:
            with delayed_interrupts():
                save(played)
                results.add(played)
            yield played


def compare_players(tournament: Tournament, *, jobs: int | None = None) -> Results:
    """Play a tournament on this machine.

    Args:
        tournament: The tournament.
        jobs: Number of processes, by default one per processor. With several processes, a script
            must call this function under ``if __name__ == "__main__":``.

    Raises:
        Py2048Error: If a player fails.
    """
    results = Results(tournament)
    with closing(local_pool(jobs)) as pool:
        for _ in run_tournament(results, pool):
            pass
    return results
