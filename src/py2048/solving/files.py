"""What files of the solver have in common: a mark at both ends and a footer.

The footer is a JSON text, and in 8 bytes each its CRC-32 and length, little-endian, and the mark.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from py2048.errors import SolvingError, os_errors_as


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
