"""Compiled kernels on disk: one file for each kernel, its argument types and what it depends on."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import importlib
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from py2048._jit.functions import digest_of, name_of


def numba_module(module: str = "") -> Any:
    """Return Numba or a module of it, untyped, imported now and not with this file."""
    return importlib.import_module(f"numba{module}")


class DiskCache:
    """The compiled forms of one kernel, one file for each signature.

    A file is written under a temporary name and renamed, so readers and other writers never see
    half of it; it starts with its own digest, so a damaged one is compiled anew.
    """

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher

    @property
    def cache_path(self) -> str | None:
        directory = cache_directory()
        return None if directory is None else str(directory)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the compiled form for `signature`, or `None` if the cache has none."""
        path = self._path(signature)
        data = _read(path) if path is not None else None
        if data is None:
            return None
        _prepare_to_load(context, data)
        return numba_module(".core.compiler").CompileResult._rebuild(context, *pickle.loads(data))

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the compiled form for `signature`, if it can be kept."""
        path = self._path(signature)
        if path is None or result.library.has_dynamic_globals or result.lifted:
            return
        _write(path, numba_module(".core.serialize").dumps(result._reduce()))

    def flush(self) -> None:
        """Do nothing: a changed kernel has another file."""

    def _path(self, signature: Any) -> Path | None:
        directory = cache_directory()
        if directory is None:
            return None
        form = _digest(_environment(), _arguments_text(signature))
        name = f"{name_of(self._dispatcher.py_func)}-{form}"
        return directory / f"{name}-{_digest(digest_of(self._dispatcher))}.kernel"


def _prepare_to_load(context: Any, data: bytes) -> None:
    """Define the outside names that compiled code may refer to.

    Numba itself calls ``context.refresh()``, which imports half of it (0.2 to 0.4 s). Of all that,
    compiled code needs the reference counts of arrays, and to hash texts the hash's secret.
    """
    if b"_Py_HashSecret" in data:
        context.refresh()
    else:
        numba_module(".core.runtime").rtsys.initialize(context)


def _arguments_text(signature: Any) -> str:
    arguments, _ = numba_module(".core.sigutils").normalize_signature(signature)
    return str(tuple(arguments))


def _environment() -> str:
    """Return what decides the machine code besides the sources."""
    imported = (
        numba_module(),
        importlib.import_module("llvmlite"),
        importlib.import_module("numpy"),
    )
    versions = [sys.version, *(module.__version__ for module in imported)]
    config = numba_module(".core.config")
    options = (config.BOUNDSCHECK, config.OPT, config.DEBUGINFO_DEFAULT, config.ENABLE_AVX)
    target = numba_module(".core.registry").cpu_target.target_context
    return repr((versions, options, target.codegen().magic_tuple()))


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:20]


def _read(path: Path) -> bytes | None:
    try:
        content = path.read_bytes()
    except OSError:
        return None
    data = content[32:]
    return data if hashlib.sha256(data).digest() == content[:32] else None


def _write(path: Path, data: bytes) -> None:
    """Write the file, and remove those of the same kernel and signature that edits made stale."""
    # A full or vanished disk costs the next process a compilation, never this one its result.
    with contextlib.suppress(OSError):
        descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(descriptor, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        Path(name).replace(path)
        prefix = path.name.rpartition("-")[0]
        for stale in path.parent.glob(f"{glob.escape(prefix)}-*.kernel"):
            if stale != path:
                stale.unlink(missing_ok=True)


@cache
def cache_directory() -> Path | None:
    """Return the folder that keeps compiled kernels, or `None` where nothing can be written.

    It is ``NUMBA_CACHE_DIR`` if that is set, else ``__pycache__/kernels`` beside the package,
    else a folder in the user's cache.
    """
    return next(filter(_is_writable, _cache_candidates()), None)


def _cache_candidates() -> Iterator[Path]:
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen) / "py2048"
    yield Path(__file__).parents[1] / "__pycache__" / "kernels"
    from platformdirs import user_cache_path

    yield user_cache_path("py2048", appauthor=False) / "kernels"


def _is_writable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False
