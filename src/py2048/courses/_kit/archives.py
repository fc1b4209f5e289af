"""Unpacking ZIP files that strangers made: no path leaves the folder, no bomb goes off."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path, PurePosixPath, PureWindowsPath

LARGEST = 256 << 20
MOST_FILES = 20_000
CHUNK = 1 << 16


class BadArchive(Exception):  # noqa: N818 - a finding about a file
    """A ZIP file that cannot or must not be unpacked; the message says why."""


def unpack(archive: Path, folder: Path) -> None:
    """Unpack `archive` into the new `folder`; raise `BadArchive` before anything odd is written.

    Names with backslashes, as some Windows programs write them, are read as paths.
    """
    folder.mkdir(parents=True)
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [info for info in opened.infolist() if not _is_folder(info)]
            if len(members) > MOST_FILES:
                raise BadArchive(f"{archive.name} holds {len(members)} files")
            targets = [(info, folder / place_of(info)) for info in members]
            _write_all(opened, targets, archive.name)
    except BadArchive:
        raise
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError) as error:
        raise BadArchive(f"{archive.name} is no readable ZIP file: {error}") from None
    except RuntimeError as error:  # zipfile's word for a password
        raise BadArchive(f"{archive.name} cannot be unpacked: {error}") from None


def _is_folder(info: zipfile.ZipInfo) -> bool:
    return info.filename.endswith(("/", "\\"))


def place_of(info: zipfile.ZipInfo) -> Path:
    """Where a member goes, relative to the folder; raise `BadArchive` if that is outside."""
    name = info.filename.replace("\\", "/")
    path = PurePosixPath(name)
    outside = path.is_absolute() or ".." in path.parts or PureWindowsPath(name).drive
    if outside or not path.parts or "\0" in name:
        raise BadArchive(f"a name leads out of the folder: {info.filename!r}")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise BadArchive(f"{info.filename!r} is a link")
    return Path(*path.parts)


def _write_all(
    opened: zipfile.ZipFile, targets: list[tuple[zipfile.ZipInfo, Path]], name: str
) -> None:
    """Write the members, counting what really comes out rather than what the file claims."""
    left = LARGEST
    for info, target in targets:
        target.parent.mkdir(parents=True, exist_ok=True)
        with opened.open(info) as source, target.open("xb") as file:
            while part := source.read(CHUNK):
                left -= len(part)
                if left < 0:
                    raise BadArchive(f"{name} unpacks to more than {LARGEST >> 20} MiB")
                file.write(part)
