"""`Contest`: who plays which games; `compete` has them played by a pool of workers."""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from py2048.arena.jobs import Done, Job, Played
from py2048.arena.pools import Pool
from py2048.errors import ContestError
from py2048.players import make_player
from py2048.rng import checked_seed
from py2048.rules import Rules

JOB_SECONDS = 0.5
"""About how long a job should take: long beside what passing it on costs, short for the watcher."""

MAX_GAMES = 10_000_000
"""The most games of a player: each is kept in memory."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Players who play the same games.

    Attributes:
        players: their specs, all different.
        rules: the rules.
        games: how many games each plays. Game `i` has the seed ``derive_seed(seed, i)``, for every
            player the same.
        seed: where the seeds of the games come from.
        recorded: whether each game is written down.

    Raises:
        ContestError: if there is no player, one is there twice, or `games` is out of range.
        PlayerError: if a spec describes no player.
        SeedError: if `seed` is none.
    """

    players: tuple[str, ...]
    rules: Rules
    games: int
    seed: int = 0
    recorded: bool = False

    def __post_init__(self) -> None:
        checked_seed(self.seed)
        if not self.players:
            raise ContestError("a contest needs a player, such as greedy")
        if not 1 <= self.games <= MAX_GAMES:
            raise ContestError(f"games must be 1 to {MAX_GAMES:,}, not {self.games}")
        for number, spec in enumerate(self.players):
            if spec in self.players[:number]:
                raise ContestError(f"player {spec!r} is named twice: name each once")
            make_player(spec)


class Results:
    """The games of a contest that are over.

    Attributes:
        contest: the contest.
    """

    def __init__(self, contest: Contest, played: Iterable[Played] = ()) -> None:
        self.contest = contest
        self._games: dict[str, dict[int, Played]] = {spec: {} for spec in contest.players}
        for game in played:
            self.add(game)

    def add(self, played: Played) -> None:
        """Take in a game; one of another player, or beyond the last, is none of this contest."""
        if played.player in self._games and played.game < self.contest.games:
            self._games[played.player][played.game] = played

    def of(self, player: str) -> Mapping[int, Played]:
        """Return the games of a player by their numbers, in their order."""
        return dict(sorted(self._games[player].items()))

    @property
    def count(self) -> int:
        """How many games are over."""
        return sum(map(len, self._games.values()))

    @property
    def total(self) -> int:
        """How many games there are in all."""
        return self.contest.games * len(self.contest.players)

    @property
    def complete(self) -> bool:
        """Whether all games are over."""
        return self.count == self.total


class Schedule:
    """Cuts the games of a contest that are still to be played into jobs.

    The player with the fewest games given out is next, so that players stay side by side. The
    first job of a player is one game; later ones take about `JOB_SECONDS`.
    """

    def __init__(self, results: Results, width: int) -> None:
        self._contest = contest = results.contest
        self._width = width
        self._waiting = {
            spec: deque(sorted(set(range(contest.games)) - results.of(spec).keys()))
            for spec in contest.players
        }
        self._pace: dict[str, float] = {}

    def next_job(self) -> Job | None:
        """Return the next job, or `None` if all games are given out."""
        waiting = {spec: games for spec, games in self._waiting.items() if games}
        if not waiting:
            return None
        spec = max(waiting, key=lambda spec: len(waiting[spec]))
        games = waiting[spec]
        chosen = tuple(games.popleft() for _ in range(self._size(spec, len(games))))
        contest = self._contest
        return Job(spec, contest.rules, contest.seed, chosen, contest.recorded)

    def note(self, job: Job, done: Done) -> None:
        """Learn from a finished job how long a game of its player takes."""
        self._pace[job.player] = max(done.seconds / len(job.games), 1e-6)

    def _size(self, spec: str, left: int) -> int:
        if spec not in self._pace:
            return 1
        fair = -(-left // (2 * self._width))  # towards the end no worker is left with a long job
        return max(1, min(fair, int(JOB_SECONDS / self._pace[spec])))


def compete(
    results: Results,
    pool: Pool,
    go_on: Callable[[], bool] = lambda: True,
    keep: Callable[[Played], None] = lambda _: None,
) -> Iterator[Played]:
    """Have all games played that `results` lacks; add each to it, and yield it.

    Nothing depends on the pool but the order: each game is the same wherever it is played.

    Args:
        results: the games that are over.
        pool: who plays.
        go_on: asked before further games are begun. When it says no, those that have begun are
            played to their end, so that long ones are not left out.
        keep: writes a game down. Ctrl-C waits until the game is written and counted, so a log
            and the results never differ.

    Raises:
        Py2048Error: as soon as a player fails; the games before are in `results`.
    """
    schedule = Schedule(results, pool.width)
    running = 0
    while True:
        while running < pool.width and go_on() and (job := schedule.next_job()):
            pool.submit(job)
            running += 1
        if not running:
            return
        job, done = pool.take()
        running -= 1
        schedule.note(job, done)
        for played in done.played:
            with _uninterrupted():
                keep(played)
                results.add(played)
            yield played


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until the block is done."""
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
