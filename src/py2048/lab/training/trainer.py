"""`TrainingConfig` and `Trainer`: a network in training, on several threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import WeightsError, did_you_mean, shown
from py2048.core.rng import checked_seed, derive_seed
from py2048.core.rules import Rules
from py2048.engine.rules import CompiledRules
from py2048.lab.training import _td_kernels as kernels
from py2048.players.ntuple._network_kernels import SPARE
from py2048.players.ntuple.layout import (
    PACKED_RANKS,
    NetworkLayout,
    cells_text,
    default_tuples,
    parse_tuples,
)
from py2048.players.ntuple.network import (
    Network,
    board_spec,
    check_rules,
    empty_boards,
    value_params,
)

Value = TypeVar("Value")

RECORD = 3
"""Numbers in the record of a weight with temporal coherence: itself, its E and A."""

KEPT_STARTS = 1024
"""How many boards a thread keeps for the start of each stage."""

ENDLESS = 2**62
"""More games or moves than are ever played."""

DEVICES = "cpu", "cuda", "reference"

CHANGEABLE = (
    *("learning_rate", "lambda", "trajectory_length"),
    *("restart_length", "restart_after", "ranks", "threads", "device"),
)
"""Settings that may change when a training resumes: not the meaning of its weights."""

_SHOWN = {"rules_text": "rules", "lambda_": "lambda"}
"""Settings whose field has another name."""


@dataclass(frozen=True)
class TrainingConfig:
    """The settings of a training.

    Attributes:
        rules_text: the rules, as `Rules.parse` reads them.
        tuples: the network's tuples, as `layout.parse_tuples` reads them; by default some that
            suit the board.
        stages: where later stages begin, as in `NetworkLayout`.
        ranks: how many ranks the weights distinguish, including the empty cell. On boards of up to
            four a side at most 16, and it may change during a training; larger tiles are
            downgraded, so with fewer ranks the end of long games uses what was learnt before.
        learning_rate: the share of its error that an afterstate corrects. With
            `temporal_coherence` use 1, without it about 0.1.
        lambda_: λ of TD(λ), from 0 (learn from the next value) to 1 (learn from the outcome).
        trajectory_length: how many afterstates are learnt from together, the last first: 1 is
            TD(0) after every move, a large number is TD(λ) after every game.
        temporal_coherence: whether each weight adapts its learning rate.
        optimistic_init: the value of every board before training, in points.
        carousel: whether games start in each stage in turn.
        restart_length: games of more moves are followed by one from their middle; 0 for never.
        restart_after: after how many moves of training that begins. A network that is to learn to
            build boards, too, plays whole games first.
        seed: the seed of all games.
        threads: how many games are played at the same time. With one thread, the same settings
            give the same weights, bit for bit.
        device: ``cpu``; ``cuda`` for a graphics card; or ``reference``, which does on a processor
            what a card does, bit for bit.
        games_at_once: how many games these play at the same time, instead of `threads`.

    Raises:
        WeightsError: if a value cannot be used; the message names it.
    """

    rules_text: str = "classic"
    tuples: str = ""
    stages: tuple[int, ...] = ()
    ranks: int = PACKED_RANKS
    learning_rate: float = 1.0
    lambda_: float = 0.5
    trajectory_length: int = 65536
    temporal_coherence: bool = True
    optimistic_init: float = 0.0
    carousel: bool = False
    restart_length: int = 0
    restart_after: int = 0
    seed: int = 1
    threads: int = 1
    device: str = "cpu"
    games_at_once: int = 8448

    def __post_init__(self) -> None:
        checked_seed(self.seed)
        check_device(self.device)
        check_ranges(
            self,
            ("learning_rate", 0.0, 10.0),
            ("lambda_", 0.0, 1.0),
            ("trajectory_length", 1, 10**8),
            ("optimistic_init", -1e9, 1e9),
            ("restart_length", 0, 10**8),
            ("restart_after", 0, 10**15),
            ("threads", 1, 1024),
            ("games_at_once", 1, 1 << 20),
        )
        if self.carousel and not self.stages:
            raise WeightsError("a carousel needs stages, such as 8192,16384")
        check_rules(self.layout, self.rules)

    @cached_property
    def rules(self) -> Rules:
        """The rules."""
        return Rules.parse(self.rules_text)

    @cached_property
    def layout(self) -> NetworkLayout:
        """The layout of the network."""
        shape = self.rules.shape
        tuples = parse_tuples(self.tuples or default_tuples(*shape), *shape)
        return NetworkLayout(*shape, tuples, self.stages, self.ranks)

    def changed(self, values: Mapping[str, object]) -> TrainingConfig:
        """Return the settings with other values, of those that may change during a training.

        Raises:
            WeightsError: if one may not, or a value cannot be used.
        """
        before = self.data()
        for name, value in values.items():
            if name not in CHANGEABLE and value != before.get(name):
                raise WeightsError(
                    f"--resume keeps the settings: {name} cannot change, "
                    f"only {', '.join(CHANGEABLE)}"
                )
        if (values.get("device", self.device) == "cpu") != (self.device == "cpu"):
            raise WeightsError(f"a training on the device {self.device} stays there")
        if values.get("ranks", self.ranks) != self.ranks and not self.layout.is_packed:
            raise WeightsError("ranks can change on boards of up to four a side only")
        return config_from({**before, **values})

    def data(self) -> dict[str, object]:
        """Return the settings as plain values, as `config_from` takes them."""
        values = asdict(self) | {"rules_text": str(self.rules), "stages": list(self.stages)}
        return {_SHOWN.get(name, name): value for name, value in values.items()}


def data_of(network: Network) -> dict[str, object]:
    """Return the settings that a network's weights determine, as `config_from` takes them."""
    layout = network.layout
    return {
        "rules": str(network.rules),
        "tuples": " ".join(map(cells_text, layout.tuples)),
        "stages": list(layout.stages),
        "ranks": layout.ranks,
    }


def config_from(values: Mapping[str, object]) -> TrainingConfig:
    """Return the settings that plain values describe; others are those of `TrainingConfig`.

    Raises:
        WeightsError: if a name is unknown or a value has the wrong type.
    """
    return dataclass_from(TrainingConfig, values)


def shown_names(kind: type) -> dict[str, str]:
    """Return the names of a data class's fields by those under which users set them."""
    return {_SHOWN.get(name, name): name for name in get_type_hints(kind)}


def dataclass_from(kind: type[Value], values: Mapping[str, object]) -> Value:
    """Return a data class of settings filled from plain values.

    Raises:
        WeightsError: if a name is unknown or a value has the wrong type.
    """
    kinds, fields = get_type_hints(kind), shown_names(kind)
    chosen: dict[str, Any] = {}
    for name, value in values.items():
        if name not in fields:
            raise WeightsError(f"a training has no {name!r}{did_you_mean(name, fields)}")
        chosen[fields[name]] = _typed(name, value, kinds[fields[name]])
    return kind(**chosen)


def check_device(name: str) -> None:
    """Make sure that a device has this name.

    Raises:
        WeightsError: if none has.
    """
    if name not in DEVICES:
        raise WeightsError(f"device = {name}{did_you_mean(name, DEVICES)}")


def check_ranges(settings: object, *ranges: tuple[str, float, float]) -> None:
    """Make sure that settings lie between two numbers, and all numbers of a list.

    Raises:
        WeightsError: if one does not.
    """
    for name, low, high in ranges:
        value = getattr(settings, name)
        for number in value if isinstance(value, tuple) else (value,):
            if not low <= number <= high:
                named = _SHOWN.get(name, name)
                raise WeightsError(f"{named} must be {low} to {high}, not {shown(number)}")


def _typed(name: str, value: object, kind: Any) -> object:
    if kind is float and type(value) is int and abs(value) < ENDLESS:
        return float(value)
    if kind is int and type(value) is float and value.is_integer():
        return int(value)  # such as 1e6
    if kind == tuple[int, ...]:
        if isinstance(value, list) and all(type(number) is int for number in value):
            return tuple(value)
        raise WeightsError(f"{name} = {shown(value)} must be a list of whole numbers")
    if kind == tuple[float, ...]:
        if isinstance(value, list) and all(type(number) in (int, float) for number in value):
            return tuple(map(float, value))
        raise WeightsError(f"{name} = {shown(value)} must be a list of numbers")
    if type(value) is not kind:
        raise WeightsError(f"{name} = {shown(value)} must be of type {kind.__name__}")
    return value


# --- training ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreTally:
    """The sum of the results of whole games.

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
    def of_data(cls, data: Mapping[str, Any]) -> ScoreTally:
        """Return the tally whose `data` these are."""
        ranks = np.array(data["ranks"], np.int64).reshape(64)
        return cls(int(data["games"]), float(data["total"]), float(data["squares"]), ranks)

    def data(self) -> dict[str, object]:
        """Return the results as plain values."""
        return {**vars(self), "ranks": self.ranks.tolist()}

    def rate(self, tile: int) -> float:
        """Return the share of games that reached `tile`."""
        return float(self.ranks[tile.bit_length() - 1 :].sum()) / max(self.games, 1)

    def __sub__(self, other: ScoreTally) -> ScoreTally:
        """Return the results that `other` lacks."""
        return ScoreTally(
            self.games - other.games,
            self.total - other.total,
            self.squares - other.squares,
            self.ranks - other.ranks,
        )


class TrainerBase:
    """What a training on any device has: its settings, and what is said of it.

    Args:
        config: the settings.
    """

    def __init__(self, config: TrainingConfig) -> None:
        self.config = config
        self.layout, self.rules = config.layout, config.rules
        self.history: tuple[Mapping[str, Any], ...] = ()
        self.changes: tuple[Mapping[str, object], ...] = ()

    @property
    def games(self) -> int:
        """Games played so far."""
        raise NotImplementedError

    def checked(self, network: Network) -> Network:
        """Return initial weights, and take over their history.

        Raises:
            WeightsError: if they are not for the rules and the layout of the settings.
        """
        known = len(network.layout.stages)
        if network.layout != replace(self.layout, stages=self.layout.stages[:known]):
            raise WeightsError(
                f"the tuples, ranks ({self.layout.ranks}) or first stages are not those of "
                "the initial weights: leave out these settings, or begin without weights"
            )
        if not network.compatible_with(self.rules):
            raise WeightsError(f"the initial weights are for {network.rules}")
        self.history = network.history
        return network

    def noted(self, note: Mapping[str, object] | None) -> tuple[Mapping[str, Any], ...]:
        """Return the history, with a note on this training if there is one."""
        return (*self.history, dict(note)) if note else self.history

    def note_changes(self, before: TrainingConfig) -> None:
        """Note changed settings: after how many games they changed, and their old values."""
        old, new = before.data(), self.config.data()
        changed = {name: old[name] for name in new if old[name] != new[name]}
        if changed:
            self.changes = (*self.changes, {"games": self.games, "before": changed})


class Trainer(TrainerBase):
    """Trains one network, on one or more threads.

    Args:
        config: the settings.
        network: initial weights, for the rules and layout of the settings; their last stages may
            be new.

    Attributes:
        records: float32 `[layout.weights, stride]`: each weight, with temporal coherence beside the
            sum of its errors and the sum of their sizes.
        workers: the state of each thread.
        kernel: what plays and learns, with the arguments `spec`, `value_params` and `td_params`.

    Raises:
        WeightsError: if the settings or the network cannot be used.
    """

    def __init__(self, config: TrainingConfig, network: Network | None = None) -> None:
        super().__init__(config)
        check_rules(self.layout, self.rules)
        self.stride = RECORD if config.temporal_coherence else 1
        self.records = np.zeros((self.layout.weights, self.stride), np.float32)
        if network is not None:
            self.records[: network.layout.weights, 0] = self.checked(network).weights
        elif config.optimistic_init:
            self.records[: self.layout.size, 0] = config.optimistic_init / self.layout.active
        self.spec = board_spec(self.layout, self.rules)
        self.value_params = value_params(self.layout, self.rules)
        self.td_params = td_params(config)
        self.kernel = kernels.make_train_kernel(self.layout.kind, self.stride, self.layout.code)
        starts = KEPT_STARTS if config.carousel else 0
        self.workers = [
            new_worker(self.layout, config.trajectory_length, starts) for _ in range(config.threads)
        ]
        self._seeds = [np.uint64(derive_seed(config.seed, n)) for n in range(config.threads)]

    # --- training --------------------------------------------------------------------------------

    @property
    def games(self) -> int:
        """Games played so far."""
        return sum(int(worker.progress[kernels.GAMES]) for worker in self.workers)

    @property
    def moves(self) -> int:
        """Moves played so far."""
        return sum(int(worker.progress[kernels.MOVES]) for worker in self.workers)

    @property
    def tally(self) -> ScoreTally:
        """The results of whole games so far."""
        return tally_of(self.workers)

    def run(self, *, games: int = ENDLESS, moves: int = ENDLESS) -> None:
        """Play and learn: `games` more games, or until at least `moves` more moves are made.

        Threads share the games. A game in progress is finished.
        """
        count = len(self.workers)
        shares = [games // count + (number < games % count) for number in range(count)]
        each = -(-moves // count)

        def work(number: int) -> None:
            worker, seed = self.workers[number], self._seeds[number]
            self._run(worker, self.td_params, seed, shares[number], each)

        in_threads(work, count)

    def prepare(self) -> None:
        """Compile what is needed, which takes a while the first time."""
        self._run(self.workers[0], self.td_params, self._seeds[0], 0, 0)

    def _run(
        self,
        worker: kernels.WorkerState,
        params: kernels.TDParams,
        seed: np.uint64,
        games: int,
        moves: int,
    ) -> None:
        weights = self.records.reshape(-1)
        fixed = self.spec, weights, self.value_params, params, worker, seed
        self.kernel(*fixed, np.int64(games), np.int64(moves))

    def evaluate(self, games: int, seed: int, *, threads: int | None = None) -> ScoreTally:
        """Play games without learning, with the seeds `derive_seed` ``(seed, 0)``, ``(seed, 1)`` ….

        The result does not depend on the number of threads. A `Game` with such a seed, played by
        the network's best moves, is the same game.
        """
        count = threads or len(self.workers)
        players = [new_worker(self.layout, 0) for _ in range(count)]
        params = self.td_params._replace(carousel=False, restart_length=np.int64(0))
        firsts = [games * number // count for number in range(count + 1)]

        def work(number: int) -> None:
            players[number].progress[kernels.GAMES] = firsts[number]
            share = firsts[number + 1] - firsts[number]
            self._run(players[number], params, np.uint64(seed), share, ENDLESS)

        in_threads(work, count)
        return tally_of(players)

    def network(self, note: Mapping[str, object] | None = None) -> Network:
        """Return a copy of the network, with a note on this training in its history.

        Weights of later stages that were never learnt are copied from the stage before.
        """
        weights = self.records[:, 0].reshape(-1, self.layout.size).copy()
        for stage in range(1, len(weights)):
            unknown = weights[stage] == 0
            weights[stage][unknown] = weights[stage - 1][unknown]
        return Network(self.layout, self.rules, weights.reshape(-1), self.noted(note))


def warmup_tasks() -> list[tuple[str, Callable[[], object]]]:
    """Return a first use of the trainings of each kind of board, by name."""
    kinds = "classic", "3x3", "5x5"
    return [(f"training for {name}", partial(_first_use, name)) for name in kinds]


def _first_use(rules: str) -> None:
    Trainer(TrainingConfig(rules)).prepare()


def new_worker(layout: NetworkLayout, length: int, starts: int = 0) -> kernels.WorkerState:
    """Return the state of a thread.

    Args:
        layout: the layout of the network.
        length: the longest trajectory.
        starts: how many boards are kept for the start of each stage.
    """
    stages = len(layout.stages) + 1
    return kernels.WorkerState(
        empty_boards(layout, kernels.BOARDS),
        empty_boards(layout, length),
        np.zeros(length),
        np.zeros(length, np.int64),
        np.zeros(length),
        empty_boards(layout, starts * stages),
        np.zeros(stages, np.int64),
        np.zeros(kernels.PROGRESS, np.int64),
        np.zeros(kernels.SCORES),
        np.zeros(64, np.int64),
        np.zeros((6, layout.active + SPARE), np.uint64),
        np.zeros(4, np.int64),
        np.zeros(4, np.int64),
        np.zeros(4),
    )


def tally_of(workers: list[kernels.WorkerState]) -> ScoreTally:
    """Return the results of all workers."""
    scores = np.sum([worker.scores for worker in workers], axis=0)
    ranks = np.sum([worker.tiles for worker in workers], axis=0)
    return ScoreTally(
        int(scores[kernels.FINISHED]),
        float(scores[kernels.SUM]),
        float(scores[kernels.SQUARES]),
        ranks,
    )


def in_threads(work: Callable[[int], None], count: int) -> None:
    """Call `work` with each number below `count`, on as many threads."""
    if count == 1:
        work(0)
        return
    with ThreadPoolExecutor(count, thread_name_prefix="py2048-train") as pool:
        list(pool.map(work, range(count)))


def td_params(config: TrainingConfig) -> kernels.TDParams:
    """Return the settings as kernels take them."""
    rules = CompiledRules.of(config.rules)
    return kernels.TDParams(
        float(config.learning_rate),
        float(config.lambda_),
        config.temporal_coherence,
        config.carousel,
        np.int64(config.restart_length),
        np.int64(config.restart_after // config.threads),
        np.int64(rules.merge_points),
        np.int64(rules.legal_points),
        np.int64(rules.sum_points),
        np.int64(config.rules.start.low),
        np.int64(config.rules.start.high),
        *rules.start[:2],
        *rules.spawn[:2],
    )
