"""Archives of arrays: checksummed ZIP files with a JSON header and ``.npy`` members.

Weights files and checkpoints are archives. Any ``.npz`` reader can open them. Files are written
atomically.
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
from typing import IO, Annotated, Any, BinaryIO

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from py2048.core.data import convert
from py2048.core.errors import Py2048Error, WeightsError, os_errors_as, shown
from py2048.core.game.record import check_replaceable, replacing

HEADER = "header.json"
VERSION = 1
_LOCAL_HEADER = 30
"""Size of a ZIP member's local header in bytes, without the name and the extra field."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
SPARSE = 1 / 16
"""An array is compressed if fewer than this fraction of its numbers are non-zero."""

Array = NDArray[Any]

MAX_POINTS = 1e30
"""Upper bound for points in a header, so that sums of points still fit into a float32."""

Count = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
Points = Annotated[float, Meta(gt=-MAX_POINTS, lt=MAX_POINTS)]
Amount = Annotated[float, Meta(ge=0, lt=MAX_POINTS)]


def write_archive(
    path: Path,
    kind: str,
    header: Mapping[str, object],
    arrays: Iterable[tuple[str, Array]],
    *,
    compression: int | None = None,
) -> None:
    """Write an archive; the existing file is replaced only when the new file is complete.

    Args:
        path: Target file.
        kind: Kind of archive, such as ``py2048-weights``.
        header: Additional header entries, as plain JSON values.
        arrays: Members by name, in order.
        compression: A `zipfile` constant. By default, only arrays with few non-zero numbers are
            deflated.
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
    """Return whether nearly all numbers in an array are 0."""
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
    with archive.open(info, "w", force_zip64=True) as member:
        writer = _HashingFile(member)
        np.lib.format.write_array(writer, array, allow_pickle=False)
    return writer.digest.hexdigest()


class Archive:
    """An archive opened for reading.

    Attributes:
        path: The file.
        header: Header of the archive.

    Raises:
        WeightsError: If the file is missing, damaged, of another kind or too new.
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
            raise WeightsError(f"{self.path} is not a {kind} file")
        version = header.get("version")
        if type(version) is not int or version != VERSION:
            raise WeightsError(
                f"{self.path} has {kind} version {shown(version)}, but this py2048 reads "
                f"version {VERSION}"
            )
        sums = header.get("sha256")
        convert(sums, dict[str, str], WeightsError, f"{self.path} is damaged", "sha256")
        return header

    def read(self, name: str) -> Array:
        """Read an array and verify its checksum.

        Raises:
            WeightsError: If the array is missing or damaged.
        """
        expected = self._checksum(name)
        with self._zip.open(f"{name}.npy") as member:
            return self._array_of(member, name, expected)

    def deferred(self, name: str) -> Callable[[], Array]:
        """Read a compressed array into memory; return a function that decodes it.

        The returned function works even if the file is deleted before the call.

        Raises:
            WeightsError: If the array is missing. The returned function raises `WeightsError` if
                the array is damaged.
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
        reader = _HashingFile(member)
        try:
            array: Array = np.lib.format.read_array(reader, allow_pickle=False)
        except ValueError as error:
            raise WeightsError(f"{self.path} is damaged: {name}: {error}") from None
        # Reading past the end makes zipfile verify the member's CRC-32.
        if member.read(1) or reader.digest.hexdigest() != expected:
            raise WeightsError(f"{self.path} is damaged: the checksum of {name} is wrong")
        return array

    def _checksum(self, name: str) -> str:
        sums = self.header["sha256"]
        if name not in sums or f"{name}.npy" not in self._zip.namelist():
            raise WeightsError(f"{self.path} lacks {name}")
        checksum: str = sums[name]
        return checksum


# --- headers -------------------------------------------------------------------------------------


@contextmanager
def faults_of(path: Path, fields: str) -> Iterator[None]:
    """Convert errors in parsing header fields to `WeightsError`.

    Raises:
        WeightsError: If the ``with`` block raises an error for an invalid value. The message names
            the file and the fields.
    """
    try:
        yield
    except (Py2048Error, KeyError, OverflowError, TypeError, ValueError) as error:
        raise WeightsError(f"{path} is damaged: {fields}: {error}") from None


class _HashingFile:
    """A file wrapper that hashes all data read or written through it."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, count: int = -1, /) -> bytes:
        data: bytes = self._file.read(count)
        self.digest.update(data)
        return data

    def write(self, data: bytes, /) -> None:
        self.digest.update(data)
        self._file.write(data)


@contextmanager
def open_archive(path: Path | str, kind: str) -> Iterator[Archive]:
    """Open an archive for reading. Error messages contain its path.

    Raises:
        WeightsError: If the file is missing, damaged, of another kind or too new.
    """
    path = Path(path)
    with errors_of(path, kind):
        check_replaceable(path)
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            yield Archive(path, kind, file, archive)


@contextmanager
def errors_of(path: Path, kind: str = "archive") -> Iterator[None]:
    """Convert exceptions from reading a file to `WeightsError`.

    Raises:
        WeightsError: If the file is missing, damaged or unreadable. The message names the file.
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
        raise WeightsError(f"{path} is damaged, or is not a {kind} file: {error}") from None
    except (OSError, ValueError, MemoryError) as error:
        why = getattr(error, "strerror", None) or error
        raise WeightsError(f"{path} cannot be read: {why}") from None
