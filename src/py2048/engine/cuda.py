"""`BatchCard` steps batches of games on a GPU; `Card` wraps CuPy.

CUDA sources are compiled at run time for specific rules. ``card.cu`` plays exactly the same games,
bit for bit, as ``_batch_kernels.py`` on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import Py2048Error, RulesError, extra_for
from py2048.core.rules import Rules
from py2048.engine._batch_kernels import BatchState
from py2048.engine._show_kernels import GAMES, IS_TERMINAL, LIMIT, RANDOM, RESET, STEPS
from py2048.engine.rules import CompiledRules, TileTable

Launch = Callable[..., None]
"""A function that launches a GPU kernel.

The function takes the number of threads, followed by the kernel's own arguments, which are arrays
and NumPy scalars.
"""

OPTIONS = "--std=c++17", "--fmad=false"
"""Compiler options. Fused multiply-add is disabled, because it rounds differently from the CPU."""
THREADS = 128
"""Threads per CUDA block."""


class Card:
    """A GPU.

    Attributes:
        arrays: The CuPy module.

    Raises:
        MissingExtraError: If CuPy is not installed.
        Py2048Error: If there is no usable GPU.
    """

    arrays: Any

    def __init__(self) -> None:
        with extra_for("a GPU", "cuda"):
            import cupy
        try:
            count = cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise Py2048Error(f"no GPU can be used: {error}") from None
        if not count:
            raise Py2048Error("no GPU found")
        self.arrays = cupy

    def put(self, array: Any) -> Any:
        """Copy an array to GPU memory."""
        return self.arrays.asarray(array)

    def get(self, array: Any) -> NDArray[Any]:
        """Copy a GPU array to host memory."""
        found: NDArray[Any] = self.arrays.asnumpy(array)
        return found

    def kernels(self, source: str, names: Sequence[str]) -> list[Launch]:
        """Compile CUDA source and return its kernels with the given names."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "card.cubin"
            path.write_bytes(compiled(source, self.arrays.cuda.Device().compute_capability))
            module = self.arrays.RawModule(path=str(path))
            return [_launch_of(module.get_function(name)) for name in names]


def _launch_of(function: Any) -> Launch:
    """Return a function that launches a CuPy kernel."""
    return lambda threads, *given: function((-(-threads // THREADS),), (THREADS,), given)


def compiled(source: str, arch: str) -> bytes:
    """Compile CUDA source for an architecture such as ``90``.

    CuPy's own compiler is not used, because its option ``-ftz=true`` flushes subnormal numbers to
    zero, unlike the CPU.

    Raises:
        Py2048Error: If compilation fails, or the architecture is not supported.
    """
    from cupy_backends.cuda.libs import nvrtc

    program = nvrtc.createProgram(source, "card.cu", [], [])
    try:
        nvrtc.compileProgram(program, [*OPTIONS, f"--gpu-architecture=sm_{arch}"])
        return cast(bytes, nvrtc.getCUBIN(program))
    except nvrtc.NVRTCError as error:
        raise Py2048Error(f"{error}: {nvrtc.getProgramLog(program)}") from None
    finally:
        nvrtc.destroyProgram(program)


@cache
def card() -> Card:
    """Return the GPU of this process.

    Raises:
        MissingExtraError: If CuPy is not installed.
        Py2048Error: If there is no usable GPU.
    """
    return Card()


def source_of(rules: Rules, max_rank: int) -> str:
    """Return the source of ``card.cu`` for specific rules.

    Args:
        rules: Rules for a 4x4 board with random spawns.
        max_rank: Upper bound (exclusive) for the rank of merged tiles.

    Raises:
        RulesError: If the GPU kernels do not support the rules.
    """
    if rules.shape != (4, 4) or rules.is_deterministic:
        raise RulesError(f"GPUs only play on 4x4 boards with random spawns, not {rules}")
    given = CompiledRules.of(rules)
    values = {
        "MOST": max_rank,
        "MERGE(...)": f"{'while' if given.cascade else 'if'} (__VA_ARGS__)",
        "MERGE_POINTS": given.merge_points,
        "SUM_POINTS": given.sum_points,
        "LEGAL_POINTS": given.legal_points,
        "ILLEGAL_POINTS": f"({given.illegal_points})",
        "TARGET": given.ending_rank,
        "START_LOW": f"{rules.start.low}u",
        "START_HIGH": f"{rules.start.high}u",
        "START_RANK(high)": _choice(given.start),
        "SPAWN_RANK(high)": _choice(given.spawn),
    }
    lines = [f"#define RULE_{name} {value}" for name, value in values.items()]
    return "\n".join([*lines, Path(__file__).with_name("card.cu").read_text(encoding="utf-8")])


def _choice(tiles: TileTable) -> str:
    """Return the C expression that selects a rank from the high 32 bits of a random number."""
    text = f"{tiles.ranks[0]}u"
    for rank, threshold in zip(tiles.ranks[1:], tiles.thresholds[1:], strict=True):
        text = f"((high) >= {threshold}ull ? {rank}u : {text})"
    return text


class BatchCard:
    """Steps a batch on a GPU.

    Args:
        rules: Rules of the game.

    Raises:
        MissingExtraError: If CuPy is not installed.
        Py2048Error: If there is no usable GPU, or the GPU does not support the rules.
    """

    def __init__(self, rules: Rules) -> None:
        self.card = card()
        source = source_of(rules, 32)
        self._advance, self._enter = self.card.kernels(source, ["advance", "enter_boards"])

    def put(self, state: BatchState) -> BatchState:
        """Copy a batch state to GPU memory."""
        return BatchState._make(map(self.card.put, state))

    def enter(self, slots: NDArray[np.int64], boards: NDArray[np.uint8], state: BatchState) -> None:
        """Start the next game in each slot. If `boards` is empty, the positions are random."""
        counts = np.uint32(len(slots)), np.uint32(len(state.rewards)), np.uint32(len(boards) > 0)
        given = self.card.put(slots), self.card.put(boards if len(boards) else boards[:1])
        arrays = state.cells, state.flags, state.words, state.last_cells
        self._enter(len(slots), *given, *arrays, *counts)

    def advance(self, orders: NDArray[np.int64], state: BatchState) -> tuple[int, int, Any]:
        """Play a round.

        Returns:
            The number of games that ended, their total score, and a new GPU array, uint8 `[3,
            padded]`. Row 0 of the array flags terminated episodes, and row 1 truncated episodes.
            Row 2 contains the legal directions at the end of each episode.
        """
        padded, tally = len(state.rewards), self.card.put(np.zeros(2, np.uint64))
        ends = self.card.arrays.empty((3, padded), np.uint8)
        games, *rest = orders[[GAMES, STEPS, RANDOM, RESET, IS_TERMINAL, LIMIT]].astype(np.uint32)
        self._advance(padded, *state, ends, tally, games, np.uint32(padded), *rest)
        ended, score = self.card.get(tally).view(np.int64).tolist()
        return ended, score, ends
