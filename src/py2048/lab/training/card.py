"""Training of an n-tuple network or a band on thousands of parallel games, usually on a GPU.

The device ``cuda`` runs ``card.cu`` on a GPU. The device ``reference`` runs the same algorithm on
the CPU (``_card_kernels.py``), and gives the same weights, bit for bit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import WeightsError
from py2048.core.rng import key_of
from py2048.core.rules import MergePoints
from py2048.engine import cuda
from py2048.engine.rules import CompiledRules
from py2048.lab.training import _card_kernels as kernels
from py2048.lab.training._card_kernels import CardState
from py2048.lab.training._td_kernels import BandView
from py2048.lab.training.bands import BandTask
from py2048.lab.training.boards import ScoreTally
from py2048.lab.training.trainer import UNLIMITED, ReadArray, TrainerBase, TrainingConfig
from py2048.players.ntuple._network_kernels import PackedBoardSpec
from py2048.players.ntuple.layout import NetworkLayout
from py2048.players.ntuple.network import Network, board_spec

MAX_DELAY = 6
"""Maximum number of afterstates waiting for an update."""
STEPS_PER_LAUNCH = 128
"""Steps between two checks of progress."""
GROWTH = (240 * STEPS_PER_LAUNCH, 8), (560 * STEPS_PER_LAUNCH, 4), (1600 * STEPS_PER_LAUNCH, 2)
"""In each pair ``(steps, n)``, the number of parallel games is divided by `n` during the first
`steps` steps. With fewer parallel games, each move improves the untrained weights more.
"""
MAX_RANK = 16
"""Largest supported rank. Creating this tile ends the band."""
WARP = 32


def empty_state(size: int, places: int) -> CardState:
    """Return the initial training state. All `size` weights are zero."""
    games = np.zeros(places, kernels.GAME)
    games["state"] = kernels.DEAD
    return CardState(
        np.zeros(size, np.float32),
        np.zeros((size, 2), np.uint64),
        games.view(np.uint64).reshape(places, kernels.GAME.itemsize // 8),
        np.zeros((places, kernels.RING, 2), np.uint64),
        np.zeros((places, kernels.RESULTS), np.uint64),
    )


class ReferenceEngine:
    """Runs the GPU's algorithm on the CPU."""

    def __init__(self, config: TrainingConfig, task: BandTask) -> None:
        layout, below, rules = config.layout, task.network.layout, config.rules
        spec = board_spec(layout, rules)
        assert isinstance(spec, PackedBoardSpec), "the board is 4x4"
        compiled = CompiledRules.of(rules)
        self._inputs = kernels.StepInputs(
            spec,
            np.int64(rules.start.low),
            np.int64(rules.start.high),
            compiled.start,
            compiled.spawn,
            task.inputs(layout),
            np.zeros((2, 2), np.uint64),
            *(np.zeros((1, each.active), np.uint64) for each in (layout, below)),
        )
        self._halves = (
            kernels.make_play_kernel(layout.code, below.code),
            kernels.make_learn_kernel(layout.code),
        )

    def put(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the array itself, because it is already in host memory."""
        return array

    get = put

    def run(self, state: CardState, params: kernels.CardParams, steps: int, active: int) -> None:
        """Play and learn for `steps` steps in the first `active` slots."""
        records = state._replace(
            learning=state.learning.view(kernels.LEARNING)[:, 0],
            games=state.games.view(kernels.GAME)[:, 0],
            ring=state.ring.view(kernels.PENDING)[..., 0],
        )
        for _ in range(steps):
            for half in self._halves:
                half(records, self._inputs, params, np.int64(active))


class CardEngine:
    """Runs the training kernels on a GPU."""

    def __init__(self, config: TrainingConfig, task: BandTask) -> None:
        self._card = cuda.card()
        self.put, self.get = self._card.put, self._card.get
        self._play, self._learn = self._card.kernels(source_of(config, task), ("play", "learn"))
        band, starts = task.inputs(config.layout), np.ascontiguousarray(task.starts[:, 0])
        self._fixed = [self.put(array) for array in (band.below, band.above_weights, starts)]

    def run(self, state: CardState, params: kernels.CardParams, steps: int, active: int) -> None:
        """Play and learn for `steps` steps in the first `active` slots."""
        weights, learning, games, ring, results = state
        below, above, starts = self._fixed
        root, rate, lambda_, delay, length, after, is_learning, once = params
        warps = np.uint32(active)
        play = weights, learning, games, ring, below, above, lambda_, delay, is_learning, warps
        learn = weights, learning, games, results, starts, root, rate, length, after, once, warps
        for _ in range(steps if active else 0):
            self._play(WARP * active, *play)
            self._learn(WARP * active, *learn)


def source_of(config: TrainingConfig, task: BandTask) -> str:
    """Return the CUDA source, specialised for the rules, the tuples and the band."""
    below, band = task.network, task.inputs(config.layout)
    kind = "float" if below.table.dtype == np.float32 else "short"
    given = {
        "STARTS": f"{len(task.starts)}u",
        "END": f"{min(band.own.end, 0xFFFFFFFF)}u",
        "STEP": float(np.float32(below.step)).hex(),
        "VIEW": _view_source(band.own),
        "ABOVE": _view_source(band.above),
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
    """Return the source of a struct that computes a network's weight indices for a board."""
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
    """Return CUDA code that initialises a `View`. Hexadecimal floats keep the exact values."""
    rank = min(int(view.ending).bit_length() - 1, 31)
    parts = view.level, view.slope, float(np.float32(view.goal)), float(view.step)
    return f"{{{rank}u, {view.least}, {', '.join(part.hex() for part in parts)}}}"


def check_settings(config: TrainingConfig) -> None:
    """Check that the device supports the settings.

    Raises:
        WeightsError: If the device does not support the settings.
    """
    rules = config.rules
    for is_unsupported, requirement in (
        (config.layout.kind != "4x4", "supports only 4x4 boards"),
        (config.stages, "does not support stages: train bands afterwards"),
        (not config.temporal_coherence, "needs temporal_coherence"),
        (rules.scoring != MergePoints(), "supports only rules that score merges"),
        (rules.ends_at_target, "does not support games that end at a target"),
    ):
        if is_unsupported:
            raise WeightsError(f"the device {config.device} {requirement}")
    max_games = (1 << 20) // config.layout.active - 1
    if config.games_at_once > max_games:
        raise WeightsError(f"games_at_once must be at most {max_games} with these tuples")


class CardTrainer(TrainerBase):
    """Trains a network or a band on many parallel games, with the same interface as `Trainer`.

    Slides that would create the tile 65536 are treated as illegal, unless this tile ends the band.

    Args:
        config: The settings.
        network: Network with the initial weights, whose rules and layout must match the settings.
        task: The band to train instead of a whole network.

    Raises:
        MissingExtraError: If CuPy is not installed.
        Py2048Error: If this machine has no GPU.
        WeightsError: If the settings, the network or the band are not supported.
    """

    def __init__(
        self, config: TrainingConfig, network: Network | None = None, task: BandTask | None = None
    ) -> None:
        check_settings(config)
        super().__init__(config, task)
        if task:
            last = max(task.band.ending, int(task.inputs(self.layout).above.ending))
            if task.starts[:, 1].any() or last > 1 << MAX_RANK:
                raise WeightsError(
                    f"the device {config.device} only trains bands up to the tile {1 << MAX_RANK}"
                )
        kind = ReferenceEngine if config.device == "reference" else CardEngine
        self._engine = kind(config, task or BandTask.whole(self.rules))
        self.steps = np.zeros(1, np.int64)
        state = empty_state(self.layout.size, config.games_at_once)
        if network is not None:
            state.weights[:] = self.start_from(network)
        elif config.optimistic_init:
            state.weights[:] = config.optimistic_init / self.layout.active
        self._state = self._on_device(state)

    def _on_device(self, state: CardState) -> CardState:
        return CardState._make(map(self._engine.put, state))

    @property
    def params(self) -> kernels.CardParams:
        """The settings in the form that the kernels expect."""
        config = self.config
        return kernels.CardParams(
            np.uint64(key_of(config.seed)),
            np.float32(config.learning_rate),
            np.float32(config.lambda_),
            np.uint32(min(config.trajectory_length, MAX_DELAY)),
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
        """Scores of all complete games so far."""
        return self._tally(self._state)

    def _tally(self, state: CardState) -> ScoreTally:
        results = self._engine.get(state.results.sum(0))
        finished, total, squares = results[: kernels.RANKS_FROM]
        ranks = np.zeros(64, np.int64)
        ranks[:16] = results[kernels.RANKS_FROM : kernels.PASSES]
        return ScoreTally(int(finished), float(total), float(squares), ranks)

    @property
    def passed(self) -> float:
        """Fraction of games that continued past the end of the trained band."""
        results = self._engine.get(self._state.results.sum(0))
        return float(results[kernels.PASSES] / max(results[kernels.FINISHED], 1))

    @property
    def weights(self) -> NDArray[np.float32]:
        """The trained weights, copied to host memory: float32 `[layout.size]`."""
        return np.array(self._engine.get(self._state.weights))

    @property
    def active(self) -> int:
        """Number of games that are currently played in parallel."""
        parts = (part for steps, part in GROWTH if self.steps[0] < steps)
        return max(self.config.games_at_once // next(parts, 1), 1)

    def run(self, *, games: int = UNLIMITED, moves: int = UNLIMITED) -> None:
        """Train for at least `games` more games or `moves` more moves."""
        first_games, first_moves = self.games, self.moves
        while (left := first_moves + moves - self.moves) > 0 and self.games < first_games + games:
            active = self.active
            until_check = STEPS_PER_LAUNCH - int(self.steps[0]) % STEPS_PER_LAUNCH
            steps = min(until_check, -(-left // active))
            self._engine.run(self._state, self.params, steps, active)
            self.steps += steps

    def prepare(self) -> None:
        """Compile the kernels, which takes some time on the first call."""
        self._engine.run(self._state, self.params, 1, 0)

    def reset_coherence(self) -> None:
        """Reset temporal coherence, so that updates of all weights use the full learning rate."""
        self._state.learning[:] = 0

    def evaluate(self, games: int, seed: int) -> ScoreTally:
        """Play games without learning. Game `i` has the seed ``derive_seed(seed, i)``."""
        state = self._on_device(empty_state(1, games))._replace(weights=self._state.weights)
        params = self.params._replace(root=np.uint64(key_of(seed)), once=np.uint32(1))
        params = params._replace(is_learning=np.uint32(0))
        while int(state.games[:, kernels.NUMBER].sum()) < games:
            self._engine.run(state, params, STEPS_PER_LAUNCH, games)
        return self._tally(state)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return copies of all arrays of the state by name, for a checkpoint."""
        state = CardState._make(map(self._engine.get, self._state))
        return {**state._asdict(), "steps": self.steps}

    def restore(self, read: ReadArray, before: TrainingConfig) -> None:
        """Continue from a checkpoint that was saved with the settings `before`."""
        arrays = {name: read(name, own) for name, own in self.arrays().items()}
        self.steps[:] = arrays.pop("steps")
        self._state = self._on_device(CardState(**arrays))
        super().restore(read, before)
