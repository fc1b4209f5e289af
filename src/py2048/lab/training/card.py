"""`CardTrainer`: a network in training by thousands of games at once, as on a graphics card.

``_card_kernels.py`` says how it learns. The device ``cuda`` is a card, ``reference`` this
processor, which gives the same weights bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import WeightsError
from py2048.core.rng import key_of
from py2048.core.rules import MergePoints, Rules
from py2048.engine import cuda
from py2048.engine.rules import CompiledRules
from py2048.lab.training import _card_kernels as kernels
from py2048.lab.training._card_kernels import CardState
from py2048.lab.training._td_kernels import BandView
from py2048.lab.training.trainer import ENDLESS, ScoreTally, TrainerBase, TrainingConfig
from py2048.players.ntuple._network_kernels import PackedBoardSpec
from py2048.players.ntuple.layout import NetworkLayout
from py2048.players.ntuple.network import NEVER, Network, board_spec, check_rules

DELAY = 6
"""The most afterstates that wait for their update."""
STEPS = 128
"""How many steps are taken between two looks at how far the training is."""
GROWTH = (240 * STEPS, 8), (560 * STEPS, 4), (1600 * STEPS, 2)
"""``(steps, n)``: up to that step one game in n is played, as few games learn more from a move."""
MAX_RANK = 16
"""A tile of this rank is made at the end of a band only."""
WARP = 32


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

    @classmethod
    def of_table(cls, rules: Rules) -> Ground:
        """Return what one table is learnt on: nothing is below, and it never ends."""
        layout = NetworkLayout(4, 4, ((0,),))
        view = BandView(
            *(np.uint64(NEVER), np.int64(0), 0.0, 0.0, 0.0, NEVER),
            *(np.uint64(0), np.uint64(1), np.float32(1)),
        )
        weights, starts = np.zeros(1, np.int16), np.zeros(0, np.uint64)
        network = Network(layout, rules, np.zeros(layout.weights, np.float32))
        return cls(network, view, view, weights, starts)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The weights below, those above, and the boards."""
        return self.network.table, self.above_weights, self.starts


def empty_state(size: int, places: int) -> CardState:
    """Return the state of a network that knows nothing, before any game has begun."""
    games = np.zeros(places, kernels.GAME)
    games["state"] = kernels.DEAD
    return CardState(
        np.zeros(size, np.float32),
        np.zeros((size, 2), np.uint64),
        games.view(np.uint64).reshape(places, kernels.GAME.itemsize // 8),
        np.zeros((places, kernels.RING, 2), np.uint64),
        np.zeros((places, kernels.RESULTS), np.uint64),
    )


class Reference:
    """What plays and learns on a processor."""

    def __init__(self, config: TrainingConfig, ground: Ground) -> None:
        layout, below, given = config.layout, ground.network.layout, config.rules
        specs = board_spec(layout, given), board_spec(below, given)
        assert isinstance(specs[0], PackedBoardSpec), "the board is 4x4"
        assert isinstance(specs[1], PackedBoardSpec), "the board is 4x4"
        rules = CompiledRules.of(given)
        self._ground = kernels.Ground(
            specs[0],
            np.int64(given.start.low),
            np.int64(given.start.high),
            rules.start,
            rules.spawn,
            specs[1],
            ground.network.table,
            np.float32(ground.network.step),
            *ground[1:],
            np.zeros((2, 2), np.uint64),
            *(np.zeros((1, each.active), np.uint64) for each in (layout, below)),
        )
        self._halves = (
            kernels.make_play_kernel(layout.code, below.code),
            kernels.make_learn_kernel(layout.code),
        )

    def put(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the array."""
        return array

    get = put

    def run(self, state: CardState, params: kernels.CardParams, steps: int, active: int) -> None:
        """Take steps in the first `active` places."""
        records = state._replace(
            learning=state.learning.view(kernels.LEARNING)[:, 0],
            games=state.games.view(kernels.GAME)[:, 0],
            ring=state.ring.view(kernels.PENDING)[..., 0],
        )
        for _ in range(steps):
            for half in self._halves:
                half(records, self._ground, params, np.int64(active))


class CardEngine:
    """What plays and learns on a graphics card."""

    def __init__(self, config: TrainingConfig, ground: Ground) -> None:
        self._card = cuda.card()
        self.put, self.get = self._card.put, self._card.get
        source = source_of(config, ground)
        self._play, self._learn = self._card.kernels(source, ("play", "learn"))
        self._fixed = [self.put(array) for array in ground.arrays]

    def run(self, state: CardState, params: kernels.CardParams, steps: int, active: int) -> None:
        """Take steps in the first `active` places."""
        weights, learning, games, ring, results = state
        below, above, starts = self._fixed
        root, rate, lambda_, delay, length, after, is_learning, once = params
        warps = np.uint32(active)
        play = weights, learning, games, ring, below, above, lambda_, delay, is_learning, warps
        learn = weights, learning, games, results, starts, root, rate, length, after, once, warps
        for _ in range(steps if active else 0):
            self._play(WARP * active, *play)
            self._learn(WARP * active, *learn)


def source_of(config: TrainingConfig, ground: Ground) -> str:
    """Return the CUDA source for the rules and the tuples of the settings, and for a band."""
    below = ground.network
    kind = "float" if below.table.dtype == np.float32 else "short"
    given = {
        "STARTS": f"{len(ground.starts)}u",
        "END": f"{min(ground.band.end, 0xFFFFFFFF)}u",
        "STEP": float(np.float32(below.step)).hex(),
        "VIEW": _view_source(ground.band),
        "ABOVE": _view_source(ground.above),
    }
    lines = [
        cuda.source_of(config.rules, MAX_RANK + 1),
        *_network_source("Own", config.layout, "float"),
        *_network_source("Below", below.layout, kind),
        *(f"#define RULE_{name} {value}" for name, value in given.items()),
        Path(__file__).with_name("card.cu").read_text(encoding="utf-8"),
    ]
    return "\n".join(lines)


def _network_source(name: str, layout: NetworkLayout, kind: str) -> list[str]:
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
        kind = Reference if config.device == "reference" else CardEngine
        self._engine = kind(config, ground or Ground.of_table(self.rules))
        self.steps = np.zeros(1, np.int64)
        state = empty_state(self.layout.size, config.games_at_once)
        if network is not None:
            state.weights[:] = self.checked(network).weights
        elif config.optimistic_init:
            state.weights[:] = config.optimistic_init / self.layout.active
        self._state = self._on_device(state)

    def _on_device(self, state: CardState) -> CardState:
        return CardState._make(map(self._engine.put, state))

    @property
    def params(self) -> kernels.CardParams:
        """The settings as kernels take them."""
        config = self.config
        return kernels.CardParams(
            np.uint64(key_of(config.seed)),
            np.float32(config.learning_rate),
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
        state = self._on_device(empty_state(1, games))._replace(weights=self._state.weights)
        params = self.params._replace(root=np.uint64(key_of(seed)), once=np.uint32(1))
        params = params._replace(is_learning=np.uint32(0))
        while int(state.games[:, kernels.NUMBER].sum()) < games:
            self._engine.run(state, params, STEPS, games)
        return self._tally_of(state)

    def network(self, note: Mapping[str, object] | None = None) -> Network:
        """Return a copy of the network, with a note on this training in its history."""
        weights = np.array(self._engine.get(self._state.weights))
        return Network(self.layout, self.rules, weights, self.noted(note))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state by name, as checkpoints keep it, between two calls of `run`."""
        state = CardState._make(map(self._engine.get, self._state))
        return {**state._asdict(), "steps": self.steps}

    def take_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from the arrays of a checkpoint."""
        self._state = self._on_device(CardState(*(arrays[name] for name in CardState._fields)))
        self.steps[:] = arrays["steps"]
