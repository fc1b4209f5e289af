"""What files of the solver have in common.

Large ones have a mark at both ends and a footer: a JSON text, and in 8 bytes each its CRC-32 and
length, little-endian, and the mark. Small ones are read whole: after the mark, the CRC-32 of all
that follows and the length of the header in 4 bytes each, the header as JSON, and arrays, packed by
zlib, little-endian.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from py2048.errors import SolvingError, os_errors_as
from py2048.game.record import write_atomically

Arrays = dict[str, NDArray[Any]]


def write_file(path: Path | str, mark: bytes, write: Callable[[BinaryIO], dict[str, Any]]) -> None:
    """Write a file, or leave what was there.

    Args:
        path: where.
        mark: its first and last bytes.
        write: writes all in between and returns what the footer says.

    Raises:
        SolvingError: if it cannot be written.
    """
    unfinished = Path(f"{path}.part")
    try:
        with os_errors_as(SolvingError, str(path)):
            with unfinished.open("wb") as file:
                file.write(mark)
                text = json.dumps(write(file)).encode()
                numbers = zlib.crc32(text), len(text)
                file.write(text + b"".join(n.to_bytes(8, "little") for n in numbers) + mark)
            unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def read_footer(path: Path, mark: bytes) -> dict[str, Any] | None:
    """Return what the footer of a file says, `None` if it is damaged or of another kind.

    Raises:
        SolvingError: if it cannot be read.
    """
    with os_errors_as(SolvingError, str(path)), path.open("rb") as file:
        size, end = file.seek(0, os.SEEK_END), 16 + len(mark)
        if size < len(mark) + end:
            return None
        file.seek(size - end)
        check, length = (int.from_bytes(file.read(8), "little") for _ in range(2))
        is_whole = file.read() == mark and length <= size - end - len(mark)
        file.seek(0)
        if not is_whole or file.read(len(mark)) != mark:
            return None
        file.seek(size - end - length)
        text = file.read(length)
    if zlib.crc32(text) != check:
        return None
    about: dict[str, Any] = json.loads(text)
    return about


def write_arrays(path: Path | str, mark: bytes, about: dict[str, Any], arrays: Arrays) -> None:
    """Write a small file.

    Raises:
        SolvingError: if it cannot be written.
    """
    packed = [zlib.compress(_little(array).tobytes(), 9) for array in arrays.values()]
    described = [
        [name, _little(array).dtype.str, array.shape, len(data)]
        for (name, array), data in zip(arrays.items(), packed, strict=True)
    ]
    text = json.dumps({**about, "arrays": described}).encode()
    rest = len(text).to_bytes(4, "little") + text + b"".join(packed)
    with os_errors_as(SolvingError, str(path)):
        write_atomically(Path(path), mark + zlib.crc32(rest).to_bytes(4, "little") + rest)


def read_arrays(path: Path | str, mark: bytes) -> tuple[dict[str, Any], Arrays] | None:
    """Return the header and the arrays of a small file, `None` if it is damaged or of another kind.

    Raises:
        SolvingError: if it cannot be read.
    """
    with os_errors_as(SolvingError, str(path)):
        data = Path(path).read_bytes()
    start = len(mark) + 4
    check, rest = data[len(mark) : start], data[start:]
    if data[: len(mark)] != mark or check != zlib.crc32(rest).to_bytes(4, "little"):
        return None
    place = 4 + int.from_bytes(rest[:4], "little")
    about = json.loads(rest[4:place])
    arrays: Arrays = {}
    for name, kind, shape, length in about["arrays"]:
        raw = zlib.decompress(rest[place : place + length])
        array = np.frombuffer(raw, np.dtype(kind)).reshape(shape)
        arrays[name] = array.astype(array.dtype.newbyteorder("="), copy=False)
        place += length
    return about, arrays


def _little(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
