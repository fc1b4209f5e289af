"""Where a solver keeps its layers: in memory, and in a folder when they do not fit."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import weakref
import zlib
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.errors import SolvingError, os_errors_as
from py2048.game.record import write_atomically
from py2048.solving import _solver_kernels as kernels

Array = NDArray[Any]
Keys = NDArray[np.uint64]
Values = NDArray[np.float64]
Name = tuple[str, int]
"""What an array holds, and the sum of its boards."""

_TYPES: dict[str, type[np.generic]] = {
    # of the solver
    "before": np.uint64,
    "after": np.uint64,
    "values": np.float64,
    # of tables
    "chances": np.uint32,
    "blocks": np.uint8,
    "sizes": np.uint32,
}
_FILE = re.compile(rf"({'|'.join(_TYPES)})-(\d+)-(\d+)-([0-9a-f]{{8}})")
PLAN = "plan.json"
KEPT = "; what is solved so far is kept: give it room and run the command again"


def known_of(keys: Keys, values: Values, width: int) -> kernels.Known:
    """Return boards and their values to be looked up.

    Args:
        keys: the keys of the boards, ascending.
        values: the values of the boards.
        width: the number of bits of a key.
    """
    heads = min(width, max(1, len(keys).bit_length() - 2), 30)
    shift, index = np.uint64(width - heads), np.empty((1 << heads) + 1, np.uint32)
    kernels.fill_index(keys, shift, index)
    return kernels.Known(keys, index, shift, values)


def once(keys: Keys) -> Keys:
    """Return keys ascending and once each; the array is used up."""
    keys.sort()
    return keys[: kernels.drop_repeats(keys)]


def claim(folder: Path, plan: object) -> None:
    """Make a folder for what is being solved, or go on with one that has the same plan.

    Raises:
        SolvingError: if the folder belongs to something else, or cannot be written.
    """
    text = json.dumps(plan, sort_keys=True).encode()
    with os_errors_as(SolvingError, str(folder)):
        folder.mkdir(exist_ok=True)
        file = folder / PLAN
        if not file.exists():
            write_atomically(file, text)
        elif file.read_bytes() != text:
            raise SolvingError(
                f"{folder} holds what is left of solving something else: remove it, or save "
                "to another file"
            )


class LayerStore:
    """Arrays by name; those not used for longest make room for others.

    In a folder that is given, every array is written at once, so that what was done is found again
    by the next process. Otherwise a folder is made when memory does not suffice, and removed.

    Args:
        memory: how many bytes of arrays are held in memory.
        folder: where to write; `None` for a temporary folder when one is needed.
        plan: what is solved; a folder with another plan is refused.

    Raises:
        SolvingError: if the folder belongs to something else, or cannot be written.
    """

    def __init__(self, memory: int, folder: Path | None = None, plan: object = None) -> None:
        self._memory, self._folder, self._is_kept = memory, folder, folder is not None
        self._held: OrderedDict[Name, Array] = OrderedDict()
        self._bytes = 0
        self._files: dict[Name, Path] = {}
        if folder is not None:
            claim(folder, plan)
            with os_errors_as(SolvingError, str(folder)):
                for path in folder.iterdir():
                    if found := _FILE.fullmatch(path.name):
                        self._files[found[1], int(found[2])] = path

    def __contains__(self, name: Name) -> bool:
        """Return whether there is such an array."""
        return name in self._held or name in self._files

    def length(self, name: Name) -> int:
        """Return the length of an array, 0 if there is none."""
        if name in self._held:
            return len(self._held[name])
        return int(self._files[name].name.split("-")[2]) if name in self._files else 0

    def put(self, name: Name, array: Array) -> None:
        """Keep an array.

        Raises:
            SolvingError: if it cannot be written.
        """
        self._hold(name, array)
        if self._is_kept:
            self._write(name, array)

    def get(self, name: Name) -> Array:
        """Return an array, an empty one if there is none.

        Raises:
            SolvingError: if its file is damaged.
        """
        if name in self._held:
            self._held.move_to_end(name)
            return self._held[name]
        if name not in self._files:
            return np.empty(0, _TYPES[name[0]])
        array = self._read(name)
        self._hold(name, array)
        return array

    def _hold(self, name: Name, array: Array) -> None:
        self._held[name] = array
        self._bytes += array.nbytes
        while self._bytes > self._memory and len(self._held) > 1:
            oldest, given_up = next(iter(self._held.items()))
            if oldest not in self._files:
                self._write(oldest, given_up)
            del self._held[oldest]
            self._bytes -= given_up.nbytes

    def _write(self, name: Name, array: Array) -> None:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="py2048-solve-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        data = np.ascontiguousarray(array).data.cast("B") if len(array) else b""
        path = self._folder / f"{name[0]}-{name[1]}-{len(array)}-{zlib.crc32(data):08x}"
        unfinished = path.with_name(f"{path.name}.unfinished")
        try:
            with unfinished.open("wb") as file:
                file.write(data)
            unfinished.replace(path)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            reason = error.strerror or error
            raise SolvingError(f"{self._folder}: {reason}{KEPT if self._is_kept else ''}") from None
        self._files[name] = path

    def _read(self, name: Name) -> Array:
        path = self._files[name]
        with os_errors_as(SolvingError, str(path)):
            array = np.fromfile(path, _TYPES[name[0]])
        found = _FILE.fullmatch(path.name)
        data = array.data.cast("B") if len(array) else b""
        if found is None or len(array) != int(found[3]) or zlib.crc32(data) != int(found[4], 16):
            raise SolvingError(f"{path} is damaged: remove it and run the command again")
        return array

    def drop(self, name: Name) -> None:
        """Forget an array, if there is one, and remove its file."""
        if name in self._held:
            self._bytes -= self._held.pop(name).nbytes
        if name in self._files:
            self._files.pop(name).unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the folder that was given."""
        if self._is_kept and self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
