"""C baselines, compiled on demand."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.engine.jit import shares
from py2048.lab.commands.bench import WARM_UP_STEPS

OPTIONS = ("-O3", "-march=native")
FOLDER = Path(__file__).parent


def compiler() -> str | None:
    """Return the path of a C compiler, or None."""
    return shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")


def compiler_version() -> str:
    """Return the first line of the compiler's version."""
    path = compiler()
    if path is None:
        return "none: no C baselines"
    text = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    return (text.splitlines() or [path])[0]


def build(source: str, folder: Path, *options: str) -> Path | None:
    """Compile a C file from this folder into `folder`; return None if there is no compiler."""
    path = compiler()
    if path is None:
        return None
    target = folder / Path(source).stem
    subprocess.run([path, *OPTIONS, *options, "-o", target, FOLDER / source], check=True)
    return target


class RowTables:
    """Random play in C with row tables (``baseline.c``), one process per core.

    Args:
        program: The compiled program.
        games: Number of games, divided among the processes.
        processes: Number of parallel processes.
    """

    def __init__(self, program: Path, games: int, processes: int) -> None:
        self._program, self._processes = program, processes
        self._games = games // processes
        self._seed = 0

    def speed(self, steps: int) -> float:
        """Return moves per second, measured over `steps` steps of all games."""
        running = [self._start(steps) for _ in range(self._processes)]
        times = [float(each.communicate()[0].split()[0]) for each in running]
        return self._games * steps * self._processes / max(times)

    def _start(self, steps: int) -> subprocess.Popen[str]:
        self._seed += 1
        numbers = map(str, (self._games, WARM_UP_STEPS, steps, self._seed))
        return subprocess.Popen([self._program, *numbers], stdout=subprocess.PIPE, text=True)


class Environments:
    """C environments (``environment_core.c``), stepped by threads of this process.

    Args:
        library: The compiled library.
        count: Number of environments.
        threads: Number of threads.

    Attributes:
        boards: Ranks, uint8 `[count, 16]`.
        masks: Legal actions, one byte each: uint32 `[count]`.
        rewards: Rewards, float64 `[count]`.
        ends: Whether each game is over, uint8 `[count]`.
    """

    def __init__(self, library: Path, count: int, threads: int) -> None:
        self._core = ctypes.CDLL(str(library))
        self._core.game_size.restype = ctypes.c_uint64
        self._width = int(self._core.game_size())
        self._games = np.zeros(count * self._width, np.uint8)
        self.boards, self.masks = np.zeros((count, 16), np.uint8), np.zeros(count, np.uint32)
        self.rewards, self.ends = np.zeros(count), np.zeros(count, np.uint8)
        self._shares = shares(count, threads)
        self._pool = ThreadPoolExecutor(threads)
        self._core.reset_all(_at(self._games, 0), ctypes.c_int64(count), ctypes.c_uint64(1))

    def step(self, actions: NDArray[np.int64]) -> None:
        """Play one action in each environment."""
        list(self._pool.map(lambda share: self._part(share, actions), self._shares))

    def _part(self, share: tuple[int, int], actions: NDArray[np.int64]) -> None:
        first, end = share
        arrays = (actions, self.boards, self.masks, self.rewards, self.ends)
        places = (_at(array, first) for array in arrays)
        games = _at(self._games, first * self._width)
        self._core.step_all(games, ctypes.c_int64(end - first), *places)


class PufferGames:
    """PufferLib's 2048 (``puffer_core.c``), stepped by one thread.

    Args:
        source: Folder of PufferLib's source.
        folder: Folder in which the library is compiled.
        count: Number of environments.
    """

    def __init__(self, source: str, folder: Path, count: int) -> None:
        (folder / "raylib.h").touch()  # drawing is not used
        core = Path(source, "pufferlib", "ocean", "g2048")
        library = build("puffer_core.c", folder, "-shared", "-fPIC", f"-I{folder}", f"-I{core}")
        self._core, self._count = ctypes.CDLL(str(library)), ctypes.c_int64(count)
        self._core.game_size.restype = ctypes.c_uint64
        self._games = np.zeros(count * int(self._core.game_size()), np.uint8)
        self._actions = np.zeros(count, np.int32)
        boards, rewards = np.zeros((count, 16), np.uint8), np.zeros(count, np.float32)
        ends = np.zeros(count, np.uint8)
        self._arrays: list[NDArray[Any]] = [self._games, boards, self._actions, rewards, ends]
        games, *others = (_at(array, 0) for array in self._arrays)
        self._core.reset_all(games, self._count, *others)

    def step(self, actions: NDArray[np.int64]) -> None:
        """Play one action in each environment."""
        self._actions[:] = actions
        self._core.step_all(_at(self._games, 0), self._count)


def _at(array: np.ndarray, row: int) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data + row * array.strides[0])
