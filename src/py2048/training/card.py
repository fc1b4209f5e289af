"""`CardTrainer`: a network in training by thousands of games at once, as on a graphics card.

``_card_kernels.py`` says how it learns. The device ``cuda`` is a card, ``reference`` this
processor, which gives the same weights bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from py2048.compiled import cuda
from py2048.compiled.rules import CompiledRules
from py2048.errors import WeightsError
from py2048.ntuple._network_kernels import PackedBoardSpec
from py2048.ntuple.layout import NetworkLayout
from py2048.ntuple.network import NEVER, Network, board_spec, check_rules
from py2048.rng import key_of
from py2048.rules import MergePoints
from py2048.training import _card_kernels as kernels
from py2048.training._td_kernels import BandView
from py2048.training.trainer import ENDLESS, ScoreTally, TrainerBase, TrainingConfig

DELAY = 6
"""The most afterstates that wait for their update."""
STEPS = 128
"""How many steps are taken between two looks at how far the training is."""
GROWTH = (240 * STEPS, 8), (560 * STEPS, 4), (1600 * STEPS, 2)
"""``(steps, n)``: up to that step one game in n is played, as few games learn more from a move."""
MAX_RANK = 16
"""A tile of this rank is made at the end of a band only."""
WARP = 32
NAMES = "weights", "learning", "games", "ring", "results"


class CardState(NamedTuple):
    """All that a training is, in the memory of its device.

    Attributes:
        weights: float32 `[size]`.
        learning: `LEARNING` `[size]` as uint64 `[size, 2]`.
        games: `GAME` `[places]` as uint64 `[places, 10]`.
        ring: `PENDING` `[places, RING]` as uint64 `[places, RING, 2]`.
        results: uint64 `[places, RESULTS]`.
    """

    weights: Any
    learning: Any
    games: Any
    ring: Any
    results: Any

    @classmethod
    def empty(cls, size: int, places: int) -> CardState:
        """Return the state of a network that knows nothing, all zero."""
        return cls(
            np.zeros(size, np.float32),
            np.zeros((size, 2), np.uint64),
            np.zeros((places, kernels.GAME.itemsize // 8), np.uint64),
            np.zeros((places, kernels.RING, 2), np.uint64),
            np.zeros((places, kernels.RESULTS), np.uint64),
        )


class Ground(NamedTuple):
    """What a band is learnt on: a network, the views of the band and of the band above, boards.

    Attributes:
        network: the network.
        band: how the boards of the band are valued.
        above: how those of the band above are valued.
        above_weights: int16 `[size]`.
        starts: uint64 `[boards]`, where games begin.
    """

    network: Network
    band: BandView
    above: BandView
    above_weights: NDArray[np.int16]
    starts: NDArray[np.uint64]

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The weights below, those above, and the boards."""
        return self.network.table, self.above_weights, self.starts


NO_ARRAYS = np.zeros(1, np.float32), np.zeros(1, np.int16), np.zeros(0, np.uint64)
ENDLESS_VIEW = BandView(
    np.uint64(NEVER), np.int64(0), 0.0, 0.0, 0.0, NEVER, np.uint64(0), np.uint64(1), np.float32(1)
)


class Engine(Protocol):
    """What plays and learns on a device."""

    def put(self, array: NDArray[Any]) -> Any:
        """Return an array in the memory of the device."""

    def get(self, array: Any) -> NDArray[Any]:
        """Return an array of the device in the memory of the processor."""

    def begin(self, state: CardState, params: kernels.CardParams) -> None:
        """Begin a game in every place."""

    def run(self, state: CardState, params: kernels.CardParams, steps: int, active: int) -> None:
        """Take steps in the first `active` places."""


class Reference:
    """The engine of a processor."""

    def __init__(self, config: TrainingConfig, ground: Ground | None) -> None:
        layout, rules = config.layout, CompiledRules.of(config.rules)
        below = ground.network.layout if ground else layout
        specs = board_spec(layout, config.rules), board_spec(below, config.rules)
        assert isinstance(specs[0], PackedBoardSpec), "the board is 4x4"
        assert isinstance(specs[1], PackedBoardSpec), "the board is 4x4"
        self._spec = specs[0]
        weights, above_weights, starts = ground.arrays if ground else NO_ARRAYS
        self._ground = kernels.Ground(
            specs[1],
            weights,
            np.float32(ground.network.step if ground else 1),
            np.zeros((1, below.active), np.uint64),
            ground.band if ground else ENDLESS_VIEW,
            ground.above if ground else ENDLESS_VIEW,
            above_weights,
            starts,
        )
        start = np.int64(config.rules.start.low), np.int64(config.rules.start.high)
        self._rules = kernels.CardRules(
            rules.cascade, rules.mask, *start, *rules.start[:2], *rules.spawn[:2]
        )
        self._halves = (
            kernels.make_play_kernel(layout.code, below.code if ground else ()),
            kernels.make_learn_kernel(layout.code),
        )
        self._room = np.zeros((2, 2), np.uint64), np.zeros((1, layout.active), np.uint64)

    def put(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the array."""
        return array

    get = put

    def begin(self, state: CardState, params: kernels.CardParams) -> None:
        """Begin a game in every place."""
        games = state.games.view(kernels.GAME)[:, 0]
        kernels.begin(games, self._ground.starts, params, self._rules)

    def run(self, state: CardState, params: kernels.CardParams, steps: int, active: int) -> None:
        """Take steps in the first `active` places."""
        arrays = kernels.StepState(
            state.weights,
            state.learning.view(kernels.LEARNING)[:, 0],
            state.games.view(kernels.GAME)[:, 0],
            state.ring.view(kernels.PENDING)[..., 0],
            state.results,
            *self._room,
        )
        for _ in range(steps):
            for half in self._halves:
                half(arrays, self._ground, self._spec, params, self._rules, np.int64(active))


class CardEngine:
    """The engine of a graphics card."""

    def __init__(self, config: TrainingConfig, ground: Ground | None) -> None:
        self._card = cuda.card()
        self.put, self.get = self._card.put, self._card.get
        names, source = ("begin", "play", "learn"), source_of(config, ground)
        self._begin, self._play, self._learn = self._card.kernels(source, names)
        self._fixed = [self.put(array) for array in (ground.arrays if ground else NO_ARRAYS)]

    def begin(self, state: CardState, params: kernels.CardParams) -> None:
        """Begin a game in every place."""
        places, starts = len(state.games), self._fixed[2]
        self._begin(places, state.games, starts, params.root, params.once, np.uint32(places))

    def run(self, state: CardState, params: kernels.CardParams, steps: int, active: int) -> None:
        """Take steps in the first `active` places."""
        warps, given = np.uint32(active), params
        arrays = state.weights, state.learning, state.games
        settings = given.lambda_, given.delay, given.is_learning, warps
        play = *arrays, state.ring, *self._fixed[:2], *settings
        rates = given.root, given.learning_rate, given.share, given.restart_length
        results = state.results, self._fixed[2]
        learn = *arrays, *results, *rates, given.restart_after, given.once, warps
        for _ in range(steps if active else 0):
            self._play(WARP * active, *play)
            self._learn(WARP * active, *learn)


def source_of(config: TrainingConfig, ground: Ground | None = None) -> str:
    """Return the CUDA source for the rules and the tuples of the settings, and for a band."""
    lines = [cuda.source_of(config.rules, MAX_RANK + 1), *_network_source("Own", config.layout)]
    if ground:
        kind = "float" if ground.network.table.dtype == np.float32 else "short"
        lines += _network_source("Below", ground.network.layout, kind)
    else:
        lines.append("typedef Own Below;")
    given = {
        "STARTS": f"{len(ground.starts) if ground else 0}u",
        "END": f"{min(ground.band.end if ground else NEVER, 0xFFFFFFFF)}u",
        "STEP": float(np.float32(ground.network.step if ground else 1)).hex(),
        "VIEW": _view_source(ground.band if ground else ENDLESS_VIEW),
        "ABOVE": _view_source(ground.above if ground else ENDLESS_VIEW),
    }
    lines += [f"#define RULE_{name} {value}" for name, value in given.items()]
    return "\n".join([*lines, Path(__file__).with_name("card.cu").read_text(encoding="utf-8")])


def _network_source(name: str, layout: NetworkLayout, kind: str = "float") -> list[str]:
    """Return the lines that say how the weights of a board are found."""
    lines = []
    for number, (first, parts) in enumerate(layout.code):
        terms = "".join(f" + (x >> {shift} & {mask}ull)" for shift, mask in parts)
        lines.append(f"  out[{number}] = (u32)({first}ull{terms});")
    return [
        f"struct {name} {{",
        f"typedef {kind} Weight;",
        f"static const u32 TUPLES = {len(lines)}, KNOWN = {layout.known};",
        "static INLINE void indices(u64 x, u32* out) {",
        *lines,
        "}};",
    ]


def _view_source(view: BandView) -> str:
    """Return a `View`; numbers are written exactly."""
    rank = min(int(view.ending).bit_length() - 1, 31)
    parts = view.level, view.slope, float(np.float32(view.goal)), float(view.step)
    return f"{{{rank}u, {view.least}, {', '.join(part.hex() for part in parts)}}}"


def engine_of(config: TrainingConfig, ground: Ground | None) -> Engine:
    """Return the engine of the device that the settings name.

    Raises:
        MissingExtraError: if CuPy is missing.
        Py2048Error: if this machine has no card.
    """
    kind = Reference if config.device == "reference" else CardEngine
    return kind(config, ground)


def check_settings(config: TrainingConfig) -> None:
    """Refuse settings that are for processors only.

    Raises:
        WeightsError: if there is one.
    """
    rules = config.rules
    for refused, what in (
        (config.layout.kind != "4x4", "plays on 4x4 boards"),
        (config.stages, "learns without stages: train bands afterwards"),
        (not config.temporal_coherence, "learns with temporal_coherence"),
        (rules.scoring != MergePoints(), "knows the points of merges only"),
        (rules.ends_at_target, "plays games without an end at a target"),
    ):
        if refused:
            raise WeightsError(f"the device {config.device} {what}")
    most = (1 << 20) // config.layout.active - 1
    if config.games_at_once > most:
        raise WeightsError(f"games_at_once must be at most {most} with these tuples")


class CardTrainer(TrainerBase):
    """Trains one network on a device; otherwise like `Trainer`.

    A tile of 65536 is never made but at the end of a band: slides that would are not legal here.

    Args:
        config: the settings.
        network: initial weights, for the rules and layout of the settings.
        ground: what a band is learnt on, if these settings are those of one.

    Raises:
        MissingExtraError: if CuPy is missing.
        Py2048Error: if this machine has no card.
        WeightsError: if the settings or the network cannot be used.
    """

    def __init__(
        self,
        config: TrainingConfig,
        network: Network | None = None,
        ground: Ground | None = None,
    ) -> None:
        super().__init__(config)
        check_settings(config)
        check_rules(self.layout, self.rules)
        self._engine = engine_of(config, ground)
        self.steps = np.zeros(1, np.int64)
        state = CardState.empty(self.layout.size, config.games_at_once)
        if network is not None:
            state.weights[:] = self.checked(network).weights
        elif config.optimistic_init:
            state.weights[:] = config.optimistic_init / self.layout.active
        self._state = self._on_device(state)
        self._engine.begin(self._state, self.params)

    def _on_device(self, state: CardState) -> CardState:
        return CardState(*map(self._engine.put, state))

    @property
    def params(self) -> kernels.CardParams:
        """The settings as kernels take them."""
        config = self.config
        return kernels.CardParams(
            np.uint64(key_of(config.seed)),
            np.float32(config.learning_rate),
            np.float32(1) / np.float32(self.layout.active),
            np.float32(config.lambda_),
            np.uint32(min(config.trajectory_length, DELAY)),
            np.uint32(config.restart_length),
            np.uint64(config.restart_after // config.games_at_once),
            np.uint32(1),
            np.uint32(0),
        )

    @property
    def games(self) -> int:
        """Games played so far."""
        return int(self._state.games[:, kernels.NUMBER].sum())

    @property
    def moves(self) -> int:
        """Moves played so far."""
        return int(self._state.games[:, kernels.PLAYED].sum())

    @property
    def tally(self) -> ScoreTally:
        """The results of whole games so far."""
        return self._tally_of(self._state)

    def _tally_of(self, state: CardState) -> ScoreTally:
        results = self._engine.get(state.results.sum(0))
        finished, total, squares = results[: kernels.RANKS_FROM]
        ranks = np.zeros(64, np.int64)
        ranks[:16] = results[kernels.RANKS_FROM : kernels.PASSES]
        return ScoreTally(int(finished), float(total), float(squares), ranks)

    @property
    def passed(self) -> float:
        """The share of the games from saved boards that left the band upwards."""
        results = self._engine.get(self._state.results.sum(0))
        return float(results[kernels.PASSES] / max(results[kernels.FINISHED], 1))

    @property
    def active(self) -> int:
        """How many games are played at the same time at present."""
        parts = (part for steps, part in GROWTH if self.steps[0] < steps)
        return max(self.config.games_at_once // next(parts, 1), 1)

    def run(self, *, games: int = ENDLESS, moves: int = ENDLESS) -> None:
        """Play and learn until at least `games` more games or `moves` more moves are made."""
        first_games, first_moves = self.games, self.moves
        while (left := first_moves + moves - self.moves) > 0 and self.games < first_games + games:
            active = self.active
            steps = min(STEPS - int(self.steps[0]) % STEPS, -(-left // active))
            self._engine.run(self._state, self.params, steps, active)
            self.steps += steps

    def prepare(self) -> None:
        """Compile what is needed, which takes a while the first time."""
        self._engine.run(self._state, self.params, 1, 0)

    def reset_coherence(self) -> None:
        """Forget the errors of all weights, so that they learn at the full rate again."""
        self._state.learning[:] = 0

    def evaluate(self, games: int, seed: int) -> ScoreTally:
        """Play games without learning, with the seeds `derive_seed` ``(seed, 0)``, …."""
        state = self._on_device(CardState.empty(1, games))
        state = state._replace(weights=self._state.weights)
        params = self.params._replace(root=np.uint64(key_of(seed)), once=np.uint32(1))
        params = params._replace(is_learning=np.uint32(0))
        self._engine.begin(state, params)
        while int(state.games[:, kernels.NUMBER].sum()) < games:
            self._engine.run(state, params, STEPS, games)
        return self._tally_of(state)

    def network(self, note: Mapping[str, object] | None = None) -> Network:
        """Return a copy of the network, with a note on this training in its history."""
        weights = np.array(self._engine.get(self._state.weights))
        return Network(self.layout, self.rules, weights, self.noted(note))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state by name, as checkpoints keep it, between two calls of `run`."""
        state = dict(zip(NAMES, map(self._engine.get, self._state), strict=True))
        return {**state, "steps": self.steps}

    def take_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from the arrays of a checkpoint."""
        self._state = self._on_device(CardState(*(arrays[name] for name in NAMES)))
        self.steps[:] = arrays["steps"]
