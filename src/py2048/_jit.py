"""The one door to Numba: compile kernels, cache them, warm them up.

A *kernel* is a function on numbers and NumPy arrays, written in the part of Python that Numba
compiles to machine code. Only files named ``*_kernels.py`` hold kernels::

    from py2048._jit import kernel

    @kernel(inline=True)
    def twice(value): ...

    @kernel("(uint8[::1], int64)")
    def fill(cells, count): ...

Numba's own cache keys a compiled function by the file that it stands in, so it misses an edit of
a helper in another file and then runs stale code. The cache here keys it by a digest of the
function's own code, of every kernel that it calls, and of the value of every constant that it
reads, besides the signature, the options, the processor and the versions in use.

``PY2048_JIT=0`` (or Numba's own ``NUMBA_DISABLE_JIT=1``) runs every kernel as plain Python, and
``NUMBA_BOUNDSCHECK=1`` checks every index. The plain form of a single kernel is its ``py_func``.

This module imports Numba when the first kernel is declared, not before.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import pickle
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, overload

Function = TypeVar("Function", bound=Callable[..., Any])
Progress = Callable[[int, int, str], None]
"""Called with the number of compilations done, the number of all, and the next one's name."""

IS_PLAIN = os.environ.get("PY2048_JIT") == "0" or os.environ.get("NUMBA_DISABLE_JIT") == "1"
"""Whether kernels run as plain Python in this process."""

_registry: dict[str, Any] = {}


@overload
def kernel(function: Function, /) -> Function: ...
@overload
def kernel(
    *signatures: str, inline: bool = ..., parallel: bool = ..., fastmath: bool = ...
) -> Callable[[Function], Function]: ...
def kernel(
    *arguments: Any, inline: bool = False, parallel: bool = False, fastmath: bool = False
) -> Any:
    """Declare a kernel: it compiles at its first call, releases the GIL and is cached on disk.

    Args:
        *arguments: the signatures that `warm_up` compiles, such as ``"(uint64, int64)"``. A
            kernel without one is a helper, compiled only as a part of others. Other argument
            types still work; they compile at their first use.
        inline: dissolve the kernel in its callers, which lets loops around it become vector code.
        parallel: run `numba.prange` loops on several threads.
        fastmath: allow floating-point sums to be reordered.
    """
    if len(arguments) == 1 and callable(arguments[0]):
        return _declare(arguments[0], (), {})
    options = {"forceinline": inline, "parallel": parallel, "fastmath": fastmath}
    chosen = {name: True for name, value in options.items() if value}
    return lambda function: _declare(function, arguments, chosen)


def _declare(function: Any, signatures: tuple[str, ...], options: Mapping[str, bool]) -> Any:
    declared = _plain(function) if IS_PLAIN else _compiled(function, options)
    declared.warm_signatures = signatures
    _registry[_name_of(function)] = declared
    return declared


def _name_of(function: FunctionType) -> str:
    """Return the full name of a kernel, with the names of the kernels that it was built from."""
    cells = (cell.cell_contents for cell in function.__closure__ or ())
    parts = [cell.__name__ for cell in cells if hasattr(cell, "py_func")]
    built_from = f"[{','.join(parts)}]" if parts else ""
    return f"{function.__module__}.{function.__qualname__}{built_from}"


def _plain(function: Any) -> Any:
    function.py_func = function
    return function


def _compiled(function: Any, options: Mapping[str, bool]) -> Any:
    _teach_select()
    given = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    dispatcher = _numba().njit(**given)(function)
    dispatcher._cache = _DiskCache(dispatcher)
    return dispatcher


def select(condition: bool, yes: Any, no: Any) -> Any:
    """Return `yes` or `no`, which have the same type and are both computed.

    In a kernel this is one instruction. A conditional expression is a branch, and LLVM likes to
    move loads into its arms, after which the loop around it cannot become vector code.
    """
    return yes if condition else no


@cache
def _teach_select() -> None:
    """Tell Numba how to compile `select`."""
    extending, types = _numba(".extending"), _numba(".core.types")

    @extending.type_callable(select)  # type: ignore[untyped-decorator]
    def type_select(_context: Any) -> Any:
        return lambda _condition, yes, no: yes if yes == no else None

    @extending.lower_builtin(select, types.Boolean, types.Any, types.Any)  # type: ignore[untyped-decorator]
    def emit_select(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.select(*arguments)


def _numba(module: str = "") -> Any:
    """Return Numba or a module of it, untyped, imported now and not with this file."""
    return importlib.import_module(f"numba{module}")


@cache
def plain_form(kernel: Any) -> Any:
    """Return `kernel` as a plain Python function that calls the plain forms of others.

    (A kernel's own ``py_func`` calls the compiled ones.) Words are NumPy scalars there: run it
    under ``numpy.errstate(over="ignore")``, as they wrap around on purpose.
    """
    function = getattr(kernel, "py_func", kernel)
    names = (name for name in _names_in(function.__code__) if name in function.__globals__)
    scope = {name: _plain_value(function.__globals__[name]) for name in names}
    scope["__builtins__"] = function.__globals__["__builtins__"]
    cells = (CellType(_plain_value(cell.cell_contents)) for cell in function.__closure__ or ())
    name, defaults = function.__name__, function.__defaults__
    return FunctionType(function.__code__, scope, name, defaults, tuple(cells))


def _plain_value(value: Any) -> Any:
    return plain_form(value) if hasattr(value, "py_func") else value


# --- what a compiled kernel depends on -----------------------------------------------------------


def digest_of(kernel: Any) -> str:
    """Return the digest of everything in the source that decides what `kernel` compiles to."""
    sha = hashlib.sha256()
    for part in _parts_of(kernel, set()):
        sha.update(part.encode() + b"\0")
    return sha.hexdigest()


def _parts_of(value: Any, seen: set[int]) -> Iterator[str]:
    """Yield the name and content of `value` and of all that it refers to, in a fixed order."""
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
    yield from _code_parts(function.__code__)
    for cell in function.__closure__ or ():
        yield from _parts_of(cell.cell_contents, seen)
    for name in _names_in(function.__code__):
        if name in function.__globals__:
            yield name
            yield from _global_parts(function, function.__globals__[name], seen)


def _global_parts(function: FunctionType, value: Any, seen: set[int]) -> Iterator[str]:
    if not isinstance(value, ModuleType):
        yield from _parts_of(value, seen)
    elif value.__name__.partition(".")[0] == function.__module__.partition(".")[0]:
        for name in _names_in(function.__code__):
            if hasattr(value, name):
                yield from _global_parts(function, getattr(value, name), seen)


def _code_parts(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_parts(constant)
        else:
            yield repr(constant)


def _names_in(code: CodeType) -> list[str]:
    nested = [name for c in code.co_consts if isinstance(c, CodeType) for name in _names_in(c)]
    return sorted({*code.co_names, *nested})


def _text_of(value: Any) -> str:
    """Return a text that differs where `value` does.

    The text of an arbitrary object holds its address: its kernels then never hit the cache,
    which is slow but not wrong.
    """
    if not isinstance(value, type) and hasattr(value, "dtype"):
        shape = getattr(value, "shape", ())
        return f"{value.dtype}{shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    return f"{type(value).__name__}:{value!r}"


# --- the cache on disk ---------------------------------------------------------------------------


class _DiskCache:
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
        return _numba(".core.compiler").CompileResult._rebuild(context, *pickle.loads(data))

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the compiled form for `signature`, if it can be kept."""
        path = self._path(signature)
        if path is None or result.library.has_dynamic_globals or result.lifted:
            return
        _write(path, _numba(".core.serialize").dumps(result._reduce()))

    def flush(self) -> None:
        """Do nothing: a changed kernel has another file."""

    def _path(self, signature: Any) -> Path | None:
        directory = cache_directory()
        if directory is None:
            return None
        form = _digest(_environment(), _arguments_text(signature))
        name = f"{_name_of(self._dispatcher.py_func)}-{form}"
        return directory / f"{name}-{_digest(digest_of(self._dispatcher))}.kernel"


def _prepare_to_load(context: Any, data: bytes) -> None:
    """Define the outside names that compiled code may refer to.

    Numba itself calls ``context.refresh()``, which imports half of it (0.2 to 0.4 s). Of all that,
    compiled code needs the reference counts of arrays, and to hash texts the hash's secret.
    """
    if b"_Py_HashSecret" in data:
        context.refresh()
    else:
        _numba(".core.runtime").rtsys.initialize(context)


def _arguments_text(signature: Any) -> str:
    arguments, _ = _numba(".core.sigutils").normalize_signature(signature)
    return str(tuple(arguments))


def _environment() -> str:
    """Return what decides the machine code besides the sources."""
    imported = (_numba(), importlib.import_module("llvmlite"), importlib.import_module("numpy"))
    versions = [sys.version, *(module.__version__ for module in imported)]
    config = _numba(".core.config")
    options = (config.BOUNDSCHECK, config.OPT, config.DEBUGINFO_DEFAULT, config.ENABLE_AVX)
    target = _numba(".core.registry").cpu_target.target_context
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
        for stale in path.parent.glob(f"{prefix}-*.kernel"):
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
    yield Path(__file__).parent / "__pycache__" / "kernels"
    from platformdirs import user_cache_path

    yield user_cache_path("py2048", appauthor=False) / "kernels"


def _is_writable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


# --- warming up ----------------------------------------------------------------------------------


def kernels() -> dict[str, Any]:
    """Return every kernel of the package by its full name, importing the files that hold them."""
    root = Path(__file__).parent
    for path in sorted(root.rglob("*_kernels.py")):
        importlib.import_module(
            ".".join((root.name, *path.relative_to(root).with_suffix("").parts))
        )
    return dict(sorted(_registry.items()))


def warm_up(progress: Progress | None = None) -> int:
    """Compile every kernel for its declared signatures, or load it from the cache.

    Returns the number of compiled forms. `progress` is called before each and at the end.
    """
    jobs = [
        (name, item, signature)
        for name, item in kernels().items()
        for signature in item.warm_signatures
    ]
    for done, (name, item, signature) in enumerate(jobs):
        if progress is not None:
            progress(done, len(jobs), name)
        if not IS_PLAIN:
            item.compile(signature)
    if progress is not None:
        progress(len(jobs), len(jobs), "")
    return len(jobs)


def warm_up_in_background(progress: Progress | None = None) -> threading.Thread:
    """Start `warm_up` on a daemon thread and return the thread."""
    thread = threading.Thread(target=warm_up, args=(progress,), name="py2048-warm-up", daemon=True)
    thread.start()
    return thread
