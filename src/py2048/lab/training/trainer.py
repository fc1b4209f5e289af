"""Training of an n-tuple network on the CPU, on one or more threads.

`TrainingConfig` contains the settings for training on any device. `Trainer` trains on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from py2048.core.errors import WeightsError, did_you_mean, shown
from py2048.core.rng import checked_seed, derive_seed
from py2048.core.rules import Rules
from py2048.engine.rules import CompiledRules
from py2048.lab.training import _td_kernels as kernels
from py2048.lab.training.bands import BandTask
from py2048.lab.training.boards import ScoreTally, evaluate
from py2048.players.ntuple._network_kernels import SPARE
from py2048.players.ntuple.layout import (
    PACKED_RANKS,
    NetworkLayout,
    Tuple,
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
ReadArray = Callable[[str, NDArray[Any]], NDArray[Any]]
"""A function that reads an array from a checkpoint by name. The result has the shape and type of
the given array.
"""

RECORD = 3
"""Number of floats per weight with temporal coherence: the weight and two error sums."""
STARTS_PER_STAGE = 1024
"""Maximum number of start boards per thread and stage, used only with `carousel`."""
UNLIMITED = 2**62

COLUMNS = ("weights", "errors", "sizes")
"""Names of the columns of `Trainer.records` in checkpoints."""
SAVED_STATE = ("boards", "starts", "started", "progress", "scores", "tiles")
"""Fields of a thread's state that are saved in checkpoints."""
COUNTERS = {"progress": 2, "scores": kernels.SCORES, "tiles": 64}
"""Number of counters at the start of each of these `WorkerState` arrays. When threads are removed,
their counters are added to those of the first thread.
"""

DEVICES = "cpu", "cuda", "reference"

CHANGEABLE = (
    *("learning_rate", "lambda", "trajectory_length"),
    *("restart_length", "restart_after", "ranks", "threads", "device"),
)
"""Settings that may change when training is resumed, because existing weights stay valid."""

_USER_NAMES = {"rules_text": "rules", "lambda_": "lambda"}
"""Maps fields to the names of their settings, where the two differ."""


@dataclass(frozen=True)
class TrainingConfig:
    """Settings of a training run.

    Attributes:
        rules_text: The rules, in the syntax of `Rules.parse`.
        tuples: Tuples of the network, in the syntax of `layout.parse_tuples`. The default depends
            on the board size.
        stages: Thresholds of the later stages, as in `NetworkLayout`.
        ranks: Number of ranks that weights distinguish, including the empty cell. Larger tiles are
            downgraded, so that late in long games, the network reuses the weights that it learned
            with smaller tiles. On boards of up to 4x4 cells, `ranks` is at most 16, and may be
            changed when training is resumed.
        learning_rate: Share of an afterstate's error that one update corrects. Recommended values
            are 1 with `temporal_coherence` and about 0.1 without.
        lambda_: λ of TD(λ), from 0 (learning from the next value) to 1 (learning from the outcome).
        trajectory_length: Maximum number of afterstates that are updated together. A length of 1
            gives TD(0) after every move, and a long trajectory gives TD(λ) after every game.
        temporal_coherence: Whether the learning rate of each weight is adapted.
        optimistic_init: Initial value of every board, in points.
        carousel: Whether successive games start in successive stages.
        restart_length: After a game with more moves than this, the next game starts from the middle
            of that game.
        restart_after: Number of training moves before restarts begin, so that the network first
            learns from whole games.
        seed: Seed of all games.
        threads: Number of games played in parallel on the CPU. With one thread, equal settings give
            identical weights.
        device: ``cpu``, ``cuda`` for a GPU, or ``reference`` to run the GPU's algorithm on the CPU
            with identical results.
        games_at_once: Number of games played in parallel on the devices ``cuda`` and ``reference``.

    Raises:
        WeightsError: If a value is invalid.
    """

    rules_text: str = "classic"
    tuples: str = ""
    stages: tuple[int, ...] = ()
    ranks: int = PACKED_RANKS
    learning_rate: Annotated[float, Meta(ge=0.0, le=10.0)] = 1.0
    lambda_: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.5
    trajectory_length: Annotated[int, Meta(ge=1, le=10**8)] = 65536
    temporal_coherence: bool = True
    optimistic_init: Annotated[float, Meta(ge=-1e9, le=1e9)] = 0.0
    carousel: bool = False
    restart_length: Annotated[int, Meta(ge=0, le=10**8)] = 0
    restart_after: Annotated[int, Meta(ge=0, le=10**15)] = 0
    seed: int = 1
    threads: Annotated[int, Meta(ge=1, le=1024)] = 1
    device: str = "cpu"
    games_at_once: Annotated[int, Meta(ge=1, le=1 << 20)] = 8448

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self), include_extras=True).items():
            _converted(_USER_NAMES.get(name, name), getattr(self, name), kind)
        checked_seed(self.seed)
        if self.device not in DEVICES:
            raise WeightsError(f"device = {self.device}{did_you_mean(self.device, DEVICES)}")
        if self.carousel and not self.stages:
            raise WeightsError("a carousel needs stages, such as 8192,16384")
        check_rules(self.layout, self.rules)

    @classmethod
    def from_data(cls, values: Mapping[str, object]) -> TrainingConfig:
        """Create settings from plain values, for example from a TOML file.

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
        """Return a copy with changed settings, for a training run that is resumed.

        Raises:
            WeightsError: If a setting must not change or a value is invalid.
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
                f"training on the device {self.device} cannot resume on another: leave device out"
            )
        if values.get("ranks", self.ranks) != self.ranks and not self.layout.is_packed:
            raise WeightsError("ranks can only change on boards of up to 4 cells a side")
        return self.from_data({**before, **values})

    def data(self) -> dict[str, object]:
        """Return the settings as plain values, which `from_data` converts back."""
        values = asdict(self) | {"rules_text": str(self.rules), "stages": list(self.stages)}
        return {_USER_NAMES.get(name, name): value for name, value in values.items()}


def network_settings(network: Network) -> dict[str, object]:
    """Return the training settings that follow from an existing network."""
    layout = network.layout
    return {
        "rules": str(network.rules),
        "tuples": tuples_text(layout.tuples),
        "stages": list(layout.stages),
        "ranks": layout.ranks,
    }


def tuples_text(tuples: tuple[Tuple, ...]) -> str:
    """Return tuples in the syntax of `parse_tuples`."""
    return " ".join(map(cells_text, tuples))


def setting_names(kind: type) -> dict[str, str]:
    """Map the setting names that users write to the fields of a settings class."""
    return {_USER_NAMES.get(name, name): name for name in get_type_hints(kind)}


def settings_from(kind: type[Value], values: Mapping[str, object]) -> Value:
    """Create an instance of a settings class from plain values.

    Raises:
        WeightsError: If a name is unknown, or a value has the wrong type or is out of range.
    """
    types, fields = get_type_hints(kind, include_extras=True), setting_names(kind)
    arguments: dict[str, Any] = {}
    for name, value in values.items():
        if name not in fields:
            raise WeightsError(f"{name!r} is not a training setting{did_you_mean(name, fields)}")
        arguments[fields[name]] = _converted(name, value, types[fields[name]])
    return kind(**arguments)


def _converted(name: str, value: object, kind: Any) -> object:
    """Convert a TOML value to the type of a field."""
    if int in (kind, *get_args(kind)[:1]) and type(value) is float and value.is_integer():
        value = int(value)  # such as 1e6
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        reason = str(error).partition(" - at ")[0]
        raise WeightsError(f"{name} = {shown(value)}: {reason[0].lower()}{reason[1:]}") from None


# --- training ------------------------------------------------------------------------------------


class TrainerBase:
    """Base class of trainers, with their settings and the history of the network.

    Args:
        config: The settings. Their `tuples` and `ranks` must match the network's existing bands.
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
        """The current weights, float32 `[layout.weights]`."""
        raise NotImplementedError

    def start_from(self, network: Network) -> NDArray[np.float32]:
        """Return the weights of an initial network, and copy its history.

        Raises:
            WeightsError: If the rules or the layout of the network differ from the settings.
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
        """Return a copy of the network, with `note` about this training run in its history.

        The weights of later stages that were never trained are copied from the previous stage.
        """
        weights = self.weights.reshape(-1, self.layout.size).copy()
        for stage in range(1, len(weights)):
            untrained = weights[stage] == 0
            weights[stage][untrained] = weights[stage - 1][untrained]
        history = (*self.history, dict(note)) if note else self.history
        return Network(self.layout, self.rules, weights.reshape(-1), history)

    def with_band(self, step: float) -> Network:
        """Return the network of the task, including the band that is being trained."""
        assert self.task is not None, "a band is trained"
        return self.task.finished_network(self.weights, self.layout, step)

    def restore(self, read: ReadArray, before: TrainingConfig) -> None:  # noqa: ARG002
        """Record the previous values of the settings that changed when training was resumed."""
        old, new = before.data(), self.config.data()
        changed = {name: old[name] for name in new if old[name] != new[name]}
        if changed:
            self.changes = (*self.changes, {"games": self.games, "before": changed})


class Trainer(TrainerBase):
    """Trains a network or a band on CPU threads.

    Args:
        config: The settings.
        network: Initial weights. The settings may contain additional stages.
        task: The band to train instead of a whole network.

    Attributes:
        records: Trainable weights, float32 `[layout.weights, stride]`. With temporal coherence,
            each weight is followed by its two error sums.
        workers: State of each thread.
        kernel: The compiled training loop, which is called with `inputs`.

    Raises:
        WeightsError: If the settings or the network are not supported.
    """

    def __init__(
        self, config: TrainingConfig, network: Network | None = None, task: BandTask | None = None
    ) -> None:
        super().__init__(config, task)
        self.stride = RECORD if config.temporal_coherence else 1
        self.records = np.zeros((self.layout.weights, self.stride), np.float32)
        if network is not None:
            self.records[: network.layout.weights, 0] = self.start_from(network)
        elif config.optimistic_init:
            self.records[: self.layout.size, 0] = config.optimistic_init / self.layout.active
        self.spec = board_spec(self.layout, self.rules)
        self._values = value_params(self.layout, self.rules)
        band = task or BandTask.whole(self.rules)
        self._band, below = band.inputs(self.layout), band.network.layout
        self.kernel = kernels.make_train_kernel(
            *(self.layout.kind, self.stride, self.layout.code), below.code if task else ()
        )
        length, starts = config.trajectory_length, STARTS_PER_STAGE if config.carousel else 0
        self.workers = [
            new_worker(self.layout, below, length, starts) for _ in range(config.threads)
        ]
        self._seeds = [np.uint64(derive_seed(config.seed, n)) for n in range(config.threads)]

    # --- training --------------------------------------------------------------------------------

    @property
    def inputs(self) -> kernels.TrainingInputs:
        """The network and the settings in the form that the kernels expect."""
        config, rules = self.config, CompiledRules.of(self.rules)
        params = kernels.TDParams(
            float(config.learning_rate),
            float(config.lambda_),
            config.temporal_coherence,
            config.carousel,
            np.int64(config.restart_length),
            np.int64(config.restart_after // config.threads),
            rules.arrays.numbers,
            *rules.start[:2],
            *rules.spawn[:2],
        )
        weights = self.records.reshape(-1)
        return kernels.TrainingInputs(self.spec, weights, self._values, params, self._band)

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
        """Scores of all complete games so far."""
        scores = np.sum([worker.scores for worker in self.workers], axis=0)
        ranks = np.sum([worker.tiles for worker in self.workers], axis=0)
        finished, total, squares = scores.tolist()
        return ScoreTally(int(finished), total, squares, ranks)

    @property
    def passed(self) -> float:
        """Fraction of games that continued past the end of the trained band.

        Only games that started from saved boards count.
        """
        finished, passed, _ = np.sum([worker.scores for worker in self.workers], axis=0)
        return float(passed / max(finished, 1))

    @property
    def weights(self) -> NDArray[np.float32]:
        """The current weights, float32 `[layout.weights]`."""
        return self.records[:, 0]

    def run(self, *, games: int = UNLIMITED, moves: int = UNLIMITED) -> None:
        """Train for `games` more games, or until at least `moves` more moves have been played.

        The threads share the games, and each thread finishes its current game. To train a band, set
        `moves` instead of `games`.
        """
        count, inputs = len(self.workers), self.inputs
        game_shares = [games // count + (number < games % count) for number in range(count)]
        move_share = -(-moves // count)

        def train(number: int) -> None:
            ends = np.int64(game_shares[number]), np.int64(move_share)
            self.kernel(inputs, self.workers[number], self._seeds[number], *ends)

        if count == 1:
            train(0)
            return
        with ThreadPoolExecutor(count, thread_name_prefix="py2048-train") as pool:
            list(pool.map(train, range(count)))

    def prepare(self) -> None:
        """Compile the kernels, which takes some time on the first call."""
        self.run(games=0, moves=0)

    def reset_coherence(self) -> None:
        """Reset temporal coherence, so that updates of all weights use the full learning rate."""
        self.records[:, 1:] = 0

    def evaluate(self, games: int, seed: int, *, threads: int | None = None) -> ScoreTally:
        """Play games without learning, as in `boards.evaluate`."""
        return evaluate(self.network(), games, seed, threads=threads or self.config.threads)

    def arrays(self, threads: int | None = None) -> dict[str, NDArray[Any]]:
        """Return the arrays of the state by name, for a checkpoint between two games.

        Args:
            threads: Number of threads to include, by default all.
        """
        columns = {name: self.records[:, n] for n, name in enumerate(COLUMNS[: self.stride])}
        return columns | {
            f"learner{number}/{name}": getattr(worker, name)
            for number, worker in enumerate(self.workers[:threads])
            for name in SAVED_STATE
        }

    def restore(self, read: ReadArray, before: TrainingConfig) -> None:
        """Continue from a checkpoint that was saved with the settings `before`.

        If there are more threads than before, each new thread gets its own seed. The games of a
        removed thread are added to those of the first thread.
        """
        for name, target in self.arrays(before.threads).items():
            target[...] = read(name, target)
        for number in range(len(self.workers), before.threads):
            for name, count in COUNTERS.items():
                total = getattr(self.workers[0], name)
                total[:count] += read(f"learner{number}/{name}", total)[:count]
        super().restore(read, before)


def warmup_tasks() -> list[tuple[str, Callable[[], object]]]:
    """Return named functions that compile the training kernels for each kind of board."""

    def compile_for(rules: str) -> None:
        Trainer(TrainingConfig(rules)).prepare()

    kinds = "classic", "3x3", "5x5"
    return [(f"training for {name}", partial(compile_for, name)) for name in kinds]


def new_worker(
    layout: NetworkLayout, below: NetworkLayout, length: int, starts: int
) -> kernels.WorkerState:
    """Create the state of a thread.

    Args:
        layout: The network's layout.
        below: Layout of a band's base network.
        length: Capacity of the trajectory.
        starts: Number of start boards that are kept for each stage.
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
        np.zeros((4, below.active + SPARE), np.uint64),
        np.zeros(4),
    )
