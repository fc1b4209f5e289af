"""`Trainer`: a network in training, its threads, and everything needed to go on later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.compiled.rules import CompiledRules
from py2048.errors import WeightsError
from py2048.ntuple import _td_kernels as kernels
from py2048.ntuple import _trainer_kernels as trainers
from py2048.ntuple._value_kernels import SPARE
from py2048.ntuple.network import (
    Network,
    board_rows,
    check_rules,
    code_of,
    kind_of,
    space_of,
    worth_of,
)
from py2048.ntuple.plan import Plan
from py2048.rng import derive_seed
from py2048.rules import BoardSum, MergePoints, Rules

RECORD = 3
"""Numbers in the record of a weight that adapts its rate: itself, its E and A."""

KEPT_STARTS = 1024
"""How many boards a thread remembers for the start of each stage."""

ENDLESS = 2**62
"""More games or moves than are ever played."""


@dataclass(frozen=True)
class Tally:
    """Results of games from the beginning, added up.

    Attributes:
        games: how many.
        total: the sum of their scores.
        squares: the sum of the squares of their scores.
        ranks: int64 `[64]`: how many ended with each largest rank.
    """

    games: int
    total: float
    squares: float
    ranks: NDArray[np.int64]

    @property
    def mean(self) -> float:
        """The mean score, 0 without a game."""
        return self.total / self.games if self.games else 0.0

    @property
    def error(self) -> float:
        """The standard error of the mean, 0 with fewer than two games."""
        if self.games < 2:
            return 0.0
        spread = max(self.squares - self.total * self.mean, 0.0) / (self.games - 1)
        return float(np.sqrt(spread / self.games))

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Tally:
        """Return what `data` wrote."""
        ranks = np.array(data["ranks"], np.int64)
        return cls(int(data["games"]), float(data["total"]), float(data["squares"]), ranks)

    def data(self) -> dict[str, Any]:
        """Return the results as plain values."""
        return {**vars(self), "ranks": self.ranks.tolist()}

    def rate(self, tile: int) -> float:
        """Return the share of games that reached `tile`."""
        return float(self.ranks[tile.bit_length() - 1 :].sum()) / max(self.games, 1)

    def __sub__(self, other: Tally) -> Tally:
        """Return the results that `other` does not have yet."""
        return Tally(
            self.games - other.games,
            self.total - other.total,
            self.squares - other.squares,
            self.ranks - other.ranks,
        )


class Trainer:
    """Trains one network, on as many threads as the plan says.

    Args:
        plan: what to learn and how.
        network: weights to begin with, of the plan's rules and layout; the plan's last stages may
            be new.

    Raises:
        WeightsError: if the plan or the network cannot be used.
    """

    def __init__(self, plan: Plan, network: Network | None = None) -> None:
        self.plan = plan
        self.layout, self.rules = plan.layout, plan.rules
        check_rules(self.layout, self.rules)
        self.stride = RECORD if plan.coherent else 1
        self.records = np.zeros((self.layout.weights, self.stride), np.float32)
        self.history: tuple[Mapping[str, Any], ...] = ()
        self.changes: tuple[Mapping[str, Any], ...] = ()
        if network is not None:
            self._take(network)
        elif plan.optimism:
            self.records[: self.layout.size, 0] = plan.optimism / self.layout.active
        self._space = space_of(self.layout, self.rules)
        self._worth = worth_of(self.layout, self.rules)
        self._lesson = lesson_of(plan)
        self._kernel = trainers.kernel_for(kind_of(self.layout), self.stride, code_of(self.layout))
        self.learners = [self._learner(plan.path) for _ in range(plan.threads)]
        self._seeds = [np.uint64(derive_seed(plan.seed, n)) for n in range(plan.threads)]

    def _take(self, network: Network) -> None:
        known = len(network.layout.stages)
        if network.layout != replace(self.layout, stages=self.layout.stages[:known]):
            raise WeightsError(
                f"the plan's tuples, ranks ({self.layout.ranks}) or first stages are not those of "
                "the weights to begin with: leave them out of the plan, or begin without weights"
            )
        if not network.suits(self.rules):
            raise WeightsError(f"the weights to begin with are for {network.rules}")
        self.records[: network.layout.weights, 0] = network.weights
        self.history = network.history

    def _learner(self, path: int) -> kernels.Learner:
        stages = len(self.layout.stages) + 1
        kept = KEPT_STARTS * stages if self.plan.carousel else 0
        return kernels.Learner(
            board_rows(self.layout, kernels.BOARDS),
            board_rows(self.layout, path),
            np.zeros(path),
            np.zeros(path, np.int64),
            board_rows(self.layout, kept),
            np.zeros(stages, np.int64),
            np.zeros(kernels.PROGRESS, np.int64),
            np.zeros(kernels.SCORES),
            np.zeros(64, np.int64),
            np.zeros((6, self.layout.active + SPARE), np.uint64),
            np.zeros(4, np.int64),
            np.zeros(4, np.int64),
            np.zeros(4),
        )

    def note_changes(self, before: Plan) -> None:
        """Note after how many games the plan became another, and what it was before."""
        old, new = before.data(), self.plan.data()
        changed = {name: old[name] for name in new if old[name] != new[name]}
        if changed:
            self.changes = (*self.changes, {"games": self.games, "before": changed})

    # --- training --------------------------------------------------------------------------------

    @property
    def games(self) -> int:
        """Games played so far."""
        return sum(int(learner.progress[kernels.GAMES]) for learner in self.learners)

    @property
    def moves(self) -> int:
        """Moves played so far."""
        return sum(int(learner.progress[kernels.MOVES]) for learner in self.learners)

    @property
    def tally(self) -> Tally:
        """The results of the games from the beginning so far."""
        return tally_of(self.learners)

    def run(self, *, games: int = ENDLESS, moves: int = ENDLESS) -> None:
        """Play and learn until `games` more are over, or at least `moves` more are made.

        With several threads these are shared out among them. A game that has begun is finished.
        """
        count = len(self.learners)
        shares = [games // count + (number < games % count) for number in range(count)]
        each = -(-moves // count)

        def work(number: int) -> None:
            self._run(
                self.learners[number], self._lesson, self._seeds[number], shares[number], each
            )

        _in_threads(work, count)

    def prepare(self) -> None:
        """Compile what is needed, which takes a while the first time."""
        self._run(self.learners[0], self._lesson, self._seeds[0], 0, 0)

    def _run(
        self,
        learner: kernels.Learner,
        lesson: kernels.Lesson,
        seed: np.uint64,
        games: int,
        moves: int,
    ) -> None:
        weights = self.records.reshape(-1)
        fixed = self._space, weights, self._worth, lesson, learner, seed
        self._kernel(*fixed, np.int64(games), np.int64(moves))

    def evaluate(self, games: int, seed: int, *, threads: int | None = None) -> Tally:
        """Play `games` without learning, those of `derive_seed` ``(seed, 0)`` and on, and add up.

        The result is the same on any number of threads. A `Game` with such a seed, played by the
        network's best moves, is the same game.
        """
        count = threads or len(self.learners)
        players = [self._learner(0) for _ in range(count)]
        lesson = self._lesson._replace(carousel=False, restart=np.int64(0))
        firsts = [games * number // count for number in range(count + 1)]

        def work(number: int) -> None:
            players[number].progress[kernels.GAMES] = firsts[number]
            share = firsts[number + 1] - firsts[number]
            self._run(players[number], lesson, np.uint64(seed), share, ENDLESS)

        _in_threads(work, count)
        return tally_of(players)

    def network(self, note: Mapping[str, Any] | None = None) -> Network:
        """Return a copy of the network as it is now, with a note on this training in its history.

        Weights of later stages that were never learnt are those of the stage before.
        """
        weights = self.records[:, 0].reshape(-1, self.layout.size).copy()
        for stage in range(1, len(weights)):
            unknown = weights[stage] == 0
            weights[stage][unknown] = weights[stage - 1][unknown]
        history = (*self.history, dict(note)) if note else self.history
        return Network(self.layout, self.rules, weights.reshape(-1), history)


def evaluate(network: Network, games: int, seed: int, *, threads: int = 1) -> Tally:
    """Play games with a network, as `Trainer.evaluate` does, and add up the results."""
    return Trainer(Plan.for_network(network), network).evaluate(games, seed, threads=threads)


def tally_of(learners: list[kernels.Learner]) -> Tally:
    """Return the results of all these learners."""
    scores = np.sum([learner.scores for learner in learners], axis=0)
    ranks = np.sum([learner.tiles for learner in learners], axis=0)
    return Tally(
        int(scores[kernels.FINISHED]),
        float(scores[kernels.SUM]),
        float(scores[kernels.SQUARES]),
        ranks,
    )


def _in_threads(work: Callable[[int], None], count: int) -> None:
    if count == 1:
        work(0)
        return
    with ThreadPoolExecutor(count, thread_name_prefix="py2048-train") as pool:
        list(pool.map(work, range(count)))


def lesson_of(plan: Plan) -> kernels.Lesson:
    """Return a plan as kernels take it."""
    rules = plan.rules
    given = CompiledRules.of(rules)
    return kernels.Lesson(
        float(plan.rate),
        float(plan.trace),
        plan.coherent,
        plan.carousel,
        np.int64(plan.restart),
        np.int64(_scoring(rules)),
        np.int64(rules.start.low),
        np.int64(rules.start.high),
        *given.start[:2],
        *given.spawn[:2],
    )


def _scoring(rules: Rules) -> int:
    if isinstance(rules.scoring, MergePoints):
        return kernels.MERGES
    return kernels.BOARD_SUM if isinstance(rules.scoring, BoardSum) else kernels.PLIES
