"""Compiled kernels on disk: one file for each kernel, its argument types and what it depends on.

A file holds machine code, and LLVM's code to inline the kernel in others. Reading the latter takes
longer than all else, so that waits until another kernel is compiled that calls this one.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import importlib
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import IO, Any

from py2048.compiled.jit import progress
from py2048.compiled.jit.functions import digest_of, name_of
from py2048.compiled.jit.imports import numba_module
from py2048.compiled.jit.machine import processor

FORMAT = 2
"""What a file holds; another number for another kind of content."""

PATIENCE = 120.0
"""Seconds to wait for another process that compiles the same."""


class DiskCache:
    """The compiled forms of one kernel, one file for each signature.

    A file is written under a temporary name and renamed, so readers and other writers never see
    half of it; it starts with its own digest, so a damaged one is compiled anew.

    Numba documents neither this door to its dispatchers nor what it takes to store a form. Where
    that has changed there is no cache: nothing is raised, and kernels compile in each process.
    """

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self._turns: dict[Path, Turn] = {}

    @property
    def cache_path(self) -> str | None:
        """Where the forms are kept, as Numba asks for it."""
        directory = cache_directory()
        return None if directory is None else str(directory)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the compiled form for `signature`, or `None` if the cache has none."""
        try:
            return self._load(signature, context)
        except progress.NotReadyError:
            raise
        except Exception:  # noqa: BLE001 - of whatever kind, compiling is the way out
            self._end_turns()
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the compiled form for `signature`, if it can be kept."""
        try:
            self._save(signature, result)
        except Exception:  # noqa: BLE001 - the result is there, kept or not
            self._end_turns()

    def _end_turns(self) -> None:
        """Let nobody wait for what will not be kept."""
        while self._turns:
            self._turns.popitem()[1].end()

    def _load(self, signature: Any, context: Any) -> Any:
        path = self._path(signature)
        data = _find(path) if path else None
        if data is None:
            progress.check(self._dispatcher)
        if path is None:
            return None
        if data is None:
            with progress.waiting_for(self._dispatcher):
                turn = self._turns.get(path) or Turn(path)  # one whose compilation failed goes on
            data = _read(path)  # somebody else may have compiled it in the meantime
            if data is None:
                self._turns[path] = turn
                return None
            turn.end()
        _prepare_to_load(context, data)
        parts, bitcode = pickle.loads(data)
        result = numba_module(".core.compiler").CompileResult._rebuild(context, *parts)
        _link_later(result.library, bitcode)
        progress.note_loaded(self._dispatcher)
        return result

    def _save(self, signature: Any, result: Any) -> None:
        path = self._path(signature)
        if path is None:
            return
        if not (result.library.has_dynamic_globals or result.lifted):
            (name, kind, (code, bitcode)), *others = result._reduce()
            parts = (name, kind, (code, _names_of(bitcode))), *others
            _write(path, numba_module(".core.serialize").dumps((parts, bitcode)))
        if turn := self._turns.pop(path, None):
            turn.end()

    def flush(self) -> None:
        """Do nothing: a changed kernel has another file."""

    def _path(self, signature: Any) -> Path | None:
        directory = cache_directory()
        if directory is None:
            return None
        form = _digest(_environment(), _arguments_text(signature))
        name = f"{name_of(self._dispatcher.py_func)}-{form}"
        return directory / f"{name}-{_digest(digest_of(self._dispatcher))}.kernel"


class Turn:
    """The right to compile one form of a kernel, while other processes wait for the result.

    Without it, the workers of a contest that nobody has compiled for would all do the same work.
    Nothing depends on it: who has waited too long goes ahead as well, and so does everybody where
    files cannot be locked. The system ends the turn of a process that dies.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_suffix(".turn")
        self._file: IO[bytes] | None = None
        with contextlib.suppress(OSError, ImportError):
            self._wait(importlib.import_module("fcntl"))

    def _wait(self, fcntl: Any) -> None:
        file = self._path.open("wb")
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.02)
            else:
                self._file = file
                return
        file.close()

    def end(self) -> None:
        """Let others have the result."""
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            self._path.unlink()
        # A process that was forked in the meantime has the file too, so closing is not enough.
        fcntl = importlib.import_module("fcntl")
        fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()


def _names_of(bitcode: bytes) -> bytes:
    """Return bitcode that defines the same functions, but each of them to crash.

    Numba learns from it what the machine code defines. It is never to be run nor linked.
    """
    binding = importlib.import_module("llvmlite.binding")
    functions = binding.parse_bitcode(bitcode).functions
    names = [function.name for function in functions if not function.is_declaration]
    crash = "{ call void @llvm.trap() unreachable }"
    lines = [f'define void @"{name}"() {crash}' for name in names]
    text = "\n".join(["declare void @llvm.trap()", *lines])
    return bytes(binding.parse_assembly(text).as_bitcode())


def _link_later(library: Any, bitcode: bytes) -> None:
    """Let `library` read its bitcode when another library links it."""
    parse = importlib.import_module("llvmlite.binding").parse_bitcode
    # A version of Numba that links in another way fails here, and not with wrong code later.
    assert callable(library._get_module_for_linking)
    library._get_module_for_linking = cache(partial(parse, bitcode))


def _prepare_to_load(context: Any, data: bytes) -> None:
    """Define the outside names that compiled code may refer to.

    Numba itself calls ``context.refresh()``, which imports half of it (0.2 to 0.4 s). Of all that,
    compiled code needs the reference counts of arrays, unless it only borrows them, and to hash
    texts the hash's secret.
    """
    if b"_Py_HashSecret" in data:
        context.refresh()
    elif b"NRT_" in data:
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
    versions = [FORMAT, sys.version, *(module.__version__ for module in imported)]
    names = "BOUNDSCHECK", "OPT", "DEBUGINFO_DEFAULT", "ENABLE_AVX", "CPU_NAME", "CPU_FEATURES"
    options = [getattr(numba_module().config, name) for name in names]
    return repr((versions, options, sys.platform, processor()))


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:20]


def _find(path: Path) -> bytes | None:
    """Read the file, or one of its name in a folder that can be read only."""
    places = [path, *(folder / path.name for folder in _cache_candidates())]
    return next(filter(None, map(_read, dict.fromkeys(places))), None)


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
        Path(name).chmod(0o644)  # other accounts may read what one has compiled for all
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
    yield Path(__file__).parents[2] / "__pycache__" / "kernels"
    from platformdirs import user_cache_path

    yield user_cache_path("py2048", appauthor=False) / "kernels"


def _is_writable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False
