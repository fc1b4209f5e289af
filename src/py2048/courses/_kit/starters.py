"""Handing out a course's starter: the files that a student begins with."""

from __future__ import annotations

from pathlib import Path

from py2048.errors import CourseError


def starter_files(source: Path) -> list[Path]:
    """The files of a starter, relative to its folder `source`, in order."""
    found = [path.relative_to(source) for path in source.rglob("*") if path.is_file()]
    return sorted(path for path in found if "__pycache__" not in path.parts)


def start(source: Path, folder: Path) -> list[Path]:
    """Copy the starter in `source` into `folder`, made if needed; return the files written.

    Raises `CourseError`, and writes nothing at all, if any of the files is there already.
    """
    files = starter_files(source)
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{str(folder)!r} is a file: name a folder for the starter")
    for path in files:
        target = folder / path
        if target.exists() or target.is_symlink():
            raise CourseError(
                f"{str(target)!r} is there already and is not overwritten: name another folder"
            )
        if (above := _file_above(target, folder)) is not None:
            raise CourseError(f"{str(above)!r} is a file where the starter has a folder")
    try:
        for path in files:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            with (folder / path).open("xb") as file:
                file.write((source / path).read_bytes())
    except OSError as error:
        raise CourseError(
            f"the starter cannot be written to {str(folder)!r}: {error.strerror}"
        ) from None
    return [folder / path for path in files]


def _file_above(target: Path, folder: Path) -> Path | None:
    """A file that stands where `target` needs a folder inside `folder`."""
    for above in target.parents:
        if above == folder:
            return None
        if above.exists() and not above.is_dir():
            return above
    return None
