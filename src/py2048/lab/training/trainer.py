"""Training an n-tuple network on the CPU, on one or more threads.

`TrainingConfig` holds the settings of a training on any device, and `Trainer` runs it on the CPU.
"""

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
from py2048.lab.training.bands import MAX_BAND_MOVES, BandTask
from py2048.players.ntuple._network_kernels import SPARE, PackedBoardSpec
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
"""Floats per weight with temporal coherence: the weight, E and A."""
STARTS_PER_STAGE = 1024
"""Start boards that each thread keeps per stage for the carousel."""
UNLIMITED = 2**62

DEVICES = "cpu", "cuda", "reference"

CHANGEABLE = (
    *("learning_rate", "lambda", "trajectory_length"),
    *("restart_length", "restart_after", "ranks", "threads", "device"),
)
"""Settings that may change when a training resumes, because weights keep their meaning."""

_USER_NAMES = {"rules_text": "rules", "lambda_": "lambda"}
"""Fields whose setting has another name."""


@dataclass(frozen=True)
class TrainingConfig:
    """Settings of a training.

    Attributes:
        rules_text: The rules, in the syntax of `Rules.parse`.
        tuples: The network's tuples, in the syntax of `layout.parse_tuples`. The default depends
            on the board size.
        stages: Where later stages begin, as in `NetworkLayout`.
        ranks: Number of ranks that weights distinguish, including the empty cell. Larger tiles are
            downgraded. On boards of up to 4 cells a side the maximum is 16, and the number may
            change during a training: with fewer ranks, the end of long games reuses what was
            learnt before.
        learning_rate: Share of its error that an afterstate corrects. Use 1 with
            `temporal_coherence` and about 0.1 without.
        lambda_: λ of TD(λ), from 0 (learn from the next value) to 1 (learn from the outcome).
        trajectory_length: Number of afterstates per update, processed from the last to the first.
            1 is TD(0) after every move; a large number is TD(λ) after every game.
        temporal_coherence: Whether each weight adapts its own learning rate.
        optimistic_init: Initial value of every board, in points.
        carousel: Whether games start in each stage in turn.
        restart_length: After a game with more moves, the next game starts from its middle. 0
            disables restarts.
        restart_after: Number of training moves before restarts begin, so that the network first
            learns from whole games.
        seed: Seed of all games.
        threads: Number of games played in parallel on the CPU. With one thread, equal settings
            give equal weights, bit for bit.
        device: ``cpu``, ``cuda`` for a GPU, or ``reference`` for the GPU's algorithm on the CPU
            with bit-for-bit equal results.
        games_at_once: Number of games played in parallel on the other two devices.

    Raises:
        WeightsError: If a value is invalid.
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
        if self.device not in DEVICES:
            raise WeightsError(f"device = {self.device}{did_you_mean(self.device, DEVICES)}")
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

    @classmethod
    def from_data(cls, values: Mapping[str, object]) -> TrainingConfig:
        """Create settings from plain values such as those of a TOML file.

        Raises:
            WeightsError: If a name is unknown or a value is invalid.
        """
        return settings_from(cls, values)

    @cached_property
    def rules(self) -> Rules:
        """The parsed rules."""
        return Rules.parse(self.rules_text)

    @cached_property
    def layout(self) -> NetworkLayout:
        """The network's layout."""
        shape = self.rules.shape
        tuples = parse_tuples(self.tuples or default_tuples(*shape), *shape)
        return NetworkLayout(*shape, tuples, self.stages, self.ranks)

    def changed(self, values: Mapping[str, object]) -> TrainingConfig:
        """Return the settings of a resumed training.

        Raises:
            WeightsError: If a setting may not change or a value is invalid.
        """
        before = self.data()
        for name, value in values.items():
            if name not in CHANGEABLE and value != before.get(name):
                raise WeightsError(
                    f"--resume keeps the settings: {name} cannot change, "
                    f"only {', '.join(CHANGEABLE)}"
                )
        if (values.get("device", self.device) == "cpu") != (self.device == "cpu"):
            raise WeightsError(
                f"a training on the device {self.device} cannot resume on another: leave device out"
            )
        if values.get("ranks", self.ranks) != self.ranks and not self.layout.is_packed:
            raise WeightsError("ranks can only change on boards of up to 4 cells a side")
        return self.from_data({**before, **values})

    def data(self) -> dict[str, object]:
        """Return the settings as plain values; the inverse of `from_data`."""
        values = asdict(self) | {"rules_text": str(self.rules), "stages": list(self.stages)}
        return {_USER_NAMES.get(name, name): value for name, value in values.items()}


def network_settings(network: Network) -> dict[str, object]:
    """Return the settings that are determined by an existing network, as plain values."""
    layout = network.layout
    return {
        "rules": str(network.rules),
        "tuples": " ".join(map(cells_text, layout.tuples)),
        "stages": list(layout.stages),
        "ranks": layout.ranks,
    }


def setting_names(kind: type) -> dict[str, str]:
    """Map the names that users write to the fields of a settings class."""
    return {_USER_NAMES.get(name, name): name for name in get_type_hints(kind)}


def settings_from(kind: type[Value], values: Mapping[str, object]) -> Value:
    """Create an instance of a settings class from plain values.

    Raises:
        WeightsError: If a name is unknown or a value has the wrong type.
    """
    types, fields = get_type_hints(kind), setting_names(kind)
    arguments: dict[str, Any] = {}
    for name, value in values.items():
        if name not in fields:
            raise WeightsError(
                f"{name!r} is not a setting of a training{did_you_mean(name, fields)}"
            )
        arguments[fields[name]] = _converted(name, value, types[fields[name]])
    return kind(**arguments)


def check_ranges(settings: object, *ranges: tuple[str, float, float]) -> None:
    """Check that settings, or all items of list settings, lie between two bounds.

    Raises:
        WeightsError: If a value is out of range.
    """
    for name, low, high in ranges:
        value = getattr(settings, name)
        for number in value if isinstance(value, tuple) else (value,):
            if not low <= number <= high:
                user_name = _USER_NAMES.get(name, name)
                raise WeightsError(f"{user_name} must be {low} to {high}, not {shown(number)}")


def _converted(name: str, value: object, kind: Any) -> object:
    """Convert a TOML value to a field's type."""
    if kind is float and type(value) is int and abs(value) < UNLIMITED:
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
    """Accumulated scores of complete games.

    Attributes:
        games: Number of games.
        total: Sum of scores.
        squares: Sum of squared scores.
        ranks: Number of games that ended with each largest rank, int64 `[64]`.
    """

    games: int
    total: float
    squares: float
    ranks: NDArray[np.int64]

    @property
    def mean(self) -> float:
        """Mean score, or 0 without games."""
        return self.total / self.games if self.games else 0.0

    @property
    def error(self) -> float:
        """Standard error of the mean, or 0 with fewer than two games."""
        if self.games < 2:
            return 0.0
        spread = max(self.squares - self.total * self.mean, 0.0) / (self.games - 1)
        return float(np.sqrt(spread / self.games))

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> ScoreTally:
        """Create a tally from the result of `data`."""
        ranks = np.array(data["ranks"], np.int64).reshape(64)
        return cls(int(data["games"]), float(data["total"]), float(data["squares"]), ranks)

    def data(self) -> dict[str, object]:
        """Return the tally as plain values."""
        return {**vars(self), "ranks": self.ranks.tolist()}

    def rate(self, tile: int) -> float:
        """Return the share of games that reached `tile`."""
        return float(self.ranks[tile.bit_length() - 1 :].sum()) / max(self.games, 1)

    def __sub__(self, other: ScoreTally) -> ScoreTally:
        """Return the games played since `other`, an earlier tally."""
        return ScoreTally(
            self.games - other.games,
            self.total - other.total,
            self.squares - other.squares,
            self.ranks - other.ranks,
        )


class TrainerBase:
    """Settings and history shared by trainers on all devices.

    Args:
        config: The settings. With a band task, `tuples` and `ranks` are those of the bands.
        task: The band to train instead of a whole network.
    """

    def __init__(self, config: TrainingConfig, task: BandTask | None = None) -> None:
        if task is not None:
            task.check()
        check_rules(config.layout, config.rules)
        self.config, self.task = config, task
        self.layout, self.rules = config.layout, config.rules
        self.history: tuple[Mapping[str, Any], ...] = ()
        self.changes: tuple[Mapping[str, object], ...] = ()

    @property
    def games(self) -> int:
        """Games played so far."""
        raise NotImplementedError

    @property
    def weights(self) -> NDArray[np.float32]:
        """The weights in training, float32 `[layout.weights]`."""
        raise NotImplementedError

    def start_from(self, network: Network) -> NDArray[np.float32]:
        """Return the weights of an initial network and take over its history.

        Raises:
            WeightsError: If the network has other rules or another layout than the settings.
        """
        known = len(network.layout.stages)
        if network.layout != replace(self.layout, stages=self.layout.stages[:known]):
            raise WeightsError(
                f"the tuples, ranks ({self.layout.ranks}) or first stages differ from those of "
                "the initial weights: leave these settings out, or start without weights"
            )
        if not network.compatible_with(self.rules):
            raise WeightsError(f"the initial weights are for {network.rules}, not {self.rules}")
        self.history = network.history
        return network.weights

    def network(self, note: Mapping[str, object] | None = None) -> Network:
        """Return a copy of the network, with `note` about this training in its history.

        Weights of later stages that were never trained are copied from the stage before.
        """
        weights = self.weights.reshape(-1, self.layout.size).copy()
        for stage in range(1, len(weights)):
            untrained = weights[stage] == 0
            weights[stage][untrained] = weights[stage - 1][untrained]
        history = (*self.history, dict(note)) if note else self.history
        return Network(self.layout, self.rules, weights.reshape(-1), history)

    def with_band(self, step: float) -> Network:
        """Return the task's network with the band as trained so far."""
        assert self.task is not None, "a band is trained"
        return self.task.finished_network(self.weights, self.layout, step)

    def note_changes(self, before: TrainingConfig) -> None:
        """Record the old values of settings that changed when the training was resumed."""
        old, new = before.data(), self.config.data()
        changed = {name: old[name] for name in new if old[name] != new[name]}
        if changed:
            self.changes = (*self.changes, {"games": self.games, "before": changed})


class Trainer(TrainerBase):
    """Trains a network or a band on CPU threads.

    Args:
        config: The settings.
        network: Initial weights. The settings may add stages to them.
        task: The band to train instead of a whole network.

    Attributes:
        records: Trainable weights, float32 `[layout.weights, stride]`. With temporal coherence,
            each weight is followed by its E and A.
        workers: State of each thread.
        kernel: Compiled training loop, called with `spec`, `value_params` and `td_params`.

    Raises:
        WeightsError: If the settings or the network cannot be used.
    """

    def __init__(
        self,
        config: TrainingConfig,
        network: Network | None = None,
        task: BandTask | None = None,
    ) -> None:
        super().__init__(config, task)
        self.stride = RECORD if config.temporal_coherence else 1
        self.records = np.zeros((self.layout.weights, self.stride), np.float32)
        if network is not None:
            self.records[: network.layout.weights, 0] = self.start_from(network)
        elif config.optimistic_init:
            self.records[: self.layout.size, 0] = config.optimistic_init / self.layout.active
        self.spec = board_spec(self.layout, self.rules)
        self.value_params = value_params(self.layout, self.rules)
        self.kernel = kernels.make_train_kernel(self.layout.kind, self.stride, self.layout.code)
        length = MAX_BAND_MOVES if task else config.trajectory_length
        starts = STARTS_PER_STAGE if config.carousel else 0
        self.workers = [new_worker(self.layout, length, starts) for _ in range(config.threads)]
        self._seeds = [np.uint64(derive_seed(config.seed, n)) for n in range(config.threads)]
        if task:
            self._prepare_band(task)

    def _prepare_band(self, task: BandTask) -> None:
        context = task.context(self.layout)
        below, rules = context.network, CompiledRules.of(self.rules)
        assert isinstance(below.spec, PackedBoardSpec), "the board is 4x4"
        assert isinstance(self.spec, PackedBoardSpec), "the board is 4x4"
        self._band_network = kernels.BandNetwork(
            kernels.Below(
                *(below.spec, below.table, np.float32(below.step), self.spec),
                *(float(rules.merge_points), rules.points_per_move),
            ),
            self.records.reshape(-1),
            context.band._replace(stride=np.uint64(self.stride)),
            context.above_weights,
            context.above,
        )
        self._band_kernel = kernels.make_band_kernel(
            self.stride, below.layout.code, self.layout.code
        )
        self._band_workers = [
            kernels.BandWorker(
                worker, np.zeros((4, below.layout.active + SPARE), np.uint64), np.zeros(4)
            )
            for worker in self.workers
        ]

    # --- training --------------------------------------------------------------------------------

    @property
    def td_params(self) -> kernels.TDParams:
        """The settings in the form that kernels take."""
        config, rules = self.config, CompiledRules.of(self.rules)
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
            np.int64(self.rules.start.low),
            np.int64(self.rules.start.high),
            *rules.start[:2],
            *rules.spawn[:2],
        )

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
        """Scores of the complete games so far."""
        return _tally(self.workers)

    @property
    def passed(self) -> float:
        """Share of a band's games from saved boards that left the band upwards."""
        finished, passed, _ = np.sum([worker.scores for worker in self.workers], axis=0)
        return float(passed / max(finished, 1))

    @property
    def weights(self) -> NDArray[np.float32]:
        """The weights in training, float32 `[layout.weights]`."""
        return self.records[:, 0]

    def run(self, *, games: int = UNLIMITED, moves: int = UNLIMITED) -> None:
        """Train for `games` more games, or until at least `moves` more moves are played.

        Threads share the games, and each finishes its game in progress. A band is trained for
        a number of moves only.
        """
        count, params = len(self.workers), self.td_params
        game_shares = [games // count + (number < games % count) for number in range(count)]
        move_share = -(-moves // count)

        def train(number: int) -> None:
            worker, seed = self.workers[number], self._seeds[number]
            if self.task is None:
                self._run(worker, params, seed, game_shares[number], move_share)
                return
            band_worker, starts = self._band_workers[number], self.task.starts
            fixed = self._band_network, self.value_params, params
            self._band_kernel(*fixed, band_worker, starts, seed, np.int64(move_share))

        in_threads(train, count)

    def prepare(self) -> None:
        """Compile the kernels, which takes a while the first time."""
        self.run(games=0, moves=0)

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

    def reset_coherence(self) -> None:
        """Reset E and A of all weights, so that they learn at the full rate again."""
        self.records[:, 1:] = 0

    def evaluate(self, games: int, seed: int, *, threads: int | None = None) -> ScoreTally:
        """Play games without learning, with seeds `derive_seed` ``(seed, 0)``, ``(seed, 1)`` ….

        The result does not depend on the number of threads. A `Game` with the same seed, played
        by the network's best moves, is identical.
        """
        count = threads or len(self.workers)
        players = [new_worker(self.layout, 0) for _ in range(count)]
        params = self.td_params._replace(carousel=False, restart_length=np.int64(0))
        firsts = [games * number // count for number in range(count + 1)]

        def play(number: int) -> None:
            players[number].progress[kernels.GAMES] = firsts[number]
            share = firsts[number + 1] - firsts[number]
            self._run(players[number], params, np.uint64(seed), share, UNLIMITED)

        in_threads(play, count)
        return _tally(players)


def warmup_tasks() -> list[tuple[str, Callable[[], object]]]:
    """Return named callables that compile the training kernels of each board kind."""

    def compile_for(rules: str) -> None:
        Trainer(TrainingConfig(rules)).prepare()

    kinds = "classic", "3x3", "5x5"
    return [(f"training for {name}", partial(compile_for, name)) for name in kinds]


def new_worker(layout: NetworkLayout, length: int, starts: int = 0) -> kernels.WorkerState:
    """Create the state of a thread.

    Args:
        layout: The network's layout.
        length: Capacity of the trajectory.
        starts: Number of start boards kept per stage.
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


def _tally(workers: list[kernels.WorkerState]) -> ScoreTally:
    scores = np.sum([worker.scores for worker in workers], axis=0)
    ranks = np.sum([worker.tiles for worker in workers], axis=0)
    return ScoreTally(
        int(scores[kernels.FINISHED]),
        float(scores[kernels.SUM]),
        float(scores[kernels.SQUARES]),
        ranks,
    )


def in_threads(work: Callable[[int], None], count: int) -> None:
    """Call `work` with each number below `count`, each on its own thread."""
    if count == 1:
        work(0)
        return
    with ThreadPoolExecutor(count, thread_name_prefix="py2048-train") as pool:
        list(pool.map(work, range(count)))
