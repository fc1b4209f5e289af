"""Archives of arrays: a ZIP file with a header and ``.npy`` members, checksummed, safe to write.

Weights files and checkpoints are archives. Any reader of ``.npz`` opens one. A file gets its name
only when it is complete.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import Py2048Error, WeightsError, os_errors_as, shown
from py2048.core.game.record import check_replaceable, replacing

HEADER = "header.json"
VERSION = 1
BLOCK = 1 << 24
_LOCAL_HEADER = 30
"""Bytes of a member's local header before its name and extra field, whose lengths end it."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
SPARSE = 1 / 16
"""An array with a smaller share of numbers other than 0 is compressed: fast, to a few per cent."""

Array = NDArray[Any]

Check = tuple[Callable[[Any], bool], str]
"""Whether a value is right, and what is."""

MAX_POINTS = 1e30
"""More than any number of points in a header, and still a float32 after some sums."""


def write_archive(
    path: Path,
    kind: str,
    header: Mapping[str, object],
    arrays: Iterable[tuple[str, Array]],
    *,
    compression: int | None = None,
) -> None:
    """Write an archive; replace the file at `path` when the new one is on disk.

    Args:
        path: the file.
        kind: the kind of archive, such as ``py2048-weights``.
        header: more header entries, in plain JSON values.
        arrays: the members by name, in order.
        compression: how members are packed, a constant of `zipfile`; by default arrays that are
            nearly empty are deflated.
    """
    with os_errors_as(WeightsError, f"{path} cannot be written"):
        with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
            sums = {
                name: _write_member(archive, name, array, compression) for name, array in arrays
            }
            data = {"format": kind, "version": VERSION, **header, "sha256": sums}
            archive.writestr(zipfile.ZipInfo(HEADER, _EPOCH), json.dumps(data, indent=1))
        _sync_folder(path.parent)


def is_sparse(array: Array) -> bool:
    """Return whether nearly all numbers of an array are 0."""
    return bool(np.count_nonzero(array) < SPARSE * array.size)


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_member(
    archive: zipfile.ZipFile, name: str, array: Array, compression: int | None
) -> str:
    """Write one array; return its checksum."""
    info = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
    if compression is None:
        compression = zipfile.ZIP_DEFLATED if is_sparse(array) else zipfile.ZIP_STORED
    info.compress_type = compression
    digest = hashlib.sha256()
    with archive.open(info, "w", force_zip64=True) as member:
        for block in _blocks(array):
            digest.update(block)
            member.write(block)
    return digest.hexdigest()


def _blocks(array: Array) -> Iterator[bytes | memoryview]:
    head = io.BytesIO()
    plain = np.lib.format.header_data_from_array_1_0(np.empty(0, array.dtype))
    np.lib.format.write_array_header_1_0(head, plain | {"shape": array.shape})
    yield head.getvalue()
    rows = array.reshape(-1)  # a view, of a column too
    step = max(BLOCK // max(array.itemsize, 1), 1)
    for first in range(0, rows.size, step):
        yield rows[first : first + step].tobytes()


class Archive:
    """An archive open for reading.

    Attributes:
        path: the file.
        header: its header.

    Raises:
        WeightsError: if the file is missing, damaged, of another kind or too new.
    """

    def __init__(self, path: Path, kind: str, file: BinaryIO, archive: zipfile.ZipFile) -> None:
        self.path = path
        self._file = file
        self._zip = archive
        self.header = self._read_header(kind)

    def _read_header(self, kind: str) -> dict[str, Any]:
        try:
            header = json.loads(self._zip.read(HEADER))
        except (KeyError, RecursionError):
            header = None
        if not isinstance(header, dict) or header.get("format") != kind:
            raise WeightsError(f"{self.path} holds no {kind}: its format is another")
        version = header.get("version")
        if type(version) is not int or version != VERSION:
            raise WeightsError(
                f"{self.path} is of version {shown(version)} of {kind}; this py2048 reads "
                f"version {VERSION}"
            )
        check_fields(self.path, header, {"sha256": (_is_texts, "a checksum for each array")})
        return header

    def names(self) -> list[str]:
        """Return the names of the arrays."""
        return list(self.header["sha256"])

    def read(self, name: str) -> Array:
        """Return an array, after checking its checksum.

        Raises:
            WeightsError: if it is missing or damaged.
        """
        expected = self._checksum(name)
        with self._zip.open(f"{name}.npy") as member:
            return self._array_of(member, name, expected)

    def deferred(self, name: str) -> Callable[[], Array]:
        """Return a function that does the same later, when the file may be another or gone.

        It keeps the array as the file has it, compressed.

        Raises:
            WeightsError: if it is missing; the function raises it if it is damaged.
        """
        expected, info = self._checksum(name), self._zip.getinfo(f"{name}.npy")
        self._file.seek(info.header_offset)
        local = self._file.read(_LOCAL_HEADER)
        self._file.seek(sum(struct.unpack("<HH", local[26:30])), os.SEEK_CUR)
        kept = self._file.read(info.compress_size)

        def read() -> Array:
            member = zipfile.ZipExtFile(io.BytesIO(kept), "r", info)
            with errors_of(self.path), member:
                return self._array_of(member, name, expected)

        return read

    def _array_of(self, member: IO[bytes] | zipfile.ZipExtFile, name: str, expected: str) -> Array:
        head = _Tee(member)
        shape, dtype = _array_header(head, self.path)
        digest = hashlib.sha256(head.seen)
        array = np.empty(shape, dtype)
        flat, done = array.reshape(-1).view(np.uint8), 0
        while done < flat.size:
            block = member.read(min(BLOCK, flat.size - done))
            if not block:
                raise WeightsError(f"{self.path} is truncated: {name} ends too soon")
            digest.update(block)
            flat[done : done + len(block)] = np.frombuffer(block, np.uint8)
            done += len(block)
        # zipfile compares its own checksum at the end of a member.
        if member.read(1) or digest.hexdigest() != expected:
            raise WeightsError(f"{self.path} is damaged: the checksum of {name} is wrong")
        return array

    def _checksum(self, name: str) -> str:
        sums = self.header["sha256"]
        if name not in sums or f"{name}.npy" not in self._zip.namelist():
            raise WeightsError(f"{self.path} lacks {name}")
        checksum: str = sums[name]
        return checksum


# --- headers -------------------------------------------------------------------------------------


def check_fields(path: Path, values: object, checks: Mapping[str, Check], within: str = "") -> None:
    """Make sure that an object of a file's header has these fields, each with a right value.

    Args:
        path: the file.
        values: the object.
        checks: what is right, by field.
        within: the field that holds the object, if it is not the header itself.

    Raises:
        WeightsError: if one is missing or wrong; the message names the field and the value.
    """
    if not isinstance(values, Mapping):
        raise WeightsError(f"{path} is damaged: {within} is {shown(values)}, but must be an object")
    prefix = f"{within}: " if within else ""
    for name, (is_right, meaning) in checks.items():
        if name not in values:
            raise WeightsError(f"{path} is damaged: {prefix}it lacks {name!r}, {meaning}")
        if not is_right(values[name]):
            raise WeightsError(
                f"{path} is damaged: {prefix}{name} is {shown(values[name])}, but must be {meaning}"
            )


@contextmanager
def faults_of(path: Path, fields: str) -> Iterator[None]:
    """Let what is wrong with fields of a header name the file and them.

    Raises:
        WeightsError: in place of any error of py2048, and of those of wrong types and values.
    """
    try:
        yield
    except (Py2048Error, KeyError, OverflowError, TypeError, ValueError) as error:
        raise WeightsError(f"{path} is damaged: {fields}: {error}") from None


def is_count(value: object) -> bool:
    """Return whether a value of a header is a whole number from 0 that fits a machine word."""
    return type(value) is int and 0 <= value < 1 << 63


def is_counts(value: object) -> bool:
    """Return whether it is a list of such numbers."""
    return isinstance(value, list) and all(map(is_count, value))


def is_points(value: object) -> bool:
    """Return whether it is a finite number, of points or of anything else that is counted."""
    return type(value) in (int, float) and abs(value) < MAX_POINTS  # type: ignore[arg-type]


def is_amount(value: object) -> bool:
    """Return whether it is such a number from 0."""
    return is_points(value) and value >= 0  # type: ignore[operator]


def is_object(value: object) -> bool:
    """Return whether it is an object."""
    return isinstance(value, dict)


def is_objects(value: object) -> bool:
    """Return whether it is a list of objects."""
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _is_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


class _Tee:
    """A reader that keeps what it has read."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.seen = b""

    def read(self, count: int) -> bytes:
        data: bytes = self._file.read(count)
        self.seen += data
        return data


def _array_header(file: Any, path: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(f"version {version} of .npy")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    except ValueError as error:
        raise WeightsError(f"{path} is damaged: {error}") from None
    if fortran or dtype.hasobject:
        raise WeightsError(f"{path} is damaged: it holds an array of an unknown kind")
    return shape, dtype


@contextmanager
def open_archive(path: Path | str, kind: str) -> Iterator[Archive]:
    """Open an archive for reading; errors of the file name it.

    Raises:
        WeightsError: if the file is missing, damaged, of another kind or too new.
    """
    path = Path(path)
    with errors_of(path, kind):
        check_replaceable(path)
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            yield Archive(path, kind, file, archive)


@contextmanager
def errors_of(path: Path, kind: str = "archive") -> Iterator[None]:
    """Let the errors of a file name it.

    Raises:
        WeightsError: in place of what zip files, their compressors and the disk raise.
    """
    import lzma
    import zlib

    bad = zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, KeyError, NotImplementedError
    try:
        yield
    except Py2048Error:
        raise
    except FileNotFoundError:
        raise WeightsError(f"{path} does not exist") from None
    except bad as error:
        raise WeightsError(f"{path} is damaged or no {kind}: {error}") from None
    except (OSError, ValueError, MemoryError) as error:
        why = getattr(error, "strerror", None) or error
        raise WeightsError(f"{path} cannot be read: {why}") from None
