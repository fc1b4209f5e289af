"""Read and write the solver's files: arrays with checksums, and files with a footer.

An array file's name ends with the array's length and CRC-32. Files are written atomically.
Solutions and tables are single files that begin and end with a magic number. The footer, which
precedes the second magic number, consists of JSON data, followed by its CRC-32 and its length as
8-byte little-endian integers.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import SolvingError, os_errors_as
from py2048.core.game.record import write_atomically
from py2048.players.solving import _solver_kernels as kernels

Array = NDArray[Any]
Keys = NDArray[np.uint64]
Values = NDArray[np.float64]
Name = tuple[str, int]
"""An array's name, which consists of its kind and the tile sum of its boards."""

_KEPT = "; what is solved so far is kept: give it room and run the command again"

_PLAN = "plan.json"
_LAYER = re.compile(r"([a-z]+)-(\d+)-(\d+)-[0-9a-f]{8}")
_TYPES: dict[str, type[np.generic]] = {
    "values": np.float64,
    "chances": np.uint32,
    "blocks": np.uint8,
    "sizes": np.uint32,
}
"""Element types of these kinds of arrays. All other kinds contain keys (uint64)."""


def lookup_of(keys: Keys, values: Values, width: int) -> kernels.Lookup:
    """Build a lookup table for boards and their values.

    Args:
        keys: Keys of the boards, ascending.
        values: Values of the boards.
        width: Number of bits of a key.
    """
    heads = min(width, max(1, len(keys).bit_length() - 2), 30)
    shift, index = np.uint64(width - heads), np.empty((1 << heads) + 1, np.uint32)
    kernels.fill_index(keys, shift, index)
    return kernels.Lookup(keys, index, shift, values)


def sorted_unique(keys: Keys) -> Keys:
    """Sort keys in place, and return the distinct keys as a view of the same array."""
    keys.sort()
    return keys[: kernels.drop_repeats(keys)]


# --- arrays --------------------------------------------------------------------------------------


def claim(folder: Path, plan: object) -> None:
    """Create a folder for intermediate results, or reopen it for the same problem.

    Raises:
        SolvingError: If the folder contains results of another problem, or cannot be written.
    """
    text = json.dumps(plan, sort_keys=True).encode()
    with os_errors_as(SolvingError, str(folder)):
        folder.mkdir(exist_ok=True)
        file = folder / _PLAN
        if not file.exists():
            write_atomically(file, text)
        elif file.read_bytes() != text:
            raise SolvingError(
                f"{folder} holds unfinished results of another problem: remove it, or save to "
                "another file"
            )


def write_array(folder: Path, stem: str, array: Array) -> Path:
    """Write an array to a file whose name starts with `stem`.

    Raises:
        SolvingError: If the file cannot be written.
    """
    path = folder / f"{stem}{_ending_of(array)}"
    with _replacing(path, folder / f"{uuid4().hex}.unfinished", str(folder)) as file:
        file.write(_bytes_of(array))
    return path


def length_of(path: Path) -> int:
    """Parse the length of an array from its file name."""
    return int(path.name.split("-")[-2])


def read_array(path: Path) -> Array:
    """Read and verify an array.

    Raises:
        SolvingError: If the file is missing or damaged.
    """
    with os_errors_as(SolvingError, str(path)):
        array = np.fromfile(path, _TYPES.get(path.name.partition("-")[0], np.uint64))
    if not path.name.endswith(_ending_of(array)):
        raise SolvingError(f"{path} is damaged: remove {path.parent} and run the command again")
    return array


def _ending_of(array: Array) -> str:
    """Return the suffix of an array's file name."""
    return f"-{len(array)}-{zlib.crc32(_bytes_of(array)):08x}"


def _bytes_of(array: Array) -> memoryview | bytes:
    return np.ascontiguousarray(array).data.cast("B") if len(array) else b""


class LayerStore:
    """A collection of named arrays, in memory or in a folder.

    With a folder, every array is written to disk immediately, so that an interrupted run can be
    resumed. Arrays are cached in memory, and the least recently used arrays are evicted. Without a
    folder, all arrays stay in memory.

    Args:
        memory: Maximum total size of the cached arrays in bytes. Ignored without a folder.
        folder: Folder to write to.
        plan: Description of the problem, which is stored in the folder and checked later.

    Raises:
        SolvingError: If the folder contains results of another problem, or cannot be written.
    """

    def __init__(self, memory: int, folder: Path | None = None, plan: object = None) -> None:
        self._memory, self._folder = memory, folder
        self._held: OrderedDict[Name, Array] = OrderedDict()
        self._bytes = 0
        self._files: dict[Name, Path] = {}
        if folder is not None:
            claim(folder, plan)
            with os_errors_as(SolvingError, str(folder)):
                for path in folder.iterdir():
                    if found := _LAYER.fullmatch(path.name):
                        self._files[found[1], int(found[2])] = path

    def __contains__(self, name: Name) -> bool:
        """Return whether the array exists."""
        return name in self._held or name in self._files

    def length(self, name: Name) -> int:
        """Return the length of the array with this name, or 0 if there is none."""
        if name in self._held:
            return len(self._held[name])
        return length_of(self._files[name]) if name in self._files else 0

    def put(self, name: Name, array: Array) -> None:
        """Store an array.

        Raises:
            SolvingError: If the array cannot be written.
        """
        if self._folder is not None:
            self._files[name] = write_array(self._folder, f"{name[0]}-{name[1]}", array)
        self._hold(name, array)

    def get(self, name: Name) -> Array:
        """Return the array with this name, or an empty array if there is none.

        Raises:
            SolvingError: If the array's file is damaged.
        """
        if name not in self._held:
            if name not in self._files:
                return np.empty(0, _TYPES.get(name[0], np.uint64))
            self._hold(name, read_array(self._files[name]))
        self._held.move_to_end(name)
        return self._held[name]

    def _hold(self, name: Name, array: Array) -> None:
        self._held[name] = array
        self._bytes += array.nbytes
        while self._folder is not None and self._bytes > self._memory and len(self._held) > 1:
            self._bytes -= self._held.popitem(last=False)[1].nbytes

    def drop(self, name: Name) -> None:
        """Delete an array and its file, if they exist."""
        if name in self._held:
            self._bytes -= self._held.pop(name).nbytes
        if name in self._files:
            self._files.pop(name).unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete the folder."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


# --- files with a footer -------------------------------------------------------------------------


def write_file(path: Path | str, mark: bytes, write: Callable[[BinaryIO], dict[str, Any]]) -> None:
    """Write a file atomically.

    Args:
        path: Target file.
        mark: Magic number that begins and ends the file.
        write: Function that writes the content and returns the footer's data.

    Raises:
        SolvingError: If the file cannot be written. Intermediate results are kept.
    """
    with _replacing(Path(path), Path(f"{path}.part"), str(path)) as file:
        file.write(mark)
        text = json.dumps(write(file)).encode()
        numbers = zlib.crc32(text), len(text)
        file.write(text + b"".join(n.to_bytes(8, "little") for n in numbers) + mark)


@contextmanager
def _replacing(path: Path, unfinished: Path, what: str) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` once it is complete.

    Raises:
        SolvingError: Replaces operating-system errors. The message starts with `what`.
    """
    try:
        with os_errors_as(SolvingError, what):
            with unfinished.open("wb") as file:
                yield file
            unfinished.replace(path)
    except SolvingError as error:
        raise SolvingError(f"{error}{_KEPT}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def read_footer(path: Path, mark: bytes, fault: SolvingError) -> dict[str, Any]:
    """Read the footer of a file.

    Raises:
        SolvingError: If the file cannot be read. Raises `fault` if the file is damaged or of
            another kind.
    """
    with os_errors_as(SolvingError, str(path)), path.open("rb") as file:
        size, end = file.seek(0, os.SEEK_END), 16 + len(mark)
        if size < len(mark) + end:
            raise fault
        file.seek(size - end)
        check, length = (int.from_bytes(file.read(8), "little") for _ in range(2))
        is_whole = file.read() == mark and length <= size - end - len(mark)
        file.seek(0)
        if not is_whole or file.read(len(mark)) != mark:
            raise fault
        file.seek(size - end - length)
        text = file.read(length)
    if zlib.crc32(text) != check:
        raise fault
    about: dict[str, Any] = json.loads(text)
    return about
