"""Compile kernels, cache them and run them on threads; the only module that imports Numba.

A *kernel* is a function on numbers and NumPy arrays, written in the subset of Python that Numba
compiles to machine code::

    from py2048.engine.jit import kernel

    @kernel(inline=True)
    def twice(value): ...

    @kernel("(uint8[::1], int64)")
    def fill(cells, count): ...

`py2048.engine.jit.disk_cache` stores compiled kernels, and `py2048.engine.jit.progress` reports
compilation progress. `py2048.engine.jit.numba_parts` adds machine instructions that Numba does not
emit. The disk cache and a few optimisations depend on Numba's internals. If a Numba release changes
its internals, kernels start more slowly or compile in every process, but compute the same results.

Without Numba, every kernel runs as plain Python: nothing is compiled, and a hint takes a few tenths
of a second. ``PY2048_JIT=0`` (or Numba's ``NUMBA_DISABLE_JIT=1``) has the same effect, and
``NUMBA_BOUNDSCHECK=1`` checks every index. To run only one kernel as plain Python, use
`plain_form`.

Kernels release the GIL, so they can run in parallel on several threads (`together`). Numba itself
is imported when the first kernel is declared.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from py2048.engine.jit.disk_cache import DiskCache, make_name_unique, name_of
from py2048.engine.jit.numba_parts import (
    PRIVATE_CHANGED,
    Example,
    Kernel,
    numba_module,
    register_instructions,
)
from py2048.engine.jit.progress import names_in

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Function = TypeVar("Function", bound=Callable[..., object])
Result = TypeVar("Result")
Progress = Callable[[int, int, str], None]
"""A callback that receives the number of finished compilations, the total, and the next kernel's
name.
"""

Use = tuple[str, Callable[[], object]]
"""Name and compile function of a feature that creates its kernels on demand."""

HAS_COMPILER = find_spec("numba") is not None
"""Whether Numba is available. The extra ``fast`` installs Numba."""

SWITCHES = {"PY2048_JIT": "0", "NUMBA_DISABLE_JIT": "1"}
IS_PLAIN = not HAS_COMPILER or any(os.environ.get(name) == off for name, off in SWITCHES.items())
"""Whether kernels run as plain Python in this process."""

if IS_PLAIN:  # 64-bit arithmetic wraps around intentionally
    warnings.filterwarnings("ignore", "overflow encountered in scalar", RuntimeWarning)

UNDOCUMENTED = "_nrt", "forceinline", "no_cfunc_wrapper"
"""Undocumented options of Numba."""

PACKAGE = __name__.partition(".")[0]

_registry: dict[str, Kernel] = {}
"""The kernels of this package by full name; other packages' kernels are not registered."""


@overload
def kernel(function: Function, /) -> Function: ...
@overload
def kernel(
    *signatures: str,
    example: Example | None = ...,
    inline: bool = ...,
    fastmath: bool = ...,
    borrows: bool = ...,
    expand: bool = ...,
) -> Callable[[Function], Function]: ...
def kernel(
    *arguments: Any,
    example: Example | None = None,
    inline: bool = False,
    fastmath: bool = False,
    borrows: bool = False,
    expand: bool = False,
) -> Any:
    """Declare a kernel, which compiles on first call, releases the GIL and is cached on disk.

    Args:
        *arguments: Signatures that `warm_up` compiles, such as ``"(uint64, int64)"``. A kernel
            without signatures is a helper, compiled only as part of other kernels. Kernels also
            accept other argument types, and compile for them on first use.
        example: A function that returns example arguments, as an alternative to a long signature.
        inline: Inline the kernel into its callers, so that surrounding loops can be vectorised.
        expand: Inline the kernel before compilation. LLVM optimises each kernel together with
            everything it calls, so inlining a large kernel with a single caller saves a fifth of
            the compile time.
        fastmath: Allow reordering of floating-point sums.
        borrows: Promise that the kernel neither creates nor stores arrays. This disables reference
            counting, which can dominate the run time of a kernel with many array arguments. The
            kernel can also be loaded from the cache without Numba's reference-counting runtime.
    """
    if len(arguments) == 1 and callable(arguments[0]):
        return kernel()(arguments[0])
    options = {"forceinline": inline, "fastmath": fastmath}
    chosen: dict[str, object] = {name: True for name, value in options.items() if value}
    if borrows:
        chosen["_nrt"] = False
    if expand:
        chosen["inline"] = "always"
    forms = arguments if example is None else (*arguments, example)
    return lambda function: _declare(function, forms, chosen)


def _declare(
    function: FunctionType, forms: tuple[str | Example, ...], options: Mapping[str, object]
) -> Kernel:
    make_name_unique(function)
    declared = _plain(function) if IS_PLAIN else _compiled(function, options)
    declared.warm_forms = forms
    if function.__module__.startswith(f"{PACKAGE}."):
        _registry[name_of(function)] = declared
    return declared


def _plain(function: FunctionType) -> Kernel:
    declared = cast("Kernel", function)
    declared.py_func = function
    return declared


def _compiled(function: FunctionType, options: Mapping[str, object]) -> Kernel:
    register_instructions()
    given = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    known = {name: value for name, value in given.items() if name not in _unknown_options()}
    dispatcher: Kernel = numba_module().njit(**known)(function)
    dispatcher._cache = DiskCache(dispatcher)
    return dispatcher


@cache
def _unknown_options() -> frozenset[str]:
    """Return the undocumented options that this version of Numba lacks.

    The options only affect speed.
    """
    known: object = None
    with contextlib.suppress(*PRIVATE_CHANGED):
        known = numba_module(".core.registry").cpu_target.options
    return frozenset(name for name in UNDOCUMENTED if not hasattr(known, name))


@cache
def plain_form(kernel: Any) -> FunctionType:
    """Return a kernel as plain Python that calls the plain forms of other kernels.

    Unlike this function, a kernel's ``py_func`` calls compiled kernels. 64-bit arithmetic wraps
    around intentionally, so run the result under ``numpy.errstate(over="ignore")``.
    """
    function: FunctionType = getattr(kernel, "py_func", kernel)
    names = (name for name in names_in(function.__code__) if name in function.__globals__)
    scope = {name: _plain_value(function.__globals__[name]) for name in names}
    scope["__builtins__"] = function.__globals__["__builtins__"]
    cells = (CellType(_plain_value(cell.cell_contents)) for cell in function.__closure__ or ())
    name, defaults = function.__name__, function.__defaults__
    return FunctionType(function.__code__, scope, name, defaults, tuple(cells))


def _plain_value(value: Any) -> object:
    return plain_form(value) if hasattr(value, "py_func") else value


@cache
def ready(kernel: Any, form: int = 0) -> Any:
    """Return the compiled function of a kernel for its declared argument types.

    Calling the compiled function skips type lookup, which takes Numba 0.05 seconds on the first
    call. Arguments are not checked: arrays of any other type, dimension or layout are
    misinterpreted. Do not pass arrays that come from a user.

    Args:
        kernel: A kernel with declared signatures.
        form: Index of the signature.
    """
    return kernel if IS_PLAIN else _compile(kernel, kernel.warm_forms[form]) or kernel


# --- warm-up -------------------------------------------------------------------------------------


def kernels() -> dict[str, Kernel]:
    """Import all modules that contain kernels; return the kernels by full name."""
    root = Path(__file__).parents[2]
    for path in sorted(root.rglob("*.py")):
        if re.search(r"^ *@kernel\b", path.read_text(encoding="utf-8"), re.MULTILINE):
            parts = PACKAGE, *path.relative_to(root).with_suffix("").parts
            importlib.import_module(".".join(parts))
    return dict(sorted(_registry.items()))


def warm_up(progress: Progress | None = None, uses: Sequence[Use] = ()) -> int:
    """Compile every kernel for its declared signatures, or load it from the cache.

    Args:
        progress: Called before each compilation and at the end.
        uses: Additional features to compile, which create their kernels on demand.

    Returns:
        The number of compilations.
    """
    declared = [
        (name, lambda item=item, form=form: _compile(item, form))
        for name, item in kernels().items()
        for form in item.warm_forms
    ]
    jobs: list[Use] = [*declared, *uses]
    for done, (name, job) in enumerate(jobs):
        if progress is not None:
            progress(done, len(jobs), name)
        if not IS_PLAIN:
            job()
    if progress is not None:
        progress(len(jobs), len(jobs), "")
    return len(jobs)


def _compile(item: Kernel, form: str | Example) -> object:
    return item.compile(form if isinstance(form, str) else tuple(map(type_of, form())))


def type_of(value: object) -> object:
    """Return ``numba.typeof(value)`` without importing ``numpy.ma``, which is slow."""
    try:
        return _quick_type(value)
    except PRIVATE_CHANGED:
        return numba_module().typeof(value)


def _quick_type(value: Any) -> Any:
    types, support = numba_module().types, numba_module(".np.numpy_support")
    if isinstance(value, tuple):
        return types.BaseTuple.from_types(tuple(map(_quick_type, value)), type(value))
    if not getattr(value, "ndim", 0):
        return numba_module().typeof(value)
    layout, is_readonly = support.map_layout(value), not value.flags.writeable
    return types.Array(support.from_dtype(value.dtype), value.ndim, layout, readonly=is_readonly)


# --- threads --------------------------------------------------------------------------------------


def available_threads() -> int:
    """Return the number of CPUs available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def shares(count: int, workers: int) -> list[tuple[int, int]]:
    """Split a number of items into ranges of nearly equal length, one per worker."""
    bounds = [count * k // workers for k in range(workers + 1)]
    return list(pairwise(bounds))


def together(function: Callable[..., Result], jobs: Sequence[tuple[object, ...]]) -> list[Result]:
    """Call a function for each job in parallel; return the results.

    The first job runs on the calling thread.
    """
    if len(jobs) == 1:
        return [function(*jobs[0])]
    waiting = [pool_of(len(jobs) - 1).submit(function, *job) for job in jobs[1:]]
    return [function(*jobs[0]), *(future.result() for future in waiting)]


@cache
def pool_of(workers: int) -> ThreadPoolExecutor:
    """Return the shared thread pool of this size. A forked process creates its own pools."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(workers, "py2048-batch")


if hasattr(os, "register_at_fork"):
    # Threads do not survive a fork.
    os.register_at_fork(after_in_child=pool_of.cache_clear)
