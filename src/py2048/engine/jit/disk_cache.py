"""On-disk cache of compiled kernels, keyed by everything that affects their machine code.

This module replaces Numba's own cache (``cache=True``), which has two gaps. Numba keys a function
by its source file, so it misses edits to helpers in other files. Numba also never caches functions
that capture another kernel, as most kernels of py2048 do. Here, the cache key (`digest_of`) covers
a function's own code, all kernels it calls and all constants it reads.

A cache file contains machine code, plus LLVM bitcode for inlining the kernel into others. Parsing
the bitcode is by far the slowest part of loading, and is done only when a caller of the kernel is
compiled.

This module depends on Numba's internals. If a Numba release changes its internals, kernels compile
in every process without a cache.
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
from types import CodeType, FunctionType, ModuleType
from typing import IO, Any

from py2048.engine.jit import progress
from py2048.engine.jit.numba_parts import Kernel, is_kernel, numba_module, processor
from py2048.engine.jit.progress import names_in

FORMAT = 3
"""Version of the file format."""

LOCK_TIMEOUT_S = 120.0
"""Maximum time to wait for another process that compiles the same kernel, in seconds."""


class DiskCache:
    """The compiled forms of one kernel, with the interface that Numba dispatchers expect.

    Files are written under a temporary name and renamed, so no process sees an incomplete file.
    Each file starts with the digest of its content, and damaged files are ignored. While one
    process compiles a kernel, other processes wait for the cache file.
    """

    def __init__(self, dispatcher: Kernel) -> None:
        self._dispatcher = dispatcher
        self._locks: dict[Path, FileLock] = {}

    @property
    def cache_path(self) -> str | None:
        """The cache folder."""
        directory = cache_directory()
        return None if directory is None else str(directory)

    def load_overload(self, signature: object, context: Any) -> Any:
        """Return the compiled form for `signature`, or `None` if it is not cached."""
        try:
            return self._load(signature, context)
        except progress.NotReadyError:
            raise
        except Exception:  # noqa: BLE001 - after any error, compile instead
            self._release()
            return None

    def save_overload(self, signature: object, result: Any) -> None:
        """Cache the compiled form for `signature` if possible."""
        try:
            self._save(signature, result)
        except Exception:  # noqa: BLE001 - the result remains usable
            self._release()

    def flush(self) -> None:
        """Do nothing; Numba calls this method before it recompiles a kernel."""

    def _release(self) -> None:
        while self._locks:
            self._locks.popitem()[1].release()

    def _load(self, signature: object, context: Any) -> Any:
        path = self._path(signature)
        data = _find(path) if path else None
        if data is None:
            progress.check(self._dispatcher)
        if path is None:
            return None
        if data is None:
            with progress.waiting_for(self._dispatcher):
                lock = self._locks.get(path) or FileLock(path.with_suffix(".lock"))
            data = _read(path)  # another process may have compiled it
            if data is None:
                self._locks[path] = lock
                return None
            lock.release()
        # Refreshing Numba's context imports half of Numba and takes 0.2 to 0.4 s, but only kernels
        # that hash strings need it. Only kernels with reference counting need Numba's runtime.
        if b"_Py_HashSecret" in data:
            context.refresh()
        elif b"NRT_" in data:
            numba_module(".core.runtime").rtsys.initialize(context)
        parts, bitcode = pickle.loads(data)
        result = numba_module(".core.compiler").CompileResult._rebuild(context, *parts)
        _link_later(result.library, bitcode)
        progress.note_loaded(self._dispatcher)
        return result

    def _save(self, signature: object, result: Any) -> None:
        path = self._path(signature)
        if path is None:
            return
        if not (result.library.has_dynamic_globals or result.lifted):
            (name, kind, (code, bitcode)), *others = result._reduce()
            parts = (name, kind, (code, _stub_bitcode(bitcode))), *others
            _write(path, numba_module(".core.serialize").dumps((parts, bitcode)))
        if lock := self._locks.pop(path, None):
            lock.release()

    def _path(self, signature: object) -> Path | None:
        directory = cache_directory()
        if directory is None:
            return None
        arguments, _ = numba_module(".core.sigutils").normalize_signature(signature)
        form = _digest(_environment(), str(tuple(arguments)))
        name = f"{name_of(self._dispatcher.py_func)}-{form}"
        return directory / f"{name}-{_digest(digest_of(self._dispatcher))}.kernel"


class FileLock:
    """Blocking exclusive file lock; the OS releases it if the process dies.

    The lock only avoids duplicate work. After a timeout, or on a system without file locks, the
    caller continues without the lock.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        with contextlib.suppress(OSError, ImportError):
            self._wait()

    def _wait(self) -> None:
        import fcntl  # not available on Windows

        file = self._path.open("wb")
        until = time.monotonic() + LOCK_TIMEOUT_S
        while time.monotonic() < until:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.02)
            else:
                self._file = file
                return
        file.close()

    def release(self) -> None:
        """Release the lock and delete its file."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
            # After a fork, closing the file does not release the lock, because the child still has
            # it open.
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._file.close()


def _stub_bitcode(bitcode: bytes) -> bytes:
    """Replace the function bodies in LLVM bitcode with a trap.

    Numba only reads the function names of this stub; it never links or runs the stub.
    """
    binding = importlib.import_module("llvmlite.binding")
    functions = binding.parse_bitcode(bitcode).functions
    names = [function.name for function in functions if not function.is_declaration]
    crash = "{ call void @llvm.trap() unreachable }"
    lines = [f'define void @"{name}"() {crash}' for name in names]
    text = "\n".join(["declare void @llvm.trap()", *lines])
    return bytes(binding.parse_assembly(text).as_bitcode())


def _link_later(library: Any, bitcode: bytes) -> None:
    """Delay parsing the bitcode of `library` until another library links it."""
    parse = importlib.import_module("llvmlite.binding").parse_bitcode
    # If Numba no longer links through this method, fail now: the stub would crash when it runs.
    assert callable(library._get_module_for_linking)
    library._get_module_for_linking = cache(partial(parse, bitcode))


# --- files ----------------------------------------------------------------------------------------


@cache
def cache_directory() -> Path | None:
    """Return the cache folder, or `None` if no folder is writable.

    The candidates are ``NUMBA_CACHE_DIR`` if set, ``__pycache__/kernels`` beside the package, and
    the user's cache folder.
    """
    return next(filter(_is_writable, cache_candidates()), None)


def cache_candidates() -> Iterator[Path]:
    """Yield the possible cache folders in order of preference."""
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


def _find(path: Path) -> bytes | None:
    """Read a cache file from the first folder that contains it, even if the folder is read-only."""
    places = [path, *(folder / path.name for folder in cache_candidates())]
    return next(filter(None, map(_read, dict.fromkeys(places))), None)


def _read(path: Path) -> bytes | None:
    try:
        content = path.read_bytes()
    except OSError:
        return None
    data = content[32:]
    return data if hashlib.sha256(data).digest() == content[:32] else None


def _write(path: Path, data: bytes) -> None:
    """Write a cache file, and delete outdated files for the same kernel and signature."""
    # If the disk is full, this process can still use the compiled kernel.
    with contextlib.suppress(OSError):
        descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(descriptor, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        Path(name).chmod(0o644)  # other accounts may share the cache
        Path(name).replace(path)
        prefix = path.name.rpartition("-")[0]
        for stale in path.parent.glob(f"{glob.escape(prefix)}-*.kernel"):
            if stale != path:
                stale.unlink(missing_ok=True)


# --- cache keys -----------------------------------------------------------------------------------


def name_of(function: FunctionType) -> str:
    """Return the full name of a kernel, including the names of kernels passed to its factory."""
    return f"{function.__module__}.{function.__qualname__.rpartition('<locals>.')[2]}"


def make_name_unique(function: FunctionType) -> None:
    """Rename a closure so that all kernels created by the same factory have different names.

    The compiler names machine code after the Python function. If two cached kernels from one
    factory had the same name, a caller could run the wrong kernel.
    """
    contents = [cell.cell_contents for cell in function.__closure__ or ()]
    if not contents:
        return
    kernels = [item.py_func for item in contents if is_kernel(item)]
    values = [_text_of(item) for item in contents if not is_kernel(item)]
    names = [part.__qualname__.rpartition("<locals>.")[2].partition("[")[0] for part in kernels]
    identity = "\0".join([*map(name_of, kernels), *values])
    names.append(hashlib.sha256(identity.encode()).hexdigest()[:12])
    function.__qualname__ += f"[{','.join(names)}]"


def digest_of(kernel: object) -> str:
    """Return a digest of all source that affects the machine code of `kernel`."""
    return _digest(*_parts_of(kernel, set()))


def _parts_of(value: object, seen: set[int]) -> Iterator[str]:
    """Yield strings that describe a value and everything it refers to, in a fixed order."""
    function = getattr(value, "py_func", value)
    if not isinstance(function, FunctionType):
        yield _text_of(value)
        return
    yield f"{function.__module__}.{function.__qualname__}"
    if id(function) in seen:
        return
    seen.add(id(function))
    yield repr(sorted(getattr(value, "targetoptions", {}).items()))
    yield repr(function.__defaults__)
    yield from _code_parts(function.__code__, function.__doc__ or "")
    for cell in function.__closure__ or ():
        yield from _parts_of(cell.cell_contents, seen)
    for name in names_in(function.__code__):
        if name in function.__globals__:
            yield name
            yield from _global_parts(function, function.__globals__[name], seen)


def _global_parts(function: FunctionType, value: object, seen: set[int]) -> Iterator[str]:
    if not isinstance(value, ModuleType):
        yield from _parts_of(value, seen)
    elif value.__name__.partition(".")[0] == function.__module__.partition(".")[0]:
        for name in names_in(function.__code__):
            if hasattr(value, name):
                yield from _global_parts(function, getattr(value, name), seen)


def _code_parts(code: CodeType, docstring: str = "") -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_parts(constant)
        elif constant != docstring:
            yield repr(constant)


def _text_of(value: Any) -> str:
    """Return a string that identifies a value by its content.

    By default, the `repr` of an object contains the object's address. A kernel that captures an
    object without a `repr` of its own is compiled in every process, which is slow but correct.
    """
    if not isinstance(value, type) and hasattr(value, "dtype"):
        shape = getattr(value, "shape", ())
        return f"{value.dtype}{shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    return f"{type(value).__name__}:{value!r}"


def _environment() -> str:
    """Return the part of the cache key that identifies the machine and the compiler versions."""
    modules = numba_module(), importlib.import_module("llvmlite"), importlib.import_module("numpy")
    versions = [FORMAT, sys.version, *(module.__version__ for module in modules)]
    names = "BOUNDSCHECK", "OPT", "DEBUGINFO_DEFAULT", "ENABLE_AVX", "CPU_NAME", "CPU_FEATURES"
    options = [getattr(numba_module().config, name) for name in names]
    return repr((versions, options, sys.platform, processor()))


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:20]
